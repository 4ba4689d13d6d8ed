//! The median of rates that do not all count the same.

use units::Rate;

/// The value below which half of the weight is.
pub(super) fn weighted_median(values: impl Iterator<Item = (Rate, u64)>) -> Option<Rate> {
    let mut values: Vec<(Rate, u64)> = values.collect();
    values.sort_unstable();
    let all: u64 = values.iter().map(|(_, weight)| weight).sum();
    let mut below = 0;
    let median = values.into_iter().find(|(_, weight)| {
        below += weight;
        2 * below >= all
    });
    median.map(|(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half of 500 is reached at 8 Mbit/s.
    #[test]
    fn half_of_the_weight_is_below() {
        let values = [(90, 100), (8, 300), (1, 100)];
        let rates = values.map(|(mbps, weight)| (Rate::from_mbps(mbps), weight));
        assert_eq!(weighted_median(rates.into_iter()), Some(Rate::from_mbps(8)));
        assert_eq!(weighted_median(std::iter::empty()), None);
    }
}
