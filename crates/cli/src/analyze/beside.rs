//! The part of an analysis that works where connections are rebuilt, on whichever thread that is.
//!
//! Findings have a part of their own there. All other output follows the order of the capture, so
//! its notes are kept until then.

use super::outputs::Outputs;
use findings::{FindingsNote, FindingsPart};
use trace::{
    ConnectionTrace, EventLog, NotedConnection, Notes, Retransmission, SenderSnapshot, SentData,
    ShardedSink, SinkPart, TraceEvent, TraceSink, TracedSender, TransferReport,
};
use units::{Duration, Instant};

/// A note for more than its connection. Events are large and seldom wanted: they must not make all
/// notes large.
pub(super) enum OutputNote {
    Found(FindingsNote),
    Event(Box<TraceEvent>),
}

impl From<FindingsNote> for OutputNote {
    fn from(note: FindingsNote) -> Self {
        Self::Found(note)
    }
}

impl From<TraceEvent> for OutputNote {
    fn from(event: TraceEvent) -> Self {
        Self::Event(Box::new(event))
    }
}

/// The part of [`Outputs`] beside a shard.
pub(super) struct OutputsPart {
    findings: Option<FindingsPart>,
    others: EventLog<OutputNote>,
}

/// Calls a method of both, and has the notes of findings stand in their order.
macro_rules! both {
    ($self:ident, $method:ident($($argument:expr),*)) => {
        if let Some(findings) = &mut $self.findings {
            findings.$method($($argument),*);
            findings.notes().move_to($self.others.notes());
        }
        $self.others.$method($($argument),*);
    };
}

impl TraceSink for OutputsPart {
    fn on_connection(&mut self, summary: &ConnectionTrace) {
        both!(self, on_connection(summary));
    }

    fn on_begin(&mut self, sender: &TracedSender, at: Instant) {
        both!(self, on_begin(sender, at));
    }

    fn on_over(&mut self, sender: &TracedSender, at: Instant) {
        both!(self, on_over(sender, at));
    }

    fn wants_packets(&self) -> bool {
        self.findings.is_some() || self.others.wants_packets()
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

    fn wants_round_trips(&self) -> bool {
        self.others.wants_round_trips()
    }

    fn on_round_trip(&mut self, sender: &TracedSender, at: Instant, rtt: Duration) {
        both!(self, on_round_trip(sender, at, rtt));
    }

    fn on_transfer(&mut self, sender: &TracedSender, report: &TransferReport) {
        both!(self, on_transfer(sender, report));
    }

    fn wants_windows(&self) -> bool {
        self.findings.is_some() || self.others.wants_windows()
    }

    #[inline]
    fn on_window(&mut self, sender: &TracedSender, point: &SenderSnapshot) {
        both!(self, on_window(sender, point));
    }
}

impl SinkPart for OutputsPart {
    type Note = OutputNote;

    #[inline]
    fn notes(&mut self) -> &mut Notes<OutputNote> {
        self.others.notes()
    }
}

impl ShardedSink for Outputs {
    type Whole = Self;
    type Part = OutputsPart;

    fn whole(&mut self) -> &mut Self {
        self
    }

    fn part(&self) -> OutputsPart {
        OutputsPart {
            findings: self.findings.as_ref().map(ShardedSink::part),
            others: EventLog::of(&self.others),
        }
    }

    #[inline]
    fn on_note(&mut self, of: &NotedConnection<'_>, note: OutputNote) {
        match note {
            OutputNote::Event(event) => event.deliver(of.number(), &mut self.others),
            OutputNote::Found(note) => {
                if let Some(findings) = &mut self.findings {
                    findings.on_note(of, note);
                }
                self.write_epochs();
            }
        }
    }

    fn join(&mut self, part: OutputsPart) {
        if let (Some(findings), Some(part)) = (&mut self.findings, part.findings) {
            findings.join(part);
        }
    }
}
