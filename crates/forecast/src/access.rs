//! A client's path, as its evidence tells: the link that stands for it in simulation.

use crate::captured::PathEvidence;
use link::{LinkConfig, LinkError, QueueLimit};
use netsim::Duplex;
use units::{Duration, Rate};

/// The rate of paths where no client of the capture has shown one.
pub const DEFAULT_RATE: Rate = Rate::from_mbps(100);

/// The least that a queue holds: an initial window of ten full segments.
const LEAST_QUEUE: u64 = 15_000;

/// A packet of a full segment.
const FULL_SEGMENT: u64 = 1_500;

/// The round trip of paths that have shown none.
const DEFAULT_RTT: Duration = Duration::from_millis(50);

/// What is taken where a client's packets tell nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UsualPath {
    /// Rate.
    pub(crate) rate: Rate,
    /// How long a queue makes packets wait whose end no loss has shown; `None`: one round trip, or the longest wait seen.
    pub(crate) wait: Option<Duration>,
}

/// What is taken for a client's path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AccessEstimate {
    /// Rate towards the client, and away from it.
    pub rate: Rate,
    /// The client's own bursts have shown the rate.
    pub is_rate_known: bool,
    /// Round trip of small packets through an empty queue, with the client's own delay.
    pub rtt: Duration,
    /// Bytes that the queue towards the client holds.
    pub queue: u64,
    /// Losses have shown how much the queue holds.
    pub is_queue_known: bool,
    /// The longest wait in the queue that was seen, but for a hundredth of the waits.
    pub seen_wait: Duration,
    /// Share of packets towards the client that are lost whatever the queue.
    pub loss: f64,
}

impl AccessEstimate {
    /// What the evidence tells; `usual` is for what it does not.
    pub(crate) fn of(evidence: &PathEvidence, usual: UsualPath) -> Self {
        let known = evidence.rate();
        let rate = known.unwrap_or(usual.rate);
        let rtt = evidence.least().unwrap_or(DEFAULT_RTT);
        let full = evidence.full_wait().filter(|_| known.is_some());
        // Without losses the queue has held what was seen. How much more it would hold nothing tells: one bandwidth-delay
        // product is what queues are built for (RFC 7567 §2).
        let seen_wait = evidence.seen_wait();
        let wait = full.or(usual.wait).unwrap_or_else(|| rtt.max(seen_wait));
        // The packet with that wait was one that the full queue still took.
        let queue = rate.bytes_in(wait) + full.map_or(0, |_| FULL_SEGMENT);
        Self {
            rate,
            is_rate_known: known.is_some(),
            rtt,
            queue: queue.max(LEAST_QUEUE),
            is_queue_known: full.is_some(),
            seen_wait,
            loss: evidence.random_loss(),
        }
    }

    /// Returns it with a queue of more packets, if losses have shown its end.
    pub(crate) fn with_queue_by(self, packets: i64) -> Self {
        let bytes = packets * FULL_SEGMENT as i64;
        let queue =
            if self.is_queue_known { self.queue.saturating_add_signed(bytes) } else { self.queue };
        Self { queue: queue.max(LEAST_QUEUE), ..self }
    }

    /// Returns it with the shortest queue that makes packets wait as long as they were seen to, if
    /// no loss has shown its end.
    pub(crate) fn with_short_queue(self) -> Self {
        let seen = self.rate.bytes_in(self.seen_wait) + LEAST_QUEUE;
        let queue = if self.is_queue_known { self.queue } else { self.queue.min(seen) };
        Self { queue, ..self }
    }

    /// A queue that made packets wait so long has held more than the capture shows that it does: ten full segments more than were
    /// seen, and no loss told its end.
    pub(crate) fn is_beyond_seen(&self, longest_wait: Duration) -> bool {
        let margin = self.rate.transmit_time(LEAST_QUEUE);
        !self.is_queue_known && longest_wait > self.seen_wait + margin
    }

    /// From when a client, which takes `own_delay` over a packet, wants to send until the server has it.
    pub(crate) fn half_trip(&self, own_delay: Duration) -> Duration {
        own_delay + self.rtt.saturating_sub(own_delay) / 2
    }

    /// The links towards the client and away from it. The client itself takes `own_delay` of the round trip. The way back loses nothing: what
    /// carries ACKs seldom decides.
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

    /// Nothing known: the usual rate, 50 ms, a queue of their product: 20 Mbit/s · 50 ms = 125,000 bytes.
    #[test]
    fn without_evidence_the_usual_is_taken() {
        let access = AccessEstimate::of(&PathEvidence::default(), usual(20));
        assert_eq!((access.rate, access.queue, access.loss), (Rate::from_mbps(20), 125_000, 0.0));
        assert!(!access.is_rate_known && !access.is_queue_known);
    }

    /// 8 Mbit/s, 20 ms, twice 60 ms waited: the queue has held 60,000 bytes, unless somebody says another length. Three losses at 100 ms of
    /// waiting say 100,000 and a packet, whatever somebody says.
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
        let told = |ms| UsualPath { wait: Some(Duration::from_millis(ms)), ..usual(100) };
        assert_eq!(AccessEstimate::of(&evidence, told(90)).queue, 90_000);
        assert_eq!(AccessEstimate::of(&evidence, told(30)).queue, 30_000);
        evidence.on_queued(Instant::ZERO, Duration::from_millis(120));
        (0..3).for_each(|_| evidence.on_loss(Instant::ZERO, 1_000));
        let access = AccessEstimate::of(&evidence, told(90));
        assert_eq!((access.queue, access.is_queue_known), (101_500, true));
        assert!(!access.is_beyond_seen(Duration::from_millis(500)));
    }

    /// 20 ms, of which the client takes 0.1 ms: links of 9.95 ms each way. Of a round trip of 0.06 ms nothing is left.
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

    /// 8 Mbit/s, 20 ms, 10 ms waited: the end is not known, so a round trip is taken, 20,000
    /// bytes, and no packet more or less. At the shortest it holds the 10,000 bytes that were seen
    /// and the 15,000 that a replay may need more. Losses show it to a packet.
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
        let told = UsualPath { wait: Some(Duration::from_millis(90)), ..usual(100) };
        assert_eq!(AccessEstimate::of(&evidence, told).with_short_queue().queue, 25_000);
        evidence.on_queued(Instant::ZERO, Duration::from_millis(50));
        (0..3).for_each(|_| evidence.on_loss(Instant::ZERO, 1_000));
        let known = AccessEstimate::of(&evidence, told);
        assert_eq!((known.queue, known.with_short_queue().queue), (31_500, 31_500));
        assert_eq!([1, -1].map(|by| known.with_queue_by(by).queue), [33_000, 30_000]);
    }
}
