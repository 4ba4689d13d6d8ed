//! A client's path, from its evidence: the link that represents it in simulation.

use crate::captured::PathEvidence;
use link::{LinkConfig, LinkError, QueueLimit};
use netsim::Duplex;
use units::{Duration, Rate};

/// Rate of paths if no client of the capture has shown one.
pub const DEFAULT_RATE: Rate = Rate::from_mbps(100);

/// Minimum size of a queue, bytes: an initial window of ten full segments.
const MIN_QUEUE: u64 = 15_000;

/// Size of a packet with a full segment, bytes.
const FULL_SEGMENT: u64 = 1_500;

/// Round trip of paths that have shown none.
const DEFAULT_RTT: Duration = Duration::from_millis(50);

/// Defaults for properties that a client's packets do not show.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UsualPath {
    /// Rate of the path.
    pub(crate) rate: Rate,
    /// Wait in a full queue whose end no loss has shown; `None`: one round trip, or the longest
    /// wait seen.
    pub(crate) wait: Option<Duration>,
}

/// The estimated properties of a client's path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AccessEstimate {
    /// Rate towards the client, and away from it.
    pub rate: Rate,
    /// True if the client's own bursts have shown the rate.
    pub is_rate_known: bool,
    /// Round trip of small packets through an empty queue, with the client's own delay.
    pub rtt: Duration,
    /// Size of the queue towards the client, bytes.
    pub queue: u64,
    /// True if losses have shown the size of the queue.
    pub is_queue_known: bool,
    /// The longest wait seen in the queue, without a hundredth of the waits.
    pub seen_wait: Duration,
    /// Share of packets towards the client that are lost independently of the queue.
    pub loss: f64,
}

impl AccessEstimate {
    /// Estimates the path from the evidence; `usual` has the defaults.
    pub(crate) fn of(evidence: &PathEvidence, usual: UsualPath) -> Self {
        let known = evidence.rate();
        let rate = known.unwrap_or(usual.rate);
        let rtt = evidence.lowest_rtt().unwrap_or(DEFAULT_RTT);
        let full = evidence.full_wait().filter(|_| known.is_some());
        // Without losses the queue has held the data that was seen. Its further room is unknown.
        // One bandwidth-delay product is the usual design size of queues (RFC 7567 §2).
        let seen_wait = evidence.seen_wait();
        let wait = full.or(usual.wait).unwrap_or_else(|| rtt.max(seen_wait));
        // The packet with that wait was one that the full queue still accepted.
        let queue = rate.bytes_in(wait) + full.map_or(0, |_| FULL_SEGMENT);
        Self {
            rate,
            is_rate_known: known.is_some(),
            rtt,
            queue: queue.max(MIN_QUEUE),
            is_queue_known: full.is_some(),
            seen_wait,
            loss: evidence.random_loss(),
        }
    }

    /// Returns the path with a queue of more packets, if losses have shown its end.
    pub(crate) fn with_queue_by(self, packets: i64) -> Self {
        let bytes = packets * FULL_SEGMENT as i64;
        let queue =
            if self.is_queue_known { self.queue.saturating_add_signed(bytes) } else { self.queue };
        Self { queue: queue.max(MIN_QUEUE), ..self }
    }

    /// Returns the path with the shortest queue that causes the longest wait seen, if no loss has
    /// shown its end.
    pub(crate) fn with_short_queue(self) -> Self {
        let seen = self.rate.bytes_in(self.seen_wait) + MIN_QUEUE;
        let queue = if self.is_queue_known { self.queue } else { self.queue.min(seen) };
        Self { queue, ..self }
    }

    /// Returns true if a queue with this wait has held more than the capture shows. The margin is
    /// ten full segments above the longest wait seen, and no loss has shown the end of the queue.
    pub(crate) fn is_beyond_seen(&self, longest_wait: Duration) -> bool {
        let margin = self.rate.transmit_time(MIN_QUEUE);
        !self.is_queue_known && longest_wait > self.seen_wait + margin
    }

    /// Returns the time from a client's decision to send until the server has the data; the client
    /// takes `own_delay` over a packet.
    pub(crate) fn half_trip(&self, own_delay: Duration) -> Duration {
        own_delay + self.rtt.saturating_sub(own_delay) / 2
    }

