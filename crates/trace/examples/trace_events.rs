//! Prints all events of the engine, line by line, to compare the output of two builds.
//!
//! `trace_events PROFILE [--unfolded N] FILE… | sha256sum`; with N = 0 the engine compresses every
//! connection after each of its packets.

use capture::{CaptureFiles, SegmentSource};
use std::io::{self, BufWriter, Write};
use trace::{
    ConnectionTrace, EngineConfig, Retransmission, SenderModel, SenderModels, SenderProfile,
    SenderSnapshot, SentData, TraceEngine, TraceSink, TracedSender, TransferReport,
};
use units::{Duration, Instant};

/// Prints each event.
struct Lines<W>(W);

impl<W: Write> Lines<W> {
    fn line(&mut self, of: &str, value: &dyn std::fmt::Debug) {
        // A closed pipe is no error: the reader has seen enough.
        let _ = writeln!(self.0, "{of} {value:?}");
    }
}

impl<W: Write> TraceSink for Lines<W> {
    fn on_connection(&mut self, summary: &ConnectionTrace) {
        self.line("connection", summary);
    }

    fn on_begin(&mut self, sender: &TracedSender, at: Instant) {
        self.line("begin", &(sender, at));
    }

    fn on_over(&mut self, sender: &TracedSender, at: Instant) {
        self.line("over", &(sender.connection, at));
    }

    fn on_request(&mut self, sender: &TracedSender, at: Instant, bytes: u64) {
        self.line("request", &(sender.connection, sender.is_server, at, bytes));
    }

    fn on_sent(&mut self, sender: &TracedSender, sent: &SentData) {
        self.line("sent", &(sender.connection, sent));
    }

    fn on_retransmission(&mut self, sender: &TracedSender, again: &Retransmission) {
        self.line("again", &(sender.connection, sender.is_server, again));
    }

    fn on_round_trip(&mut self, sender: &TracedSender, at: Instant, rtt: Duration) {
        self.line("round trip", &(sender.connection, sender.is_server, at, rtt));
    }

    fn on_transfer(&mut self, sender: &TracedSender, report: &TransferReport) {
        self.line("transfer", &(sender.connection, report));
    }

    fn wants_windows(&self) -> bool {
        true
    }

    fn on_window(&mut self, sender: &TracedSender, point: &SenderSnapshot) {
        self.line("window", &(sender.connection, sender.is_server, point));
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let profile =
        args.next().and_then(|name| SenderProfile::named(&name)).ok_or("which profile?")?;
    let models = SenderModels::all(SenderModel::of(profile));
    let config = EngineConfig { models, ..EngineConfig::default() };
    let (mut source, mut batch) = (CaptureFiles::new(args), Vec::new());
    let mut engine = TraceEngine::new(config, Lines(BufWriter::new(io::stdout().lock())));
    while source.next_batch(&mut batch)? {
        batch.iter().for_each(|segment| engine.on_segment(segment));
    }
    let (Lines(mut lines), counters) = engine.finish_all();
    writeln!(lines, "{counters:?}")?;
    Ok(lines.flush()?)
}
