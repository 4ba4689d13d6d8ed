//! Configuration of a link, checked once: an impossible link cannot be constructed.

use crate::{DelayStep, DelaySteps, Discipline, LinkError, QueueLimit, RateTrace, Reordering};
use std::sync::Arc;
use units::{Duration, Rate};

/// Rates above this are refused: a packet of 40 bytes would take no more than a few of the
/// simulator's nanoseconds, and rounding would show.
pub const MAX_RATE: Rate = Rate::from_bps(100_000_000_000);

/// Whether a packet that departs at exactly the instant another arrives is still in its way.
///
/// In slow start over one bottleneck every arrival and departure coincide exactly, and which of the
/// two comes first decides which packet is dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ties {
    /// It still counts.
    #[default]
    StillIn,
    /// The packet has left.
    Gone,
}

/// Rate, propagation delay, queue and loss of one direction of a wire. The rate of a link is fixed
/// for its life, or changes as its trace says: departures already announced could not be kept
/// otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkConfig {
    rate: Rate,
    delay: Duration,
    queue: QueueLimit,
    loss: f64,
    ties: Ties,
    discipline: Discipline,
    trace: Option<Arc<RateTrace>>,
    trace_offset: Duration,
    ordered_jitter: Option<Duration>,
    delay_steps: Option<DelaySteps>,
    reordering: Option<Reordering>,
    aggregation: Option<Duration>,
    statistics: bool,
}

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
        Ok(Self {
            rate,
            delay,
            queue,
            loss: 0.0,
            ties: Ties::default(),
            discipline: Discipline::default(),
            trace: None,
            trace_offset: Duration::ZERO,
            ordered_jitter: None,
            delay_steps: None,
            reordering: None,
            aggregation: None,
            statistics: false,
        })
    }

    /// The same link, with another propagation delay. Delays of later times change by as much.
    #[must_use]
    pub fn with_delay(self, delay: Duration) -> Self {
        let before = self.delay;
        let moved = |step: DelayStep| {
            let delay = (step.delay + delay).saturating_sub(before);
            DelayStep { delay, ..step }
        };
        let delay_steps = self.delay_steps.map(|steps| steps.map(moved));
        Self { delay, delay_steps, ..self }
    }

    /// The same link, with other propagation delays from given times of its clock on. No packet
    /// arrives before the one in front of it.
    #[must_use]
    pub fn with_delay_steps(self, steps: DelaySteps) -> Self {
        Self { delay_steps: Some(steps), ..self }
    }

    /// The same link under another rule for ties.
    #[must_use]
    pub fn with_ties(self, ties: Ties) -> Self {
        Self { ties, ..self }
    }

    /// The same link with another queueing discipline.
    ///
    /// # Errors
    /// [`LinkError::Discipline`] if its parameters cannot be, alone or with this queue limit.
    pub fn with_discipline(self, discipline: Discipline) -> Result<Self, LinkError> {
        discipline.check(self.queue)?;
        Ok(Self { discipline, ..self })
    }

    /// The same link, sending when the trace says so; its rate is the trace's mean.
    #[must_use]
    pub fn with_rate_trace(self, trace: Arc<RateTrace>) -> Self {
        Self { rate: trace.mean_rate(), trace: Some(trace), ..self }
    }

    /// The same link, beginning so far into its trace; without a trace nothing changes.
    #[must_use]
    pub fn beginning_at(self, trace_offset: Duration) -> Self {
        Self { trace_offset, ..self }
    }

    /// The same link, delivering out of order.
    ///
    /// # Errors
    /// [`LinkError::Reordering`] unless the probability is one.
    pub fn with_reordering(self, reordering: Reordering) -> Result<Self, LinkError> {
        if !reordering.is_possible() {
            return Err(LinkError::Reordering);
        }
        Ok(Self { reordering: Some(reordering), ..self })
    }

    /// The same link. Each packet takes longer by a time drawn evenly from zero to `up_to`, but
    /// none arrives before the one in front of it. Zero varies nothing.
    #[must_use]
    pub fn with_ordered_jitter(self, up_to: Duration) -> Self {
        Self { ordered_jitter: (!up_to.is_zero()).then_some(up_to), ..self }
    }

    /// Delivers in bursts: a packet that has left the queue waits for the next multiple of
    /// `interval` since the origin of time. All packets that waited cross the wire together. Links
    /// that aggregate frames (IEEE 802.11n §9.7) or request slots (DOCSIS, LTE uplinks) do so to
    /// ACKs. An interval of zero aggregates nothing.
    #[must_use]
    pub fn with_aggregation(self, interval: Duration) -> Self {
        Self { aggregation: (!interval.is_zero()).then_some(interval), ..self }
    }

    /// The same link, measuring waiting times ([`crate::Statistics`]).
    #[must_use]
    pub fn with_statistics(self) -> Self {
        Self { statistics: true, ..self }
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

    pub(crate) fn set_rate(&mut self, rate: Rate) -> Result<(), LinkError> {
        if rate.as_bps() == 0 {
            return Err(LinkError::ZeroRate);
        }
        self.rate = rate;
        Ok(())
    }

    /// Transmission rate; with a trace its mean.
    pub const fn rate(&self) -> Rate {
        self.rate
    }

    /// One-way propagation delay; at first, if it changes.
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

    /// Queueing discipline.
    pub const fn discipline(&self) -> Discipline {
        self.discipline
    }

    /// The trace that says when it sends, if it has one.
    pub const fn rate_trace(&self) -> Option<&Arc<RateTrace>> {
        self.trace.as_ref()
    }

    /// Time of its trace at which the link begins.
    pub const fn trace_offset(&self) -> Duration {
        self.trace_offset
    }

    /// Largest additional delay of a packet, if delays vary in order.
    pub const fn ordered_jitter(&self) -> Option<Duration> {
        self.ordered_jitter
    }

    /// Propagation delays from later times on, if the delay changes.
    pub const fn delay_steps(&self) -> Option<&DelaySteps> {
        self.delay_steps.as_ref()
    }

    /// Model of reordering, if the link has one.
    pub const fn reordering(&self) -> Option<Reordering> {
        self.reordering
    }

    /// Time between two bursts, if it delivers in bursts.
    pub const fn aggregation(&self) -> Option<Duration> {
        self.aggregation
    }

    /// True if it measures waiting times.
    pub const fn statistics(&self) -> bool {
        self.statistics
    }

    /// True if a packet's departure is known when it arrives, so that a driver need not wake for
    /// it.
    pub const fn knows_departures(&self) -> bool {
        self.trace.is_none() && self.discipline.knows_departures()
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
        assert_eq!(link.clone().with_loss(0.25).unwrap().loss(), 0.25);
        for bad in [-0.1, 1.0, 2.0, f64::NAN] {
            assert!(link.clone().with_loss(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn held_back_packets_are_a_share_of_all() {
        let link = LinkConfig::new(RATE, Duration::ZERO, QueueLimit::Unlimited).unwrap();
        let hold = |probability| Reordering::HoldBack { probability, extra: Duration::ZERO };
        assert!(link.clone().with_reordering(hold(1.0)).is_ok());
        assert_eq!(link.clone().with_reordering(hold(1.1)), Err(LinkError::Reordering));
        assert!(link.with_reordering(hold(f64::NAN)).is_err());
    }

    #[test]
    fn a_trace_brings_its_own_rate() {
        let link = LinkConfig::new(RATE, Duration::ZERO, QueueLimit::Unlimited).unwrap();
        let trace = Arc::new(RateTrace::parse("t", "10").unwrap());
        let link = link.with_rate_trace(trace);
        assert_eq!(link.rate(), Rate::from_bps(1_203_200));
        assert!(!link.knows_departures());
    }
}
