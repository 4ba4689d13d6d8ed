//! `--report`: the findings as one HTML page, with plots, tables that sort, and the worst
//! connections drawn.

mod connection;
pub(super) mod figures;
mod time;
mod worst;

use cmdline::{Failure, installed, report_file};
use findings::{TraceFindings, changeable};
use report::{Block, Cell, Column, Document, Links, Quantity, Row, Section, Table};
use std::path::{Path, PathBuf};
use trace::TimeShare;
use worst::{DRAWN, RecordedConnection, WorstConnections};

/// A report that is to be written.
pub(super) struct ReportSink {
    path: PathBuf,
    /// Gets the engine's findings.
    pub(super) worst: WorstConnections,
}

impl ReportSink {
    /// Refuses a path that cannot be written to, and any of the `inputs`.
    pub(super) fn begin<'a>(
        path: &Path,
        inputs: impl IntoIterator<Item = &'a Path>,
    ) -> Result<Self, Failure> {
        report_file::check(path, inputs)?;
        Ok(Self { path: path.to_owned(), worst: WorstConnections::default() })
    }

    /// Writes the page. `counts`: what was read, `words`: what was found, a line each.
    pub(super) fn end(
        self,
        found: &TraceFindings,
        counts: &str,
        words: &str,
    ) -> Result<(), Failure> {
        let (worst, left_out) = self.worst.finish();
        let page = document(found, &worst, left_out, counts, words).to_html();
        report_file::write(&self.path, &page)
    }
}

fn document(
    found: &TraceFindings,
    worst: &[RecordedConnection],
    left_out: u64,
    counts: &str,
    words: &str,
) -> Document {
    let facts = [counts.to_owned(), installed::explained_in(&["docs/analyze.md"])];
    let in_words =
        Section { heading: "In words".to_owned(), blocks: vec![Block::List(list_items(words))] };
    let mut sections = vec![in_words, time::section(&found.time)];
    if !worst.is_empty() {
        sections.push(overview_section(worst, left_out));
    }
    sections.extend(figures::sections(found));
    sections.extend(worst.iter().map(connection::section));
    Document {
        title: "Why transfers are slow".to_owned(),
        facts: facts.into(),
        sections,
        links: Links {
            documents: installed::documents(),
            sections: worst.iter().map(connection::name).collect(),
        },
        ..Document::default()
    }
}

/// The table that leads to the connections that are drawn.
fn overview_section(worst: &[RecordedConnection], left_out: u64) -> Section {
    let mut text = format!(
        "The {DRAWN} connections that lost the most time outside handshakes, requests and the path, or as many \
         as there are. Each leads to its time-sequence plot below."
    );
    if left_out > 0 {
        text += &format!(
            " {left_out} connections were not considered, because too many were open at once."
        );
    }
    let columns = [
        Column::new("connection", Quantity::Text, "Its number, as in the tables of --out"),
        Column::new("client", Quantity::Text, "Address and port"),
        Column::new(
            "lost",
            Quantity::Time,
            "Time lost to what a sender can change: the next columns",
        ),
    ];
    let shares = changeable().map(|share| {
        let name = share.name().replace('-', " ");
        Column::new(name, Quantity::Time, "Time of its transfers")
    });
    let more = [
        Column::new("all", Quantity::Time, "All of the time of its transfers"),
        Column::new("receiver window", Quantity::Time, "The client's window was full"),
        Column::new("transfers", Quantity::Count, "Requests with their responses"),
        Column::new("bytes", Quantity::Bytes, "Payload of the responses"),
        Column::new("retransmissions", Quantity::Count, "Of the responses"),
    ];
    let columns = columns.into_iter().chain(shares).chain(more).collect();
    let rows = worst.iter().map(overview_row).collect();
    let blocks = vec![Block::Text(text), Block::Table(Table { columns, rows })];
    Section { heading: "Worst connections".to_owned(), blocks }
}

fn overview_row(recorded: &RecordedConnection) -> Row {
    let number = |value: f64| Cell::Number(value.into());
    let sums = &recorded.sums;
    let mut cells = vec![
        Cell::Text(connection::name(recorded)),
        Cell::Text(recorded.summary.client.to_string()),
        number(recorded.avoidable_seconds()),
    ];
    cells.extend(changeable().map(|share| number(sums.seconds(share))));
    cells.extend([
        number(sums.total_nanos() as f64 / 1e9),
        number(sums.seconds(TimeShare::ReceiverWindow)),
        number(sums.transfers as f64),
        number(sums.bytes as f64),
        number(sums.retransmissions as f64),
    ]);
    Row { cells, is_reference: false }
}

/// Returns the lines of a text, each with the line in brackets that follows it.
fn list_items(words: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for line in words.lines().map(str::trim) {
        match items.last_mut().filter(|_| line.starts_with('(')) {
            Some(item) => *item += &format!(" {line}"),
            None => items.push(line.to_owned()),
        }
    }
    items
}
