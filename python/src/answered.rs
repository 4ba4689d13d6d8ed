//! `headstart.predict`, `scoreboard`, `papers` and `theory`: commands whose replies have the tables
//! that they print.

use crate::analyze::ReadingOfPython;
use crate::arguments;
use crate::error::Fault;
use crate::results::{Reply, Results, Shown};
use crate::table::{Table, TableBuilder};
use crate::work;
use cli::{PredictRequest, PredictWatch};
use cmdline::request::{CommandReply, NamedTable};
use lab::{PapersRequest, ScoreboardRequest, TheoryRequest};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use report::{Cell, Column, Quantity, Row};
use std::io;
use support::parquet::{ColumnKind, TableColumn, TableRows, TableValue};

/// A function that gets the progress.
type Callback = Option<Py<PyAny>>;

/// Predicts what transfers in captures would take; `given` has the options of the command.
#[pyfunction]
pub(crate) fn predict(
    py: Python<'_>,
    given: &Bound<'_, PyDict>,
    progress: Callback,
) -> PyResult<Results> {
    let words = arguments::words(&PredictRequest::command(), given)?;
    let request = PredictRequest::parse(words).map_err(|error| Fault::from(error).raised(py))?;
    let answered = work::run(py, progress.as_ref(), |watch| {
        let reading = Box::new(ReadingOfPython::without_progress(watch));
        let stop = watch.stop_flag();
        let reply = request.run(PredictWatch { reading, replays: &**watch, stop })?;
        Ok(Answered::new(reply, watch.notes()))
    })?;
    answered.results(py)
}

/// Scores schemes over fixed cells; `given` has the options of the command.
#[pyfunction]
pub(crate) fn scoreboard(
    py: Python<'_>,
    given: &Bound<'_, PyDict>,
    progress: Callback,
) -> PyResult<Results> {
    let request = scoreboard_of(py, given)?;
    let answered = work::run(py, progress.as_ref(), |watch| {
        let reply = request.run(&**watch)?;
        Ok(Answered::new(reply, watch.notes()))
    })?;
    answered.results(py)
}

/// Counts the runs of a board whose page can be written.
#[pyfunction]
pub(crate) fn scoreboard_count(py: Python<'_>, given: &Bound<'_, PyDict>) -> PyResult<u64> {
    let request = scoreboard_of(py, given)?;
    request.check_report().map_err(|failure| Fault::from(failure).about("report").raised(py))?;
    Ok(request.run_count())
}

/// Makes a part of a board's runs, like `2/8`: the outcomes as numbers.
#[pyfunction]
pub(crate) fn scoreboard_part(
    py: Python<'_>,
    given: &Bound<'_, PyDict>,
    shard: &str,
) -> PyResult<Vec<[u64; 10]>> {
    let request = scoreboard_of(py, given)?;
    work::run(py, None, |watch| Ok(request.part(shard, &**watch)?))
}

/// Scores the runs of all parts, in the order of parts.
#[pyfunction]
pub(crate) fn scoreboard_joined(
    py: Python<'_>,
    given: &Bound<'_, PyDict>,
    parts: Vec<Vec<[u64; 10]>>,
) -> PyResult<Results> {
    let request = scoreboard_of(py, given)?;
    let answered =
        work::run(py, None, |watch| Ok(Answered::new(request.joined(&parts)?, watch.notes())))?;
    answered.results(py)
}

fn scoreboard_of(py: Python<'_>, given: &Bound<'_, PyDict>) -> PyResult<ScoreboardRequest> {
    let words = arguments::words(&ScoreboardRequest::command(), given)?;
    ScoreboardRequest::parse(words).map_err(|error| Fault::from(error).raised(py))
}

/// Checks the papers' claims; `given` has the options of the command.
#[pyfunction]
pub(crate) fn papers(
    py: Python<'_>,
    given: &Bound<'_, PyDict>,
    progress: Callback,
) -> PyResult<Results> {
    let words = arguments::words(&PapersRequest::command(), given)?;
    let request = PapersRequest::parse(words).map_err(|error| Fault::from(error).raised(py))?;
    let answered = work::run(py, progress.as_ref(), |watch| {
        let reply = request.run(&**watch)?;
        Ok(Answered::new(reply, watch.notes()))
    })?;
    answered.results(py)
}

/// Computes the papers' closed forms; `given` has the options of the command.
#[pyfunction]
pub(crate) fn theory(py: Python<'_>, given: &Bound<'_, PyDict>) -> PyResult<Results> {
    let words = arguments::words(&TheoryRequest::command(), given)?;
    let request = TheoryRequest::parse(words).map_err(|error| Fault::from(error).raised(py))?;
    let answered = work::run(py, None, |watch| Ok(Answered::new(request.run()?, watch.notes())))?;
    answered.results(py)
}

