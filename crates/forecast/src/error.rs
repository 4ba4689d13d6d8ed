//! The reason why there is no forecast.

use netsim::SimulationError;
use std::fmt;

/// A replay that could not go on.
#[derive(Clone, Debug)]
pub struct ForecastError {
    /// Name of the scheme of the replay.
    pub(crate) scheme: String,
    /// The error of the simulation.
    pub(crate) why: SimulationError,
}

impl fmt::Display for ForecastError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { scheme, why } = self;
        write!(
            f,
            "the replay under {scheme} cannot go on: {why}. A client of a load generator does that; `--most-transfers` reads less of a capture"
        )
    }
}

impl std::error::Error for ForecastError {}
