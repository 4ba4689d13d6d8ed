//! Transfers of real Linux kernels whose cause of duration is known, and the analyser's account
//! of them.
//!
//! A row ([`TruthRow`]) is a path and one or a few connections over it, each with a script for
//! either end. Two kernels in namespaces play it over the emulated link (`pair`, `played`).
//! The truth (`shares`) comes from the script, from the link's records and from the kernels'
//! counters, never from the captures. The analyser reads the captures of both ends (`analysed`),
//! and `compare` puts both beside each other.

mod analysed;
mod cause;
mod compare;
mod crossing;
mod exchange;
mod keep;
mod plan;
mod play;
mod played;
mod row;
mod rows;
mod samples;
mod script;
mod secured;
mod shares;
mod sleep;
mod sockets;

pub use analysed::AnalysedCapture;
pub use compare::{
    BURSTY_TOLERANCE_POINTS, ComparedCapture, MeasuredRow, SHARE_TOLERANCE_POINTS, ShareError,
};
pub use plan::{LeftOutRow, TruthPlan, TruthReport, row_names};
pub use play::{DeliveredBytes, DoneStep, EndLog};
pub use played::PlayedConnection;
pub use row::{AckWay, KernelEvidence, NamespaceSysctl, TruthPath, TruthRow};
pub use samples::KernelSample;
pub use script::{ConnectionScript, EndScript, ScriptStep};
pub use secured::TlsSetup;
pub use shares::{RowTruth, TrueShare};
pub use sockets::{KernelCounters, TruthSocket};
