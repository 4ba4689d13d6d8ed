//! Findings of a busy site's log about sharing by network (§5.2.1, §5.2.3).

use super::super::book::Book;
use super::super::curve::{CurvePoint, Plot, PlotAxis};
use super::super::finding::{ClaimInterval, FigureLine, Findings};
use super::super::sample::{Measured, Samples};
use super::super::site::{LogFound, NamedNetworks, THINK};
use super::super::unit::{PERCENT, PLAIN, SECONDS};
use findings::CumulativeDistribution;

/// Returns the findings on claim SP-9.
pub(super) fn sp_9(book: &Book) -> Findings {
    let mut findings = Findings::default();
    let base = |log: &LogFound| log.think.is_none_or(|think| think == THINK);
    let helped = |log: &LogFound| 100.0 * log.found.helped_share();
    let networks = |log: &LogFound| log.found.networks_within.quantile(0.5).unwrap_or(f64::NAN);
    let (about, range) =
        (ClaimInterval::between(85.0, 95.0), ClaimInterval::between(15_000.0, 25_000.0));
    let line = FigureLine::new("requests within 5 minutes of one from the same /24", PERCENT);
    findings.line(line.ours(samples(book, base, helped).mean()).must(about));
    let line = FigureLine::new("networks seen in 5 minutes, median", PLAIN);
    findings.line(line.ours(samples(book, base, networks).mean()).must(range));
    let same_host = |log: &LogFound| {
        100.0 * log.found.soon_after_host as f64 / log.found.soon_after_network as f64
    };
    let line =
        FigureLine::new("of these requests, those that follow one of the same host", PERCENT);
    findings.line(line.ours(samples(book, base, same_host).mean()));
    for log in other_times(book) {
        let of = |other: &LogFound| other.think == Some(log);
        let label = format!("requests within 5 minutes, {log} s between pages");
        let line = FigureLine::new(label, PERCENT);
        findings.line(line.ours(samples(book, of, helped).mean()).also(about));
        let label = format!("networks in 5 minutes, {log} s between pages");
        let line = FigureLine::new(label, PLAIN);
        findings.line(line.ours(samples(book, of, networks).mean()).also(range));
    }
    let line = FigureLine::new("/24s with several domains (a simulated log has no names)", PERCENT);
    let names = book.logs().iter().find_map(|log| log.names).filter(|names| names.named > 0);
    let several = |names: NamedNetworks| 100.0 * names.several_domains as f64 / names.named as f64;
    let line = line.paper(6.3);
    findings.line(match names {
        Some(names) => line.ours(Measured::exact(several(names))),
        None => line,
    });
    if let Some(log) = book.logs().iter().find(|log| base(log)) {
        findings.plot(plot(
            "Figure 6: time since the last request of the same network",
            PlotAxis::new("time", SECONDS),
            &log.found.since_network,
        ));
        findings.plot(plot(
            "Figure 7: networks seen in 5 minutes",
            PlotAxis::new("networks", PLAIN),
            &log.found.networks_within,
        ));
    }
    findings
}

fn samples(
    book: &Book,
    of: impl Fn(&LogFound) -> bool,
    figure: impl Fn(&LogFound) -> f64,
) -> Samples {
    Samples::new(book.logs().iter().filter(|log| of(log)).map(figure).collect())
}

/// Returns other times between pages.
fn other_times(book: &Book) -> Vec<f64> {
    let mut thinks: Vec<f64> = book.logs().iter().filter_map(|log| log.think).collect();
    thinks.retain(|think| *think != THINK);
    thinks.sort_by(f64::total_cmp);
    thinks.dedup();
    thinks
}

/// Plots a cumulative distribution.
fn plot(title: &str, x: PlotAxis, distribution: &CumulativeDistribution) -> Plot {
    let point = |step: &findings::CumulativeStep| CurvePoint {
        x: step.value,
        y: Measured::exact(step.share),
    };
    Plot::new(title, x, PlotAxis::new("share of requests", PLAIN))
        .ours("log", distribution.steps.iter().map(point).collect())
}
