//! Sums and findings of a comparison as messages. Sums from another host are used only if some
//! connections can have them.

use crate::v1::{
    self, ComparedPart, MeanSums, PartFinding, PartKind, PartSums, RatioInterval,
    RetransmissionSums, TimeSums,
};
use canary::comparisons::CanaryFinding;
use canary::fleet::FleetFinding;
use canary::interval::ConfidenceInterval;
use canary::part::{CanaryPart, SIZES};
use canary::retransmissions::{MAX_COUNTED, PooledMean, PooledMeans};
use canary::trial::{PooledRatio, TrialSums};

/// Version of the method by which sums are made.
pub const METHOD: u32 = 1;
/// Largest plausible number of connections of a host: a million a second for twelve days.
const MAX_CONNECTIONS: u64 = 1 << 40;
/// Largest absolute logarithm of a ratio of two times: an hour by a microsecond is e^22.
const MAX_LOG: f64 = 25.0;
/// Smallest squared error of a ratio of times ([`canary::log_times::LogTimes::ratio_to`]).
const MIN_ERROR_SQUARED: f64 = f64::EPSILON;
/// Smallest weight of a stage: `nm / (n + m)` with two connections in each group.
const MIN_WEIGHT: f64 = 1.0;
/// Factor for rounding in sums of floats.
const ROUNDING: f64 = 1.0 + 1e-6;

impl ComparedPart {
    fn of(part: CanaryPart) -> Option<Self> {
        let (kind, class) = match part {
            CanaryPart::All => (PartKind::All, 0),
            CanaryPart::Carried(class) => (PartKind::Carried, class),
            CanaryPart::Bytes(class) => (PartKind::Bytes, class),
            _ => return None,
        };
        Some(Self { kind: kind.into(), class: class.into() })
    }

    fn to_part(self) -> Option<CanaryPart> {
        let class =
            u8::try_from(self.class).ok().filter(|class| usize::from(*class) <= SIZES.len());
        match self.kind() {
            PartKind::Unspecified => None,
            PartKind::All => Some(CanaryPart::All),
            PartKind::Carried => class.map(CanaryPart::Carried),
            PartKind::Bytes => class.map(CanaryPart::Bytes),
        }
    }
}

impl v1::HostComparison {
    /// Returns a host's sums as a message. Parts that a fleet does not compare are left out.
    pub fn of(sums: &[(CanaryPart, TrialSums)]) -> Self {
        let parts = sums.iter().filter_map(|(part, sums)| PartSums::of(*part, sums));
        Self { method: METHOD, parts: parts.collect() }
    }

    /// Returns the sums by part. Parts that only a later version knows are left out; the caller
    /// checks the method.
    ///
    /// # Errors
    /// If a part is there twice, or no connections can have these sums: the reason, for the sender.
    pub fn to_sums(&self) -> Result<Vec<(CanaryPart, TrialSums)>, &'static str> {
        let mut all: Vec<(CanaryPart, TrialSums)> = Vec::new();
        // A later version may compare other parts, which this version passes over.
        for (part, sums) in self.parts.iter().filter_map(|of| Some((of.part?.to_part()?, of))) {
            if all.iter().any(|(other, _)| *other == part) {
                return Err("sums of one part twice");
            }
            let sums = sums.to_sums().ok_or("sums that no connections have")?;
            all.push((part, sums));
        }
        Ok(all)
    }
}

impl PartSums {
    fn of(part: CanaryPart, sums: &TrialSums) -> Option<Self> {
        let TrialSums { chosen, control, control_times, control_logs, times, means } = *sums;
        let mean = |of: PooledMean| MeanSums {
            closed: of.closed,
            retransmissions: of.retransmissions,
            sum: of.sum,
            error_squared: of.error_squared,
        };
        Some(Self {
            part: Some(ComparedPart::of(part)?),
            chosen,
            control,
            control_times,
            control_logs,
            times: Some(TimeSums {
                weight: times.weight,
                sum: times.sum,
                error_squared: times.error_squared,
                step_up: times.step_up,
                step_down: times.step_down,
            }),
            retransmissions: Some(RetransmissionSums {
                weight: means.weight,
                chosen: Some(mean(means.chosen)),
                control: Some(mean(means.control)),
            }),
        })
    }

    /// `None` if no connections can have these sums.
    fn to_sums(self) -> Option<TrialSums> {
        let is_possible = self.chosen.max(self.control) <= MAX_CONNECTIONS
            && self.control_times <= self.control
            && is_absolute_within(self.control_logs, self.control_times as f64 * MAX_LOG);
        is_possible.then_some(())?;
        let times = self.times.unwrap_or_default().to_ratio(self.chosen.min(self.control_times))?;
        let means = self.retransmissions.unwrap_or_default().to_means(&self)?;
        // A stage with times has as many closed connections at least.
        (times.weight <= means.weight * ROUNDING).then_some(())?;
        Some(TrialSums {
            chosen: self.chosen,
            control: self.control,
            control_times: self.control_times,
            control_logs: self.control_logs,
            times,
            means,
        })
    }
}

