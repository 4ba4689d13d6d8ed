//! Quantiles of weighted rates.

use units::Rate;

/// Returns the value below which half of the weight is.
pub(super) fn weighted_median(values: impl Iterator<Item = (Rate, u64)>) -> Option<Rate> {
    weighted_quantile(values, 50)
}

/// Returns the value below which this percentage of the weight is.
pub(super) fn weighted_quantile(
    values: impl Iterator<Item = (Rate, u64)>,
    percent: u128,
) -> Option<Rate> {
    let mut values: Vec<(Rate, u64)> = values.collect();
    values.sort_unstable();
    let all: u128 = values.iter().map(|(_, weight)| u128::from(*weight)).sum();
    let mut below = 0;
    let found = values.into_iter().find(|(_, weight)| {
        below += u128::from(*weight);
        100 * below >= percent * all
    });
    found.map(|(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The weight passes half of 500 at 8 Mbit/s.
    #[test]
    fn half_of_the_weight_is_below() {
        let values = [(90, 100), (8, 300), (1, 100)];
        let rates = values.map(|(mbps, weight)| (Rate::from_mbps(mbps), weight));
        assert_eq!(weighted_median(rates.into_iter()), Some(Rate::from_mbps(8)));
        assert_eq!(weighted_median(std::iter::empty()), None);
    }
}
