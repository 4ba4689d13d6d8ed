//! The joint rate of all connections of a client: the rate of its line if they share it.
//!
//! A train of ACKs shows the rate of one connection. If several fill a line side by side, each has
//! a part of it, and so has each train. The meter counts bytes as they are acknowledged, in windows
//! of two halves.

use super::median::weighted_median;
use units::{Duration, Instant, Rate};

/// Half of a window. A window is so long that a few simultaneous ACKs hardly matter, and shorter
/// than most answers that fill a line.
const HALF: Duration = Duration::from_millis(50);
/// Maximum number of windows that are kept.
const MAX_WINDOWS: usize = 256;

/// The windows in which several connections got data.
#[derive(Clone, Debug, Default)]
pub(crate) struct TogetherMeter {
    /// Number of the current half, from time 0.
    half: u64,
    now: HalfWindow,
    /// The half before, to which ACKs of this one may add.
    before: HalfWindow,
    /// The half before that.
    done: HalfWindow,
    /// Bytes of each window that has ended.
    ended: Vec<u64>,
}

/// Bytes delivered in a half, and their connections.
#[derive(Clone, Copy, Debug, Default)]
struct HalfWindow {
    bytes: u64,
    first: Option<u64>,
    has_several: bool,
}

impl HalfWindow {
    fn add(&mut self, connection: u64, bytes: u64) {
        self.bytes += bytes;
        match self.first {
            None => self.first = Some(connection),
            Some(first) => self.has_several |= first != connection,
        }
    }

    /// Returns the bytes of both halves, if several connections got them.
    fn together_with(&self, next: &Self) -> Option<u64> {
        let is_another = self.first.is_some() && next.first.is_some() && self.first != next.first;
        let has_several = self.has_several || next.has_several || is_another;
        has_several.then_some(self.bytes + next.bytes)
    }
}

impl TogetherMeter {
    /// Adds an ACK that reports `bytes` as delivered since the one before it, which was at `since`.
    ///
    /// An ACK that fills a hole reports many bytes at once, which were delivered since the hole
    /// began. So they are spread over that time, and bytes from before this window are left out.
    pub(crate) fn on_arrived(&mut self, connection: u64, since: Instant, at: Instant, bytes: u64) {
        let half = at.as_nanos() / HALF.as_nanos();
        if half < self.half {
            return;
        }
        if half > self.half {
            self.go_on(half);
        }
        let lasted = at.saturating_since(since).as_nanos();
        let part = |nanos: u64| match lasted {
            0 => bytes,
            _ => (u128::from(bytes) * u128::from(nanos) / u128::from(lasted)) as u64,
        };
        let here = lasted.min(at.as_nanos() % HALF.as_nanos());
        let earlier = (lasted - here).min(HALF.as_nanos());
        self.now.add(connection, part(here));
        if earlier > 0 {
            self.before.add(connection, part(earlier));
        }
    }

    /// Moves on to half window number `half`, and ends the windows that are complete by then.
    fn go_on(&mut self, half: u64) {
        let none = HalfWindow::default();
        let (before, now) = (std::mem::take(&mut self.before), std::mem::take(&mut self.now));
        self.end_window(before);
        (self.before, self.done) = match half - self.half {
            1 => (now, before),
            _ => {
                self.done = before;
                self.end_window(now);
                (none, none)
            }
        };
        self.half = half;
    }

    /// Ends a window with this half. Windows after the first [`MAX_WINDOWS`] are dropped.
    fn end_window(&mut self, last: HalfWindow) {
        if self.ended.len() < MAX_WINDOWS {
            self.ended.extend(self.done.together_with(&last));
        }
    }

    /// Returns the rate of payload: the median over windows, weighted by their bytes, because line
    /// and server also pause, and catch up. `None` while only one connection at a time got data, or
    /// less than a byte.
    pub(crate) fn rate(&self) -> Option<Rate> {
        let last = self.before.together_with(&self.now);
        let windows = self.ended.iter().copied().chain(last).filter(|bytes| *bytes > 0);
        weighted_median(windows.map(|bytes| (Rate::from_bytes_over(bytes, HALF * 2), bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::from_nanos(n * 1_000_000)
    }

    /// Two interleaved connections get 1,000 bytes every 2 ms each: 1,000 bytes a millisecond are 8
    /// Mbit/s. Each alone has 4.
    #[test]
    fn what_connections_get_side_by_side_adds_up() {
        let mut meter = TogetherMeter::default();
        for n in 2..400 {
            meter.on_arrived(n % 2, ms(n - 2), ms(n), 1_000);
        }
        assert_eq!(meter.rate(), Some(Rate::from_mbps(8)));
    }

    /// A single connection shows the rate of the line by its trains.
    #[test]
    fn one_connection_tells_nothing_here() {
        let mut meter = TogetherMeter::default();
        for n in 2..400 {
            meter.on_arrived(7, ms(n - 1), ms(n), 1_000);
        }
        assert_eq!(meter.rate(), None);
    }

    /// A hole of 200 ms is filled. 200,000 bytes are acknowledged at once, which were delivered at
    /// 1,000 bytes a millisecond, beside another connection's. The line has 16 Mbit/s, and no more.
    #[test]
    fn a_hole_that_is_filled_is_no_burst() {
        let mut meter = TogetherMeter::default();
        for n in 1..=500 {
            meter.on_arrived(1, ms(n - 1), ms(n), 1_000);
            if n == 390 {
                meter.on_arrived(2, ms(190), ms(n), 200_000);
            }
        }
        // Four windows contain both connections' data of 300 to 400 ms, or a half of it: from 8 to
        // 16 Mbit/s.
        let rate = meter.rate().map_or(0, Rate::as_bps);
        assert!((8_000_000..=16_000_000).contains(&rate), "{rate}");
    }

    /// Each of two connections gets two bytes a minute: no window of 100 ms has any of them.
    #[test]
    fn less_than_a_byte_is_no_rate() {
        let mut meter = TogetherMeter::default();
        for connection in [1, 2] {
            meter.on_arrived(connection, ms(0), ms(60_020), 2);
        }
        assert_eq!(meter.rate(), None);
    }

    /// Separate windows do not add up.
    #[test]
    fn a_pause_ends_a_window() {
        let mut meter = TogetherMeter::default();
        for at in [10, 1_010] {
            meter.on_arrived(at, ms(at - 5), ms(at), 1_000);
        }
        assert_eq!(meter.rate(), None);
    }
}
