//! Everything that one run puts out, beside each other: summary or JSON on standard output, tables in a folder.

use super::args::AnalyzeArgs;
use super::json::JsonSink;
use super::summary::SummarySink;
use super::tables::TablesSink;
use crate::failure::Failure;
use trace::{
    ConnectionTrace, EngineTally, Retransmission, SenderSnapshot, TraceSink, TracedSender,
    TransferReport,
};
use units::{Duration, Instant};

/// What is wanted of one run.
pub(super) struct Outputs {
    pub(super) summary: SummarySink,
    json: Option<JsonSink>,
    tables: Option<TablesSink>,
}

impl Outputs {
    /// Begins what the options ask for; places that cannot be written to are refused before anything is read.
    pub(super) fn begin(args: &AnalyzeArgs) -> Result<Self, Failure> {
        let tables = args.out.as_deref().map(|out| TablesSink::begin(out, &args.tables));
        Ok(Self {
            summary: SummarySink::default(),
            json: args.json.then(JsonSink::begin),
            tables: tables.transpose()?,
        })
    }

    /// Writes what is left. `left_out`: connections of servers that were not named.
    pub(super) fn end(self, tally: &EngineTally, left_out: u64) -> Result<SummarySink, Failure> {
        self.tables.map_or(Ok(()), TablesSink::end)?;
        match self.json {
            Some(json) => json.end()?,
            None => self.summary.print(tally, left_out)?,
        }
        Ok(self.summary)
    }
}

/// Calls a method of everything that is wanted.
macro_rules! each {
    ($self:ident, $method:ident($($argument:expr),*)) => {
        $self.summary.$method($($argument),*);
        if let Some(json) = &mut $self.json {
            json.$method($($argument),*);
        }
        if let Some(tables) = &mut $self.tables {
            tables.$method($($argument),*);
        }
    };
}

impl TraceSink for Outputs {
    fn on_connection(&mut self, summary: &ConnectionTrace) {
        each!(self, on_connection(summary));
    }

    fn on_retransmission(&mut self, sender: &TracedSender, again: &Retransmission) {
        each!(self, on_retransmission(sender, again));
    }

    fn on_round_trip(&mut self, sender: &TracedSender, at: Instant, rtt: Duration) {
        each!(self, on_round_trip(sender, at, rtt));
    }

    fn on_transfer(&mut self, sender: &TracedSender, report: &TransferReport) {
        each!(self, on_transfer(sender, report));
    }

    fn wants_windows(&self) -> bool {
        self.tables.as_ref().is_some_and(TablesSink::wants_windows)
    }

    fn on_window(&mut self, sender: &TracedSender, point: &SenderSnapshot) {
        each!(self, on_window(sender, point));
    }
}
