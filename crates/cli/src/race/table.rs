//! A race's results as the table that everybody reads.

use crate::pages;
use race::estimate::Estimate;
use race::{Metric, RaceResult, SchemeResult};
use report::{Cell, Quantity, RaceRow, Table};

pub(super) fn of(result: &RaceResult) -> Table {
    let rows: Vec<RaceRow> = result.schemes.iter().map(row).collect();
    let mut table = Table::race(&rows);
    if result.visits.count > 1 {
        let help = "The first visit, or all repeated ones on average";
        table.columns.insert(1, pages::column(("visit", Quantity::Text, help)));
        for (row, scheme) in table.rows.iter_mut().zip(&result.schemes) {
            row.cells.insert(1, Cell::Text(scheme.visit.name().to_owned()));
        }
    }
    table
}

fn row(scheme: &SchemeResult) -> RaceRow {
    let mean = |metric| scheme.mean(metric).map(shown);
    RaceRow {
        scheme: scheme.name.clone(),
        is_limit: scheme.is_limit(),
        html_s: mean(Metric::HtmlSeconds),
        page_s: mean(Metric::PageSeconds),
        ratio_to_limit: mean(Metric::RatioToLimit),
        gain_over_linux: mean(Metric::GainOverLinux),
        retransmissions: mean(Metric::RetransmittedSegments),
        timeouts: mean(Metric::Timeouts),
        drops: mean(Metric::DroppedPackets),
        harm: mean(Metric::BackgroundHarm),
    }
}

const fn shown(estimate: Estimate) -> report::Estimate {
    report::Estimate { mean: estimate.mean, standard_error: estimate.standard_error }
}
