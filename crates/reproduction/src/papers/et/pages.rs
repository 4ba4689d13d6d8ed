//! Page loads: four schedulers of an ensemble against a bundle of Reno connections.

use super::{
    CLIENT, CONNECTIONS, DELAY, HEADER, MODEL, NETWORK, PAGE, PAGES, PARAMETERS, QUEUE, REALISTIC,
    REQUESTS, Scenario, TWO_ROUND_TRIPS_S, set_acked,
};
use crate::papers::book::{Book, ExperimentRecord};
use crate::papers::claim::{Experiment, Quick};
use crate::papers::finding::{ClaimInterval, FigureLine, Findings, furthest_out};
use crate::papers::ns2::Ns2;
use crate::papers::reading::{Readings, RunRecords};
use crate::papers::sample::{Measured, Samples};
use crate::papers::unit::{PERCENT, PLAIN, SECONDS};

const RENO: &str = "reno";
const HTML_PRE: &str = "etcp-html-pre";
/// The schedulers that do not pre-empt.
const OTHERS: [&str; 3] = ["etcp-fair", "etcp-content", "etcp-decay"];
const ALL: [&str; 4] = ["etcp-fair", "etcp-content", "etcp-decay", HTML_PRE];
/// Pages with enough objects for a limit of concurrency to matter.
const PAGES_WITH_MANY_OBJECTS: [&str; 3] = ["frames", "graphics", "java"];
/// Pages that queues and windows touch.
const ALL_BUT_MAP: [&str; 4] = ["text", "graphics", "frames", "java"];
/// The readings.
const HTML: &str = "html";
const TOTAL: &str = "total";
/// "The same", in per cent.
const SAME: ClaimInterval = ClaimInterval::between(-0.5, 0.5);

pub(super) const ET_1: Experiment = Experiment {
    name: "ET-1",
    plan: include_str!("../../../../../plans/papers/ET-1.toml"),
    read: times,
    quick: Quick { repeats: 1, keep: &[] },
};

/// Sets the times of HTML and page, and the shares of segments that were lost and retransmitted.
fn times(run: &RunRecords<'_>, readings: &mut Readings) {
    let visit = || run.of("page");
    let since = |at: Option<f64>, start: f64| at.map(|at| at - start + TWO_ROUND_TRIPS_S);
    readings.set_mean(HTML, visit().map(|visit| since(visit.html, visit.start)));
    readings.set_mean(TOTAL, visit().map(|visit| since(visit.received, visit.start)));
    set_acked(readings, &[HTML, TOTAL]);
    let again = visit().map(|visit| Some(visit.retransmissions as f64 / visit.segments as f64));
    readings.set_mean("again", again);
    let lost = visit().map(|visit| Some(visit.lost as f64 / visit.segments as f64));
    readings.set_mean("lost", lost);
}

/// A choice that the paper leaves open and the plan varies.
#[derive(Clone, Copy)]
struct Choice {
    name: &'static str,
    /// Time of the requests, delay until the server starts, bytes of a header, and the window's
    /// limit.
    values: [&'static str; 4],
}

const LIMITED: &str = "profile=ns2-one-way+mss=512+window=20+ssthresh=20";
const UNLIMITED: &str = "profile=ns2-one-way+mss=512+window=1000+ssthresh=20";
const COARSE: &str = "profile=paper+tick=500ms+mss=512+window=20+ssthresh=20";
const CHOSEN: Choice = Choice { name: "as chosen", values: ["first-segment", "0s", "40", LIMITED] };
const OTHER_CHOICES: [Choice; 7] = [
    Choice {
        name: "asked for half a round trip later",
        values: ["first-segment", "50ms", "40", LIMITED],
    },
    Choice { name: "asked for evenly-spread", values: ["evenly-spread", "0s", "40", LIMITED] },
    Choice { name: "asked for at-end", values: ["at-end", "0s", "40", LIMITED] },
    Choice { name: "asked for all-at-once", values: ["all-at-once", "0s", "40", LIMITED] },
    Choice { name: "no headers", values: ["first-segment", "0s", "0", LIMITED] },
    Choice { name: "no limit of the window", values: ["first-segment", "0s", "40", UNLIMITED] },
    Choice { name: "timers of 500 ms", values: ["first-segment", "0s", "40", COARSE] },
];

/// The pages of one scenario under one choice.
#[derive(Clone, Copy)]
struct Pages<'a> {
    record: &'a ExperimentRecord,
    scenario: Scenario,
    choice: Choice,
}

impl<'a> Pages<'a> {
    fn of(book: &'a Book, scenario: Scenario) -> Self {
        Self { record: book.of("ET-1"), scenario, choice: CHOSEN }
    }

