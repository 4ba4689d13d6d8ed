//! Smaller segments on a path that takes no larger ones. A smaller path MTU is learnt from ICMP
//! (RFC 1191, RFC 8201), checked as RFC 5927 §7.2 says, or inferred from lost full segments (RFC
//! 4821, RFC 8899).
//!
//! A forged message costs at most the time of a retransmission timeout. The packet that it quotes
//! must be in flight. If segments of full size have been acknowledged before, the message only
//! takes effect when the segment that it quotes times out.

use super::{Connection, State};
use crate::guard::Guard;
use crate::path::Path;
use crate::segment::TCP_HEADER;
use std::net::IpAddr;
use units::{Duration, Instant, SeqNum};

/// Bytes of the IP header before a segment, without options or extensions.
fn ip_header(remote: IpAddr) -> u32 {
    if remote.is_ipv4() { 20 } else { 40 }
}

/// Time after which a smaller path MTU is forgotten (RFC 1191 §6.3, RFC 8899 §5.1.1
/// `PMTU_RAISE_TIMER`).
pub(crate) const RAISE_AFTER: Duration = Duration::from_secs(600);
/// Timeouts in a row after which a path is suspected to drop full segments (Linux `tcp_retries1`;
/// RFC 8899 §4.3).
const SUSPECT_AFTER: u32 = 3;
/// Usual path MTUs (RFC 1191 table 7-1).
const PLATEAUS: [u32; 10] = [65_535, 32_000, 17_914, 8166, 4352, 2002, 1492, 1006, 508, 296];
/// Payload tried first after that (Linux `tcp_base_mss`); RFC 8899 §5.1.2 has `BASE_PLPMTU` 1200.
const BASE_MSS: u64 = 1024;

/// Knowledge of a connection about the packets that its path takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathMtu {
    /// Payload without options that the path was known to take when the connection began.
    ceiling: u32,
    /// Payload that a message claims to be the largest, and the offset it quotes; not believed yet.
    doubted: Option<(u64, u64)>,
    /// The payload agreed on at first, and when the smaller one of now was believed.
    lowered: Option<(u64, Instant)>,
    /// Offset from which on the present size has been in use.
    since: u64,
}

impl Default for PathMtu {
    fn default() -> Self {
        Self { ceiling: u32::MAX, doubted: None, lowered: None, since: 0 }
    }
}

impl PathMtu {
    /// Returns `mss`, or less if the path was known to take less when the connection began. Both
    /// are payloads without options, bytes.
    pub(super) fn bounded(&self, mss: u32) -> u32 {
        mss.min(self.ceiling)
    }
}

impl Connection {
    /// The way to the peer is known to take packets of `mtu` bytes.
    pub(crate) fn begin_with_path_mtu(&mut self, mtu: u32) {
        self.mtu.ceiling = mtu.saturating_sub(ip_header(self.tuple.remote) + TCP_HEADER).max(64);
        let payload = u64::from(self.mtu.bounded(self.config.mss));
        self.sender.set_mss(payload - self.option_bytes().min(payload / 2));
    }

    /// Processes a router's message that the packet that began at sequence number `seq` is larger
    /// than `mtu`. Returns the path MTU assumed from it, if segments are smaller now.
    pub(crate) fn on_too_big(
        &mut self,
        now: Instant,
        (path, guard): (&mut Path, &mut Guard),
        (seq, mtu): (SeqNum, u32),
    ) -> Option<u32> {
        let Some(offset) = self.quoted_offset(seq) else {
            guard.counters.icmp_out_of_window += 1;
            return None;
        };
        let least = guard.limits.mtu.least(self.tuple.remote);
        let mtu = if mtu == 0 { self.plateau() } else { mtu };
        let mss = self.payload_within(mtu.max(least));
        if mss >= self.sender.mss() {
            guard.counters.mtu_ignored += 1;
            return None;
        }
        if self.full_segments_arrived() {
            guard.counters.mtu_doubted += 1;
            self.mtu.doubted = Some((offset, mss));
            return None;
        }
        guard.counters.mtu_reduced += 1;
        if self.state == State::SynSent {
            // The SYN, too large with its data, is retransmitted without data
            // (`tcp_simple_retransmit`).
            self.mtu.ceiling =
                mtu.max(least).saturating_sub(ip_header(self.tuple.remote) + TCP_HEADER);
            self.withdraw_fast_open();
        }
        self.lower_mss(now, path, mss);
        Some(mtu.max(least))
    }

