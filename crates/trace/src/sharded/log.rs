//! Support for sinks that run only on the calling thread: their parts queue all events until they
//! are replayed.

use super::notes::{NotedConnection, Notes, ShardedSink, SinkPart};
use crate::kinds::Retransmission;
use crate::sink::{SentData, TraceSink, TracedSender};
use crate::snapshot::SenderSnapshot;
use crate::summary::ConnectionTrace;
use crate::transfer::TransferReport;
use units::{Duration, Instant};

/// One call of a [`TraceSink`] method.
#[derive(Clone, Debug)]
pub enum TraceEvent {
    /// A call of [`TraceSink::on_begin`].
    Begin(TracedSender, Instant),
    /// A call of [`TraceSink::on_over`].
    Over(TracedSender, Instant),
    /// A call of [`TraceSink::on_request`].
    Request(TracedSender, Instant, u64),
    /// A call of [`TraceSink::on_sent`].
    Sent(TracedSender, SentData),
    /// A call of [`TraceSink::on_connection`].
    Connection(Box<ConnectionTrace>),
    /// A call of [`TraceSink::on_retransmission`].
    Again(TracedSender, Box<Retransmission>),
    /// A call of [`TraceSink::on_round_trip`].
    RoundTrip(TracedSender, Instant, Duration),
    /// A call of [`TraceSink::on_transfer`].
    Transfer(TracedSender, Box<TransferReport>),
    /// A call of [`TraceSink::on_window`].
    Window(TracedSender, SenderSnapshot),
}

impl TraceEvent {
    /// Replays the call on a sink, for the connection with this number.
    pub fn deliver(self, connection: u64, sink: &mut impl TraceSink) {
        let of = |sender: TracedSender| TracedSender { connection, ..sender };
        match self {
            Self::Begin(sender, at) => sink.on_begin(&of(sender), at),
            Self::Over(sender, at) => sink.on_over(&of(sender), at),
            Self::Request(sender, at, bytes) => sink.on_request(&of(sender), at, bytes),
            Self::Sent(sender, sent) => sink.on_sent(&of(sender), &sent),
            Self::Connection(summary) => {
                sink.on_connection(&ConnectionTrace { connection, ..*summary });
            }
            Self::Again(sender, retransmission) => {
                sink.on_retransmission(&of(sender), &retransmission)
            }
            Self::RoundTrip(sender, at, rtt) => sink.on_round_trip(&of(sender), at, rtt),
            Self::Transfer(sender, report) => sink.on_transfer(&of(sender), &report),
            Self::Window(sender, point) => sink.on_window(&of(sender), &point),
        }
    }
}

/// The frequent events that a sink wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wants {
    windows: bool,
    packets: bool,
    round_trips: bool,
}

/// Queues the calls of a sink.
#[derive(Debug)]
pub struct EventLog<N = TraceEvent> {
    wants: Wants,
    notes: Notes<N>,
}

impl<N: From<TraceEvent>> EventLog<N> {
    /// Creates a queue for the events that `sink` wants.
    pub fn of(sink: &impl TraceSink) -> Self {
        let wants = Wants {
            windows: sink.wants_windows(),
            packets: sink.wants_packets(),
            round_trips: sink.wants_round_trips(),
        };
        Self { wants, notes: Notes::default() }
    }

    fn push(&mut self, connection: u64, event: TraceEvent) {
        self.notes.push(connection, event.into());
    }
}

impl<N: From<TraceEvent>> TraceSink for EventLog<N> {
    fn on_connection(&mut self, summary: &ConnectionTrace) {
        self.push(summary.connection, TraceEvent::Connection(Box::new(*summary)));
    }

    fn on_begin(&mut self, sender: &TracedSender, at: Instant) {
        self.push(sender.connection, TraceEvent::Begin(*sender, at));
    }

    fn on_over(&mut self, sender: &TracedSender, at: Instant) {
        self.push(sender.connection, TraceEvent::Over(*sender, at));
    }

    fn wants_packets(&self) -> bool {
        self.wants.packets
    }

    fn on_request(&mut self, sender: &TracedSender, at: Instant, bytes: u64) {
        if self.wants.packets {
            self.push(sender.connection, TraceEvent::Request(*sender, at, bytes));
        }
    }

    fn on_sent(&mut self, sender: &TracedSender, sent: &SentData) {
        if self.wants.packets {
            self.push(sender.connection, TraceEvent::Sent(*sender, *sent));
        }
    }

    fn on_retransmission(&mut self, sender: &TracedSender, retransmission: &Retransmission) {
        self.push(sender.connection, TraceEvent::Again(*sender, Box::new(*retransmission)));
    }

    fn wants_round_trips(&self) -> bool {
        self.wants.round_trips
    }

    fn on_round_trip(&mut self, sender: &TracedSender, at: Instant, rtt: Duration) {
        if self.wants.round_trips {
            self.push(sender.connection, TraceEvent::RoundTrip(*sender, at, rtt));
        }
    }

    fn on_transfer(&mut self, sender: &TracedSender, report: &TransferReport) {
        self.push(sender.connection, TraceEvent::Transfer(*sender, Box::new(*report)));
    }

    fn wants_windows(&self) -> bool {
        self.wants.windows
    }

    fn on_window(&mut self, sender: &TracedSender, point: &SenderSnapshot) {
        if self.wants.windows {
            self.push(sender.connection, TraceEvent::Window(*sender, *point));
        }
    }
}

impl<N: From<TraceEvent> + Send + 'static> SinkPart for EventLog<N> {
    type Note = N;

    fn notes(&mut self) -> &mut Notes<N> {
        &mut self.notes
    }
}

/// A sink that runs only on the calling thread, however many threads rebuild connections.
#[derive(Clone, Copy, Debug, Default)]
pub struct Undivided<S>(pub S);

impl<S: TraceSink> ShardedSink for Undivided<S> {
    type Whole = S;
    type Part = EventLog;

    fn whole(&mut self) -> &mut S {
        &mut self.0
    }

    fn part(&self) -> EventLog {
        EventLog::of(&self.0)
    }

    fn on_note(&mut self, of: &NotedConnection<'_>, event: TraceEvent) {
        event.deliver(of.number(), &mut self.0);
    }

    fn join(&mut self, _: EventLog) {}
}
