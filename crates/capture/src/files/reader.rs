//! One input, packet by packet.

use super::leap::{LeapWatch, WrongTime};
use super::taking::TakesPackets;
use crate::error::{CaptureError, CaptureTrouble};
use crate::format::{Format, FormatFault, FrameHead, FrameTime, Step, UsualRecord, looks_like};
use crate::input::{self, ByteBuffer, Compression, Input};
use std::io::{self, ErrorKind};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use units::Instant;

/// Number of faulty blocks after which an input is given up; up to then each costs only itself.
const MAX_FAULTS: u32 = 8;

/// The reason why no more packets are passed on.
enum Stop {
    /// The taker wants no more.
    Enough,
    /// The next packet is later, and has this time.
    Later(Instant),
    /// More has to be read.
    Need,
    /// The next bytes are not a packet.
    Skip(u32),
    Fault(FormatFault),
    Time(WrongTime),
}

/// An input whose format is known.
pub(super) struct CaptureReader {
    name: PathBuf,
    buffer: ByteBuffer,
    compression: Option<Compression>,
    read: Arc<AtomicU64>,
    format: Format,
    /// Time of the packet that the buffer begins with, if it is known.
    next: Option<Instant>,
    /// Number of bytes to skip, which may not have been read yet.
    skip: usize,
    times: LeapWatch,
    faults: u32,
    is_done: bool,
}

/// The next item of an input.
#[derive(Clone, Copy, Debug)]
pub(super) enum Next {
    /// A packet of this time.
    At(Instant),
    /// It is unknown without reading the input, which may block.
    Unread,
    /// The end of the input.
    End,
}

impl CaptureReader {
    /// Opens a file, or standard input for `-`.
    pub(super) fn open(name: &Path) -> Result<Self, CaptureError> {
        Self::detect_format(name, input::open(name))
    }

    /// Detects the format of the opened input.
    pub(super) fn detect_format(
        name: &Path,
        input: io::Result<Input>,
    ) -> Result<Self, CaptureError> {
        let error = |trouble| CaptureError { input: name.to_owned(), offset: 0, trouble };
        let Input { mut buffer, compression, read } =
            input.map_err(|why| error(CaptureTrouble::Io(why)))?;
        let started = loop {
            match Format::of(buffer.unread_bytes()) {
                None if buffer.unread_bytes().len() < Format::MAGIC => {}
                started => break started,
            }
            if !buffer.read_once().map_err(|why| error(read_trouble(why, compression)))? {
                break None;
            }
        };
        let Some((format, header)) = started else {
            return Err(error(CaptureTrouble::NotACapture(looks_like(
                buffer.unread_bytes(),
                compression,
            ))));
        };
        let name = name.to_owned();
        let reader = Self {
            name,
            buffer,
            compression,
            read,
            format,
            next: None,
            skip: header,
            times: LeapWatch::new(),
            faults: 0,
            is_done: false,
        };
        Ok(reader)
    }

    /// Returns the next packet's time; reads only if `may_read`.
    pub(super) fn peek_time(&mut self, may_read: bool) -> Result<Next, CaptureError> {
        let mut head = FrameHead::NONE;
        loop {
            if let Some(at) = self.next {
                return Ok(Next::At(at));
            }
            match self.next_frame(&mut head)? {
                Step::Frame => self.next = Some(head.at),
                Step::Skip(bytes) => self.skip = bytes as usize,
                Step::Need if self.is_done => return Ok(Next::End),
                Step::Need if may_read => self.read_more()?,
                Step::Need => return Ok(Next::Unread),
            }
        }
    }

    /// Passes on the packets in memory that are not later than `until`, while `taker` wants more.
    #[inline]
    pub(super) fn pass_buffered(
        &mut self,
        until: Instant,
        taker: &mut impl TakesPackets,
    ) -> Result<(), CaptureError> {
        self.next = None;
        while (self.skip == 0 && !self.is_done) || self.pass_over() {
            match self.drain_frames(until, taker) {
                Stop::Enough | Stop::Need => break,
                Stop::Later(at) => {
                    self.next = Some(at);
                    break;
                }
                Stop::Skip(bytes) => self.skip = bytes as usize,
                Stop::Fault(fault) => return Err(self.record_fault(fault)),
                Stop::Time(wrong) => return Err(self.note_time(wrong)),
            }
        }
        Ok(())
    }

    /// Passes on consecutive packets in the same way. Returns the reason why it stops.
    #[inline(always)]
    fn drain_frames(&mut self, until: Instant, taker: &mut impl TakesPackets) -> Stop {
        let Self { buffer, format, times, .. } = self;
        let (begin, mut left, mut head) = (buffer.offset(), buffer.unread_bytes(), FrameHead::NONE);
        let all = left.len();
        let stop = loop {
            let (behind, taken) = take_usual(left, format, times, until, taker);
            left = behind;
            if taken.is_break() {
                break Stop::Enough;
            }
            match format.next_item(left, &mut head) {
                Ok(Step::Frame) => {}
                Ok(Step::Skip(bytes)) => break Stop::Skip(bytes),
                Ok(Step::Need) => break Stop::Need,
                Err(fault) => break Stop::Fault(fault),
            }
            head.at = match checked_time(times, begin + (all - left.len()) as u64, &head) {
                Ok(at) if at <= until => at,
                Ok(at) => break Stop::Later(at),
                Err(wrong) => break Stop::Time(wrong),
            };
            let (record, behind) = left.split_at(head.record as usize);
            left = behind;
            if taker.take(&head.frame(record), head.time).is_break() {
                break Stop::Enough;
            }
        };
        let passed = all - left.len();
        buffer.pass(passed);
        stop
    }

