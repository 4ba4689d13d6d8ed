//! Servers of one site that share a performance gateway, and the three ways in which it collects
//! (Zhang, Qiu & Keshav 2000 §5.2.2). Asking takes no time, as in the paper's runs.
//!
//! Whatever is read off the wire is read at the site's edge: packets on their way out as they come
//! to the first queue, packets on their way in as they reach their server. Traffic within the site
//! is nobody's business.

use crate::observer::{Observer, Step};
use crate::packet::{Body, SimPacket, Transit};
use crate::topology::{Topology, address_of};
use crate::{HostId, LinkId, NodeId, Simulation};
use memory::passive::{FlowKey, IncomingPacket, OutgoingPacket, Passive};
use memory::{Average, Gateway, GatewayConfig, Sample, Shared};
use std::cell::RefCell;
use std::rc::Rc;
use tcp::{Flags, MemoryKind, Reporting};
use units::Instant;

/// How the gateway comes to know what senders know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Collecting {
    /// Senders report, at once.
    #[default]
    Reports,
    /// Senders write it into an option of segments that they send anyway, and the gateway reads it
    /// as they pass.
    Option,
    /// Senders do nothing; the gateway rebuilds what they know from packets.
    Passive,
}

/// A site.
#[derive(Clone, Debug)]
pub struct SiteSpec {
    /// Its servers.
    pub servers: Vec<HostId>,
    /// How its gateway aggregates.
    pub gateway: GatewayConfig,
    /// How it collects.
    pub collecting: Collecting,
}

/// Connections that a passive gateway follows at once.
const MOST_SENDERS: usize = 65_536;

/// The gateway of a site in a simulation, to look at.
#[derive(Clone)]
pub struct Site {
    gateway: Rc<RefCell<Gateway>>,
}

impl Site {
    /// The averages of `Wc`, bytes, and of the round trip, nanoseconds, towards `remote`.
    pub fn averages(&self, now: Instant, remote: HostId) -> (Option<Average>, Option<Average>) {
        self.gateway.borrow_mut().averages(now, address_of(remote))
    }
}

impl Simulation {
    /// Has the servers of a site share a gateway, under schemes that ask one.
    pub fn add_site(&mut self, spec: &SiteSpec) -> Site {
        let gateway = Rc::new(RefCell::new(Gateway::new(spec.gateway)));
        let memory: Shared = match spec.collecting {
            Collecting::Reports => gateway.clone(),
            Collecting::Option => {
                self.observe(ReportTap::new(self.topology(), &spec.servers, gateway.clone()));
                gateway.clone()
            }
            Collecting::Passive => {
                let passive = Passive::new(gateway.clone(), MOST_SENDERS);
                let passive = Rc::new(RefCell::new(passive));
                self.observe(PassiveTap::new(self.topology(), &spec.servers, passive.clone()));
                passive
            }
        };
        let reporting = match spec.collecting {
            Collecting::Option => Reporting::InSegments,
            Collecting::Reports | Collecting::Passive => Reporting::Direct,
        };
        for server in &spec.servers {
            self.configure_host(*server, |host| {
                host.set_memory(MemoryKind::Gateway, memory.clone());
                host.set_reporting(reporting);
            });
        }
        Site { gateway }
    }
}

/// Which way a packet passes the site's edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Out,
    In,
}

/// Where a site begins.
struct Edge {
    /// Where each server is, by host.
    servers: Vec<Option<NodeId>>,
    /// From where to where each link leads.
    links: Vec<(NodeId, NodeId)>,
}

impl Edge {
    fn new(topology: &Topology, servers: &[HostId]) -> Self {
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

    /// The way of a packet that passes the edge with this step.
    fn passes(&self, link: LinkId, step: Step, packet: &SimPacket) -> Option<Way> {
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

/// Reads reports off segments that leave a site.
pub struct ReportTap {
    edge: Edge,
    gateway: Shared,
}

impl ReportTap {
    /// Reads what `servers` send and tells `gateway`.
    pub fn new(topology: &Topology, servers: &[HostId], gateway: Shared) -> Self {
        Self { edge: Edge::new(topology, servers), gateway }
    }
}

impl Observer for ReportTap {
    fn on_packet(&mut self, at: Instant, link: LinkId, step: Step, packet: &SimPacket) {
        let Body::Segment(transit) = &packet.body else { return };
        let Some(performance) = transit.segment.options.performance else { return };
        if self.edge.passes(link, step, packet) == Some(Way::Out) {
            let sample = Sample::Report(performance.report());
            self.gateway.borrow_mut().record(at, address_of(packet.to), &sample);
        }
    }
}

/// Shows a box what passes a site's edge.
pub struct PassiveTap {
    edge: Edge,
    passive: Rc<RefCell<Passive>>,
}

impl PassiveTap {
    /// Shows `passive` what `servers` send and receive.
    pub fn new(topology: &Topology, servers: &[HostId], passive: Rc<RefCell<Passive>>) -> Self {
        Self { edge: Edge::new(topology, servers), passive }
    }
}

impl Observer for PassiveTap {
    fn on_packet(&mut self, at: Instant, link: LinkId, step: Step, packet: &SimPacket) {
        let Body::Segment(transit) = &packet.body else { return };
        let Some(way) = self.edge.passes(link, step, packet) else { return };
        let mut passive = self.passive.borrow_mut();
        match way {
            Way::Out => passive.on_outgoing(at, &flow(packet, transit, way), &outgoing(transit)),
            Way::In => passive.on_incoming(at, &flow(packet, transit, way), &incoming(transit)),
        }
    }
}

fn flow(packet: &SimPacket, transit: &Transit, way: Way) -> FlowKey {
    let (from, to) = (address_of(packet.from), address_of(packet.to));
    let (source, destination) = (transit.source_port, transit.destination_port);
    match way {
        Way::Out => FlowKey { local: from, remote: to, ports: (source, destination) },
        Way::In => FlowKey { local: to, remote: from, ports: (destination, source) },
    }
}

/// What a header says; the simulator's own knowledge of retransmissions is not in it.
fn outgoing(transit: &Transit) -> OutgoingPacket {
    let segment = &transit.segment;
    OutgoingPacket {
        seq: segment.seq,
        len: segment.len,
        syn: segment.has(Flags::SYN),
        scaling: segment.options.window_scale.is_some(),
    }
}

fn incoming(transit: &Transit) -> IncomingPacket {
    let segment = &transit.segment;
    IncomingPacket {
        ack: segment.has(Flags::ACK).then_some(segment.ack),
        window: segment.window,
        len: segment.len,
        window_scale: segment.has(Flags::SYN).then(|| segment.options.window_scale.unwrap_or(0)),
        ends: segment.has(Flags::FIN) || segment.has(Flags::RST),
    }
}
