//! One comparison by all servers of a site. A server alone has too few connections of the control
//! group for months; a hundred servers have enough in an hour.
//!
//! Servers differ in visitors, speed and settings, so connections of different hosts are never put
//! together. Each host compares within its stages and sends sums ([`TrialSums`]), in which a stage
//! weighs by the numbers of connections in both groups, as in [`crate::trial`]. The sum over hosts
//! is again one of independent steps, so the confidence sequence holds for it at every look.
//!
//! One host must not decide for all: it may have a fault of its own, or lie. So each host is left
//! out once, and an interval reaches as far as the widest of these results. Two hosts therefore
//! find only what each of them finds alone.

use crate::budget::ErrorShare;
use crate::comparisons::CanaryFinding;
use crate::interval::ConfidenceInterval;
use crate::part::{CanaryPart, SIZES};
use crate::sequence::{ConfidenceSequence, FEWEST, LogRatio};
use crate::trial::TrialSums;

/// Result of a comparison by several hosts.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetFinding {
    /// Hosts that have connections to compare in both groups.
    pub hosts: u32,
    /// The result, whichever host is left out; without losing connections, whose stages do not add
    /// up over hosts.
    pub finding: CanaryFinding,
}

impl FleetFinding {
    /// Returns the conclusion in a word. Harm comes first, since it needs attention.
    pub fn verdict(&self) -> &'static str {
        match &self.finding {
            finding if finding.is_slower() => "slower",
            finding if finding.is_lossier(1.0) => "lossier",
            finding if finding.is_gain() => "faster",
            _ => "open",
        }
    }
}

/// Compares a part by the sums of each host.
pub fn fleet_finding(part: CanaryPart, hosts: &[TrialSums]) -> FleetFinding {
    let mut total = TrialSums::default();
    hosts.iter().for_each(|host| total.join(host));
    let compared: Vec<_> = hosts.iter().filter(|host| host.are_comparable()).collect();
    let fewest = total.means.chosen.closed.min(total.means.control.closed);
    let rest: Vec<TrialSums> = match compared.as_slice() {
        _ if fewest < FEWEST => Vec::new(),
        [_] => vec![total],
        several => several.iter().map(|host| total.without(host)).collect(),
    };
    let share = share_of(part);
    let widest = |sequence: ConfidenceSequence, ratio: fn(&TrialSums) -> Option<LogRatio>| {
        let mut all = sequence.ratio(ratio(&total)?);
        if rest.is_empty() {
            return None;
        }
        for rest in &rest {
            let ConfidenceInterval { low, high, .. } = sequence.ratio(with_error(ratio(rest)?)?);
            all = ConfidenceInterval { low: all.low.min(low), high: all.high.max(high), ..all };
        }
        Some(all)
    };
    FleetFinding {
        hosts: u32::try_from(compared.len()).unwrap_or(u32::MAX),
        finding: CanaryFinding {
            part,
            chosen: total.chosen,
            control: total.control,
            times: widest(share.times(), |sums| sums.times.ratio()),
            retransmissions: widest(share.retransmissions(), |sums| sums.means.ratio()),
            losing: None,
        },
    }
}

/// A ratio that has an error. Rounding may leave none where one host had nearly all connections.
fn with_error(ratio: LogRatio) -> Option<LogRatio> {
    (ratio.error_squared > 0.0 && ratio.log.is_finite()).then_some(ratio)
}

