//! Rate of delivery of a connection's flights, measured from its ACKs: the trains of
//! [`crate::trains`], cut from the ACKs.
//!
//! The flights of slow start are the trains. A train begins with the first ACK of segments that the
//! train before released, and ends with the ACK before the next train. The estimate is taken from
//! two trains in a row that were delivered at about the same rate. The caller decides what to do
//! with it. `crates/agent/bpf/measure.h` is the same in C, for the kernel; a test there holds the
//! two together.

use crate::trains::{agree, carried, gap, gap_of_rate, held_up, shorter};

/// Number of trains after which the measurement ends. From ten segments on slow start has then
/// doubled so often that it fills any window, or something else keeps it from growing.
pub const MAX_TRAINS: u32 = 16;

/// Segments that anybody begins with (RFC 6928).
const INITIAL_WINDOW: u32 = 10;

/// An ACK after which nothing is missing. Times are microseconds of one clock, and wrap, as
/// `delivered` does; offsets are of the bytes sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrainAck {
    /// Time of its arrival, microseconds.
    pub at_us: u32,
    /// Segments delivered by then.
    pub delivered: u32,
    /// Bytes acknowledged cumulatively.
    pub una: u64,
    /// Bytes sent.
    pub next: u64,
    /// When the last segment left or, paced, the next one may.
    pub sent_us: u32,
}

/// Result of a train.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrainSays {
    /// No new estimate.
    Nothing,
    /// With the previous train, it gives the path's rate.
    Rate,
    /// The path carries more than was believed, and not how much more.
    Faster,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Arrived {
    us: u32,
    delivered: u32,
}

/// The measurement of one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrainMeasure {
    /// Gap of the last train, nanoseconds a segment; 0: none.
    gap: u64,
    /// Estimate of the path's gap, nanoseconds a segment; at a warm start, first the remembered
    /// one.
    best: u64,
    /// Offset that the next train begins with.
    next: u64,
    /// When the first of that may have left.
    next_from_us: u32,
    /// The train that is arriving left within so long.
    sent_us: u32,
    first: Arrived,
    last: Arrived,
    last_but_one: Arrived,
    /// Trains of more segments than anybody begins with.
    trains: u32,
    has_train: bool,
    /// Whether two trains measured the estimate.
    has_measured: bool,
    /// Gap of the longest train that was held up, nanoseconds a segment; 0: none was.
    held_up_gap: u64,
    /// The segments of that train.
    held_up_segments: u32,
}

/// Measurements of a train, from the part of it that was delivered.
#[derive(Clone, Copy, Debug)]
struct ArrivedTrain {
    /// Nanoseconds a segment; 0: no measurement.
    gap: u64,
    segments: u32,
    /// Its delivery took longer than its sending.
    is_held_up: bool,
}

impl TrainMeasure {
    /// Estimate of the path's gap, nanoseconds a segment; 0: none.
    pub const fn best(&self) -> u64 {
        self.best
    }

    /// Sets the estimate from the remembered rate of the path, bytes a second.
    pub const fn assume_rate(&mut self, mss: u32, rate: u64) {
        self.best = gap_of_rate(mss, rate);
    }

    /// Discards the remembered estimate.
    pub const fn forget_rate(&mut self) {
        self.best = 0;
    }

    /// The next train begins at the byte `next`, which is sent next.
    pub const fn begin_at(&mut self, next: u64) {
        self.next = next;
    }

    /// The first segments leave.
    pub const fn begin_first_train(&mut self, now_us: u32) {
        if !self.has_train {
            self.next_from_us = now_us;
        }
    }

    /// The measured rate, bytes a second; 0: none.
    pub const fn measured_rate(&self, mss: u32) -> u64 {
        if self.has_measured { carried(mss, self.best) } else { 0 }
    }

    /// The measured rate. Where no two trains have agreed, it is the rate of the longest train that
    /// was held up. Bytes a second; 0: none was. One train alone may be wrong: its rate may be
    /// reported to hosts that collect several reports, but does not set the sender's pace.
    pub fn shown_rate(&self, mss: u32) -> u64 {
        if self.has_measured { self.measured_rate(mss) } else { carried(mss, self.held_up_gap) }
    }

    /// Records a burst that was delivered with this gap, nanoseconds a segment: the next train is
    /// compared with it.
    pub const fn note_burst(&mut self, gap: u64) {
        self.gap = gap;
    }

    /// Looking on would cost each ACK something, for as long as the connection lives.
    pub const fn has_measured_enough(&self) -> bool {
        self.trains >= MAX_TRAINS
    }

    /// Records delivered segments.
    pub fn on_ack(&mut self, ack: &TrainAck) -> TrainSays {
        let now = Arrived { us: ack.at_us, delivered: ack.delivered };
        let says = if ack.una > self.next { self.next_train(ack, now) } else { TrainSays::Nothing };
        self.last_but_one = self.last;
        self.last = now;
        says
    }

    /// Skips deliveries that are no train: other connections were sending.
    pub fn skip(&mut self, ack: &TrainAck) {
        self.forget(ack.next);
        self.first.delivered = ack.delivered;
    }

    /// Ends the train because all segments are delivered: no later ACK ends it, and the next train
    /// comes after a pause.
    pub fn end(&mut self, next: u64) {
        self.evaluate();
        self.forget(next);
    }

    /// The next train has none before it to agree with.
    const fn forget(&mut self, next: u64) {
        self.next = next;
        self.gap = 0;
        self.has_train = false;
    }

