//! Remarks beside the results, on standard error: left-out schemes, the web server, scheduling
//! delays, and incomplete loads.

use super::raced::Raced;
use super::races::RaceOfRun;
use super::{RaceArgs, page};
use cmdline::{Failure, names};
use link::path::TraceStart;
use race::{
    Bound, Contestant, Race, SchemeResult, Spread, TIME_LIMIT, VisitKind, VisitSample, World,
};
use testbed::{Browser, Contender, runs_in};
use units::counted;
use workload::{ClientModel, Http, ServerModel};

/// The notes on the runs of the page, each once.
pub(super) fn of_pages(races: &[RaceOfRun]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for note in races.iter().flat_map(|run| run.race.page.notes()) {
        if !notes.contains(note) {
            notes.push(note.clone());
        }
    }
    notes
}

/// A note on what the intervals cover, for a recording.
pub(super) fn on_runs(args: &RaceArgs, races: &[RaceOfRun]) -> Option<String> {
    let mut names: Vec<&str> = races.iter().map(|run| run.race.page.name()).collect();
    names.sort_unstable();
    names.dedup();
    let runs = races.len();
    match runs {
        1 if !page::is_recording(&args.page) => None,
        1 => Some(
            "one run of the page: intervals cover chance on the path, not how servers and page vary between runs; record \
             the page several times, and race them with --har-page all"
                .to_owned(),
        ),
        _ if names.len() > 1 => Some(format!(
            "the {runs} pages of the file have {} addresses, so they are not runs of one page; --har-page N races one",
            names.len()
        )),
        _ if runs < Spread::MIN_FOR_INTERVAL => Some(format!(
            "times and gains are medians of {runs} runs of the page; fewer than {} have no 95 % interval, so brackets show \
             the least and the greatest",
            Spread::MIN_FOR_INTERVAL
        )),
        _ => Some(format!("times, gains and intervals are those of {runs} runs of the page")),
    }
}

/// Remarks that are known before anything is run.
pub(super) fn remarks_before_run(args: &RaceArgs, race: &Race) -> Vec<String> {
    let mut notes = Vec::new();
    for world in &args.on {
        let out = args.contenders().iter().filter(|contender| !runs_in(contender, *world));
        let names: Vec<&str> = out.map(Contender::name).collect();
        if !names.is_empty() && !args.is_simulated_only() {
            let names = names.join(", ");
            notes.push(format!("{world} has no {names}: it has no lines there"));
        }
    }
    let of_models = [no_quic(race), clear_model(race), model_of_http11(race), no_model(args)];
    notes.extend(of_models.into_iter().flatten().map(str::to_owned));
    notes.extend(args.notes_on_distances(&race.page));
    notes.extend(names::recorded_notes(&race.path));
    let has_phases = race.path.is_changing() && race.path.trace_start() == TraceStart::Anywhere;
    let has_chance = race.background > 0
        || race.path.loss() > 0.0
        || !race.path.ordered_jitter().is_zero()
        || has_phases;
    if args.exact && race.repeats > 1 && !has_chance {
        notes.push(
            "nothing here depends on chance (--exact, no loss, no background): repeats are alike"
                .to_owned(),
        );
    }
    notes
}

/// Real worlds load over HTTP/2 what was recorded over HTTP/3.
fn no_quic(race: &Race) -> Option<&'static str> {
    let is_changed =
        race.loader.without_quic && race.page.hosts().iter().any(|host| host.http == Http::Http3);
    is_changed.then_some(
        "hosts recorded over HTTP/3 are loaded over HTTP/2: HTTP/3 is simulated only. --on sim alone loads them over HTTP/3",
    )
}

/// The model of nginx is one in the clear: how nginx writes behind TLS is not modelled.
fn clear_model(race: &Race) -> Option<&'static str> {
    let is_guess = race.loader.server == ServerModel::Nginx && race.loader.speaks_tls(&race.page);
    is_guess.then_some(
        "--server-model nginx writes as nginx does in the clear; behind TLS nginx writes in another way, which is not \
         modelled. --tls none compares like with like",
    )
}

/// A remark that Chromium's loads are compared with the loader's, unless the loader imitates it.
fn no_model(args: &RaceArgs) -> Option<&'static str> {
    let is_compared = matches!(args.browser, Browser::Chromium(_)) && args.on.contains(&World::Sim);
    (is_compared && args.client_model != ClientModel::Chromium).then_some(
        "the simulated client opens connections as the loader does; --client-model chromium compares like with like",
    )
}

/// The model of Chromium is one over HTTP/1.1: how it opens connections of HTTP/2 is not modelled.
fn model_of_http11(race: &Race) -> Option<&'static str> {
    let is_other = |host| race.loader.protocol(host).http != Http::Http11;
    let is_guess =
        race.loader.client == ClientModel::Chromium && race.page.hosts().iter().any(is_other);
    is_guess.then_some(
        "--client-model chromium opens connections as Chromium does under HTTP/1.1; of other versions only the time to read a \
         document is modelled. --http 1.1 compares like with like",
    )
}

