//! `headstart race --on …`: the race beyond the simulator, and its table.

use super::field::Field;
use super::{Args, worlds_view};
use crate::failure::{Failure, remark};
use crate::progress::Progress;
use crate::{pages, stdout};
use race::{Hosts, LIMIT, LIMIT_WITHOUT_HANDSHAKE, REAL_PROCESSING, Race};
use report::{Cell, Quantity, Row, Table, write_atomically};
use std::io;
use worlds::{
    AgentScheme, Browser, Contender, LimitLine, Line, RaceJson, Run, Server, ServerChoice, Spread,
    Summary, World, cannot_be_had,
};

/// Runs `race` in the worlds that were asked for, as far as the machine lets it.
pub(super) fn run(args: &Args, race: &Race) -> Result<(), Failure> {
    refuse_what_only_simulation_has(race)?;
    refuse_what_the_client_cannot(args, race)?;
    let client = Some(args.client().model());
    let (hosts, processing) = (Hosts::Together, REAL_PROCESSING);
    let race = &Race { client, hosts, processing, ..race.clone() };
    say_who_is_left_out(args);
    let server = server(args, race)?;
    let raced = as_far_as_possible(args, (race, &server))?;
    // A report that cannot be written is no reason to keep the results back.
    let written = write_report(args, race, &raced);
    let Raced { summary, worlds, server, browser } = &raced;
    match args.json {
        true => {
            let (server, client) = (server.as_ref(), args.client());
            stdout::print_json(&RaceJson { race, worlds, server, client, browser, summary })?;
        }
        false => stdout::print_table(&table(summary, worlds))?,
    }
    if let Some(server) = server {
        remark(&format!("served on kernel by {}", server.name()));
    }
    if !browser.is_loader() {
        remark(&format!("loaded in real time by {}", browser.name()));
    }
    if let Some(folder) = &args.pcap {
        remark(&format!("captures: {}", folder.display()));
    }
    say_how_late(summary);
    written?;
    complain(summary)
}

/// What was run, and what came of it.
pub(super) struct Raced {
    pub(super) summary: Summary,
    pub(super) worlds: Vec<World>,
    /// If the kernel's world was among them.
    pub(super) server: Option<Server>,
    /// Who asked in real worlds; the loader if there were none.
    pub(super) browser: Browser,
}

/// What serves in the kernel's world, if that is asked for.
fn server(args: &Args, race: &Race) -> Result<Server, Failure> {
    if !args.on.contains(&World::Kernel) {
        return Ok(Server::Builtin);
    }
    let sized =
        args.contenders().iter().find(|one| one.agent().is_some_and(AgentScheme::says_size));
    if let Some(sized) = sized.filter(|_| args.server != ServerChoice::Builtin) {
        let why = format!("{}: nginx says nothing of sizes", sized.name());
        if args.server != ServerChoice::Auto {
            return Err(Failure::input(format!("--server: {why}")));
        }
        remark(&format!("note: served on kernel by the built-in server: {why}"));
        return Ok(Server::Builtin);
    }
    let (server, why) = args
        .server
        .serve(&race.page, &race.loader)
        .map_err(|why| Failure::input(format!("--server: {why}")))?;
    if let Some(why) = why {
        remark(&format!("note: served on kernel by the built-in server: {why}"));
    }
    Ok(server)
}

fn write_report(args: &Args, race: &Race, raced: &Raced) -> Result<(), Failure> {
    let Some(path) = &args.report else { return Ok(()) };
    let html = worlds_view::document(race, raced).to_html();
    write_atomically(path, html.as_bytes()).map_err(Failure::failed)?;
    remark(&format!("report: {}", path.display()));
    Ok(())
}

fn refuse_what_only_simulation_has(race: &Race) -> Result<(), Failure> {
    let asked = [("--background", race.background > 0), ("--site", race.visits.site > 1)];
    match asked.iter().find(|(_, is_asked)| *is_asked) {
        Some((option, _)) => Err(Failure::input(format!(
            "{option} is for simulations: leave --on away, or {option}"
        ))),
        None => Ok(()),
    }
}

