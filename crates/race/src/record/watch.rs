//! Watches the access link, packet by packet; the packets' reports may come from any source.

use super::busy::Busy;
use super::flow::FlowRecord;
use super::queue::QueueRecord;
use super::seen::{LinkStep, SeenAtLink, Way};
use super::stretch::Stretch;
use super::{LoadRecording, TransferRecord};
use rustc_hash::FxHashMap;
use tcp::Segment;
use units::Instant;

/// Keeps the packet data at the access link that the account of a load and its figures need.
///
/// It expects reports in the order of time. Events that are known in advance (departures and losses
/// of a queue without a service stage) may be reported early.
#[derive(Clone, Debug, Default)]
pub struct LinkWatch {
    /// Connections of the page, by their port at the client. One port may have several connections,
    /// one after the other.
    flows: FxHashMap<u16, Vec<FlowRecord>>,
    /// Stretches in which data of the page is there: down, then up.
    data: [Busy; 2],
    /// Down, then up; if they are wanted.
    queues: Option<[QueueRecord; 2]>,
}

impl LinkWatch {
    /// Creates a watch. `queues`: their contents are recorded, too.
    pub fn new(queues: bool) -> Self {
        Self { queues: queues.then(Default::default), ..Self::default() }
    }

    /// A packet of anybody's does something at the link.
    pub fn on_packet(&mut self, seen: SeenAtLink, wire_bytes: u32) {
        if let Some(queues) = &mut self.queues {
            queues[seen.way as usize].on_packet(seen, wire_bytes);
        }
    }

    /// Reports that the packet carries this segment of a connection of the page, which has this
    /// port at the client.
    pub fn on_segment(&mut self, seen: SeenAtLink, port: u16, segment: &Segment) {
        self.on_data(seen, segment);
        self.on_flow(seen, port, segment);
    }

    /// Reports that the packet carries this segment, whose server is behind a link of its own. The
    /// segment was sent before it came here, or is at the server later.
    pub(crate) fn on_segment_between(&mut self, seen: SeenAtLink, port: u16, segment: &Segment) {
        self.on_data(seen, segment);
        let step = match (seen.way, seen.step) {
            (Way::Down, LinkStep::Enter) | (Way::Up, LinkStep::Arrive) => return,
            (Way::Down, LinkStep::Drop) => LinkStep::Discard,
            (_, step) => step,
        };
        self.on_flow(SeenAtLink { step, ..seen }, port, segment);
    }

    /// A server sends this segment to its own link, or has it from there.
    pub(crate) fn on_segment_at_host(&mut self, seen: SeenAtLink, port: u16, segment: &Segment) {
        if matches!(
            (seen.way, seen.step),
            (Way::Down, LinkStep::Enter) | (Way::Up, LinkStep::Arrive)
        ) {
            self.on_flow(seen, port, segment);
        }
    }

    /// Data of the page is, or no longer is, at the link.
    fn on_data(&mut self, seen: SeenAtLink, segment: &Segment) {
        if segment.len > 0 {
            let data = &mut self.data[seen.way as usize];
            match seen.step {
                LinkStep::Enter => data.on_packet_entry(seen.at),
                LinkStep::Leave | LinkStep::Discard => data.on_packet_departure(seen.at),
                LinkStep::Drop | LinkStep::Lose | LinkStep::Arrive => {}
            }
        }
    }

    fn on_flow(&mut self, seen: SeenAtLink, port: u16, segment: &Segment) {
        // To its connection, leaving the queue is nothing.
        if seen.step != LinkStep::Leave {
            let flows = self.flows.entry(port).or_default();
            match flows.last_mut().filter(|last| !last.is_followed(seen.way, segment)) {
                Some(last) => last.on_segment(seen, segment),
                None => {
                    let mut flow = FlowRecord::beginning_at(seen.at);
                    flow.on_segment(seen, segment);
                    flows.push(flow);
                }
            }
        }
    }

    /// The packets of a connection: of several that had its port, of the one that opened when it
    /// did.
    fn packets_of(&self, transfer: &TransferRecord) -> Option<&FlowRecord> {
        let opened = transfer.connection.opened.as_nanos();
        self.flows.get(&transfer.port)?.iter().min_by_key(|f| f.began.as_nanos().abs_diff(opened))
    }

    /// Fills in the observations of a load's connections and queues from its start on, until
    /// `next`, the start of the load after it.
    pub fn complete(&self, recording: &mut LoadRecording, next: Option<Instant>) {
        let start = recording.start;
        for transfer in &mut recording.transfers {
            if let Some(flow) = self.packets_of(transfer) {
                flow.complete(transfer, start, next);
            }
        }
        let end = next.unwrap_or(Instant::from_nanos(u64::MAX));
        let busy = self.data.iter().flat_map(Busy::busy_stretches);
        recording.busy = Stretch::union(busy.filter_map(|stretch| stretch.clipped_to(start, end)));
        if let Some([down, up]) = &self.queues {
            let queues =
                [down.queue_during("down", start, next), up.queue_during("up", start, next)];
            recording.queues = queues.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::seen::Way;
    use super::super::{SequenceEvent, SequenceStep};
    use super::*;
    use tcp::Flags;
    use units::SeqNum;
    use workload::{ConnectionRecord, HostId};

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    /// The client's SYN at `ms`, and the server's 1000 bytes after it.
    fn connect(watch: &mut LinkWatch, ms: u64, first: u32) {
        let send = |way, ms| SeenAtLink { at: at(ms), way, step: LinkStep::Enter };
        let syn = Segment { seq: SeqNum(first), flags: Flags::SYN, ..Segment::default() };
        watch.on_segment(send(Way::Up, ms), 40_000, &syn);
        let seq = SeqNum(first + 7);
        let answer = Segment { seq, flags: Flags::SYN.with(Flags::ACK), ..Segment::default() };
        watch.on_segment(send(Way::Down, ms + 1), 40_000, &answer);
        let data = Segment { seq: seq + 1, len: 1000, flags: Flags::ACK, ..Segment::default() };
        watch.on_segment(send(Way::Down, ms + 2), 40_000, &data);
    }

    /// A port that two connections have had, one after the other: the second one's data is no
    /// retransmission of the first one's. A retransmitted SYN opens no other.
    #[test]
    fn a_port_that_is_used_again_belongs_to_another_connection() {
        let mut watch = LinkWatch::new(false);
        connect(&mut watch, 10, 5000);
        connect(&mut watch, 500, 900_000);
        connect(&mut watch, 900, 900_000);
        let events = |opened_ms| {
            let opened = at(opened_ms);
            let connection = ConnectionRecord {
                lookup: None,
                host: HostId(0),
                opened,
                connected: None,
                ready: None,
                closed: None,
            };
            let mut transfer = TransferRecord::unwatched(connection, 40_000);
            let flow = watch.packets_of(&transfer).expect("it was seen");
            flow.complete(&mut transfer, at(0), None);
            let seen = |event: &SequenceEvent| (event.at, event.step);
            transfer.sequence.iter().map(seen).collect::<Vec<_>>()
        };
        assert_eq!(events(9), [(at(12), SequenceStep::Sent)]);
        let again = [(at(502), SequenceStep::Sent), (at(902), SequenceStep::Retransmitted)];
        assert_eq!(events(499), again);
    }
}
