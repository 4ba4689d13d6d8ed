//! A race's results as the table that everybody reads.

use race::{RaceMetric, RaceResult, SchemeResult, World};
use report::{Median, RaceRow, Table};

pub(super) fn of(result: &RaceResult) -> Table {
    let has_worlds = result.worlds() != [World::Sim];
    let rows = result.schemes.iter().map(|scheme| RaceRow {
        visit: (result.visits.count > 1).then(|| scheme.visit.name().to_owned()),
        world: scheme.world.filter(|_| has_worlds).map(|world| world.name().to_owned()),
        page_extremes_s: extremes(scheme).filter(|_| result.repeats > 1),
        ..row(scheme)
    });
    Table::race(&rows.collect::<Vec<RaceRow>>())
}

fn row(scheme: &SchemeResult) -> RaceRow {
    let median = |metric| {
        let spread = scheme.spread(metric)?;
        Some(Median { value: spread.median, interval: spread.interval })
    };
    RaceRow {
        scheme: name(scheme),
        is_limit: scheme.is_limit(),
        html_s: median(RaceMetric::HtmlSeconds),
        page_s: median(RaceMetric::PageSeconds),
        ratio_to_limit: median(RaceMetric::RatioToLimit),
        gain_over_linux: median(RaceMetric::GainOverLinux),
        bound_by: scheme.bounds.map(|bounds| {
            let (bound, share) = bounds.largest();
            (bound.name().to_owned(), share)
        }),
        retransmissions: median(RaceMetric::RetransmittedSegments),
        timeouts: median(RaceMetric::Timeouts),
        drops: median(RaceMetric::DroppedPackets),
        harm: median(RaceMetric::BackgroundHarm),
        ..RaceRow::default()
    }
}

/// Of what is measured; a limit is certain.
fn extremes(scheme: &SchemeResult) -> Option<(f64, f64)> {
    let spread = scheme.spread(RaceMetric::PageSeconds).filter(|_| !scheme.is_limit())?;
    Some((spread.min, spread.max))
}

fn name(scheme: &SchemeResult) -> String {
    match scheme.left_out {
        Some(_) => format!("{} (left out)", scheme.name),
        None => scheme.name.clone(),
    }
}
