//! Closed forms of the papers, and one step further, as numbers for tables and charts.
//!
//! `windows`: the initial window that ends a transfer with an epoch (Zhang, Qiu & Keshav 2000 §4).
//! `gaps`: where Paced Start's search ends (Hu & Steenkiste 2003 §3.2). `parallel`: the effect of a
//! loss on several connections (Balakrishnan et al. 1998 §3.2). `completion` is the window that
//! minimises the time itself, including transmission, where the first minimises round trips;
//! `comparison` compares the two. Nothing here is simulated; tests hold it against the simulator.

mod comparison;
mod completion;
mod epochs;
mod gaps;
mod parallel;
mod windows;

pub use comparison::{Matrix, WindowComparison, compare, matrix};
pub use completion::{ModelPath, SEGMENT};
pub use gaps::{Exit, GapCase, cases, exit_at, exits};
pub use parallel::{LossShare, Parallel, loss_shares, parallel};
pub use windows::{WindowRow, rfc2414_window, windows};

#[cfg(test)]
mod tests;