fn refuse_what_the_client_cannot(args: &Args, race: &Race) -> Result<(), Failure> {
    match args.browser.refusal(race, (args.contenders(), &args.on)) {
        Some(why) => Err(Failure::input(format!("--client curl: {why}"))),
        None => Ok(()),
    }
}

fn say_who_is_left_out(args: &Args) {
    for world in &args.on {
        let out = args.contenders().iter().filter(|contender| !contender.runs_in(*world));
        let names: Vec<&str> = out.map(Contender::name).collect();
        if !names.is_empty() {
            let names = names.join(", ");
            remark(&format!("note: {world} has no {names}: its cells stay empty"));
        }
    }
}

/// If real worlds cannot be had, what remains is simulated all the same.
fn as_far_as_possible(args: &Args, (race, server): (&Race, &Server)) -> Result<Raced, Failure> {
    let worlds = args.on.as_slice();
    match raced(args, (race, server), worlds) {
        Err(error) if cannot_be_had(&error) && worlds.contains(&World::Sim) => {
            remark(&format!("note: simulated only: {error}"));
            raced(args, (race, server), &[World::Sim]).map_err(Failure::failed)
        }
        Err(error) if cannot_be_had(&error) => Err(Failure::input(error)),
        raced => raced.map_err(Failure::failed),
    }
}

fn raced(args: &Args, (race, server): (&Race, &Server), worlds: &[World]) -> io::Result<Raced> {
    let Field { contenders, agent } = Field::in_worlds(args.contenders(), worlds)?;
    let load_count = worlds::load_count(&contenders, worlds, race.repeats);
    let progress = Progress::begin(load_count, "loads");
    let how = Run {
        worlds,
        contenders: &contenders,
        client: args.client(),
        browser: &args.browser,
        server,
        agent: agent.as_ref(),
        captures: args.pcap.as_deref(),
        on_run: &|| progress.step(),
    };
    let entries = worlds::run(race, how);
    progress.end();
    let summary = Summary::new(race, &entries?);
    let server = worlds.contains(&World::Kernel).then(|| server.clone());
    let is_real = worlds.iter().any(|world| world.is_real());
    let browser = if is_real { args.browser.clone() } else { Browser::Loader };
    Ok(Raced { summary, worlds: worlds.to_vec(), server, browser })
}

pub(super) fn table(summary: &Summary, worlds: &[World]) -> Table {
    let mut columns = vec![("scheme".to_owned(), Quantity::Text, "How the servers send")];
    if summary.limits.len() > 1 {
        columns.push(("visit".to_owned(), Quantity::Text, "The first visit, or all repeated ones"));
    }
    for world in worlds {
        columns.push((format!("{world}: HTML"), Quantity::Time, "HTML done, median"));
        columns.push((format!("{world}: page"), Quantity::Time, "Page done, median"));
        if world.is_real() {
            columns.push(("min – max".to_owned(), Quantity::Text, "Its extremes"));
        }
    }
    let columns =
        columns.iter().map(|(title, quantity, help)| pages::column((title, *quantity, help)));
    Table { columns: columns.collect(), rows: rows(summary, worlds) }
}

