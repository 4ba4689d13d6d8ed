//! Captures in files and pipes, merged in the order of time.
//!
//! Of each file the time of its first packet is found out beforehand; a file is read from that time on. So
//! files that a capturing program has written one after the other are read one after the other, in whatever
//! order they are named. Of packets in files that overlap, the earliest next packet goes first.

mod leap;
mod reader;
mod taking;

use crate::batch::BatchFiller;
use crate::error::CaptureError;
use crate::input;
use crate::observed::Observed;
use crate::source::{InputProgress, SegmentSource};
use crate::tally::Tally;
use reader::{CaptureReader, Next};
use std::cmp::Reverse;
use std::collections::VecDeque;
use std::io::Read;
use std::path::{Path, PathBuf};
use taking::Filling;
use units::Instant;

/// Segments of a batch: few enough to stay in a core's cache.
const BATCH: usize = 512;
/// Packets after which a batch ends, whatever it has.
const PACKETS: u64 = 1 << 16;
/// Files that stay open while they wait for their time; of more, each is closed and opened again.
const STAY_OPEN: usize = 8;

/// Captures in files, pipes and standard input.
///
/// Files are pcap or pcapng, as they are or compressed by gzip or zstd, which their contents tell. Nothing is
/// opened before the first batch. Packets are handed over as they arrive: a program may still be writing.
pub struct CaptureFiles {
    /// Not opened yet, in the order given.
    unopened: Vec<PathBuf>,
    /// Those whose time has not come, the next one last.
    waiting: Vec<WaitingFile>,
    active: Vec<ActiveFile>,
    errors: VecDeque<CaptureError>,
    tally: Tally,
    progress: InputProgress,
    /// Packets that captures of files that have been read say they have lost.
    lost: u64,
}

/// A file whose time has not come.
struct WaitingFile {
    first: Place,
    path: PathBuf,
    /// `None` if it was closed again.
    reader: Option<CaptureReader>,
}

/// A file whose time has come.
struct ActiveFile {
    given: Given,
    reader: CaptureReader,
}

/// Which of the files, in the order given, backwards.
type Given = Reverse<usize>;

/// When a file's next packet is due. Of packets of the same time, that of the file given last goes first, as
/// `mergecap` has it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    at: Instant,
    given: Given,
}

