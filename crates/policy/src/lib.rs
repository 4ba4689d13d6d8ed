//! The policies of a TCP sender, and the plain structs from which they decide.
//!
//! [`startup`], [`congestion`] and [`recovery`] are the three that combine freely; [`bbr`] is the
//! model of a path that one BBR policy hands to another. [`ack`] turns a received ACK into their
//! inputs; they answer by the [`window`], a [`send_plan`] or marks on the scoreboard. [`config`]
//! and [`sharing`] are the options outside of policies.
//!
//! No policy knows a connection, a path or a host: each is a struct to be driven and tested alone.
//!
//! # Where to begin
//!
//! [`startup::STARTUPS`], [`congestion::CONTROLLERS`] and [`recovery::RECOVERIES`] list the
//! policies. A start-up changes a [`window::Window`] at an ACK:
//!
//! ```
//! use policy::ack::AckSample;
//! use policy::startup::{Phase, SlowStart, StartUp};
//! use policy::window::Window;
//! use units::Instant;
//!
//! // Segments of 1000 bytes, a window of three, no threshold yet.
//! let mut window = Window::new(1000, 3000, u64::MAX, false);
//! let ack = AckSample::of(Instant::ZERO, 2000);
//! assert_eq!(SlowStart.on_ack(&mut window, &ack), Phase::Continue);
//! // A segment more for an ACK, whatever it acknowledges (RFC 5681 §3.1).
//! assert_eq!(window.cwnd(), 4000);
//! ```
//!
//! To add a policy of your own, follow CONTRIBUTING.md: one file and one line. A whole TCP with it
//! is `tcp::Scheme::parse("newreno+startup=NAME")`.

pub mod ack;
pub mod bbr;
pub mod config;
pub mod congestion;
pub mod recovery;
pub mod registry;
pub mod send_plan;
pub mod sharing;
pub mod startup;
#[cfg(test)]
mod tests;
pub mod window;
