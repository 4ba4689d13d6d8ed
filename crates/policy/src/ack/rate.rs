//! Delivery rate samples (draft-cheng-iccrg-delivery-rate-estimation): the rate at which the path
//! delivered between the sending of a segment and its acknowledgement.
//!
//! The path counts deliveries ([`DeliveryMeter`]). Every segment gets the count at its departure
//! ([`DeliveryMarks`], kept by the connection that sent it). The ACK of the one sent last makes a
//! [`RateSample`]. The unit is segments, not bytes, as in Linux. Only paths with a policy that asks
//! for it do any of this.

use std::collections::VecDeque;
use units::{Duration, Instant};

/// The kind of repair under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Episode {
    /// No repair.
    #[default]
    None,
    /// Fast recovery.
    FastRecovery,
    /// Retransmission of segments that a timeout presumed lost.
    Timeout,
}

/// One sample of the delivery rate (§3.3, `rs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateSample {
    /// Segments that had been delivered when the segment left.
    pub prior_delivered: u64,
    /// Segments delivered since.
    pub delivered: u64,
    /// Interval of the deliveries, microseconds: the longer of sending and acknowledging them.
    /// Never zero.
    pub interval_us: u64,
    /// There was not enough to send, so the path may be faster.
    pub app_limited: bool,
}

/// One ACK's deliveries, for policies that model the path. Segments throughout.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    /// Segments delivered on the path, the SYN included.
    pub total: u64,
    /// Time of the last delivery.
    pub at: Instant,
    /// Segments delivered by this ACK.
    pub fresh: u64,
    /// Segments found lost with this ACK.
    pub lost: u64,
    /// Segments ever found lost on the path; one lost twice counts twice.
    pub total_lost: u64,
    /// The rate, if this ACK makes a sample.
    pub rate: Option<RateSample>,
    /// The kind of repair under way after this ACK.
    pub episode: Episode,
    /// The ACK is likely to have been delayed: it is for a single short segment.
    pub delayed: bool,
    /// Time at which sending resumed with nothing in flight and too little to send, if that was
    /// since the last ACK.
    pub resumed: Option<Instant>,
    /// Time at which the pacer releases the next segment; may be in the past.
    pub next_release: Instant,
}

/// The state of the count at a segment's departure (§3.2, `P.*`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeliveryMark {
    first_sent: Instant,
    delivered_at: Instant,
    delivered: u64,
    app_limited: bool,
}

/// The facts of an ACK for the meter.
#[derive(Clone, Copy, Debug)]
pub struct Delivered {
    /// Time at which the ACK was received.
    pub now: Instant,
    /// Segments newly delivered.
    pub fresh: u64,
    /// Send time and mark of the one that was sent last among these.
    pub newest: Option<(Instant, DeliveryMark)>,
    /// Lowest round trip seen.
    pub min_rtt: Duration,
}

/// The path's count of deliveries (§3.1.2, `C.*`).
#[derive(Clone, Copy, Debug)]
pub struct DeliveryMeter {
    total: u64,
    delivered_at: Instant,
    first_sent: Instant,
    /// Number of deliveries until which sent segments count as limited by the application; zero:
    /// they do not.
    limited_until: u64,
    total_lost: u64,
    resumed: Option<Instant>,
    /// The repairing under way began with a timeout.
    timed_out: bool,
}

impl Default for DeliveryMeter {
    /// The SYN counts as delivered.
    fn default() -> Self {
        Self {
            total: 1,
            delivered_at: Instant::ZERO,
            first_sent: Instant::ZERO,
            limited_until: 0,
            total_lost: 0,
            resumed: None,
            timed_out: false,
        }
    }
}

impl DeliveryMeter {
    /// Returns the mark of a segment that leaves (§3.2); `idle`: nothing is outstanding.
    pub fn on_sent(&mut self, now: Instant, idle: bool) -> DeliveryMark {
        if idle {
            self.first_sent = now;
            self.delivered_at = now;
        }
        DeliveryMark {
            first_sent: self.first_sent,
            delivered_at: self.delivered_at,
            delivered: self.total,
            app_limited: self.limited_until > 0,
        }
    }

