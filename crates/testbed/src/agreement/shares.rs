//! Comparison of the courses of loads in two worlds: the same ones, about as often.
//!
//! If a load takes one of several courses, the median is that of the slightly more frequent one, or
//! between two, and means little. Then the distributions are compared, if there are enough clients
//! of both.

use race::SchemeResult;

/// Least number of clients that shows which courses a load takes.
const MIN_CLIENTS: u32 = 7;
/// Largest difference between the shares of loads that are complete by some time (Kolmogorov and
/// Smirnov's distance). For two samples of 14 visits, 0.51 separates two distributions at a level
/// of 5 %.
const MAX_SHARE_DIFFERENCE: f64 = 0.5;

/// Each load of either world is as long as one of the other, within `bound`, and their shares are
/// not far apart.
pub(super) fn same_courses(sim: &SchemeResult, real: &SchemeResult, bound: f64) -> bool {
    let (Some(one), Some(other)) = (Times::of(sim), Times::of(real)) else { return false };
    one.clients.min(other.clients) >= MIN_CLIENTS
        && one.has_all_of(&other, bound)
        && other.has_all_of(&one, bound)
        && one.ahead_of(&other, bound).max(other.ahead_of(&one, bound)) <= MAX_SHARE_DIFFERENCE
}

/// Seconds of the loads that count.
struct Times {
    clients: u32,
    seconds: Vec<f64>,
}

impl Times {
    /// `None` if a load did not complete.
    fn of(row: &SchemeResult) -> Option<Self> {
        let clients = row.counted().map(|sample| sample.repeat + 1).max()?;
        Some(Self {
            clients,
            seconds: row.counted().map(|sample| sample.page_s).collect::<Option<_>>()?,
        })
    }

    fn has_all_of(&self, other: &Self, bound: f64) -> bool {
        let has = |time: f64| self.seconds.iter().any(|own| (own / time - 1.0).abs() <= bound);
        other.seconds.iter().all(|time| has(*time))
    }

    /// Difference of the shares of loads that are complete: its own by some time, the other's a
    /// little later.
    fn ahead_of(&self, other: &Self, bound: f64) -> f64 {
        let ahead = |time: &f64| self.share(*time) - other.share(*time * (1.0 + bound));
        self.seconds.iter().map(ahead).fold(0.0, f64::max)
    }

    /// Share of the loads that took at most `seconds`.
    fn share(&self, seconds: f64) -> f64 {
        let over = self.seconds.iter().filter(|time| **time <= seconds).count();
        over as f64 / self.seconds.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(all: &[(f64, usize)]) -> Times {
        let seconds = all.iter().flat_map(|(time, count)| std::iter::repeat_n(*time, *count));
        Times { clients: 7, seconds: seconds.collect() }
    }

    /// 10 and 4 of 14 loads by the faster course, 0.33 s: 6 of 14 are 0.43. All and 4 of 14 are
    /// 0.71.
    #[test]
    fn shares_are_apart_by_what_more_of_one_is_over() {
        let (mostly, seldom) =
            (times(&[(0.33, 10), (0.405, 4)]), times(&[(0.331, 4), (0.406, 10)]));
        assert!((mostly.ahead_of(&seldom, 0.03) - 6.0 / 14.0).abs() < 1e-9);
        assert!(seldom.ahead_of(&mostly, 0.03).abs() < 1e-9);
        assert!(mostly.has_all_of(&seldom, 0.03) && seldom.has_all_of(&mostly, 0.03));
        let always = times(&[(0.33, 14)]);
        assert!((always.ahead_of(&seldom, 0.03) - 10.0 / 14.0).abs() < 1e-9);
        assert!(seldom.has_all_of(&always, 0.03) && !always.has_all_of(&seldom, 0.03));
    }
}
