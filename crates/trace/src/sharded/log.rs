//! What shards find, kept until it is its turn to be told.

use super::SHARDS;
use crate::kinds::Retransmission;
use crate::sink::{TraceSink, TracedSender};
use crate::snapshot::SenderSnapshot;
use crate::summary::ConnectionTrace;
use crate::transfer::TransferReport;
use rustc_hash::FxHashMap;
use units::{Duration, Instant};

/// What the sink at the end wants to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wants {
    windows: bool,
    round_trips: bool,
}

impl Wants {
    pub(super) fn of(sink: &impl TraceSink) -> Self {
        Self { windows: sink.wants_windows(), round_trips: sink.wants_round_trips() }
    }
}

/// One call of a sink.
#[derive(Clone, Debug)]
enum TraceEvent {
    /// A connection, by its number within the shard, has its first packet.
    Begun(u64),
    Connection(Box<ConnectionTrace>),
    Again(TracedSender, Box<Retransmission>),
    RoundTrip(TracedSender, Instant, Duration),
    Transfer(TracedSender, Box<TransferReport>),
    Window(TracedSender, Box<SenderSnapshot>),
}

/// Calls of a sink, each with the place of the segment that led to it.
#[derive(Debug)]
pub(super) struct EventLog {
    wants: Wants,
    at: u32,
    events: Vec<(u32, TraceEvent)>,
}

impl EventLog {
    pub(super) const fn new(wants: Wants) -> Self {
        Self { wants, at: 0, events: Vec::new() }
    }

    /// Nothing was found.
    pub(super) const fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// What comes now belongs to the segment at this place.
    pub(super) const fn set_place(&mut self, place: u32) {
        self.at = place;
    }

    /// Takes what was found, and leaves an empty log that has the room of `instead`.
    pub(super) fn exchange(&mut self, instead: Found) -> Found {
        Found(std::mem::replace(&mut self.events, instead.0))
    }

    fn push(&mut self, event: TraceEvent) {
        self.events.push((self.at, event));
    }
}

impl TraceSink for EventLog {
    fn on_begun(&mut self, connection: u64) {
        self.push(TraceEvent::Begun(connection));
    }

    fn on_connection(&mut self, summary: &ConnectionTrace) {
        self.push(TraceEvent::Connection(Box::new(*summary)));
    }

    fn on_retransmission(&mut self, sender: &TracedSender, again: &Retransmission) {
        self.push(TraceEvent::Again(*sender, Box::new(*again)));
    }

    fn wants_round_trips(&self) -> bool {
        self.wants.round_trips
    }

    fn on_round_trip(&mut self, sender: &TracedSender, at: Instant, rtt: Duration) {
        self.push(TraceEvent::RoundTrip(*sender, at, rtt));
    }

    fn on_transfer(&mut self, sender: &TracedSender, report: &TransferReport) {
        self.push(TraceEvent::Transfer(*sender, Box::new(*report)));
    }

    fn wants_windows(&self) -> bool {
        self.wants.windows
    }

    fn on_window(&mut self, sender: &TracedSender, point: &SenderSnapshot) {
        self.push(TraceEvent::Window(*sender, Box::new(*point)));
    }
}
