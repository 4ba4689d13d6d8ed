//! What shards find, kept until it is its turn to be told.

use super::SHARDS;
use crate::kinds::Retransmission;
use crate::sink::{SentData, TraceSink, TracedSender};
use crate::snapshot::SenderSnapshot;
use crate::summary::ConnectionTrace;
use crate::transfer::TransferReport;
use rustc_hash::FxHashMap;
use units::{Duration, Instant};

/// What the sink at the end wants to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wants {
    windows: bool,
    packets: bool,
    round_trips: bool,
}

impl Wants {
    pub(super) fn of(sink: &impl TraceSink) -> Self {
        Self {
            windows: sink.wants_windows(),
            packets: sink.wants_packets(),
            round_trips: sink.wants_round_trips(),
        }
    }
}

/// One call of a sink.
#[derive(Clone, Debug)]
pub(super) enum TraceEvent {
    /// A connection has its first packet.
    Begin(TracedSender, Instant),
    Over(TracedSender, Instant),
    Request(TracedSender, Instant, u64),
    Sent(TracedSender, SentData),
    Connection(Box<ConnectionTrace>),
    Again(TracedSender, Box<Retransmission>),
    RoundTrip(TracedSender, Instant, Duration),
    Transfer(TracedSender, Box<TransferReport>),
    Window(TracedSender, SenderSnapshot),
}

/// Calls of a sink, each with the place of the segment that led to it.
pub(super) type Found = Vec<(u32, TraceEvent)>;

/// Keeps the calls of a sink.
#[derive(Debug)]
pub(super) struct EventLog {
    wants: Wants,
    at: u32,
    found: Found,
}

impl EventLog {
    pub(super) const fn new(wants: Wants) -> Self {
        Self { wants, at: 0, found: Vec::new() }
    }

    /// What comes now belongs to the segment at this place.
    pub(super) const fn set_place(&mut self, place: u32) {
        self.at = place;
    }

    /// Takes what was found; goes on in the room of `instead`.
    pub(super) const fn exchange(&mut self, instead: Found) -> Found {
        std::mem::replace(&mut self.found, instead)
    }

    fn push(&mut self, event: TraceEvent) {
        self.found.push((self.at, event));
    }
}

impl TraceSink for EventLog {
    fn on_connection(&mut self, summary: &ConnectionTrace) {
        self.push(TraceEvent::Connection(Box::new(*summary)));
    }

    fn on_begin(&mut self, sender: &TracedSender, at: Instant) {
        self.push(TraceEvent::Begin(*sender, at));
    }

    fn on_over(&mut self, sender: &TracedSender, at: Instant) {
        self.push(TraceEvent::Over(*sender, at));
    }

    fn wants_packets(&self) -> bool {
        self.wants.packets
    }

    fn on_request(&mut self, sender: &TracedSender, at: Instant, bytes: u64) {
        if self.wants.packets {
            self.push(TraceEvent::Request(*sender, at, bytes));
        }
    }

    fn on_sent(&mut self, sender: &TracedSender, sent: &SentData) {
        if self.wants.packets {
            self.push(TraceEvent::Sent(*sender, *sent));
        }
    }

    fn on_retransmission(&mut self, sender: &TracedSender, again: &Retransmission) {
        self.push(TraceEvent::Again(*sender, Box::new(*again)));
    }

    fn wants_round_trips(&self) -> bool {
        self.wants.round_trips
    }

    fn on_round_trip(&mut self, sender: &TracedSender, at: Instant, rtt: Duration) {
        if self.wants.round_trips {
            self.push(TraceEvent::RoundTrip(*sender, at, rtt));
        }
    }

    fn on_transfer(&mut self, sender: &TracedSender, report: &TransferReport) {
        self.push(TraceEvent::Transfer(*sender, Box::new(*report)));
    }

    fn wants_windows(&self) -> bool {
        self.wants.windows
    }

    fn on_window(&mut self, sender: &TracedSender, point: &SenderSnapshot) {
        self.push(TraceEvent::Window(*sender, *point));
    }
}

/// A sink that is told what shards found: under numbers that connections have among all.
pub(super) struct Renumbered<S> {
    sink: S,
    next: u64,
    /// Of each shard: the numbers of its connections among all, by those that it gives them.
    numbers: [FxHashMap<u64, u64>; SHARDS],
}

impl<S: TraceSink> Renumbered<S> {
    pub(super) fn new(sink: S) -> Self {
        Self { sink, next: 0, numbers: Default::default() }
    }

    pub(super) fn into_inner(self) -> S {
        self.sink
    }

    /// Tells what one shard found.
    pub(super) fn replay(&mut self, shard: usize, found: &mut Found) {
        found.drain(..).for_each(|(_, event)| self.tell(shard, event));
    }

    /// Tells what all shards found, in the order of segments, of which these are the shards.
    pub(super) fn replay_all(&mut self, order: &[u8], found: [&mut Found; SHARDS]) {
        let mut left = found.map(|found| found.drain(..).peekable());
        for (at, &shard) in order.iter().enumerate() {
            let shard = usize::from(shard);
            while let Some((_, event)) = left[shard].next_if(|next| next.0 as usize == at) {
                self.tell(shard, event);
            }
        }
    }

    fn tell(&mut self, shard: usize, event: TraceEvent) {
        let numbers = &mut self.numbers[shard];
        let among_all = |sender: TracedSender| {
            let number = numbers.get(&sender.connection).copied();
            TracedSender { connection: number.unwrap_or(sender.connection), ..sender }
        };
        match event {
            TraceEvent::Begin(sender, at) => {
                numbers.insert(sender.connection, self.next);
                let sender = TracedSender { connection: self.next, ..sender };
                self.next += 1;
                self.sink.on_begin(&sender, at);
            }
            TraceEvent::Over(sender, at) => self.sink.on_over(&among_all(sender), at),
            TraceEvent::Request(sender, at, bytes) => {
                self.sink.on_request(&among_all(sender), at, bytes);
            }
            TraceEvent::Sent(sender, sent) => self.sink.on_sent(&among_all(sender), &sent),
            TraceEvent::Connection(mut summary) => {
                let number = numbers.remove(&summary.connection);
                summary.connection = number.unwrap_or(summary.connection);
                self.sink.on_connection(&summary);
            }
            TraceEvent::Again(sender, again) => {
                self.sink.on_retransmission(&among_all(sender), &again);
            }
            TraceEvent::RoundTrip(sender, at, rtt) => {
                self.sink.on_round_trip(&among_all(sender), at, rtt);
            }
            TraceEvent::Transfer(sender, report) => {
                self.sink.on_transfer(&among_all(sender), &report);
            }
            TraceEvent::Window(sender, point) => self.sink.on_window(&among_all(sender), &point),
        }
    }
}
