//! A network path: what people write (`20mbit,80ms,100p`) and the links it means.
//!
//! A path is one access link, the client at its end, every server behind it at the same distance.
//! It is *down* towards the client and *up* away from it. The round trip is given, not the one-way
//! delay: each direction has half of it. A queue stands before each direction and holds waiting
//! packets plus the one in service, drop-tail or another discipline by name; loss strikes each packet
//! of either direction independently.
//!
//! `parse` reads the notation, `presets` names paths worth knowing.

mod error;
mod mobile;
mod parse;
mod presets;

pub use error::PathError;
pub use parse::parse_probability;
pub use presets::{DEFAULT_PRESET, PRESETS, PathPreset, preset};

use crate::{Discipline, Duplex, LinkConfig, LinkError, QueueLimit};
use mobile::MobileRate;
use std::fmt;
use units::{Duration, Rate};

/// Rates beyond this are refused: a packet of 40 bytes would take no more than a few of the
/// simulator's nanoseconds, and rounding would show.
pub const MAX_RATE: Rate = Rate::from_bps(100_000_000_000);

/// The rate up of a path whose rate down is that of the mobile downlink.
const MOBILE_UP: Rate = Rate::from_mbps(5);

/// Size of a queue, the packet in service included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueSize {
    /// Packets.
    Packets(u32),
    /// Bytes.
    Bytes(u64),
    /// Thousandths of the bandwidth-delay product: rate of the direction × round trip.
    MilliBdp(u64),
    /// Without bound.
    Unlimited,
}

/// A path that can exist; made by parsing, by a preset, or checked by [`PathSpec::new`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathSpec {
    down: Rate,
    up: Rate,
    rtt: Duration,
    queue: QueueSize,
    discipline: Discipline,
    loss: f64,
    /// The rate towards the client changes; `down` is its highest.
    varying: Option<MobileRate>,
}

impl PathSpec {
    /// A path with the same rate both ways and no random loss; `rtt` is the round trip without
    /// transmission times.
    ///
    /// # Errors
    /// If the rate is zero or above [`MAX_RATE`], or the queue holds nothing.
    pub fn new(rate: Rate, rtt: Duration, queue: QueueSize) -> Result<Self, PathError> {
        let discipline = Discipline::DropTail;
        let varying = None;
        Self { down: rate, up: rate, rtt, queue, discipline, loss: 0.0, varying }.checked()
    }

    /// The same path with another rate up.
    ///
    /// # Errors
    /// As [`PathSpec::new`].
    pub fn with_up(self, up: Rate) -> Result<Self, PathError> {
        Self { up, ..self }.checked()
    }

    /// A path whose rate towards the client is that of the mobile downlink, from `offset` of
    /// it on. It is 24 Mbit/s on average. The rate up is constant.
    ///
    /// # Errors
    /// If the queue holds nothing.
    pub fn mobile(offset: Duration, rtt: Duration, queue: QueueSize) -> Result<Self, PathError> {
        let path = Self::new(MobileRate::peak(), rtt, queue)?;
        Self { varying: Some(MobileRate::from(offset)), ..path }.with_up(MOBILE_UP)
    }

    /// The same path, with its rate, if that changes, from `offset` on.
    #[must_use]
    pub fn beginning_at(self, offset: Duration) -> Self {
        Self { varying: self.varying.map(|_| MobileRate::from(offset)), ..self }
    }

    /// True if the rate towards the client is that of the mobile downlink.
    pub const fn is_mobile(&self) -> bool {
        self.varying.is_some()
    }

    /// The same path with another discipline in the queues of both directions.
    ///
    /// # Errors
    /// If the discipline cannot be with queues of this size.
    pub fn with_discipline(self, discipline: Discipline) -> Result<Self, PathError> {
        Self { discipline, ..self }.checked()
    }

    /// The same path, losing each packet with `probability` in either direction.
    ///
    /// # Errors
    /// Unless `0 <= probability < 1`.
    pub fn with_loss(self, probability: f64) -> Result<Self, PathError> {
        let loss = probability;
        Self { loss, ..self }.checked()
    }

    /// Rate towards the client; the highest, if it changes.
    pub const fn down(&self) -> Rate {
        self.down
    }

