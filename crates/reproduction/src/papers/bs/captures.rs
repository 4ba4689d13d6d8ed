//! Claims that rest on captures: the accuracy of inferring a sender from ACKs alone (§2.3), and the
//! paper's analysis (§3).

use super::super::book::Book;
use super::super::curve::{CurvePoint, Plot, PlotAxis};
use super::super::finding::{ClaimInterval, FigureLine, Findings};
use super::super::sample::{Measured, Samples};
use super::super::site::SiteFound;
use super::super::unit::{PERCENT, PLAIN};
use findings::{CumulativeDistribution, RatioStep};
use trace::RetransmissionKind::{self, Fast, SlowStart, Timeout};
use trace::{SenderPhase, SparedBy};

/// Ratios above which the paper sees compression, and above which it sees no more loss.
const COMPRESSED: f64 = 2.9;
const LEVEL: f64 = 8.0;
/// Shares of the outstanding window that are small.
const SMALL: f64 = 0.21;

/// Returns a figure of each capture.
fn samples(book: &Book, of: impl Fn(&SiteFound) -> f64) -> Samples {
    Samples::new(book.site().iter().map(of).collect())
}

fn share(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole as f64
}

/// Returns the findings on claim BS-4.
pub(super) fn bs_4(book: &Book) -> Findings {
    let mut findings = Findings::default();
    let within = ClaimInterval::between(-0.75, 0.75);
    for (kind, name) in [
        (Timeout, "timeouts"),
        (Fast, "fast retransmissions"),
        (SlowStart, "slow-start retransmissions"),
    ] {
        let [seen, reported] =
            [false, true].map(|by_acks| samples(book, |site| of_kind(site, kind, by_acks)));
        let label = format!("{name}: predicted above those that happened");
        findings.line(
            FigureLine::new(label, PERCENT).ours(excess_over_seen(&reported, &seen)).must(within),
        );
        findings.line(
            FigureLine::new(format!("{name} that happened"), PLAIN).ours(sum_of_samples(&seen)),
        );
        findings.line(
            FigureLine::new(format!("{name} predicted"), PLAIN).ours(sum_of_samples(&reported)),
        );
    }
    let retransmitted = samples(book, |site| {
        site.reported_retransmitted.map_or(f64::NAN, |retransmitted| retransmitted as f64)
    });
    if retransmitted.mean().mean.is_finite() {
        let seen = samples(book, |site| site.seen.retransmission_count() as f64);
        let label = "retransmissions inferred from packets, above the server's own count";
        findings.line(
            FigureLine::new(label, PERCENT).ours(seen.excess_over(&retransmitted)).also(within),
        );
    }
    findings
}

/// Returns by what share the inferred count exceeds the real one. Zero inferred for zero real ones
/// is exact; one inferred for zero real ones exceeds any share.
fn excess_over_seen(reported: &Samples, seen: &Samples) -> Measured {
    let is_none = |samples: &Samples| samples.values().iter().all(|count| *count == 0.0);
    if !seen.values().is_empty() && is_none(reported) && is_none(seen) {
        return Measured::exact(0.0);
    }
    reported.excess_over(seen)
}

fn of_kind(site: &SiteFound, kind: RetransmissionKind, by_acks: bool) -> f64 {
    let counters = if by_acks { &site.predicted } else { &site.seen };
    counters.retransmissions[kind as usize] as f64
}

fn sum_of_samples(samples: &Samples) -> Measured {
    Measured::exact(samples.values().iter().sum())
}

/// Adds a line of one of the paper's figures.
fn line(findings: &mut Findings, label: &str, paper: f64, ours: &Samples) {
    findings.line(FigureLine::new(label, PERCENT).paper(paper).ours(ours.mean()));
}

/// Returns the findings on claim BS-5.
pub(super) fn bs_5(book: &Book) -> Findings {
    let mut findings = Findings::default();
    conclusions(&mut findings, book);
    add_table(&mut findings, book);
    for plot in plots(book) {
        findings.plot(plot);
    }
    findings
}

