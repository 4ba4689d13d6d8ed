//! Common state of all connections to a network while they send: their combined delivery rate, and
//! the time of the next segment.
//!
//! One connection of a page sends too little to show the path's capacity, but several at once show
//! it well: a queue releases their segments at the bottleneck's pace. When the next page starts,
//! its first flights are sent at that pace, one segment after the other, of any connection
//! (docs/adr/0022-headstart.md).

use std::collections::VecDeque;
use units::{Duration, Instant, Rate};

/// Bytes over which a rate is measured: eight segments of 1448. One or two of the ten that any host
/// may send at once (RFC 6928) come with the first ACK. Fewer bytes would show clocks and delayed
/// ACKs rather than the path.
const SPAN: u64 = 8 * 1448;

/// Number of ACKs that are kept: more than segments of a span.
const LOOKS_BACK: usize = 24;

/// ACKs from a network, and departures to it.
#[derive(Clone, Debug, Default)]
pub(super) struct Together {
    /// ACKs: when each came, and the bytes delivered with it and before.
    arrivals: VecDeque<(Instant, u64)>,
    delivered: u64,
    /// Highest delivery rate of a span, bytes a second, and when it was last seen; 0: none was
    /// seen.
    carried: u64,
    carried_at: Instant,
    /// Earliest time of the next segment.
    next: Instant,
    /// Connections with outstanding data.
    senders: u32,
}

impl Together {
    /// Notes that `bytes` were delivered, on any connection, the last of them `queued` later than
    /// on an idle path. Only the last [`LOOKS_BACK`] notes are kept.
    pub(super) fn note_arrival(&mut self, now: Instant, bytes: u64, queued: Duration) {
        if bytes == 0 {
            return;
        }
        self.delivered += bytes;
        if let Some(rate) = self.rate_of_span(now, queued).filter(|rate| *rate >= self.carried) {
            (self.carried, self.carried_at) = (rate, now);
        }
        self.arrivals.push_back((now, self.delivered));
        if self.arrivals.len() > LOOKS_BACK {
            self.arrivals.pop_front();
        }
    }

    /// Returns the delivery rate of the span that ends now. `None` if the span has a gap, or did
    /// not come at the pace of a bottleneck. Segments that kept their spacing have not waited in a
    /// queue. Segments of a burst that a queue has released have waited for about as long as they
    /// took to be delivered. They have waited at least a quarter of that, since a queue may hold
    /// fewer packets than a span has.
    fn rate_of_span(&self, now: Instant, queued: Duration) -> Option<u64> {
        let (mut later, mut longest) = (now, Duration::ZERO);
        for &(then, before) in self.arrivals.iter().rev() {
            longest = longest.max(later.saturating_since(then));
            later = then;
            let bytes = self.delivered - before;
            if bytes < SPAN {
                continue;
            }
            let took = now.saturating_since(then);
            let is_whole = longest * 2 <= took && queued * 4 >= took;
            let rate = u128::from(bytes) * 1_000_000_000;
            let rate = rate.checked_div(took.as_nanos().into()).filter(|_| is_whole)?;
            return u64::try_from(rate).ok();
        }
        None
    }

    /// Returns the delivery rate, bytes a second; 0: not known. A rate that was not seen for longer
    /// than `max_age` is forgotten.
    pub(super) fn delivery_rate(&mut self, now: Instant, max_age: Duration) -> u64 {
        if now.saturating_since(self.carried_at) > max_age {
            self.carried = 0;
        }
        self.carried
    }

    /// Discards the rate, since the path may have changed; the next ACK measures it again, with the
    /// ACKs just before it.
    pub(super) const fn doubt(&mut self) {
        self.carried = 0;
    }

    /// Counts a connection that begins to send, or has nothing outstanding any more.
    pub(super) const fn count_sender(&mut self, begins: bool) {
        self.senders =
            if begins { self.senders.saturating_add(1) } else { self.senders.saturating_sub(1) };
    }

    /// Returns the number of connections with outstanding data, at least one.
    pub(super) fn senders(&self) -> u32 {
        self.senders.max(1)
    }

