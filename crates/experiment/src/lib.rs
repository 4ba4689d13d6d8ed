//! What headstart runs and measures: scenario scripts, races, checks against other simulators.

pub mod script;
