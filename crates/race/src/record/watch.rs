//! Watches the access link, packet by packet, whoever says what passes there.

use super::LoadRecording;
use super::busy::Busy;
use super::flow::FlowRecord;
use super::queue::QueueRecord;
use super::seen::{LinkStep, SeenAtLink};
use super::stretch::Stretch;
use rustc_hash::FxHashMap;
use tcp::Segment;
use units::Instant;

/// Keeps what the account of a load and its figures need of the packets at the access link.
///
/// It is to be told of them in the order of time; what is known in advance (departures and losses of a queue
/// without a service stage) may be told early.
#[derive(Clone, Debug, Default)]
pub struct LinkWatch {
    /// Connections of the page, by their port at the client.
    flows: FxHashMap<u16, FlowRecord>,
    /// When data of the page is there: down, then up.
    data: [Busy; 2],
    /// Down, then up; if they are wanted.
    queues: Option<[QueueRecord; 2]>,
}

impl LinkWatch {
    /// Nothing seen yet. `queues`: what they hold is wanted, too.
    pub fn new(queues: bool) -> Self {
        Self { queues: queues.then(Default::default), ..Self::default() }
    }

    /// A packet of anybody's does something at the link.
    pub fn on_packet(&mut self, seen: SeenAtLink, wire_bytes: u32) {
        if let Some(queues) = &mut self.queues {
            queues[seen.way as usize].on_packet(seen, wire_bytes);
        }
    }

    /// It carries this segment of a connection of the page, which has this port at the client.
    pub fn on_segment(&mut self, seen: SeenAtLink, port: u16, segment: &Segment) {
        if segment.len > 0 {
            let data = &mut self.data[seen.way as usize];
            match seen.step {
                LinkStep::Enter => data.enter(seen.at),
                LinkStep::Leave | LinkStep::Discard => data.go(seen.at),
                LinkStep::Drop | LinkStep::Lose | LinkStep::Arrive => {}
            }
        }
        // To its connection, leaving the queue is nothing.
        if seen.step != LinkStep::Leave {
            self.flows.entry(port).or_default().on_segment(seen, segment);
        }
    }

    /// Fills in what was seen of a load's connections and queues from its start on, until `next`, the start of the load after
    /// it.
    pub fn complete(&self, recording: &mut LoadRecording, next: Option<Instant>) {
        let start = recording.start;
        for transfer in &mut recording.transfers {
            if let Some(flow) = self.flows.get(&transfer.port) {
                flow.complete(transfer, (start, next));
            }
        }
        let end = next.unwrap_or(Instant::from_nanos(u64::MAX));
        let busy = self.data.iter().flat_map(Busy::stretches);
        recording.busy = Stretch::union(busy.filter_map(|stretch| stretch.within(start, end)));
        if let Some([down, up]) = &self.queues {
            let queues = [down.during("down", (start, next)), up.during("up", (start, next))];
            recording.queues = queues.into();
        }
    }
}
