//! Forecasts: the transfers of a capture once more, in simulation, under any scheme.
//!
//! - `captured` takes from a trace everything that does not depend on the server's TCP. That is the
//!   times of requests, the sizes of answers, the server's think times, and the delay, rate and
//!   loss of each client's path (`access`).
//! - `replay` lets simulated hosts do the same, network by network (`network`), in the same order
//!   (`opening`).
//! - `gain` compares the times of each scheme with those of the first one, which the servers seem
//!   to run (`outcome`, by groups of transfers, `group`). The replay of the first scheme, compared
//!   with the capture, shows the quality of the model.
//!
//! Read `captured/mod.rs`, then `replay/mod.rs`. ADR 31 has the assumptions.

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
pub use gain::{GroupGain, MAX_ERROR};
pub use group::ForecastGroup;
pub use outcome::{ForecastResult, ForecastRow, ModelFit};
pub use run::{Forecast, ForecastOptions};