/// Adds the paper's conclusions (§3.3, §6).
fn conclusions(findings: &mut Findings, book: &Book) {
    let kinds = |site: &SiteFound| {
        let losses = &site.found.losses;
        [Fast, Timeout, SlowStart].map(|kind| losses.of_kind(kind))
    };
    let after = samples(book, |site| {
        let [fast, timeouts, slow_start] = kinds(site);
        share(timeouts + slow_start, fast + timeouts + slow_start)
    });
    let line = FigureLine::new("retransmissions by or after timeouts (over 50 %)", PERCENT);
    findings.line(line.ours(after.mean()).must(ClaimInterval::at_least(50.0)));
    let more = samples(book, |site| {
        let losses = &site.found.losses;
        losses.spared_by(SparedBy::RightEdge) as f64 / losses.spared_by(SparedBy::Sack) as f64
    });
    let line = FigureLine::new(
        "timeouts that right-edge recovery spares, over those that SACK spares",
        PLAIN,
    );
    findings.line(line.ours(more.mean()).must(ClaimInterval::at_least(1.0)));
    for (what, steps) in [
        ("median of the connection", by_median as fn(&SiteFound) -> &[RatioStep]),
        ("data bandwidth", by_flight),
    ] {
        let rise = samples(book, |site| {
            let steps = steps(site);
            loss(steps, COMPRESSED, f64::INFINITY) / loss(steps, 0.0, COMPRESSED)
        });
        let label =
            format!("loss after ACK bandwidths above 3 times the {what}, over that after others");
        findings.line(
            FigureLine::new(label, PLAIN).ours(rise.mean()).must(ClaimInterval::at_least(1.0)),
        );
        let level = samples(book, |site| {
            let steps = steps(site);
            loss(steps, LEVEL, f64::INFINITY) / loss(steps, COMPRESSED, LEVEL)
        });
        let label = format!("the same above 8 times, over 3 to 8 times (level: about 1), {what}");
        findings.line(
            FigureLine::new(label, PLAIN)
                .ours(level.mean())
                .also(ClaimInterval::between(0.75, 1.25)),
        );
    }
    let fast = samples(book, |site| {
        let steps = by_flight(site).iter();
        let (fast, all) = steps.fold((0, 0), |(fast, all), step| match step.ratio > COMPRESSED {
            true => (fast + step.windows, all + step.windows),
            false => (fast, all + step.windows),
        });
        share(fast, all)
    });
    let label = "flights acknowledged more than 3 times as fast as they were sent";
    findings.line(FigureLine::new(label, PERCENT).ours(fast.mean()));
    let throughput = |site: &SiteFound| site.found.parallel.throughput.clone();
    let positive = samples(book, |site| share(throughput(site).positive, throughput(site).hosts));
    let line = FigureLine::new(
        "hosts whose throughput rises with their connections (about 90 %)",
        PERCENT,
    );
    findings.line(line.ours(positive.mean()).must(ClaimInterval::between(80.0, 100.0)));
    let half = samples(book, |site| share(throughput(site).above_half, throughput(site).hosts));
    let line = FigureLine::new("hosts with a correlation above 0.5 (about 45 %)", PERCENT);
    findings.line(line.ours(half.mean()).also(ClaimInterval::between(35.0, 55.0)));
    let left = samples(book, |site| mean_over_epochs(site, |row| row.left_by_fast_recovery));
    let line = FigureLine::new(
        "outstanding window left after a loss epoch if those that lost halve (0.6 to 0.75)",
        PLAIN,
    );
    findings.line(line.ours(left.mean()).must(ClaimInterval::between(0.6, 0.75)));
    let fit = |of: fn(&findings::LineFit) -> f64| {
        samples(book, |site| {
            site.found.parallel.epochs.hit_by_open.map_or(f64::NAN, |fit| of(&fit))
        })
    };
    let line = FigureLine::new("connections that lose, for each that is open (0.5)", PLAIN);
    findings.line(line.ours(fit(|fit| fit.slope).mean()).also(ClaimInterval::between(0.4, 0.6)));
    let line = FigureLine::new("the same, intercept", PLAIN).paper(0.1);
    findings.line(line.ours(fit(|fit| fit.intercept).mean()));
    hits(findings, book);
}

