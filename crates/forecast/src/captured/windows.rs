//! Measures the rate of a path over time, window by window, while the path is busy.
//!
//! If what an ACK acknowledges waited for most of the time since the ACK before, the link was busy
//! in that time: it carried just what this ACK acknowledges. So the windows show a radio link whose
//! rate changes, with its outages.

use super::median::weighted_quantile;
use units::{Duration, Instant, Rate};

/// Initial length of a window. An answer that fills a link takes some of them, and few changes of a
/// radio link are shorter.
const FIRST_LENGTH: Duration = Duration::from_millis(100);
/// Maximum number of windows; if there are more, pairs are merged to windows of twice the length.
const MAX_WINDOWS: usize = 512;
/// A wait shorter than this, or than this part of the lowest round trip, may be that of hosts.
const MIN_WAIT: Duration = Duration::from_millis(1);
const WAITED_ONE_IN: u64 = 20;
/// An ACK shows no rate for a longer time.
const LONGEST_SPREAD: Duration = Duration::from_secs(1);
/// A window shows a rate if it was busy for that time, and had that number of ACKs: a few late ACKs
/// hardly matter.
const MIN_TIME: Duration = Duration::from_millis(5);
const MIN_ACKS: u32 = 8;
/// A window shows the rate of several connections if the untimed part of their bytes is smaller
/// than this.
const PART_ONE_IN: u64 = 10;
/// Fewer windows may be chance.
const MIN_WINDOWS: usize = 8;
/// The rate varies if the third quartile is this percentage of the first one, or more.
const VARIES_PERCENT: u64 = 130;

/// Bytes that an ACK newly acknowledges.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckedBytes {
    pub(crate) connection: u64,
    /// The ACK of something new before it on the same connection.
    pub(crate) since: Instant,
    pub(crate) at: Instant,
    pub(crate) bytes: u64,
    /// Its round trip, if it has one.
    pub(crate) rtt: Option<Duration>,
}

/// Data that was acknowledged in a window.
#[derive(Clone, Copy, Debug)]
struct DeliveryWindow {
    number: u64,
    bytes: u64,
    /// Time of the window in which the path was busy.
    busy: Duration,
    acks: u32,
    /// Bytes of ACKs whose time does not count as busy.
    untimed: u64,
    connection: u64,
    has_several: bool,
}

/// The windows of a path in which something was acknowledged.
#[derive(Clone, Debug)]
pub(crate) struct DeliveryWindows {
    length: Duration,
    windows: Vec<DeliveryWindow>,
    /// End of the busy time so far: connections share it.
    until: Instant,
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
        Self { length: FIRST_LENGTH, windows: Vec::new(), until: Instant::ZERO }
    }
}

impl DeliveryWindow {
    fn rate(&self) -> Rate {
        Rate::from_bytes_over(self.bytes, self.busy)
    }

    fn merge(&mut self, other: &Self) {
        self.bytes += other.bytes;
        self.busy += other.busy;
        self.acks += other.acks;
        self.untimed += other.untimed;
        self.has_several |= other.has_several || self.connection != other.connection;
    }

    /// Returns true if one connection got only a part of what the path carried, while another one
    /// repaired its losses.
    const fn is_part(&self) -> bool {
        self.has_several && self.untimed * PART_ONE_IN > self.bytes
    }
}

