//! Races of schemes over pages.

mod account;
mod critical;
mod limit;
mod perfect;
mod plain;
mod race;
mod recorded;
mod recorded_line;
mod recorder;
mod what_if;
