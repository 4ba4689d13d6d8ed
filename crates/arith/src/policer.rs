//! Detects a token-bucket policer that limits a flow, and its rate (Linux `tcp_bbr.c`, long-term
//! sampling; Flach et al. 2016).
//!
//! A policer shows as heavy loss at a steady rate of delivery. From a loss on, intervals of 4 to 16
//! round trips are watched, each ending with a loss. If two in a row lose a fifth of the data that
//! they deliver, at about the same rate, that rate is used for 48 round trips, without probing.
//! Bandwidths are those of [`crate::bbr`].

use crate::bbr::{bandwidth, bytes_per_second};

/// Fewest rounds of an interval; the most are four times as many.
const MIN_ROUNDS: u64 = 4;
/// Rounds for which a found rate is used.
const USED_ROUNDS: u64 = 48;
/// Lost for delivered, in parts of 256, from which an interval counts: a fifth.
const LOSS_THRESHOLD: u64 = 50;
/// Two rates agree if they differ by at most an eighth.
const AGREEMENT: u64 = 8;
/// Or by at most 4 kbit/s, in bytes per second.
const SLIGHT_DIFFERENCE: u64 = 4000 / 8;

/// Input of an ACK: totals over the flow's life, and the changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PolicerAck {
    /// When something was last delivered, milliseconds.
    pub delivered_ms: u64,
    /// Segments delivered.
    pub delivered: u64,
    /// Segments lost.
    pub lost: u64,
    /// Some of them were found lost just now.
    pub fresh_loss: bool,
    /// A round trip begins.
    pub round: bool,
    /// The application, not the path, limited the sending.
    pub app_limited: bool,
    /// Bandwidth is being probed, so the rounds of use count.
    pub probing: bool,
    /// Segment size, bytes.
    pub mss: u64,
}

/// The search for a policer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policer {
    sampling: bool,
    using: bool,
    rounds: u64,
    bw: u64,
    started_ms: u64,
    started_delivered: u64,
    started_lost: u64,
}

impl Policer {
    /// The policed bandwidth, while it is to be used.
    pub const fn bandwidth(&self) -> Option<u64> {
        if self.using { Some(self.bw) } else { None }
    }

    /// Takes an ACK; returns true if the found rate is used no longer, so that probing restarts.
    pub fn on_ack(&mut self, ack: &PolicerAck) -> bool {
        if self.using {
            return self.use_up(ack);
        }
        if !self.sampling {
            if !ack.fresh_loss {
                return false;
            }
            self.begin_interval(ack);
            self.sampling = true;
        }
        if ack.app_limited {
            self.reset(ack);
            return false;
        }
        self.rounds += u64::from(ack.round);
        if self.rounds > 4 * MIN_ROUNDS {
            self.reset(ack);
        } else if self.rounds >= MIN_ROUNDS && ack.fresh_loss {
            self.judge(ack);
        }
        false
    }

    /// Resets all state.
    pub fn reset(&mut self, ack: &PolicerAck) {
        *self = Self::default();
        self.begin_interval(ack);
    }

    fn use_up(&mut self, ack: &PolicerAck) -> bool {
        self.rounds += u64::from(ack.probing && ack.round);
        let over = self.rounds >= USED_ROUNDS;
        if over {
            self.reset(ack);
        }
        over
    }

    fn begin_interval(&mut self, ack: &PolicerAck) {
        self.started_ms = ack.delivered_ms;
        self.started_delivered = ack.delivered;
        self.started_lost = ack.lost;
        self.rounds = 0;
    }

    /// Ends the interval if it lost enough, and compares it with the one before.
    fn judge(&mut self, ack: &PolicerAck) {
        let lost = ack.lost.saturating_sub(self.started_lost);
        let delivered = ack.delivered.saturating_sub(self.started_delivered);
        let ms = ack.delivered_ms.saturating_sub(self.started_ms);
        if delivered == 0 || lost * 256 < LOSS_THRESHOLD * delivered || ms == 0 {
            return;
        }
        let bw = bandwidth(delivered, ms * 1000);
        if self.bw > 0 && self.agrees(bw, ack.mss) {
            self.bw = u64::midpoint(bw, self.bw);
            self.using = true;
            self.rounds = 0;
        } else {
            self.bw = bw;
            self.begin_interval(ack);
        }
    }

    fn agrees(&self, bw: u64, mss: u64) -> bool {
        let difference = bw.abs_diff(self.bw);
        difference * AGREEMENT <= self.bw || bytes_per_second(difference, mss) <= SLIGHT_DIFFERENCE
    }
}

#[cfg(test)]
mod tests {
    use super::{Policer, PolicerAck};
    use crate::bbr::bandwidth;

    /// A flow that delivers and loses the given amounts in each round of 100 ms.
    struct Flow {
        policer: Policer,
        ack: PolicerAck,
    }

    impl Flow {
        fn new() -> Self {
            let ack = PolicerAck { round: true, mss: 1448, probing: true, ..PolicerAck::default() };
            Self { policer: Policer::default(), ack }
        }

        fn round(&mut self, delivered: u64, lost: u64) -> bool {
            self.ack.delivered_ms += 100;
            self.ack.delivered += delivered;
            self.ack.lost += lost;
            self.ack.fresh_loss = lost > 0;
            self.policer.on_ack(&self.ack)
        }
    }

    #[test]
    fn two_lossy_intervals_of_one_rate_are_a_policer() {
        let mut flow = Flow::new();
        for _ in 0..10 {
            flow.round(100, 0);
        }
        // The loss begins the first interval in the round that it is found in (1). The fourth round
        // ends it, with losses of 30 for 100 delivered; four more end the second.
        for n in 1..=7 {
            flow.round(100, 30);
            assert_eq!(flow.policer.bandwidth(), None, "round {n}");
        }
        flow.round(100, 30);
        // 100 segments in 100 ms.
        assert_eq!(flow.policer.bandwidth(), Some(bandwidth(100, 100_000)));
        // It is used for 48 rounds.
        for n in 1..48 {
            assert!(!flow.round(100, 0), "round {n}");
        }
        assert!(flow.round(100, 0));
        assert_eq!(flow.policer.bandwidth(), None);
    }

    #[test]
    fn neither_light_loss_nor_rates_that_differ_are_one() {
        let mut light = Flow::new();
        for _ in 0..100 {
            // 19 of 100 delivered are below 50/256 = 19.5 %.
            light.round(100, 19);
            assert_eq!(light.policer.bandwidth(), None);
        }
        let mut unsteady = Flow::new();
        for n in 0..100 {
            // Each interval of four or five rounds delivers at a rate half as large again or more.
            unsteady.round(if n / 4 % 2 == 0 { 50 } else { 150 }, 100);
            assert_eq!(unsteady.policer.bandwidth(), None, "round {n}");
        }
    }

    #[test]
    fn running_out_of_data_forgets_what_was_seen() {
        let mut flow = Flow::new();
        for _ in 0..7 {
            flow.round(100, 30);
        }
        flow.ack.app_limited = true;
        flow.round(100, 30);
        flow.ack.app_limited = false;
        for n in 0..7 {
            flow.round(100, 30);
            assert_eq!(flow.policer.bandwidth(), None, "round {n}");
        }
        flow.round(100, 30);
        assert!(flow.policer.bandwidth().is_some());
    }
}
