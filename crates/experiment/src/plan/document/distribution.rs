//! Distributions of sizes and times.

use super::quantity::{Amount, Written};
use schemars::JsonSchema;
use serde::Deserialize;
use workload::{Distribution, DistributionError};

/// Distribution of drawn numbers.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "kind", rename = "{T}_distribution")]
pub(crate) enum SpreadSpec<T> {
    /// Evenly between two values.
    Uniform(Uniform<T>),
    /// Exponential.
    Exponential(Exponential<T>),
    /// Weibull: below shape 1 many small values and few large ones.
    Weibull(Weibull<T>),
    /// Pareto: many small values, few huge ones.
    Pareto(Pareto<T>),
    /// One of several values.
    Listed(Listed<T>),
    /// The gaps of telnet sessions, after publications on tcplib's; mean 1.1 s.
    Telnet(TelnetGaps),
}

/// Evenly from `low` to `high`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Uniform<T> {
    /// Smallest; 0 unless given.
    pub(crate) low: Option<T>,
    /// Largest.
    pub(crate) high: T,
}

/// Exponential.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exponential<T> {
    /// Mean.
    pub(crate) mean: T,
}

/// Weibull.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Weibull<T> {
    /// 63 % of values are below it.
    pub(crate) scale: T,
    /// Shape: 1 is exponential.
    pub(crate) shape: f64,
}

/// Pareto; either `mean` or `minimum`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pareto<T> {
    /// Mean without the bound; needs a shape above 1.
    pub(crate) mean: Option<T>,
    /// Smallest value.
    pub(crate) minimum: Option<T>,
    /// Shape: the smaller, the heavier the tail.
    pub(crate) shape: f64,
    /// Largest value; without bound unless given.
    pub(crate) bound: Option<T>,
}

/// One of the values, all equally likely, or likely as their weights say.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Listed<T> {
    /// The values.
    pub(crate) values: Vec<T>,
    /// Weights, as many as values.
    pub(crate) weights: Option<Vec<f64>>,
}

/// No parameters.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TelnetGaps {}

impl<T: Amount> SpreadSpec<Written<T>> {
    /// The distribution, in seconds or bytes.
    pub(crate) fn distribution(&self) -> Result<Distribution, String> {
        let made = match self {
            Self::Uniform(plan) => {
                let low = plan.low.map_or(0.0, |low| low.0.number());
                Distribution::uniform(low, plan.high.0.number())
            }
            Self::Exponential(plan) => Distribution::exponential(plan.mean.0.number()),
            Self::Weibull(plan) => Distribution::weibull(plan.scale.0.number(), plan.shape),
            Self::Pareto(plan) => return plan.distribution(),
            Self::Listed(plan) => return plan.distribution(),
            Self::Telnet(_) => Ok(Distribution::telnet()),
        };
        made.map_err(message)
    }
}

fn message(error: DistributionError) -> String {
    error.to_string()
}

impl<T: Amount> Pareto<Written<T>> {
    fn distribution(&self) -> Result<Distribution, String> {
        let pareto = match (self.mean, self.minimum) {
            (Some(mean), None) => Distribution::pareto(mean.0.number(), self.shape),
            (None, Some(minimum)) => Distribution::pareto_from(minimum.0.number(), self.shape),
            _ => return Err("a pareto distribution has either a mean or a minimum".to_owned()),
        };
        let pareto = pareto.map_err(message)?;
        match self.bound {
            None => Ok(pareto),
            Some(bound) => pareto.bounded(bound.0.number()).map_err(message),
        }
    }
}

impl<T: Amount> Listed<Written<T>> {
    fn distribution(&self) -> Result<Distribution, String> {
        let values = self.values.iter().map(|value| value.0.number());
        let Some(weights) = &self.weights else {
            return Distribution::listed(&values.collect::<Vec<_>>()).map_err(message);
        };
        if weights.len() != self.values.len() {
            let (values, weights) = (self.values.len(), weights.len());
            return Err(format!("{values} values but {weights} weights: give each value one"));
        }
        let weighted: Vec<_> = values.zip(weights.iter().copied()).collect();
        Distribution::weighted(&weighted).map_err(message)
    }
}
