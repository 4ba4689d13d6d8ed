//! Where segments come from: the one interface of files, pipes and interfaces.

use crate::error::CaptureError;
use crate::observed::Observed;
use crate::tally::Tally;

/// A source of segments, in the order of time as far as its captures are.
pub trait SegmentSource {
    /// Replaces the contents of `batch` by the next segments. `false` if there are none and never will
    /// be; after `true` the batch may be empty, as it is at times where a live source waits.
    ///
    /// # Errors
    /// If something cannot be read. All segments before it have been handed over. A source of several
    /// files goes on with the others at the next call, so errors are not the end; `false` is.
    fn next_batch(&mut self, batch: &mut Vec<Observed>) -> Result<bool, CaptureError>;

    /// What has been read up to the last batch.
    fn tally(&self) -> Tally;

    /// How far it is.
    fn progress(&self) -> InputProgress;
}

/// How far a source is, in bytes of files as they are on disk; compressed ones count compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputProgress {
    /// Bytes read.
    pub read: u64,
    /// Bytes of all files; `None` if unknown, as of a pipe or an interface.
    pub total: Option<u64>,
}
