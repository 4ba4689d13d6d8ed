//! Races of schemes over pages.

mod account;
mod limit;
mod perfect;
mod race;
