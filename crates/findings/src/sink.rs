//! Takes the results of the engine. The thread that rebuilds a connection follows it alone; one
//! thread combines the facts that connections share.

use crate::alone::PerConnection;
use crate::notes::{FindingsNote, TakesNotes};
use crate::parallel::LossEpoch;
use crate::result::TraceFindings;
use crate::sums::FindingsSums;
use crate::together::Together;
use trace::{
    ConnectionTrace, NotedConnection, Notes, Retransmission, SenderSnapshot, SentData, ShardedSink,
    SinkPart, TraceSink, TracedSender, TransferReport,
};
use units::Instant;

/// Computes findings. `T` takes the notes that concern more than one connection: at once
/// ([`FindingsSink`]), or for another thread ([`FindingsPart`]).
#[derive(Default)]
pub struct NotedFindings<T> {
    alone: PerConnection,
    notes: T,
}

/// Computes all findings. Its memory is bounded: by the connections that the engine follows, and by
/// limits of its own for hosts, networks and requests of the last minutes.
pub type FindingsSink = NotedFindings<Together>;

/// The part of a [`FindingsSink`] beside one shard of the engine.
pub type FindingsPart = NotedFindings<Notes<FindingsNote>>;

impl FindingsSink {
    /// Creates a sink that keeps each loss epoch until [`FindingsSink::take_epochs`].
    pub fn with_epochs() -> Self {
        Self { notes: Together::with_epochs(), ..Self::default() }
    }

    /// Keeps what [`FindingsSink::sums`] needs beside findings: memory grows with requests.
    pub fn keep_sums(&mut self) {
        self.notes.keep_requests();
    }

    /// Returns the sums of the capture, if [`FindingsSink::keep_sums`] was called before it.
    pub fn sums(self) -> FindingsSums {
        FindingsSums::new(self.alone.losses, self.alone.compression, self.notes.sums())
    }

    /// Returns true if [`FindingsSink::take_epochs`] has an epoch to return.
    #[inline]
    pub fn has_epochs(&self) -> bool {
        self.notes.has_epochs()
    }

    /// Returns the loss epochs that have ended since the last call. Those open at the end of a
    /// capture do not end.
    pub fn take_epochs(&mut self) -> impl Iterator<Item = LossEpoch> + '_ {
        self.notes.take_epochs()
    }

    /// Returns the findings so far.
    pub fn finish(mut self) -> TraceFindings {
        let parallel = self.notes.parallel();
        TraceFindings {
            time: self.notes.time.findings(),
            warm: self.notes.warm.findings(),
            requests: self.notes.requests.findings(),
            losses: self.alone.losses.findings(),
            compression: self.alone.compression.findings(),
            parallel,
        }
    }
}

impl<T: TakesNotes> TraceSink for NotedFindings<T> {
    fn on_begin(&mut self, sender: &TracedSender, at: Instant) {
        self.alone.begin(sender, at, &mut self.notes);
    }

    fn on_over(&mut self, sender: &TracedSender, at: Instant) {
        self.alone.over(sender.connection, at, &mut self.notes);
    }

    fn on_connection(&mut self, summary: &ConnectionTrace) {
        self.alone.end(summary, &mut self.notes);
    }

    fn wants_round_trips(&self) -> bool {
        false
    }

    fn on_request(&mut self, sender: &TracedSender, at: Instant, _: u64) {
        self.alone.on_request(sender, at, &mut self.notes);
    }

    #[inline(always)]
    fn on_sent(&mut self, sender: &TracedSender, sent: &SentData) {
        self.alone.on_sent(sender.connection, sent, &mut self.notes);
    }

    fn on_retransmission(&mut self, sender: &TracedSender, again: &Retransmission) {
        self.alone.on_retransmission(sender, again, &mut self.notes);
    }

    fn wants_windows(&self) -> bool {
        true
    }

    #[inline(always)]
    fn on_window(&mut self, sender: &TracedSender, point: &SenderSnapshot) {
        if sender.is_server {
            self.alone.on_window(sender.connection, point, &mut self.notes);
        }
    }

    fn on_transfer(&mut self, sender: &TracedSender, report: &TransferReport) {
        self.alone.on_transfer(sender, report, &mut self.notes);
    }
}

impl ShardedSink for FindingsSink {
    type Whole = Self;
    type Part = FindingsPart;

    fn whole(&mut self) -> &mut Self {
        self
    }

    fn part(&self) -> FindingsPart {
        FindingsPart::default()
    }

    #[inline]
    fn on_note(&mut self, of: &NotedConnection<'_>, note: FindingsNote) {
        match note {
            FindingsNote::Sent(sent) => self.notes.take_sent(of.key(), sent),
            FindingsNote::Acked(ack) => self.notes.take_acked(of.key(), ack),
            rare => self.notes.take(of.key(), rare),
        }
    }

    fn join(&mut self, part: FindingsPart) {
        self.alone.add(&part.alone);
    }
}

impl SinkPart for FindingsPart {
    type Note = FindingsNote;

    fn notes(&mut self) -> &mut Notes<FindingsNote> {
        &mut self.notes
    }
}
