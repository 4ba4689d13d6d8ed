//! The weight of a sample by its age: it is halved by each half-life, and zero above the greatest
//! age.

use super::SiteConfig;
use super::kept::{MAX_AGE_TICKS, TICK_SECONDS};

/// Weights by age in steps of [`super::kept::Tick`]. A question reads hundreds of them, and each is
/// a power.
pub(super) struct Ageing(Vec<f64>);

impl Ageing {
    pub(super) fn new(config: &SiteConfig) -> Self {
        let half_life = config.half_life.as_secs_f64();
        let ages =
            (0..=MAX_AGE_TICKS).map(seconds).take_while(|age| *age <= config.max_age.as_secs_f64());
        Self(ages.map(|age| (-age / half_life).exp2()).collect())
    }

    /// Returns the weight of a sample of this age, 0 to 1; `None` if it is too old to count.
    pub(super) fn weight(&self, age: u32) -> Option<f64> {
        self.0.get(age as usize).copied()
    }
}

/// Converts an age to seconds.
pub(super) fn seconds(age: u32) -> f64 {
    f64::from(age) * TICK_SECONDS
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;

    /// A step is 1.0737 s. A half-life of two steps, and four steps that count: 1, 0.71, 0.5, 0.35,
    /// 0.25.
    #[test]
    fn half_is_left_after_a_half_life_and_nothing_at_last() {
        let half_life = Duration::from_nanos(2 << 30);
        let config = SiteConfig { half_life, max_age: half_life * 2, ..SiteConfig::default() };
        let ageing = Ageing::new(&config);
        let weights: Vec<_> = (0..6).map(|age| ageing.weight(age)).collect();
        let near = |weight: Option<f64>, expected: f64| (weight.unwrap() - expected).abs() < 1e-9;
        assert!(near(weights[0], 1.0) && near(weights[2], 0.5) && near(weights[4], 0.25));
        assert_eq!(weights[5], None);
    }
}
