//! Files about every packet: a log with one row each, and captures at both ends.
//!
//! Notes come from the real-time threads through a bounded channel and are written by a thread of
//! normal priority. It looks for them from time to time instead of being woken, which would cost
//! those threads a system call for each packet.

use crate::record::{PacketNote, SeenPacket, Wants};
use crate::{Direction, PacketFate, PacketRecord, PacketRecorder, SegmentEnd};
use link::Duplex;
use serde::Serialize;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time;
use units::Instant;
use wire::PcapFile;

/// Where to write, each to be buffered.
pub type Sink = Box<dyn Write + Send>;

/// Receiver of segments, on the thread that writes.
pub type SegmentSink = Box<dyn FnMut(SegmentEnd) + Send>;

/// Notes that may be on their way: half a second of a busy gigabit link.
const CAPACITY: usize = 1 << 16;
const PAUSE: time::Duration = time::Duration::from_millis(20);

/// The form of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// Comma-separated values under a line of names.
    Csv,
    /// A JSON object on each line.
    JsonLines,
}

/// Files to write, and the receiver of segments.
#[derive(Default)]
pub struct Files {
    /// One row for each packet, when its way has ended.
    pub log: Option<(LogFormat, Sink)>,
    /// Captures at the client's end and at the host's: the packets that each sends and receives.
    pub captures: Option<[Sink; 2]>,
    /// Receives each TCP segment when its way has ended, in this order for each direction.
    pub segments: Option<SegmentSink>,
}

/// Files being written.
#[derive(Debug)]
pub struct EmulationRecording {
    thread: JoinHandle<io::Result<()>>,
    missed: Arc<AtomicU64>,
}

impl EmulationRecording {
    /// Begins the files; the recorders are for [`crate::EmulationOptions`].
    ///
    /// # Errors
    /// If a file cannot be written, or there are no more threads.
    pub fn begin(files: Files) -> io::Result<(Self, Duplex<PacketRecorder>)> {
        let wants = Wants {
            records: files.log.is_some(),
            packets: files.captures.is_some(),
            segments: files.segments.is_some(),
        };
        let mut writer = Writer::begin(files)?;
        let (to, from) = sync_channel(CAPACITY);
        let thread = thread::Builder::new().name("emulate-files".to_owned());
        let thread = thread.spawn(move || writer.run(&from))?;
        let missed = Arc::new(AtomicU64::new(0));
        let recorder =
            |direction| PacketRecorder::new(direction, to.clone(), wants, Arc::clone(&missed));
        let recorders =
            Duplex { forward: recorder(Direction::Down), reverse: recorder(Direction::Up) };
        Ok((Self { thread, missed }, recorders))
    }

    /// Waits until all is written; to be called when the emulation has been stopped. Returns the
    /// number of notes that were missed because files were written too slowly.
    ///
    /// # Errors
    /// The first error that writing has met.
    pub fn finish(self) -> io::Result<u64> {
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok(self.missed.load(Ordering::Relaxed))
    }
}

/// One row of the log. Times are nanoseconds since the start.
#[derive(Serialize)]
struct Row {
    direction: Direction,
    fate: PacketFate,
    marked: bool,
    bytes: u32,
    arrived: u64,
    left: u64,
    due: Option<u64>,
    delivered: Option<u64>,
    queue_packets: u32,
    queue_bytes: u64,
    low_priority: bool,
    pure_ack: bool,
    flow: u64,
}

impl Row {
    fn new(direction: Direction, record: &PacketRecord) -> Self {
        Self {
            direction,
            fate: record.fate,
            marked: record.marked,
            bytes: record.info.bytes,
            arrived: record.arrived.as_nanos(),
            left: record.left.as_nanos(),
            due: record.due.map(Instant::as_nanos),
            delivered: record.delivered.map(Instant::as_nanos),
            queue_packets: record.queue.packets,
            queue_bytes: record.queue.bytes,
            low_priority: record.info.low_priority,
            pure_ack: record.info.pure_ack,
            flow: record.info.flow,
        }
    }
}

enum Log {
    Csv(Box<csv::Writer<Sink>>),
    JsonLines(Sink),
}

/// The end at which packets of a direction enter: 0 is the client's, 1 the host's.
const fn entry_of(direction: Direction) -> usize {
    match direction {
        Direction::Up => 0,
        Direction::Down => 1,
    }
}

struct Writer {
    log: Option<Log>,
    /// Captures at the client's end and at the host's.
    captures: Option<[PcapFile<Sink>; 2]>,
    segments: Option<SegmentSink>,
}

impl Writer {
    fn begin(files: Files) -> io::Result<Self> {
        let log = files.log.map(|(format, sink)| match format {
            LogFormat::Csv => Log::Csv(Box::new(csv::Writer::from_writer(sink))),
            LogFormat::JsonLines => Log::JsonLines(sink),
        });
        let captures = match files.captures {
            Some([client, host]) => Some([PcapFile::begin(client)?, PcapFile::begin(host)?]),
            None => None,
        };
        Ok(Self { log, captures, segments: files.segments })
    }

    /// Writes until no sender of notes is left.
    fn run(&mut self, from: &Receiver<PacketNote>) -> io::Result<()> {
        loop {
            match from.try_recv() {
                Ok(reported) => self.write(reported)?,
                Err(TryRecvError::Empty) => thread::sleep(PAUSE),
                Err(TryRecvError::Disconnected) => return self.finish(),
            }
        }
    }

    fn write(&mut self, reported: PacketNote) -> io::Result<()> {
        match reported {
            PacketNote::End(direction, record) => self.log_row(&Row::new(direction, &record)),
            PacketNote::Entered(packet) => self.capture(entry_of(packet.direction), &packet),
            PacketNote::HandedOver(packet) => self.capture(1 - entry_of(packet.direction), &packet),
            PacketNote::SegmentEnd(end) => {
                if let Some(on_segment) = &mut self.segments {
                    on_segment(end);
                }
                Ok(())
            }
        }
    }

    fn log_row(&mut self, row: &Row) -> io::Result<()> {
        match &mut self.log {
            None => Ok(()),
            Some(Log::Csv(csv)) => csv.serialize(row).map_err(io::Error::other),
            Some(Log::JsonLines(out)) => {
                serde_json::to_writer(&mut *out, row)?;
                out.write_all(b"\n")
            }
        }
    }

    fn capture(&mut self, end: usize, packet: &SeenPacket) -> io::Result<()> {
        let SeenPacket { at, bytes, .. } = packet;
        match &mut self.captures {
            Some(captures) => captures[end].record(*at, bytes, bytes.len() as u32),
            None => Ok(()),
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        match &mut self.log {
            Some(Log::Csv(csv)) => csv.flush()?,
            Some(Log::JsonLines(out)) => out.flush()?,
            None => {}
        }
        for capture in self.captures.take().into_iter().flatten() {
            capture.finish()?;
        }
        Ok(())
    }
}
