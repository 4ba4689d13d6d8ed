//! A mobile downlink, as the rate of a path: it changes by the tenth of a second, with outages, as
//! cellular ones do. It was made, not recorded; `data/mobile-down.txt` says how. Within a tenth of
//! a second its packets are evenly spaced.

use crate::RateTrace;
use crate::recording::RecordedLink;
use std::fmt::Write;
use std::sync::LazyLock;
use units::Rate;

/// Its name in the notation of paths.
pub(super) const NAME: &str = "mobile";
/// The rate up of a path with this downlink, unless the path names one.
pub(super) const UP: Rate = Rate::from_mbps(5);
/// Length of one interval, milliseconds.
const INTERVAL_MS: u64 = 100;

/// The opportunities to send.
pub(super) static DOWNLINK: LazyLock<RecordedLink> = LazyLock::new(|| {
    let mut text = String::new();
    for (interval, count) in (0..).zip(counts()) {
        for packet in 1..=count {
            let at = interval * INTERVAL_MS + (packet * INTERVAL_MS).div_ceil(count);
            let _ = writeln!(text, "{at}"); // Writing to a string does not fail.
        }
    }
    RecordedLink::named(NAME, RateTrace::parse(NAME, &text).expect("the downlink is a trace"))
});

/// Packets of each interval.
fn counts() -> Vec<u64> {
    let text = include_str!("../../data/mobile-down.txt");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let counts = lines.flat_map(str::split_whitespace).map(str::parse);
    counts.collect::<Result<_, _>>().expect("the file holds numbers")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 284,432 packets of 1,504 bytes in 140 seconds.
    #[test]
    fn the_downlink_has_its_mean_rate() {
        assert_eq!(counts().len(), 1400);
        let mean = DOWNLINK.trace().mean_rate().as_bps() as f64;
        assert!((mean / (284432.0 * 1504.0 * 8.0 / 140.0) - 1.0).abs() < 0.01, "{mean}");
    }
}
