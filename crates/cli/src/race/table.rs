//! A race's results as the tables that everybody reads.

use race::{
    LIMIT, LIMIT_WITHOUT_HANDSHAKE, MilestoneResult, RaceMetric, RaceResult, SchemeResult, Spread,
    World,
};
use report::{Median, MilestoneCells, RaceRow, Table};

/// The schemes beside each other.
pub(super) fn of(result: &RaceResult) -> Table {
    Table::race(&result_rows(result), result.until.name())
}

/// The milestones of each; none for a page of one object, whose milestones are one.
pub(super) fn milestones(result: &RaceResult, objects: usize) -> Option<Table> {
    (objects > 1).then(|| Table::milestones(&result_rows(result)))
}

/// The line of each row of a result.
pub(super) fn result_rows(result: &RaceResult) -> Vec<RaceRow> {
    let has_worlds = result.worlds() != [World::Sim];
    let runs = result.runs.len();
    let rows = result.schemes.iter().map(|scheme| RaceRow {
        visit: (result.visits.count > 1).then(|| scheme.visit.name().to_owned()),
        world: scheme.world.filter(|_| has_worlds).map(|world| world.name().to_owned()),
        page_extremes_s: extremes(scheme).filter(|_| result.repeats > 1 || runs > 1),
        scheme: name(scheme, result.limit_mark),
        ..result_row(scheme, runs)
    });
    rows.collect()
}

fn result_row(scheme: &SchemeResult, runs: usize) -> RaceRow {
    let shown = |spread: Spread| median_or_extremes(spread, runs);
    let milestone = |result: &MilestoneResult| MilestoneCells {
        name: result.milestone.name().to_owned(),
        time_s: result.time_s.map(shown),
        gain: result.gain_over_linux.map(shown),
    };
    let median = |metric| scheme.spread(metric).map(shown);
    RaceRow {
        is_limit: scheme.is_limit(),
        page_s: median(RaceMetric::PageSeconds),
        ratio_to_limit: median(RaceMetric::RatioToLimit),
        gain: median(RaceMetric::GainOverLinux),
        share_of_perfect: scheme.share_of_perfect,
        bound_by: scheme.bounds.map(|bounds| {
            let (bound, share) = bounds.largest();
            (bound.name().to_owned(), share)
        }),
        retransmissions: median(RaceMetric::RetransmittedSegments),
        timeouts: median(RaceMetric::Timeouts),
        drops: median(RaceMetric::DroppedPackets),
        harm: median(RaceMetric::BackgroundHarm),
        milestones: scheme.milestones.iter().map(milestone).collect(),
        ..RaceRow::default()
    }
}

/// Few runs have no interval, and are too different to hide that: their extremes are shown.
pub(super) fn median_or_extremes(spread: Spread, runs: usize) -> Median {
    let extremes = (runs > 1).then_some((spread.min, spread.max));
    Median { value: spread.median, interval: spread.interval.or(extremes) }
}

/// Extremes of a measured scheme; a limit is certain.
fn extremes(scheme: &SchemeResult) -> Option<(f64, f64)> {
    let spread = scheme.spread(RaceMetric::PageSeconds).filter(|_| !scheme.is_limit())?;
    Some((spread.min, spread.max))
}

fn name(scheme: &SchemeResult, limit_mark: Option<&str>) -> String {
    match (scheme.left_out.is_some(), limit_mark) {
        (true, _) => format!("{} (left out)", scheme.name),
        (false, Some(mark)) if scheme.name == LIMIT => mark.to_owned(),
        (false, Some(mark)) if scheme.name == LIMIT_WITHOUT_HANDSHAKE => {
            format!("{mark}, no handshake")
        }
        (false, _) => scheme.name.clone(),
    }
}
