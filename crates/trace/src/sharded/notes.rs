//! Sinks in two halves: one part beside each shard, on its thread, and the rest on the calling one.
//!
//! The part handles anything that concerns one connection alone. It notes facts that several
//! connections share. The rest receives these notes in the order of the segments that showed them.

use super::SHARDS;
use crate::kinds::Retransmission;
use crate::servers::OnlyServers;
use crate::sink::{SentData, TraceSink, TracedSender};
use crate::snapshot::SenderSnapshot;
use crate::summary::ConnectionTrace;
use crate::transfer::TransferReport;
use rustc_hash::FxHashMap;
use units::{Duration, Instant};

/// A sink that can do a part of its work beside each shard of a
/// [`ShardedTraceEngine`](crate::ShardedTraceEngine).
///
/// On one thread the engine calls the whole sink. On several threads it calls a part beside each
/// shard, passes notes of the parts to [`ShardedSink::on_note`], and returns the parts at the end.
/// Both must yield the same results.
pub trait ShardedSink {
    /// The sink that receives everything if there is one thread.
    type Whole: TraceSink;
    /// The part beside a shard.
    type Part: SinkPart;

    /// Returns the sink that receives everything if there is one thread.
    fn whole(&mut self) -> &mut Self::Whole;

    /// Creates the empty part for one shard.
    fn part(&self) -> Self::Part;

    /// Receives a note of a part about a connection.
    fn on_note(&mut self, of: &NotedConnection<'_>, note: <Self::Part as SinkPart>::Note);

    /// Receives the part of a shard at its end; parts follow each other in the order of shards.
    fn join(&mut self, part: Self::Part);
}

/// The part of a [`ShardedSink`] beside one shard. Connections have the numbers that their shard
/// gives them.
pub trait SinkPart: TraceSink + Send + 'static {
    /// A note for the rest of the sink.
    type Note: Send + 'static;

    /// Returns the notes since the engine last emptied them.
    fn notes(&mut self) -> &mut Notes<Self::Note>;
}

/// The connection that a note is about.
#[derive(Clone, Copy, Debug)]
pub struct NotedConnection<'a> {
    numbers: &'a FxHashMap<u64, u64>,
    shard: usize,
    of_shard: u64,
}

impl<'a> NotedConnection<'a> {
    pub(super) const fn new(numbers: &'a FxHashMap<u64, u64>, shard: usize, of_shard: u64) -> Self {
        Self { numbers, shard, of_shard }
    }

    /// Returns a number that no other connection has. It means nothing else, and costs nothing.
    #[inline]
    pub const fn key(&self) -> u64 {
        self.of_shard * SHARDS as u64 + self.shard as u64
    }

    /// Returns its number among all, in the order of first packets. With one thread,
    /// [`TracedSender::connection`](crate::TracedSender) has the same value.
    pub fn number(&self) -> u64 {
        self.numbers.get(&self.of_shard).copied().unwrap_or(self.of_shard)
    }
}

/// Notes of a part, in their order, each about a connection.
#[derive(Debug)]
pub struct Notes<N> {
    at: u32,
    kept: Vec<PositionedNote<N>>,
}

impl<N> Default for Notes<N> {
    fn default() -> Self {
        Self { at: 0, kept: Vec::new() }
    }
}

impl<N> Notes<N> {
    /// Adds a note about a connection.
    #[inline]
    pub fn push(&mut self, connection: u64, note: N) {
        self.kept.push(PositionedNote { place: self.at, connection, entry: Entry::Note(note) });
    }

    /// Appends all notes to those of another kind.
    #[inline]
    pub fn move_to<M: From<N>>(&mut self, others: &mut Notes<M>) {
        match self.kept.len() {
            0 => {}
            // Nearly always there is a single note.
            1 => self.kept.pop().into_iter().for_each(|noted| noted.move_to(others)),
            _ => self.kept.drain(..).for_each(|noted| noted.move_to(others)),
        }
    }

