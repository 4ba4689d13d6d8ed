//! Captures in files and pipes, merged in the order of time.
//!
//! The time of each file's first packet is read beforehand; the file is read from that time on. So
//! files that a capturing program has written one after the other are read one after the other, in
//! any order of their names. If files overlap, the earliest next packet is read first.

mod leap;
mod reader;
mod taking;

use crate::batch::BatchFiller;
use crate::counters::CaptureCounters;
use crate::error::CaptureError;
use crate::input;
use crate::observed::Observed;
use crate::source::{InputProgress, SegmentSource};
use reader::{CaptureReader, Next};
use std::cmp::Reverse;
use std::collections::VecDeque;
use std::io::Read;
use std::path::{Path, PathBuf};
use taking::Filling;
use units::Instant;

/// Maximum number of segments in a batch: few enough to stay in a core's cache.
const BATCH: usize = 512;
/// Number of packets after which a batch ends, whatever it contains.
const PACKETS: u64 = 1 << 16;
/// Number of files that stay open while they wait for their time; further ones are closed and
/// opened again.
const STAY_OPEN: usize = 8;

/// Captures in files, pipes and standard input.
///
/// Files are pcap or pcapng, plain or compressed by gzip or zstd; their contents show the format.
/// Nothing is opened before the first batch. Packets are passed on as they arrive: a program may
/// still be writing.
pub struct CaptureFiles {
    /// Files that are not opened yet, in the given order.
    unopened: Vec<PathBuf>,
    /// Files whose time has not come, the next one last.
    waiting: Vec<WaitingFile>,
    active: Vec<ActiveFile>,
    errors: VecDeque<CaptureError>,
    counters: CaptureCounters,
    progress: InputProgress,
    /// Number of packets that the captures of finished files report as lost.
    lost: u64,
}

/// A file whose time has not come.
struct WaitingFile {
    first: MergePosition,
    path: PathBuf,
    /// The reader; `None` if the file was closed again.
    reader: Option<CaptureReader>,
}

/// A file whose time has come.
struct ActiveFile {
    given: ReversedPosition,
    reader: CaptureReader,
}

/// Position of a file in the given order, reversed.
type ReversedPosition = Reverse<usize>;

/// The time of a file's next packet. If times are equal, the file given last precedes, as in
/// `mergecap`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct MergePosition {
    at: Instant,
    given: ReversedPosition,
}

impl MergePosition {
    /// Returns the last instant at which a packet of another file precedes this one.
    fn limit(self, other: ReversedPosition) -> Instant {
        let before = u64::from(other > self.given);
        Instant::from_nanos(self.at.as_nanos().saturating_sub(before))
    }
}

impl CaptureFiles {
    /// Creates a source of the files, in any order; `-` is standard input.
    pub fn new(paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        let unopened: Vec<PathBuf> = paths.into_iter().map(Into::into).collect();
        let progress = InputProgress { read: 0, total: total_size(&unopened) };
        Self {
            unopened,
            waiting: Vec::new(),
            active: Vec::new(),
            errors: VecDeque::new(),
            counters: CaptureCounters::default(),
            progress,
            lost: 0,
        }
    }

    /// Creates a source of another reader, with a `name` for errors.
    ///
    /// # Errors
    /// If it does not begin like a capture.
    pub fn from_reader(name: &str, reader: Box<dyn Read + Send>) -> Result<Self, CaptureError> {
        let reader = CaptureReader::detect_format(Path::new(name), input::begin(reader))?;
        let mut files = Self::new(Vec::<PathBuf>::new());
        files.progress.total = None;
        files.active.push(ActiveFile { given: Reverse(0), reader });
        Ok(files)
    }

    /// Opens all files and reads when each begins.
    fn open_files(&mut self) {
        let unopened = std::mem::take(&mut self.unopened);
        let stay_open = unopened.len() <= STAY_OPEN;
        for (given, path) in unopened.into_iter().enumerate() {
            match CaptureReader::open(&path) {
                Ok(reader) => self.queue_file(Reverse(given), path, reader, stay_open),
                Err(error) => self.errors.push_back(error),
            }
        }
        self.waiting.sort_by_key(|file| Reverse(file.first));
    }

    /// Makes a file wait for the time of its first packet.
    fn queue_file(
        &mut self,
        given: ReversedPosition,
        path: PathBuf,
        mut reader: CaptureReader,
        stay_open: bool,
    ) {
        let mut stay_open = stay_open || !path.is_file();
        loop {
            match reader.peek_time(true) {
                Ok(Next::At(at)) => {
                    let first = MergePosition { at, given };
                    let reader = Some(reader).filter(|_| stay_open);
                    return self.waiting.push(WaitingFile { first, path, reader });
                }
                Ok(_) => return self.retire_file(&reader),
                Err(error) => {
                    // Reopening the file would report the error again.
                    stay_open = true;
                    self.errors.push_back(error);
                }
            }
        }
    }

