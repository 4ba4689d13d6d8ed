//! Recording a load for figures: what each server sent and heard, what queues held.

use netsim::{Access, Body, HostId, LinkId, Observer, PageLoad, SimPacket, Step, Transit};
use std::collections::BTreeMap;
use tcp::{Flags, SackBlocks, WindowChange};
use units::{Duration, Instant, SeqNum};
use workload::{ConnectionRecord, Milestones};

/// A load as it happened. Instants are the simulation's; `start` is the load's beginning.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// When the load began.
    pub start: Instant,
    /// What happened when to each object, by [`workload::ObjectId`].
    pub milestones: Vec<Milestones>,
    /// Its connections and those of the loads before it, by [`workload::LoadConnId`].
    pub transfers: Vec<TransferRecord>,
    /// The access link's queues: down, then up.
    pub queues: Vec<Queue>,
}

/// One connection.
#[derive(Clone, Debug, PartialEq)]
pub struct TransferRecord {
    /// Whose, and when it opened.
    pub connection: ConnectionRecord,
    /// Its port at the client.
    pub port: u16,
    /// What its server sent and heard.
    pub sequence: Vec<SequenceEvent>,
    /// Changes of its server's window.
    pub window: Vec<WindowChange>,
}

/// Something that happened to bytes `from..to` of a server's stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequenceEvent {
    /// When.
    pub at: Instant,
    /// First byte.
    pub from: u64,
    /// First byte after.
    pub to: u64,
    /// What.
    pub step: SequenceStep,
}

/// What happened to bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceStep {
    /// The server sent them.
    Sent,
    /// It sent them again.
    Retransmitted,
    /// A queue or the wire dropped them.
    Dropped,
    /// The server heard that all up to `to` had arrived.
    Acked,
    /// It heard that these had.
    Sacked,
}

/// What one queue held over time, all traffic together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// Name of its link.
    pub link: String,
    /// Levels in order of time, from the start of the load on.
    pub levels: Vec<QueueLevel>,
    /// When it dropped a packet.
    pub drops: Vec<Instant>,
}

/// What a queue holds from an instant on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueLevel {
    /// From when.
    pub at: Instant,
    /// Packets waiting and in service.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// A connection of the page, by its port at the client. Ports rise in the order of opening.
type Flow = u16;

/// Watches the page's servers and all queues.
#[derive(Clone, Debug)]
pub(super) struct Recorder {
    servers: Vec<HostId>,
    flows: BTreeMap<Flow, FlowRecord>,
    queues: BTreeMap<LinkId, QueueRecord>,
}

#[derive(Clone, Debug, Default)]
struct FlowRecord {
    events: Vec<SequenceEvent>,
    /// Sequence number of the stream's first byte, once data has shown it.
    first: Option<SeqNum>,
    /// Stream offset up to which all is acknowledged.
    acked: u64,
}

#[derive(Clone, Debug, Default)]
struct QueueRecord {
    /// Leaving is known in advance.
    changes: Vec<QueueChange>,
    drops: Vec<Instant>,
}

/// A packet enters a queue (+1), or leaves it (−1), with its bytes.
#[derive(Clone, Copy, Debug)]
struct QueueChange {
    at: Instant,
    packets: i64,
    bytes: i64,
}

impl Recorder {
    /// Records what happens to connections of these servers.
    pub(super) fn new(servers: &[HostId]) -> Self {
        Self { servers: servers.to_vec(), flows: BTreeMap::new(), queues: BTreeMap::new() }
    }

    /// Fills in what happened to the connections and queues of a load from its start on, until `next`,
    /// the start of the one after it.
    pub(super) fn complete(
        &self,
        recording: &mut Recording,
        next: Option<Instant>,
        access: &Access,
    ) {
        let start = recording.start;
        let during = |at: Instant| at >= start && next.is_none_or(|next| at < next);
        for transfer in &mut recording.transfers {
            let flow = self.flows.get(&transfer.port);
            let events = flow.map_or(&[][..], |flow| &flow.events).iter();
            transfer.sequence = events.filter(|event| during(event.at)).copied().collect();
        }
        recording.queues = [access.access.forward, access.access.reverse]
            .map(|link| self.queue(link, (start, next), access))
            .to_vec();
    }

    fn queue(
        &self,
        link: LinkId,
        (start, next): (Instant, Option<Instant>),
        access: &Access,
    ) -> Queue {
        let record = self.queues.get(&link).cloned().unwrap_or_default();
        let is_before_next = |at: Instant| next.is_none_or(|next| at < next);
        let drops = record.drops.iter().copied();
        let drops = drops.filter(|at| *at >= start && is_before_next(*at)).collect();
        let mut levels = record.levels(start);
        levels.retain(|level| is_before_next(level.at));
        let link = access.topology.links()[link.index()].name.clone();
        Queue { link, drops, levels }
    }
}

impl QueueRecord {
    fn on_step(&mut self, at: Instant, step: Step, bytes: i64) {
        match step {
            Step::Enter { .. } => self.changes.push(QueueChange { at, packets: 1, bytes }),
            Step::Leave => self.changes.push(QueueChange { at, packets: -1, bytes: -bytes }),
            Step::Drop { .. } => self.drops.push(at),
            Step::Discard { .. } => {
                self.changes.push(QueueChange { at, packets: -1, bytes: -bytes });
                self.drops.push(at);
            }
            Step::Mark | Step::Lose | Step::Arrive => {}
        }
    }

