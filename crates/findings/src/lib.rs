//! What a capture says of a server's transfers, found and summed up from what the trace engine tells.
//!
//! [`FindingsSink`] is a [`trace::TraceSink`]; after the last segment it gives [`TraceFindings`]: where the time of
//! transfers went (`time`), what a warm start could gain (`warm`, `network`), and what Balakrishnan et al.
//! (1998) asked of a busy server: losses (`losses`), ACK compression (`compression`) and parallel connections
//! (`parallel`). `worst` ranks what lost most. `alone` follows each connection by itself,
//! `together` and `follow`
//! what they have in common. [`access_log`] reads the lines of access logs. No I/O, no clock;
//! memory is bounded.

pub mod access_log;
mod alone;
mod compression;
mod distribution;
mod follow;
mod losses;
mod network;
mod notes;
mod numbered;
mod parallel;
mod result;
mod sink;
mod tiered;
mod time;
mod together;
mod warm;
mod worst;

pub use compression::{CompressionFindings, RatioStep};
pub use distribution::{CumulativeDistribution, CumulativeStep};
pub use losses::{KindRow, LossFindings, PhaseRow, PhaseSums, SparedRow};
pub use network::{COUNTED_GAPS, GATEWAY_WINDOW, GapsWithin, RequestWatch, SharingFindings};
pub use notes::FindingsNote;
pub use parallel::{
    EpochFindings, EpochRow, LineFit, LossEpoch, ParallelFindings, ShareStep, ThroughputFindings,
};
pub use result::TraceFindings;
pub use sink::{FindingsPart, FindingsSink, NotedFindings};
pub use time::{
    FullLinks, SIZE_CLASSES, SizeClass, TimeCause, TimeFindings, TimeRow, TimeSums, TlsSums,
    changeable, is_changeable,
};
pub use warm::{GapRow, WarmFindings};
pub use worst::{WorstCandidate, WorstList};
