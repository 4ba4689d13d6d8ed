//! The smallest script of a difference.

use crate::case::FuzzCase;
use crate::kernel::KernelBench;
use crate::recording::record;
use crate::verdict::{Difference, FuzzVerdict, play_and_compare};
use units::Duration;

/// Scripts that are played to shrink one.
const MAX_PLAYS: usize = 120;
/// The time that a script keeps behind its last step.
const TAIL: Duration = Duration::from_millis(30);

/// A case with its script and its difference.
#[derive(Clone, Debug)]
pub(crate) struct DifferingCase {
    pub(crate) case: FuzzCase,
    pub(crate) text: String,
    pub(crate) difference: Difference,
}

/// Leaves out steps that the difference does not need. It keeps its signature.
pub(crate) fn drop_needless_steps(bench: &mut KernelBench, found: DifferingCase) -> DifferingCase {
    let mut smallest = found;
    let mut plays = 0;
    let mut chunk = smallest.case.steps.len().div_ceil(2);
    while chunk > 0 {
        let mut from = 0;
        while from < smallest.case.steps.len() && plays < MAX_PLAYS {
            let mut case = smallest.case.clone();
            let to = (from + chunk).min(case.steps.len());
            case.steps.drain(from..to);
            plays += 1;
            match still_differs(bench, case, &smallest.difference) {
                Some(smaller) => smallest = smaller,
                None => from += chunk,
            }
        }
        chunk /= 2;
    }
    if let Some(last) = smallest.case.steps.last() {
        let case = FuzzCase { end: last.at + TAIL, ..smallest.case.clone() };
        if let Some(shorter) = still_differs(bench, case, &smallest.difference) {
            smallest = shorter;
        }
    }
    smallest
}

/// The case with its difference, if it has one of the same signature.
fn still_differs(
    bench: &mut KernelBench,
    case: FuzzCase,
    like: &Difference,
) -> Option<DifferingCase> {
    let text = record(&case).ok()?;
    let script = script::parse("smaller.pkt", text.clone()).ok()?;
    match play_and_compare(bench, &script) {
        FuzzVerdict::Differs(difference) if difference.signature() == like.signature() => {
            Some(DifferingCase { case, text, difference })
        }
        _ => None,
    }
}
