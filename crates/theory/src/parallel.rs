//! Several connections to one host, and a loss (Balakrishnan, Padmanabhan, Seshan, Stemm & Katz
//! 1998 §3.2): the reduction of their common window, and the probability of each to be hit.

use serde::Serialize;

/// Losses that `n` connections of equal windows share.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Parallel {
    /// Connections open, `n`.
    pub connections: u32,
    /// Connections hit in an epoch of loss, `m = 0.50 n + 0.1`: the line through Figure 7.
    pub hit: f64,
    /// Remaining share of the common window, `1 − m / 2n`.
    pub factor: f64,
    /// The share if one is hit.
    pub factor_one_hit: f64,
    /// The share if all are hit, as with a single connection.
    pub factor_all_hit: f64,
    /// Segments by which the common window grows per round trip of congestion avoidance.
    pub growth: u32,
}

/// Slope and intercept of the line through Figure 7.
const LINE: (f64, f64) = (0.50, 0.1);

/// Remaining share of the common window of `n` when `m` of them halve theirs.
fn factor(n: f64, m: f64) -> f64 {
    1.0 - m / (2.0 * n)
}

/// Returns rows for one to `most` connections.
pub fn parallel(most: u32) -> Vec<Parallel> {
    let row = |connections: u32| {
        let n = f64::from(connections);
        let hit = LINE.0 * n + LINE.1;
        Parallel {
            connections,
            hit,
            factor: factor(n, hit),
            factor_one_hit: factor(n, 1.0),
            factor_all_hit: factor(n, n),
            growth: connections,
        }
    };
    (1..=most).map(row).collect()
}

/// Probability that a connection is hit if losses strike without favour.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LossShare {
    /// Its share of all windows, `x`.
    pub share: f64,
    /// Losses in the epoch, `k`.
    pub losses: u32,
    /// `1 − (1 − x)^k`.
    pub probability: f64,
}

/// Shares in steps of 0.05, as Figures 9 and 10 have them, for each number of losses.
pub fn loss_shares(losses: &[u32]) -> Vec<LossShare> {
    let at = |losses: u32, step: u32| {
        let share = f64::from(step) / 20.0;
        let spared = (0..losses).fold(1.0, |spared, _| spared * (1.0 - share));
        LossShare { share, losses, probability: 1.0 - spared }
    };
    losses.iter().flat_map(|k| (0..=20).map(move |step| at(*k, step))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_connections_hit_leave_three_quarters() {
        // §3.2.2: m about n/2 gives 3/4. With the intercept, n = 10: 1 - 5.1/20 = 0.745.
        let rows = parallel(10);
        assert!((rows[9].factor - 0.745).abs() < 1e-12);
        assert!(rows.iter().all(|row| row.factor_all_hit == 0.5));
        // One of two is hit: three quarters too.
        assert_eq!(rows[1].factor_one_hit, 0.75);
    }

    #[test]
    fn losses_strike_by_share() {
        let rows = loss_shares(&[1, 2]);
        let of = |k, x: f64| {
            let found = rows.iter().find(|r| r.losses == k && (r.share - x).abs() < 1e-9);
            found.unwrap().probability
        };
        // One loss gives the share itself, two at a half 1 - 1/4.
        assert!((of(1, 0.3) - 0.3).abs() < 1e-12 && of(2, 0.5) == 0.75);
        assert_eq!((of(2, 0.0), of(2, 1.0)), (0.0, 1.0));
    }
}