    /// Returns the same pages under another scenario.
    fn with_scenario(self, scenario: Scenario) -> Self {
        Self { scenario, ..self }
    }

    /// Returns a figure of a scheme on a page, repeat by repeat.
    fn samples(self, scheme: &str, page: &str, reading: &str) -> Samples {
        let Scenario { queue, connections, .. } = self.scenario;
        let [requests, delay, header, parameters] = self.choice.values;
        let at = [
            (QUEUE, queue),
            (CONNECTIONS, connections),
            (PAGE, page),
            (REQUESTS, requests),
            (DELAY, delay),
            (HEADER, header),
            (PARAMETERS, parameters),
            ("scheme", scheme),
        ];
        self.record.samples(&at, reading)
    }

    /// Returns the percentage by which a scheme is faster than Reno.
    fn gain(self, scheme: &str, page: &str, reading: &str) -> Measured {
        self.samples(scheme, page, reading).gain_over(&self.samples(RENO, page, reading))
    }

    /// Returns the percentage by which a scheme takes longer than Reno.
    fn excess(self, scheme: &str, page: &str, reading: &str) -> Measured {
        self.samples(scheme, page, reading).excess_over(&self.samples(RENO, page, reading))
    }

    /// Returns the percentage by which a scheme takes longer than under another scenario.
    fn change(self, before: Self, scheme: &str, page: &str, reading: &str) -> Measured {
        let before = before.samples(scheme, page, reading);
        self.samples(scheme, page, reading).excess_over(&before)
    }

    /// Returns the changes from another scenario of both readings, with their names.
    fn changes(
        self,
        before: Self,
        schemes: &[&str],
        pages: &[&str],
    ) -> [(String, Vec<(String, Measured)>); 2] {
        [HTML, TOTAL].map(|reading| {
            let what = format!("{reading} above that of scenario {:?}", before.scenario.name);
            let change = |scheme: &str, page: &str| self.change(before, scheme, page, reading);
            (what, all_figures(schemes, pages, change))
        })
    }
}

/// Returns the figures of several schedulers on several pages.
fn all_figures<'s>(
    schemes: &'s [&'s str],
    pages: &'s [&'s str],
    figure: impl Fn(&str, &str) -> Measured,
) -> Vec<(String, Measured)> {
    let figure = &figure;
    let of_page = |page: &'s &'s str| {
        schemes.iter().map(move |scheme| (format!("{page}, {scheme}"), figure(scheme, page)))
    };
    pages.iter().flat_map(of_page).collect()
}

/// Adds the figure that decides whether all lie in an interval.
fn add_deciding(
    findings: &mut Findings,
    what: &str,
    figures: Vec<(String, Measured)>,
    within: ClaimInterval,
    bear: impl Fn(FigureLine, ClaimInterval) -> FigureLine,
) {
    if let Some((at, ours)) = furthest_out(within, figures) {
        let line =
            FigureLine::new(format!("{what}, the case that decides ({at})"), PERCENT).ours(ours);
        findings.line(bear(line, within));
    }
}

/// Adds the gain of html-pre on each page.
fn add_gains(findings: &mut Findings, pages: Pages<'_>, claimed: ClaimedGain<'_>) {
    let ClaimedGain { reading, of, within } = claimed;
    for page in of {
        let gain = pages.gain(HTML_PRE, page, reading);
        let label = format!("{reading} faster than Reno's, {page}");
        findings.line(FigureLine::new(label, PERCENT).ours(gain).must(within));
    }
}

/// A claim on one of html-pre's gains over Reno.
#[derive(Clone, Copy)]
struct ClaimedGain<'s> {
    reading: &'s str,
    /// The pages it is about.
    of: &'s [&'s str],
    within: ClaimInterval,
}

impl<'s> ClaimedGain<'s> {
    const fn html(of: &'s [&'s str], within: ClaimInterval) -> Self {
        Self { reading: HTML, of, within }
    }

    const fn total(of: &'s [&'s str], within: ClaimInterval) -> Self {
        Self { reading: TOTAL, of, within }
    }
}

