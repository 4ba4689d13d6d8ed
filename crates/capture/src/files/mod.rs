//! Captures in files and pipes, merged in the order of time.
//!
//! Of each file the time of its first packet is found out beforehand; a file is read from that time on. So
//! files that a capturing program has written one after the other are read one after the other, in whatever
//! order they are named. Of packets in files that overlap, the earliest next packet goes first.

mod reader;

use crate::batch::BatchFiller;
use crate::decode::decode;
use crate::error::CaptureError;
use crate::input;
use crate::observed::Observed;
use crate::source::{InputProgress, SegmentSource};
use crate::tally::Tally;
use reader::{CaptureReader, Next};
use std::cmp::Reverse;
use std::collections::VecDeque;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use units::Instant;

/// Segments of a batch: few enough to stay in a core's cache.
const BATCH: usize = 1024;
/// Packets after which a batch ends, whatever it has.
const PACKETS: u64 = 1 << 16;
/// Files that stay open while they wait for their time; others are closed and opened again.
const STAY_OPEN: usize = 8;

/// Captures in files, pipes and standard input.
///
/// Files are pcap or pcapng, as they are or compressed by gzip or zstd, which their contents tell. Nothing is
/// opened before the first batch. Packets are handed over as they arrive: a program may still be writing.
pub struct CaptureFiles {
    /// Not opened yet, in the order given.
    unopened: Vec<PathBuf>,
    /// Those whose time has not come, the next one last.
    waiting: Vec<Waiting>,
    active: Vec<CaptureReader>,
    errors: VecDeque<CaptureError>,
    tally: Tally,
    progress: InputProgress,
    /// Of files that have been read.
    lost: u64,
    is_begun: bool,
}

struct Waiting {
    first: Instant,
    path: PathBuf,
    /// `None` if it was closed again.
    reader: Option<CaptureReader>,
}

impl CaptureFiles {
    /// The files, in any order; `-` is standard input.
    pub fn new(paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        let unopened: Vec<PathBuf> = paths.into_iter().map(Into::into).collect();
        let progress = InputProgress { read: 0, total: total(&unopened) };
        Self {
            unopened,
            waiting: Vec::new(),
            active: Vec::new(),
            errors: VecDeque::new(),
            tally: Tally::default(),
            progress,
            lost: 0,
            is_begun: false,
        }
    }

    /// What another reader gives, by a `name` for errors.
    ///
    /// # Errors
    /// If it does not begin as a capture does.
    pub fn from_reader(name: &str, reader: Box<dyn Read + Send>) -> Result<Self, CaptureError> {
        let name = Path::new(name);
        let reader = CaptureReader::begin(name, input::begin(reader))?;
        let mut files = Self::new(Vec::<PathBuf>::new());
        files.progress.total = None;
        files.active.push(reader);
        Ok(files)
    }

    /// Opens all files and finds out when each begins.
    fn begin(&mut self) {
        self.is_begun = true;
        let stay_open = self.unopened.len() <= STAY_OPEN;
        for path in std::mem::take(&mut self.unopened) {
            match CaptureReader::open(&path) {
                Ok(reader) => self.wait(path, reader, stay_open),
                Err(error) => self.errors.push_back(error),
            }
        }
        // Later in the list is earlier in time; of the same time, earlier as given.
        self.waiting.reverse();
        self.waiting.sort_by_key(|waiting| Reverse(waiting.first));
    }

    /// Has a file wait for the time of its first packet.
    fn wait(&mut self, path: PathBuf, mut reader: CaptureReader, mut stay_open: bool) {
        stay_open |= !path.is_file();
        loop {
            match reader.peek(true) {
                Ok(Next::At(first)) => {
                    let reader = Some(reader).filter(|_| stay_open);
                    return self.waiting.push(Waiting { first, path, reader });
                }
                Ok(_) => return self.retire(&reader),
                Err(error) => {
                    // Opened again, it would be told again.
                    stay_open = true;
                    self.errors.push_back(error);
                }
            }
        }
    }

    /// A file that has been read.
    fn retire(&mut self, reader: &CaptureReader) {
        self.progress.read += reader.bytes_read();
        self.lost += reader.lost();
    }

