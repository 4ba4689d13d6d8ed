//! The topology: hosts, routers, links in one direction, and routes between hosts.
//!
//! Routes are static. A route may be given; otherwise it is the one with the fewest links, and
//! among equals the one whose links were added first.

use crate::ids::{HostId, LinkId, NodeId};
use crate::processing_delay::{ProcessingDelay, ProcessingOrder};
use link::LinkConfig;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use units::Duration;

/// One direction of a wire between two nodes.
#[derive(Clone, Debug)]
pub struct LinkSpec {
    /// Name for reports, capture files and the link's random stream; unique in a topology.
    pub name: String,
    /// The end at which packets enter.
    pub from: NodeId,
    /// The end at which they arrive.
    pub to: NodeId,
    /// Rate, delay, queue and loss.
    pub config: LinkConfig,
}

#[derive(Clone, Debug)]
struct HostSpec {
    name: String,
    node: NodeId,
    /// Explicit routes from this node: destination and links.
    routes: Vec<(HostId, Vec<LinkId>)>,
    processing: ProcessingDelay,
    processing_order: ProcessingOrder,
}

/// A graph of nodes and links, built once and then simulated.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    hosts: Vec<HostSpec>,
    links: Vec<LinkSpec>,
    link_names: BTreeSet<String>,
    /// Links that leave each node.
    leaving: Vec<Vec<LinkId>>,
}

/// The reason why a route was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteError {
    /// This link does not start at the end of the one before it, or at the host.
    Broken(LinkId),
    /// The last link does not end at the destination.
    Elsewhere,
}

impl fmt::Display for RouteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken(link) => {
                write!(f, "link {} of the route does not start where the one before ends", link.0)
            }
            Self::Elsewhere => write!(f, "the route does not end at its destination"),
        }
    }
}

impl std::error::Error for RouteError {}

impl Topology {
    /// Creates an empty topology.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an end host with a node of its own.
    pub fn add_host(&mut self, name: &str) -> HostId {
        let node = self.add_router();
        self.add_host_at(name, node)
    }

    /// Adds an end host at an existing node; hosts at the same node exchange packets at once.
    pub fn add_host_at(&mut self, name: &str, node: NodeId) -> HostId {
        self.hosts.push(HostSpec {
            name: name.to_owned(),
            node,
            routes: Vec::new(),
            processing: ProcessingDelay::NONE,
            processing_order: ProcessingOrder::Host,
        });
        HostId((self.hosts.len() - 1) as u32)
    }

    /// Adds a node that only forwards.
    pub fn add_router(&mut self) -> NodeId {
        self.leaving.push(Vec::new());
        NodeId((self.leaving.len() - 1) as u32)
    }

    /// Adds one direction of a wire. `name` is made unique by a suffix if it is taken.
    pub fn add_link(&mut self, name: &str, from: NodeId, to: NodeId, config: LinkConfig) -> LinkId {
        let id = LinkId(self.links.len() as u32);
        let taken = self.link_names.contains(name);
        let name = if taken { format!("{name}#{}", id.0) } else { name.to_owned() };
        self.link_names.insert(name.clone());
        self.links.push(LinkSpec { name, from, to, config });
        self.leaving[from.index()].push(id);
        id
    }

    /// Sets a host's processing delay: independent for each packet, uniform up to `longest`. A
    /// packet does not leave before earlier ones: all, or those that
    /// [`Topology::set_processing_order`] selects. There is none by default.
    pub fn set_processing(&mut self, host: HostId, longest: Duration) {
        self.set_processing_delay(host, ProcessingDelay { most: longest, ..ProcessingDelay::NONE });
    }

    /// Sets a host's processing delay with both bounds, like [`Topology::set_processing`].
    pub fn set_processing_delay(&mut self, host: HostId, delay: ProcessingDelay) {
        self.hosts[host.index()].processing = delay;
    }

    /// Sets the packets of a host that keep their order in processing; all by default.
    pub fn set_processing_order(&mut self, host: HostId, order: ProcessingOrder) {
        self.hosts[host.index()].processing_order = order;
    }

    /// Returns the packets of a host that keep their order in processing.
    pub fn processing_order(&self, host: HostId) -> ProcessingOrder {
        self.hosts[host.index()].processing_order
    }