/// Adds Reno's own times, beside ns-2's, and html-pre's gains under other choices.
fn add_other_choices(findings: &mut Findings, pages: Pages<'_>, claimed: [ClaimedGain<'_>; 2]) {
    let ns2 = Ns2::read(include_str!("../../../data/ns2-et-reno-pages.csv"));
    for (page, reading) in PAGES.iter().flat_map(|page| [(page, HTML), (page, TOTAL)]) {
        let row = [("scenario", pages.scenario.name), ("page", page)];
        let ns2 = ns2.measured(&row, &format!("{reading}_s")).map(|m| m.mean);
        let ours = pages.samples(RENO, page, reading).mean();
        findings
            .line(FigureLine::new(format!("Reno, {page}, {reading}"), SECONDS).ns2(ns2).ours(ours));
    }
    for choice in OTHER_CHOICES {
        let other = Pages { choice, ..pages };
        for ClaimedGain { reading, of, within } in claimed {
            let mut gains: Vec<(&str, Measured)> =
                of.iter().map(|page| (*page, other.gain(HTML_PRE, page, reading))).collect();
            gains.sort_by(|(_, a), (_, b)| a.mean.total_cmp(&b.mean));
            let ends = [("least", gains.first()), ("largest", gains.last())];
            for (which, (page, gain)) in ends.into_iter().filter_map(|(w, end)| Some((w, end?))) {
                let label = format!("{}: {which} gain in {reading} ({page})", choice.name);
                findings.line(FigureLine::new(label, PERCENT).ours(*gain).also(within));
            }
        }
    }
}

/// Returns the findings on claim ET-1.
pub(super) fn et_1(book: &Book) -> Findings {
    let (pages, mut findings) = (Pages::of(book, MODEL), Findings::default());
    let html = ClaimedGain::html(&PAGES[..], ClaimInterval::between(6.0, 46.0));
    add_gains(&mut findings, pages, html);
    for page in ALL_BUT_MAP {
        let excess = pages.excess(HTML_PRE, page, TOTAL);
        let label = format!("total slower than Reno's, {page}");
        findings.line(
            FigureLine::new(label, PERCENT).ours(excess).must(ClaimInterval::between(2.0, 26.0)),
        );
    }
    let [reno, ours] = [RENO, HTML_PRE].map(|scheme| pages.samples(scheme, "map", TOTAL));
    let line = FigureLine::new("Reno's total slower, map", PERCENT).ours(reno.excess_over(&ours));
    findings.line(line.must(ClaimInterval::between(3.5, 4.5)));
    let apart = |scheme: &str, page: &str| {
        pages.samples(scheme, page, TOTAL).excess_over(&pages.samples(HTML_PRE, page, TOTAL))
    };
    let apart = all_figures(&OTHERS, &PAGES, apart);
    add_deciding(&mut findings, "total against html-pre's", apart, SAME, FigureLine::must);
    let (graphics, slower): (Vec<_>, Vec<_>) =
        all_figures(&OTHERS, &PAGES, |scheme, page| pages.excess(scheme, page, HTML))
            .into_iter()
            .partition(|(at, _)| at == "graphics, etcp-content");
    let within = ClaimInterval::between(2.0, 60.0);
    add_deciding(
        &mut findings,
        "HTML of the other three slower than Reno's",
        slower,
        within,
        FigureLine::also,
    );
    let within = ClaimInterval::between(-3.5, -2.5);
    add_deciding(&mut findings, "HTML slower than Reno's", graphics, within, FigureLine::also);
    let total = ClaimedGain::total(&ALL_BUT_MAP, ClaimInterval::between(-26.0, -2.0));
    add_other_choices(&mut findings, pages, [html, total]);
    findings
}

/// Returns the findings on claim ET-2.
pub(super) fn et_2(book: &Book) -> Findings {
    let (pages, mut findings) = (Pages::of(book, CLIENT), Findings::default());
    let model = pages.with_scenario(MODEL);
    let html = ClaimedGain::html(&PAGES_WITH_MANY_OBJECTS[..], ClaimInterval::between(4.0, 21.0));
    let total = ClaimedGain::total(&PAGES_WITH_MANY_OBJECTS[..], ClaimInterval::between(8.0, 29.0));
    add_gains(&mut findings, pages, html);
    for page in PAGES_WITH_MANY_OBJECTS {
        let totals = all_figures(&ALL, &[page], |scheme, page| pages.gain(scheme, page, TOTAL));
        add_deciding(
            &mut findings,
            "total faster than Reno's",
            totals,
            total.within,
            FigureLine::must,
        );
    }
    let (frames, slower): (Vec<_>, Vec<_>) =
        all_figures(&OTHERS, &PAGES_WITH_MANY_OBJECTS, |scheme, page| {
            pages.excess(scheme, page, HTML)
        })
        .into_iter()
        .partition(|(at, _)| at == "frames, etcp-content");
    let within = ClaimInterval::between(2.0, 27.0);
    add_deciding(
        &mut findings,
        "HTML of the other three slower than Reno's",
        slower,
        within,
        FigureLine::also,
    );
    let within = ClaimInterval::between(-4.5, -3.5);
    add_deciding(&mut findings, "HTML slower than Reno's", frames, within, FigureLine::also);
    let change = |scheme: &str, page: &str| pages.change(model, scheme, page, TOTAL);
    let reno = all_figures(&[RENO], &PAGES_WITH_MANY_OBJECTS, change);
    let within = ClaimInterval::between(22.0, 80.0);
    add_deciding(&mut findings, "Reno's total above the model's", reno, within, FigureLine::also);
    let ensembles = all_figures(&ALL, &PAGES_WITH_MANY_OBJECTS, change);
    let within = ClaimInterval::at_most(10.0);
    add_deciding(&mut findings, "total above the model's", ensembles, within, FigureLine::also);
    for (what, figures) in pages.changes(model, &[RENO, HTML_PRE], &["text", "map"]) {
        add_deciding(&mut findings, &what, figures, SAME, FigureLine::also);
    }
    add_other_choices(&mut findings, pages, [html, total]);
    findings
}

