//! All outputs of one run, side by side: summary or JSON on standard output, tables in a folder, a
//! page.

use super::account::ReadingAccount;
use super::args::{AnalyzeArgs, AnalyzeJson};
use super::ended::EndedWatch;
use super::json::JsonSink;
use super::packets;
use super::page::ReportSink;
use super::reading::ReadCapture;
use super::rebuilt::RebuiltAs;
use super::reply::{json_of, reply};
use super::summary::SummarySink;
use super::sums::{self, SumsOfRun};
use super::tables::{BeginMemory, TablesSink};
use super::words::findings_text;
use cmdline::request::CommandReply;
use cmdline::{Failure, FirstFailure, remark, stdout};
use findings::{FindingsSink, TraceFindings};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use trace::{
    ConnectionTrace, EngineCounters, Retransmission, SenderModels, SenderSnapshot, SentData,
    TraceSink, TracedSender, TransferReport,
};
use units::Instant;

/// Outputs of one run.
pub(super) struct Outputs {
    /// Sums, if not each connection alone is wanted.
    pub(super) findings: Option<FindingsSink>,
    /// File for the sums, if they are wanted.
    sums: Option<PathBuf>,
    /// Whether the findings are printed in words, or as JSON.
    in_words: bool,
    pub(super) others: Others,
}

/// Outputs beside findings.
pub(super) struct Others {
    summary: SummarySink,
    /// Watches ended connections, for words.
    ended: Option<EndedWatch>,
    json: Option<JsonSink>,
    tables: Option<TablesSink>,
    report: Option<ReportSink>,
}

impl Outputs {
    /// Begins what the options ask for; paths that cannot be written to are refused before anything
    /// is read.
    pub(super) fn begin(args: &AnalyzeArgs) -> Result<Self, Failure> {
        let report = args.report.as_deref().map(|page| ReportSink::begin(page, args.inputs()));
        let report = report.transpose()?;
        let tables = args.out.as_deref().map(|out| TablesSink::begin(out, &args.tables));
        let tables = tables.transpose()?;
        let by_connection = args.json() == Some(AnalyzeJson::Connections);
        let wants_epochs = tables.as_ref().is_some_and(TablesSink::wants_epochs);
        let wants_findings =
            !by_connection || args.report.is_some() || wants_epochs || args.mergeable;
        let mut findings = wants_findings.then(FindingsSink::with_epochs);
        let sums =
            args.out.as_deref().map(|out| sums::sums_file(out, args.mergeable)).transpose()?;
        let sums = sums.flatten();
        if sums.is_some() {
            findings.iter_mut().for_each(FindingsSink::keep_sums);
        }
        Ok(Self {
            findings,
            sums,
            in_words: args.json().is_none(),
            others: Others {
                summary: SummarySink::default(),
                ended: args.json().is_none().then(|| EndedWatch::new(args.follow)),
                json: by_connection.then(JsonSink::new),
                tables,
                report,
            },
        })
    }

    /// Begins what a request asks for. Tables are in memory unless a folder is named.
    pub(super) fn of_request(
        args: &AnalyzeArgs,
        begin: &mut BeginMemory<'_>,
    ) -> Result<Self, Failure> {
        let mut outputs = Self::begin(args)?;
        outputs.in_words = false;
        outputs.others.ended = None;
        outputs.others.tables.get_or_insert_with(|| TablesSink::in_memory(&args.tables, begin));
        Ok(outputs)
    }

    /// Passes on how servers are rebuilt, before anything is found.
    pub(super) fn rebuilt_as(&mut self, models: &SenderModels) {
        let rebuilt_as = RebuiltAs::of(models);
        let Others { summary, json, tables, .. } = &mut self.others;
        if let Some(json) = json {
            json.rebuilt_as = rebuilt_as.clone();
        }
        if let Some(tables) = tables {
            tables.rebuilt_as = rebuilt_as.clone();
        }
        summary.rebuilt_as = rebuilt_as;
    }