/// Facts about a race that is over: the programs that took part, and how punctual packets were.
pub(super) fn remarks_after_run(args: &RaceArgs, raced: &Raced) -> Vec<String> {
    let setting = &raced.result.setting;
    let loader = setting.client.as_ref().filter(|_| !args.browser.is_loader());
    let known = [
        setting.kernel_server.as_ref().map(|server| format!("served on kernel by {server}")),
        setting.sim_server.as_ref().map(|server| format!("simulated servers write as {server}")),
        setting.client_model.as_ref().map(|client| format!("the loader loads as {client}")),
        loader.map(|client| format!("loaded in real time by {client}")),
        how_late(raced),
    ];
    known.into_iter().flatten().collect()
}

/// Notes on the result.
pub(super) fn on_result(raced: &Raced) -> Vec<String> {
    client_bounded(raced).into_iter().collect()
}

/// A share of a scheme's time above which a reader should know that the client decided it.
const OF_NOTE: f64 = 0.05;

/// Rows that the note names; it says how many more there are.
const MAX_NAMED: usize = 3;

/// The receive window is the client's, not the scheme's: a load that it bounds is no merit or fault
/// of a scheme.
fn client_bounded(raced: &Raced) -> Option<String> {
    let share = |row: &SchemeResult| row.bounds.map_or(0.0, |b| b.get(Bound::ReceiveWindow));
    let bounded: Vec<&SchemeResult> =
        raced.result.measured().filter(|row| share(row) > OF_NOTE).collect();
    let named = bounded.iter().take(MAX_NAMED);
    let mut named: Vec<String> = named
        .map(|row| format!("{} for {:.0} %", visit_of(raced, row), share(row) * 100.0))
        .collect();
    if bounded.len() > MAX_NAMED {
        named.push(format!("{} more rows", bounded.len() - MAX_NAMED));
    }
    let way_out = match raced.result.setting.client_window_bytes {
        None => "; to see them without that: --client-window 1MB",
        Some(_) => "",
    };
    let shares = named.join(", ");
    (!bounded.is_empty())
        .then(|| format!("the client's receive window bounded {shares} of the time{way_out}"))
}

/// A scheme, its world if there are several or real ones, and its visits if there are two kinds.
fn visit_of(raced: &Raced, row: &SchemeResult) -> String {
    match raced.result.visits.count {
        0 | 1 => scheme_and_world(raced, row),
        _ => format!("{} ({} visit)", scheme_and_world(raced, row), row.visit.name()),
    }
}

/// A remark on the machine's scheduling delays, which affect the figures.
fn how_late(raced: &Raced) -> Option<String> {
    let samples = raced.result.measured().flat_map(|row| &row.samples);
    let worst = samples.map(|sample| sample.lateness_p99_s).fold(0.0, f64::max);
    let late: u64 = first_visits(raced).map(|row| u64::from(row.redone)).sum();
    (worst > 0.0).then(|| {
        format!(
            "scheduling delay of the emulated link, 99th percentile: {:.0} µs in the worst visit; {} repeated \
             because of it",
            worst * 1e6,
            counted(late, "run")
        )
    })
}

/// One row for each scheme in each world: first visits, since the rows of both kinds have the
/// values of turns.
fn first_visits(raced: &Raced) -> impl Iterator<Item = &SchemeResult> {
    raced.result.measured().filter(|row| row.visit == VisitKind::First)
}

/// Fails if a load did not complete; says which and why.
pub(super) fn fail_if_incomplete(raced: &Raced) -> Result<(), Failure> {
    let mut lines: Vec<String> = Vec::new();
    for contestant in raced.outcomes().flat_map(|outcome| &outcome.contestants) {
        lines.extend(failure_reasons(raced, contestant));
    }
    lines.extend(first_visits(raced).filter_map(|row| {
        let why = row.left_out.as_ref()?;
        let count = row.counted().collect::<Vec<&VisitSample>>().len();
        Some(format!(
            "{}: left out after {count} of its repeats: {why}",
            scheme_and_world(raced, row)
        ))
    }));
    if lines.is_empty() {
        return Ok(());
    }
    if raced.outcome.limit.page > TIME_LIMIT {
        let needed = raced.outcome.limit.page.as_secs_f64();
        lines.push(format!(
            "no TCP could: the limit itself is {needed:.0} s, and a race gives up after {TIME_LIMIT}; \
             take a faster path or a smaller page"
        ));
    }
    Err(Failure::failed(format!("not every load completed\n  {}", lines.join("\n  "))))
}

/// A scheme, and its world if there are several or real ones.
fn scheme_and_world(raced: &Raced, row: &SchemeResult) -> String {
    match row.world.filter(|_| raced.result.worlds().iter().any(|world| world.is_real())) {
        Some(world) => format!("{} on {world}", row.name),
        None => row.name.clone(),
    }
}

/// Reasons of a contestant's incomplete loads: each reason once, with its number of loads.
fn failure_reasons(raced: &Raced, contestant: &Contestant) -> Vec<String> {
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    let all = contestant.loads().count();
    for why in contestant.loads().filter_map(|load| load.failure.as_deref()) {
        match reasons.iter_mut().find(|(reason, _)| *reason == why) {
            Some((_, count)) => *count += 1,
            None => reasons.push((why, 1)),
        }
    }
    let row = raced.result.row(&contestant.name, contestant.world, VisitKind::First);
    let name = row.map_or_else(|| contestant.name.clone(), |row| scheme_and_world(raced, row));
    let line = |(why, count): (&str, usize)| match all {
        1 => format!("{name}: {why}"),
        _ => format!("{name}: {why} ({count} of {all} loads)"),
    };
    reasons.into_iter().map(line).collect()
}
