//! SEARCH (draft-chung-ccwg-search-09): slow start that ends where deliveries no longer grow with
//! the bytes sent.
//!
//! Time is divided into bins of 0.35 first round trips. At the end of each bin, the bytes delivered
//! in the last ten bins are compared with those sent in ten bins a round trip earlier. On a path
//! that is not full the two are alike. If a quarter (0.26) of the sent bytes is missing, `ssthresh`
//! := `cwnd`. The draft's drain after the exit is optional, and omitted here.

use super::{Beginning, LinuxSlowStart, Phase, Start, StartUp, StartUpDescriptor, StartupReason};
use crate::ack::AckSample;
use crate::registry::Make;
use crate::window::{Cause, Window};
use std::collections::VecDeque;
use units::{Duration, Instant};

/// SEARCH.
pub static SEARCH: StartUpDescriptor = StartUpDescriptor::new(
    "search",
    "slow start that ends where what arrives lags a quarter behind what was sent: SEARCH",
    "draft-chung-ccwg-search-09",
    Make::Alone(&|_| Box::<SearchStart>::default()),
)
.explained(&super::pages::SEARCH);

/// Bins of a window (`W`).
const WINDOW: usize = 10;
/// Bins in addition to the window, for the round trip before (`EXTRA_BINS`).
const EXTRA: usize = 15;
/// Length of a window, hundredths of the first round trip (`WINDOW_SIZE_FACTOR`).
const WINDOW_PERCENT: u64 = 350;
/// Threshold of the missing part, hundredths of the sent bytes (`THRESH`).
const THRESHOLD: u64 = 26;

/// Slow start with SEARCH.
#[derive(Clone, Debug, Default)]
pub struct SearchStart {
    bins: Option<Bins>,
    /// Bytes delivered.
    delivered: u64,
    /// An exit point was found; nothing more is looked for.
    found: bool,
}

/// Totals at the end of each bin, the last one first.
#[derive(Clone, Debug, Default)]
struct Bins {
    length: Duration,
    /// End of the present bin.
    end: Instant,
    totals: VecDeque<Totals>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Totals {
    sent: u64,
    delivered: u64,
}

impl Bins {
    fn new(rtt: Duration, now: Instant, totals: Totals) -> Option<Self> {
        let length = rtt.saturating_mul(WINDOW_PERCENT) / 100 / WINDOW as u64;
        let bins = Self { length, end: now + length, totals: VecDeque::from([totals]) };
        (!length.is_zero()).then_some(bins)
    }

    /// Ends the bins that have passed by now. Returns false if those are more than a window, so
    /// that their figures mean nothing.
    fn pass(&mut self, now: Instant, totals: Totals) -> bool {
        let passed = now.saturating_since(self.end).as_nanos() / self.length.as_nanos() + 1;
        if passed > WINDOW as u64 {
            return false;
        }
        // Nothing was acknowledged in bins that were skipped: they ended as the last one did.
        let last = self.totals[0];
        for _ in 1..passed {
            self.totals.push_front(last);
        }
        self.totals.push_front(totals);
        self.totals.truncate(WINDOW + EXTRA + 1);
        self.end += self.length.saturating_mul(passed);
        true
    }

    /// Returns the bytes delivered in the last window, and those sent in one a round trip earlier,
    /// which may lie between two bins. `None` if there are too few bins yet, or the round trip has
    /// grown out of their range.
    fn compare(&self, rtt: Duration) -> Option<(u64, u64)> {
        let back = usize::try_from(rtt.as_nanos() / self.length.as_nanos()).ok()?;
        let part = rtt.as_nanos() % self.length.as_nanos();
        if back >= EXTRA {
            return None;
        }
        let sent = |back: usize| {
            let (new, old) = (self.totals.get(back)?, self.totals.get(back + WINDOW)?);
            Some(u128::from(new.sent - old.sent))
        };
        let whole = u128::from(self.length.as_nanos());
        let part = u128::from(part);
        let sent = (sent(back)? * (whole - part) + sent(back + 1)? * part) / whole;
        let delivered = self.totals[0].delivered - self.totals[WINDOW].delivered;
        Some((delivered, u64::try_from(sent).unwrap_or(u64::MAX)))
    }
}

impl SearchStart {
    /// The path is full: deliveries lag behind.
    fn is_full(&mut self, sample: &AckSample, rtt: Duration) -> bool {
        let totals = Totals { sent: sample.sent_total, delivered: self.delivered };
        let Some(bins) = &mut self.bins else {
            self.bins = Bins::new(rtt, sample.now, totals);
            return false;
        };
        if sample.now < bins.end {
            return false;
        }
        if !bins.pass(sample.now, totals) {
            self.bins = None;
            return false;
        }
        let lags = |(delivered, sent): (u64, u64)| {
            let missing = sent.saturating_sub(delivered);
            sent > 0 && u128::from(missing) * 100 / u128::from(sent) >= u128::from(THRESHOLD)
        };
        bins.compare(rtt).is_some_and(lags)
    }
}

impl StartUp for SearchStart {
    /// After a timeout it looks again, from the first bin on.
    fn begin(&mut self, _: &mut Window, start: &Start<'_>) -> Beginning {
        if start.reason == StartupReason::Loss {
            self.found = false;
            self.bins = None;
        }
        Beginning::Whole
    }

