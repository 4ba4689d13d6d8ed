//! Differential fuzzing of the model of TCP: random scripts in the model and in the running kernel.
//!
//! A [`FuzzCase`] says what reaches a host and what its application does. A `recording` plays the
//! case in the model, and writes a script of our grammar with what the model sends and reports. A
//! `kernel` behind a TUN device then plays the script. The first event that does not hold is a
//! difference.
//!
//! `case.rs` has the inputs, and `compose/` makes random ones. `recording.rs` writes scripts,
//! `kernel.rs` plays them, and `verdict.rs` compares. `shrink.rs` finds the smallest script of a
//! difference. `campaign.rs` plays many scripts at a time.

mod campaign;
mod case;
mod compose;
mod dice;
mod kernel;
mod recording;
mod shrink;
mod verdict;

pub use campaign::{CampaignPlan, CampaignReport, FoundDifference, KindCount};
pub use case::{FuzzCase, FuzzHandshake, FuzzKind, FuzzStep, Stimulus};
pub use compose::compose;
pub use recording::{Unplayable, record};
pub use verdict::{Difference, FuzzVerdict, play_in_kernel};
