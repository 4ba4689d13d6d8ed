//! A network path: its notation (`20mbit,80ms,100p`) and its links.
//!
//! A path is one access link, the client at its end, every server behind it at the same distance.
//! It is *down* towards the client and *up* away from it. The round trip is given, not the one-way
//! delay: each direction has half of it. A queue stands before each direction and holds waiting
//! packets plus the one in service, drop-tail or another discipline by name; loss strikes each
//! packet of either direction independently.
//!
//! A rate may change as a recording says (`changing`), or as the mobile downlink does (`mobile`).
//!
//! `parse` reads the notation, `presets` names paths worth knowing.

mod changing;
mod error;
mod mobile;
mod parse;
mod presets;

pub use crate::config::MAX_RATE;
pub use changing::TraceStart;
pub use error::PathError;
pub use parse::parse_probability;
pub use presets::{DEFAULT_PRESET, PRESETS, PathPreset, preset};

use crate::{DelayStep, DelaySteps, Discipline, Duplex, LinkConfig, LinkError, QueueLimit};
use changing::{ChangingRates, Written};
use std::fmt;
use units::{Duration, Instant, Rate};

/// Size of a queue, the packet in service included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueSize {
    /// Packets.
    Packets(u32),
    /// Bytes.
    Bytes(u64),
    /// Thousandths of the bandwidth-delay product: rate of the direction × round trip.
    MilliBdp(u64),
    /// Bytes that the link sends in this time.
    Time(Duration),
    /// A queue without bound.
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
    ordered_jitter: Duration,
    /// Round trips from later times of the load on. They are kept for the life of the process, so
    /// that a path remains a value that is copied.
    rtt_steps: Option<&'static DelaySteps>,
    /// Time of the links' clocks at which the load begins.
    steps_begin: Duration,
    /// Rates that change; `down` and `up` are then their means.
    changing: ChangingRates,
}

impl PathSpec {
    /// A path with the same rate both ways and no random loss; `rtt` is the round trip without
    /// transmission times.
    ///
    /// # Errors
    /// If the rate is zero or above [`MAX_RATE`], or the queue holds nothing.
    pub fn new(rate: Rate, rtt: Duration, queue: QueueSize) -> Result<Self, PathError> {
        let discipline = Discipline::DropTail;
        let changing = ChangingRates::NONE;
        Self {
            down: rate,
            up: rate,
            rtt,
            queue,
            discipline,
            loss: 0.0,
            ordered_jitter: Duration::ZERO,
            rtt_steps: None,
            steps_begin: Duration::ZERO,
            changing,
        }
        .checked()
    }

    /// The same path with another rate up, which does not change.
    ///
    /// # Errors
    /// Fails like [`PathSpec::new`].
    pub fn with_up(self, up: Rate) -> Result<Self, PathError> {
        Self { up, changing: self.changing.with_constant_up(), ..self }.checked()
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

    /// The same path. In either direction each packet takes up to `up_to` longer, and none
    /// overtakes another.
    #[must_use]
    pub fn with_ordered_jitter(self, up_to: Duration) -> Self {
        Self { ordered_jitter: up_to, ..self }
    }

    /// The same path with other round trips from given times of the load on.
    #[must_use]
    pub fn with_rtt_steps(self, steps: DelaySteps) -> Self {
        Self { rtt_steps: Some(Box::leak(Box::new(steps))), ..self }
    }

    /// The same path, whose load begins at `start` of the links' clocks.
    #[must_use]
    pub fn with_steps_from(self, start: Instant) -> Self {
        Self { steps_begin: start.saturating_since(Instant::ZERO), ..self }
    }

    /// The same path with half the round trip, at all times.
    ///
    /// # Errors
    /// If its queue, as a part of the bandwidth-delay product, holds nothing.
    pub fn with_half_the_rtt(self) -> Result<Self, PathError> {
        let halved = |step: DelayStep| DelayStep { delay: step.delay / 2, ..step };
        let nearer = Self { rtt: self.rtt / 2, ..self }.checked()?;
        Ok(self.rtt_steps.map_or(nearer, |steps| nearer.with_rtt_steps(steps.map(halved))))
    }

    /// The same path with `factor` times its rates; `None` if a rate changes or would be too large.
    pub fn with_rates_times(self, factor: u64) -> Option<Self> {
        let times = |rate: Rate| rate.as_bps().checked_mul(factor).map(Rate::from_bps);
        let (down, up) = (times(self.down)?, times(self.up)?);
        (!self.is_changing()).then_some(Self { down, up, ..self }.checked().ok()?)
    }

    /// Rate towards the client; the mean, if it changes.
    pub const fn down(&self) -> Rate {
        self.down
    }

    /// Rate away from the client; the mean, if it changes.
    pub const fn up(&self) -> Rate {
        self.up
    }

    /// Round trips from later times of the load on, if the round trip changes.
    pub const fn rtt_steps(&self) -> Option<&'static DelaySteps> {
        self.rtt_steps
    }

