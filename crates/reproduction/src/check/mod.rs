//! Checks of the simulator against measurements made with other programs.

pub mod ns2;