/// The share of the error of a part: shares of [`crate::part::fleet_parts`] add up to two thirds.
fn share_of(part: CanaryPart) -> ErrorShare {
    match part {
        CanaryPart::All => ErrorShare::ALL,
        _ => ErrorShare::of_class(SIZES.len() + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::{CanaryGroup, CanaryOutcome, Trial};

    /// Sums of a host with `count` connections in each group of one stage. Times lie around
    /// `time_s` by a tenth. The chosen connections take `ratio` times as long.
    fn host(count: u32, time_s: f64, ratio: f64) -> TrialSums {
        let mut trial = Trial::default();
        for (is_chosen, mean) in [(true, time_s * ratio), (false, time_s)] {
            for n in 0..count {
                let time_s = mean * if n % 2 == 0 { 1.1 } else { 1.0 / 1.1 };
                let group = CanaryGroup { stage: 0, is_chosen };
                trial.add(group, &CanaryOutcome { time_s, again: n % 2 }, FEWEST);
            }
        }
        trial.sums()
    }

    fn times(hosts: &[TrialSums]) -> Option<ConfidenceInterval> {
        fleet_finding(CanaryPart::All, hosts).finding.times
    }

    #[test]
    fn hosts_add_up_and_their_speeds_do_not_mix() {
        // Four hosts of 50 and 50 connections, from 0.1 s to 100 s: each takes one and a half.
        let hosts = [0.1, 1.0, 10.0, 100.0].map(|time_s| host(50, time_s, 1.5));
        let found = fleet_finding(CanaryPart::All, &hosts);
        let ratio = found.finding.times.unwrap();
        assert!((ratio.estimate - 1.5).abs() < 1e-9, "{ratio:?}");
        assert!(ratio.low > 1.0 && ratio.high < 2.0, "{ratio:?}");
        assert_eq!((found.hosts, found.finding.chosen, found.finding.control), (4, 200, 200));
        assert!(found.finding.harm(2.0).unwrap().contains("took 1.50 times as much"));
        assert_eq!(found.verdict(), "slower");
        // Half of each group retransmit once.
        let again = found.finding.retransmissions.unwrap();
        assert!((again.estimate - 1.0).abs() < 1e-9 && again.low < 1.0, "{again:?}");
    }

    #[test]
    fn fewer_than_a_hundred_of_a_group_say_nothing() {
        assert_eq!(times(&[host(33, 1.0, 1.5); 3]), None);
        assert!(times(&[host(34, 1.0, 1.5); 3]).is_some());
        assert!(times(&[host(100, 1.0, 1.5)]).is_some());
        assert_eq!(times(&[]), None);
        // The other 99 connections have none of the control group beside them.
        let lonely = TrialSums { chosen: 99, ..TrialSums::default() };
        let found = fleet_finding(CanaryPart::All, &[host(100, 1.0, 1.5), lonely]);
        assert_eq!((found.hosts, found.finding.chosen), (1, 199));
        assert!(found.finding.times.is_some());
    }

    /// Nine hosts see nothing, and one a harm of 4. The mean of logarithms would say 4^0.1 = 1.15,
    /// and nine intervals of ten agree; the one without that host does not.
    #[test]
    fn one_host_does_not_decide_for_all() {
        let mut hosts = vec![host(400, 1.0, 1.0); 9];
        hosts.push(host(400, 1.0, 4.0));
        let ratio = times(&hosts).unwrap();
        assert!((ratio.estimate - 4.0_f64.powf(0.1)).abs() < 1e-9, "{ratio:?}");
        assert!(ratio.low < 1.0, "{ratio:?}");
        // If a second host sees the same, it is a finding.
        hosts.push(host(400, 1.0, 4.0));
        assert!(times(&hosts).unwrap().low > 1.0);
    }

    /// The interval of two hosts is the one that each of them has without the other.
    #[test]
    fn two_hosts_find_what_each_of_them_finds_alone() {
        let close = |a: Option<ConfidenceInterval>, b: Option<ConfidenceInterval>| {
            let (a, b) = (a.unwrap(), b.unwrap());
            [a.estimate - b.estimate, a.low - b.low, a.high - b.high].iter().all(|d| d.abs() < 1e-9)
        };
        let one = host(400, 1.0, 1.5);
        let alone = fleet_finding(CanaryPart::All, &[one]).finding;
        let both = fleet_finding(CanaryPart::All, &[one, one]).finding;
        assert!(close(both.times, alone.times), "{both:?} {alone:?}");
        assert!(close(both.retransmissions, alone.retransmissions), "{both:?} {alone:?}");
        // Three know more than any two of them, which know more than one.
        let three = fleet_finding(CanaryPart::All, &[one; 3]).finding;
        assert!(three.times.unwrap().low > alone.times.unwrap().low);
    }

    #[test]
    fn leaving_a_host_out_undoes_adding_it() {
        // Steps of a small host are larger than those of a large one.
        let (few, many) = (host(100, 1.0, 1.5), host(400, 2.0, 1.2));
        for (one, other) in [(few, many), (many, few)] {
            let mut both = one;
            both.join(&other);
            let most = |of: fn(&TrialSums) -> f64| f64::max(of(&one), of(&other));
            assert_eq!(both.times.step_up.to_bits(), most(|of| of.times.step_up).to_bits());
            assert_eq!(both.times.step_down.to_bits(), most(|of| of.times.step_down).to_bits());
            let rest = both.without(&other).means;
            let counts = |of: &TrialSums| {
                let groups = [of.means.chosen, of.means.control];
                groups.map(|group| (group.closed, group.retransmissions))
            };
            assert_eq!(counts(&both.without(&other)), counts(&one));
            assert!((rest.weight - one.means.weight).abs() < 1e-9);
            assert!((rest.chosen.sum - one.means.chosen.sum).abs() < 1e-9);
        }
    }

    /// Sums of earlier stages and of a stage that goes on are those of both stages.
    #[test]
    fn stages_with_few_connections_count() {
        let mut trial = Trial::default();
        for stage in 0..8 {
            for n in 0..10 {
                let group = CanaryGroup { stage, is_chosen: n < 5 };
                let time_s = if n % 2 == 0 { 1.0 } else { 2.0 };
                trial.add(group, &CanaryOutcome { time_s, again: 0 }, FEWEST);
            }
        }
        let sums = trial.sums();
        // 5 · 5 / 10 of each stage. Five chosen have three times of 1 s and two of 2 s, the five of
        // the control group two of 1 s and three of 2 s: 2^-0.2.
        assert!((sums.times.weight - 8.0 * 2.5).abs() < 1e-9);
        assert!((sums.times.sum / sums.times.weight + 0.2 * 2.0_f64.ln()).abs() < 1e-9);
        assert_eq!((sums.chosen, sums.control, sums.control_times), (40, 40, 40));
        assert!((sums.control_logs - 24.0 * 2.0_f64.ln()).abs() < 1e-9);
        trial.end_all(FEWEST);
        assert_eq!(trial.sums(), sums);
    }
}
