//! Ready-made topologies.

use crate::ids::{HostId, LinkId, NodeId};
use crate::topology::Topology;
use link::{Duplex, LinkConfig};

/// Sources on the left, sinks on the right, one bottleneck between two routers.
#[derive(Clone, Debug)]
pub struct Dumbbell {
    /// The graph.
    pub topology: Topology,
    /// The hosts on the left; the n-th is meant for the n-th sink.
    pub sources: Vec<HostId>,
    /// The hosts on the right.
    pub sinks: Vec<HostId>,
    /// From the left router to the right one, and back.
    pub bottleneck: Duplex<LinkId>,
    /// The first link of each source's packets.
    pub first_links: Vec<LinkId>,
}

impl Dumbbell {
    /// `pairs` sources and sinks; `side` is every side link in both directions.
    pub fn new(pairs: usize, side: LinkConfig, bottleneck: Duplex<LinkConfig>) -> Self {
        let mut topology = Topology::new();
        let (left, right) = (topology.add_router(), topology.add_router());
        let bottleneck = Duplex {
            forward: topology.add_link("bottleneck", left, right, bottleneck.forward),
            reverse: topology.add_link("bottleneck-back", right, left, bottleneck.reverse),
        };
        let (mut sources, mut sinks, mut first_links) = (Vec::new(), Vec::new(), Vec::new());
        for n in 0..pairs {
            let (source, sink) =
                (topology.add_host(&format!("s{n}")), topology.add_host(&format!("d{n}")));
            let (s, d) = (topology.node(source), topology.node(sink));
            let out = topology.add_link(&format!("s{n}-out"), s, left, side.clone());
            topology.add_link(&format!("s{n}-in"), left, s, side.clone());
            topology.add_link(&format!("d{n}-out"), d, right, side.clone());
            topology.add_link(&format!("d{n}-in"), right, d, side.clone());
            sources.push(source);
            sinks.push(sink);
            first_links.push(out);
        }
        Self { topology, sources, sinks, bottleneck, first_links }
    }
}

/// Servers behind the access link of one client, as a browser sees the Internet.
#[derive(Clone, Debug)]
pub struct Access {
    /// The graph.
    pub topology: Topology,
    /// The host behind the access link.
    pub client: HostId,
    /// The hosts on the other side of it.
    pub servers: Vec<HostId>,
    /// The links of their own that servers have, in the order of `servers`.
    pub own_links: Vec<Option<Duplex<LinkId>>>,
    /// Forward: down to the client; reverse: up from it.
    pub access: Duplex<LinkId>,
    router: NodeId,
}

/// A client and its access link.
#[derive(Clone, Copy, Debug)]
pub struct AccessLine {
    /// The client.
    pub client: HostId,
    /// Forward: down to the client; reverse: up from it.
    pub access: Duplex<LinkId>,
}

impl Access {
    /// One client. With `servers` links of their own the path is server – router – client; with
    /// `None` the access link is all there is between every server and the client.
    pub fn new(
        servers: usize,
        server_link: Option<LinkConfig>,
        access: Duplex<LinkConfig>,
    ) -> Self {
        Self::with_own_links(&vec![server_link.map(Duplex::symmetric); servers], access)
    }

    /// One client, and for each server a link of its own or `None`. Forward is towards the client.
    pub fn with_own_links(
        servers: &[Option<Duplex<LinkConfig>>],
        access: Duplex<LinkConfig>,
    ) -> Self {
        let mut topology = Topology::new();
        let client = topology.add_host("client");
        let router = topology.add_router();
        let node = topology.node(client);
        let down = topology.add_link("down", router, node, access.forward);
        let up = topology.add_link("up", node, router, access.reverse);
        let (mut hosts, mut own_links) = (Vec::new(), Vec::new());
        for (n, own) in servers.iter().enumerate() {
            let name = format!("server{n}");
            let Some(own) = own else {
                hosts.push(topology.add_host_at(&name, router));
                own_links.push(None);
                continue;
            };
            let server = topology.add_host(&name);
            let node = topology.node(server);
            let (forward, reverse) = (own.forward.clone(), own.reverse.clone());
            own_links.push(Some(Duplex {
                forward: topology.add_link(&format!("{name}-out"), node, router, forward),
                reverse: topology.add_link(&format!("{name}-in"), router, node, reverse),
            }));
            hosts.push(server);
        }
        Self {
            topology,
            client,
            servers: hosts,
            own_links,
            access: Duplex { forward: down, reverse: up },
            router,
        }
    }

    /// The client that [`Access::new`] made.
    pub const fn line(&self) -> AccessLine {
        AccessLine { client: self.client, access: self.access }
    }

    /// Adds another client with an access link of its own. Its address is close to the first
    /// client's.
    pub fn add_neighbour(&mut self, access: Duplex<LinkConfig>) -> AccessLine {
        let client = self.topology.add_host("neighbour");
        let node = self.topology.node(client);
        let forward = self.topology.add_link("neighbour-down", self.router, node, access.forward);
        let reverse = self.topology.add_link("neighbour-up", node, self.router, access.reverse);
        AccessLine { client, access: Duplex { forward, reverse } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::address_of;
    use link::QueueLimit;
    use std::net::IpAddr;
    use units::{Duration, Rate};

    /// A neighbour has a link of its own to the same servers, and an address in the client's /24.
    #[test]
    fn a_neighbour_crosses_its_own_link() {
        let link = |mbps| {
            LinkConfig::new(Rate::from_mbps(mbps), Duration::ZERO, QueueLimit::Unlimited).unwrap()
        };
        let mut access = Access::new(2, None, Duplex::symmetric(link(20)));
        let (first, neighbour) = (access.line(), access.add_neighbour(Duplex::symmetric(link(2))));
        assert_ne!(first.client, neighbour.client);
        for server in &access.servers {
            for line in [first, neighbour] {
                let route = |from, to| access.topology.route(from, to);
                assert_eq!(route(*server, line.client), Some(vec![line.access.forward]));
                assert_eq!(route(line.client, *server), Some(vec![line.access.reverse]));
            }
        }
        let network = |host| match address_of(host) {
            IpAddr::V4(v4) => v4.to_bits() >> 8,
            IpAddr::V6(v6) => panic!("{v6}"),
        };
        assert_eq!(network(first.client), network(neighbour.client));
    }
}
