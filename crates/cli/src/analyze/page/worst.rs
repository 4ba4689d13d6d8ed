//! The connections that a report draws: those that lost the most time to what a sender can change.
//!
//! They are known only when connections are over, so every open connection is recorded. Memory is
//! bounded: every second event of long connections is left out, and nothing is recorded while too
//! many are open.

use findings::{TimeSums, WorstCandidate, WorstList};
use std::collections::HashMap;
use trace::{
    ConnectionTrace, Retransmission, RetransmissionKind, SenderSnapshot, SentData, TraceSink,
    TracedSender, TransferReport,
};
use units::Instant;

/// Connections that are drawn.
pub(super) const DRAWN: usize = 20;
/// Events of a connection; of more, every second is left out.
const MAX_EVENTS: usize = 4096;
/// Connections with fewer events are not thinned for others.
const UNTHINNED_EVENTS: usize = 256;
/// Limit of events of all open connections. Above it, connections that begin are not recorded, and
/// others are thinned.
const MAX_IN_ALL: usize = 1 << 21;

/// Something to be seen in a time-sequence plot. Offsets of the stream: 1 is the first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SequenceEvent {
    /// New data.
    Sent { at: Instant, end: u64, bytes: u64 },
    /// An ACK at the sender: all below `una` is acknowledged. The receiver accepts data below
    /// `receive_edge`, and the congestion window allows data below `window_edge`.
    Acked { at: Instant, una: u64, receive_edge: u64, window_edge: u64 },
    /// Retransmitted data.
    Again { at: Instant, start: u64, len: u32, kind: RetransmissionKind },
}

/// A connection that is recorded.
#[derive(Clone, Debug, Default)]
pub(super) struct RecordedConnection {
    pub(super) events: Vec<SequenceEvent>,
    pub(super) sums: TimeSums,
    /// Known when it is over.
    pub(super) summary: ConnectionTrace,
    /// One of this number of events is kept.
    pub(super) step: u32,
    passed: u32,
    /// Retransmissions are most of the events: they are left out as others are.
    pub(super) thins_again: bool,
}

impl RecordedConnection {
    /// Seconds lost to what a sender can change.
    pub(super) fn avoidable_seconds(&self) -> f64 {
        self.sums.lost_nanos() as f64 / 1e9
    }

    /// Adds an event; returns the change in their number. Where there is no `room` among all
    /// connections, this one is thinned, or the event left out.
    fn add(&mut self, event: SequenceEvent, room: bool) -> isize {
        let before = self.events.len();
        self.step = self.step.max(1);
        self.passed = (self.passed + 1) % self.step;
        let stays = is_again(&event) && !self.thins_again;
        if self.passed != 0 && !stays {
            return 0;
        }
        if !room && before < UNTHINNED_EVENTS {
            return 0;
        }
        if !room || before == MAX_EVENTS {
            self.drop_every_second();
        }
        self.events.push(event);
        self.events.len() as isize - before as isize
    }

    /// Leaves out every second event; retransmissions stay, unless they are most of them.
    fn drop_every_second(&mut self) {
        self.step = self.step.saturating_mul(2);
        let again = self.events.iter().filter(|event| is_again(event)).count();
        self.thins_again |= again >= MAX_EVENTS / 2;
        let all = self.thins_again;
        let mut odd = false;
        self.events.retain(|event| {
            odd = !odd;
            odd || !all && is_again(event)
        });
    }
}

const fn is_again(event: &SequenceEvent) -> bool {
    matches!(event, SequenceEvent::Again { .. })
}

/// Records connections, and keeps the worst.
pub(in crate::analyze) struct WorstConnections {
    open: HashMap<u64, RecordedConnection>,
    /// Events of those that are open.
    events: usize,
    kept: WorstList<RecordedConnection>,
    /// Connections that were not recorded.
    pub(super) left_out: u64,
}

impl Default for WorstConnections {
    fn default() -> Self {
        Self { open: HashMap::new(), events: 0, kept: WorstList::up_to(DRAWN), left_out: 0 }
    }
}

impl WorstConnections {
    /// The worst, the worst first, and how many connections could not be considered.
    pub(super) fn finish(self) -> (Vec<RecordedConnection>, u64) {
        (self.kept.into_sorted(), self.left_out)
    }

    fn add(&mut self, sender: &TracedSender, event: SequenceEvent) {
        if let Some(open) = self.open.get_mut(&sender.connection).filter(|_| sender.is_server) {
            let room = self.events < MAX_IN_ALL;
            self.events = self.events.saturating_add_signed(open.add(event, room));
        }
    }
}

impl TraceSink for WorstConnections {
    fn on_begin(&mut self, sender: &TracedSender, _: Instant) {
        match self.events < MAX_IN_ALL {
            true => drop(self.open.insert(sender.connection, RecordedConnection::default())),
            false => self.left_out += 1,
        }
    }

    fn on_sent(&mut self, sender: &TracedSender, sent: &SentData) {
        let &SentData { at, end, bytes, .. } = sent;
        self.add(sender, SequenceEvent::Sent { at, end, bytes });
    }

