//! Links: both directions of a wire.

use super::quantity::{Probability, TextOr, Written};
use link::QueueLimit;
use schemars::JsonSchema;
use serde::Deserialize;
use units::{Duration, Rate};

/// One direction of a wire, and what is different about the other.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wire {
    /// Transmission rate.
    pub(crate) rate: Written<Rate>,
    /// One-way propagation delay; 0 unless given.
    pub(crate) delay: Option<Written<Duration>>,
    /// The queue before the link: a limit, or a table with a discipline; without bound unless given.
    pub(crate) queue: Option<TextOr<QueueLimit, Discipline>>,
    /// Probability that a packet is lost on the wire, each independently; 0 unless given.
    pub(crate) loss: Option<Probability>,
    /// What is different about the way back; all else is as above.
    pub(crate) back: Option<WireBack>,
}

/// The way back of a wire, where it differs.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WireBack {
    /// Transmission rate.
    pub(crate) rate: Option<Written<Rate>>,
    /// One-way propagation delay.
    pub(crate) delay: Option<Written<Duration>>,
    /// The queue before the link.
    pub(crate) queue: Option<TextOr<QueueLimit, Discipline>>,
    /// Probability that a packet is lost on the wire.
    pub(crate) loss: Option<Probability>,
}

/// How a queue decides what to drop, to mark and to send next.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "kind")]
pub(crate) enum Discipline {
    /// First in, first out; what does not fit is dropped.
    Droptail(Droptail),
}

/// A first-in, first-out queue.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Droptail {
    /// How much it holds.
    pub(crate) limit: Written<QueueLimit>,
}