impl Place {
    /// The last instant at which a packet of another file goes before this one.
    fn limit(self, other: Given) -> Instant {
        let before = u64::from(other > self.given);
        Instant::from_nanos(self.at.as_nanos().saturating_sub(before))
    }
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
        }
    }

    /// What another reader gives, by a `name` for errors.
    ///
    /// # Errors
    /// If it does not begin as a capture does.
    pub fn from_reader(name: &str, reader: Box<dyn Read + Send>) -> Result<Self, CaptureError> {
        let reader = CaptureReader::begin(Path::new(name), input::begin(reader))?;
        let mut files = Self::new(Vec::<PathBuf>::new());
        files.progress.total = None;
        files.active.push(ActiveFile { given: Reverse(0), reader });
        Ok(files)
    }

    /// Opens all files and finds out when each begins.
    fn begin(&mut self) {
        let unopened = std::mem::take(&mut self.unopened);
        let stay_open = unopened.len() <= STAY_OPEN;
        for (given, path) in unopened.into_iter().enumerate() {
            match CaptureReader::open(&path) {
                Ok(reader) => self.wait(Reverse(given), path, reader, stay_open),
                Err(error) => self.errors.push_back(error),
            }
        }
        self.waiting.sort_by_key(|file| Reverse(file.first));
    }

    /// Has a file wait for the time of its first packet.
    fn wait(&mut self, given: Given, path: PathBuf, mut reader: CaptureReader, stay_open: bool) {
        let mut stay_open = stay_open || !path.is_file();
        loop {
            match reader.peek(true) {
                Ok(Next::At(at)) => {
                    let first = Place { at, given };
                    let reader = Some(reader).filter(|_| stay_open);
                    return self.waiting.push(WaitingFile { first, path, reader });
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
        let Some(WaitingFile { first, path, reader }) = self.waiting.pop() else { return };
        match reader.map_or_else(|| CaptureReader::open(&path), Ok) {
            Ok(reader) => self.active.push(ActiveFile { given: first.given, reader }),
            Err(error) => self.errors.push_back(error),
        }
    }

    /// Whose packet is next.
    fn turn(&mut self, may_read: bool) -> Turn {
        let mut first: Option<(usize, Place)> = None;
        let mut second = self.waiting.last().map(|file| file.first);
        let mut index = 0;
        while let Some(ActiveFile { given, reader }) = self.active.get_mut(index) {
            let place = match reader.peek(may_read) {
                Ok(Next::At(at)) => Place { at, given: *given },
                Ok(Next::Unread) => return Turn::Unread,
                Ok(Next::End) => {
                    let ended = self.active.swap_remove(index);
                    self.retire(&ended.reader);
                    continue;
                }
                Err(error) => {
                    self.errors.push_back(error);
                    return Turn::Error;
                }
            };
            let later = match first {
                Some((_, earlier)) if earlier < place => Some(place),
                _ => first.replace((index, place)).map(|(_, later)| later),
            };
            second = second.into_iter().chain(later).min();
            index += 1;
        }
        match (first, second) {
            (None, None) => Turn::End,
            (Some((file, _)), None) => Turn::Of { file, until: Instant::FAR_FUTURE },
            (Some((file, place)), Some(other)) if place < other => {
                Turn::Of { file, until: other.limit(place.given) }
            }
            _ => Turn::OfWaiting,
        }
    }

    /// Reads packets of one file while they are the earliest and at hand.
    fn read(&mut self, file: usize, until: Instant, batch: &mut BatchFiller<'_>) {
        let Self { active, tally, errors, .. } = self;
        let read = active[file].reader.drain(until, &mut Filling::new(batch, tally));
        errors.extend(read.err());
    }

    /// Fills a batch; `false` if there is nothing more.
    fn fill(&mut self, batch: &mut BatchFiller<'_>) -> bool {
        let before = self.tally.packets;
        let enough = before + PACKETS;
        while self.errors.is_empty() && batch.len() < BATCH && self.tally.packets < enough {
            // What has been read is not held back by waiting for more.
            match self.turn(self.tally.packets == before) {
                Turn::Of { file, until } => self.read(file, until, batch),
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
    /// That of an active file, as long as its packets are not later than `until`.
    Of { file: usize, until: Instant },
    /// That of the next waiting file.
    OfWaiting,
    /// To tell, something would have to be read.
    Unread,
    /// An error has to be told first.
    Error,
    /// There is none.
    End,
}

impl SegmentSource for CaptureFiles {
    fn next_batch(&mut self, batch: &mut Vec<Observed>) -> Result<bool, CaptureError> {
        if !self.unopened.is_empty() {
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
        let mut tally = self.tally;
        tally.lost = self.lost + self.active.iter().map(|file| file.reader.lost()).sum::<u64>();
        tally
    }

    fn progress(&self) -> InputProgress {
        let waiting = self.waiting.iter().filter_map(|file| file.reader.as_ref());
        let active = self.active.iter().map(|file| &file.reader);
        let open: u64 = active.chain(waiting).map(CaptureReader::bytes_read).sum();
        InputProgress { read: self.progress.read + open, ..self.progress }
    }
}

/// Bytes of all files; `None` if one is no file.
fn total(paths: &[PathBuf]) -> Option<u64> {
    let size = |path: &PathBuf| {
        let is_named = path.as_os_str() != input::STANDARD_INPUT;
        let metadata = path.metadata().ok().filter(|metadata| is_named && metadata.is_file());
        metadata.map(|metadata| metadata.len())
    };
    paths.iter().map(size).sum()
}
