//! Reports the simulator's packets to a [`LinkWatch`].

use super::seen::{LinkStep, SeenAtLink, Way};
use super::watch::LinkWatch;
use crate::host_set::HostSet;
use netsim::{Access, AccessLine, Body, Duplex, HostId, LinkId, Observer, SimPacket, Step};
use units::Instant;

/// Watches the access link for the page's servers.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    servers: HostSet,
    access: Duplex<LinkId>,
    /// Hosts behind links of their own, and these links.
    far: HostSet,
    own_links: Vec<Duplex<LinkId>>,
    watch: LinkWatch,
}

impl Recorder {
    /// Watches connections of these servers, and, if they are wanted, the queues of the access
    /// link.
    pub(crate) fn new(
        servers: &[HostId],
        access: &Access,
        line: &AccessLine,
        queues: bool,
    ) -> Self {
        let own_links = access.own_links.iter().copied();
        let far = access.servers.iter().zip(own_links.clone()).filter(|(_, own)| own.is_some());
        let far: Vec<HostId> = far.map(|(server, _)| *server).collect();
        Self {
            servers: HostSet::of(servers),
            access: line.access,
            far: HostSet::of(&far),
            own_links: own_links.flatten().collect(),
            watch: LinkWatch::new(queues),
        }
    }

    /// Returns its watch.
    pub(crate) const fn link_watch(&self) -> &LinkWatch {
        &self.watch
    }
}

impl Recorder {
    /// The direction of a link, and whether it is the access link and not a server's own.
    fn link_direction(&self, link: LinkId) -> Option<(Way, bool)> {
        let way = |links: &Duplex<LinkId>| match link {
            link if link == links.forward => Some(Way::Down),
            link if link == links.reverse => Some(Way::Up),
            _ => None,
        };
        let own = || Some((self.own_links.iter().find_map(way)?, false));
        way(&self.access).map(|way| (way, true)).or_else(own)
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
        let Some((way, is_access)) = self.link_direction(link) else { return };
        let seen = SeenAtLink { at, way, step };
        if is_access {
            self.watch.on_packet(seen, packet.wire_bytes);
        }
        let Body::Segment(transit) = &packet.body else { return };
        let (server, port) = match way {
            Way::Down => (packet.from, transit.destination_port),
            Way::Up => (packet.to, transit.source_port),
        };
        if !self.servers.contains(server) {
            return;
        }
        let segment = &transit.segment;
        match self.far.contains(server) {
            false => self.watch.on_segment(seen, port, segment),
            true if is_access => self.watch.on_segment_between(seen, port, segment),
            true => self.watch.on_segment_at_host(seen, port, segment),
        }
    }
}