/// Returns the findings on claim ET-3.
pub(super) fn et_3(book: &Book) -> Findings {
    let (pages, mut findings) = (Pages::of(book, NETWORK), Findings::default());
    let model = pages.with_scenario(MODEL);
    let html = ClaimedGain::html(&ALL_BUT_MAP[..], ClaimInterval::between(6.0, 73.0));
    add_gains(&mut findings, pages, html);
    for page in ALL_BUT_MAP {
        let times = pages.samples(RENO, page, TOTAL).over(&pages.samples(HTML_PRE, page, TOTAL));
        let label = format!("Reno's total over E-TCP's, {page}");
        findings.line(
            FigureLine::new(label, PLAIN).ours(times).must(ClaimInterval::between(2.5, 20.0)),
        );
    }
    for (what, figures) in pages.changes(model, &ALL, &PAGES) {
        add_deciding(&mut findings, &what, figures, SAME, FigureLine::must);
    }
    for (what, figures) in pages.changes(model, &[RENO], &["map"]) {
        add_deciding(&mut findings, &what, figures, SAME, FigureLine::also);
    }
    let text = pages.samples(RENO, "text", TOTAL).over(&model.samples(RENO, "text", TOTAL));
    let line = FigureLine::new("Reno's text over the model's (almost 3)", PLAIN).ours(text);
    findings.line(line.also(ClaimInterval::between(2.5, 3.0)));
    let share = |reading| pages.samples(RENO, "java", reading).map(|share| 100.0 * share).mean();
    // "Extensive losses (14% for the java page) and retransmission time-outs".
    let line = FigureLine::new("Reno's segments lost, java", PERCENT).ours(share("lost"));
    findings.line(line.also(ClaimInterval::between(13.5, 14.5)));
    findings
        .line(FigureLine::new("Reno's retransmitted segments, java", PERCENT).ours(share("again")));
    let others = all_figures(&OTHERS, &ALL_BUT_MAP, |scheme, page| pages.gain(scheme, page, HTML));
    let within = ClaimInterval::between(-27.0, 65.0);
    add_deciding(
        &mut findings,
        "HTML of the other three faster than Reno's",
        others,
        within,
        FigureLine::also,
    );
    // Reno 2.5 to 20 times longer: 1 - 1 / 2.5 and 1 - 1 / 20.
    let total = ClaimedGain::total(&ALL_BUT_MAP, ClaimInterval::between(60.0, 95.0));
    add_other_choices(&mut findings, pages, [html, total]);
    findings
}

/// Returns the findings on claim ET-4.
pub(super) fn et_4(book: &Book) -> Findings {
    let (pages, mut findings) = (Pages::of(book, REALISTIC), Findings::default());
    let html = ClaimedGain::html(&PAGES[..], ClaimInterval::between(4.0, 75.0));
    let total = ClaimedGain::total(&PAGES[..], ClaimInterval::between(17.0, 61.0));
    add_gains(&mut findings, pages, html);
    add_gains(&mut findings, pages, total);
    let (text, slower): (Vec<_>, Vec<_>) =
        all_figures(&OTHERS, &PAGES, |scheme, page| pages.excess(scheme, page, HTML))
            .into_iter()
            .partition(|(at, _)| at.starts_with("text"));
    let within = ClaimInterval::between(2.0, 27.0);
    add_deciding(
        &mut findings,
        "HTML of the other three slower than Reno's",
        slower,
        within,
        FigureLine::also,
    );
    let within = ClaimInterval::between(-65.0, -61.0);
    add_deciding(&mut findings, "HTML slower than Reno's", text, within, FigureLine::also);
    let network = pages.with_scenario(NETWORK);
    for (what, figures) in pages.changes(network, &[RENO], &["text"]) {
        add_deciding(&mut findings, &what, figures, SAME, FigureLine::also);
    }
    let frames = pages.change(pages.with_scenario(CLIENT), RENO, "frames", HTML);
    let line =
        FigureLine::new("Reno's HTML of frames above scenario \"client\"'s", PERCENT).ours(frames);
    findings.line(line.also(ClaimInterval::at_most(0.0)));
    add_other_choices(&mut findings, pages, [html, total]);
    findings
}
