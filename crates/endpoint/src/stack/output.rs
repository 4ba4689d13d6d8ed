//! Sends the core's segments, with addresses and, from the streams, their bytes.

use super::Stack;
use crate::device::SendOutcome;
use tcp::{ConnId, Flags};
use units::Instant;
use wire::TcpPacket;

/// A segment to be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutgoingSegment {
    pub(crate) conn: Option<ConnId>,
    pub(crate) packet: TcpPacket,
    /// Offset of its first byte in the stream.
    pub(crate) offset: u64,
}

impl Stack {
    /// Returns the next answer to a ping.
    pub(crate) fn poll_reply(&mut self) -> Option<Vec<u8>> {
        let reply = self.replies.pop_front()?;
        self.counters.echoes += 1;
        Some(reply)
    }

    /// Returns the next segment to send now.
    pub(crate) fn poll_transmit(&mut self, now: Instant) -> Option<OutgoingSegment> {
        loop {
            if !self.host.poll_transmit_into(now, &mut self.transmit) {
                self.digest_events(now);
                return None;
            }
            let tcp::Transmit { conn, tuple, segment, payload_offset: offset, .. } = self.transmit;
            let mut segment = segment;
            if segment.has(Flags::SYN) {
                self.clamp_mss(&mut segment, tuple.remote.is_ipv4());
            }
            let destination = (tuple.remote, tuple.remote_port).into();
            if let Some(source) =
                self.addresses.local_address_towards(tuple.remote, tuple.local_port)
            {
                self.counters.segments_sent += 1;
                let packet = TcpPacket::new(source, destination, segment, &self.config.marking);
                return Some(OutgoingSegment { conn, packet, offset });
            }
        }
    }

    /// Appends a segment's bytes to `out`. Returns false if they are gone: then it cannot be sent.
    pub(crate) fn copy_payload(&mut self, outgoing: &OutgoingSegment, out: &mut Vec<u8>) -> bool {
        let len = outgoing.packet.segment.len;
        if len == 0 {
            return true;
        }
        let slot = outgoing.conn.and_then(|id| self.slots.at(id));
        let there = slot.is_some_and(|slot| {
            slot.shared.copy_written(outgoing.offset, len, out, &mut self.wakers)
        });
        self.counters.bytes_missing += u64::from(!there);
        there
    }

    /// Notes the result of sending a packet.
    pub(crate) const fn on_sent(&mut self, sent: SendOutcome) {
        match sent {
            SendOutcome::Done => self.counters.packets_sent += 1,
            SendOutcome::Blocked => self.counters.device_full += 1,
            SendOutcome::Refused => self.counters.device_refused += 1,
        }
    }
}
