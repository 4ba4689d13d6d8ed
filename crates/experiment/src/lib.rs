//! What headstart runs and measures: scenario scripts, races, checks against other simulators.

pub mod check;
pub mod estimate;
pub mod limit;
pub mod papers;
pub mod path;
pub mod plan;
pub mod race;
pub mod scoreboard;
pub mod script;
pub mod theory;
