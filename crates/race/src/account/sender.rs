//! One sender by itself: what held its data back at each moment.

use super::replies::{Reply, replies};
use crate::bound::{Bound, BoundFrom};
use crate::record::{Recording, SequenceStep, TransferRecord};
use units::Instant;
use workload::Page;

/// Something that changes a sender's state.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// All up to here has been sent.
    Sent(u64),
    /// All up to here is acknowledged.
    Acked(u64),
    /// The window admits all up to here.
    Edge(u64),
    /// All up to here is there to be sent.
    Ready(u64),
    /// Bytes of either stream are lost (+1), or no more (−1).
    Gaps(i64),
    /// A server begins to think (+1), or has thought (−1).
    Thinking(i64),
    /// Something is wanted of it (+1), or no more (−1).
    Wanted(i64),
}

/// A sender's state, offsets in its stream.
#[derive(Clone, Copy, Debug, Default)]
struct Sender {
    sent: u64,
    acked: u64,
    edge: u64,
    ready: u64,
    gaps: i64,
    thinking: i64,
    wanted: i64,
    /// Its longest segment.
    mss: u64,
}

impl Sender {
    fn apply(&mut self, change: Change) {
        match change {
            Change::Sent(to) => self.sent = self.sent.max(to),
            Change::Acked(to) => self.acked = self.acked.max(to),
            Change::Edge(to) => self.edge = to,
            Change::Ready(to) => self.ready = self.ready.max(to),
            Change::Gaps(by) => self.gaps += by,
            Change::Thinking(by) => self.thinking += by,
            Change::Wanted(by) => self.wanted += by,
        }
    }

    /// What it waits for, the link being idle; `None` if nothing is wanted of it.
    fn bound(&self) -> Option<Bound> {
        if self.wanted <= 0 {
            return None;
        }
        if self.gaps > 0 {
            return Some(Bound::Recovery);
        }
        let waiting = self.ready.saturating_sub(self.sent);
        let room = self.edge.saturating_sub(self.sent);
        Some(match waiting {
            0 if self.thinking > 0 => Bound::Server,
            0 => Bound::Rounds,
            // Senders wait for room for a full segment, or all that is left (RFC 9293 §3.8.6.2.1).
            _ if room < waiting.min(self.mss) => Bound::ReceiveWindow,
            // No window keeps a sender from sending something when nothing is in flight: its host has not come to it.
            _ if self.acked >= self.sent => Bound::Server,
            _ => Bound::CongestionWindow,
        })
    }
}

/// What a connection's sender waited for from when on, were the access link idle throughout.
pub(super) fn timeline(page: &Page, recording: &Recording, index: usize) -> Vec<BoundFrom> {
    let transfer = &recording.transfers[index];
    let mut changes = seen(transfer);
    for reply in replies(page, recording, index) {
        changes.extend(wanted(reply));
    }
    changes.sort_by_key(|(at, _)| *at);
    let mut sender = at_start(transfer);
    let mut timeline: Vec<BoundFrom> = Vec::new();
    let mut changes = changes.into_iter().peekable();
    while let Some((at, change)) = changes.next() {
        sender.apply(change);
        // What happens at one instant is one change.
        if changes.peek().is_some_and(|(next, _)| *next == at) {
            continue;
        }
        let bound = sender.bound();
        if timeline.last().map_or(None, |last| last.bound) != bound {
            timeline.push(BoundFrom { at, bound });
        }
    }
    timeline
}

/// All that was sent before the load is acknowledged.
fn at_start(transfer: &TransferRecord) -> Sender {
    let sent = transfer.sequence.iter().filter(|event| event.step == SequenceStep::Sent);
    let before = sent.clone().map(|event| event.from).min().unwrap_or(0);
    let mss = sent.map(|event| event.to - event.from).max().unwrap_or(0);
    Sender { sent: before, acked: before, mss, ..Sender::default() }
}

/// What the link saw of it.
fn seen(transfer: &TransferRecord) -> Vec<(Instant, Change)> {
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

/// What was wanted of it.
fn wanted(reply: Reply) -> [(Instant, Change); 5] {
    [
        (reply.from, Change::Wanted(1)),
        (reply.asked, Change::Thinking(1)),
        (reply.ready, Change::Thinking(-1)),
        (reply.ready, Change::Ready(reply.end)),
        (reply.to, Change::Wanted(-1)),
    ]
}
