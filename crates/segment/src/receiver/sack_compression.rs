//! SACK compression: a Linux receiver holds back ACKs of segments out of order. After the third
//! repeated ACK it waits for more segments, a millisecond at most.
//!
//! Modelled on `__tcp_ack_snd_check` and `tcp_sack_new_ofo_skb` in `net/ipv4/tcp_input.c` of Linux
//! 6.18, with its defaults.

use units::Duration;

/// `TCP_FASTRETRANS_THRESH`: duplicate ACKs that go out at once, so that the sender sees a loss no
/// later.
const AT_ONCE: u32 = 3;
/// `tcp_comp_sack_nr`: most ACKs held back.
const MAX_HELD: u32 = 44;
/// `tcp_comp_sack_delay_ns`: the longest time that an ACK is held back.
const LONGEST: Duration = Duration::from_millis(1);
/// `TCP_SACK_BLOCKS_EXPECTED`: the number of blocks that each ACK is sure to report. A change of a
/// later block would reduce how often the blocks before it are reported, so the ACKs held back are
/// sent first.
const BLOCKS_EXPECTED: usize = 2;

/// Times for which a kernel holds back ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackHold {
    /// Longest hold, per cent of a round trip.
    percent: u64,
    /// `tcp_comp_sack_slack_ns`: the kernel's timer may be that much later, and is unless something
    /// else wakes the processor.
    slack: Duration,
}

impl SackHold {
    /// Linux up to 6.18.
    pub const LINUX_6_18: Self = Self { percent: 5, slack: Duration::from_micros(100) };
    /// Linux since 6.19 (`tcp_comp_sack_rtt_percent`).
    pub const LINUX_7_0: Self = Self { percent: 33, slack: Duration::from_micros(10) };

    /// Time for which an ACK is held back. `received` and `sent` are the round trips that the
    /// receiving and the sending half have measured, zero if unknown.
    pub(super) fn longest(self, received: Duration, sent: Duration) -> Duration {
        let rtt = if sent.is_zero() { received } else { received.min(sent) };
        LONGEST.min(rtt * self.percent / 100) + self.slack
    }
}

/// Decision about the ACK of data out of order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GapVerdict {
    /// An ACK at once.
    Now,
    /// No ACK yet.
    Hold,
    /// An ACK at once for all data before; the ACK of this data is held back.
    ReportOthers,
}

/// An arrival out of order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    /// Next offset expected.
    pub next: u64,
    /// Index of the last reported block that the data extends; `None`: it begins one.
    pub extends: Option<usize>,
    /// Number of blocks before.
    pub blocks: usize,
}

/// The kernel's `compressed_ack`, `dup_ack_counter` and `compressed_ack_rcv_nxt`.
#[derive(Clone, Copy, Debug)]
pub(super) struct SackCompression {
    held: u32,
    repeats: u32,
    repeats_of: u64,
}

impl SackCompression {
    pub(super) const fn new() -> Self {
        Self { held: 0, repeats: 0, repeats_of: 0 }
    }

    /// Part of a gap was filled, by no more than one segment: the duplicates are of another ACK
    /// now.
    pub(super) fn on_fill(&mut self, next: u64) {
        self.count(next);
    }

    /// True if this duplicate ACK of `next` is one of the first.
    fn count(&mut self, next: u64) -> bool {
        if self.repeats_of != next {
            self.repeats_of = next;
            self.repeats = 0;
        }
        let is_early = self.repeats < AT_ONCE;
        self.repeats += u32::from(is_early);
        is_early
    }

    pub(super) fn on_gap(&mut self, gap: Gap) -> GapVerdict {
        let reports = self.held > 0 && gap.extends.unwrap_or(gap.blocks) >= BLOCKS_EXPECTED;
        if reports {
            self.held = 0;
        }
        if self.held >= MAX_HELD || self.count(gap.next) {
            return GapVerdict::Now;
        }
        self.held += 1;
        if reports { GapVerdict::ReportOthers } else { GapVerdict::Hold }
    }

    /// An ACK that reports everything was sent.
    pub(super) fn on_ack_sent(&mut self) {
        self.held = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn gap(next: u64, extends: Option<usize>, blocks: usize) -> Gap {
        Gap { next, extends, blocks }
    }

    #[test]
    fn three_repetitions_go_out_at_once_and_again_after_progress() {
        let mut acks = SackCompression::new();
        assert_eq!(acks.on_gap(gap(100, None, 0)), GapVerdict::Now);
        for verdict in [GapVerdict::Now, GapVerdict::Now, GapVerdict::Hold, GapVerdict::Hold] {
            assert_eq!(acks.on_gap(gap(100, Some(0), 1)), verdict);
        }
        acks.on_ack_sent();
        assert_eq!(acks.on_gap(gap(100, Some(0), 1)), GapVerdict::Hold);
        // A segment of the gap was received, and one ACK sent for it: two more go out at once.
        acks.on_fill(200);
        for verdict in [GapVerdict::Now, GapVerdict::Now, GapVerdict::Hold] {
            assert_eq!(acks.on_gap(gap(200, Some(0), 1)), verdict);
        }
    }

    #[test]
    fn no_more_than_44_are_held_back() {
        let mut acks = SackCompression::new();
        let verdicts: Vec<_> = (0..48).map(|_| acks.on_gap(gap(100, Some(0), 1))).collect();
        assert_eq!(verdicts[3..47], [GapVerdict::Hold; 44]);
        assert_eq!(verdicts[47], GapVerdict::Now);
    }

    /// A new third block, or a change of the third or a later one, would push blocks out whose ACKs
    /// are held back.
    #[test]
    fn what_would_be_pushed_back_is_told_first() {
        let mut acks = SackCompression::new();
        for place in [None, Some(0), Some(0)] {
            assert_eq!(acks.on_gap(gap(100, place, usize::from(place.is_some()))), GapVerdict::Now);
        }
        assert_eq!(acks.on_gap(gap(100, Some(0), 1)), GapVerdict::Hold);
        assert_eq!(acks.on_gap(gap(100, None, 1)), GapVerdict::Hold);
        assert_eq!(acks.on_gap(gap(100, None, 2)), GapVerdict::ReportOthers);
        assert_eq!(acks.on_gap(gap(100, Some(1), 3)), GapVerdict::Hold);
        assert_eq!(acks.on_gap(gap(100, Some(2), 3)), GapVerdict::ReportOthers);
        acks.on_ack_sent();
        // No ACK is held back whose blocks could be pushed out.
        assert_eq!(acks.on_gap(gap(100, None, 3)), GapVerdict::Hold);
    }

    /// A twentieth of 10 ms and 100 us; of 80 ms it would be four times the longest. A third of
    /// 2 ms and 10 us.
    #[test]
    fn acks_are_held_back_for_a_part_of_a_round_trip() {
        let held = |hold: SackHold, received, sent| {
            hold.longest(Duration::from_millis(received), Duration::from_millis(sent)).as_nanos()
                / 1000
        };
        let old = SackHold::LINUX_6_18;
        assert_eq!([held(old, 10, 0), held(old, 80, 10), held(old, 80, 80)], [600, 600, 1100]);
        let new = SackHold::LINUX_7_0;
        assert_eq!([held(new, 2, 0), held(new, 80, 2), held(new, 10, 10)], [670, 670, 1010]);
    }
}
