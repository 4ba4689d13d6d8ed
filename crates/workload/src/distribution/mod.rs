//! Distributions that sizes, gaps and start times are drawn from.
//!
//! A [`Distribution`] is checked when it is made and says nothing of units: seconds, bytes or
//! packets are its user's. A draw inverts the distribution function at one number from the caller's
//! random stream, whatever the distribution: two runs that differ in a distribution alone differ in
//! nothing else. Transcendental functions come from `libm`, so that draws are the same everywhere.

mod error;
mod telnet;
#[cfg(test)]
mod tests;

pub use error::DistributionError;

use rand_core::Rng;
use std::sync::Arc;
use units::Duration;

/// A distribution of non-negative numbers; cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution(Kind);

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Fixed(f64),
    Uniform { low: f64, high: f64 },
    Exponential { mean: f64 },
    Weibull { scale: f64, shape: f64 },
    Pareto(Pareto),
    Listed(Arc<WeightedValues>),
    Telnet,
}

/// `P(X > x) = (minimum / x)^shape` from `minimum` on, given that `X` is at most `bound`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pareto {
    shape: f64,
    minimum: f64,
    /// Infinite unless bounded.
    bound: f64,
}

/// Values and the sums of their weights so far.
#[derive(Debug, PartialEq)]
struct WeightedValues {
    values: Vec<f64>,
    cumulative: Vec<f64>,
}

impl Distribution {
    /// Always `value`.
    ///
    /// # Errors
    /// If `value` is negative or not finite.
    pub fn fixed(value: f64) -> Result<Self, DistributionError> {
        error::require_non_negative("value", value)?;
        Ok(Self(Kind::Fixed(value)))
    }

    /// Uniform between `low` and `high`.
    ///
    /// # Errors
    /// Unless `0 <= low <= high`, both finite.
    pub fn uniform(low: f64, high: f64) -> Result<Self, DistributionError> {
        error::require_non_negative("low", low)?;
        error::require_non_negative("high", high)?;
        error::require(high >= low, "high", high, format!("at least low, {low}"))?;
        Ok(Self(Kind::Uniform { low, high }))
    }

    /// Exponential.
    ///
    /// # Errors
    /// Unless `mean` is positive and finite.
    pub fn exponential(mean: f64) -> Result<Self, DistributionError> {
        error::require_positive("mean", mean)?;
        Ok(Self(Kind::Exponential { mean }))
    }

    /// Weibull with `P(X > x) = exp(-(x / scale)^shape)`.
    ///
    /// # Errors
    /// Unless both are positive and finite.
    pub fn weibull(scale: f64, shape: f64) -> Result<Self, DistributionError> {
        error::require_positive("scale", scale)?;
        error::require_positive("shape", shape)?;
        Ok(Self(Kind::Weibull { scale, shape }))
    }

    /// Pareto with `P(X > x) = (minimum / x)^shape` from `minimum` on.
    ///
    /// # Errors
    /// Unless both are positive and finite.
    pub fn pareto_from(minimum: f64, shape: f64) -> Result<Self, DistributionError> {
        error::require_positive("minimum", minimum)?;
        error::require_positive("shape", shape)?;
        Ok(Self(Kind::Pareto(Pareto { shape, minimum, bound: f64::INFINITY })))
    }

    /// Pareto with `mean`: the minimum is `mean * (shape - 1) / shape`.
    ///
    /// # Errors
    /// Unless `mean` is positive, `shape` above 1 (there is no mean otherwise), both finite.
    pub fn pareto(mean: f64, shape: f64) -> Result<Self, DistributionError> {
        error::require_positive("mean", mean)?;
        error::require_positive("shape", shape)?;
        error::require(shape > 1.0, "shape", shape, "above 1 for a mean to exist")?;
        Self::pareto_from(mean * (shape - 1.0) / shape, shape)
    }

    /// A Pareto distribution given that its value is at most `bound`; its mean falls accordingly.
    /// Other distributions stay unchanged.
    ///
    /// # Errors
    /// Unless `bound` is above the minimum and finite.
    pub fn bounded(self, bound: f64) -> Result<Self, DistributionError> {
        let Kind::Pareto(pareto) = self.0 else {
            return Ok(self);
        };
        error::require_positive("bound", bound)?;
        let Pareto { minimum, .. } = pareto;
        error::require(bound > minimum, "bound", bound, format!("above the minimum, {minimum}"))?;
        Ok(Self(Kind::Pareto(Pareto { bound, ..pareto })))
    }

    /// One of `values`, all equally likely.
    ///
    /// # Errors
    /// Without values, or with a negative or infinite one.
    pub fn listed(values: &[f64]) -> Result<Self, DistributionError> {
        let weighted: Vec<_> = values.iter().map(|value| (*value, 1.0)).collect();
        Self::weighted(&weighted)
    }

