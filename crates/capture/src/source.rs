//! The common interface of files, pipes and interfaces as sources of segments.

use crate::counters::CaptureCounters;
use crate::error::CaptureError;
use crate::observed::Observed;

/// A source of segments, in order of time if its captures are.
pub trait SegmentSource {
    /// Replaces the contents of `batch` by the next segments. Returns `false` if there are none and
    /// never will be. After `true` the batch may be empty, for example while a live source waits.
    ///
    /// # Errors
    /// If something cannot be read. All segments before it have been passed on. A source of several
    /// files goes on with the others at the next call, so errors are not the end; `false` is.
    fn next_batch(&mut self, batch: &mut Vec<Observed>) -> Result<bool, CaptureError>;

    /// Returns the counters of all input up to the last batch.
    fn counters(&self) -> CaptureCounters;

    /// Returns the progress.
    fn progress(&self) -> InputProgress;
}

/// Progress of a source, in bytes of files on disk; compressed ones count compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputProgress {
    /// Number of bytes read.
    pub read: u64,
    /// Size of all files, bytes; `None` if unknown, as for a pipe or an interface.
    pub total: Option<u64>,
}
