//! Segments on their way into the device. If the kernel cuts super-packets into segments,
//! consecutive segments of a connection are sent as one (generic segmentation offload).

use crate::device::{Device, OFFLOAD_HEADER, Offload, SendOutcome};
use crate::stack::OutgoingSegment;
use std::io;
use tcp::{ConnId, Flags, Segment};
use wire::TcpPacket;

/// Size of the longest headers, bytes: IPv6 and TCP with all options.
const HEADERS: usize = wire::IPV6_HEADER + 60;
/// Maximum number of segments in a super-packet (Linux `GSO_MAX_SEGS` is more than fits into 64 KiB
/// with usual sizes).
const SEGMENTS: u32 = 64;
/// Flags that only the last of several segments may have.
const LAST: Flags = Flags::PSH.with(Flags::FIN);

/// One packet under construction.
pub(super) struct Outbox {
    offload: bool,
    head: Option<Head>,
    payload: Vec<u8>,
    headers: Vec<u8>,
    blocked: bool,
}

/// Segments that are sent together, as one.
struct Head {
    conn: Option<ConnId>,
    packet: TcpPacket,
    /// Payload of each but the last, bytes.
    size: u32,
    segments: u32,
    /// True if another may follow.
    open: bool,
}

impl Outbox {
    pub(super) const fn new(offload: bool) -> Self {
        Self { offload, head: None, payload: Vec::new(), headers: Vec::new(), blocked: false }
    }

    /// Returns true if a packet waits for room in the device.
    pub(super) const fn is_blocked(&self) -> bool {
        self.blocked
    }

    /// Returns the buffer for the payload of the next segment, before [`Outbox::add`].
    pub(super) const fn payload(&mut self) -> &mut Vec<u8> {
        &mut self.payload
    }

    /// Returns true if a segment can join the queued ones, or none are queued.
    pub(super) fn joins(&self, outgoing: &OutgoingSegment) -> bool {
        self.head.as_ref().is_none_or(|head| head.can_append(outgoing))
    }

    /// Adds a segment that joins, whose payload was appended.
    pub(super) fn add(&mut self, outgoing: &OutgoingSegment) {
        let segment = &outgoing.packet.segment;
        match &mut self.head {
            Some(head) => head.append(segment),
            None => self.head = Some(Head::new(outgoing, self.offload)),
        }
    }

    /// Sends the queued segments, if there are any.
    pub(super) fn flush(&mut self, device: &Device) -> io::Result<Option<SendOutcome>> {
        let Some(head) = &self.head else { return Ok(None) };
        self.headers.clear();
        let written = if self.offload {
            write_offloaded(head, self.payload.len(), &mut self.headers)
        } else {
            wire::write_headers(&head.packet, &self.payload, &mut self.headers)
        };
        let sent = match written {
            Ok(()) => device.send(&self.headers, &self.payload)?,
            Err(_) => SendOutcome::Refused,
        };
        self.blocked = sent == SendOutcome::Blocked;
        if !self.blocked {
            self.head = None;
            self.payload.clear();
        }
        Ok(Some(sent))
    }

    /// Sends a whole packet that is no segment. If the device has no room, it is lost.
    pub(super) fn send_reply(&mut self, device: &Device, reply: &[u8]) -> io::Result<SendOutcome> {
        // All fields are zero: no work is left for the kernel.
        let header = [0; OFFLOAD_HEADER];
        let sent = if self.offload { device.send(&header, reply) } else { device.send(reply, &[]) };
        Ok(if sent? == SendOutcome::Done { SendOutcome::Done } else { SendOutcome::Refused })
    }
}

impl Head {
    fn new(outgoing: &OutgoingSegment, offload: bool) -> Self {
        let segment = &outgoing.packet.segment;
        // The kernel copies AE and ECE to all segments, and CWR to the first alone
        // (`tcp_gso_segment`).
        let copied = Flags::AE.with(Flags::ECE);
        let plain = Flags(segment.flags.0 & !copied.0) == Flags::ACK && segment.len > 0;
        Self {
            conn: outgoing.conn,
            packet: outgoing.packet,
            size: segment.len,
            segments: 1,
            open: offload && plain,
        }
    }

    /// A following segment must be the same except for its number, and flags that only the last may
    /// have.
    fn can_append(&self, outgoing: &OutgoingSegment) -> bool {
        let (ours, next) = (&self.packet.segment, &outgoing.packet.segment);
        let expected = Segment {
            seq: ours.seq + ours.len,
            len: next.len,
            flags: Flags(ours.flags.0 | next.flags.0 & LAST.0),
            ..*ours
        };
        let bytes = HEADERS as u32 + ours.len + next.len;
        self.open
            && self.conn == outgoing.conn
            && *next == expected
            && (1..=self.size).contains(&next.len)
            && bytes <= wire::MAX_PACKET as u32
            && self.segments < SEGMENTS
    }

    fn append(&mut self, next: &Segment) {
        let ours = &mut self.packet.segment;
        self.open = next.len == self.size && next.flags == ours.flags;
        ours.len += next.len;
        ours.flags = next.flags;
        self.segments += 1;
    }
}

fn write_offloaded(
    head: &Head,
    payload: usize,
    headers: &mut Vec<u8>,
) -> Result<(), wire::TooLong> {
    headers.resize(OFFLOAD_HEADER, 0);
    let checksum = wire::write_headers_offloaded(&head.packet, payload, headers)?;
    let segment_size = if head.segments > 1 { head.size as u16 } else { 0 };
    let v6 = head.packet.source.is_ipv6();
    Offload { checksum, segment_size, v6 }.write(headers);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, SocketAddr};
    use units::SeqNum;
    use wire::Marking;

    /// The segment of 1,000 bytes behind `n` others, with this ACE field, and flags beside ACK.
    fn outgoing(n: u32, ace: u8, flags: Flags) -> OutgoingSegment {
        let [own, peer] = [1, 2].map(|host| SocketAddr::from((Ipv4Addr::new(10, 0, 0, host), 80)));
        let flags = flags.with(Flags::ACK).with_ace(ace);
        let segment = Segment { seq: SeqNum(n * 1000), len: 1000, flags, ..Segment::default() };
        let packet = TcpPacket::new(own, peer, segment, &Marking::default());
        OutgoingSegment { conn: None, packet, offset: 0 }
    }

    /// True if the second segment joins the first, and a third joins both.
    fn joined(first: u8, second: (u8, Flags)) -> [bool; 2] {
        let mut outbox = Outbox::new(true);
        outbox.add(&outgoing(0, first, Flags::default()));
        let next = outgoing(1, second.0, second.1);
        if !outbox.joins(&next) {
            return [false; 2];
        }
        outbox.add(&next);
        [true, outbox.joins(&outgoing(2, second.0, Flags::default()))]
    }

    /// The kernel copies flags to all segments that it cuts, except for CWR (RFC 3168 §6.1.2: it
    /// answers an echo once). Counters of Accurate ECN with that bit, 2, 3, 6 and 7, go alone.
    #[test]
    fn segments_with_one_counter_of_marks_are_sent_as_one() {
        for ace in 0..8 {
            let is_copied = ace & 2 == 0;
            assert_eq!(joined(ace, (ace, Flags::default())), [is_copied; 2], "{ace}");
        }
        assert_eq!(joined(5, (4, Flags::default())), [false; 2]);
        assert_eq!(joined(5, (5, Flags::PSH)), [true, false], "PSH is the last one's");
    }
}