    /// A flag that is set once standard output has no reader, if nothing else is wanted.
    pub(super) fn has_no_reader(&self) -> Option<Arc<AtomicBool>> {
        let Others { ended, json, tables, report, .. } = &self.others;
        let unheard = match json {
            Some(json) => Some(json.has_no_reader()),
            None => ended.as_ref().map(EndedWatch::has_no_reader),
        };
        unheard.filter(|_| tables.is_none() && report.is_none())
    }

    /// Writes what is left: each output, whatever becomes of the others.
    pub(super) fn end(
        self,
        counters: &EngineCounters,
        read: &ReadCapture,
    ) -> (SummarySink, FirstFailure) {
        let Others { summary, ended: watch, json, tables, report } = self.others;
        let mut ended = FirstFailure::default();
        ended.note(tables.map_or(Ok(()), TablesSink::end));
        let account = ReadingAccount::of(&summary, counters, read);
        let beside = packets::unusual_packets(&read.counters);
        if let Some(json) = &json {
            // The array has no room for it.
            let (warnings, counts) = (account.warnings(), account.counts(&summary));
            let nothing =
                if json.is_empty() { format!("{counts}\n{beside}") } else { String::new() };
            for line in nothing.lines().chain(warnings.lines()) {
                remark(&format!("headstart: {line}"));
            }
        }
        let by_connection = json.is_some();
        ended.note(json.map_or(Ok(()), JsonSink::end));
        let sums =
            self.sums.as_deref().map(|file| SumsOfRun { file, summary: &summary, counters, read });
        let found = self.findings.map(|findings| finish_findings(findings, sums, &mut ended));
        let Some(found) = found else { return (summary, ended) };
        let words = findings_text(&found) + &account.warnings();
        if let Some(report) = report {
            let words = words.clone() + &beside;
            ended.note(report.end(&found, &account.counts(&summary), &words));
        }
        if self.in_words {
            ended.note(stdout::print(&format!("{words}\n")));
            ended.note(summary.print(&account.counts(&summary), &beside));
            ended.note(watch.map_or(Ok(()), EndedWatch::print));
        } else if !by_connection {
            ended.note(json_of(&found, &account).and_then(|json| stdout::print(&json)));
        }
        (summary, ended)
    }

    /// Ends the outputs of a request: files are written, and the rest is the answer.
    pub(super) fn finish_request(
        self,
        counters: &EngineCounters,
        read: &ReadCapture,
    ) -> Result<CommandReply, Failure> {
        let Others { summary, tables, report, .. } = self.others;
        let mut ended = FirstFailure::default();
        ended.note(tables.map_or(Ok(()), TablesSink::end));
        let account = ReadingAccount::of(&summary, counters, read);
        let sums =
            self.sums.as_deref().map(|file| SumsOfRun { file, summary: &summary, counters, read });
        let findings = self.findings.unwrap_or_else(FindingsSink::with_epochs);
        let found = finish_findings(findings, sums, &mut ended);
        if let Some(report) = report {
            let words = findings_text(&found)
                + &account.warnings()
                + &packets::unusual_packets(&read.counters);
            ended.note(report.end(&found, &account.counts(&summary), &words));
        }
        let reply = reply(&found, &summary, &account, read)?;
        Ok(CommandReply { failure: ended.end(), ..reply })
    }
}

/// The findings; their sums go to a file, if they are wanted.
fn finish_findings(
    findings: FindingsSink,
    sums: Option<SumsOfRun<'_>>,
    ended: &mut FirstFailure,
) -> TraceFindings {
    let Some(sums) = sums else { return findings.finish() };
    let found = findings.sums();
    ended.note(sums.write(&found));
    found.finish()
}

impl Outputs {
    /// Loss epochs that have just ended become rows.
    #[inline]
    pub(super) fn write_epochs(&mut self) {
        if self.findings.as_ref().is_some_and(FindingsSink::has_epochs) {
            self.write_ended_epochs();
        }
    }