    /// Notes that there is too little to send: segments that leave before all in flight are
    /// delivered do not show the rate of the path (§3.4).
    pub fn limit(&mut self, in_flight: u64) {
        self.limited_until = self.total + in_flight;
    }

    /// Notes that sending resumes with nothing in flight. True if the application caused that.
    pub fn on_resumed(&mut self, now: Instant) -> bool {
        let idle = self.limited_until > 0;
        if idle {
            self.resumed = Some(now);
        }
        idle
    }

    /// Notes that segments were found lost.
    pub fn on_lost(&mut self, segments: u64) {
        self.total_lost += segments;
    }

    /// Notes that a reduction began; `timeout`: by the retransmission timer.
    pub fn on_reduced(&mut self, timeout: bool) {
        self.timed_out = timeout;
    }

    /// Returns the kind of repair under way.
    pub fn episode(&mut self, recovering: bool) -> Episode {
        self.timed_out &= recovering;
        match (recovering, self.timed_out) {
            (false, _) => Episode::None,
            (true, false) => Episode::FastRecovery,
            (true, true) => Episode::Timeout,
        }
    }

    /// Processes an ACK (§3.3) and returns the sample, if it makes one.
    pub fn on_ack(&mut self, ack: &Delivered) -> Option<RateSample> {
        self.total += ack.fresh;
        let sending = ack.newest.map(|(sent_at, mark)| {
            self.first_sent = sent_at;
            micros(mark.first_sent, sent_at)
        });
        if self.limited_until > 0 && self.total > self.limited_until {
            self.limited_until = 0;
        }
        if ack.fresh > 0 {
            self.delivered_at = ack.now;
        }
        let (_, mark) = ack.newest?;
        // Sending and acknowledging are a pipeline's two phases: the slower one is the path's.
        let interval_us = micros(mark.delivered_at, ack.now).max(sending?);
        if interval_us == 0 || interval_us < ack.min_rtt.as_micros() {
            // Shorter than any round trip: the segment was presumed lost and retransmitted although
            // it was delivered.
            return None;
        }
        Some(RateSample {
            prior_delivered: mark.delivered,
            delivered: self.total - mark.delivered,
            interval_us,
            app_limited: mark.app_limited,
        })
    }

    /// Returns the deliveries of this ACK, for policies.
    pub fn delivery(&mut self, fresh: u64, rate: Option<RateSample>) -> Delivery {
        Delivery {
            total: self.total,
            at: self.delivered_at,
            fresh,
            lost: 0,
            total_lost: self.total_lost,
            rate,
            episode: Episode::None,
            delayed: false,
            resumed: self.resumed.take(),
            next_release: Instant::ZERO,
        }
    }
}

/// Whole microseconds between two readings of a clock that counts them.
pub fn micros(from: Instant, to: Instant) -> u64 {
    (to.as_nanos() / 1000).saturating_sub(from.as_nanos() / 1000)
}

/// The mark of each of a connection's segments. All that left between two ACKs have the same, so
/// one entry serves them.
#[derive(Clone, Debug, Default)]
pub struct DeliveryMarks {
    /// Position in the path's order of sending from which each mark holds, ascending.
    marks: VecDeque<(u64, DeliveryMark)>,
    /// Losses on the connection's scoreboard that were reported to the path.
    pub lost_reported: u64,
}

impl DeliveryMarks {
    /// Records the mark of the segment that leaves at position `order`.
    pub fn push(&mut self, order: u64, mark: DeliveryMark) {
        if self.marks.back().is_none_or(|last| last.1 != mark) {
            self.marks.push_back((order, mark));
        }
    }

    /// Returns the mark of the segment that left at position `order`.
    pub fn of(&self, order: u64) -> Option<DeliveryMark> {
        let after = self.marks.partition_point(|entry| entry.0 <= order);
        Some(self.marks.get(after.checked_sub(1)?)?.1)
    }

    /// Forgets marks of segments that left before position `order`, of which none is outstanding.
    pub fn forget_before(&mut self, order: u64) {
        while self.marks.get(1).is_some_and(|next| next.0 <= order) {
            self.marks.pop_front();
        }
    }