    fn on_retransmission(&mut self, sender: &TracedSender, again: &Retransmission) {
        let &Retransmission { at, start, len, kind, .. } = again;
        self.add(sender, SequenceEvent::Again { at, start, len, kind });
    }

    fn wants_windows(&self) -> bool {
        true
    }

    fn on_window(&mut self, sender: &TracedSender, point: &SenderSnapshot) {
        let &SenderSnapshot { at, una, receive_window, cwnd, .. } = point;
        // An unknown window is drawn where it hides nothing.
        let (receive_edge, window_edge) =
            (una.saturating_add(receive_window.unwrap_or(0)), una.saturating_add(cwnd));
        self.add(sender, SequenceEvent::Acked { at, una, receive_edge, window_edge });
    }

    fn on_transfer(&mut self, sender: &TracedSender, report: &TransferReport) {
        if let Some(open) = self.open.get_mut(&sender.connection) {
            open.sums.add(report);
        }
    }

    fn on_connection(&mut self, summary: &ConnectionTrace) {
        let Some(mut over) = self.open.remove(&summary.connection) else { return };
        self.events -= over.events.len();
        over.summary = *summary;
        let sums = over.sums;
        let connection = summary.connection;
        self.kept.offer(WorstCandidate { connection, transfer: 0, sums: &sums }, || {
            over.events.shrink_to_fit();
            over
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::TimeShare;
    use units::Duration;

    fn sent(n: u64) -> SequenceEvent {
        SequenceEvent::Sent { at: Instant::from_nanos(n), end: n, bytes: 1 }
    }

    fn again(n: u64) -> SequenceEvent {
        let kind = RetransmissionKind::Fast;
        SequenceEvent::Again { at: Instant::from_nanos(n), start: n, len: 1, kind }
    }

    /// However many events there are, few are kept; from the first to nearly the last, in order,
    /// and no retransmission is lost while they are few.
    #[test]
    fn long_connections_are_thinned() {
        let mut recorded = RecordedConnection::default();
        let mut count = 0_isize;
        for n in 0..100_000 {
            let event = if n % 1000 == 7 { again(n) } else { sent(n) };
            count += recorded.add(event, true);
        }
        assert!(recorded.events.len() <= MAX_EVENTS && recorded.events.len() > MAX_EVENTS / 4);
        assert_eq!(count, recorded.events.len() as isize);
        let found = recorded.events.iter().filter(|event| is_again(event));
        assert_eq!(found.count(), 100);
        let at = |event: &SequenceEvent| match *event {
            SequenceEvent::Sent { end, .. } => end,
            SequenceEvent::Again { start, .. } => start,
            SequenceEvent::Acked { una, .. } => una,
        };
        assert!(recorded.events.is_sorted_by_key(at));
        assert!(at(recorded.events.last().unwrap()) > 99_000);
        for n in 0..100_000 {
            recorded.add(again(n), true);
        }
        assert!(recorded.events.len() <= MAX_EVENTS, "retransmissions alone");
        // 200,000 events in half of 4,096 entries: one of 64 to 128.
        assert!((64..=128).contains(&recorded.step), "{}", recorded.step);
    }

    /// Connections that have all started before there are many events: 1,000 with 4,000 each.
    #[test]
    fn events_of_all_together_are_bounded() {
        let mut worst = WorstConnections::default();
        let sender = |connection| TracedSender {
            connection,
            client: Default::default(),
            server: Default::default(),
            is_server: true,
        };
        (0..1000).for_each(|connection| worst.on_begin(&sender(connection), Instant::ZERO));
        for n in 0..4000 {
            (0..1000).for_each(|connection| worst.add(&sender(connection), sent(n)));
            assert!(worst.events <= MAX_IN_ALL);
        }
        let all: usize = worst.open.values().map(|open| open.events.len()).sum();
        assert_eq!(all, worst.events);
        // All have some to be drawn.
        assert!(worst.open.values().all(|open| open.events.len() > UNTHINNED_EVENTS / 2));
    }

    /// Each of 30 connections lost more than the one before: the last 20 are kept, the last first.
    /// A connection without loss is not kept.
    #[test]
    fn the_worst_are_kept() {
        let mut worst = WorstConnections::default();
        for connection in 0..=30 {
            let sender = TracedSender {
                connection,
                client: Default::default(),
                server: Default::default(),
                is_server: true,
            };
            worst.on_begin(&sender, Instant::ZERO);
            worst.add(&sender, sent(1));
            let mut report = TransferReport::default();
            report.shares.add(TimeShare::Timeout, Duration::from_millis(connection % 30));
            worst.on_transfer(&sender, &report);
            worst.on_connection(&ConnectionTrace { connection, ..ConnectionTrace::default() });
        }
        assert_eq!((worst.events, worst.open.len()), (0, 0));
        let (kept, left_out) = worst.finish();
        let numbers: Vec<u64> = kept.iter().map(|kept| kept.summary.connection).collect();
        assert_eq!((numbers, left_out), ((10..30).rev().collect(), 0));
    }
}
