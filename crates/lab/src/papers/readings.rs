//! `headstart lab papers --readings`: which reading of each paper makes most of its claims hold.
//!
//! `reproduction` has the search. This module drives it, shows it, and keeps its results in a file
//! from which an interrupted search continues.

use super::PapersArgs;
use cmdline::{Failure, input, jobs, remark, stdout};
use report::{Cell, Column, Quantity, Row, Table};
use reproduction::papers::{
    ClaimUnder, KnownResults, PaperClaim, PaperTable, ReadingSearch, ReadingsReport, tables,
};
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Readings of a search that are run with all repeats and points.
const FINALISTS: usize = 3;

pub(super) fn run(args: &PapersArgs, claims: &[&'static PaperClaim]) -> Result<(), Failure> {
    let own = args.table.as_deref().map(own_table).transpose()?;
    let tables = match &own {
        Some(own) => std::slice::from_ref(own),
        None => tables().map_err(Failure::failed)?,
    };
    let wanted = |table: &&PaperTable| claims.iter().any(|claim| table.is_of(claim));
    let tables: Vec<&PaperTable> = tables.iter().filter(wanted).collect();
    if tables.is_empty() {
        let why = "--readings: nothing of these claims is open to be read; claims by theory, captures and logs have no plans";
        return Err(Failure::input(why));
    }
    let mut log = Log::open(args.resume.as_deref())?;
    let mut reports = Vec::new();
    for table in tables {
        reports.push(search_readings(table, claims, args, &mut log)?);
    }
    match args.json {
        true => stdout::print_json(&reports),
        false => reports.iter().try_for_each(print),
    }
}

/// A table that the user gives.
fn own_table(path: &Path) -> Result<PaperTable, Failure> {
    let shown = path.display().to_string();
    let text = input::read_text(path, "a table of readings")?;
    PaperTable::read(&shown, &text).map_err(Failure::input)
}

fn search_readings(
    table: &PaperTable,
    claims: &[&'static PaperClaim],
    args: &PapersArgs,
    log: &mut Log<'_>,
) -> Result<ReadingsReport, Failure> {
    let threads = jobs::threads(args.jobs);
    let known = log.known.clone();
    let mut search = ReadingSearch::new(table, claims, known, args.seed, args.budget);
    while let Some(reading) = search.next_reading() {
        let new = search.run(&reading, threads).map_err(Failure::failed)?;
        log.add(&new)?;
        print_progress(&search, table, search.most());
    }
    if args.quick {
        return Ok(ReadingsReport::new(&search, None));
    }
    let mut full = search.in_full();
    let best = search.best(FINALISTS).into_iter().map(|tried| tried.reading.clone());
    let mut finalists: Vec<_> = best.collect();
    if !finalists.contains(&table.default_reading()) {
        finalists.push(table.default_reading());
    }
    remark(&format!("all repeats and points of {} readings", finalists.len()));
    for reading in &finalists {
        let new = full.run(reading, threads).map_err(Failure::failed)?;
        log.add(&new)?;
        print_progress(&full, table, finalists.len());
    }
    Ok(ReadingsReport::new(&search, Some(&full)))
}

/// Says how the reading did that was tried last.
fn print_progress(search: &ReadingSearch<'_>, table: &PaperTable, most: usize) {
    let tried = search.tried_readings();
    if let Some(last) = tried.last() {
        let (holding, claims) = (last.claims_that_hold(), last.results.len());
        let reading = table.named(&last.reading);
        remark(&format!(
            "reading {} of {most}: {holding} of {claims} hold: {reading}",
            tried.len()
        ));
    }
}

/// Results of earlier searches, and where new ones go.
struct Log<'a> {
    path: Option<&'a Path>,
    known: KnownResults,
}

impl<'a> Log<'a> {
    fn open(path: Option<&'a Path>) -> Result<Self, Failure> {
        let Some(file) = path else { return Ok(Self { path, known: KnownResults::default() }) };
        let wrong = |why: &dyn std::fmt::Display| {
            Failure::input(format!("--resume {}: {why}", file.display()))
        };
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(wrong(&error)),
        };
        let known = KnownResults::read(&text).map_err(|error| {
            wrong(&format!("{error}; name a file that an earlier search has written"))
        })?;
        // A line that was cut off by an interruption goes, for new ones follow.
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        if whole.len() < text.len() || text.is_empty() {
            fs::write(file, whole).map_err(|error| wrong(&error))?;
        }
        Ok(Self { path, known })
    }

    fn add(&mut self, new: &[ClaimUnder]) -> Result<(), Failure> {
        let lines: Result<Vec<String>, _> = new.iter().map(ClaimUnder::line).collect();
        new.iter().for_each(|result| self.known.add(result.clone()));
        let Some(path) = self.path.filter(|_| !new.is_empty()) else { return Ok(()) };
        let text = lines.map_err(Failure::failed)?.join("\n") + "\n";
        let file = OpenOptions::new().append(true).open(path);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| Failure::failed(format!("{}: {error}", path.display())))
    }
}

