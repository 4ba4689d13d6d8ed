//! Quantities of time, rate and sequence that every other crate speaks in.
//!
//! Time is virtual or real, and the type does not differ. An [`Instant`] is nanoseconds since an
//! origin that the driver of the core has chosen. Rates are bits per second. Sequence numbers are
//! the 32-bit ones of the wire (RFC 9293 §3.4) and wrap.
//!
//! Everything is an integer, so two runs of the same plan agree to the last bit.

mod counted;
mod parse;
mod rate;
mod seq;
mod time;

pub use counted::counted;
pub use parse::{ParseUnitError, parse_byte_count, parse_bytes};
pub use rate::Rate;
pub use seq::SeqNum;
pub use time::{Duration, Instant};
