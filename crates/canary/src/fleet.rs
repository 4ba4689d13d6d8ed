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
//! find only what each of them finds alone. The sum of all hosts counts, too, so a host with wrong
//! sums can hide a finding from the others, and can make none.

use crate::budget::ErrorShare;
use crate::comparisons::CanaryFinding;
use crate::interval::ConfidenceInterval;
use crate::part::{CanaryPart, SIZES};
use crate::sequence::{ConfidenceSequence, LogRatio, MIN_GROUP_CONNECTIONS};
use crate::trial::TrialSums;

/// Result of a comparison by several hosts.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetFinding {
    /// Hosts that have connections to compare in both groups.
    pub hosts: u32,
    /// The result, whichever host is left out; without lossy connections, whose stages do not add
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
    let rest = match compared.as_slice() {
        [_] => vec![total],
        several => sums_without_each(several),
    };
    // Fewer are not nearly normal, so a large host must not make up for them.
    let are_enough = rest.iter().all(|rest| {
        rest.means.chosen.closed.min(rest.means.control.closed) >= MIN_GROUP_CONNECTIONS
    });
    let share = share_of(part);
    let widest = |sequence: ConfidenceSequence, ratio: fn(&TrialSums) -> Option<LogRatio>| {
        if rest.is_empty() || !are_enough {
            return None;
        }
        let mut all = finite_interval(sequence, ratio(&total)?)?;
        for rest in &rest {
            let ConfidenceInterval { low, high, .. } = finite_interval(sequence, ratio(rest)?)?;
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
            lossy: None,
        },
    }
}

/// Returns for each host the sums of all others. No sums are subtracted: beside those of a host
/// with absurdly large sums, rounding would leave nothing of the others.
fn sums_without_each(hosts: &[&TrialSums]) -> Vec<TrialSums> {
    let with = |mut sums: TrialSums, host: &TrialSums| {
        sums.join(host);
        sums
    };
    let mut after = vec![TrialSums::default()];
    for host in hosts.iter().skip(1).rev() {
        after.push(with(after[after.len() - 1], host));
    }
    let mut before = TrialSums::default();
    let each = hosts.iter().zip(after.iter().rev()).map(|(host, after)| {
        let rest = with(before, after);
        before.join(host);
        rest
    });
    each.collect()
}

/// Returns the interval of a ratio; `None` if an end of it is no number, so it has no information.
fn finite_interval(sequence: ConfidenceSequence, ratio: LogRatio) -> Option<ConfidenceInterval> {
    let has_error = ratio.error_squared > 0.0;
    let interval = has_error.then(|| sequence.ratio(ratio))?;
    let ConfidenceInterval { estimate, low, high } = interval;
    [estimate, low, high].iter().all(|end| end.is_finite()).then_some(interval)
}

