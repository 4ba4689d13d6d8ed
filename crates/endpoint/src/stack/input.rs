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
                for (part, bytes) in parts_of(&segment, payload, size.into()) {
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

/// Cuts the super-packet `whole` into the segments that it stands for, with `size` bytes of payload
/// but for the last.
///
/// Each keeps CWR. If that is a bit of Accurate ECN's counter, each has to have it (RFC 9768
/// §3.2.2). If it answers an echo (RFC 3168 §6.1.3), the first ends the echo, or a mark begins
/// another one; the others have the same mark, and change nothing.
fn parts_of<'a>(
    whole: &'a Segment,
    payload: &'a [u8],
    size: usize,
) -> impl Iterator<Item = (Segment, &'a [u8])> {
    const LAST: u16 = Flags::FIN.0 | Flags::PSH.0;
    let count = payload.len().div_ceil(size);
    payload.chunks(size).enumerate().map(move |(n, bytes)| {
        let flags = if n + 1 < count { whole.flags.0 & !LAST } else { whole.flags.0 };
        let seq = whole.seq + (n * size) as u32;
        (Segment { seq, len: bytes.len() as u32, flags: Flags(flags), ..*whole }, bytes)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::EndpointConfig;
    use crate::keys::Secrets;
    use std::net::{IpAddr, Ipv4Addr, SocketAddr};
    use std::sync::Weak;
    use tcp::{Ecn, Scheme, TcpOptions, Timestamps};
    use units::SeqNum;
    use wire::Marking;

    const PORT: u16 = 80;

    fn address(host: u8) -> Ipv4Addr {
        Ipv4Addr::new(10, 0, 0, host)
    }

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn stack() -> Stack {
        let config = EndpointConfig::new(Some(address(2)), None);
        let secrets = Secrets { key: [1; 16], seed: 1, fast_open: [2; 16] };
        Stack::new(config, 1500, Weak::new(), secrets)
    }

    fn tuple() -> FourTuple {
        FourTuple { local_port: PORT, remote: address(1).into(), remote_port: 40_000 }
    }

    /// Receives one packet, or several in one, of parts with 1,000 bytes.
    fn receive(stack: &mut Stack, at: Instant, segment: Segment) {
        let payload = vec![7; segment.len as usize];
        let peer: SocketAddr = (IpAddr::from(address(1)), 40_000).into();
        let own = (IpAddr::from(address(2)), PORT).into();
        let packet = TcpPacket::new(peer, own, segment, &Marking::default());
        stack.handle_tcp(at, &packet, &payload, Some(1000));
    }

    /// Opens a connection of Accurate ECN, and receives 2,000 bytes behind a gap with CWR and CE.
    /// Returns the stack, and the answers to the data.
    fn received() -> (Stack, Vec<Segment>) {
        let (mut stack, scheme) = (stack(), Scheme::parse("linux+ecn=accurate").unwrap());
        stack.host.connect(at(0), tuple(), &scheme).unwrap();
        let syn = stack.poll_transmit(at(0)).unwrap().packet.segment;
        let timestamps = Some(Timestamps { value: 1, echo: syn.options.timestamps.unwrap().value });
        let options = TcpOptions {
            mss: Some(1460),
            sack_permitted: true,
            timestamps,
            ..TcpOptions::default()
        };
        // The SYN was Not-ECT, which is CWR alone, and so is the counter of the data.
        let flags = Flags::SYN.with(Flags::ACK).with(Flags::CWR);
        let (ack, window) = (syn.seq + 1, 65_535);
        let answer = Segment { ack, flags, window, options, ..Segment::default() };
        receive(&mut stack, at(10), answer);
        while stack.poll_transmit(at(10)).is_some() {}
        let (flags, timestamps) =
            (Flags::ACK.with(Flags::CWR), Some(Timestamps { value: 2, echo: 0 }));
        let options = TcpOptions { timestamps, ..TcpOptions::default() };
        let (seq, len, ecn) = (SeqNum(1001), 2000, Ecn::Ce);
        receive(&mut stack, at(20), Segment { seq, len, ecn, flags, options, ..answer });
        let sent = std::iter::from_fn(|| stack.poll_transmit(at(20)));
        let sent: Vec<Segment> = sent.map(|outgoing| outgoing.packet.segment).collect();
        (stack, sent)
    }

    /// CWR alone is a counter of 2, five marks above the first value of 5 modulo 8 (RFC 9768
    /// §3.2.2). A part without it would be six marks more. Each of two parts with CE counts as a
    /// packet (§3.2.2.2): 5 + 2.
    #[test]
    fn the_counter_of_marks_is_in_every_part_of_a_super_packet() {
        let (stack, sent) = received();
        let connection = stack.host.find(&tuple()).and_then(|id| stack.host.connection(id));
        assert_eq!(connection.unwrap().reported_marks().unwrap().packets, 5);
        assert_eq!(sent.last().unwrap().flags.ace(), 7);
    }

    /// Only the last part has flags that end with the packet.
    #[test]
    fn parts_have_the_bytes_and_flags_of_the_whole() {
        let both = Flags::ACK.with(Flags::CWR);
        let whole = Segment { len: 2001, flags: both.with(Flags::PSH), ..Segment::default() };
        let parts = parts_of(&whole, &[7; 2001], 1000);
        let parts: Vec<_> =
            parts.map(|(part, bytes)| (part.flags, part.seq.0, part.len, bytes.len())).collect();
        let last = (both.with(Flags::PSH), 2000, 1, 1);
        assert_eq!(parts, [(both, 0, 1000, 1000), (both, 1000, 1000, 1000), last]);
    }
}