    /// One of the values, likely as its weight says: `(value, weight)`.
    ///
    /// # Errors
    /// Without values; with a negative or infinite value or weight; if all weights are zero.
    pub fn weighted(values: &[(f64, f64)]) -> Result<Self, DistributionError> {
        let mut sum = 0.0;
        let mut listed = WeightedValues { values: Vec::new(), cumulative: Vec::new() };
        for &(value, weight) in values {
            error::require_non_negative("value", value)?;
            error::require_non_negative("weight", weight)?;
            sum += weight;
            listed.values.push(value);
            listed.cumulative.push(sum);
        }
        error::require_positive("sum of weights", sum)?;
        Ok(Self(Kind::Listed(Arc::new(listed))))
    }

    /// Gaps between the packets of a telnet session, in seconds, mean 1.1.
    ///
    /// The source is Paxson & Floyd 1995 (IEEE/ACM ToN 3(3), §IV). It reports the measurements
    /// behind tcplib (Danzig & Jamin 1991). There 2 % of the gaps are below 8 ms and 15 % above 1
    /// s; the upper 3 % have a Pareto tail of shape 0.95. A log-logistic body meets the first two,
    /// which leaves it no parameter free; the tail is bounded so that the mean is tcplib's 1.1 s.
    pub const fn telnet() -> Self {
        Self(Kind::Telnet)
    }

    /// The mean; infinite for an unbounded Pareto of shape 1 or less.
    pub fn mean(&self) -> f64 {
        match &self.0 {
            Kind::Fixed(value) => *value,
            Kind::Uniform { low, high } => (low + high) / 2.0,
            Kind::Exponential { mean } => *mean,
            Kind::Weibull { scale, shape } => scale * libm::tgamma(1.0 + 1.0 / shape),
            Kind::Pareto(pareto) => pareto.mean(),
            Kind::Listed(listed) => listed.mean(),
            Kind::Telnet => telnet::MEAN,
        }
    }

    /// Draws a number, taking exactly one from `stream`.
    pub fn sample(&self, stream: &mut impl Rng) -> f64 {
        self.quantile(open_unit(stream.next_u64()))
    }

    /// Draws a number of seconds.
    pub fn sample_duration(&self, stream: &mut impl Rng) -> Duration {
        Duration::from_secs_f64(self.sample(stream))
    }

    /// The largest whole number that is drawn, 2^50: as many bytes are a petabyte. Distributions
    /// without bound yield any number, even above the range of a TCP stream.
    pub const MAX: u64 = 1 << 50;

    /// Draws a whole number of things: the nearest, at least 1 and at most [`Distribution::MAX`].
    pub fn sample_count(&self, stream: &mut impl Rng) -> u64 {
        (self.sample(stream).round() as u64).clamp(1, Self::MAX)
    }

    /// The number that a share `u` of draws does not exceed, `0 < u < 1`.
    pub fn quantile(&self, u: f64) -> f64 {
        match &self.0 {
            Kind::Fixed(value) => *value,
            Kind::Uniform { low, high } => low + u * (high - low),
            Kind::Exponential { mean } => -mean * libm::log1p(-u),
            Kind::Weibull { scale, shape } => scale * libm::pow(-libm::log1p(-u), 1.0 / shape),
            Kind::Pareto(pareto) => pareto.quantile(u),
            Kind::Listed(listed) => listed.quantile(u),
            Kind::Telnet => telnet::quantile(u),
        }
    }
}

/// A number between 0 and 1, neither included: the middle of one of 2^52 equal steps. Every step is
/// exact.
fn open_unit(bits: u64) -> f64 {
    const STEP: f64 = 1.0 / (1u64 << 52) as f64;
    ((bits >> 12) as f64 + 0.5) * STEP
}

impl Pareto {
    fn quantile(&self, u: f64) -> f64 {
        let Self { shape, minimum, bound } = *self;
        // Share of the unbounded distribution above the bound.
        let beyond = libm::pow(minimum / bound, shape);
        let survival = 1.0 - u * (1.0 - beyond);
        (minimum * libm::pow(survival, -1.0 / shape)).min(bound)
    }

    fn mean(&self) -> f64 {
        let Self { shape, minimum, bound } = *self;
        if bound.is_infinite() {
            return if shape > 1.0 { minimum * shape / (shape - 1.0) } else { f64::INFINITY };
        }
        let ratio = minimum / bound;
        let unnormalised = if shape == 1.0 {
            minimum * libm::log(bound / minimum)
        } else {
            shape / (shape - 1.0) * (minimum - bound * libm::pow(ratio, shape))
        };
        unnormalised / (1.0 - libm::pow(ratio, shape))
    }
}

impl WeightedValues {
    fn total_weight(&self) -> f64 {
        self.cumulative.last().copied().unwrap_or_default()
    }

    fn quantile(&self, u: f64) -> f64 {
        let mark = u * self.total_weight();
        let index = self.cumulative.partition_point(|sum| *sum <= mark);
        // Rounding may put the mark at the very end: then it is the last that has any weight.
        let last = self.cumulative.partition_point(|sum| *sum < self.total_weight());
        self.values[index.min(last)]
    }

    fn mean(&self) -> f64 {
        let mut before = 0.0;
        let mut sum = 0.0;
        for (value, cumulative) in self.values.iter().zip(&self.cumulative) {
            sum += value * (cumulative - before);
            before = *cumulative;
        }
        sum / self.total_weight()
    }
}
