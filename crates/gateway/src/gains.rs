//! What a site gains: times of transfers that started warm beside those of the control group, by size class. Two groups by
//! chance, compared at any time: the same statistics as the agent's canary (crate `sequential`).

use gateway_proto::v1::{Report, Start};
use sequential::interval::ConfidenceInterval;
use sequential::log_times::LogTimes;
use sequential::part::{SIZES, size_class};
use sequential::sequence::{ConfidenceSequence, FEWEST};
use serde::Serialize;

/// Classes of sizes: [`SIZES`] and more.
const CLASSES: usize = SIZES.len() + 1;
/// Longest time of a transfer that is believed, microseconds: an hour.
const MAX_TRANSFER_US: u64 = 3_600_000_000;
/// One sequence for each class and one for all together miss the truth at most once in 20 sites.
const ALL_TOGETHER: f64 = 0.05;
/// Effects of about this size, logarithm, are found soonest.
const SCALE: f64 = 0.1;

/// Times of transfers by size class and by how they began.
#[derive(Clone, Copy, Debug, Default)]
pub struct SiteGains {
    warm: [LogTimes; CLASSES],
    control: [LogTimes; CLASSES],
    cold: [LogTimes; CLASSES],
}

/// What one size class gains.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct GainOfClass {
    /// Bytes of its transfers at most; none: more than the class before.
    pub up_to_bytes: Option<u64>,
    /// Transfers that started warm.
    pub warm: u64,
    /// Of the control group.
    pub control: u64,
    /// Transfers that began cold because nothing was known.
    pub cold: u64,
    /// Geometric mean of the times of warm transfers, seconds.
    pub warm_s: Option<f64>,
    /// The same of the control group.
    pub control_s: Option<f64>,
    /// Time of warm transfers by that of the control group, with its interval; none with too few of either.
    pub time_ratio: Option<ConfidenceInterval>,
}

impl SiteGains {
    /// Counts a report that speaks of a whole transfer.
    pub fn add(&mut self, report: &Report) {
        if !(1..=MAX_TRANSFER_US).contains(&report.transfer_us) || report.transfer_bytes == 0 {
            return;
        }
        let group = match report.start() {
            Start::Warm => &mut self.warm,
            Start::Control => &mut self.control,
            Start::Cold => &mut self.cold,
            Start::Unspecified => return,
        };
        let class = usize::from(size_class(report.transfer_bytes));
        if let Some(times) = group.get_mut(class) {
            times.add(report.transfer_us as f64 / 1e6);
        }
    }

    /// By size class, the smallest first.
    pub fn classes(&self) -> Vec<GainOfClass> {
        let sequence = ConfidenceSequence { alpha: ALL_TOGETHER / CLASSES as f64, scale: SCALE };
        let class = |class: usize| {
            let (warm, control) = (self.warm[class], self.control[class]);
            GainOfClass {
                up_to_bytes: SIZES.get(class).copied(),
                warm: warm.count,
                control: control.count,
                cold: self.cold[class].count,
                warm_s: warm.mean_s(),
                control_s: control.mean_s(),
                time_ratio: warm.by(&control, FEWEST).map(|ratio| sequence.ratio(ratio)),
            }
        };
        (0..CLASSES).map(class).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warm_transfers_that_take_half_as_long_show_half() {
        let mut gains = SiteGains::default();
        let transfer = |start: Start, us| Report {
            start: start.into(),
            transfer_bytes: 30_000,
            transfer_us: us,
            ..Report::default()
        };
        for n in 0..4000 {
            // Times differ by ±10 %, so a ratio has a standard error above 0.
            let swing = if n % 2 == 0 { 9 } else { 11 };
            gains.add(&transfer(Start::Warm, 10_000 * swing));
            gains.add(&transfer(Start::Control, 20_000 * swing));
        }
        gains.add(&transfer(Start::Unspecified, 1));
        gains.add(&transfer(Start::Warm, 0));
        let classes = gains.classes();
        // 30,000 bytes: above 16,384 and up to 65,536.
        let class = classes[1];
        assert_eq!((class.up_to_bytes, class.warm, class.control), (Some(65_536), 4000, 4000));
        let ratio = class.time_ratio.expect("4000 of each are enough");
        assert!((ratio.estimate - 0.5).abs() < 1e-9 && ratio.low < 0.5 && ratio.high > 0.5);
        assert!(ratio.high < 0.52, "{ratio:?}");
        assert!(classes[0].time_ratio.is_none());
    }
}
