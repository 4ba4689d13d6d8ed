//! What a link is made of, checked once: an impossible link cannot be constructed.

use std::fmt;
use units::{Duration, Rate};

/// How much a queue holds, the packet in service included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// At most this many packets: `n - 1` waiting and one in service.
    Packets(u32),
    /// At most this many bytes, waiting and in service. A packet that finds the link idle is
    /// always taken, so a queue smaller than a packet still carries packets one at a time.
    Bytes(u64),
    /// Nothing is ever dropped.
    Unlimited,
}

/// Whether a packet that departs at exactly the instant another arrives is still in its way.
///
/// In slow start over one bottleneck every such pair is an exact tie, and which of the two comes
/// first decides which packet is dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ties {
    /// It still counts.
    #[default]
    StillIn,
    /// It has gone.
    Gone,
}

/// Rate, propagation delay, queue and loss of one direction of a wire. The rate of a link is
/// fixed for its life: departures already promised could not be kept otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkConfig {
    rate: Rate,
    delay: Duration,
    queue: QueueLimit,
    loss: f64,
    ties: Ties,
}

/// Why a link is impossible.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkError {
    /// A link of rate zero never delivers.
    ZeroRate,
    /// A queue of zero has no place for the packet in service.
    ZeroQueue,
    /// Loss must be a probability below one.
    Loss(f64),
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ZeroRate => write!(f, "a link needs a rate above zero, like 20mbit"),
            Self::ZeroQueue => {
                write!(f, "a queue of 0 has no place for the packet in service: use at least 1")
            }
            Self::Loss(p) => write!(f, "loss {p} is not a probability: use 0 or more, below 1"),
        }
    }
}

impl std::error::Error for LinkError {}

impl LinkConfig {
    /// A link without random loss.
    ///
    /// # Errors
    /// [`LinkError::ZeroRate`] or [`LinkError::ZeroQueue`].
    pub fn new(rate: Rate, delay: Duration, queue: QueueLimit) -> Result<Self, LinkError> {
        if rate.as_bps() == 0 {
            return Err(LinkError::ZeroRate);
        }
        if matches!(queue, QueueLimit::Packets(0) | QueueLimit::Bytes(0)) {
            return Err(LinkError::ZeroQueue);
        }
        Ok(Self { rate, delay, queue, loss: 0.0, ties: Ties::default() })
    }

    /// The same link under another rule for ties.
    #[must_use]
    pub const fn with_ties(self, ties: Ties) -> Self {
        Self { ties, ..self }
    }

    /// The same link, losing each packet independently with `probability`.
    ///
    /// # Errors
    /// [`LinkError::Loss`] unless `0 <= probability < 1`.
    pub fn with_loss(self, probability: f64) -> Result<Self, LinkError> {
        if (0.0..1.0).contains(&probability) {
            Ok(Self { loss: probability, ..self })
        } else {
            Err(LinkError::Loss(probability))
        }
    }

    /// Transmission rate.
    pub const fn rate(&self) -> Rate {
        self.rate
    }

    /// One-way propagation delay.
    pub const fn delay(&self) -> Duration {
        self.delay
    }

    /// Queue limit.
    pub const fn queue(&self) -> QueueLimit {
        self.queue
    }

    /// Rule for ties.
    pub const fn ties(&self) -> Ties {
        self.ties
    }

    /// Probability that a packet is lost on the wire.
    pub const fn loss(&self) -> f64 {
        self.loss
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate::from_mbps(1);

    #[test]
    fn impossible_links_are_refused_with_the_way_out() {
        let refused = |rate, queue| LinkConfig::new(rate, Duration::ZERO, queue).unwrap_err();
        assert_eq!(refused(Rate::from_bps(0), QueueLimit::Unlimited), LinkError::ZeroRate);
        assert_eq!(refused(RATE, QueueLimit::Packets(0)), LinkError::ZeroQueue);
        assert_eq!(refused(RATE, QueueLimit::Bytes(0)), LinkError::ZeroQueue);
        assert!(LinkError::ZeroRate.to_string().contains("20mbit"));
    }

    #[test]
    fn loss_is_a_probability_below_one() {
        let link = LinkConfig::new(RATE, Duration::ZERO, QueueLimit::Unlimited).unwrap();
        assert_eq!(link.with_loss(0.25).unwrap().loss(), 0.25);
        for bad in [-0.1, 1.0, 2.0, f64::NAN] {
            assert!(link.with_loss(bad).is_err(), "{bad}");
        }
    }
}
