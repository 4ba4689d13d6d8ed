//! Transfers of real Linux kernels whose cause of duration is known, and what the analyser says of them.
//!
//! A row ([`TruthRow`]) is a path and one or a few connections over it, each with a script for either end. It is
//! played by two kernels in namespaces over the emulated link ([`place`], [`play`]). What is true of it comes from
//! its script, from the link's records and from the kernels' counters ([`shares`]), never from the captures. The
//! analyser reads the captures of both ends ([`analysed`]), and [`compare`] puts both beside each other.

mod analysed;
mod cause;
mod compare;
mod crossing;
mod exchange;
mod keep;
mod place;
mod plan;
mod play;
mod played;
mod row;
mod rows;
mod samples;
mod script;
mod secured;
mod shares;
mod sockets;

pub use analysed::{AnalysedCapture, is_class};
pub use cause::TruthCause;
pub use compare::{ComparedCapture, MeasuredRow, SHARE_TOLERANCE_POINTS, ShareError};
pub use plan::{LeftOutRow, TruthPlan, TruthReport, row_names};
pub use play::{Arrived, DoneStep, EndLog};
pub use played::PlayedConnection;
pub use row::{AckWay, KernelEvidence, Sysctl, TruthPath, TruthRow};
pub use samples::KernelSample;
pub use script::{ConnectionScript, EndScript, Step};
pub use secured::TlsSetup;
pub use shares::{RowTruth, TrueShare};
pub use sockets::{KernelCounters, TruthSocket};
