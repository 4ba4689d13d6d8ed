//! One direction of an emulation, without a clock: packets go in at one end and come out at the
//! other when the link says so.
//!
//! The link knows sizes and a few flags; their bytes are kept here beside it. The time of a call
//! decides nothing. Whether [`Pipe::handle_timeout`] comes on time or late, the same packets leave
//! at the same instants, and are only taken out later.

use crate::record::{PacketFate, PacketRecord, PacketRecorder};
use crate::{classify, mark_ce};
use link::{Admission, Link, LinkCounters, PacketInfo, ServiceOutcome, Stage};
use slab::Slab;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::{Instant, Rate};

/// A link with the packets that are on it.
#[derive(Debug)]
pub struct Pipe {
    link: Link,
    kept: Slab<StoredPacket>,
    /// Packets on the wire, the next to arrive on top.
    flying: BinaryHeap<Reverse<InFlight>>,
    departures: u64,
    /// Buffers to use again.
    spare: Vec<Vec<u8>>,
    out: Vec<u8>,
    recorder: Option<PacketRecorder>,
}

/// A packet on the link, and its state so far.
#[derive(Debug)]
struct StoredPacket {
    bytes: Vec<u8>,
    record: PacketRecord,
}

/// A packet on the wire. Packets that arrive at one instant keep the order in which they left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct InFlight {
    arrives: Instant,
    departure: u64,
    /// Index of the buffer with its bytes.
    token: usize,
}

/// A packet at the far end.
#[derive(Debug, PartialEq, Eq)]
pub struct DeliveredPacket<'a> {
    /// Time at which its last bit is delivered.
    pub due: Instant,
    /// All of it.
    pub packet: &'a [u8],
}

/// Number of spare buffers that are kept.
const MAX_SPARE: usize = 4096;

impl Pipe {
    /// An empty pipe over an idle link.
    pub fn new(link: Link) -> Self {
        Self {
            link,
            kept: Slab::new(),
            flying: BinaryHeap::new(),
            departures: 0,
            spare: Vec::new(),
            out: Vec::new(),
            recorder: None,
        }
    }

    /// Reports every packet to `recorder`.
    #[must_use]
    pub fn with_recorder(self, recorder: PacketRecorder) -> Self {
        Self { recorder: Some(recorder), ..self }
    }

    /// The link is of this rate from now on, unless it follows a trace. A rate of zero changes
    /// nothing.
    pub fn set_rate(&mut self, rate: Rate) {
        // Zero is the only rate that a link refuses.
        let _ = self.link.set_rate(rate);
    }

    /// A packet arrives at `now`, not earlier than any call before.
    pub fn offer(&mut self, now: Instant, packet: &[u8]) {
        let info = classify(packet);
        let token = self.store_packet(now, &info, packet);
        match self.link.stage() {
            Stage::Fifo(fifo) => {
                let fate = fifo.offer(now, info.bytes);
                self.apply_fate(token, now, fate);
            }
            Stage::Judged(judged) => {
                let verdict = judged.offer(now, &info);
                self.mark_if(token, verdict.marked);
                self.apply_fate(token, now, verdict.fate);
            }
            Stage::Served(served) => {
                let entry = served.offer(now, &info, token as u32);
                match entry {
                    Admission::Queued { marked } => self.mark_if(token, marked),
                    Admission::Dropped => self.apply_fate(token, now, link::LinkFate::Dropped),
                }
                self.take_outcomes();
            }
        }
    }

    fn store_packet(&mut self, now: Instant, info: &PacketInfo, packet: &[u8]) -> usize {
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.extend_from_slice(packet);
        let queue = self.recorder.is_some().then(|| self.link.occupancy(now));
        let record = PacketRecord::arriving(now, info, queue.unwrap_or_default());
        if let Some(recorder) = &self.recorder {
            recorder.on_arrival(now, packet);
        }
        self.kept.insert(StoredPacket { bytes, record })
    }

    fn mark_if(&mut self, token: usize, marked: bool) {
        if marked {
            let kept = &mut self.kept[token];
            kept.record.marked = mark_ce(&mut kept.bytes);
        }
    }

    /// A packet's fate was decided at `at`.
    fn apply_fate(&mut self, token: usize, at: Instant, fate: link::LinkFate) {
        match fate {
            link::LinkFate::Delivered { departs, arrives } => {
                let record = &mut self.kept[token].record;
                (record.left, record.due) = (departs, Some(arrives));
                let departure = self.departures;
                self.flying.push(Reverse(InFlight { arrives, departure, token }));
                self.departures += 1;
            }
            link::LinkFate::Dropped => self.end(token, PacketFate::Dropped, at),
            link::LinkFate::Lost { departs } => self.end(token, PacketFate::Lost, departs),
        }
    }

    fn take_outcomes(&mut self) {
        while let Stage::Served(served) = self.link.stage()
            && let Some(outcome) = served.poll_outcome()
        {
            match outcome {
                ServiceOutcome::Served { token, at, fate, marked } => {
                    self.mark_if(token as usize, marked);
                    self.apply_fate(token as usize, at, fate);
                }
                ServiceOutcome::Discarded { token, at } => {
                    self.end(token as usize, PacketFate::Discarded, at)
                }
            }
        }
    }

    /// A packet ends on the way.
    fn end(&mut self, token: usize, fate: PacketFate, at: Instant) {
        let StoredPacket { bytes, mut record } = self.kept.remove(token);
        (record.fate, record.left) = (fate, at);
        if let Some(recorder) = &self.recorder {
            recorder.on_end(record, &bytes);
        }
        self.recycle(bytes);
    }

    fn recycle(&mut self, mut bytes: Vec<u8>) {
        if self.spare.len() < MAX_SPARE {
            bytes.clear();
            self.spare.push(bytes);
        }
    }

    /// When the next packet is due at the far end, or the queue has something to decide.
    pub fn poll_timeout(&mut self) -> Option<Instant> {
        let arrival = self.flying.peek().map(|Reverse(packet)| packet.arrives);
        let service = match self.link.stage() {
            Stage::Served(served) => served.poll_timeout(),
            Stage::Fifo(_) | Stage::Judged(_) => None,
        };
        [arrival, service].into_iter().flatten().min()
    }

    /// Makes up for every decision that was due at `now` or before.
    pub fn handle_timeout(&mut self, now: Instant) {
        if let Stage::Served(served) = self.link.stage() {
            served.handle_timeout(now);
            self.take_outcomes();
        }
    }

    /// The next packet that is due at `now` or before, in the order of arrival.
    pub fn poll_delivery(&mut self, now: Instant) -> Option<DeliveredPacket<'_>> {
        let &Reverse(InFlight { arrives: due, token, .. }) = self.flying.peek()?;
        if due > now {
            return None;
        }
        self.flying.pop();
        let StoredPacket { bytes, mut record } = self.kept.remove(token);
        record.delivered = Some(now);
        if let Some(recorder) = &self.recorder {
            recorder.on_delivery(now, &bytes);
            recorder.on_end(record, &bytes);
        }
        let old = std::mem::replace(&mut self.out, bytes);
        self.recycle(old);
        Some(DeliveredPacket { due, packet: &self.out })
    }

    /// The link's counters.
    pub const fn counters(&self) -> &LinkCounters {
        self.link.counters()
    }

    /// Packets in the queue or on the wire.
    pub fn held(&self) -> usize {
        self.kept.len()
    }
}