    /// The first ACK of a train releases the first segment of the next train. The acknowledgement
    /// of that segment ends this train, even where sending lags behind the window.
    fn next_train(&mut self, ack: &TrainAck, now: Arrived) -> TrainSays {
        let says = self.evaluate();
        self.trains += u32::from(now.delivered.wrapping_sub(self.first.delivered) > INITIAL_WINDOW);
        self.first = now;
        self.last = now;
        self.sent_us = ack.sent_us.wrapping_sub(self.next_from_us);
        self.next = ack.next;
        self.next_from_us = now.us;
        self.has_train = true;
        says
    }

    /// Two trains that agree set the estimate. It holds until two others agree, or until one shows
    /// that the path is faster. That one has a smaller gap or, if it was delivered as it was sent,
    /// may have met a faster path.
    fn evaluate(&mut self) -> TrainSays {
        let ArrivedTrain { gap, segments, is_held_up } = self.arrived_train();
        let last = self.gap;
        if gap > 0 && is_held_up && segments >= self.held_up_segments {
            (self.held_up_gap, self.held_up_segments) = (gap, segments);
        }
        // A train that was delivered as it was sent gives a lower bound on the path's rate.
        if gap == 0 || (!is_held_up && shorter(gap, last) == last) {
            return TrainSays::Nothing;
        }
        self.gap = if is_held_up || last > 0 { gap } else { 0 };
        if is_held_up && agree(last, gap) {
            self.best = shorter(gap, last);
            self.has_measured = true;
            return TrainSays::Rate;
        }
        // Clocks differ by less than a sixteenth.
        if gap >= self.best - self.best / 16 || (is_held_up && agree(self.best, gap)) {
            return TrainSays::Nothing;
        }
        self.best = gap;
        TrainSays::Faster
    }

    /// The acknowledgement of a last segment may have waited for one more to come: the one before
    /// it is more precise then.
    fn arrived_train(&self) -> ArrivedTrain {
        let (all, but_last) = (self.gap_until(self.last), self.gap_until(self.last_but_one));
        let is_all = all > 0 && (but_last == 0 || all <= but_last);
        let end = if is_all { self.last } else { self.last_but_one };
        ArrivedTrain {
            gap: if self.has_train { shorter(all, but_last) } else { 0 },
            segments: end.delivered.wrapping_sub(self.first.delivered),
            is_held_up: held_up(self.sent_us, end.us.wrapping_sub(self.first.us)),
        }
    }

    const fn gap_until(&self, last: Arrived) -> u64 {
        let elapsed = last.us.wrapping_sub(self.first.us);
        gap(elapsed, last.delivered.wrapping_sub(self.first.delivered))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 600 us a segment are 20 Mbit/s for 1500 bytes. Windows of 10, 20 and 40 segments over 80 ms,
    /// an ACK for each segment of 1000 bytes, two segments leave for each.
    #[test]
    fn two_flights_that_arrive_alike_are_believed() {
        let mut measure = TrainMeasure::default();
        measure.begin_first_train(0);
        let (mut delivered, mut sent, mut sent_us) = (0_u32, 10_u64, 0);
        // Result of the first ACK of each round; the other ACKs give none.
        let mut results = [TrainSays::Nothing; 4];
        for (round, flight) in [10_u32, 20, 40, 80].into_iter().enumerate() {
            for n in 0..flight {
                delivered += 1;
                let at_us = 80_000 * (round as u32 + 1) + 600 * n;
                let (una, next) = (u64::from(delivered) * 1000, sent * 1000);
                let says = measure.on_ack(&TrainAck { at_us, delivered, una, next, sent_us });
                match n {
                    0 => results[round] = says,
                    _ => assert_eq!(says, TrainSays::Nothing),
                }
                // Two leave for it.
                sent += 2;
                sent_us = at_us;
            }
        }
        // The first train is judged as the second begins: its ten segments were delivered within
        // 5.4 ms, sent at once. The second one, sent within 5.4 ms and delivered within 11.4,
        // agrees, as the third begins.
        use TrainSays::{Nothing, Rate};
        assert_eq!(results, [Nothing, Nothing, Rate, Rate]);
        assert_eq!(measure.best(), 600_000);
        // 1500 bytes in 600 us.
        assert_eq!(measure.measured_rate(1500), 2_500_000);
    }

    /// Flights of 10, 40 and 15 segments, each of which leaves at once. The first is delivered at
    /// once and measures nothing, the second at 600 us a segment, the third at twice that. So no
    /// two have agreed, and the longest measures 1500 bytes in 600 us.
    #[test]
    fn where_no_two_agree_the_longest_that_was_held_up_is_shown() {
        let mut measure = TrainMeasure::default();
        measure.begin_first_train(0);
        let (mut delivered, mut next, mut sent_us) = (0_u32, 0, 0);
        for (flight, gap_us) in [(10_u32, 0), (40, 600), (15, 1200), (1, 0)] {
            let first_us = sent_us + 80_000;
            next += u64::from(flight) * 1000;
            for n in 0..flight {
                delivered += 1;
                let (at_us, una) = (first_us + gap_us * n, u64::from(delivered) * 1000);
                let says = measure.on_ack(&TrainAck { at_us, delivered, una, next, sent_us });
                assert_eq!(says, TrainSays::Nothing);
            }
            sent_us = first_us;
        }
        assert_eq!((measure.measured_rate(1500), measure.best()), (0, 0));
        assert_eq!(measure.shown_rate(1500), 2_500_000);
    }
}
