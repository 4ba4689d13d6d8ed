//! The border of a site, and the tap that reads senders' options there.

use crate::observer::{Observer, Step};
use crate::packet::{Body, SimPacket};
use crate::topology::{Topology, address_of};
use crate::{HostId, LinkId, NodeId};
use memory::{GatewayReport, Sample, Shared};
use units::Instant;

/// The direction in which a packet passes the site's border.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Out,
    In,
}

/// The border of a site.
pub(super) struct SiteBorder {
    /// Nodes of the servers, by host.
    servers: Vec<Option<NodeId>>,
    /// Start and end of each link.
    links: Vec<(NodeId, NodeId)>,
}

impl SiteBorder {
    pub(super) fn new(topology: &Topology, servers: &[HostId]) -> Self {
        let mut nodes = vec![None; topology.host_count()];
        for server in servers {
            nodes[server.index()] = Some(topology.node(*server));
        }
        let links = topology.links().iter().map(|link| (link.from, link.to)).collect();
        Self { servers: nodes, links }
    }

    fn node(&self, host: HostId) -> Option<NodeId> {
        self.servers.get(host.index()).copied().flatten()
    }

    /// Returns the direction of a packet that passes the border with this step.
    pub(super) fn crossing_direction(
        &self,
        link: LinkId,
        step: Step,
        packet: &SimPacket,
    ) -> Option<Way> {
        let (begin, end) = *self.links.get(link.index())?;
        match (self.node(packet.from), self.node(packet.to)) {
            (Some(from), None) => {
                let entry = matches!(step, Step::Enter { .. } | Step::Drop { .. });
                (entry && from == begin).then_some(Way::Out)
            }
            (None, Some(to)) => (step == Step::Arrive && to == end).then_some(Way::In),
            _ => None,
        }
    }
}

/// Reads reports from segments that leave a site.
pub struct ReportTap {
    border: SiteBorder,
    gateway: Shared,
}

impl ReportTap {
    /// Creates a tap that reads the segments of `servers` and reports to `gateway`.
    pub fn new(topology: &Topology, servers: &[HostId], gateway: Shared) -> Self {
        Self { border: SiteBorder::new(topology, servers), gateway }
    }
}

impl Observer for ReportTap {
    fn on_packet(&mut self, at: Instant, link: LinkId, step: Step, packet: &SimPacket) {
        let Body::Segment(transit) = &packet.body else { return };
        let Some(performance) = transit.segment.options.performance else { return };
        if self.border.crossing_direction(link, step, packet) == Some(Way::Out) {
            let sample = Sample::Report(GatewayReport {
                share: performance.share(),
                rtt: performance.rtt(),
            });
            self.gateway.borrow_mut().record(at, address_of(packet.to), &sample);
        }
    }
}