fn rows(summary: &Summary, worlds: &[World]) -> Vec<Row> {
    let mut rows = Vec::new();
    for limit in &summary.limits {
        let of_visit = summary.lines.iter().filter(|line| line.visit == limit.visit);
        let mut schemes: Vec<&str> = of_visit.map(|line| line.scheme.as_str()).collect();
        schemes.dedup();
        for scheme in schemes {
            let cells = worlds
                .iter()
                .flat_map(|world| cells(summary.line(scheme, *world, limit.visit), *world));
            let is_out = summary.lines.iter().any(|l| l.scheme == scheme && l.left_out.is_some());
            let name = if is_out { format!("{scheme} (left out)") } else { scheme.to_owned() };
            let head = head(summary, (&name, limit.visit));
            rows.push(Row { cells: head.chain(cells).collect(), is_reference: false });
        }
        rows.push(limit_row(summary, worlds, (LIMIT, limit)));
        let mut without = summary.without_handshake.iter();
        let without = without.find(|without| without.visit == limit.visit);
        rows.extend(
            without.map(|without| limit_row(summary, worlds, (LIMIT_WITHOUT_HANDSHAKE, without))),
        );
    }
    rows
}

fn limit_row(summary: &Summary, worlds: &[World], (name, limit): (&str, &LimitLine)) -> Row {
    let number =
        |value: Option<f64>| value.map_or(Cell::Undefined, |value| Cell::Number(value.into()));
    let cells = worlds.iter().flat_map(|world| {
        let extremes = world.is_real().then_some(Cell::Undefined);
        [number(limit.html_s), number(Some(limit.page_s))].into_iter().chain(extremes)
    });
    let head = head(summary, (name, limit.visit));
    Row { cells: head.chain(cells).collect(), is_reference: true }
}

fn head<'a>(
    summary: &Summary,
    (scheme, visit): (&'a str, &'a str),
) -> impl Iterator<Item = Cell> + use<'a> {
    let visit = (summary.limits.len() > 1).then(|| visit.to_owned());
    [scheme.to_owned()].into_iter().chain(visit).map(Cell::Text)
}

fn cells(line: Option<&Line>, world: World) -> Vec<Cell> {
    let median = |spread: Option<Spread>| {
        spread.map_or(Cell::Undefined, |spread| Cell::Number(spread.median.into()))
    };
    let page = line.and_then(|line| line.page_s);
    let mut cells = vec![median(line.and_then(|line| line.html_s)), median(page)];
    if world.is_real() {
        cells.push(page.map_or(Cell::Undefined, |spread| {
            Cell::Text(format!("{:.0} – {:.0} ms", spread.min * 1e3, spread.max * 1e3))
        }));
    }
    cells
}

/// What a reader has to know of the machine to believe the figures.
fn say_how_late(summary: &Summary) {
    let samples = summary.lines.iter().flat_map(|line| &line.samples);
    let worst = samples.map(|sample| sample.lateness_p99_s).fold(0.0, f64::max);
    let late = summary.lines.iter().map(|line| u64::from(line.redone)).sum::<u64>();
    if worst > 0.0 {
        remark(&format!(
            "lateness of the emulated link, 99th percentile: {:.0} µs in the worst visit; {late} runs \
             repeated because of it",
            worst * 1e6
        ));
    }
}

/// Who has not made all visits; once, though it concerns first visits and repeated ones.
fn left_out(summary: &Summary) -> impl Iterator<Item = String> {
    let first = summary.limits.first().map(|limit| limit.visit);
    let lines = summary.lines.iter().filter(move |line| Some(line.visit) == first);
    lines.filter_map(|line| {
        let why = line.left_out.as_ref()?;
        let count = line.samples.iter().filter(|sample| !sample.redone).count();
        Some(format!(
            "{} on {}: left out after {count} of its repeats: {why}",
            line.scheme, line.world
        ))
    })
}

fn complain(summary: &Summary) -> Result<(), Failure> {
    let failed = summary.lines.iter().flat_map(|line| {
        let why = line.samples.iter().filter_map(|sample| sample.failure.as_ref());
        why.map(move |why| format!("{} on {}: {why}", line.scheme, line.world))
    });
    let lines: Vec<String> = failed.chain(left_out(summary)).collect();
    match lines.is_empty() {
        true => Ok(()),
        false => {
            Err(Failure::failed(format!("not every load completed\n  {}", lines.join("\n  "))))
        }
    }
}
