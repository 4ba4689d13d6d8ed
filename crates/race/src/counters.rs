//! Counts the page's own packets and their losses, background excluded.

use super::host_set::HostSet;
use netsim::{AccessLine, Body, HostId, LinkId, Observer, SimPacket, Step};
use units::Instant;

/// Totals over all connections of the page, both directions.
#[derive(Clone, Debug, Default)]
pub(super) struct PageCounters {
    servers: HostSet,
    /// The directions of the access links.
    access: Vec<LinkId>,
    /// Packets dropped by a queue or lost on a wire.
    pub(super) dropped: u64,
    /// Segments retransmitted.
    pub(super) retransmitted: u64,
}

impl PageCounters {
    /// Counts packets from and to these servers at the access links of these lines.
    pub(super) fn of(servers: &[HostId], lines: &[AccessLine]) -> Self {
        let access = lines.iter().flat_map(|line| [line.access.forward, line.access.reverse]);
        Self { servers: HostSet::of(servers), access: access.collect(), ..Self::default() }
    }
}

impl Observer for PageCounters {
    fn on_packet(&mut self, _: Instant, link: LinkId, step: Step, packet: &SimPacket) {
        if matches!(step, Step::Leave | Step::Arrive | Step::Mark) || !self.access.contains(&link) {
            return;
        }
        let Body::Segment(transit) = &packet.body else { return };
        if !self.servers.contains(packet.from) && !self.servers.contains(packet.to) {
            return;
        }
        // A packet crosses one access link, and is offered to it once.
        let offered = matches!(step, Step::Enter { .. } | Step::Drop { .. });
        self.retransmitted += u64::from(offered && transit.retransmission);
        let gone = matches!(step, Step::Drop { .. } | Step::Discard { .. } | Step::Lose);
        self.dropped += u64::from(gone);
    }
}