    /// The smallest round trip that it ever has.
    pub fn least_rtt(&self) -> Duration {
        self.round_trips().fold(self.rtt, Duration::min)
    }

    /// The largest round trip that it ever has.
    pub fn greatest_rtt(&self) -> Duration {
        self.round_trips().fold(self.rtt, Duration::max)
    }

    fn round_trips(&self) -> impl Iterator<Item = Duration> {
        let steps = self.rtt_steps.map_or(&[][..], DelaySteps::as_slice);
        steps.iter().map(|step| step.delay)
    }

    /// Round trip without transmission times; at first, if it changes.
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

    /// Largest additional delay of a packet in either direction; zero if delays do not vary.
    pub const fn ordered_jitter(&self) -> Duration {
        self.ordered_jitter
    }

    /// One-way delays: half of the round trip each.
    pub fn delays(&self) -> Duplex<Duration> {
        one_way_delays(self.rtt)
    }

    /// The access link: forward is down to the client.
    pub fn links(&self) -> Duplex<LinkConfig> {
        let delays = self.delays();
        let link = |rate, delay| self.link(rate, delay).expect("a path is checked when it is made");
        let forward = link(self.down, delays.forward);
        let links = Duplex { forward, reverse: link(self.up, delays.reverse) };
        self.changing.in_links(self.with_delay_steps(links))
    }

    /// The links with a half of each later round trip.
    fn with_delay_steps(&self, links: Duplex<LinkConfig>) -> Duplex<LinkConfig> {
        let Some(steps) = self.rtt_steps else { return links };
        let one_way = |of: fn(Duplex<Duration>) -> Duration| {
            steps.map(|DelayStep { from, delay }| DelayStep {
                from: from + self.steps_begin,
                delay: of(one_way_delays(delay)),
            })
        };
        Duplex {
            forward: links.forward.with_delay_steps(one_way(|delays| delays.forward)),
            reverse: links.reverse.with_delay_steps(one_way(|delays| delays.reverse)),
        }
    }

    fn link(&self, rate: Rate, delay: Duration) -> Result<LinkConfig, LinkError> {
        LinkConfig::new(rate, delay, self.queue_limit(rate))?
            .with_discipline(self.discipline)?
            .with_ordered_jitter(self.ordered_jitter)
            .with_loss(self.loss)
    }

    /// Limit of the queue of a direction of this rate.
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
    /// Limit of a queue before a link of this rate on a path of this round trip.
    pub fn limit(&self, rate: Rate, rtt: Duration) -> QueueLimit {
        match *self {
            Self::Packets(n) => QueueLimit::Packets(n),
            Self::Bytes(n) => QueueLimit::Bytes(n),
            Self::MilliBdp(n) => {
                let bytes = u128::from(rate.bytes_in(rtt)) * u128::from(n) / 1000;
                QueueLimit::Bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
            }
            Self::Time(time) => QueueLimit::Bytes(rate.bytes_in(time)),
            Self::Unlimited => QueueLimit::Unlimited,
        }
    }
}

/// Returns the one-way delays of a round trip: half of it each, an odd nanosecond on the way up.
pub fn one_way_delays(rtt: Duration) -> Duplex<Duration> {
    let forward = rtt / 2;
    Duplex { forward, reverse: rtt - forward }
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
    /// Writes the limit in the syntax in which it is parsed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packets(n) => write!(f, "{n}p"),
            Self::Bytes(n) if n % 1000 == 0 => write!(f, "{}kB", n / 1000),
            Self::Bytes(n) => write!(f, "{n}B"),
            Self::MilliBdp(n) => {
                let text = format!("{}.{:03}", n / 1000, n % 1000);
                write!(f, "{}bdp", text.trim_end_matches('0').trim_end_matches('.'))
            }
            Self::Time(time) => write!(f, "{time}"),
            Self::Unlimited => write!(f, "inf"),
        }
    }
}

impl fmt::Display for PathSpec {
    /// Writes the path in the syntax in which it is parsed; defaults are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.recorded_down() {
            Some(recorded) => write!(f, "{}", Written(recorded))?,
            None => write!(f, "{}", self.down)?,
        }
        write!(f, ",{},{}", self.rtt, self.queue)?;
        if self.discipline != Discipline::DropTail {
            write!(f, ",{}", self.discipline)?;
        }
        match self.recorded_up() {
            Some(recorded) => write!(f, ",up={}", Written(recorded))?,
            None if self.up != self.default_up() => write!(f, ",up={}", self.up)?,
            None => {}
        }
        if let TraceStart::Load(phase) = self.trace_start() {
            write!(f, ",from={phase}")?;
        }
        if self.loss > 0.0 {
            write!(f, ",loss={}", self.loss)?;
        }
        if !self.ordered_jitter.is_zero() {
            write!(f, ",ordered-jitter={}", self.ordered_jitter)?;
        }
        if let Some(steps) = self.rtt_steps {
            write!(f, ",rtt-steps={steps}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