    /// Marks the first packet of a connection, or its last note.
    pub(super) fn mark_connection(&mut self, connection: u64, begins: bool) {
        let entry = if begins { Entry::Begin } else { Entry::End };
        self.kept.push(PositionedNote { place: self.at, connection, entry });
    }

    /// Sets the position of the segment that the next notes are about.
    pub(super) const fn set_place(&mut self, place: u32) {
        self.at = place;
    }

    /// Returns the notes, and reuses the memory of `instead` for the next ones.
    pub(super) const fn exchange(
        &mut self,
        instead: Vec<PositionedNote<N>>,
    ) -> Vec<PositionedNote<N>> {
        std::mem::replace(&mut self.kept, instead)
    }
}

/// A note about a connection, with the position in the round of the segment that showed it.
#[derive(Debug)]
pub(super) struct PositionedNote<N> {
    pub(super) place: u32,
    pub(super) connection: u64,
    pub(super) entry: Entry<N>,
}

impl<N> PositionedNote<N> {
    #[inline]
    fn move_to<M: From<N>>(self, others: &mut Notes<M>) {
        if let Entry::Note(note) = self.entry {
            others.push(self.connection, note.into());
        }
    }
}

/// The content of a note.
#[derive(Debug)]
pub(super) enum Entry<N> {
    Begin,
    End,
    Note(N),
}

/// Calls a part, and marks where connections begin and end, so that they get their numbers among
/// all.
pub(super) struct Marking<P>(pub(super) P);

impl<P: SinkPart> TraceSink for Marking<P> {
    fn on_connection(&mut self, summary: &ConnectionTrace) {
        self.0.on_connection(summary);
        self.0.notes().mark_connection(summary.connection, false);
    }

    fn on_begin(&mut self, sender: &TracedSender, at: Instant) {
        self.0.notes().mark_connection(sender.connection, true);
        self.0.on_begin(sender, at);
    }

    fn on_over(&mut self, sender: &TracedSender, at: Instant) {
        self.0.on_over(sender, at);
    }

    #[inline(always)]
    fn wants_packets(&self) -> bool {
        self.0.wants_packets()
    }

    fn on_request(&mut self, sender: &TracedSender, at: Instant, bytes: u64) {
        self.0.on_request(sender, at, bytes);
    }

    #[inline(always)]
    fn on_sent(&mut self, sender: &TracedSender, sent: &SentData) {
        self.0.on_sent(sender, sent);
    }

    fn on_retransmission(&mut self, sender: &TracedSender, retransmission: &Retransmission) {
        self.0.on_retransmission(sender, retransmission);
    }

    #[inline(always)]
    fn wants_round_trips(&self) -> bool {
        self.0.wants_round_trips()
    }

    #[inline(always)]
    fn on_round_trip(&mut self, sender: &TracedSender, at: Instant, rtt: Duration) {
        self.0.on_round_trip(sender, at, rtt);
    }

    fn on_transfer(&mut self, sender: &TracedSender, report: &TransferReport) {
        self.0.on_transfer(sender, report);
    }

    #[inline(always)]
    fn wants_windows(&self) -> bool {
        self.0.wants_windows()
    }

    #[inline(always)]
    fn on_window(&mut self, sender: &TracedSender, point: &SenderSnapshot) {
        self.0.on_window(sender, point);
    }
}

impl<S: ShardedSink + TraceSink> ShardedSink for OnlyServers<S> {
    type Whole = Self;
    type Part = OnlyServers<S::Part>;

    fn whole(&mut self) -> &mut Self {
        self
    }

    fn part(&self) -> Self::Part {
        self.around(self.inner.part())
    }

    fn on_note(&mut self, of: &NotedConnection<'_>, note: <Self::Part as SinkPart>::Note) {
        self.inner.on_note(of, note);
    }

    fn join(&mut self, part: Self::Part) {
        self.left_out += part.left_out;
        self.of_other_clients += part.of_other_clients;
        self.inner.join(part.inner);
    }
}

impl<P: SinkPart> SinkPart for OnlyServers<P> {
    type Note = P::Note;

    fn notes(&mut self) -> &mut Notes<P::Note> {
        self.inner.notes()
    }
}
