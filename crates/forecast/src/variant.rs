//! Variants of a replay: they differ in what the evidence of a capture leaves open, and by chance.

use crate::access::AccessEstimate;
use netsim::derive_seed;
use units::{Duration, Instant};

/// A departure of a replay from the estimates of paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplayVariant {
    /// No departure but other random numbers in each draw. Losses show the end of a queue to within
    /// a packet, so its size also differs by one.
    Draw(u64),
    /// Queues whose end no loss has shown end where they were seen.
    ShortQueues,
    /// Rates that change have their usual value.
    SteadyRates,
}

impl ReplayVariant {
    pub(crate) fn access(self, access: AccessEstimate) -> AccessEstimate {
        match self {
            Self::Draw(draw) => access.with_queue_by(QUEUE_STEPS[(draw % 3) as usize]),
            Self::ShortQueues => access.with_short_queue(),
            Self::SteadyRates => access,
        }
    }
}

/// Rates that change are shifted by this time at most.
const MAX_SHIFT: Duration = Duration::from_millis(500);

/// Packets by which queues differ from draw to draw.
const QUEUE_STEPS: [i64; 3] = [0, 1, -1];

/// The time of the capture that is replayed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReplaySpan {
    pub(crate) first: Instant,
    pub(crate) last: Instant,
    /// Seed of the rates that are drawn.
    pub(crate) seed: u64,
}

impl ReplaySpan {
    /// Returns the time at which rates that change are taken. In each draw but the first it is up
    /// to half a second earlier or later, since another scheme sends at other times.
    pub(crate) fn rate_time(self, variant: ReplayVariant) -> Self {
        let ReplayVariant::Draw(1..) = variant else { return self };
        let by = derive_seed(self.seed, "shift") % (2 * MAX_SHIFT.as_nanos());
        let shifted = |at: Instant| {
            let nanos = (at.as_nanos() + by).saturating_sub(MAX_SHIFT.as_nanos());
            Instant::from_nanos(nanos)
        };
        Self { first: shifted(self.first), last: shifted(self.last), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::UsualPath;
    use crate::captured::PathEvidence;
    use units::Rate;

    fn span(seed: u64) -> ReplaySpan {
        let first = Instant::from_nanos(10_000_000_000);
        ReplaySpan { first, last: first + Duration::from_secs(5), seed }
    }

    /// The first draw, and replays that are no draws, take rates at their time. Others take them up
    /// to half a second earlier or later.
    #[test]
    fn rates_are_shifted_from_draw_to_draw() {
        for variant in [ReplayVariant::Draw(0), ReplayVariant::ShortQueues] {
            assert_eq!(span(7).rate_time(variant).first, span(7).first);
        }
        let shifted = |seed| span(seed).rate_time(ReplayVariant::Draw(1));
        let firsts: Vec<Instant> = (0..20).map(|seed| shifted(seed).first).collect();
        let half = Duration::from_millis(500);
        let within = span(0).first - half..span(0).first + half;
        assert!(firsts.iter().all(|first| within.contains(first)));
        assert!(firsts.iter().any(|first| *first < span(0).first), "earlier");
        assert!(firsts.iter().any(|first| *first > span(0).first), "later");
        assert_eq!(shifted(3).last - shifted(3).first, Duration::from_secs(5));
    }

    /// 8 Mbit/s, and three losses at 100 ms of waiting: 101,500 bytes, and from draw to draw a
    /// packet more or less.
    #[test]
    fn queues_differ_from_draw_to_draw() {
        let mut evidence = PathEvidence::default();
        evidence.on_connection(Rate::from_mbps(8), 1);
        for ms in [20, 120] {
            evidence.on_queued(Instant::ZERO, Duration::from_millis(ms));
        }
        (0..3).for_each(|_| evidence.on_loss(Instant::ZERO, 1_000));
        let usual = UsualPath { rate: Rate::from_mbps(8), wait: None };
        let access = AccessEstimate::of(&evidence, usual);
        let queues = [0, 1, 2, 3].map(|draw| ReplayVariant::Draw(draw).access(access).queue);
        assert_eq!(queues, [101_500, 103_000, 100_000, 101_500]);
    }
}