impl TimeSums {
    /// `None` if no connections can have these sums. `smaller_group`: connections of the smaller
    /// group.
    ///
    /// In a stage of n and m connections, a squared deviation is at most `MAX_LOG²`. So the pooled
    /// error, by the weight `w = nm / (n + m)`, gives `w² e² <= w MAX_LOG² (n + m) / (n + m - 2)`,
    /// and Welch's `w² MAX_LOG² (1 / (n - 1) + 1 / (m - 1))`. With two connections or more in each
    /// group, either is at most `2 w MAX_LOG²`. All stages have `w >= 1`.
    fn to_ratio(self, smaller_group: u64) -> Option<PooledRatio> {
        let Self { weight, sum, error_squared, step_up, step_down } = self;
        // Steps are those of a stage, weighted: less than a deviation.
        let max_step = if weight > 0.0 { MAX_LOG } else { 0.0 };
        let is_possible = is_weight(weight, smaller_group)
            && is_absolute_within(sum, weight * MAX_LOG)
            && error_squared * ROUNDING >= weight * MIN_ERROR_SQUARED
            && is_from_zero_to(error_squared, weight * 2.0 * MAX_LOG * MAX_LOG)
            && is_from_zero_to(step_up, max_step)
            && is_from_zero_to(step_down, max_step);
        is_possible.then_some(PooledRatio { weight, sum, error_squared, step_up, step_down })
    }
}

impl RetransmissionSums {
    fn to_means(self, of: &PartSums) -> Option<PooledMeans> {
        let weight = self.weight;
        let chosen = self.chosen.unwrap_or_default().to_mean(weight, of.chosen)?;
        let control = self.control.unwrap_or_default().to_mean(weight, of.control)?;
        let is_possible = is_weight(weight, chosen.closed.min(control.closed));
        is_possible.then_some(PooledMeans { weight, chosen, control })
    }
}

impl MeanSums {
    /// `None` if no connections can have these sums. `weight`: the sum of the stages' weights;
    /// `group`: all connections of the group.
    ///
    /// In a stage of n connections beside m of the other group, each retransmission adds
    /// `w / n = m / (n + m)` to the sum: less than 1, and at least `2 / (n + 2)`. The squares of
    /// numbers up to `MAX_COUNTED` add up to at most `MAX_COUNTED` times their sum. So the squared
    /// error `w² / n · variance` is at most `2 MAX_COUNTED` times the sum.
    fn to_mean(self, weight: f64, group: u64) -> Option<PooledMean> {
        let Self { closed, retransmissions, sum, error_squared } = self;
        let max_count = f64::from(MAX_COUNTED);
        let is_possible = closed <= group
            && (closed > 0) == (weight > 0.0)
            && retransmissions <= closed * u64::from(MAX_COUNTED)
            && is_from_zero_to(sum, (weight * max_count).min(retransmissions as f64))
            && sum * ROUNDING >= retransmissions as f64 * 2.0 / (closed as f64 + 2.0)
            && is_from_zero_to(error_squared, sum * 2.0 * max_count);
        is_possible.then_some(PooledMean { closed, retransmissions, sum, error_squared })
    }
}

impl v1::FleetComparison {
    /// Returns findings as a message.
    pub fn of(findings: &[FleetFinding]) -> Self {
        Self { parts: findings.iter().filter_map(PartFinding::of).collect() }
    }

    /// Returns the findings, without parts that only a later version knows. A finding with an
    /// impossible interval has none.
    pub fn to_findings(&self) -> Vec<FleetFinding> {
        self.parts.iter().copied().filter_map(PartFinding::to_finding).collect()
    }
}

impl PartFinding {
    fn of(of: &FleetFinding) -> Option<Self> {
        let interval = |of: ConfidenceInterval| RatioInterval {
            estimate: of.estimate,
            low: of.low,
            high: of.high,
        };
        Some(Self {
            part: Some(ComparedPart::of(of.finding.part)?),
            hosts: of.hosts,
            chosen: of.finding.chosen,
            control: of.finding.control,
            times: of.finding.times.map(interval),
            retransmissions: of.finding.retransmissions.map(interval),
        })
    }

    /// `None` if only a later version knows the part. Numbers of lossy connections are not
    /// transmitted.
    fn to_finding(self) -> Option<FleetFinding> {
        let finding = CanaryFinding {
            part: self.part?.to_part()?,
            chosen: self.chosen,
            control: self.control,
            times: self.times.and_then(RatioInterval::to_interval),
            retransmissions: self.retransmissions.and_then(RatioInterval::to_interval),
            lossy: None,
        };
        Some(FleetFinding { hosts: self.hosts, finding })
    }
}