impl DeliveryWindows {
    /// Spreads the bytes over the time since the ACK before, if the path, whose lowest round trip
    /// is `least`, was busy with them meanwhile.
    pub(crate) fn on_arrived(&mut self, data: &AckedBytes, least: Duration) {
        let &AckedBytes { connection, since, at, bytes, rtt } = data;
        let gap = at.saturating_since(since);
        // An ACK of a repaired loss has no round trip, and acknowledges many bytes at once.
        let waited = rtt.map_or(Duration::ZERO, |rtt| rtt.saturating_sub(least));
        let is_of_hosts = waited < MIN_WAIT || waited * WAITED_ONE_IN < least;
        let was_busy = waited * 2 >= gap && !is_of_hosts;
        let none = DeliveryWindow {
            number: at.as_nanos() / self.length.as_nanos(),
            bytes: 0,
            busy: Duration::ZERO,
            acks: 0,
            untimed: bytes,
            connection,
            has_several: false,
        };
        if gap.is_zero() || gap > LONGEST_SPREAD || !was_busy {
            return self.add(none);
        }
        let mut left = bytes;
        let mut begin = since;
        while begin < at {
            let number = begin.as_nanos() / self.length.as_nanos();
            let end = Instant::from_nanos((number + 1) * self.length.as_nanos()).min(at);
            let part = u128::from(bytes) * u128::from((end - begin).as_nanos());
            let bytes = if end == at { left } else { (part / u128::from(gap.as_nanos())) as u64 };
            left = left.saturating_sub(bytes);
            let busy = end.saturating_since(begin.max(self.until));
            self.add(DeliveryWindow { number, bytes, busy, acks: 1, untimed: 0, ..none });
            begin = end;
        }
        self.until = self.until.max(at);
    }

    /// Adds a window, or merges it with the known one of the same number. If there are more than
    /// [`MAX_WINDOWS`], pairs of neighbours become one.
    fn add(&mut self, window: DeliveryWindow) {
        let place = self.windows.partition_point(|known| known.number < window.number);
        match self.windows.get_mut(place) {
            Some(known) if known.number == window.number => known.merge(&window),
            _ => self.windows.insert(place, window),
        }
        if self.windows.len() > MAX_WINDOWS {
            self.merge_pairs();
        }
    }