    /// Retires a file that has been read.
    fn retire_file(&mut self, reader: &CaptureReader) {
        self.progress.read += reader.bytes_read();
        self.lost += reader.lost();
    }

    /// Starts to read the next of the waiting files.
    fn activate_next_file(&mut self) {
        let Some(WaitingFile { first, path, reader }) = self.waiting.pop() else { return };
        match reader.map_or_else(|| CaptureReader::open(&path), Ok) {
            Ok(reader) => self.active.push(ActiveFile { given: first.given, reader }),
            Err(error) => self.errors.push_back(error),
        }
    }

    /// Returns the source of the next packet.
    fn next_source(&mut self, may_read: bool) -> NextSource {
        let mut first: Option<(usize, MergePosition)> = None;
        let mut second = self.waiting.last().map(|file| file.first);
        let mut index = 0;
        while let Some(ActiveFile { given, reader }) = self.active.get_mut(index) {
            let place = match reader.peek_time(may_read) {
                Ok(Next::At(at)) => MergePosition { at, given: *given },
                Ok(Next::Unread) => return NextSource::Unread,
                Ok(Next::End) => {
                    let ended = self.active.swap_remove(index);
                    self.retire_file(&ended.reader);
                    continue;
                }
                Err(error) => {
                    self.errors.push_back(error);
                    return NextSource::Error;
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
            (None, None) => NextSource::End,
            (Some((file, _)), None) => NextSource::Of { file, until: Instant::FAR_FUTURE },
            (Some((file, place)), Some(other)) if place < other => {
                NextSource::Of { file, until: other.limit(place.given) }
            }
            _ => NextSource::OfWaiting,
        }
    }

    /// Reads packets of one file while they are the earliest and already in memory.
    fn read_from(&mut self, file: usize, until: Instant, batch: &mut BatchFiller<'_>) {
        let Self { active, counters, errors, .. } = self;
        let read = active[file].reader.pass_buffered(until, &mut Filling::new(batch, counters));
        errors.extend(read.err());
    }

    /// Fills a batch; returns `false` if there is nothing more.
    fn fill_batch(&mut self, batch: &mut BatchFiller<'_>) -> bool {
        let before = self.counters.packets;
        let enough = before + PACKETS;
        while self.errors.is_empty() && batch.len() < BATCH && self.counters.packets < enough {
            // Packets that have been read do not wait for more.
            match self.next_source(self.counters.packets == before) {
                NextSource::Of { file, until } => self.read_from(file, until, batch),
                NextSource::OfWaiting => self.activate_next_file(),
                NextSource::Error => {}
                NextSource::Unread => return true,
                NextSource::End => return batch.len() > 0,
            }
        }
        true
    }
}

/// The source of the next packet.
enum NextSource {
    /// An active file, as long as its packets are not later than `until`.
    Of { file: usize, until: Instant },
    /// The next waiting file.
    OfWaiting,
    /// It is unknown without reading more.
    Unread,
    /// An error must be reported first.
    Error,
    /// The end of all files.
    End,
}

impl SegmentSource for CaptureFiles {
    fn next_batch(&mut self, batch: &mut Vec<Observed>) -> Result<bool, CaptureError> {
        if !self.unopened.is_empty() {
            self.open_files();
        }
        let before = self.counters.packets;
        let more = self.fill_batch(&mut BatchFiller::new(batch));
        // Packets that were read before an error precede it.
        match self.errors.pop_front_if(|_| self.counters.packets == before) {
            Some(error) => Err(error),
            None => Ok(more),
        }
    }

    fn counters(&self) -> CaptureCounters {
        let mut counters = self.counters;
        counters.lost = self.lost + self.active.iter().map(|file| file.reader.lost()).sum::<u64>();
        counters
    }

    fn progress(&self) -> InputProgress {
        let waiting = self.waiting.iter().filter_map(|file| file.reader.as_ref());
        let active = self.active.iter().map(|file| &file.reader);
        let open: u64 = active.chain(waiting).map(CaptureReader::bytes_read).sum();
        InputProgress { read: self.progress.read + open, ..self.progress }
    }
}

/// Returns the size of all files, bytes; `None` if one is not a file.
fn total_size(paths: &[PathBuf]) -> Option<u64> {
    let size = |path: &PathBuf| {
        let is_named = path.as_os_str() != input::STANDARD_INPUT;
        let metadata = path.metadata().ok().filter(|metadata| is_named && metadata.is_file());
        metadata.map(|metadata| metadata.len())
    };
    paths.iter().map(size).sum()
}
