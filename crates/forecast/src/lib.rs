//! Forecasts: the transfers of a capture once more, in simulation, under any scheme.
//!
//! `captured` takes from a trace what does not depend on the server's TCP: who asked when, how much was answered, how long
//! the server thought, and how fast, far and lossy each client's path is (`access`). `replay` has simulated hosts
//! do the same, network by network (`network`), in the same order (`opening`), and `gain` holds the
//! times of each scheme against those of the first one, which the servers seem to run (`outcome`,
//! by groups of transfers, `group`). That one's replay beside the capture says how good the model
//! is.
//!
//! Read `captured/mod.rs`, then `replay/mod.rs`. What is assumed stands in ADR 31.

mod access;
mod captured;
mod changes;
mod error;
mod gain;
mod group;
mod network;
mod opening;
mod outcome;
mod replay;
mod run;
mod sender;
mod variant;

pub use access::{AccessEstimate, DEFAULT_RATE};
pub use captured::{
    CapturedClient, CapturedConnection, CapturedTransfer, CapturedVisitors, Visitors,
};
pub use error::ForecastError;
pub use gain::{GroupGain, MOST_ERROR};
pub use group::ForecastGroup;
pub use outcome::{ForecastResult, ForecastRow, ModelFit};
pub use run::{Forecast, ForecastOptions};
