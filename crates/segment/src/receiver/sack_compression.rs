//! SACK compression: a Linux receiver holds back ACKs of segments out of order. After the third
//! repeated ACK it waits for more segments, a millisecond at most.
//!
//! Modelled on `__tcp_ack_snd_check` and `tcp_sack_new_ofo_skb` in `net/ipv4/tcp_input.c` of Linux
//! 6.18, with its defaults.

use units::Duration;

/// `TCP_FASTRETRANS_THRESH`: duplicate ACKs that go out at once, so that the sender sees a loss no
/// later.
const IMMEDIATE_DUPLICATE_ACKS: u32 = 3;
/// `tcp_comp_sack_nr`: most ACKs held back.
const MAX_COMPRESSED_ACKS: u32 = 44;
/// `tcp_comp_sack_delay_ns`: the longest time that an ACK is held back.
const MAX_DELAY: Duration = Duration::from_millis(1);
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
    pub const LINUX_6_19: Self = Self { percent: 33, slack: Duration::from_micros(10) };

    /// Returns the time for which an ACK is held back. The round trips are those that the receiving
    /// and the sending half have measured, zero if unknown.
    pub(super) fn time(self, receiver_rtt: Duration, sender_rtt: Duration) -> Duration {
        let rtt = if sender_rtt.is_zero() { receiver_rtt } else { receiver_rtt.min(sender_rtt) };
        MAX_DELAY.min(rtt * self.percent / 100) + self.slack
    }
}

/// Decision about the ACK of data out of order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutOfOrderAck {
    /// An ACK at once.
    Now,
    /// No ACK yet.
    Hold,
    /// The ACK held back is sent without this segment's block; the ACK of this segment is then held
    /// back.
    HeldThenHold,
}

/// An arrival out of order, repetitions included.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutOfOrderArrival {
    /// Next offset expected.
    pub next: u64,
    /// Index of the block that the data extends, latest change first; `None`: it begins one.
    pub extends: Option<usize>,
    /// Number of blocks before this arrival.
    pub blocks: usize,
}

/// The kernel's `compressed_ack`, `dup_ack_counter` and `compressed_ack_rcv_nxt`.
#[derive(Clone, Copy, Debug)]
pub(super) struct SackCompression {
    compressed_acks: u32,
    duplicate_acks: u32,
    /// Acknowledgement that they repeat.
    duplicates_of: u64,
}

impl SackCompression {
    pub(super) const fn new() -> Self {
        Self { compressed_acks: 0, duplicate_acks: 0, duplicates_of: 0 }
    }

    /// A segment in order filled part of a gap, and its ACK goes out at once: it counts as the
    /// first duplicate of `next`. With more than one segment unacknowledged the kernel sends before
    /// it counts.
    pub(super) fn on_fill(&mut self, next: u64) {
        self.count(next);
    }

    /// True if this duplicate ACK of `next` is one of the first.
    fn count(&mut self, next: u64) -> bool {
        if self.duplicates_of != next {
            self.duplicates_of = next;
            self.duplicate_acks = 0;
        }
        let is_early = self.duplicate_acks < IMMEDIATE_DUPLICATE_ACKS;
        self.duplicate_acks += u32::from(is_early);
        is_early
    }

    pub(super) fn on_out_of_order(&mut self, arrival: OutOfOrderArrival) -> OutOfOrderAck {
        let sends_held = self.compressed_acks > 0
            && arrival.extends.unwrap_or(arrival.blocks) >= BLOCKS_EXPECTED;
        if sends_held {
            self.compressed_acks = 0;
        }
        if self.compressed_acks >= MAX_COMPRESSED_ACKS || self.count(arrival.next) {
            return OutOfOrderAck::Now;
        }
        self.compressed_acks += 1;
        if sends_held { OutOfOrderAck::HeldThenHold } else { OutOfOrderAck::Hold }
    }

    /// An ACK that reports everything was sent.
    pub(super) fn on_ack_sent(&mut self) {
        self.compressed_acks = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn gap(next: u64, extends: Option<usize>, blocks: usize) -> OutOfOrderArrival {
        OutOfOrderArrival { next, extends, blocks }
    }

    #[test]
    fn three_repetitions_go_out_at_once_and_again_after_progress() {
        let mut acks = SackCompression::new();
        assert_eq!(acks.on_out_of_order(gap(100, None, 0)), OutOfOrderAck::Now);
        for verdict in
            [OutOfOrderAck::Now, OutOfOrderAck::Now, OutOfOrderAck::Hold, OutOfOrderAck::Hold]
        {
            assert_eq!(acks.on_out_of_order(gap(100, Some(0), 1)), verdict);
        }
        acks.on_ack_sent();
        assert_eq!(acks.on_out_of_order(gap(100, Some(0), 1)), OutOfOrderAck::Hold);
        // A segment of the gap was received, and one ACK sent for it: two more go out at once.
        acks.on_fill(200);
        for verdict in [OutOfOrderAck::Now, OutOfOrderAck::Now, OutOfOrderAck::Hold] {
            assert_eq!(acks.on_out_of_order(gap(200, Some(0), 1)), verdict);
        }
    }

    #[test]
    fn no_more_than_44_are_held_back() {
        let mut acks = SackCompression::new();
        let verdicts: Vec<_> =
            (0..48).map(|_| acks.on_out_of_order(gap(100, Some(0), 1))).collect();
        assert_eq!(verdicts[3..47], [OutOfOrderAck::Hold; 44]);
        assert_eq!(verdicts[47], OutOfOrderAck::Now);
    }

    /// A new third block, or a change of the third or a later one, would push blocks out whose ACKs
    /// are held back.
    #[test]
    fn what_would_be_pushed_back_is_told_first() {
        let mut acks = SackCompression::new();
        for place in [None, Some(0), Some(0)] {
            assert_eq!(
                acks.on_out_of_order(gap(100, place, usize::from(place.is_some()))),
                OutOfOrderAck::Now
            );
        }
        assert_eq!(acks.on_out_of_order(gap(100, Some(0), 1)), OutOfOrderAck::Hold);
        assert_eq!(acks.on_out_of_order(gap(100, None, 1)), OutOfOrderAck::Hold);
        assert_eq!(acks.on_out_of_order(gap(100, None, 2)), OutOfOrderAck::HeldThenHold);
        assert_eq!(acks.on_out_of_order(gap(100, Some(1), 3)), OutOfOrderAck::Hold);
        assert_eq!(acks.on_out_of_order(gap(100, Some(2), 3)), OutOfOrderAck::HeldThenHold);
        acks.on_ack_sent();
        // No ACK is held back whose blocks could be pushed out.
        assert_eq!(acks.on_out_of_order(gap(100, None, 3)), OutOfOrderAck::Hold);
    }

    /// A twentieth of 10 ms and 100 us; of 80 ms it would be four times the longest. A third of
    /// 2 ms and 10 us.
    #[test]
    fn acks_are_held_back_for_a_part_of_a_round_trip() {
        let held = |hold: SackHold, received, sent| {
            hold.time(Duration::from_millis(received), Duration::from_millis(sent)).as_nanos()
                / 1000
        };
        let old = SackHold::LINUX_6_18;
        assert_eq!([held(old, 10, 0), held(old, 80, 10), held(old, 80, 80)], [600, 600, 1100]);
        let new = SackHold::LINUX_6_19;
        assert_eq!([held(new, 2, 0), held(new, 80, 2), held(new, 10, 10)], [670, 670, 1010]);
    }
}
