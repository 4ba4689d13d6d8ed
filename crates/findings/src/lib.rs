//! Findings about a server's transfers in a capture, derived from the results of the trace engine.
//!
//! [`FindingsSink`] is a [`trace::TraceSink`]. After the last segment it returns [`TraceFindings`]:
//!
//! - the use of the transfers' time (`time`)
//! - the possible gain of a warm start (`warm`, `network`)
//! - the questions of Balakrishnan et al. (1998) about a busy server: losses (`losses`), ACK
//!   compression (`compression`) and parallel connections (`parallel`)
//!
//! `worst` ranks the groups that lost most time. `alone` follows each connection alone, `together`
//! and `follow` the facts that they share. `sums` joins the results of several captures.
//! [`access_log`] reads the lines of access logs. The crate has no I/O and no clock; memory is
//! bounded, but for the requests that sums need.

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
mod sums;
mod tiered;
mod time;
mod together;
mod warm;
mod worst;

pub use compression::{CompressionFindings, RatioStep};
pub use distribution::{CumulativeDistribution, CumulativeStep};
pub use losses::{KindRow, LossFindings, PhaseRow, PhaseSums, SparedRow};
pub use network::{GAP_LIMITS, GATEWAY_WINDOW, GapsWithin, RequestWatch, SharingFindings};
pub use notes::FindingsNote;
pub use parallel::{
    EpochFindings, EpochRow, LineFit, LossEpoch, ParallelFindings, ShareStep, ThroughputFindings,
};
pub use result::TraceFindings;
pub use sink::{FindingsPart, FindingsSink, NotedFindings};
pub use sums::FindingsSums;
pub use time::{
    FullLinks, SIZE_CLASSES, SizeClass, TimeCause, TimeFindings, TimeRow, TimeSums, TlsSums,
    changeable, is_changeable,
};
pub use warm::{GapRow, WarmFindings};
pub use worst::{WorstCandidate, WorstList};