/// Returns the share of the error of a part: shares of [`crate::part::fleet_parts`] add up to two
/// thirds.
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
                trial.add(
                    group,
                    &CanaryOutcome { time_s, retransmissions: n % 2 },
                    MIN_GROUP_CONNECTIONS,
                );
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

    /// A hundred connections of each group remain whichever host is left out: two of three hosts
    /// have 98 or 100. A host of 1,000 does not replace those that one of 99 lacks.
    #[test]
    fn fewer_than_a_hundred_of_a_group_say_nothing() {
        assert_eq!(times(&[host(49, 1.0, 1.5); 3]), None);
        assert!(times(&[host(50, 1.0, 1.5); 3]).is_some());
        assert_eq!(times(&[host(1000, 1.0, 1.5), host(99, 1.0, 1.5)]), None);
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

    /// Each of three hosts has a power of two, so that sums are exact: 1 + 2, 1 + 4 and 2 + 4. The
    /// largest step is that of the hosts that remain.
    #[test]
    fn a_host_that_is_left_out_leaves_the_sums_of_the_others() {
        let hosts = [1_u8, 2, 4].map(|n| {
            let mut sums = TrialSums { chosen: n.into(), ..TrialSums::default() };
            let of = f64::from(n);
            (sums.times.weight, sums.times.sum, sums.times.error_squared) = (of, -of, of);
            (sums.times.step_up, sums.times.step_down) = (of, -of);
            sums.means.chosen.closed = n.into();
            sums
        });
        let rest = sums_without_each(&hosts.each_ref());
        let shown = rest.iter().map(|sums| {
            assert_eq!(sums.chosen, sums.means.chosen.closed);
            (sums.chosen, sums.times.weight, sums.times.error_squared, sums.times.step_up)
        });
        let expected = [(6, 6.0, 6.0, 4.0), (5, 5.0, 5.0, 4.0), (3, 3.0, 3.0, 2.0)];
        assert_eq!(shown.collect::<Vec<_>>(), expected);
    }

    /// The first host claims no effect, with as many connections as a message may name. Subtraction
    /// from a sum of 2^40 and more would lose the other host, with its harm of 1.5.
    #[test]
    fn a_host_with_huge_sums_hides_a_harm_and_makes_none() {
        let claim = |log: f64| {
            let mut huge = host(400, 1.0, 1.0);
            let weight = (1_u64 << 39) as f64;
            huge.times.weight = weight;
            huge.times.sum = log * weight;
            huge.times.error_squared = weight;
            huge
        };
        let (honest, alone) = (host(400, 1.0, 1.5), times(&[host(400, 1.0, 1.5)]).unwrap());
        let hidden = times(&[claim(0.0), honest]).unwrap();
        assert!(hidden.low < 1.0, "{hidden:?}");
        assert!((hidden.high - alone.high).abs() < 1e-9, "{hidden:?}");
        let well = host(400, 1.0, 1.0);
        let made = times(&[claim(2.0), well, well]).unwrap();
        assert!(made.low < 1.0, "{made:?}");
    }

    /// The weight of each host squared is 1e308, and the error is 1.2 of it. Their sums exceed
    /// the largest number, 1.8e308, so the ratio of both is none, although each has one.
    #[test]
    fn sums_that_overflow_give_no_interval() {
        let mut large = host(400, 1.0, 1.0);
        (large.times.weight, large.times.sum) = (1e154, 0.0);
        (large.times.error_squared, large.times.step_up) = (1.2e308, 0.0);
        large.times.step_down = 0.0;
        assert!(times(&[large]).is_some());
        assert_eq!(times(&[large, large]), None);
        // A standard error of 1,000 is more than the logarithm of the largest number, 710.
        let mut vague = host(400, 1.0, 1.0);
        (vague.times.weight, vague.times.sum, vague.times.error_squared) = (1.0, 0.0, 1e6);
        assert_eq!(times(&[vague]), None);
        // Nothing without an error is an interval.
        vague.times.error_squared = 0.0;
        assert_eq!(times(&[vague]), None);
    }

    /// Sums of earlier stages and of a stage that goes on are those of both stages.
    #[test]
    fn stages_with_few_connections_count() {
        let mut trial = Trial::default();
        for stage in 0..8 {
            for n in 0..10 {
                let group = CanaryGroup { stage, is_chosen: n < 5 };
                let time_s = if n % 2 == 0 { 1.0 } else { 2.0 };
                trial.add(
                    group,
                    &CanaryOutcome { time_s, retransmissions: 0 },
                    MIN_GROUP_CONNECTIONS,
                );
            }
        }
        let sums = trial.sums();
        // 5 · 5 / 10 of each stage. Five chosen have three times of 1 s and two of 2 s, the five of
        // the control group two of 1 s and three of 2 s: 2^-0.2.
        assert!((sums.times.weight - 8.0 * 2.5).abs() < 1e-9);
        assert!((sums.times.sum / sums.times.weight + 0.2 * 2.0_f64.ln()).abs() < 1e-9);
        assert_eq!((sums.chosen, sums.control, sums.control_times), (40, 40, 40));
        assert!((sums.control_logs - 24.0 * 2.0_f64.ln()).abs() < 1e-9);
        trial.end_all(MIN_GROUP_CONNECTIONS);
        assert_eq!(trial.sums(), sums);
    }
}