    /// Forgets all marks, because the connection continues on another path.
    pub fn clear(&mut self) {
        self.marks.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn ack(ms: u64, fresh: u64, newest: (u64, DeliveryMark)) -> Delivered {
        let newest = Some((at(newest.0), newest.1));
        Delivered { now: at(ms), fresh, newest, min_rtt: Duration::from_millis(80) }
    }

    #[test]
    fn the_rate_is_what_was_delivered_since_the_segment_left() {
        let mut meter = DeliveryMeter::default();
        // Ten leave at 1000 ms, all acknowledged one by one, 1 ms apart, from 1080 on.
        let first = meter.on_sent(at(1000), true);
        let one = meter.on_ack(&ack(1080, 1, (1000, first))).unwrap();
        assert_eq!((one.prior_delivered, one.delivered, one.interval_us), (1, 1, 80_000));
        // The 11th leaves with the first ACK: it takes along two delivered (the SYN and one).
        let second = meter.on_sent(at(1080), false);
        for n in 1..10 {
            let sample = meter.on_ack(&ack(1080 + n, 1, (1000, first))).unwrap();
            assert_eq!((sample.delivered, sample.interval_us), (1 + n, 80_000 + n * 1000));
        }
        // Its ACK at 1160: ten delivered since, the last nine of them and itself, in 80 ms.
        let sample = meter.on_ack(&ack(1160, 1, (1080, second))).unwrap();
        assert_eq!((sample.prior_delivered, sample.delivered, sample.interval_us), (2, 10, 80_000));
    }

    #[test]
    fn compressed_acks_count_by_the_time_of_sending() {
        let mut meter = DeliveryMeter::default();
        let first = meter.on_sent(at(0), true);
        meter.on_ack(&ack(100, 1, (0, first)));
        // Two more leave at 100 and at 300 ms; held up on their way back, both ACKs come at 390.
        let second = meter.on_sent(at(100), false);
        let third = meter.on_sent(at(300), false);
        meter.on_ack(&ack(390, 1, (100, second)));
        // The last ACK came after 290 ms, but sending took from 0 (the first) to 300. The longer
        // phase counts: acknowledging 100 to 390; sending 0 to 300.
        let sample = meter.on_ack(&ack(390, 1, (300, third))).unwrap();
        assert_eq!((sample.delivered, sample.interval_us), (2, 300_000));
    }

    #[test]
    fn what_leaves_until_a_bubble_has_passed_is_limited_by_the_application() {
        let mut meter = DeliveryMeter::default();
        let busy = meter.on_sent(at(0), true);
        assert!(!busy.app_limited);
        // One in flight and nothing more to send; what leaves next is marked.
        meter.limit(1);
        let limited = meter.on_sent(at(10), false);
        assert!(limited.app_limited);
        // The segment in flight is delivered: the bubble (after it) has not passed yet.
        meter.on_ack(&ack(80, 1, (0, busy)));
        assert!(meter.on_sent(at(80), false).app_limited);
        let sample = meter.on_ack(&ack(90, 1, (10, limited))).unwrap();
        assert!(sample.app_limited);
        assert!(!meter.on_sent(at(90), false).app_limited);
    }

    #[test]
    fn faster_than_any_round_trip_is_no_sample() {
        let mut meter = DeliveryMeter::default();
        let mark = meter.on_sent(at(0), true);
        assert_eq!(meter.on_ack(&ack(79, 1, (0, mark))), None);
        assert!(meter.on_ack(&ack(80, 1, (0, mark))).is_some());
    }

    #[test]
    fn an_entry_serves_all_segments_that_took_the_same() {
        let mut meter = DeliveryMeter::default();
        let mut marks = DeliveryMarks::default();
        let early = meter.on_sent(at(0), true);
        marks.push(3, early);
        marks.push(4, early);
        meter.on_ack(&ack(80, 1, (0, early)));
        let late = meter.on_sent(at(80), false);
        marks.push(5, late);
        assert_eq!(marks.marks.len(), 2);
        assert_eq!((marks.of(2), marks.of(3), marks.of(4)), (None, Some(early), Some(early)));
        assert_eq!((marks.of(5), marks.of(9)), (Some(late), Some(late)));
        marks.forget_before(4);
        assert_eq!(marks.of(4), Some(early));
        marks.forget_before(5);
        assert_eq!((marks.of(4), marks.of(5)), (None, Some(late)));
    }
}
