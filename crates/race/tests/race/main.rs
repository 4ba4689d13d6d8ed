//! Races of schemes over pages.

mod account;
mod comparison;
mod critical;
mod distance;
mod limit;
mod load_detail;
mod lookups;
mod perfect;
mod plain;
mod race;
mod recorded;
mod recorded_line;
mod recorder;
mod what_if;
