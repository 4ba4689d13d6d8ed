//! How fast a path delivered while its queue was never empty, window by window: its rate over time.
//!
//! A link that always has a packet to send delivers at its rate, or at the share of it that others leave. Round trips say whether it had:
//! all that passed waited. So the windows show a radio link whose rate changes, and a line on which other traffic comes and goes.

use super::median::weighted_quantile;
use units::{Duration, Instant, Rate};

/// Length of a window at first. An answer that fills a link takes some of them, and few changes of a radio link are shorter.
const FIRST_LENGTH: Duration = Duration::from_millis(100);
/// Windows that are kept: of more, pairs become one, of twice the length.
const MOST_WINDOWS: usize = 512;
/// Packets waited if none of them had a round trip that was not longer than the lowest by such a part of it.
const WAITED_ONE_IN: u64 = 10;
/// An ACK tells nothing of what was longer ago.
const LONGEST_SPREAD: Duration = Duration::from_secs(1);
/// Fewer busy windows are chance.
const LEAST_WINDOWS: usize = 8;
/// The rate varies if that of the faster quarter of the time is so many percent of that of the slower quarter.
const VARIES_PERCENT: u64 = 130;

/// Bytes that arrived in a window.
#[derive(Clone, Copy, Debug)]
struct DeliveryWindow {
    number: u64,
    bytes: u64,
    /// From the first to the last arrival that is in it.
    from: Instant,
    to: Instant,
    /// Lowest round trip in it, if there was one.
    least: Option<Duration>,
}

/// Bytes that an ACK tells of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArrivedData {
    pub(crate) connection: u64,
    /// The ACK of something new before it on the same connection.
    pub(crate) since: Instant,
    pub(crate) at: Instant,
    pub(crate) bytes: u64,
    /// The round trip that it tells.
    pub(crate) rtt: Option<Duration>,
}

/// The windows of a path in which something arrived.
#[derive(Clone, Debug)]
pub(crate) struct DeliveryWindows {
    length: Duration,
    windows: Vec<DeliveryWindow>,
}

/// A rate in a span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RateStep {
    pub(crate) from: Instant,
    pub(crate) to: Instant,
    pub(crate) rate: Rate,
}

impl Default for DeliveryWindows {
    fn default() -> Self {
        Self { length: FIRST_LENGTH, windows: Vec::new() }
    }
}

impl DeliveryWindow {
    fn lasted(&self) -> Duration {
        self.to.saturating_since(self.from)
    }

    fn rate(&self) -> Rate {
        Rate::from_bytes_over(self.bytes, self.lasted())
    }

    /// Adds what comes later in the same window.
    fn merge(&mut self, later: &Self) {
        self.bytes += later.bytes;
        self.from = self.from.min(later.from);
        self.to = self.to.max(later.to);
        self.least = self.least.into_iter().chain(later.least).min();
    }
}

impl DeliveryWindows {
    /// Spreads the bytes over the time in which they arrived: since the ACK before, as far as they were on their way.
    pub(crate) fn on_arrived(&mut self, data: &ArrivedData) {
        let under_way = data.rtt.unwrap_or(LONGEST_SPREAD).min(LONGEST_SPREAD);
        let earliest = data.at.as_nanos().saturating_sub(under_way.as_nanos());
        let from = data.since.max(Instant::from_nanos(earliest));
        let lasted = data.at.saturating_since(from).as_nanos();
        let mut left = data.bytes;
        let mut begin = from;
        while begin < data.at {
            let number = begin.as_nanos() / self.length.as_nanos();
            let end = Instant::from_nanos((number + 1) * self.length.as_nanos()).min(data.at);
            let part = u128::from(data.bytes) * u128::from((end - begin).as_nanos());
            let bytes = if end == data.at { left } else { (part / u128::from(lasted)) as u64 };
            left = left.saturating_sub(bytes);
            self.add(DeliveryWindow { number, bytes, from: begin, to: end, least: data.rtt });
            begin = end;
        }
    }

    fn add(&mut self, window: DeliveryWindow) {
        let place = self.windows.partition_point(|known| known.number < window.number);
        match self.windows.get_mut(place) {
            Some(known) if known.number == window.number => known.merge(&window),
            _ => self.windows.insert(place, window),
        }
        if self.windows.len() > MOST_WINDOWS {
            self.double();
        }
    }

    /// Makes pairs of windows one.
    fn double(&mut self) {
        self.length = self.length * 2;
        self.windows.iter_mut().for_each(|window| window.number /= 2);
        self.windows.dedup_by(|later, kept| {
            let is_same = later.number == kept.number;
            if is_same {
                kept.merge(later);
            }
            is_same
        });
    }