    /// Returns the bounds of a host's processing delay.
    pub fn processing(&self, host: HostId) -> ProcessingDelay {
        self.hosts[host.index()].processing
    }

    /// Sets the route from one host to another.
    ///
    /// # Errors
    /// If the links do not lead from one to the other.
    pub fn set_route(
        &mut self,
        from: HostId,
        to: HostId,
        route: &[LinkId],
    ) -> Result<(), RouteError> {
        let mut here = self.node(from);
        for id in route {
            let link = &self.links[id.index()];
            if link.from != here {
                return Err(RouteError::Broken(*id));
            }
            here = link.to;
        }
        if here != self.node(to) {
            return Err(RouteError::Elsewhere);
        }
        self.hosts[from.index()].routes.push((to, route.to_vec()));
        Ok(())
    }

    /// Returns the node of a host.
    pub fn node(&self, host: HostId) -> NodeId {
        self.hosts[host.index()].node
    }

    /// Returns a host's name.
    pub fn host_name(&self, host: HostId) -> &str {
        &self.hosts[host.index()].name
    }

    /// Returns the number of hosts.
    pub fn host_count(&self) -> usize {
        self.hosts.len()
    }

    /// Returns all links; a [`LinkId`] is an index into them.
    pub fn links(&self) -> &[LinkSpec] {
        &self.links
    }

    /// Returns the links from one host to another, or `None` if there is no way.
    pub fn route(&self, from: HostId, to: HostId) -> Option<Vec<LinkId>> {
        self.route_by(&mut Trees::default(), from, to)
    }

    /// Returns a finder for many routes: it computes the shortest ways from a node once.
    pub fn route_finder(&self) -> RouteFinder<'_> {
        RouteFinder { topology: self, trees: Trees::default() }
    }

    /// Returns a route, using and extending the known trees.
    pub(crate) fn route_by(
        &self,
        trees: &mut Trees,
        from: HostId,
        to: HostId,
    ) -> Option<Vec<LinkId>> {
        let given = self.hosts[from.index()].routes.iter().rev().find(|(host, _)| *host == to);
        match given {
            Some((_, route)) => Some(route.clone()),
            None => self.shortest(trees, self.node(from), self.node(to)),
        }
    }

    fn shortest(&self, trees: &mut Trees, from: NodeId, to: NodeId) -> Option<Vec<LinkId>> {
        if from == to {
            return Some(Vec::new());
        }
        // A host with one link out has the routes of the node after it, so that hosts share a tree.
        if let [only] = self.leaving[from.index()][..] {
            let mut route = vec![only];
            route.extend(self.links_along(trees, self.links[only.index()].to, to)?);
            return Some(route);
        }
        self.links_along(trees, from, to)
    }

    /// Returns the links from one node to another along the tree of shortest ways.
    fn links_along(&self, trees: &mut Trees, from: NodeId, to: NodeId) -> Option<Vec<LinkId>> {
        let reached_by = trees.from(self, from);
        let mut route = Vec::new();
        let mut here = to;
        while here != from {
            let id = reached_by[here.index()]?;
            route.push(id);
            here = self.links[id.index()].from;
        }
        route.reverse();
        Some(route)
    }

    /// Returns the link through which a breadth-first search first finds each node, with links in
    /// the order in which they were added.
    fn tree(&self, from: NodeId) -> Vec<Option<LinkId>> {
        let mut reached_by = vec![None; self.leaving.len()];
        let mut frontier = VecDeque::from([from]);
        while let Some(node) = frontier.pop_front() {
            for id in &self.leaving[node.index()] {
                let next = self.links[id.index()].to;
                if next != from && reached_by[next.index()].is_none() {
                    reached_by[next.index()] = Some(*id);
                    frontier.push_back(next);
                }
            }
        }
        reached_by
    }
}

/// Finds routes of a topology, and caches its results.
#[derive(Debug)]
pub struct RouteFinder<'a> {
    topology: &'a Topology,
    trees: Trees,
}

impl RouteFinder<'_> {
    /// Returns a route like [`Topology::route`].
    pub fn route(&mut self, from: HostId, to: HostId) -> Option<Vec<LinkId>> {
        self.topology.route_by(&mut self.trees, from, to)
    }
}

/// Known trees of shortest ways, by the node at the root.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trees {
    known: BTreeMap<NodeId, Vec<Option<LinkId>>>,
}

