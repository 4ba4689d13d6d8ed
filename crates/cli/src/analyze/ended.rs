//! Shows the worst transfers and connections, and with `--follow` each connection as it ends.

use super::clock::utc;
use cmdline::{Failure, stdout};
use findings::{TimeSums, WorstCandidate, WorstList};
use report::{Cell, Column, Quantity, Row, Table, bytes, seconds};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use trace::{ConnectionTrace, TraceEnd, TraceSink, TracedSender, TransferEnd, TransferReport};
use units::{Instant, counted};

/// Rows of a table of the terminal.
const ROWS: usize = 5;

/// A transfer that may be among the worst.
#[derive(Clone, Copy, Debug)]
struct EndedTransfer {
    report: TransferReport,
    sums: TimeSums,
}

/// A connection under way.
#[derive(Debug)]
struct OpenConnection {
    sums: TimeSums,
    worst: WorstList<EndedTransfer>,
}

impl Default for OpenConnection {
    fn default() -> Self {
        Self { sums: TimeSums::default(), worst: WorstList::up_to(ROWS) }
    }
}

/// Something that has ended, as a table or a line shows it.
#[derive(Clone, Debug)]
struct EndedRow {
    name: String,
    client: String,
    server: String,
    began: Instant,
    /// Seconds.
    duration: f64,
    sums: TimeSums,
    end: &'static str,
}

/// Watches what ends.
pub(super) struct EndedWatch {
    open: HashMap<u64, OpenConnection>,
    transfers: WorstList<EndedRow>,
    connections: WorstList<EndedRow>,
    /// Prints each connection as it ends.
    follows: bool,
    failure: Option<Failure>,
    /// Set once the reader of the lines has left.
    unheard: Arc<AtomicBool>,
}

impl EndedWatch {
    /// One that prints each connection if it `follows`.
    pub(super) fn new(follows: bool) -> Self {
        Self {
            open: HashMap::new(),
            transfers: WorstList::up_to(ROWS),
            connections: WorstList::up_to(ROWS),
            follows,
            failure: None,
            unheard: Arc::default(),
        }
    }

    /// Set once the reader of the lines has left.
    pub(super) fn has_no_reader(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.unheard)
    }

    /// Prints both tables, as far as something lost time.
    pub(super) fn print(self) -> Result<(), Failure> {
        match self.failure {
            None => {}
            // The other outputs are still written.
            Some(Failure::ReaderGone) => return Ok(()),
            Some(failure) => return Err(failure),
        }
        for (what, list) in
            [("worst transfers", self.transfers), ("worst connections", self.connections)]
        {
            let rows: Vec<Row> = list.iter().map(EndedRow::row).collect();
            if !rows.is_empty() {
                stdout::print("\n")?;
                stdout::print_table(&Table { columns: columns(what), rows })?;
            }
        }
        Ok(())
    }

    fn print_ended(&mut self, row: &EndedRow) {
        if self.follows && self.failure.is_none() {
            self.failure = stdout::print_on(&row.line()).err();
            self.unheard.store(self.failure.is_some(), Ordering::Relaxed);
        }
    }
}

fn columns(what: &str) -> Vec<Column> {
    vec![
        Column::new(what, Quantity::Text, "Number of the connection, and of its transfer"),
        Column::new("client", Quantity::Text, "Address and port"),
        Column::new("began", Quantity::Text, "UTC"),
        Column::new("size", Quantity::Bytes, "Payload of the response"),
        Column::new("duration", Quantity::Time, "From the beginning to the end"),
        Column::new("lost", Quantity::Time, "Time outside handshakes, requests and the path"),
        Column::new("biggest cause", Quantity::Text, "What took most of the time, beside the path"),
        Column::new("ended", Quantity::Text, "How it ended"),
    ]
}

impl EndedRow {
    /// A transfer of a connection that is over.
    fn of_transfer(transfer: &EndedTransfer, of: &ConnectionTrace) -> Self {
        let EndedTransfer { report, sums } = transfer;
        let end = match report.outcome {
            TransferEnd::Unfinished => of.end.name(),
            outcome => outcome.name(),
        };
        Self {
            name: format!("C{}.{}", of.connection, report.index),
            client: of.client.to_string(),
            server: of.server.to_string(),
            began: report.began,
            duration: report.duration().as_secs_f64(),
            sums: *sums,
            end,
        }
    }

    fn of_connection(of: &ConnectionTrace, sums: TimeSums) -> Self {
        Self {
            name: format!("C{}", of.connection),
            client: of.client.to_string(),
            server: of.server.to_string(),
            began: of.began,
            duration: of.ended.saturating_since(of.began).as_secs_f64(),
            sums,
            end: of.end.name(),
        }
    }

