//! A mobile downlink, as the rate of a path: it changes by the tenth of a second, with outages, as cellular ones do. It was made, not
//! recorded; `data/mobile-down.txt` says how. Within a tenth of a second its packets are evenly spaced.

use crate::{OPPORTUNITY_BYTES, RateTrace};
use std::fmt::Write;
use std::sync::{Arc, LazyLock};
use units::{Duration, Rate};

/// Its name in the notation of paths.
pub(super) const NAME: &str = "mobile";
/// Length of one interval, milliseconds.
const INTERVAL_MS: u64 = 100;

static COUNTS: LazyLock<Vec<u64>> = LazyLock::new(|| {
    let text = include_str!("../../data/mobile-down.txt");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let counts = lines.flat_map(str::split_whitespace).map(str::parse);
    counts.collect::<Result<_, _>>().expect("the file holds numbers")
});

/// The downlink, from an interval of it on. After its end it begins again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MobileRate {
    /// The interval that a world begins with.
    first: usize,
}

impl MobileRate {
    /// The downlink from `offset` on.
    pub(super) fn from(offset: Duration) -> Self {
        let intervals = (offset.as_millis() / INTERVAL_MS) as usize;
        Self { first: intervals % COUNTS.len() }
    }

    /// The highest rate of an interval.
    pub(super) fn peak() -> Rate {
        let packets = COUNTS.iter().max().copied().unwrap_or_default();
        let bits = packets * u64::from(OPPORTUNITY_BYTES) * 8;
        Rate::from_bps(bits * 1000 / INTERVAL_MS)
    }

    /// The opportunities to send.
    pub(super) fn trace(self) -> Arc<RateTrace> {
        let counts = COUNTS.iter().cycle().skip(self.first).take(COUNTS.len());
        let mut text = String::new();
        for (interval, count) in (0..).zip(counts) {
            for packet in 1..=*count {
                let at = interval * INTERVAL_MS + (packet * INTERVAL_MS).div_ceil(*count);
                let _ = writeln!(text, "{at}"); // Writing to a string does not fail.
            }
        }
        Arc::new(RateTrace::parse(NAME, &text).expect("the downlink is a trace"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 284,432 packets of 1,504 bytes in 140 seconds; 560 in the best tenth of a second.
    #[test]
    fn the_downlink_has_its_mean_rate_wherever_it_begins() {
        assert_eq!(COUNTS.len(), 1400);
        for offset in [0, 17, 139, 140] {
            let trace = MobileRate::from(Duration::from_secs(offset)).trace();
            let mean = trace.mean_rate().as_bps() as f64;
            assert!((mean / (284432.0 * 1504.0 * 8.0 / 140.0) - 1.0).abs() < 0.01, "{mean}");
        }
        assert_eq!(MobileRate::peak(), Rate::from_bps(560 * 1504 * 8 * 10));
    }
}