    /// Returns the offset of a sequence number that an ICMP message quotes, if it is in flight (RFC
    /// 5927 §4.1).
    pub(super) fn quoted_offset(&self, seq: SeqNum) -> Option<u64> {
        let offset = self.ack_offset(seq)?;
        (self.sender.una() <= offset && offset < self.sender.nxt()).then_some(offset)
    }

    /// Payload of a full segment in packets of `mtu` bytes.
    fn payload_within(&self, mtu: u32) -> u64 {
        let headers = ip_header(self.tuple.remote) + TCP_HEADER;
        u64::from(mtu.saturating_sub(headers)) - self.option_bytes().min(u64::from(mtu) / 2)
    }

    /// Returns the path MTU for a message without a size, from a router before RFC 1191: the next
    /// smaller of the usual ones (§7.1).
    fn plateau(&self) -> u32 {
        let headers = u64::from(ip_header(self.tuple.remote) + TCP_HEADER);
        let now = self.sender.mss() + self.option_bytes() + headers;
        PLATEAUS.into_iter().find(|&mtu| u64::from(mtu) < now).unwrap_or(0)
    }

    /// True if a segment of the present size must have been delivered: more was acknowledged than
    /// two segments carry. This replaces `maxsizeacked` of RFC 5927 without a check at every ACK. A
    /// connection with smaller segments may count as one whose full segments are delivered; it
    /// waits for a timeout.
    fn full_segments_arrived(&self) -> bool {
        self.sender.una() >= self.mtu.since.max(1) + 2 * self.sender.mss()
    }

    /// Lowers the size of full segments, to no more than the initial size. Outstanding segments
    /// that are larger were not delivered: they are retransmitted in pieces. The window, in
    /// segments, stays (RFC 1191 §6.5: no congestion; Linux `tcp_simple_retransmit`). If the oldest
    /// segment is retransmitted, its timer restarts (`tcp_xmit_retransmit_queue`).
    fn lower_mss(&mut self, now: Instant, path: &mut Path, mss: u64) {
        let first = self.mtu.lowered.map_or(self.sender.mss(), |(first, _)| first);
        self.mtu.doubted = None;
        self.mtu.lowered = Some((first, now));
        self.mtu.since = self.sender.nxt();
        self.sender.set_mss(mss);
        path.set_mss(mss);
        let may_send = self.may_send_new();
        self.sender.cut_to(now, path, mss, may_send);
    }

    /// The retransmission timer expired, once more, for the oldest segment. A message that quotes
    /// it is true after all; without a message, full segments may be lost on the path.
    pub(super) fn suspect_path_mtu(&mut self, now: Instant, path: &mut Path, guard: &mut Guard) {
        let Some(head) = self.sender.board().segment(0) else { return };
        let (start, end, full) = (head.start, head.end(), u64::from(head.len) >= self.sender.mss());
        if let Some((_, mss)) = self.mtu.doubted.filter(|(at, _)| (start..end).contains(at)) {
            guard.counters.mtu_reduced += 1;
            return self.lower_mss(now, path, mss);
        }
        let limits = guard.limits.mtu;
        if !limits.black_hole_detection || self.sender.retries() < SUSPECT_AFTER || !full {
            return;
        }
        let least = self.payload_within(limits.least(self.tuple.remote));
        let half = if self.sender.mss() > BASE_MSS { BASE_MSS } else { self.sender.mss() / 2 };
        if half.max(least) < self.sender.mss() {
            guard.counters.mtu_black_holes += 1;
            self.lower_mss(now, path, half.max(least));
        }
    }

    /// Tries larger segments again when the smaller path MTU is old.
    pub(crate) fn forget_old_path_mtu(&mut self, now: Instant, path: &mut Path) {
        let Some((first, at)) = self.mtu.lowered else { return };
        if now.saturating_since(at) >= RAISE_AFTER {
            self.mtu = PathMtu { since: self.sender.nxt(), ..PathMtu::default() };
            self.sender.set_mss(first);
            path.set_mss(first);
        }
    }

    /// Payload that options take from every data segment.
    pub(super) fn option_bytes(&self) -> u64 {
        super::handshake::option_bytes(&self.config, self.sender.terms().timestamps)
    }
}
