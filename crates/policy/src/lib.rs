//! The policies of a TCP sender, and the plain structs that they decide from.
//!
//! [`startup`], [`congestion`] and [`recovery`] are the three that combine freely; [`bbr`] is the
//! model of a path that two of them hand on. [`ack`] turns an arriving ACK into what they are told;
//! they answer by the [`window`], a [`send_plan`] or marks on the scoreboard. [`config`] and
//! [`sharing`] are the options that are no policy of their own.
//!
//! No policy knows a connection, a path or a host: each is a struct to be driven and tested alone.

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
