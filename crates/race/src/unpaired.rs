//! The ratio of two samples that are not paired: its median and interval.
//!
//! The median is the Hodges–Lehmann estimate, and the interval that of the Mann–Whitney test
//! (Hollander, Wolfe & Chicken 2014 §4.2 and §4.3). Both are taken of logarithms: but for chance,
//! one sample is a multiple of the other. The distributions may have any shape.

use super::Spread;

/// The probability that an interval misses.
const MISSES: f64 = 0.05;

/// 1 − each value of `after` over each of `before`: the median, the extremes, and an interval that
/// misses the true gain in one of twenty cases at most. `None` if a sample is empty.
pub(super) fn gain(before: &[f64], after: &[f64]) -> Option<Spread> {
    let pairs = after.iter().flat_map(|after| before.iter().map(move |before| after / before));
    let mut gains: Vec<f64> = pairs.map(|ratio| 1.0 - ratio).collect();
    gains.sort_by(f64::total_cmp);
    let n = gains.len();
    let (min, max) = (*gains.first()?, *gains.last()?);
    let median = f64::midpoint(gains[(n - 1) / 2], gains[n / 2]);
    let interval =
        interval_rank(before.len(), after.len()).map(|rank| (gains[rank], gains[n - 1 - rank]));
    Some(Spread { median, min, max, interval })
}

/// The greatest rank, from 0, whose interval misses with a probability of at most [`MISSES`]. The
/// interval lies between the pairs of that rank from below and from above. It misses with twice
/// P(U ≤ rank). U is the number of pairs whose second value is the smaller one.
fn interval_rank(n: usize, m: usize) -> Option<usize> {
    let ways = orders_per_u(n, m);
    let all: f64 = ways.iter().sum();
    let mut below = 0.0;
    let within = ways.iter().take_while(|ways| {
        below += **ways / all;
        2.0 * below <= MISSES
    });
    within.count().checked_sub(1)
}

/// For each value of U, the number of orders of `n` and `m` values that have it. These are the
/// coefficients of the Gaussian binomial (Mann & Whitney 1947 §3).
fn orders_per_u(n: usize, m: usize) -> Vec<f64> {
    let mut ways = vec![0.0; n * m + 1];
    ways[0] = 1.0;
    for k in 1..=m {
        // Times 1 − q^(n+k), over 1 − q^k.
        for at in (n + k..ways.len()).rev() {
            ways[at] -= ways[at - n - k];
        }
        for at in k..ways.len() {
            ways[at] += ways[at - k];
        }
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two and two values have six orders: U is 0, 1, 2, 2, 3, 4.
    #[test]
    fn orders_are_counted() {
        assert_eq!(orders_per_u(2, 2), [1.0, 1.0, 2.0, 1.0, 1.0]);
        assert_eq!(orders_per_u(1, 3), [1.0; 4]);
        let all: f64 = orders_per_u(5, 6).iter().sum();
        assert_eq!(all, 462.0);
    }

    /// The ranks are the critical values of U in tables of the two-sided test at 5 %.
    #[test]
    fn ranks_are_those_of_the_tables() {
        for (n, m, critical) in
            [(4, 4, 0), (5, 5, 2), (6, 6, 5), (5, 8, 6), (7, 9, 12), (10, 10, 23)]
        {
            assert_eq!(interval_rank(n, m), Some(critical), "{n} and {m}");
            assert_eq!(interval_rank(m, n), Some(critical), "{m} and {n}");
        }
        for (n, m) in [(3, 3), (2, 7), (1, 30)] {
            assert_eq!(interval_rank(n, m), None, "{n} and {m}");
        }
    }

    #[test]
    fn gains_of_all_pairs_by_hand() {
        // 1 − 1/2, 1 − 1/4, 1 − 3/2, 1 − 3/4.
        let gain = gain(&[2.0, 4.0], &[1.0, 3.0]).expect("pairs");
        assert_eq!((gain.min, gain.max, gain.interval), (-0.5, 0.75, None));
        assert_eq!(gain.median, 0.375);
        assert_eq!(super::gain(&[], &[1.0]), None);
        // Four and four: the extremes of all pairs.
        let before = [8.0, 8.0, 8.0, 16.0];
        let after = [4.0, 4.0, 4.0, 2.0];
        let gain = super::gain(&before, &after).expect("pairs");
        assert_eq!((gain.median, gain.interval), (0.5, Some((0.5, 0.875))));
    }
}
