//! Tells a [`LinkWatch`] of the simulator's packets.

use super::seen::{LinkStep, SeenAtLink, Way};
use super::watch::LinkWatch;
use crate::host_set::HostSet;
use netsim::{AccessLine, Body, Duplex, HostId, LinkId, Observer, SimPacket, Step};
use units::Instant;

/// Watches the access link for the page's servers.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    servers: HostSet,
    access: Duplex<LinkId>,
    watch: LinkWatch,
}

impl Recorder {
    /// Watches connections of these servers, and, if they are wanted, the queues of the access link.
    pub(crate) fn new(servers: &[HostId], line: &AccessLine, queues: bool) -> Self {
        let servers = HostSet::of(servers);
        Self { servers, access: line.access, watch: LinkWatch::new(queues) }
    }

    /// What it has seen.
    pub(crate) const fn watch(&self) -> &LinkWatch {
        &self.watch
    }
}

impl Observer for Recorder {
    fn on_packet(&mut self, at: Instant, link: LinkId, step: Step, packet: &SimPacket) {
        let step = match step {
            Step::Enter { .. } => LinkStep::Enter,
            Step::Drop { .. } => LinkStep::Drop,
            Step::Discard { .. } => LinkStep::Discard,
            Step::Leave => LinkStep::Leave,
            Step::Lose => LinkStep::Lose,
            Step::Arrive => LinkStep::Arrive,
            Step::Mark => return,
        };
        let way = match link {
            link if link == self.access.forward => Way::Down,
            link if link == self.access.reverse => Way::Up,
            _ => return,
        };
        let seen = SeenAtLink { at, way, step };
        self.watch.on_packet(seen, packet.wire_bytes);
        let Body::Segment(transit) = &packet.body else { return };
        let (server, port) = match way {
            Way::Down => (packet.from, transit.destination_port),
            Way::Up => (packet.to, transit.source_port),
        };
        if self.servers.contains(server) {
            self.watch.on_segment(seen, port, &transit.segment);
        }
    }
}
