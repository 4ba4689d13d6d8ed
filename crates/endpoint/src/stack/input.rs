//! Handles received packets: cuts them into segments, and keeps the bytes that the core has
//! accepted.

use super::Stack;
use crate::device::Frame;
use tcp::{Flags, FourTuple, Segment};
use units::Instant;
use wire::{Echo, IcmpError, Malformed, Packet, TcpPacket, Trouble};

/// Maximum number of queued answers to pings.
const REPLIES: usize = 64;

impl Stack {
    /// Handles a frame of the device.
    pub(crate) fn handle_frame(&mut self, now: Instant, frame: &Frame<'_>) {
        self.counters.packets_received += 1;
        let parsed = match frame.checked {
            true => wire::parse_offloaded(frame.bytes),
            false => wire::parse(frame.bytes),
        };
        match parsed {
            Ok(Packet::Tcp(packet, payload)) => {
                self.handle_tcp(now, &packet, payload, frame.segment_size);
            }
            Ok(Packet::Error(error)) => self.handle_icmp(now, &error),
            Ok(Packet::Echo(echo)) => self.handle_echo(&echo),
            Err(why) => self.counters.malformed[why.index()] += 1,
        }
        self.digest_events(now);
    }

    fn handle_tcp(&mut self, now: Instant, packet: &TcpPacket, payload: &[u8], size: Option<u16>) {
        if !self.addresses.contain(packet.destination.ip()) {
            self.counters.not_ours += 1;
            return;
        }
        if self.addresses.contain(packet.source.ip()) {
            // A packet with our own source address cannot arrive from outside.
            self.counters.malformed[Malformed::Land.index()] += 1;
            return;
        }
        let tuple = packet.tuple_at_destination();
        let mut segment = packet.segment;
        self.clamp_mss(&mut segment, tuple.remote.is_ipv4());
        match size {
            Some(size) if payload.len() > usize::from(size) => {
                for (part, bytes) in split_super_packet(&segment, payload, usize::from(size)) {
                    self.handle_segment(now, &tuple, &part, bytes);
                }
            }
            _ => self.handle_segment(now, &tuple, &segment, payload),
        }
    }

    /// Passes a segment to the core and keeps the part of the payload that it accepts.
    fn handle_segment(
        &mut self,
        now: Instant,
        tuple: &FourTuple,
        segment: &Segment,
        payload: &[u8],
    ) {
        self.counters.segments_received += 1;
        if payload.is_empty() {
            return self.host.handle_segment(now, tuple, segment);
        }
        let before = self.host.find(tuple);
        self.gaps.clear();
        if let Some(conn) = before.and_then(|id| self.host.connection(id)) {
            conn.gaps(segment, &mut self.gaps);
        }
        self.host.handle_segment(now, tuple, segment);
        let Some(id) = self.host.find(tuple) else { return };
        if before != Some(id) {
            // The segment has opened a connection, with the data of its SYN.
            self.gaps.clear();
            self.gaps.push((0, payload.len() as u64));
        }
        // The first data may precede the application's knowledge of the connection: with the SYN,
        // or in place of the ACK that ends the handshake.
        self.adopt(id, tuple);
        let Some(conn) = self.host.connection(id) else { return };
        let Some(first) = conn.payload_offset(segment) else { return };
        // A byte with the number of the SYN is below the stream, and not a part of it.
        let (payload, first) = match first {
            -1 => (&payload[1..], 0),
            first => (payload, first as u64),
        };
        let Some(slot) = self.slots.at(id).filter(|slot| slot.tuple == *tuple) else { return };
        for &(left, right) in &self.gaps {
            // Missing bytes that are delivered now were in this segment.
            let right = conn.arrived_until(left).min(right).min(first + payload.len() as u64);
            if right > left {
                let bytes = &payload[(left - first) as usize..(right - first) as usize];
                slot.shared.store(left, bytes);
            }
        }
    }

    /// Bounds the segment size by the device's MTU, both ways. IPv6 headers take 20 bytes more than
    /// a scheme's segment size, which is for IPv4, accounts for (RFC 6691 §2).
    pub(super) fn clamp_mss(&self, segment: &mut Segment, v4: bool) {
        let headers = if v4 { 40 } else { 60 };
        if let Some(mss) = &mut segment.options.mss {
            *mss = (*mss).min(self.mtu.saturating_sub(headers));
        }
    }

    fn handle_icmp(&mut self, now: Instant, error: &IcmpError) {
        let ours = self.addresses.contain(error.destination)
            && error.quoted_source.ip() == error.destination;
        if !ours {
            self.counters.icmp_foreign += 1;
            return;
        }
        self.counters.icmp_errors += 1;
        let (tuple, seq) = (error.tuple(), error.seq);
        match error.trouble {
            Trouble::TooBig { mtu } => self.host.handle_too_big(now, &tuple, seq, mtu),
            Trouble::Unreachable(kind) => self.host.handle_unreachable(now, &tuple, seq, kind),
        }
    }

    fn handle_echo(&mut self, echo: &Echo<'_>) {
        if !self.addresses.contain(echo.destination) {
            self.counters.not_ours += 1;
        } else if self.replies.len() < REPLIES {
            let mut reply = Vec::with_capacity(echo.body.len() + 48);
            if wire::write_echo_reply(echo, &mut reply).is_ok() {
                self.replies.push_back(reply);
            }
        } else {
            self.counters.echoes_dropped += 1;
        }
    }
}

/// Cuts a super-packet into the segments that it stands for.
fn split_super_packet<'a>(
    whole: &'a Segment,
    payload: &'a [u8],
    size: usize,
) -> impl Iterator<Item = (Segment, &'a [u8])> {
    const LAST: u16 = Flags::FIN.0 | Flags::PSH.0;
    let count = payload.len().div_ceil(size);
    payload.chunks(size).enumerate().map(move |(n, bytes)| {
        let mut flags = whole.flags.0;
        if n + 1 < count {
            flags &= !LAST;
        }
        // CWR is of the first segment alone, unless it is a part of the ACE field.
        let is_counter = whole.has(Flags::AE) || whole.options.ecn.is_some();
        if n > 0 && !is_counter {
            flags &= !Flags::CWR.0;
        }
        let seq = whole.seq + (n * size) as u32;
        (Segment { seq, len: bytes.len() as u32, flags: Flags(flags), ..*whole }, bytes)
    })
}
