//! Links that need more than a packet's size, and links that schedule their own service.
//!
//! A link with a service stage keeps a packet until it serves it or discards it. One event stands
//! for its next service. It is after all other events of the same instant, so that the link sees
//! all arrivals of that instant.

use super::{Network, link_arrival};
use crate::events::Due;
use crate::observer::Step;
use crate::packet::{Body, SimPacket};
use crate::{HostId, LinkId};
use link::{Admission, LinkFate, PacketInfo, ServiceOutcome, Stage};
use units::Instant;

impl Network {
    /// Offers a packet to a link that needs more than its size.
    #[inline(never)]
    pub(super) fn forward_known(&mut self, id: LinkId, packet: u32, cursor: u32) {
        let info = info_of(self.packets.packet(packet));
        let now = self.now();
        match self.wires[id.index()].link.stage() {
            Stage::Fifo(fifo) => {
                let fate = fifo.offer(now, info.bytes);
                self.apply_fate(id, fate, packet, cursor);
            }
            Stage::Judged(judged) => {
                let verdict = judged.offer(now, &info);
                self.observe_entry(id, verdict.fate == LinkFate::Dropped, packet);
                if verdict.marked {
                    self.mark_ce(now, id, packet);
                }
                self.apply_fate(id, verdict.fate, packet, cursor);
            }
            Stage::Served(served) => {
                let entry = served.offer(now, &info, packet);
                self.on_admission(id, entry, packet, cursor);
                self.take_outcomes(id);
            }
        }
    }

    /// Handles a packet offered to a link with a service stage.
    fn on_admission(&mut self, id: LinkId, entry: Admission, packet: u32, cursor: u32) {
        self.observe_entry(id, entry == Admission::Dropped, packet);
        if entry == (Admission::Queued { marked: true }) {
            self.mark_ce(self.now(), id, packet);
        }
        if entry == Admission::Dropped {
            self.remove_packet(packet);
            return;
        }
        let index = packet as usize;
        if index >= self.kept.len() {
            self.kept.resize(index + 1, 0);
        }
        self.kept[index] = cursor;
    }

    /// Runs a link's service, which is due.
    pub(super) fn serve(&mut self, id: LinkId) {
        let now = self.now();
        let wire = &mut self.wires[id.index()];
        wire.service_scheduled = false;
        if let Stage::Served(served) = wire.link.stage() {
            served.handle_timeout(now);
        }
        self.take_outcomes(id);
    }

    /// Passes on the packets that a link has served, and schedules its next service.
    fn take_outcomes(&mut self, id: LinkId) {
        while let Stage::Served(served) = self.wires[id.index()].link.stage() {
            let Some(outcome) = served.poll_outcome() else {
                let due = served.poll_timeout();
                self.schedule_service(id, due);
                return;
            };
            match outcome {
                ServiceOutcome::Served { token, at, fate, marked } => {
                    if marked {
                        self.mark_ce(at, id, token);
                    }
                    self.apply_fate(id, fate, token, self.kept[token as usize]);
                }
                ServiceOutcome::Discarded { token, at } => {
                    let queue = self.wires[id.index()].link.occupancy(at);
                    self.observe_if_any(at, id, Step::Discard { queue }, token);
                    self.remove_packet(token);
                }
            }
        }
    }

    fn schedule_service(&mut self, id: LinkId, due: Option<Instant>) {
        let wire = &mut self.wires[id.index()];
        if let Some(due) = due
            && !wire.service_scheduled
        {
            wire.service_scheduled = true;
            self.queue.push_timer(due, id.0, Due::Service);
        }
    }

    /// Sends a packet on by its fate.
    fn apply_fate(&mut self, id: LinkId, fate: LinkFate, packet: u32, cursor: u32) {
        self.observe_departure(id, fate, packet);
        match fate {
            LinkFate::Delivered { arrives, .. } => {
                let bytes = self.packets.packet(packet).wire_bytes;
                let lane = self.wires[id.index()].lane_for(bytes);
                self.schedule(id, lane, arrives, link_arrival(packet, cursor + 1, bytes));
            }
            LinkFate::Dropped | LinkFate::Lost { .. } => self.remove_packet(packet),
        }
    }

    fn mark_ce(&mut self, at: Instant, id: LinkId, packet: u32) {
        self.packets.mark(packet);
        self.observe_if_any(at, id, Step::Mark, packet);
    }

    pub(super) fn observe_entry(&mut self, id: LinkId, dropped: bool, packet: u32) {
        if !self.observers.is_empty() {
            let now = self.now();
            let queue = self.wires[id.index()].link.occupancy(now);
            let step = if dropped { Step::Drop { queue } } else { Step::Enter { queue } };
            self.notify_observers(now, id, step, packet);
        }
    }

    fn observe_if_any(&mut self, at: Instant, id: LinkId, step: Step, packet: u32) {
        if !self.observers.is_empty() {
            self.notify_observers(at, id, step, packet);
        }
    }
}

/// Returns the fields of a packet that links may use.
fn info_of(packet: &SimPacket) -> PacketInfo {
    let bytes = packet.wire_bytes;
    let low_priority = packet.low_priority;
    match &packet.body {
        Body::Segment(transit) => PacketInfo {
            bytes,
            ecn_capable: transit.segment.ecn != tcp::Ecn::NotEct,
            low_priority,
            pure_ack: transit.is_pure_ack(),
            flow: flow_of(
                packet.from,
                packet.to,
                u32::from(transit.source_port) << 16 | u32::from(transit.destination_port),
            ),
        },
        Body::Datagram(datagram) => PacketInfo {
            low_priority,
            flow: flow_of(packet.from, packet.to, !datagram.app.0),
            ..PacketInfo::plain(bytes)
        },
    }
}

/// Returns a number for the packets between two hosts with the same ports, or of the same
/// application. Hosts have 22 bits each and fill the upper ones; two flows share a number only by
/// accident.
const fn flow_of(from: HostId, to: HostId, ports: u32) -> u64 {
    let hosts = (from.0 as u64) << 32 | to.0 as u64;
    // An odd factor: a bijection that spreads the ports over all bits (2^64 / golden ratio).
    hosts ^ (ports as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