    /// Merges pairs of windows.
    fn merge_pairs(&mut self) {
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

    /// Returns the rate of payload over time if it varies: a step for each window that shows one,
    /// in their order.
    pub(crate) fn varying_rate(&self) -> Option<Vec<RateStep>> {
        let is_usable = |window: &&DeliveryWindow| {
            let is_slow = window.busy * 2 >= self.length;
            window.busy >= MIN_TIME && !window.is_part() && (window.acks >= MIN_ACKS || is_slow)
        };
        let usable: Vec<&DeliveryWindow> = self.windows.iter().filter(is_usable).collect();
        let timed = || usable.iter().map(|window| (window.rate(), window.busy.as_nanos()));
        let slow = weighted_quantile(timed(), 25)?;
        let fast = weighted_quantile(timed(), 75)?;
        let varies = fast.as_bps() * 100 >= slow.as_bps() * VARIES_PERCENT;
        let step = |window: &&DeliveryWindow| {
            let from = Instant::from_nanos(window.number * self.length.as_nanos());
            RateStep { from, to: from + self.length, rate: window.rate() }
        };
        (varies && usable.len() >= MIN_WINDOWS).then(|| usable.iter().map(step).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    const LEAST: Duration = Duration::from_millis(40);

    /// An ACK each 10 ms from 0 to `ms`, of `bytes` at a time, with this round trip.
    fn delivered(ms: u64, rtt: u64, bytes: impl Fn(u64) -> u64) -> DeliveryWindows {
        let mut windows = DeliveryWindows::default();
        for n in 1..=ms / 10 {
            let (since, at) = (at(10 * n - 10), at(10 * n));
            let (connection, rtt) = (0, Some(Duration::from_millis(rtt)));
            let bytes = bytes(10 * n - 10);
            windows.on_arrived(&AckedBytes { connection, since, at, bytes, rtt }, LEAST);
        }
        windows
    }

    /// 10,000 bytes each 10 ms are 8 Mbit/s; from 500 ms on there are 2,500, 2 Mbit/s. Each window
    /// of 100 ms has its rate.
    #[test]
    fn a_rate_that_changes_is_seen_window_by_window() {
        let windows = delivered(1_000, 60, |ms| if ms < 500 { 10_000 } else { 2_500 });
        let steps = windows.varying_rate().expect("it changes");
        let rates: Vec<Rate> = steps.iter().map(|step| step.rate).collect();
        assert_eq!(rates, [[Rate::from_mbps(8); 5], [Rate::from_mbps(2); 5]].concat());
        assert_eq!((steps[5].from, steps[5].to), (at(500), at(600)));
    }

    /// ACKs come 10 ms apart, so a wait of 5 ms is half of that. With a round trip of 44 ms the
    /// path was idle in between, and the server's own rate shows. A steady rate does not vary, and
    /// neither do few windows.
    #[test]
    fn only_a_busy_path_shows_its_rate() {
        let changing = |ms| if ms < 500 { 10_000 } else { 2_500 };
        assert_eq!(delivered(1_000, 44, changing).varying_rate(), None);
        assert!(delivered(1_000, 45, changing).varying_rate().is_some());
        assert_eq!(delivered(1_000, 60, |_| 10_000).varying_rate(), None);
        assert_eq!(delivered(700, 60, changing).varying_rate(), None);
    }

    /// Nothing comes for 500 ms, then an ACK of 5,000 bytes with a round trip of 290 ms. They
    /// waited for 250 of the 500 ms: 80 kbit/s in each window. A round trip of 289 ms is of
    /// something that was sent after a pause; and without one something was lost.
    #[test]
    fn an_outage_is_slow_and_a_pause_is_none() {
        let after = |rtt: Option<u64>| {
            let mut windows = DeliveryWindows::default();
            let rtt = rtt.map(Duration::from_millis);
            let data = AckedBytes { connection: 0, since: at(0), at: at(500), bytes: 5_000, rtt };
            windows.on_arrived(&data, LEAST);
            let busy = windows.windows.iter().filter(|window| window.acks > 0);
            busy.map(DeliveryWindow::rate).collect::<Vec<_>>()
        };
        assert_eq!(after(Some(290)), [Rate::from_bps(80_000); 5]);
        assert_eq!((after(Some(289)), after(None)), (Vec::new(), Vec::new()));
    }

    /// Two connections get 5,000 bytes each in the same 10 ms: the path has carried 10,000 in
    /// these.
    #[test]
    fn connections_share_the_time() {
        let mut windows = DeliveryWindows::default();
        for connection in [1, 2] {
            let rtt = Some(Duration::from_millis(60));
            let (since, at, bytes) = (at(0), at(10), 5_000);
            windows.on_arrived(&AckedBytes { connection, since, at, bytes, rtt }, LEAST);
        }
        assert_eq!(windows.windows[0].rate(), Rate::from_mbps(8));
        assert!(!windows.windows[0].is_part());
        // A third one gets 1,001 bytes or more that were lost before, and their time is not known.
        let lost = |bytes| AckedBytes { connection: 3, since: at(0), at: at(10), bytes, rtt: None };
        windows.on_arrived(&lost(1_000), LEAST);
        assert!(!windows.windows[0].is_part());
        windows.on_arrived(&lost(1), LEAST);
        assert!(windows.windows[0].is_part());
        // Alone, a connection that has repaired losses got all that the path carried.
        let mut alone = DeliveryWindows::default();
        alone.on_arrived(&lost(9_000), LEAST);
        assert!(!alone.windows[0].is_part());
    }

    /// Over a lowest round trip of 0.1 ms, waits of 0.9 ms may be those of hosts. From 1 ms on a
    /// queue is busy.
    #[test]
    fn waits_of_hosts_are_none_of_queues() {
        let busy_after = |micros| {
            let mut windows = DeliveryWindows::default();
            let (since, at) = (at(0), Instant::from_nanos(1_000_000));
            let rtt = Some(Duration::from_micros(micros));
            let data = AckedBytes { connection: 0, since, at, bytes: 1_000, rtt };
            windows.on_arrived(&data, Duration::from_micros(100));
            windows.windows[0].busy
        };
        let busy = [1_000, 1_100].map(busy_after);
        assert_eq!(busy, [Duration::ZERO, Duration::from_millis(1)]);
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
