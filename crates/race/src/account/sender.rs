//! One sender by itself: the cause that held its data back at each moment.
//!
//! The offered window counts for a whole round trip: a sender that fills it in a round trip is
//! bound by it in all of it. ACK clock and pacing spread the window's data over the round trip, so
//! that the sender rarely has it filled. Flights have been judged as a whole since T-RAT (Zhang et
//! al. 2002 §3.3).

use super::replies::{Reply, replies};
use crate::bound::{Bound, BoundFrom};
use crate::record::{LoadRecording, SequenceStep, Stretch, TransferRecord};
use units::Instant;
use workload::Page;

/// Change of a sender's state.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// All up to here has been sent.
    Sent(u64),
    /// All up to here is acknowledged.
    Acked(u64),
    /// The window admits all up to here.
    Edge(u64),
    /// All data up to this offset can be sent.
    Ready(u64),
    /// Bytes of either stream are lost (+1), or no more (−1).
    Gaps(i64),
    /// A server begins to think (+1), or has thought (−1).
    Thinking(i64),
    /// A response is wanted of it (+1), or no more (−1).
    Wanted(i64),
    /// A round trip begins (+1), or ends (−1), in which the sender fills the window.
    AtEdge(i64),
}

/// A change and its instant.
type Dated = (Instant, Change);

/// A sender's state, offsets in its stream.
#[derive(Clone, Copy, Debug, Default)]
struct Sender {
    sent: u64,
    acked: u64,
    edge: u64,
    ready: u64,
    /// Offset of the answer that became ready when nothing else waited.
    fresh: Option<u64>,
    gaps: i64,
    thinking: i64,
    wanted: i64,
    at_edge: i64,
    /// Its longest segment.
    mss: u64,
}

impl Sender {
    fn apply(&mut self, change: Change) {
        match change {
            Change::Sent(to) => self.sent = self.sent.max(to),
            Change::Acked(to) => self.acked = self.acked.max(to),
            Change::Edge(to) => self.edge = to,
            Change::Ready(to) => {
                if self.ready_bytes() == 0 {
                    self.fresh = Some(self.sent);
                }
                self.ready = self.ready.max(to);
            }
            Change::Gaps(by) => self.gaps += by,
            Change::Thinking(by) => self.thinking += by,
            Change::Wanted(by) => self.wanted += by,
            Change::AtEdge(by) => self.at_edge += by,
        }
    }

    /// Bytes that are ready and not sent.
    const fn ready_bytes(&self) -> u64 {
        self.ready.saturating_sub(self.sent)
    }

    /// The window has no room for the next segment: a full one, or all the remaining data (RFC 9293
    /// §3.8.6.2.1).
    fn meets_edge(&self) -> bool {
        let waiting = self.ready_bytes();
        waiting > 0 && self.edge.saturating_sub(self.sent) < waiting.min(self.mss)
    }

    /// Returns the cause for which it waits while the link is idle; `None` if no data is wanted.
    fn current_bound(&self) -> Option<Bound> {
        if self.wanted <= 0 {
            return None;
        }
        Some(match self.ready_bytes() {
            _ if self.gaps > 0 => Bound::Recovery,
            0 if self.thinking > 0 => Bound::Server,
            0 => Bound::Rounds,
            _ if self.meets_edge() => Bound::ReceiveWindow,
            // No window keeps back the first segment of an answer behind which nothing is in
            // flight: its host has not come to it yet.
            _ if self.acked >= self.sent && self.fresh == Some(self.sent) => Bound::Server,
            _ if self.at_edge > 0 => Bound::ReceiveWindow,
            _ => Bound::CongestionWindow,
        })
    }
}

/// Returns the causes for which a connection's sender waited over time, if the access link were
/// idle throughout.
pub(super) fn timeline(page: &Page, recording: &LoadRecording, index: usize) -> Vec<BoundFrom> {
    let transfer = &recording.transfers[index];
    let mut changes = changes_at_link(transfer);
    for reply in replies(page, recording, index) {
        changes.extend(changes_in_demand(reply));
    }
    changes.sort_by_key(|(at, _)| *at);
    let start = at_start(transfer);
    for Stretch { from, to } in rounds_at_edge(start, &changes) {
        changes.extend([(from, Change::AtEdge(1)), (to, Change::AtEdge(-1))]);
    }
    changes.sort_by_key(|(at, _)| *at);
    let mut timeline: Vec<BoundFrom> = Vec::new();
    for_each_instant(start, &changes, |at, sender| {
        let bound = sender.current_bound();
        if timeline.last().and_then(|last| last.bound) != bound {
            timeline.push(BoundFrom { at, bound });
        }
    });
    timeline
}

/// Passes on the state after all changes of each instant, in the order of time.
fn for_each_instant(
    mut sender: Sender,
    changes: &[Dated],
    mut report: impl FnMut(Instant, &Sender),
) {
    for same in changes.chunk_by(|one, next| one.0 == next.0) {
        same.iter().for_each(|(_, change)| sender.apply(*change));
        report(same[0].0, &sender);
    }
}

/// Returns the round trips in which a sender fills the window. A round trip begins with a segment,
/// and ends with its acknowledgement.
fn rounds_at_edge(start: Sender, changes: &[Dated]) -> Vec<Stretch> {
    let mut rounds = Vec::new();
    let (mut from, mut first, mut meets) = (Instant::ZERO, start.sent, false);
    let mut sent_before = start.sent;
    let mut last = Instant::ZERO;
    for_each_instant(start, changes, |at, sender| {
        if sender.acked > first {
            if meets {
                rounds.push(Stretch { from, to: at });
            }
            (from, first, meets) = (at, sent_before, false);
        }
        meets |= sender.meets_edge();
        (sent_before, last) = (sender.sent, at);
    });
    if meets {
        rounds.push(Stretch { from, to: last });
    }
    rounds
}

/// All data sent before the load is acknowledged.
fn at_start(transfer: &TransferRecord) -> Sender {
    let sent = transfer.sequence.iter().filter(|event| event.step == SequenceStep::Sent);
    let before = sent.clone().map(|event| event.from).min().unwrap_or(0);
    let mss = sent.map(|event| event.to - event.from).max().unwrap_or(0);
    Sender { sent: before, acked: before, mss, ..Sender::default() }
}

/// Returns the sender's changes as seen at the link.
fn changes_at_link(transfer: &TransferRecord) -> Vec<Dated> {
    let of_stream = transfer.sequence.iter().filter_map(|event| {
        let change = match event.step {
            SequenceStep::Sent => Change::Sent(event.to),
            SequenceStep::Acked => Change::Acked(event.to),
            SequenceStep::Retransmitted | SequenceStep::Dropped | SequenceStep::Sacked => {
                return None;
            }
        };
        Some((event.at, change))
    });
    let offers = transfer.offers.iter().map(|offer| (offer.at, Change::Edge(offer.edge())));
    let gaps = transfer.trace.gaps.iter().map(|(at, by)| (*at, Change::Gaps(*by)));
    of_stream.chain(offers).chain(gaps).collect()
}

/// Returns the changes that a reply makes to the wanted data.
fn changes_in_demand(reply: Reply) -> [Dated; 5] {
    [
        (reply.from, Change::Wanted(1)),
        (reply.asked, Change::Thinking(1)),
        (reply.thought, Change::Thinking(-1)),
        (reply.ready, Change::Ready(reply.end)),
        (reply.to, Change::Wanted(-1)),
    ]
}