    /// Windows in which all packets waited, on a path with this lowest round trip, and which were seen for half of their time.
    fn busy(&self, least: Duration) -> impl Iterator<Item = &DeliveryWindow> {
        let waited = least + least / WAITED_ONE_IN;
        self.windows.iter().filter(move |window| {
            window.least.is_some_and(|rtt| rtt >= waited)
                && window.lasted() * 2 >= self.length
                && window.bytes > 0
        })
    }

    /// The rate of payload over time if it varies: a step for each busy window, in their order.
    pub(crate) fn varying(&self, least: Duration) -> Option<Vec<RateStep>> {
        let busy: Vec<&DeliveryWindow> = self.busy(least).collect();
        let timed = || busy.iter().map(|of| (of.rate(), of.lasted().as_nanos()));
        let slow = weighted_quantile(timed(), 25)?;
        let fast = weighted_quantile(timed(), 75)?;
        let varies = fast.as_bps() * 100 >= slow.as_bps() * VARIES_PERCENT;
        let step = |of: &&DeliveryWindow| RateStep { from: of.from, to: of.to, rate: of.rate() };
        (varies && busy.len() >= LEAST_WINDOWS).then(|| busy.iter().map(step).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    const LEAST: Duration = Duration::from_millis(40);

    /// An ACK each 10 ms from 0 to `ms`, of so many bytes each at a time, with this round trip.
    fn delivered(ms: u64, rtt: u64, bytes: impl Fn(u64) -> u64) -> DeliveryWindows {
        let mut windows = DeliveryWindows::default();
        for n in 1..=ms / 10 {
            let (since, at) = (at(10 * n - 10), at(10 * n));
            let (connection, rtt) = (0, Some(Duration::from_millis(rtt)));
            let bytes = bytes(10 * n - 10);
            windows.on_arrived(&ArrivedData { connection, since, at, bytes, rtt });
        }
        windows
    }

    /// 10,000 bytes each 10 ms are 8 Mbit/s; from 500 ms on there are 2,500, 2 Mbit/s. Each window of 100 ms has its rate.
    #[test]
    fn a_rate_that_changes_is_seen_window_by_window() {
        let windows = delivered(1_000, 60, |ms| if ms < 500 { 10_000 } else { 2_500 });
        let steps = windows.varying(LEAST).expect("it changes");
        let rates: Vec<Rate> = steps.iter().map(|step| step.rate).collect();
        assert_eq!(rates, [[Rate::from_mbps(8); 5], [Rate::from_mbps(2); 5]].concat());
        assert_eq!((steps[5].from, steps[5].to), (at(500), at(600)));
    }

    /// The same from an empty queue: what was asked for changed, and no rate. A round trip of 44 ms is a tenth more than the lowest: it waited. A
    /// steady rate does not vary, and neither do few windows.
    #[test]
    fn only_a_busy_path_shows_its_rate() {
        let changing = |ms| if ms < 500 { 10_000 } else { 2_500 };
        assert_eq!(delivered(1_000, 43, changing).varying(LEAST), None);
        assert!(delivered(1_000, 44, changing).varying(LEAST).is_some());
        assert_eq!(delivered(1_000, 60, |_| 10_000).varying(LEAST), None);
        assert_eq!(delivered(700, 60, changing).varying(LEAST), None);
    }

    /// Nothing comes for 500 ms, then an ACK of 5,000 bytes with a round trip of 600 ms. They were on their way all the time: 80 kbit/s in
    /// each window. A round trip of 50 ms says that they were sent after a pause.
    #[test]
    fn an_outage_is_slow_and_a_pause_is_none() {
        let after = |rtt| {
            let mut windows = DeliveryWindows::default();
            let rtt = Some(Duration::from_millis(rtt));
            let data = ArrivedData { connection: 0, since: at(0), at: at(500), bytes: 5_000, rtt };
            windows.on_arrived(&data);
            windows.windows.iter().map(|window| window.bytes).collect::<Vec<_>>()
        };
        assert_eq!((after(600), after(50)), (vec![1_000; 5], vec![5_000]));
    }

    /// 103 s have 1,030 windows of 100 ms: they become 258 of 400 ms. No byte is lost.
    #[test]
    fn windows_of_long_captures_are_longer() {
        let windows = delivered(103_000, 60, |_| 1_000);
        assert_eq!((windows.length, windows.windows.len()), (FIRST_LENGTH * 4, 258));
        let bytes: u64 = windows.windows.iter().map(|window| window.bytes).sum();
        assert_eq!(bytes, 10_300_000);
    }
}
