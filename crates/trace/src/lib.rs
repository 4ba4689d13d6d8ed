//! The trace engine: rebuilds the senders of a packet capture, says why each retransmission was sent, and
//! where the time of each transfer went.
//!
//! [`TraceEngine`] takes [`capture::Observed`] segments in the order of the capture and tells a [`TraceSink`]
//! what it finds as soon as it is final. A sender is rebuilt from the core's own policies ([`SenderModel`]).
//! No I/O, no clock, no randomness. Why it is built so: `docs/adr/0018-trace-engine.md`.

mod config;
mod connection;
mod counts;
mod engine;
mod fast_open;
mod half;
mod kinds;
#[cfg(feature = "testing")]
mod longhand;
mod misfit;
mod profile;
mod rebuilt;
mod servers;
mod sharded;
mod sink;
mod snapshot;
mod summary;
mod survey;
mod table;
#[cfg(feature = "testing")]
pub mod testing;
mod transfer;
mod vantage;

pub use config::EngineConfig;
pub use engine::{EngineTally, TraceEngine};
pub use fast_open::FastOpenOutcome;
pub use kinds::{Retransmission, RetransmissionKind, SenderPhase, SparedBy};
pub use misfit::Misfit;
pub use profile::{SenderModel, SenderModels, SenderProfile};
pub use servers::{ClientPattern, NamedClients, NamedServers, OnlyServers, ServerPattern};
pub use sharded::{
    EventLog, NotedConnection, Notes, ShardedSink, ShardedTraceEngine, SinkPart, TraceEvent,
    Undivided,
};
pub use sink::{SentData, TraceSink, TracedSender};
pub use snapshot::SenderSnapshot;
pub use summary::{ConnectionTrace, SenderTally, TraceEnd};
pub use survey::{ProfileSurvey, SurveyedHost};
pub use transfer::{RateEvidence, TimeShare, TimeShares, TlsReport, TransferEnd, TransferReport};
pub use vantage::Vantage;
