//! The trace engine: rebuilds the senders of a packet capture, explains each retransmission, and
//! accounts for the time of each transfer.
//!
//! [`TraceEngine`] takes [`capture::Observed`] segments in the order of the capture. It reports
//! each result to a [`TraceSink`] as soon as the result is final. A sender is rebuilt from the
//! core's own policies ([`SenderModel`]). The engine has no I/O, no clock and no randomness. The
//! reasons for this design are in `docs/adr/0018-trace-engine.md`.

mod config;
mod connection;
mod counts;
mod engine;
mod fast_open;
mod fit_error;
mod half;
mod kinds;
mod profile;
mod rebuilt;
mod servers;
mod sharded;
mod sink;
#[cfg(feature = "testing")]
mod slow_path;
mod snapshot;
mod summary;
mod survey;
mod table;
#[cfg(feature = "testing")]
pub mod testing;
mod transfer;
mod vantage;

pub use config::EngineConfig;
pub use engine::{EngineCounters, TraceEngine};
pub use fast_open::FastOpenOutcome;
pub use fit_error::FitError;
pub use kinds::{Retransmission, RetransmissionKind, SenderPhase, SparedBy};
pub use profile::{SenderModel, SenderModels, SenderProfile};
pub use servers::{ClientPattern, NamedClients, NamedServers, OnlyServers, ServerPattern};
pub use sharded::{
    EventLog, NotedConnection, Notes, ShardedSink, ShardedTraceEngine, SinkPart, TraceEvent,
    Undivided,
};
pub use sink::{SentData, TraceSink, TracedSender};
pub use snapshot::SenderSnapshot;
pub use summary::{ConnectionTrace, SenderCounters, TraceEnd};
pub use survey::{ProfileSurvey, SurveyedHost};
pub use transfer::{RateEvidence, TimeShare, TimeShares, TlsReport, TransferEnd, TransferReport};
pub use vantage::Vantage;