impl Trees {
    /// Maximum number of nodes in all trees together; at more, the known ones are forgotten: 32
    /// MiB.
    const LIMIT: usize = 1 << 22;

    fn from(&mut self, topology: &Topology, root: NodeId) -> &[Option<LinkId>] {
        let nodes = topology.leaving.len();
        if !self.known.contains_key(&root) && (self.known.len() + 1) * nodes > Self::LIMIT {
            self.known.clear();
        }
        self.known.entry(root).or_insert_with(|| topology.tree(root))
    }
}

/// The first address, 10.0.0.1; host `n` has the `n`-th after it.
const FIRST_ADDRESS: u32 = 0x0a00_0001;

/// Returns the address of a host: 10.0.0.1 and up, by index.
pub fn address_of(host: HostId) -> IpAddr {
    IpAddr::V4(Ipv4Addr::from_bits(FIRST_ADDRESS + host.0))
}

/// Returns the host at an address, if [`address_of`] assigns it.
pub fn host_at(address: IpAddr) -> Option<HostId> {
    match address {
        IpAddr::V4(v4) => v4.to_bits().checked_sub(FIRST_ADDRESS).map(HostId),
        IpAddr::V6(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use link::QueueLimit;
    use proptest::prelude::*;
    use units::Rate;

    fn config() -> LinkConfig {
        LinkConfig::new(Rate::from_mbps(1), Duration::ZERO, QueueLimit::Unlimited).unwrap()
    }

    const A: HostId = HostId(0);
    const B: HostId = HostId(1);

    /// a → r → b and a → q → s → b, all one way; the longer way added first.
    fn two_ways() -> Topology {
        let mut t = Topology::new();
        let (a, b) = (t.add_host("a"), t.add_host("b"));
        assert_eq!((a, b), (A, B));
        let [q, s, r] = std::array::from_fn(|_| t.add_router());
        let (from, to) = (t.node(a), t.node(b));
        for (x, y) in [(from, q), (q, s), (s, to), (from, r), (r, to)] {
            t.add_link("wire", x, y, config());
        }
        t
    }

    #[test]
    fn the_shortest_route_is_taken_unless_one_is_given() {
        let mut t = two_ways();
        assert_eq!(t.route(A, B), Some(vec![LinkId(3), LinkId(4)]));
        assert_eq!(t.route(B, A), None, "links have one direction");
        let long = [LinkId(0), LinkId(1), LinkId(2)];
        t.set_route(A, B, &long).unwrap();
        assert_eq!(t.route(A, B), Some(long.to_vec()));
    }

    proptest! {
        /// A route by the tree of the node after a host's only link is the route by its own tree.
        #[test]
        fn trees_are_shared_without_a_difference(
            links in prop::collection::vec((0u32..8, 0u32..8), 1..30),
        ) {
            let mut t = Topology::new();
            let hosts: Vec<_> = (0..8).map(|_| t.add_host("host")).collect();
            for (a, b) in links {
                t.add_link("wire", NodeId(a), NodeId(b), config());
            }
            let mut shared = Trees::default();
            for from in &hosts {
                for to in &hosts {
                    let own = t.links_along(&mut Trees::default(), t.node(*from), t.node(*to));
                    prop_assert_eq!(t.route_by(&mut shared, *from, *to), own);
                }
            }
        }
    }

    #[test]
    fn a_route_must_lead_there() {
        let mut t = two_ways();
        let broken = t.set_route(A, B, &[LinkId(0), LinkId(4)]);
        assert_eq!(broken, Err(RouteError::Broken(LinkId(4))));
        assert_eq!(t.set_route(A, B, &[LinkId(0)]), Err(RouteError::Elsewhere));
    }

    #[test]
    fn link_names_are_unique() {
        let t = two_ways();
        assert_eq!(t.links()[0].name, "wire");
        assert_eq!(t.links()[2].name, "wire#2");
    }

    #[test]
    fn addresses_and_hosts_are_the_same_thing() {
        assert_eq!(address_of(HostId(0)).to_string(), "10.0.0.1");
        assert_eq!(address_of(HostId(256)).to_string(), "10.0.1.1");
        assert_eq!(host_at(address_of(HostId(70_000))), Some(HostId(70_000)));
        assert_eq!(host_at(IpAddr::from([9, 0, 0, 1])), None);
    }
}