    /// Returns the time between segments of `bytes` of one connection if all senders have equal
    /// parts; zero: the rate is not known.
    pub(super) fn spacing(&self, bytes: u64) -> Duration {
        let all = bytes.saturating_mul(self.senders().into());
        let nanos = u128::from(all) * 1_000_000_000;
        let nanos = nanos.checked_div(self.carried.into()).unwrap_or(0);
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// Reserves the sending time of a segment of `bytes` at `rate` bytes a second, behind all
    /// segments with a time.
    pub(super) fn book(&mut self, now: Instant, bytes: u64, rate: u64) -> Instant {
        let at = self.next.max(now);
        let gap = Rate::from_bps(rate.saturating_mul(8)).transmit_time(bytes);
        self.next = at + if gap == Duration::MAX { Duration::ZERO } else { gap };
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Instant {
        Instant::from_nanos(us * 1000)
    }

    /// The rate at the time of the last ACK.
    fn delivery_rate(together: &mut Together) -> u64 {
        let last = together.arrivals.back().map_or(Instant::ZERO, |(then, _)| *then);
        together.delivery_rate(last, Duration::from_secs(600))
    }

    /// Arrivals of one segment of 1448 bytes each, queued for 9 ms.
    fn arrive(together: &mut Together, instants: impl IntoIterator<Item = u64>) {
        for us in instants {
            together.note_arrival(at(us), 1448, Duration::from_millis(9));
        }
    }

    /// Segments of 1448 bytes that are delivered a millisecond apart, on any connections, are 1.448
    /// MB/s. The first eight show nothing: eight after the first are a span. Slower segments do not
    /// lower the rate later.
    #[test]
    fn a_span_tells_the_rate() {
        let mut together = Together::default();
        arrive(&mut together, (0..8).map(|n| 1000 * n));
        assert_eq!(delivery_rate(&mut together), 0);
        arrive(&mut together, [8000]);
        assert_eq!(delivery_rate(&mut together), 1_448_000);
        arrive(&mut together, (0..9).map(|n| 20_000 + 1100 * n));
        assert_eq!(delivery_rate(&mut together), 1_448_000);
        together.doubt();
        assert_eq!(delivery_rate(&mut together), 0);
        // Eight segments in 8.8 ms, seven of them from before.
        arrive(&mut together, [29_900]);
        assert_eq!(delivery_rate(&mut together), 1_316_363);
    }

    /// The rate was 1.448 MB/s at 8 ms last. A slower span at 5 s does not renew it: 10 s after the
    /// 8 ms it is forgotten, and the path has the rate that it has shown since.
    #[test]
    fn a_rate_that_is_not_reached_any_more_is_forgotten() {
        let mut together = Together::default();
        let max_age = Duration::from_secs(10);
        arrive(&mut together, (0..9).map(|n| 1000 * n));
        arrive(&mut together, (0..9).map(|n| 5_000_000 + 2000 * n));
        assert_eq!(together.delivery_rate(at(10_008_000), max_age), 1_448_000);
        assert_eq!(together.delivery_rate(at(10_008_001), max_age), 0);
        arrive(&mut together, (0..9).map(|n| 11_000_000 + 2000 * n));
        assert_eq!(together.delivery_rate(at(11_016_000), max_age), 724_000);
        // A rate that is seen again counts from then on.
        arrive(&mut together, (0..9).map(|n| 15_000_000 + 2000 * n));
        assert_eq!(together.delivery_rate(at(25_016_000), max_age), 724_000);
    }

    /// Four segments, a pause of 5 ms, and five: 5 of 12 ms are less than half, and a pause of 80
    /// ms is more. Half of a span is 7 of 14 ms.
    #[test]
    fn a_pause_is_no_part_of_a_span() {
        let spread = |pause: u64| {
            let mut together = Together::default();
            let arrivals =
                (0..4).map(|n: u64| 1000 * n).chain((0..5).map(|n: u64| 3000 + pause + 1000 * n));
            arrive(&mut together, arrivals);
            delivery_rate(&mut together)
        };
        // Eight segments in 12 ms; over 87 ms they would be 133 kB/s.
        assert_eq!(spread(5000), 965_333);
        assert_eq!([spread(7000), spread(7001), spread(80_000)], [827_428, 0, 0]);
    }

    /// Eight segments in 8 ms that have waited for 1.9 ms at most, less than two of them take,
    /// about kept their spacing.
    #[test]
    fn what_came_as_it_left_tells_no_rate() {
        let carried = |queued_us| {
            let mut together = Together::default();
            for n in 0..9 {
                together.note_arrival(at(1000 * n), 1448, Duration::from_micros(queued_us));
            }
            delivery_rate(&mut together)
        };
        assert_eq!((carried(1900), carried(2000)), (0, 1_448_000));
    }

    /// 1448 bytes at 1.448 MB/s take a millisecond: of twelve senders each has a segment in 12 ms.
    /// Without a rate there is no spacing.
    #[test]
    fn segments_of_one_of_several_senders_are_spaced() {
        let mut together = Together::default();
        (0..13).for_each(|_| together.count_sender(true));
        assert_eq!(together.spacing(1448), Duration::ZERO);
        arrive(&mut together, (0..9).map(|n| 1000 * n));
        together.count_sender(false);
        assert_eq!(together.spacing(1448), Duration::from_millis(12));
        // The last sender counts as one, registered or not.
        (0..13).for_each(|_| together.count_sender(false));
        assert_eq!(together.spacing(1448), Duration::from_millis(1));
    }

    /// 1448 bytes at 1.448 MB/s take a millisecond. The second one waits behind the first, and
    /// unused time is not saved up.
    #[test]
    fn segments_leave_one_after_the_other() {
        let mut together = Together::default();
        let mut book = |us| together.book(at(us), 1448, 1_448_000);
        assert_eq!([book(0), book(0), book(100)], [at(0), at(1000), at(2000)]);
        assert_eq!([book(9000), book(9000)], [at(9000), at(10_000)]);
        // Without a rate nothing is spaced.
        let mut unpaced = Together::default();
        let mut book = |us| unpaced.book(at(us), 1448, 0);
        assert_eq!([book(0), book(0)], [at(0); 2]);
    }
}