    #[inline]
    fn next_frame(&mut self, head: &mut FrameHead) -> Result<Step, CaptureError> {
        if (self.skip > 0 || self.is_done) && !self.pass_over() {
            return Ok(Step::Need);
        }
        let step = self.format.next_item(self.buffer.unread_bytes(), head);
        let step = step.map_err(|fault| self.record_fault(fault))?;
        if matches!(step, Step::Frame) {
            let judged = checked_time(&mut self.times, self.buffer.offset(), head);
            head.at = judged.map_err(|wrong| self.note_time(wrong))?;
        }
        Ok(step)
    }

    /// Skips bytes; returns `false` if the bytes after them have not been read yet.
    #[cold]
    fn pass_over(&mut self) -> bool {
        let now = self.skip.min(self.buffer.unread_bytes().len());
        self.buffer.pass(now);
        self.skip -= now;
        self.skip == 0 && !self.is_done
    }

    #[cold]
    fn read_more(&mut self) -> Result<(), CaptureError> {
        match self.buffer.read_once() {
            Ok(true) => Ok(()),
            Ok(false) => {
                self.times.report_suspect().map_err(|wrong| self.note_time(wrong))?;
                self.is_done = true;
                let is_whole = self.buffer.unread_bytes().is_empty() && self.skip == 0;
                if is_whole { Ok(()) } else { Err(self.error(CaptureTrouble::Truncated)) }
            }
            Err(why) => {
                self.is_done = true;
                Err(self.error(read_trouble(why, self.compression)))
            }
        }
    }

    /// Notes a fault, and goes on after it if that is safe.
    #[cold]
    fn record_fault(&mut self, fault: FormatFault) -> CaptureError {
        self.faults += 1;
        let error = self.error(CaptureTrouble::Corrupt(fault.why));
        match fault.resume {
            Some(bytes) if self.faults < MAX_FAULTS => self.skip = bytes as usize,
            _ => self.is_done = true,
        }
        error
    }

    /// Notes a packet with a wrong time. It was taken with another time, which is safe; but the
    /// number of faults is limited.
    #[cold]
    fn note_time(&mut self, wrong: WrongTime) -> CaptureError {
        self.faults += 1;
        self.is_done |= self.faults >= MAX_FAULTS;
        let trouble = CaptureTrouble::Corrupt(wrong.why);
        CaptureError { offset: wrong.offset, ..self.error(trouble) }
    }

    fn error(&self, trouble: CaptureTrouble) -> CaptureError {
        CaptureError { input: self.name.clone(), offset: self.buffer.offset(), trouble }
    }

    /// Returns the number of packets that the capturing program reports as lost.
    pub(super) fn lost(&self) -> u64 {
        self.format.reported_losses()
    }

    /// Returns the number of bytes read of the input on disk.
    pub(super) fn bytes_read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }
}

/// Returns the time of a packet at `offset`, corrected if it jumps. A packet without a valid time
/// gets that of the one before.
#[inline]
fn checked_time(
    times: &mut LeapWatch,
    offset: u64,
    head: &FrameHead,
) -> Result<Instant, WrongTime> {
    match head.time {
        FrameTime::Impossible => Ok(times.last()),
        _ => times.check_time(offset, head.at),
    }
}

/// Takes the usual records that `bytes` begin with, as long as they are wanted. Returns the rest.
#[inline]
fn take_usual<'a>(
    mut bytes: &'a [u8],
    format: &Format,
    times: &mut LeapWatch,
    until: Instant,
    taker: &mut impl TakesPackets,
) -> (&'a [u8], ControlFlow<()>) {
    if let Format::Pcap(pcap) = format
        && UsualRecord::may_be_in(pcap)
    {
        while let Some(record) = UsualRecord::of(pcap, bytes)
            && times.accept_regular(record.at, until)
        {
            bytes = &bytes[record.bytes()..];
            if taker.take_usual(&record).is_break() {
                return (bytes, ControlFlow::Break(()));
            }
        }
    }
    (bytes, ControlFlow::Continue(()))
}

/// Classifies an error of reading: in a compressed input, the compression may be at fault.
fn read_trouble(why: io::Error, compression: Option<Compression>) -> CaptureTrouble {
    match (why.kind(), compression) {
        _ if why.raw_os_error().is_some() => CaptureTrouble::Io(why),
        (_, None) => CaptureTrouble::Io(why),
        (ErrorKind::UnexpectedEof, Some(_)) => CaptureTrouble::Truncated,
        (_, Some(compression)) => CaptureTrouble::Corrupt(format!(
            "what is compressed by {compression} is damaged: {why}"
        )),
    }
}