    fn main_cause(&self) -> Option<String> {
        let cause = self.sums.main_cause()?;
        Some(format!("{} {:.0} %", cause.share.name(), 100.0 * cause.part))
    }

    fn row(&self) -> Row {
        let number = |value: f64| Cell::Number(value.into());
        let cells = vec![
            Cell::Text(self.name.clone()),
            Cell::Text(self.client.clone()),
            Cell::Text(utc(self.began)),
            number(self.sums.bytes as f64),
            number(self.duration),
            number(self.sums.lost_nanos() as f64 / 1e9),
            self.main_cause().map_or(Cell::Undefined, Cell::Text),
            Cell::Text(self.end.to_owned()),
        ];
        Row { cells, is_reference: false }
    }

    /// A line of `--follow`.
    fn line(&self) -> String {
        let cause =
            self.main_cause().map_or_else(String::new, |cause| format!(", most in {cause}"));
        format!(
            "{} {} to {}: {} of {} in {}{cause}; {}\n",
            utc(self.began),
            self.client,
            self.server,
            counted(self.sums.transfers, "transfer"),
            bytes(self.sums.bytes),
            seconds(self.duration),
            self.end
        )
    }
}

impl TraceSink for EndedWatch {
    fn on_transfer(&mut self, sender: &TracedSender, report: &TransferReport) {
        let open = self.open.entry(sender.connection).or_default();
        open.sums.add(report);
        let mut sums = TimeSums::default();
        sums.add(report);
        let (connection, transfer) = (sender.connection, report.index);
        let candidate = WorstCandidate { connection, transfer, sums: &sums };
        open.worst.offer(candidate, || EndedTransfer { report: *report, sums });
    }

    fn on_connection(&mut self, summary: &ConnectionTrace) {
        let OpenConnection { sums, worst } =
            self.open.remove(&summary.connection).unwrap_or_default();
        let connection = summary.connection;
        for transfer in worst.iter() {
            let EndedTransfer { report, sums } = transfer;
            let candidate = WorstCandidate { connection, transfer: report.index, sums };
            self.transfers.offer(candidate, || EndedRow::of_transfer(transfer, summary));
        }
        let candidate = WorstCandidate { connection, transfer: 0, sums: &sums };
        self.connections.offer(candidate, || EndedRow::of_connection(summary, sums));
        // A connection that waits for others' packets has not ended.
        if self.follows && summary.end != TraceEnd::CaptureEnded {
            self.print_ended(&EndedRow::of_connection(summary, sums));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::TimeShare;
    use units::Duration;

    fn transfer(watch: &mut EndedWatch, connection: u64, index: u32, lost: u64) {
        let sender = TracedSender {
            connection,
            client: Default::default(),
            server: Default::default(),
            is_server: true,
        };
        let outcome = if index == 0 { TransferEnd::Complete } else { TransferEnd::Unfinished };
        let mut report = TransferReport { index, outcome, ..Default::default() };
        report.shares.add(TimeShare::Timeout, Duration::from_millis(lost));
        watch.on_transfer(&sender, &report);
    }

    /// Two connections with 3 and 4 ms, of which the first one lost 3 in one transfer: it has the
    /// worst transfer, and the other one is the worst connection. A transfer that was not
    /// acknowledged ended as its connection did.
    #[test]
    fn transfers_and_connections_are_ranked_apart() {
        let mut watch = EndedWatch::new(false);
        transfer(&mut watch, 0, 1, 3);
        transfer(&mut watch, 1, 0, 2);
        transfer(&mut watch, 1, 1, 2);
        for connection in [1, 0] {
            let end = TraceEnd::ResetByClient;
            watch.on_connection(&ConnectionTrace { connection, end, ..Default::default() });
        }
        let names = |list: &WorstList<EndedRow>| -> Vec<(String, &str)> {
            list.iter().map(|row| (row.name.clone(), row.end)).collect()
        };
        let named = |all: &[(&str, &'static str)]| -> Vec<(String, &str)> {
            all.iter().map(|(name, end)| ((*name).to_owned(), *end)).collect()
        };
        let transfers =
            [("C0.1", "reset-by-client"), ("C1.0", "complete"), ("C1.1", "reset-by-client")];
        assert_eq!(names(&watch.transfers), named(&transfers));
        assert_eq!(
            names(&watch.connections),
            named(&[("C1", "reset-by-client"), ("C0", "reset-by-client")])
        );
        assert!(watch.open.is_empty());
    }
}
