//! The excess of bunched ACKs over the bandwidth, by which the window can bridge the pauses between
//! bunches (Linux `tcp_bbr.c`, ACK aggregation; Wi-Fi and cable links make bunches).
//!
//! Within an epoch, the acknowledged segments are compared with those that the bandwidth explains;
//! the excess had gathered on the path. An epoch ends when ACKs are slower than the bandwidth. The
//! largest excess of the last five to ten rounds counts.

use crate::ack::{Delivery, micros};
use arith::bbr::BW_SCALE;
use units::Instant;

/// Rounds after which the older of two maxima is dropped.
const WINDOW_ROUNDS: u32 = 5;
/// The excess counts up to what the path delivers in 100 ms.
const MAX_US: u64 = 100_000;
/// Size of an epoch, segments, from which it is too old to continue.
const MAX_ACKED: u64 = 1 << 20;

/// Maxima of the excess, in segments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aggregation {
    epoch: Instant,
    acked: u64,
    maxima: [u64; 2],
    current: usize,
    rounds: u32,
}

/// The path when an ACK comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carried {
    /// Bandwidth in the model's unit.
    pub(super) bw: u64,
    /// Window, segments.
    pub(super) cwnd: u64,
}

impl Aggregation {
    /// Sending begins, or goes on after idling: a new epoch.
    pub(super) fn restart(&mut self, now: Instant) {
        self.epoch = now;
        self.acked = 0;
    }

    /// Takes an ACK; `round`: it begins a round.
    pub(super) fn on_ack(&mut self, delivery: &Delivery, carried: Carried, round: bool) {
        let Carried { bw, cwnd } = carried;
        if delivery.fresh == 0 {
            return;
        }
        if round {
            self.age();
        }
        let elapsed = micros(self.epoch, delivery.at);
        let mut expected = bw.saturating_mul(elapsed) >> BW_SCALE;
        if self.acked <= expected || self.acked + delivery.fresh >= MAX_ACKED {
            self.restart(delivery.at);
            expected = 0;
        }
        self.acked += delivery.fresh;
        let excess = (self.acked - expected).min(cwnd);
        let most = &mut self.maxima[self.current];
        *most = excess.max(*most);
    }

    fn age(&mut self) {
        self.rounds += 1;
        if self.rounds >= WINDOW_ROUNDS {
            self.rounds = 0;
            self.current = 1 - self.current;
            self.maxima[self.current] = 0;
        }
    }

    /// Segments that the window is larger by.
    pub(super) fn extra_segments(&self, bw: u64) -> u64 {
        let most = self.maxima[0].max(self.maxima[1]);
        most.min(bw.saturating_mul(MAX_US) >> BW_SCALE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ack::Episode;
    use arith::bbr::bandwidth;

    fn delivery(us: u64, fresh: u64) -> Delivery {
        let at = Instant::from_nanos(us * 1000);
        Delivery {
            total: 0,
            at,
            fresh,
            lost: 0,
            total_lost: 0,
            rate: None,
            episode: Episode::None,
            delayed: false,
            resumed: None,
            next_release: at,
        }
    }

    #[test]
    fn the_excess_is_what_comes_beyond_the_bandwidth() {
        // One segment per millisecond; every 10 ms ten are acknowledged at once. The first ACK of
        // an epoch is all excess.
        let bw = bandwidth(1, 1000);
        let mut aggregation = Aggregation::default();
        aggregation.on_ack(&delivery(10_000, 10), Carried { bw, cwnd: 100 }, false);
        // At 20 ms: 20 acknowledged since, 10 (less a rounding) expected, the excess is still 10.
        aggregation.on_ack(&delivery(20_000, 10), Carried { bw, cwnd: 100 }, false);
        assert_eq!(aggregation.extra_segments(bw), 11);
        // The window bounds it, and so does what 100 ms deliver (at a tenth of the bandwidth 10).
        assert_eq!(aggregation.extra_segments(bw / 10), 9);
        let mut bounded = Aggregation::default();
        bounded.on_ack(&delivery(10_000, 10), Carried { bw, cwnd: 4 }, false);
        assert_eq!(bounded.extra_segments(bw), 4);
    }

    #[test]
    fn a_maximum_counts_for_five_to_ten_rounds() {
        let bw = bandwidth(1, 1000);
        let mut aggregation = Aggregation::default();
        aggregation.on_ack(&delivery(10_000, 30), Carried { bw, cwnd: 100 }, true);
        let excess: Vec<_> = (2..=11)
            .map(|round| {
                aggregation.on_ack(
                    &delivery(round * 1_000_000, 1),
                    Carried { bw, cwnd: 100 },
                    true,
                );
                aggregation.extra_segments(bw)
            })
            .collect();
        // The fifth round begins the other half, the tenth drops the first.
        assert_eq!(excess, [30, 30, 30, 30, 30, 30, 30, 30, 1, 1]);
    }
}