    fn observe(&mut self, window: &mut Window, sample: &AckSample) {
        self.delivered += sample.delivered;
        if self.found || !window.below_ssthresh() {
            return;
        }
        if let Some(rtt) = sample.rtt
            && self.is_full(sample, rtt)
        {
            self.found = true;
            window.set_ssthresh(window.cwnd(), Cause::HyStart);
        }
    }

    fn on_ack(&mut self, window: &mut Window, sample: &AckSample) -> Phase {
        LinuxSlowStart.on_ack(window, sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    /// Plays a path of 100 ms, with bins of 35 ms: one ACK every 35 ms, each of `acked`, with the
    /// given `sent` totals.
    fn drive(steps: &[(u64, u64)]) -> Option<usize> {
        let mut search = SearchStart::default();
        let mut window = Window::new(MSS, 100 * MSS, u64::MAX, false);
        for (n, &(sent_total, acked)) in steps.iter().enumerate() {
            let sample = AckSample {
                rtt: Some(Duration::from_millis(100)),
                sent_total,
                ..AckSample::of(Instant::from_nanos(35_000_000 * n as u64), acked)
            };
            search.observe(&mut window, &sample);
            if search.found {
                assert_eq!(window.ssthresh(), window.cwnd());
                return Some(n);
            }
        }
        None
    }

    #[test]
    fn what_arrives_as_it_was_sent_goes_on() {
        // A segment in each bin, delivered 100 ms later: deliveries always equal the bytes sent.
        let steps: Vec<_> = (0..60).map(|n| (3000 + n * MSS, MSS)).collect();
        assert_eq!(drive(&steps), None);
    }

    #[test]
    fn a_quarter_missing_ends_it_as_soon_as_a_window_and_a_round_trip_are_known() {
        // Two segments are sent in a bin and one is delivered: half is missing. The first ACK makes
        // the bins; each further one ends a bin. A window of ten that ended 100 ms = 2.86 bins ago
        // needs the totals of 2, 3, 12 and 13 bins ago. The 13th bin after the first is the first
        // to have them.
        let steps: Vec<_> = (0..60).map(|n| (3000 + 2 * n * MSS, MSS)).collect();
        assert_eq!(drive(&steps), Some(13));
        // 1.33 sent for 1 that arrives: 0.25 are missing, less than 0.26.
        let steps: Vec<_> = (0..60).map(|n| (3000 + n * 1333, MSS)).collect();
        assert_eq!(drive(&steps), None);
        // 1.36 for 1: 0.264.
        let steps: Vec<_> = (0..60).map(|n| (3000 + n * 1360, MSS)).collect();
        assert_eq!(drive(&steps), Some(13));
    }

    #[test]
    fn a_pause_longer_than_a_window_begins_anew() {
        let totals = |n| Totals { sent: n, delivered: n };
        let mut bins =
            Bins::new(Duration::from_millis(100), Instant::ZERO, totals(0)).expect("bins");
        // The first bin ends at 35 ms. At 35 + 9 * 35 ms ten have passed, at 35 + 10 * 35 eleven.
        assert!(bins.clone().pass(Instant::from_nanos(350_000_000), totals(1)));
        assert!(!bins.pass(Instant::from_nanos(385_000_000), totals(1)));
    }
}