/// Adds the clients that lose in an epoch (Figure 10).
fn hits(findings: &mut Findings, book: &Book) {
    let over_ideal = |from: f64, to: f64| {
        samples(book, |site| {
            let steps = site.found.parallel.epochs.by_share.iter();
            let steps = steps.filter(|step| step.share > from && step.share <= to);
            let (hit, ideal) = steps
                .fold((0.0, 0.0), |(hit, ideal), step| (hit + step.hit as f64, ideal + step.ideal));
            100.0 * (hit / ideal - 1.0)
        })
    };
    let line =
        FigureLine::new("connections that lose above the ideal number (about 5 % below)", PERCENT);
    findings.line(line.ours(over_ideal(-1.0, 1.0).mean()).also(ClaimInterval::between(-10.0, 0.0)));
    let line = FigureLine::new(
        "the same of connections with up to a fifth of the window (more often)",
        PERCENT,
    );
    findings.line(line.ours(over_ideal(0.0, SMALL).mean()).also(ClaimInterval::at_least(0.0)));
}

fn by_median(site: &SiteFound) -> &[RatioStep] {
    &site.found.compression.by_median
}

fn by_flight(site: &SiteFound) -> &[RatioStep] {
    &site.found.compression.by_flight
}

/// Returns the probability of a loss in the window after those with a ratio in this interval.
fn loss(steps: &[RatioStep], from: f64, to: f64) -> f64 {
    let steps = steps.iter().filter(|step| step.ratio >= from && step.ratio < to);
    let (lost, followed) = steps
        .fold((0, 0), |(lost, followed), step| (lost + step.lost_next, followed + step.followed));
    lost as f64 / followed as f64
}

/// Returns the mean over epochs of hosts with several open connections.
fn mean_over_epochs(site: &SiteFound, of: impl Fn(&findings::EpochRow) -> f64) -> f64 {
    let rows = site.found.parallel.epochs.by_open.iter().filter(|row| row.open > 1);
    let (sum, epochs) = rows.fold((0.0, 0), |(sum, epochs), row| {
        (sum + of(row) * row.epochs as f64, epochs + row.epochs)
    });
    sum / epochs as f64
}

/// Adds Table 3, beside the paper's.
fn add_table(findings: &mut Findings, book: &Book) {
    let losses = |site: &SiteFound| site.found.losses.clone();
    let total = |of: fn(&SiteFound) -> u64| sum_of_samples(&samples(book, |site| of(site) as f64));
    let counted = [
        ("connections", total(|site| site.found.losses.connections)),
        ("packets", total(|site| site.packets)),
        ("loss epochs", total(|site| site.found.parallel.epochs.epochs)),
    ];
    for (what, ours) in counted {
        findings.line(FigureLine::new(what, PLAIN).ours(ours));
    }
    let limited =
        samples(book, |site| share(losses(site).window_limited, losses(site).connections));
    line(findings, "connections that the receiver's window limits", 14.0, &limited);
    let slow = [SenderPhase::SlowStart, SenderPhase::Loss];
    let avoidance = [SenderPhase::Avoidance, SenderPhase::Recovery];
    let sent = samples(book, |site| {
        let [slow, rest] = [slow, avoidance].map(|phases| losses(site).in_phases(&phases).segments);
        share(slow, slow + rest)
    });
    line(findings, "segments sent in slow start", 85.0, &sent);
    for (name, phases, paper) in
        [("slow start", slow, 5.0), ("congestion avoidance", avoidance, 7.0)]
    {
        let lost = samples(book, |site| {
            let sums = losses(site).in_phases(&phases);
            share(sums.lost, sums.segments)
        });
        line(findings, &format!("segments lost in {name}"), paper, &lost);
    }
    let all = |site: &SiteFound| {
        [Fast, Timeout, SlowStart].iter().map(|kind| losses(site).of_kind(*kind)).sum()
    };
    for (name, kind, paper) in [
        ("fast", Fast, 43.8),
        ("by timeouts", Timeout, 49.2),
        ("slow start after timeouts", SlowStart, 7.0),
    ] {
        let of = samples(book, |site| share(losses(site).of_kind(kind), all(site)));
        line(findings, &format!("retransmissions, {name}"), paper, &of);
    }
    let spared = |by: &[SparedBy]| {
        samples(book, |site| {
            let spared = by.iter().map(|by| losses(site).spared_by(*by)).sum();
            share(spared, losses(site).of_kind(Timeout))
        })
    };
    line(findings, "timeouts that SACK spares", 4.4, &spared(&[SparedBy::Sack]));
    line(
        findings,
        "timeouts that right-edge recovery spares",
        24.7,
        &spared(&[SparedBy::RightEdge]),
    );
    let rest = spared(&[SparedBy::TailProbe, SparedBy::Nothing]);
    line(findings, "other timeouts", 70.9, &rest);
    let probes = spared(&[SparedBy::TailProbe]).mean();
    findings.line(
        FigureLine::new("of these, timeouts that tail-loss probes spare", PERCENT).ours(probes),
    );
}