impl RatioInterval {
    /// `None` unless 0 <= low <= estimate <= high, all finite.
    fn to_interval(self) -> Option<ConfidenceInterval> {
        let Self { estimate, low, high } = self;
        let is_interval = 0.0 <= low && low <= estimate && estimate <= high && high.is_finite();
        is_interval.then_some(ConfidenceInterval { estimate, low, high })
    }
}

/// From 0 to `most`, with room for rounding; false for NaN.
fn is_from_zero_to(value: f64, most: f64) -> bool {
    value >= 0.0 && value <= most * ROUNDING
}

/// Returns whether stages can have this sum of weights: `nm / (n + m)` of each is less than n and
/// less than m, and at least [`MIN_WEIGHT`]; without stages the sum is 0.
/// `smaller_group`: connections of the smaller group.
fn is_weight(weight: f64, smaller_group: u64) -> bool {
    is_from_zero_to(weight, smaller_group as f64)
        && (weight == 0.0 || weight * ROUNDING >= MIN_WEIGHT)
}

/// From -`most` to `most`, with room for rounding; false for NaN.
fn is_absolute_within(value: f64, most: f64) -> bool {
    is_from_zero_to(value.abs(), most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use canary::fleet::fleet_finding;
    use canary::trial::{CanaryGroup, CanaryOutcome, Trial};
    use proptest::prelude::*;
    use prost::Message;

    /// 60 connections in each group; those of the control group take around a second.
    fn sums() -> TrialSums {
        let mut trial = Trial::default();
        for n in 0..120 {
            let time_s = if n % 4 < 2 { 0.9 } else { 1.2 };
            let group = CanaryGroup { stage: n / 40, is_chosen: n % 2 == 0 };
            trial.add(group, &CanaryOutcome { time_s, retransmissions: n % 3 }, 100);
        }
        trial.sums()
    }

    #[test]
    fn sums_and_findings_come_back_as_they_were_sent() {
        let sent = [(CanaryPart::All, sums()), (CanaryPart::Carried(4), sums())];
        let bytes = v1::HostComparison::of(&sent).encode_to_vec();
        // Eleven parts of a host fit into two kilobytes.
        assert!(bytes.len() < 2 * 2048 / 11, "{}", bytes.len());
        let read = v1::HostComparison::decode(&bytes[..]).unwrap();
        assert_eq!((read.method, read.to_sums().unwrap()), (1, sent.to_vec()));
        let findings = [fleet_finding(CanaryPart::Bytes(0), &[sums(); 3])];
        assert!(findings[0].finding.times.is_some());
        assert_eq!(v1::FleetComparison::of(&findings).to_findings(), findings);
        // Networks are of one host.
        let network = CanaryPart::Network("192.0.2.0/24".parse().unwrap());
        assert!(v1::HostComparison::of(&[(network, sums())]).parts.is_empty());
    }

    /// Each of three stages has 20 connections in each group, so its weight is 10. The chosen
    /// group has 60 retransmissions, with a sum of 60 / 2 = 30. So these bounds hold:
    /// - error of times: 30 · 2 · 25² = 37,500 at most, and 30 · 2.2e-16 at least
    /// - sum of means: 60 · 2 / 62 = 1.94 at least, and 60 at most
    /// - error of means: 30 · 2 · 32 = 1,920 at most
    #[test]
    fn sums_that_no_connections_have_are_refused() {
        let good = PartSums::of(CanaryPart::All, &sums()).unwrap();
        assert!(good.to_sums().is_some());
        let times = good.times.unwrap();
        let means = good.retransmissions.unwrap();
        let chosen = means.chosen.unwrap();
        let of_times = |times| PartSums { times: Some(times), ..good };
        let of_chosen = |chosen| PartSums {
            retransmissions: Some(RetransmissionSums { chosen: Some(chosen), ..means }),
            ..good
        };
        assert_eq!((times.weight, chosen.closed, chosen.retransmissions), (30.0, 60, 60));
        assert!((chosen.sum - 30.0).abs() < 1e-9);
        // Two connections in each group with one retransmission each: a weight and a mean of 1.
        let few = MeanSums { closed: 2, retransmissions: 2, sum: 1.0, error_squared: 0.0 };
        let few_with_weight = |weight| PartSums {
            times: None,
            retransmissions: Some(RetransmissionSums {
                weight,
                chosen: Some(few),
                control: Some(few),
            }),
            ..good
        };
        for bad in [
            PartSums { chosen: 1 << 41, ..good },
            // The weights are of 120 connections.
            PartSums { chosen: 20, ..good },
            PartSums { control_times: good.control + 1, ..good },
            PartSums { control_logs: f64::NAN, ..good },
            of_times(TimeSums { weight: f64::INFINITY, ..times }),
            of_times(TimeSums { weight: 0.9, sum: 0.0, ..times }),
            of_times(TimeSums { sum: times.weight * -26.0, ..times }),
            of_times(TimeSums { error_squared: 0.0, ..times }),
            of_times(TimeSums { error_squared: 1e-16, ..times }),
            of_times(TimeSums { error_squared: -1.0, ..times }),
            of_times(TimeSums { error_squared: 37_501.0, ..times }),
            of_times(TimeSums { step_up: -0.1, ..times }),
            of_times(TimeSums { step_up: 25.1, ..times }),
            of_times(TimeSums { step_up: 1.0, ..TimeSums::default() }),
            of_times(TimeSums { step_down: f64::NAN, ..times }),
            of_chosen(MeanSums { closed: 0, ..chosen }),
            of_chosen(MeanSums { closed: good.chosen + 1, ..chosen }),
            of_chosen(MeanSums { retransmissions: chosen.closed * 33, ..chosen }),
            of_chosen(MeanSums { closed: 20, ..chosen }),
            of_chosen(MeanSums { sum: -1.0, ..chosen }),
            of_chosen(MeanSums { sum: 0.0, error_squared: 0.0, ..chosen }),
            of_chosen(MeanSums { sum: 1.9, ..chosen }),
            of_chosen(MeanSums { sum: 60.1, ..chosen }),
            of_chosen(MeanSums { retransmissions: 0, ..chosen }),
            of_chosen(MeanSums { error_squared: f64::NAN, ..chosen }),
            of_chosen(MeanSums { error_squared: 1920.1, ..chosen }),
            few_with_weight(0.0),
            few_with_weight(0.9),
            // Times with a weight of 30, and closed connections with a weight of 1.
            PartSums { times: Some(times), ..few_with_weight(1.0) },
        ] {
            assert_eq!(bad.to_sums(), None, "{bad:?}");
        }
        // The largest and smallest sums that are possible.
        for extreme in [
            of_times(TimeSums { error_squared: 37_499.0, ..times }),
            of_times(TimeSums { step_up: 25.0, ..times }),
            of_times(TimeSums::default()),
            of_chosen(MeanSums { sum: 2.0, error_squared: 0.0, ..chosen }),
            of_chosen(MeanSums { sum: 60.0, ..chosen }),
            of_chosen(MeanSums { error_squared: 1919.9, ..chosen }),
            few_with_weight(1.0),
        ] {
            assert!(extreme.to_sums().is_some(), "{extreme:?}");
        }
        let twice = v1::HostComparison { method: 1, parts: vec![good, good] };
        assert!(twice.to_sums().is_err());
        // A part of a later version is passed over.
        let later = ComparedPart { kind: 9, class: 0 };
        let later = v1::HostComparison {
            method: 1,
            parts: vec![PartSums { part: Some(later), chosen: 1 << 50, ..good }],
        };
        assert_eq!(later.to_sums(), Ok(vec![]));
    }

    proptest! {
        /// Times reach from a microsecond to an hour. Some connections retransmit more than counts.
        #[test]
        fn sums_of_any_connections_are_accepted(
            connections in prop::collection::vec(
                (0_u32..6, any::<bool>(), -6.0..3.5_f64, 0_u32..40), 0..200,
            ),
        ) {
            let mut trial = Trial::default();
            let mut sorted = connections;
            sorted.sort_by_key(|(stage, ..)| *stage);
            for (stage, is_chosen, log_10, again) in sorted {
                // Few connections with the longest time scatter most.
                let time_s = if again == 0 { 3600.0 } else { 10_f64.powf(log_10) };
                let of = CanaryGroup { stage, is_chosen };
                trial.add(of, &CanaryOutcome { time_s, retransmissions: again }, 100);
            }
            let sent = PartSums::of(CanaryPart::All, &trial.sums()).unwrap();
            prop_assert_eq!(sent.to_sums(), Some(trial.sums()));
        }
    }

    #[test]
    fn an_interval_that_is_none_is_left_out() {
        let finding = |low, high| {
            let times = Some(RatioInterval { estimate: 1.5, low, high });
            let part = Some(ComparedPart { kind: PartKind::All.into(), class: 0 });
            let of = v1::FleetComparison {
                parts: vec![PartFinding { part, times, ..PartFinding::default() }],
            };
            of.to_findings()[0].finding.times
        };
        assert!(finding(1.2, 1.8).is_some());
        for (low, high) in
            [(1.6, 1.8), (1.2, 1.4), (f64::NAN, 1.8), (1.2, f64::INFINITY), (-1.0, 2.0)]
        {
            assert_eq!(finding(low, high), None);
        }
    }
}
