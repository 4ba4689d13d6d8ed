//! A rate that wanders, as a radio link's does: its logarithm is a first-order autoregression.
//!
//! Each tenth of a second the rate is the path's, times the exponential of a value that keeps nine
//! tenths of the one before and adds noise. The value's standard deviation is 0.5, so two thirds of
//! the time the rate is between 0.6 and 1.6 times its median. The rate is bounded at a fifth and at
//! twice the path's. A seed gives one trace, the same for all schemes.

use link::{OPPORTUNITY_BYTES, RateTrace};
use netsim::stream;
use rand_core::Rng;
use rand_pcg::Pcg32;
use std::sync::Arc;
use units::Rate;

/// Duration of a rate, milliseconds.
const STEP_MS: u64 = 100;
/// Steps of a trace, which begins again after them: a minute.
const STEPS: u64 = 600;
/// Share of the previous value that a value keeps.
const KEPT: f64 = 0.9;
/// Standard deviation of the values.
const DEVIATION: f64 = 0.5;
/// Least and greatest rate over the path's.
const BOUNDS: (f64, f64) = (0.2, 2.0);

/// A trace of rates about `rate`.
pub(super) fn trace(rate: Rate, seed: u64) -> Arc<RateTrace> {
    let mut noise = stream(seed, "rate of the path");
    let (mut value, mut credit) = (DEVIATION * normal(&mut noise), 0.0);
    let mut text = String::new();
    for step in 0..STEPS {
        let factor = libm::exp(value).clamp(BOUNDS.0, BOUNDS.1);
        let bytes_per_ms = rate.as_bps() as f64 / 8000.0 * factor;
        for ms in 1..=STEP_MS {
            credit += bytes_per_ms / f64::from(OPPORTUNITY_BYTES);
            while credit >= 1.0 {
                text += &format!("{}\n", step * STEP_MS + ms);
                credit -= 1.0;
            }
        }
        value = KEPT * value + libm::sqrt(1.0 - KEPT * KEPT) * DEVIATION * normal(&mut noise);
    }
    Arc::new(RateTrace::parse("wandering", &text).expect("rising numbers"))
}

/// A draw of mean 0 and variance 1, by the sum of twelve uniform ones, which needs no
/// transcendental function.
fn normal(noise: &mut Pcg32) -> f64 {
    (0..12).map(|_| f64::from(noise.next_u32()) / f64::from(u32::MAX)).sum::<f64>() - 6.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The factor's logarithm has mean 0 and deviation 0.5: without bounds its mean is exp(0.125),
    /// 1.13; the bound at twice takes some of that. Over ten minutes, some 30 independent stretches
    /// each minute, the mean is near.
    #[test]
    fn the_mean_is_that_of_a_lognormal_rate() {
        let rate = Rate::from_mbps(10);
        let means = (0..10).map(|seed| trace(rate, seed).mean_rate().as_bps() as f64 / 1e7);
        let mean = means.sum::<f64>() / 10.0;
        assert!((0.95..1.25).contains(&mean), "{mean}");
        assert_ne!(trace(rate, 1), trace(rate, 2));
        assert_eq!(trace(rate, 1), trace(rate, 1));
    }
}
