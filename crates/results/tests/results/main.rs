//! Results of plans in folders, and plots of them.

mod folder;
mod plots;