    #[cold]
    fn write_ended_epochs(&mut self) {
        let Some(findings) = &mut self.findings else { return };
        for epoch in findings.take_epochs() {
            if let Some(tables) = &mut self.others.tables {
                tables.on_epoch(&epoch);
            }
        }
    }
}

/// Calls a method of findings, if they are wanted, and of the others.
macro_rules! both {
    ($self:ident, $method:ident($($argument:expr),*)) => {
        if let Some(findings) = &mut $self.findings {
            findings.$method($($argument),*);
        }
        $self.others.$method($($argument),*);
    };
}

impl TraceSink for Outputs {
    fn on_connection(&mut self, summary: &ConnectionTrace) {
        both!(self, on_connection(summary));
        self.write_epochs();
    }

    fn on_begin(&mut self, sender: &TracedSender, at: Instant) {
        both!(self, on_begin(sender, at));
    }

    fn on_over(&mut self, sender: &TracedSender, at: Instant) {
        both!(self, on_over(sender, at));
        self.write_epochs();
    }

    fn on_request(&mut self, sender: &TracedSender, at: Instant, bytes: u64) {
        both!(self, on_request(sender, at, bytes));
    }

    #[inline]
    fn on_sent(&mut self, sender: &TracedSender, sent: &SentData) {
        both!(self, on_sent(sender, sent));
    }

    fn on_retransmission(&mut self, sender: &TracedSender, again: &Retransmission) {
        both!(self, on_retransmission(sender, again));
    }

    fn on_transfer(&mut self, sender: &TracedSender, report: &TransferReport) {
        both!(self, on_transfer(sender, report));
    }

    fn wants_packets(&self) -> bool {
        self.findings.is_some() || self.others.wants_packets()
    }

    fn wants_round_trips(&self) -> bool {
        false
    }

    fn wants_windows(&self) -> bool {
        self.findings.is_some() || self.others.wants_windows()
    }

    #[inline]
    fn on_window(&mut self, sender: &TracedSender, point: &SenderSnapshot) {
        both!(self, on_window(sender, point));
        self.write_epochs();
    }
}

/// Calls a method of the summary, and of all others that are wanted.
macro_rules! each {
    ($self:ident, $method:ident($($argument:expr),*)) => {
        $self.summary.$method($($argument),*);
        if let Some(ended) = &mut $self.ended {
            ended.$method($($argument),*);
        }
        if let Some(json) = &mut $self.json {
            json.$method($($argument),*);
        }
        if let Some(tables) = &mut $self.tables {
            tables.$method($($argument),*);
        }
        if let Some(report) = &mut $self.report {
            report.worst.$method($($argument),*);
        }
    };
}

impl TraceSink for Others {
    fn on_connection(&mut self, summary: &ConnectionTrace) {
        each!(self, on_connection(summary));
    }

    fn on_begin(&mut self, sender: &TracedSender, at: Instant) {
        each!(self, on_begin(sender, at));
    }

    fn on_over(&mut self, sender: &TracedSender, at: Instant) {
        each!(self, on_over(sender, at));
    }

    fn on_request(&mut self, sender: &TracedSender, at: Instant, bytes: u64) {
        each!(self, on_request(sender, at, bytes));
    }

    #[inline]
    fn on_sent(&mut self, sender: &TracedSender, sent: &SentData) {
        each!(self, on_sent(sender, sent));
    }

    fn on_retransmission(&mut self, sender: &TracedSender, again: &Retransmission) {
        each!(self, on_retransmission(sender, again));
    }

    fn on_transfer(&mut self, sender: &TracedSender, report: &TransferReport) {
        each!(self, on_transfer(sender, report));
    }

    fn wants_packets(&self) -> bool {
        self.report.is_some()
    }

    /// Windows have round trips, too.
    fn wants_round_trips(&self) -> bool {
        false
    }

    fn wants_windows(&self) -> bool {
        self.report.is_some() || self.tables.as_ref().is_some_and(TablesSink::wants_windows)
    }

    #[inline]
    fn on_window(&mut self, sender: &TracedSender, point: &SenderSnapshot) {
        each!(self, on_window(sender, point));
    }
}
