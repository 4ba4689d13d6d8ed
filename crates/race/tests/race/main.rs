//! Races of schemes over pages.

mod account;
mod limit;
mod race;
mod recorded;
mod recorded_line;
mod recorder;
