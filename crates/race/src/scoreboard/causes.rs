//! Causes of a transfer's lost time, as counts: retransmitted SYNs, timeouts, tail-loss probes,
//! retransmissions.

use crate::ends::EndCounts;
use crate::host_set::HostSet;
use netsim::{Body, HostId, LinkId, Observer, SimPacket, Step};
use serde::Serialize;
use tcp::Flags;
use units::Instant;

/// Counts of one measured transfer, over all of its connections and both ends; or sums of these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct CauseCounts {
    /// SYNs and SYN-ACKs retransmitted: a handshake that lost a packet.
    pub lost_syns: u64,
    /// Expiries of retransmission timers, those for SYNs among them.
    pub timeouts: u64,
    /// Timeouts that were not for SYNs: data or a FIN had waited too long.
    pub data_timeouts: u64,
    /// Seconds that timers ran before they expired, over all connections; timers that run at the
    /// same time all count.
    pub timeout_seconds: f64,
    /// Tail-loss probes sent.
    pub probes: u64,
    /// Segments retransmitted for any reason, including SYNs and probes that repeat data.
    pub retransmitted: u64,
}

impl std::ops::Add for CauseCounts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            lost_syns: self.lost_syns + other.lost_syns,
            timeouts: self.timeouts + other.timeouts,
            data_timeouts: self.data_timeouts + other.data_timeouts,
            timeout_seconds: self.timeout_seconds + other.timeout_seconds,
            probes: self.probes + other.probes,
            retransmitted: self.retransmitted + other.retransmitted,
        }
    }
}

impl std::iter::Sum for CauseCounts {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), std::ops::Add::add)
    }
}

/// Watches the transfer's packets at the access link.
#[derive(Clone, Debug)]
pub(super) struct RetransmissionWatch {
    servers: HostSet,
    since: Instant,
    syns: u64,
    segments: u64,
}

impl RetransmissionWatch {
    /// Counts packets from and to these servers from `since` on.
    pub(super) fn new(servers: &[HostId], since: Instant) -> Self {
        Self { servers: HostSet::of(servers), since, syns: 0, segments: 0 }
    }

    /// Adds the counters of the ends.
    pub(super) fn with(&self, ends: EndCounts) -> CauseCounts {
        let EndCounts { timeouts, openings, waited, probes } = ends;
        CauseCounts {
            lost_syns: self.syns,
            timeouts,
            data_timeouts: timeouts - openings,
            timeout_seconds: waited.as_secs_f64(),
            probes,
            retransmitted: self.segments,
        }
    }
}

impl Observer for RetransmissionWatch {
    fn on_packet(&mut self, at: Instant, _: LinkId, step: Step, packet: &SimPacket) {
        // The access link is the only one on the way, so a packet is offered to a link once.
        if at < self.since || !matches!(step, Step::Enter { .. } | Step::Drop { .. }) {
            return;
        }
        let Body::Segment(transit) = &packet.body else { return };
        let is_own = self.servers.contains(packet.from) || self.servers.contains(packet.to);
        if !is_own || !transit.retransmission {
            return;
        }
        self.segments += 1;
        self.syns += u64::from(transit.segment.has(Flags::SYN));
    }
}