    /// Begins to read the next of the waiting files.
    fn activate(&mut self) {
        let Some(Waiting { path, reader, .. }) = self.waiting.pop() else { return };
        match reader.map_or_else(|| CaptureReader::open(&path), Ok) {
            Ok(reader) => self.active.push(reader),
            Err(error) => self.errors.push_back(error),
        }
    }

    /// The reader whose packet is next, and until when it stays so.
    fn earliest(&mut self, may_read: bool) -> Turn {
        let mut index = 0;
        let mut turn: Option<(usize, Instant)> = None;
        let mut until = self.waiting.last().map_or(Instant::FAR_FUTURE, |waiting| waiting.first);
        while index < self.active.len() {
            match self.active[index].peek(may_read) {
                Ok(Next::At(at)) => {
                    match turn {
                        Some((_, earlier)) if earlier <= at => until = until.min(at),
                        Some((_, later)) => (turn, until) = (Some((index, at)), until.min(later)),
                        None => turn = Some((index, at)),
                    }
                    index += 1;
                }
                Ok(Next::Unread) => return Turn::Unread,
                Ok(Next::End) => {
                    let reader = self.active.remove(index);
                    self.retire(&reader);
                }
                Err(error) => {
                    self.errors.push_back(error);
                    return Turn::Error;
                }
            }
        }
        match turn {
            Some((reader, at)) if at <= until => Turn::Of { reader, until },
            _ if self.waiting.is_empty() => Turn::End,
            _ => Turn::OfWaiting,
        }
    }

    /// Reads packets of one reader while it is the earliest and has them at hand.
    fn read(&mut self, reader: usize, until: Instant, batch: &mut BatchFiller<'_>) {
        let Self { active, tally, errors, .. } = self;
        let enough = tally.packets + PACKETS;
        let read = active[reader].drain(until, |frame, is_untimed| {
            tally.untimed += u64::from(is_untimed);
            if decode(frame, tally, batch.slot()) {
                batch.keep();
            }
            match batch.len() >= BATCH || tally.packets >= enough {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        errors.extend(read.err());
    }

    /// Fills a batch; `false` if there is nothing more.
    fn fill(&mut self, batch: &mut BatchFiller<'_>) -> bool {
        let before = self.tally.packets;
        while self.errors.is_empty() && batch.len() < BATCH && self.tally.packets < before + PACKETS
        {
            match self.earliest(self.tally.packets == before) {
                Turn::Of { reader, until } => self.read(reader, until, batch),
                Turn::OfWaiting => self.activate(),
                Turn::Error => {}
                Turn::Unread => return true,
                Turn::End => return batch.len() > 0,
            }
        }
        true
    }
}

/// Whose packet is next.
enum Turn {
    /// That of a reader, while its packets are not later than `until`.
    Of {
        reader: usize,
        until: Instant,
    },
    /// That of the next waiting file.
    OfWaiting,
    /// Somebody would have to read to tell.
    Unread,
    /// An error has to be told first.
    Error,
    End,
}

impl SegmentSource for CaptureFiles {
    fn next_batch(&mut self, batch: &mut Vec<Observed>) -> Result<bool, CaptureError> {
        if !self.is_begun {
            self.begin();
        }
        let before = self.tally.packets;
        let more = self.fill(&mut BatchFiller::new(batch));
        // What was read before an error goes first.
        match self.errors.pop_front_if(|_| self.tally.packets == before) {
            Some(error) => Err(error),
            None => Ok(more),
        }
    }

    fn tally(&self) -> Tally {
        let active: u64 = self.active.iter().map(CaptureReader::lost).sum();
        let mut tally = self.tally;
        tally.lost = self.lost + active;
        tally
    }

    fn progress(&self) -> InputProgress {
        let waiting = self.waiting.iter().filter_map(|waiting| waiting.reader.as_ref());
        let open: u64 = self.active.iter().chain(waiting).map(CaptureReader::bytes_read).sum();
        InputProgress { read: self.progress.read + open, ..self.progress }
    }
}

/// Bytes of all files; `None` if one is no file.
fn total(paths: &[PathBuf]) -> Option<u64> {
    let size = |path: &PathBuf| {
        let metadata = path.metadata().ok().filter(|metadata| metadata.is_file());
        metadata
            .filter(|_| path.as_os_str() != input::STANDARD_INPUT)
            .map(|metadata| metadata.len())
    };
    paths.iter().map(size).sum()
}
