//! Draws against theory. Bounds are those of theory too. 100,000 draws stay within 0.0087 of their
//! distribution function but for one seed in two million (Massart's form of the DKW inequality, `2
//! exp(-2 n e^2)`). A sample mean stays within five standard errors.

use super::*;
use proptest::prelude::*;
use rand_pcg::Pcg32;

const DRAWS: usize = 100_000;
const KS_BOUND: f64 = 0.0087;

fn draws(distribution: &Distribution) -> Vec<f64> {
    let mut stream = Pcg32::new(0x5eed, 7);
    (0..DRAWS).map(|_| distribution.sample(&mut stream)).collect()
}

/// Largest distance between the draws' distribution function and `cdf`, which must be continuous.
fn ks_distance(distribution: &Distribution, cdf: impl Fn(f64) -> f64) -> f64 {
    let mut draws = draws(distribution);
    draws.sort_by(f64::total_cmp);
    let n = DRAWS as f64;
    let at = |(i, x): (usize, &f64)| {
        let f = cdf(*x);
        (f - i as f64 / n).abs().max((f - (i + 1) as f64 / n).abs())
    };
    draws.iter().enumerate().map(at).fold(0.0, f64::max)
}

/// `deviation` is that of a single draw.
fn assert_mean(distribution: &Distribution, deviation: f64) {
    let mean = draws(distribution).iter().sum::<f64>() / DRAWS as f64;
    let bound = 5.0 * deviation / (DRAWS as f64).sqrt();
    assert!((mean - distribution.mean()).abs() <= bound, "{distribution:?}: {mean}");
}

#[test]
fn uniform() {
    let d = Distribution::uniform(2.0, 6.0).unwrap();
    assert!(ks_distance(&d, |x| (x - 2.0) / 4.0) < KS_BOUND);
    assert_eq!(d.mean(), 4.0);
    assert_mean(&d, 4.0 / 12_f64.sqrt());
}

#[test]
fn weibull() {
    let d = Distribution::weibull(3.0, 2.0).unwrap();
    assert!(ks_distance(&d, |x| 1.0 - (-(x / 3.0) * (x / 3.0)).exp()) < KS_BOUND);
    // For shape 2 the mean is scale * sqrt(pi) / 2, the variance scale^2 * (1 - pi / 4).
    let pi = std::f64::consts::PI;
    assert!((d.mean() - 1.5 * pi.sqrt()).abs() < 1e-12);
    assert_mean(&d, 3.0 * (1.0 - pi / 4.0).sqrt());
    // For shape 1 it is exponential.
    let [one, exponential] =
        [Distribution::weibull(50.0, 1.0), Distribution::exponential(50.0)].map(Result::unwrap);
    assert!((one.quantile(0.9) - exponential.quantile(0.9)).abs() < 1e-9);
    assert!(Distribution::weibull(0.0, 1.0).is_err() && Distribution::weibull(1.0, 0.0).is_err());
}

#[test]
fn exponential() {
    let d = Distribution::exponential(50.0).unwrap();
    assert!(ks_distance(&d, |x| 1.0 - (-x / 50.0).exp()) < KS_BOUND);
    assert_mean(&d, 50.0);
    assert!((d.quantile(0.5) - 50.0 * 2_f64.ln()).abs() < 1e-12);
}

#[test]
fn pareto_by_mean_and_by_minimum() {
    let d = Distribution::pareto(1.0, 1.2).unwrap();
    // The minimum is 1 * 0.2 / 1.2.
    let minimum = 1.0 / 6.0;
    assert!(ks_distance(&d, |x| 1.0 - (minimum / x).powf(1.2)) < KS_BOUND);
    let by_minimum = Distribution::pareto_from(minimum, 1.2).unwrap();
    assert!((by_minimum.mean() - 1.0).abs() < 1e-12);
    assert_eq!(Distribution::pareto_from(1.0, 0.9).unwrap().mean(), f64::INFINITY);
    // A tail thin enough for the sample mean to settle: variance a m^2 / ((a-1)^2 (a-2)) = 0.75 at
    // shape 3, minimum 1.
    assert_mean(&Distribution::pareto_from(1.0, 3.0).unwrap(), 0.75_f64.sqrt());
}

#[test]
fn bounded_pareto_is_the_unbounded_one_given_its_bound() {
    let d = Distribution::pareto_from(1.0, 1.1).unwrap().bounded(100.0).unwrap();
    let beyond = 100_f64.powf(-1.1);
    assert!(ks_distance(&d, |x| (1.0 - x.powf(-1.1)) / (1.0 - beyond)) < KS_BOUND);
    assert!(draws(&d).iter().all(|x| (1.0..=100.0).contains(x)));
    // E[X^2] = a (100^(2-a) - 1) / (2-a) / (1 - 100^-a) = 76.4, so the deviation is below 8.8.
    assert_mean(&d, 8.8);
    // Shape 1: m ln(b/m) / (1 - m/b) = ln 100 / 0.99.
    let one = Distribution::pareto_from(1.0, 1.0).unwrap().bounded(100.0).unwrap();
    assert!((one.mean() - 100_f64.ln() / 0.99).abs() < 1e-12);
}