    /// Returns the links towards the client and away from it. The client itself takes `own_delay`
    /// of the round trip. The way back loses nothing, because losses of ACKs rarely matter.
    pub(crate) fn links(&self, own_delay: Duration) -> Result<Duplex<LinkConfig>, LinkError> {
        let both = self.rtt.saturating_sub(own_delay);
        let forward = both / 2;
        let down = LinkConfig::new(self.rate, forward, QueueLimit::Bytes(self.queue))?;
        let up = LinkConfig::new(self.rate, both - forward, QueueLimit::Unlimited)?;
        Ok(Duplex { forward: down.with_loss(self.loss)?.with_statistics(), reverse: up })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Instant;

    fn usual(mbps: u64) -> UsualPath {
        UsualPath { rate: Rate::from_mbps(mbps), wait: None }
    }

    /// Without evidence the defaults apply: the usual rate, 50 ms, a queue of their product: 20
    /// Mbit/s · 50 ms = 125,000 bytes.
    #[test]
    fn without_evidence_the_usual_is_taken() {
        let access = AccessEstimate::of(&PathEvidence::default(), usual(20));
        assert_eq!((access.rate, access.queue, access.loss), (Rate::from_mbps(20), 125_000, 0.0));
        assert!(!access.is_rate_known && !access.is_queue_known);
    }

    /// 8 Mbit/s, 20 ms, and two waits of 60 ms: the queue has held 60,000 bytes, unless an option
    /// sets its wait. Three losses at 100 ms of waiting show 100,000 bytes and a packet, whatever
    /// the option.
    #[test]
    fn the_queue_holds_what_was_seen_or_what_losses_say() {
        let mut evidence = PathEvidence::default();
        evidence.on_connection(Rate::from_mbps(8), 1);
        for ms in [20, 80, 80] {
            evidence.on_queued(Instant::ZERO, Duration::from_millis(ms));
        }
        let access = AccessEstimate::of(&evidence, usual(100));
        assert_eq!((access.queue, access.seen_wait), (60_000, Duration::from_millis(60)));
        // 15,000 bytes take 15 ms.
        assert!(!access.is_beyond_seen(Duration::from_millis(75)));
        assert!(access.is_beyond_seen(Duration::from_millis(76)));
        let with_wait = |ms| UsualPath { wait: Some(Duration::from_millis(ms)), ..usual(100) };
        assert_eq!(AccessEstimate::of(&evidence, with_wait(90)).queue, 90_000);
        assert_eq!(AccessEstimate::of(&evidence, with_wait(30)).queue, 30_000);
        evidence.on_queued(Instant::ZERO, Duration::from_millis(120));
        (0..3).for_each(|_| evidence.on_loss(Instant::ZERO, 1_000));
        let access = AccessEstimate::of(&evidence, with_wait(90));
        assert_eq!((access.queue, access.is_queue_known), (101_500, true));
        assert!(!access.is_beyond_seen(Duration::from_millis(500)));
    }

    /// The client takes 0.1 ms of 20 ms: links of 9.95 ms each way. Nothing is left of a round trip
    /// of 0.06 ms.
    #[test]
    fn the_clients_own_delay_is_within_the_round_trip() {
        let own_delay = Duration::from_micros(100);
        let delays = |micros| {
            let mut evidence = PathEvidence::default();
            evidence.on_round_trip(Duration::from_micros(micros));
            let links = AccessEstimate::of(&evidence, usual(100)).links(own_delay).unwrap();
            (links.forward.delay(), links.reverse.delay())
        };
        assert_eq!(delays(20_000), (Duration::from_micros(9_950), Duration::from_micros(9_950)));
        assert_eq!(delays(60), (Duration::ZERO, Duration::ZERO));
    }

    /// 8 Mbit/s, 20 ms, and a wait of 10 ms: the end is not known, so the queue has a round trip,
    /// 20,000 bytes, and no packet more or less. The shortest one has the 10,000 bytes that were
    /// seen and 15,000 more that a replay may need. Losses show its size to a packet.
    #[test]
    fn queues_differ_as_far_as_evidence_leaves_open() {
        let mut evidence = PathEvidence::default();
        evidence.on_connection(Rate::from_mbps(8), 1);
        for ms in [20, 30, 30] {
            evidence.on_queued(Instant::ZERO, Duration::from_millis(ms));
        }
        let open = AccessEstimate::of(&evidence, usual(100));
        assert_eq!((open.queue, open.with_queue_by(1).queue), (20_000, 20_000));
        assert_eq!(open.with_short_queue().queue, 20_000, "no more than is taken");
        let with_wait = UsualPath { wait: Some(Duration::from_millis(90)), ..usual(100) };
        assert_eq!(AccessEstimate::of(&evidence, with_wait).with_short_queue().queue, 25_000);
        evidence.on_queued(Instant::ZERO, Duration::from_millis(50));
        (0..3).for_each(|_| evidence.on_loss(Instant::ZERO, 1_000));
        let known = AccessEstimate::of(&evidence, with_wait);
        assert_eq!((known.queue, known.with_short_queue().queue), (31_500, 31_500));
        assert_eq!([1, -1].map(|by| known.with_queue_by(by).queue), [33_000, 30_000]);
    }
}
