//! A connection as it crossed the link: when which bytes of its streams entered and were delivered.

use emulator::{Direction, SegmentEnd};
use segment::Flags;
use units::{Instant, SeqNum};

/// Payload of one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PayloadPassage {
    /// Time at which it entered the link.
    pub(super) entered: Instant,
    /// Time at which it was delivered; `None` if the link lost it.
    pub(super) delivered: Option<Instant>,
    /// Offset of its first byte in its stream.
    pub(super) start: u64,
    /// One past its last byte.
    pub(super) end: u64,
    /// Bytes of the packet.
    pub(super) packet_bytes: u32,
}

/// An acknowledgement of the server's stream, delivered at the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AckPassage {
    pub(super) delivered: Instant,
    /// Bytes acknowledged.
    pub(super) upto: u64,
}

/// Both streams of a connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Crossing {
    /// Delivery of the first SYN at the server.
    pub(super) opened: Option<Instant>,
    /// Delivery of the first segment behind it: the ACK of the SYN-ACK.
    pub(super) established: Option<Instant>,
    /// Delivery of the client's last segment.
    pub(super) last_up: Option<Instant>,
    /// The client's stream, in the order of entering.
    pub(super) up: Vec<PayloadPassage>,
    /// The server's stream, in the order of entering.
    pub(super) down: Vec<PayloadPassage>,
    /// ACKs of the server's stream in the order of delivery.
    pub(super) acks: Vec<AckPassage>,
}

impl Crossing {
    /// The connection of a server's port.
    pub(super) fn of(port: u16, segments: &[SegmentEnd]) -> Self {
        let own = |end: &&SegmentEnd| {
            let at = match end.direction {
                Direction::Down => end.packet.source,
                Direction::Up => end.packet.destination,
            };
            at.port() == port
        };
        let own: Vec<&SegmentEnd> = segments.iter().filter(own).collect();
        let isn = |direction| {
            let mut syns = own.iter().filter(|end| end.direction == direction);
            let syn = syns.find(|end| end.packet.segment.has(Flags::SYN));
            syn.map(|end| end.packet.segment.seq)
        };
        let mut crossing = Self::default();
        for end in &own {
            match end.direction {
                Direction::Up => crossing.add_up(end, isn(Direction::Up), isn(Direction::Down)),
                Direction::Down => crossing.down.extend(passage(end, isn(Direction::Down))),
            }
        }
        crossing.up.sort_by_key(|passage| passage.entered);
        crossing.down.sort_by_key(|passage| passage.entered);
        crossing.acks.sort_by_key(|ack| ack.delivered);
        crossing
    }

    fn add_up(&mut self, end: &SegmentEnd, own: Option<SeqNum>, servers: Option<SeqNum>) {
        self.up.extend(passage(end, own));
        let Some(delivered) = end.record.delivered else { return };
        let first = |seen: &mut Option<Instant>| {
            *seen = Some(seen.map_or(delivered, |seen| seen.min(delivered)));
        };
        let segment = &end.packet.segment;
        match segment.has(Flags::SYN) {
            true => first(&mut self.opened),
            false => first(&mut self.established),
        }
        self.last_up = self.last_up.max(Some(delivered));
        if let Some(isn) = servers.filter(|_| segment.has(Flags::ACK)) {
            let upto = offset(segment.ack, isn);
            self.acks.push(AckPassage { delivered, upto });
        }
    }

    /// Packets of either stream that carried bytes which had entered the link before.
    pub(super) fn retransmissions(&self) -> u64 {
        [&self.up, &self.down].into_iter().map(|stream| retransmissions(stream)).sum()
    }

    /// Returns when the server got an ACK of all bytes of its stream up to an offset.
    pub(super) fn acknowledged(&self, upto: u64) -> Option<Instant> {
        self.acks.iter().find(|ack| ack.upto >= upto).map(|ack| ack.delivered)
    }

    /// Returns when the byte at an offset of the server's stream first entered the link.
    pub(super) fn sent(&self, offset: u64) -> Option<Instant> {
        let has = |passage: &&PayloadPassage| (passage.start..passage.end).contains(&offset);
        self.down.iter().find(has).map(|passage| passage.entered)
    }

