//! Plans: how they are read and run. Results of plans in folders, and plots of them.

mod common;
mod folder;
mod measures;
mod plan;
mod plots;
