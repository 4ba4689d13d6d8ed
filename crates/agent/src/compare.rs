//! Warm connections beside the control group, by size, with confidence intervals of 95 %: what a remembered window gains and costs on live
//! traffic. Both groups had a window proposed, and chance decided which took it, so they differ in nothing else.

use crate::totals::{Class, ConnectionTotals, Group, SIZES};
use serde::{Deserialize, Serialize};

/// Of the normal distribution, for 95 %.
pub(crate) const Z: f64 = 1.96;
/// Fewer connections than this on either side say nothing of times.
pub(crate) const FEWEST: u64 = 10;

/// A number and what it may be as well.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConfidenceInterval {
    /// What was measured.
    pub estimate: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// One side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// Connections.
    pub closed: u64,
    /// Geometric mean of the time from the opening to the last arrival, seconds; `None` without connections. A connection
    /// that is kept for more requests includes the time between them.
    pub time_s: Option<f64>,
    /// Part of the connections that sent something again (Wilson's interval).
    pub retransmitting: Option<ConfidenceInterval>,
    /// Part that lost something of the very first flight.
    pub lost_first: Option<ConfidenceInterval>,
}

/// Connections of about one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// Bytes acknowledged, at most; `None` for the largest.
    pub up_to_bytes: Option<u64>,
    /// Begun with a remembered window.
    pub warm: Side,
    /// Of the control group.
    pub control_group: Side,
    /// Warm by control group, of the geometric means; `None` with fewer than ten on either side.
    pub time_ratio: Option<ConfidenceInterval>,
}

/// By size, the smallest first.
pub fn by_size(totals: &ConnectionTotals) -> Vec<Compared> {
    let sizes = SIZES.iter().copied().map(Some).chain([None]);
    sizes.zip(&totals.classes).map(|(up_to_bytes, class)| compared(up_to_bytes, class)).collect()
}

fn compared(up_to_bytes: Option<u64>, class: &Class) -> Compared {
    Compared {
        up_to_bytes,
        warm: side(&class.warm),
        control_group: side(&class.control_group),
        time_ratio: time_ratio(&class.warm, &class.control_group),
    }
}

fn side(group: &Group) -> Side {
    Side {
        closed: group.closed,
        time_s: (group.timed > 0).then(|| mean(group).exp()),
        retransmitting: share(group.retransmitting, group.closed),
        lost_first: share(group.lost_first, group.closed),
    }
}

fn mean(group: &Group) -> f64 {
    group.log_times / group.timed as f64
}

/// Of the mean, squared.
fn standard_error_squared(group: &Group) -> f64 {
    let n = group.timed as f64;
    let variance = (group.log_times_squared - n * mean(group).powi(2)) / (n - 1.0);
    // Sums of floats may be a little below what they sum.
    variance.max(0.0) / n
}

fn time_ratio(a: &Group, b: &Group) -> Option<ConfidenceInterval> {
    if a.timed < FEWEST || b.timed < FEWEST {
        return None;
    }
    let log = mean(a) - mean(b);
    let error = Z * (standard_error_squared(a) + standard_error_squared(b)).sqrt();
    Some(ConfidenceInterval {
        estimate: log.exp(),
        low: (log - error).exp(),
        high: (log + error).exp(),
    })
}

/// Warm by control group over all sizes: the ratios of the sizes, weighted by how many warm connections are of each, so that
/// a control group with other sizes by chance decides nothing. Sizes with fewer than ten on either side count for nothing.
pub fn over_all_sizes(totals: &ConnectionTotals) -> Option<ConfidenceInterval> {
    let compared = |class: &&Class| time_ratio(&class.warm, &class.control_group).is_some();
    let classes: Vec<_> = totals.classes.iter().filter(compared).collect();
    let all: u64 = classes.iter().map(|class| class.warm.timed).sum();
    if all == 0 {
        return None;
    }
    let (mut log, mut error_squared) = (0.0, 0.0);
    for Class { warm, control_group } in classes {
        let weight = warm.timed as f64 / all as f64;
        log += weight * (mean(warm) - mean(control_group));
        let squared = standard_error_squared(warm) + standard_error_squared(control_group);
        error_squared += weight * weight * squared;
    }
    let error = Z * error_squared.sqrt();
    Some(ConfidenceInterval {
        estimate: log.exp(),
        low: (log - error).exp(),
        high: (log + error).exp(),
    })
}

/// A part of a whole with Wilson's interval (E. B. Wilson, 1927), which holds for few and for none, too.
pub fn share(part: u64, whole: u64) -> Option<ConfidenceInterval> {
    if whole == 0 {
        return None;
    }
    let (n, z2) = (whole as f64, Z * Z);
    let p = part as f64 / n;
    let scale = 1.0 + z2 / n;
    let middle = (p + z2 / (2.0 * n)) / scale;
    let half = Z * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt() / scale;
    Some(ConfidenceInterval {
        estimate: p,
        low: (middle - half).max(0.0),
        high: (middle + half).min(1.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-4
    }

    #[test]
    fn ten_of_a_hundred_may_be_6_to_17_percent() {
        // z² = 3.8416: middle (0.1 + 0.019208) / 1.038416 = 0.114798, half of the width
        // 1.96 √(0.0009 + 0.00009604) / 1.038416 = 0.059569.
        let interval = share(10, 100).unwrap();
        assert!(close(interval.low, 0.05523) && close(interval.high, 0.17437), "{interval:?}");
        assert_eq!(share(0, 0), None);
        // None of 10: 0 to z² / (10 + z²) = 0.2775.
        let none = share(0, 10).unwrap();
        assert!(none.low < 1e-9 && close(none.high, 0.27754), "{none:?}");
    }

    #[test]
    fn half_the_time_is_a_ratio_of_a_half() {
        // Logarithms of times alternate by 0.1 about their mean: variance 0.01 · 10/9, squared error of the mean
        // 0.01/9 each, so the ratio's logarithm is known to 1.96 √(0.02/9) = 0.092396.
        let group = |mean: f64| Group {
            closed: 10,
            timed: 10,
            log_times: 10.0 * mean,
            log_times_squared: 5.0 * ((mean - 0.1).powi(2) + (mean + 0.1).powi(2)),
            ..Group::default()
        };
        let ratio = time_ratio(&group(0.5_f64.ln()), &group(0.0)).unwrap();
        assert!(close(ratio.estimate, 0.5), "{ratio:?}");
        assert!(close(ratio.low, 0.5 * (-0.092396_f64).exp()), "{ratio:?}");
        assert!(close(ratio.high, 0.5 * 0.092396_f64.exp()), "{ratio:?}");
        // Of one size alone, the same; beside as many of another, of which the ratio is 1, its root, known to half of
        // √2 times as much of the logarithm. A size with nine on a side counts for nothing.
        let class = |warm, control_group| Class { warm, control_group };
        let mut totals = ConnectionTotals::default();
        totals.classes[1] = class(group(0.5_f64.ln()), group(0.0));
        totals.classes[2] = class(Group { timed: 9, ..group(3.0) }, group(0.0));
        assert_eq!(over_all_sizes(&totals), Some(ratio));
        totals.classes[4] = class(group(2.0), group(2.0));
        let both = over_all_sizes(&totals).unwrap();
        assert!(close(both.estimate, 0.5_f64.sqrt()), "{both:?}");
        assert!(close(both.low, both.estimate * (-0.092396 / 2.0_f64.sqrt()).exp()), "{both:?}");
        assert_eq!(over_all_sizes(&ConnectionTotals::default()), None);
        assert_eq!(time_ratio(&group(0.0), &Group { timed: 9, ..group(0.0) }), None);
    }
}
