//! SPAND's gains over a baseline, as claims put them: in most cases, in every case, on average; and
//! the gains if the gateway knew better.

use crate::papers::cases::{Case, MAJORITY_SHARE, mean_of, share_line};
use crate::papers::finding::{ClaimInterval, FigureLine, Findings, furthest_out};
use crate::papers::sample::Measured;
use crate::papers::unit::PERCENT;

pub(super) const SPAND: &str = "spand";
/// The figure that all claims are about: the mean time of all transfers.
pub(super) const TIME: &str = "completion";

/// SPAND with a configured share instead of the gateway's.
const INFORMED_SCHEMES: [&str; 4] =
    ["spand+spand_share=6", "spand+spand_share=12", "spand+spand_share=18", "spand+spand_share=31"];

/// Returns the percentage by which SPAND is below a baseline.
pub(super) fn gain(case: &Case<'_>, baseline: &str) -> Measured {
    case.gain([SPAND, baseline], TIME)
}

/// Adds whether the gain over a baseline lies in an interval in most cases.
pub(super) fn add_mostly_gains(
    findings: &mut Findings,
    cases: &[Case<'_>],
    baseline: &str,
    within: ClaimInterval,
) {
    findings.line(share_of_cases("", cases, baseline, within).must(MAJORITY_SHARE));
    extremes(findings, cases, baseline);
}

/// Returns the percentage of the cases in which the gain over a baseline lies in an interval.
pub(super) fn share_of_cases(
    with: &str,
    cases: &[Case<'_>],
    baseline: &str,
    within: ClaimInterval,
) -> FigureLine {
    let gains: Vec<Measured> = cases.iter().map(|case| gain(case, baseline)).collect();
    let bounds = match within.most.is_finite() {
        true => format!("of {} to {} %", within.least, within.most),
        false => format!("of at least {} %", within.least),
    };
    let label = format!("{with}cases with a gain {bounds} over {baseline}");
    share_line(FigureLine::new(label, PERCENT), within, &gains)
}

/// Shows the least and the largest gain over a baseline.
pub(super) fn extremes(findings: &mut Findings, cases: &[Case<'_>], baseline: &str) {
    let mut gains: Vec<(String, Measured)> =
        cases.iter().map(|case| (case.label(), gain(case, baseline))).collect();
    gains.sort_by(|(_, a), (_, b)| a.mean.total_cmp(&b.mean));
    for (which, (at, gain)) in ["least", "largest"].into_iter().zip(first_and_last(gains)) {
        findings.line(
            FigureLine::new(format!("{which} gain over {baseline} ({at})"), PERCENT).ours(gain),
        );
    }
}

/// Returns the first and the last.
fn first_and_last<T>(mut values: Vec<T>) -> impl Iterator<Item = T> {
    let last = values.pop();
    values.into_iter().take(1).chain(last)
}

/// Adds that the gain over a baseline lies in an interval in every case: the case that decides.
pub(super) fn always(
    findings: &mut Findings,
    cases: &[Case<'_>],
    baseline: &str,
    within: ClaimInterval,
) {
    let gains = cases.iter().map(|case| (case.label(), gain(case, baseline)));
    add_deciding(findings, "", baseline, furthest_out(within, gains), |line| line.must(within));
    extremes(findings, cases, baseline);
}

/// Adds, without effect on the result, the gains under another open choice.
pub(super) fn always_with(
    findings: &mut Findings,
    with: &str,
    cases: &[Case<'_>],
    baseline: &str,
    within: ClaimInterval,
) {
    let gains = cases.iter().map(|case| (case.label(), gain(case, baseline)));
    add_deciding(findings, with, baseline, furthest_out(within, gains), |line| line.also(within));
}

/// Adds, without effect on the result, the gains with a gateway that knows better: each case with
/// the best of a few shares.
pub(super) fn always_informed(
    findings: &mut Findings,
    cases: &[Case<'_>],
    baseline: &str,
    within: ClaimInterval,
) {
    let gains =
        cases.iter().filter_map(|case| Some((case.label(), informed_gain(case, baseline)?)));
    let with = "the share known (the best of 6, 12, 18, 31): ";
    add_deciding(findings, with, baseline, furthest_out(within, gains), |line| line.also(within));
}

/// Returns the gain with that of the shares with which SPAND is fastest; none if they were not run.
fn informed_gain(case: &Case<'_>, baseline: &str) -> Option<Measured> {
    let time = |scheme: &&&str| case.samples(scheme, TIME).mean().mean;
    let run = INFORMED_SCHEMES.iter().filter(|scheme| time(scheme).is_finite());
    let fastest = run.min_by(|a, b| time(a).total_cmp(&time(b)))?;
    Some(case.gain([fastest, baseline], TIME))
}

/// Adds the gain that lies furthest outside of its interval, or nearest to a bound.
fn add_deciding(
    findings: &mut Findings,
    with: &str,
    baseline: &str,
    found: Option<(String, Measured)>,
    bear: impl Fn(FigureLine) -> FigureLine,
) {
    if let Some((at, gain)) = found {
        let label = format!(
            "{with}gain over {baseline}, the case nearest to its bounds or out of them ({at})"
        );
        findings.line(bear(FigureLine::new(label, PERCENT).ours(gain)));
    }
}

/// Returns the mean gain over a baseline of several cases.
pub(super) fn mean_gain<'c>(
    cases: impl IntoIterator<Item = &'c Case<'c>>,
    baseline: &str,
) -> Measured {
    let gains: Vec<Measured> = cases.into_iter().map(|case| gain(case, baseline)).collect();
    mean_of(&gains)
}

/// Returns the percentage points by which the mean gain over one baseline is above that over
/// another: in pairs, for schemes of a case share their random numbers.
pub(super) fn mean_gain_more<'c>(
    cases: impl IntoIterator<Item = &'c Case<'c>>,
    [one, other]: [&str; 2],
) -> Measured {
    let more = |case: &Case<'_>| {
        let spand = case.samples(SPAND, TIME);
        let gains = |baseline| spand.gains_over(&case.samples(baseline, TIME));
        gains(one).minus(&gains(other)).mean()
    };
    let each: Vec<Measured> = cases.into_iter().map(more).collect();
    mean_of(&each)
}