/// Plots Figures 2 to 10, of the first capture.
fn plots(book: &Book) -> Vec<Plot> {
    let Some(site) = book.site().first() else { return Vec::new() };
    let point = |x: f64, y: f64| CurvePoint { x, y: Measured::exact(y) };
    let cumulative = |distribution: &CumulativeDistribution| {
        distribution.steps.iter().map(|step| point(step.value, step.share)).collect::<Vec<_>>()
    };
    let steps = |steps: &[RatioStep], of: fn(&RatioStep) -> Option<f64>| {
        let of = |step: &RatioStep| Some(point(step.ratio.log2(), of(step)?));
        steps.iter().filter_map(of).collect::<Vec<_>>()
    };
    let epochs = &site.found.parallel.epochs;
    let rows = |of: fn(&findings::EpochRow) -> f64| {
        epochs.by_open.iter().map(|row| point(row.open as f64, of(row))).collect::<Vec<_>>()
    };
    let shares = |of: fn(&findings::ShareStep) -> f64| {
        epochs.by_share.iter().map(|step| point(step.share, of(step))).collect::<Vec<_>>()
    };
    let ratio = PlotAxis::new("doublings of the ACK bandwidth", PLAIN);
    let probability = PlotAxis::new("probability of a loss in the next window", PLAIN);
    let [median, flight] = [by_median(site), by_flight(site)];
    let open = PlotAxis::new("open connections", PLAIN);
    let share = PlotAxis::new("share of the outstanding window", PLAIN);
    vec![
        Plot::new(
            "Figure 2: windows that receivers offer",
            PlotAxis::new("bytes", PLAIN),
            PlotAxis::new("share of connections", PLAIN),
        )
        .ours("windows", cumulative(&site.found.losses.receive_window)),
        Plot::new(
            "Figure 3: ACK bandwidth over the connection's median",
            ratio,
            PlotAxis::new("windows", PLAIN),
        )
        .ours("method 1", steps(median, |step| Some(step.windows as f64))),
        Plot::new("Figure 4: loss by ACK bandwidth over the median", ratio, probability)
            .ours("method 1", steps(median, RatioStep::loss)),
        Plot::new("Figure 5: loss by ACK bandwidth over data bandwidth", ratio, probability)
            .ours("method 2", steps(flight, RatioStep::loss)),
        Plot::new(
            "Figure 6: throughput and the number of connections",
            PlotAxis::new("correlation", PLAIN),
            PlotAxis::new("share of hosts", PLAIN),
        )
        .ours("hosts", cumulative(&site.found.parallel.throughput.correlation)),
        Plot::new(
            "Figure 7: connections that lose in an epoch",
            open,
            PlotAxis::new("connections", PLAIN),
        )
        .ours("lost", rows(|row| row.hit)),
        Plot::new(
            "Figure 8: outstanding window after an epoch",
            open,
            PlotAxis::new("share left", PLAIN),
        )
        .ours("parallel fast recovery", rows(|row| row.left_by_fast_recovery))
        .ours("parallel timeouts", rows(|row| row.left_by_timeout))
        .ours("one TCP, fast recovery", rows(|row| row.one_by_fast_recovery))
        .ours("one TCP, timeout", rows(|row| row.one_by_timeout)),
        Plot::new(
            "Figure 9: shares of the outstanding window",
            share,
            PlotAxis::new("connections", PLAIN),
        )
        .ours("all", shares(|step| step.connections as f64))
        .ours("lost", shares(|step| step.hit as f64)),
        Plot::new(
            "Figure 10: connections that lose, by their share",
            share,
            PlotAxis::new("connections", PLAIN),
        )
        .ours("lost", shares(|step| step.hit as f64))
        .ours("ideal", shares(|step| step.ideal)),
    ]
}