fn print(report: &ReadingsReport) -> Result<(), Failure> {
    let ReadingsReport { paper, tried, seed, budget, .. } = report;
    stdout::print(&format!(
        "{paper}: {tried} readings, each level alone and at most {budget} combinations, seed {seed}\n\n"
    ))?;
    stdout::print_table(&readings(report))?;
    stdout::print("\nEach level alone, against the default:\n")?;
    stdout::print_table(&levels(report))?;
    stdout::print("\nClaims across readings:\n")?;
    stdout::print_table(&claims_table(report))?;
    stdout::print("\n")
}

fn text(value: impl Into<String>) -> Cell {
    Cell::Text(value.into())
}

fn readings_table(columns: Vec<Column>, rows: impl Iterator<Item = Vec<Cell>>) -> Table {
    let rows = rows.map(|cells| Row { cells, is_reference: false });
    Table { columns, rows: rows.collect() }
}

/// The best readings, in full where they were run so.
fn readings(report: &ReadingsReport) -> Table {
    let columns = vec![
        Column::new("runs", Quantity::Text, "All repeats and points, or a quick part of them"),
        Column::new("hold", Quantity::Text, "How many of the paper's claims hold"),
        Column::new("reading", Quantity::Text, "The choices that are not at their default"),
        Column::new("differ", Quantity::Text, "The claims that do not hold"),
    ];
    let full = report.in_full.iter().map(|row| ("full", row));
    let quick = report.readings.iter().take(10).map(|row| ("quick", row));
    let row = |(runs, row): (&str, &reproduction::papers::ReadingRow)| {
        let differ = report.claims.iter().filter(|claim| !row.holds.contains(claim));
        let differ: Vec<&str> = differ.map(String::as_str).collect();
        let hold = format!("{} of {}", row.holds.len(), report.claims.len());
        vec![text(runs), text(hold), text(row.reading.as_str()), text(differ.join(" "))]
    };
    readings_table(columns, full.chain(quick).map(row))
}

fn levels(report: &ReadingsReport) -> Table {
    let columns = vec![
        Column::new("choice", Quantity::Text, "What the paper leaves open"),
        Column::new("level", Quantity::Text, "How it is read"),
        Column::new("hold", Quantity::Text, "How many claims hold under it"),
        Column::new("gains", Quantity::Text, "Claims that hold under it and not by default"),
        Column::new("loses", Quantity::Text, "Claims that hold by default and not under it"),
    ];
    let rows = report.levels.iter().map(|row| {
        let hold = row.holding.to_string();
        let [gains, loses] = [&row.gains, &row.loses].map(|claims| text(claims.join(" ")));
        vec![text(row.choice.as_str()), text(row.level.as_str()), text(hold), gains, loses]
    });
    readings_table(columns, rows)
}

fn claims_table(report: &ReadingsReport) -> Table {
    let columns = vec![
        Column::new("claim", Quantity::Text, "The claim"),
        Column::new("holds under", Quantity::Text, "How many readings it holds under"),
        Column::new(
            "with fewest changes",
            Quantity::Text,
            "Of these the one nearest to the default",
        ),
        Column::new(
            "which breaks",
            Quantity::Text,
            "Claims that hold under the best reading and not there",
        ),
    ];
    let rows = report.across.iter().map(|row| {
        let holding = match row.holding {
            0 => format!("differs under every one of {}", report.tried),
            n => format!("{n} of {}", report.tried),
        };
        let simplest = row.simplest.clone().unwrap_or_default();
        vec![text(row.claim.as_str()), text(holding), text(simplest), text(row.breaks.join(" "))]
    });
    readings_table(columns, rows)
}