#[test]
fn telnet_gaps_have_the_measured_shares_and_mean() {
    let draws = draws(&Distribution::telnet());
    let share =
        |test: fn(&f64) -> bool| draws.iter().filter(|gap| test(gap)).count() as f64 / DRAWS as f64;
    assert!((share(|gap| *gap < 0.008) - 0.02).abs() < KS_BOUND);
    assert!((share(|gap| *gap > 1.0) - 0.15).abs() < KS_BOUND);
    // A tail of shape 0.95: 2^-0.95 of the gaps above 5 s exceed 10 s, but for the bound at 408 s,
    // which takes (5/408)^0.95 = 0.015 from both. 2700 gaps above 5 s: five deviations are 0.05.
    let ratio = share(|gap| *gap > 10.0) / share(|gap| *gap > 5.0);
    let expected = (0.5_f64.powf(0.95) - 0.0153) / (1.0 - 0.0153);
    assert!((ratio - expected).abs() < 0.05, "{ratio}");
    // E[gap^2] is at most 0.03 * 21.8 * 408 + 0.97 * 4.46^2: a deviation below 17.
    assert_mean(&Distribution::telnet(), 17.0);
}

#[test]
fn listed_values_come_as_their_weights_say() {
    let d = Distribution::weighted(&[(10.0, 1.0), (20.0, 0.0), (40.0, 3.0), (50.0, 0.0)]).unwrap();
    let draws = draws(&d);
    let count = |value: f64| draws.iter().filter(|x| **x == value).count();
    assert_eq!((count(20.0), count(50.0)), (0, 0));
    // Five deviations of sqrt(100,000 / 4 * 3 / 4) = 137.
    assert!(count(10.0).abs_diff(25_000) < 5 * 137, "{}", count(10.0));
    assert_eq!(d.mean(), 32.5);
    assert_eq!(Distribution::listed(&[1.0, 2.0, 6.0]).unwrap().mean(), 3.0);
}

#[test]
fn a_draw_takes_one_number_whatever_the_distribution() {
    let [mut a, mut b] = [(); 2].map(|()| Pcg32::new(1, 1));
    Distribution::fixed(3.0).unwrap().sample(&mut a);
    Distribution::telnet().sample(&mut b);
    assert_eq!(a, b);
}

/// They are the same to the last bit: `libm` computes the same everywhere, and these cases are
/// exact.
#[test]
fn quantiles_are_the_same_everywhere() {
    let exponential = Distribution::exponential(1.0).unwrap();
    assert_eq!(exponential.quantile(0.5).to_bits(), std::f64::consts::LN_2.to_bits());
    let pareto = Distribution::pareto_from(1.0, 2.0).unwrap();
    assert_eq!(pareto.quantile(0.75), 2.0);
    assert_eq!(open_unit(0), 2_f64.powi(-53));
    assert_eq!(open_unit(u64::MAX), 1.0 - 2_f64.powi(-53));
}

#[test]
fn counts_are_whole_and_at_least_one() {
    let mut stream = Pcg32::new(1, 1);
    assert_eq!(Distribution::fixed(0.2).unwrap().sample_count(&mut stream), 1);
    assert_eq!(Distribution::fixed(2.5).unwrap().sample_count(&mut stream), 3);
    let half = Distribution::fixed(0.5).unwrap();
    assert_eq!(half.sample_duration(&mut stream), Duration::from_millis(500));
}

#[test]
fn impossible_distributions_are_refused_by_parameter() {
    let refused = |result: Result<Distribution, DistributionError>, word: &str| {
        let message = result.unwrap_err().to_string();
        assert!(message.contains(word), "{message}");
    };
    refused(Distribution::fixed(-1.0), "value -1 must be 0 or more");
    refused(Distribution::uniform(2.0, 1.0), "high 1 must be at least low, 2");
    refused(Distribution::exponential(0.0), "mean 0 must be above 0");
    refused(Distribution::exponential(f64::NAN), "mean NaN");
    refused(Distribution::pareto(1.0, 1.0), "shape 1 must be above 1");
    refused(Distribution::pareto_from(0.0, 1.0), "minimum");
    refused(Distribution::pareto_from(2.0, 1.0).unwrap().bounded(2.0), "bound 2");
    refused(Distribution::listed(&[]), "sum of weights");
    refused(Distribution::weighted(&[(1.0, f64::INFINITY)]), "weight");
}

proptest! {
    /// Inversion: more of the unit interval never means less of the distribution.
    #[test]
    fn quantiles_rise(u in 1e-9..1.0_f64, v in 1e-9..1.0_f64, shape in 0.3..4.0_f64) {
        let (u, v) = (u.min(v), u.max(v));
        let pareto = Distribution::pareto_from(1.5, shape).unwrap();
        let all = [
            pareto.clone(),
            pareto.bounded(40.0).unwrap(),
            Distribution::exponential(shape).unwrap(),
            Distribution::telnet(),
            Distribution::weighted(&[(1.0, shape), (2.0, 1.0), (3.0, 0.5)]).unwrap(),
        ];
        for distribution in all {
            prop_assert!(distribution.quantile(u) <= distribution.quantile(v), "{:?}", distribution);
            prop_assert!(distribution.quantile(u) >= 0.0);
        }
    }
}

/// A share of (1000 / 2^50)^0.01 = 76 % of a Pareto of shape 0.01 from 1000 exceeds 2^50 = 1.13e15.
#[test]
fn counts_are_bounded() {
    let pareto = Distribution::pareto_from(1000.0, 0.01).unwrap();
    let mut stream = Pcg32::new(0x5eed, 7);
    let counts: Vec<u64> = (0..100).map(|_| pareto.sample_count(&mut stream)).collect();
    let largest = counts.iter().filter(|count| **count == Distribution::MAX).count();
    assert!((50..100).contains(&largest), "{largest}");
    assert!(counts.iter().all(|count| *count <= Distribution::MAX));
}