    /// Rate away from the client.
    pub const fn up(&self) -> Rate {
        self.up
    }

    /// Round trip without transmission times.
    pub const fn rtt(&self) -> Duration {
        self.rtt
    }

    /// Size of the queue of each direction, as it was given.
    pub const fn queue(&self) -> QueueSize {
        self.queue
    }

    /// Queueing discipline of either direction.
    pub const fn discipline(&self) -> Discipline {
        self.discipline
    }

    /// Probability that a packet is lost, in either direction.
    pub const fn loss(&self) -> f64 {
        self.loss
    }

    /// One-way delays: half of the round trip each, an odd nanosecond on the way up.
    pub fn delays(&self) -> Duplex<Duration> {
        let forward = self.rtt / 2;
        Duplex { forward, reverse: self.rtt - forward }
    }

    /// The access link: forward is down to the client.
    pub fn links(&self) -> Duplex<LinkConfig> {
        let delays = self.delays();
        let link = |rate, delay| self.link(rate, delay).expect("a path is checked when it is made");
        let down = link(self.down, delays.forward);
        let forward = match self.varying {
            Some(varying) => down.with_rate_trace(varying.trace()),
            None => down,
        };
        Duplex { forward, reverse: link(self.up, delays.reverse) }
    }

    fn link(&self, rate: Rate, delay: Duration) -> Result<LinkConfig, LinkError> {
        LinkConfig::new(rate, delay, self.queue_limit(rate))?
            .with_discipline(self.discipline)?
            .with_loss(self.loss)
    }

    /// What the queue of a direction of this rate holds.
    pub fn queue_limit(&self, rate: Rate) -> QueueLimit {
        self.queue.limit(rate, self.rtt)
    }

    fn checked(self) -> Result<Self, PathError> {
        for (key, rate) in [("rate", self.down), ("up", self.up)] {
            if rate > MAX_RATE {
                return Err(PathError::of(key, format!("{rate} is above {MAX_RATE}")));
            }
            self.link(rate, Duration::ZERO)
                .map_err(|error| PathError::of(key_of(error, key), error))?;
        }
        Ok(self)
    }
}

impl QueueSize {
    /// What a queue before a link of this rate holds on a path of this round trip.
    pub fn limit(&self, rate: Rate, rtt: Duration) -> QueueLimit {
        match *self {
            Self::Packets(n) => QueueLimit::Packets(n),
            Self::Bytes(n) => QueueLimit::Bytes(n),
            Self::MilliBdp(n) => {
                let bytes = u128::from(rate.bytes_in(rtt)) * u128::from(n) / 1000;
                QueueLimit::Bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
            }
            Self::Unlimited => QueueLimit::Unlimited,
        }
    }
}

/// The part of the notation that a link error is about.
const fn key_of(error: LinkError, rate_key: &'static str) -> &'static str {
    match error {
        LinkError::ZeroRate => rate_key,
        LinkError::ZeroQueue => "queue",
        LinkError::Loss(_) => "loss",
        LinkError::Discipline { .. } => "discipline",
        LinkError::Reordering => "path",
    }
}

impl fmt::Display for QueueSize {
    /// As it is read back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packets(n) => write!(f, "{n}p"),
            Self::Bytes(n) if n % 1000 == 0 => write!(f, "{}kB", n / 1000),
            Self::Bytes(n) => write!(f, "{n}B"),
            Self::MilliBdp(n) => {
                let text = format!("{}.{:03}", n / 1000, n % 1000);
                write!(f, "{}bdp", text.trim_end_matches('0').trim_end_matches('.'))
            }
            Self::Unlimited => write!(f, "inf"),
        }
    }
}

impl fmt::Display for PathSpec {
    /// As it is read back; what is at its default is left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.varying {
            Some(_) => write!(f, "{}", mobile::NAME)?,
            None => write!(f, "{}", self.down)?,
        }
        write!(f, ",{},{}", self.rtt, self.queue)?;
        if self.discipline != Discipline::DropTail {
            write!(f, ",{}", self.discipline)?;
        }
        let up = if self.varying.is_some() { MOBILE_UP } else { self.down };
        if self.up != up {
            write!(f, ",up={}", self.up)?;
        }
        if self.loss > 0.0 {
            write!(f, ",loss={}", self.loss)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