/// A reply whose tables are those that the command prints.
struct Answered {
    reply: CommandReply,
    /// The tables of the reply, as they are printed.
    printed: Vec<report::Table>,
    notes: Vec<String>,
}

impl Answered {
    fn new(reply: CommandReply, notes: Vec<String>) -> Self {
        let printed = reply.tables.iter().map(|named| named.table.clone()).collect();
        Self { reply, printed, notes }
    }

    fn results(mut self, py: Python<'_>) -> PyResult<Results> {
        let failure = std::mem::replace(&mut self.reply.failure, Ok(()));
        Results::of(py, self, failure)
    }
}

impl Reply for Answered {
    fn json(&self) -> serde_json::Result<String> {
        Ok(self.reply.json.clone())
    }

    fn tables(&self) -> Vec<String> {
        self.reply.tables.iter().map(|named| named.name.clone()).collect()
    }

    fn table(&self, name: &str) -> io::Result<Table> {
        let mut tables = self.reply.tables.iter();
        let named = tables.find(|named| named.name == name);
        let NamedTable { table, .. } = named.ok_or_else(|| io::Error::other("no such table"))?;
        of_report(table)
    }

    fn shown(&self) -> Shown<'_> {
        Shown { sentences: &self.reply.sentences, tables: &self.printed }
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// A printed table with numbers in place of their texts. A column of numbers is followed by its
/// standard errors, or by the ends of its intervals, if a row has one.
fn of_report(table: &report::Table) -> io::Result<Table> {
    let columns: Vec<PrintedColumn<'_>> =
        table.columns.iter().enumerate().flat_map(|(at, head)| parts(table, at, head)).collect();
    let described: Vec<TableColumn> = columns.iter().map(PrintedColumn::description).collect();
    let mut rows = TableBuilder::new(&described);
    for row in &table.rows {
        rows.row(&mut columns.iter().map(|column| (column.value)(row.cells.get(column.at))))?;
    }
    rows.finish()
}

/// The value of a part of a cell; missing if the cell has no such part.
type CellPart = fn(Option<&Cell>) -> TableValue;

/// A part of the cells of a printed column.
struct PrintedColumn<'a> {
    head: &'a Column,
    /// Position of the cells in a row.
    at: usize,
    /// End of the name: empty for the value itself.
    ending: &'static str,
    value: CellPart,
}

fn parts<'a>(table: &report::Table, at: usize, head: &'a Column) -> Vec<PrintedColumn<'a>> {
    let part = move |ending, value| PrintedColumn { head, at, ending, value };
    let value: CellPart = match head.quantity {
        Quantity::Text => words,
        _ => number,
    };
    let parts = [
        part("", value),
        part(" standard error", error),
        part(" lower", lower),
        part(" upper", upper),
    ];
    // The value has a column even if no row has one.
    let has = |part: &PrintedColumn<'_>, row: &Row| {
        (part.value)(row.cells.get(at)) != TableValue::Missing
    };
    let is_wanted = |part: &PrintedColumn<'_>| {
        part.ending.is_empty() || table.rows.iter().any(|row| has(part, row))
    };
    parts.into_iter().filter(is_wanted).collect()
}

impl PrintedColumn<'_> {
    fn description(&self) -> TableColumn {
        let (kind, unit) = match self.head.quantity {
            Quantity::Text => (ColumnKind::Text, ""),
            Quantity::Time => (ColumnKind::Number, "s"),
            Quantity::Rate => (ColumnKind::Number, "bit/s"),
            Quantity::Bytes => (ColumnKind::Number, "bytes"),
            _ => (ColumnKind::Number, ""),
        };
        let name = format!("{}{}", self.head.title, self.ending).into();
        TableColumn { name, kind, unit, about: self.head.help.clone().into() }
    }
}

fn words(cell: Option<&Cell>) -> TableValue {
    match cell {
        Some(Cell::Text(text)) => text.clone().into(),
        _ => TableValue::Missing,
    }
}

fn number(cell: Option<&Cell>) -> TableValue {
    match cell {
        Some(Cell::Number(estimate)) => estimate.mean.into(),
        Some(Cell::Median(median)) => median.value.into(),
        _ => TableValue::Missing,
    }
}

fn error(cell: Option<&Cell>) -> TableValue {
    match cell {
        Some(Cell::Number(estimate)) => estimate.standard_error.into(),
        _ => TableValue::Missing,
    }
}

fn lower(cell: Option<&Cell>) -> TableValue {
    match cell {
        Some(Cell::Median(median)) => median.interval.map(|(lower, _)| lower).into(),
        Some(Cell::Extremes(least, _)) => (*least).into(),
        _ => TableValue::Missing,
    }
}

fn upper(cell: Option<&Cell>) -> TableValue {
    match cell {
        Some(Cell::Median(median)) => median.interval.map(|(_, upper)| upper).into(),
        Some(Cell::Extremes(_, most)) => (*most).into(),
        _ => TableValue::Missing,
    }
}
