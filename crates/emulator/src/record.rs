//! Records of each packet's fate, reported from the real-time threads without ever making them
//! wait.

use link::{Occupancy, PacketInfo};
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use units::Instant;
use wire::{Packet, TcpPacket, parse_offloaded};

/// Direction of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Towards the client.
    Down,
    /// Away from it.
    Up,
}

/// End of a packet's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PacketFate {
    /// It was handed over at the far end.
    Delivered,
    /// The queue did not take it.
    Dropped,
    /// The queue took it and threw it out.
    Discarded,
    /// It was lost on the wire.
    Lost,
}

/// One packet, from its arrival to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketRecord {
    /// Time at which it was read from its device.
    pub arrived: Instant,
    /// When its last bit left the queue, or when the queue dropped it.
    pub left: Instant,
    /// Time at which its last bit is at the far end; `None` if it never is.
    pub due: Option<Instant>,
    /// Time at which it was delivered there.
    pub delivered: Option<Instant>,
    /// End of its way.
    pub fate: PacketFate,
    /// The queue marked it.
    pub marked: bool,
    /// Properties that the queue knew of it.
    pub info: PacketInfo,
    /// Contents of the queue at its arrival, itself not included.
    pub queue: Occupancy,
}

impl PacketRecord {
    pub(crate) const fn arriving(now: Instant, info: &PacketInfo, queue: Occupancy) -> Self {
        Self {
            arrived: now,
            left: now,
            due: None,
            delivered: None,
            fate: PacketFate::Delivered,
            marked: false,
            info: *info,
            queue,
        }
    }
}

/// A TCP segment's way has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentEnd {
    /// Direction of the segment.
    pub direction: Direction,
    /// Record of its packet.
    pub record: PacketRecord,
    /// Addresses and segment.
    pub packet: TcpPacket,
}

/// Note of a recorder.
#[derive(Debug)]
pub(crate) enum PacketNote {
    /// A packet's way has ended.
    End(Direction, PacketRecord),
    /// The way of a TCP segment has ended; sent beside `End`, or without it.
    SegmentEnd(SegmentEnd),
    /// A packet has entered, at the client's end if its direction is up.
    Entered(SeenPacket),
    /// A packet was delivered, at the client's end if its direction is down.
    HandedOver(SeenPacket),
}

/// A packet as it passed one end of the emulation.
#[derive(Debug)]
pub(crate) struct SeenPacket {
    pub(crate) direction: Direction,
    pub(crate) at: Instant,
    pub(crate) bytes: Vec<u8>,
}

/// Takes notes of one direction and passes them on to another thread.
#[derive(Clone, Debug)]
pub struct PacketRecorder {
    direction: Direction,
    to: SyncSender<PacketNote>,
    wants: Wants,
    missed: Arc<AtomicU64>,
}

/// Data that the recording needs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wants {
    /// Records of packets.
    pub(crate) records: bool,
    /// Packets themselves.
    pub(crate) packets: bool,
    /// Segments with records of their packets.
    pub(crate) segments: bool,
}

impl PacketRecorder {
    pub(crate) const fn new(
        direction: Direction,
        to: SyncSender<PacketNote>,
        wants: Wants,
        missed: Arc<AtomicU64>,
    ) -> Self {
        Self { direction, to, wants, missed }
    }

    pub(crate) fn on_arrival(&self, now: Instant, packet: &[u8]) {
        if self.wants.packets {
            self.record_note(PacketNote::Entered(self.seen_packet(now, packet)));
        }
    }

    pub(crate) fn on_delivery(&self, now: Instant, packet: &[u8]) {
        if self.wants.packets {
            self.record_note(PacketNote::HandedOver(self.seen_packet(now, packet)));
        }
    }

    pub(crate) fn on_end(&self, record: PacketRecord, packet: &[u8]) {
        if self.wants.records {
            self.record_note(PacketNote::End(self.direction, record));
        }
        // The note of a segment is smaller than its bytes. The receiver verifies the checksum.
        if self.wants.segments
            && let Ok(Packet::Tcp(packet, _)) = parse_offloaded(packet)
        {
            let end = SegmentEnd { direction: self.direction, record, packet };
            self.record_note(PacketNote::SegmentEnd(end));
        }
    }

    fn seen_packet(&self, at: Instant, packet: &[u8]) -> SeenPacket {
        SeenPacket { direction: self.direction, at, bytes: packet.to_vec() }
    }

    /// Where the other thread does not keep up, notes are missed rather than packets late.
    fn record_note(&self, note: PacketNote) {
        if self.to.try_send(note).is_err() {
            self.missed.fetch_add(1, Ordering::Relaxed);
        }
    }
}