    /// Bytes of packets that delivered a part of the server's stream for the first time.
    pub(super) fn packet_bytes(&self, from: u64, to: u64) -> u64 {
        let mut delivered: Vec<&PayloadPassage> =
            self.down.iter().filter(|passage| passage.delivered.is_some()).collect();
        delivered.sort_by_key(|passage| (passage.start, passage.delivered));
        let (mut covered, mut bytes) = (from, 0);
        for passage in delivered {
            if passage.end > covered && passage.start < to {
                bytes += u64::from(passage.packet_bytes);
                covered = passage.end;
            }
        }
        bytes
    }
}

/// Packets of a stream, in the order of entering, that begin below the highest byte before them.
fn retransmissions(stream: &[PayloadPassage]) -> u64 {
    let mut highest = 0;
    let mut count = 0;
    for passage in stream {
        count += u64::from(passage.start < highest);
        highest = highest.max(passage.end);
    }
    count
}

/// Returns when the byte at an offset of a stream was first delivered.
pub(super) fn delivered(stream: &[PayloadPassage], offset: u64) -> Option<Instant> {
    let has = |passage: &&PayloadPassage| (passage.start..passage.end).contains(&offset);
    stream.iter().filter(has).filter_map(|passage| passage.delivered).min()
}

/// Returns when all bytes of a stream in `from..to` were delivered.
pub(super) fn delivered_whole(stream: &[PayloadPassage], from: u64, to: u64) -> Option<Instant> {
    let mut at = None;
    let mut offset = from;
    while offset < to {
        let has = |passage: &&PayloadPassage| {
            passage.delivered.is_some() && (passage.start..passage.end).contains(&offset)
        };
        let first = stream.iter().filter(has).min_by_key(|passage| passage.delivered)?;
        at = at.max(first.delivered);
        offset = first.end;
    }
    at
}

/// The payload of a segment; `None` if it has none.
fn passage(end: &SegmentEnd, isn: Option<SeqNum>) -> Option<PayloadPassage> {
    let segment = &end.packet.segment;
    let start = offset(segment.seq, isn?);
    (segment.len > 0).then_some(PayloadPassage {
        entered: end.record.arrived,
        delivered: end.record.delivered,
        start,
        end: start + u64::from(segment.len),
        packet_bytes: end.record.info.bytes,
    })
}

/// Offset in a stream: 0 is the byte behind the SYN. Rows have less than 2 GB.
fn offset(seq: SeqNum, isn: SeqNum) -> u64 {
    u64::try_from(seq.distance_from(isn)).unwrap_or(0).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// Three packets of 1000 bytes, the second of which is lost and retransmitted after 50 ms.
    fn stream() -> Vec<PayloadPassage> {
        let passage = |entered, start, delivered: Option<u64>| PayloadPassage {
            entered: at(entered),
            delivered: delivered.map(at),
            start,
            end: start + 1000,
            packet_bytes: 1052,
        };
        vec![
            passage(0, 0, Some(20)),
            passage(1, 1000, None),
            passage(2, 2000, Some(22)),
            passage(50, 1000, Some(70)),
        ]
    }

    #[test]
    fn a_range_is_whole_when_its_last_hole_is_filled() {
        let stream = stream();
        assert_eq!(delivered_whole(&stream, 0, 1000), Some(at(20)));
        assert_eq!(delivered_whole(&stream, 0, 3000), Some(at(70)));
        assert_eq!(delivered_whole(&stream, 0, 3001), None);
        assert_eq!(delivered(&stream, 2000), Some(at(22)));
        assert_eq!(retransmissions(&stream), 1);
    }

    #[test]
    fn a_response_needs_each_packet_once() {
        let ack = |delivered, upto| AckPassage { delivered: at(delivered), upto };
        let mut down = stream();
        down.push(PayloadPassage { entered: at(90), delivered: Some(at(110)), ..down[3] });
        let acks = vec![ack(40, 1000), ack(90, 3000)];
        let crossing = Crossing { down, acks, ..Crossing::default() };
        assert_eq!(crossing.packet_bytes(0, 3000), 3 * 1052);
        assert_eq!(crossing.packet_bytes(1000, 2000), 1052);
        assert_eq!(crossing.acknowledged(1000), Some(at(40)));
        assert_eq!(crossing.acknowledged(1001), Some(at(90)));
        assert_eq!((crossing.sent(1500), crossing.retransmissions()), (Some(at(1)), 2));
    }
}