    /// The levels from `start` on. Of what happens at the same instant, entering comes first: a
    /// packet that departs at an instant is still there for one that arrives.
    fn levels(mut self, start: Instant) -> Vec<QueueLevel> {
        self.changes.sort_by_key(|change| (change.at, -change.packets));
        let mut level = QueueLevel::default();
        let mut levels: Vec<QueueLevel> = Vec::new();
        for QueueChange { at, packets, bytes } in self.changes {
            level.at = at.max(start);
            level.packets = level.packets.saturating_add_signed(packets);
            level.bytes = level.bytes.saturating_add_signed(bytes);
            match levels.last_mut() {
                Some(last) if last.at == level.at && level.at == start => *last = level,
                _ => levels.push(level),
            }
        }
        levels
    }
}

impl Observer for Recorder {
    fn on_packet(&mut self, at: Instant, link: LinkId, step: Step, packet: &SimPacket) {
        let queue = self.queues.entry(link).or_default();
        queue.on_step(at, step, i64::from(packet.wire_bytes));
        let Body::Segment(transit) = &packet.body else {
            return;
        };
        let Transit { source_port, destination_port, .. } = *transit;
        if self.servers.contains(&packet.from) {
            let flow = self.flows.entry(destination_port).or_default();
            flow.on_sent(at, step, transit);
        } else if self.servers.contains(&packet.to) {
            let flow = self.flows.entry(source_port).or_default();
            flow.on_heard(at, step, transit);
        }
    }
}

impl FlowRecord {
    fn push(&mut self, at: Instant, (from, to): (u64, u64), step: SequenceStep) {
        self.events.push(SequenceEvent { at, from, to, step });
    }

    /// A packet of the server is at a link.
    fn on_sent(&mut self, at: Instant, step: Step, transit: &Transit) {
        let Transit { segment, payload_offset, retransmission, .. } = transit;
        if segment.len == 0 {
            return;
        }
        let before = segment.seq + u32::from(segment.has(Flags::SYN));
        // Offsets are added modulo 2^32, as sequence numbers are.
        self.first = Some(SeqNum(before.0.wrapping_sub(*payload_offset as u32)));
        let range = (*payload_offset, payload_offset + u64::from(segment.len));
        let sent = match retransmission {
            true => SequenceStep::Retransmitted,
            false => SequenceStep::Sent,
        };
        match step {
            Step::Enter { .. } => self.push(at, range, sent),
            Step::Drop { .. } => {
                self.push(at, range, sent);
                self.push(at, range, SequenceStep::Dropped);
            }
            Step::Discard { .. } | Step::Lose => self.push(at, range, SequenceStep::Dropped),
            Step::Mark | Step::Leave | Step::Arrive => {}
        }
    }

    /// A packet of the client is at a link.
    fn on_heard(&mut self, at: Instant, step: Step, transit: &Transit) {
        let segment = &transit.segment;
        if step != Step::Arrive || !segment.has(Flags::ACK) || self.first.is_none() {
            return;
        }
        let acked = self.offset(segment.ack);
        if acked > self.acked {
            let from = std::mem::replace(&mut self.acked, acked);
            self.push(at, (from, acked), SequenceStep::Acked);
        }
        self.on_sacked(at, &segment.options.sack);
    }

    fn on_sacked(&mut self, at: Instant, blocks: &SackBlocks) {
        for (left, right) in blocks.as_slice() {
            let range = (self.offset(*left), self.offset(*right));
            // A block below the cumulative point reports a duplicate (RFC 2883).
            if range.0 >= self.acked && range.0 < range.1 {
                self.push(at, range, SequenceStep::Sacked);
            }
        }
    }

    /// The stream offset of a sequence number within 2^31 of what is acknowledged.
    fn offset(&self, seq: SeqNum) -> u64 {
        let first = self.first.unwrap_or_default();
        let known = first + self.acked as u32;
        let distance = i64::from(seq.distance_from(known));
        self.acked.saturating_add_signed(distance)
    }
}

impl TransferRecord {
    /// Somebody saw what it sent. Of the connections of real hosts only the loader's side is known.
    pub const fn was_watched(&self) -> bool {
        !self.sequence.is_empty() || !self.window.is_empty()
    }

    /// It was over before the load that this is the record of, or had nothing to do in it.
    pub fn is_unused(&self, recording: &Recording) -> bool {
        self.sequence.is_empty() && self.connection.opened < recording.start
    }
}

impl Recording {
    /// Of a load that has just ended, what the load itself knows.
    pub(super) fn begun(start: Instant, load: &PageLoad) -> Self {
        let connections = load.loader().connections().zip(load.transfers());
        let transfers = connections.map(|(connection, transfer)| {
            // What it was when the load began is the last change before.
            let changes = transfer.window();
            let before = changes.iter().take_while(|change| change.at < start).count();
            let window = changes[before.saturating_sub(1)..].to_vec();
            TransferRecord { connection, port: transfer.port(), sequence: Vec::new(), window }
        });
        Self {
            start,
            milestones: load.loader().milestones().to_vec(),
            transfers: transfers.collect(),
            queues: Vec::new(),
        }
    }

    /// How long after the load's start something was; zero for what was before.
    pub const fn since_start(&self, at: Instant) -> Duration {
        at.saturating_since(self.start)
    }
}
