//! The plan's topology as a network.

use super::is_plain;
use super::net::{Builder, HostPlace, Net, unknown_name};
use super::wire::LinkMaker;
use crate::plan::document::{
    Asymmetric, At, DumbbellTopology, GraphLink, GraphTopology, RowTopology, TopologySpec,
};
use crate::plan::error::Fault;
use netsim::{NodeId, RouteError};
use std::collections::{BTreeMap, BTreeSet};

/// Most hosts of a topology.
const MAX_HOSTS: u64 = 1_000_000;
/// Most pairs that a topology gets unasked.
const MAX_PAIRS: u32 = 100_000;

/// Builds the network; a topology that does not say how many pairs it has gets `pairs`.
pub(super) fn build(
    topology: &TopologySpec,
    pairs: u32,
    maker: LinkMaker<'_>,
) -> Result<Net, Fault> {
    let (builder, pairs) = (Builder { net: Net::default(), maker }, pairs.min(MAX_PAIRS));
    match topology {
        TopologySpec::Dumbbell(plan) => dumbbell(builder, plan, pairs),
        TopologySpec::ParkingLot(plan) => RowOfLinks::new(plan, pairs, Exit::Next).build(builder),
        TopologySpec::Chain(plan) => RowOfLinks::new(plan, pairs, Exit::Same).build(builder),
        TopologySpec::Asymmetric(plan) => asymmetric(builder, plan, pairs),
        TopologySpec::Graph(plan) => graph(builder, plan),
    }
}

fn dumbbell(mut to: Builder<'_>, plan: &DumbbellTopology, pairs: u32) -> Result<Net, Fault> {
    let (left, right) = (to.net.topology.add_router(), to.net.topology.add_router());
    to.net.bottleneck = Some(to.add_wire("bottleneck", left, right, &plan.bottleneck)?);
    let [left, right] = [left, right].map(|router| HostPlace { router, side: plan.side.as_ref() });
    for n in 0..plan.pairs.map_or(pairs, |pairs| pairs.0) {
        let source = to.host(&format!("s{n}"), left)?;
        let sink = to.host(&format!("d{n}"), right)?;
        to.join("sources", source);
        to.join("sinks", sink);
    }
    Ok(to.net)
}

/// Exit of the cross traffic from a row of links.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Exit {
    /// At the next router: it crosses one link each.
    Next,
    /// The router at which other cross traffic enters.
    Same,
}

/// Routers in a row.
struct RowOfLinks<'a> {
    plan: &'a RowTopology,
    pairs: u32,
    cross: u32,
    exit: Exit,
}

impl<'a> RowOfLinks<'a> {
    fn new(plan: &'a RowTopology, pairs: u32, exit: Exit) -> Self {
        let pairs = plan.pairs.map_or(pairs, |pairs| pairs.0);
        let cross = plan.cross.map_or(1, |cross| cross.0);
        Self { plan, pairs, cross, exit }
    }

    fn build(self, mut to: Builder<'_>) -> Result<Net, Fault> {
        let RowTopology { hop, side, .. } = self.plan;
        let (hops, side) = (self.plan.hops.0, side.as_ref());
        let hosts = u64::from(hops + 1) * u64::from(self.cross) * 2 + u64::from(self.pairs) * 2;
        if hosts > MAX_HOSTS {
            let why = format!("{hosts} hosts are above {MAX_HOSTS}: use fewer hops or less cross");
            return Err(Fault::new(hop.span(), why));
        }
        let routers: Vec<NodeId> = (0..=hops).map(|_| to.net.topology.add_router()).collect();
        for (n, ends) in routers.windows(2).enumerate() {
            let link = to.add_wire(&format!("hop{n}"), ends[0], ends[1], hop)?;
            to.net.bottleneck.get_or_insert(link);
        }
        let (first, last) = (routers[0], routers[hops as usize]);
        to.hosts("sources", "s", self.pairs, HostPlace { router: first, side })?;
        to.hosts("sinks", "d", self.pairs, HostPlace { router: last, side })?;
        self.add_cross_traffic_hosts(&mut to, &routers)?;
        Ok(to.net)
    }

    /// Hosts of cross traffic, first by router and then, for `cross-in` and `cross-out`, in turn.
    fn add_cross_traffic_hosts(
        &self,
        to: &mut Builder<'_>,
        routers: &[NodeId],
    ) -> Result<(), Fault> {
        let side = self.plan.side.as_ref();
        let step = usize::from(self.exit == Exit::Next);
        let places = routers.len() - step;
        let mut hosts = Vec::new();
        for n in 0..places {
            let mut hosts_at = |name: String, router| {
                to.hosts(&name, &format!("{name}-"), self.cross, HostPlace { router, side })
            };
            let ins = hosts_at(format!("in{n}"), routers[n])?;
            let outs = hosts_at(format!("out{n}"), routers[n + step])?;
            hosts.push((ins, outs));
        }
        for nth in 0..self.cross as usize {
            for (ins, outs) in &hosts {
                to.join("cross-in", ins[nth]);
                to.join("cross-out", outs[nth]);
            }
        }
        Ok(())
    }
}

fn asymmetric(mut to: Builder<'_>, plan: &Asymmetric, pairs: u32) -> Result<Net, Fault> {
    let (router, home) = (to.net.topology.add_router(), to.net.topology.add_router());
    to.net.bottleneck = Some(to.one_way("down", router, home, &plan.down)?);
    to.one_way("up", home, router, &plan.up)?;
    let servers = plan.servers.map_or(pairs, |servers| servers.0);
    let place = HostPlace { router, side: plan.side.as_ref() };
    to.hosts("servers", "server", servers, place)?;
    let clients = plan.clients.map_or(1, |clients| clients.0);
    to.hosts("clients", "client", clients, HostPlace { router: home, side: None })?;
    Ok(to.net)
}

fn graph(mut to: Builder<'_>, plan: &GraphTopology) -> Result<Net, Fault> {
    let mut nodes = BTreeMap::new();
    for name in plan.routers.iter().chain(&plan.hosts) {
        if nodes.insert(String::clone(name), to.net.topology.add_router()).is_some() {
            let why = format!("{:?} is there twice: names are unique", **name);
            return Err(Fault::new(name.span(), why));
        }
    }
    for name in &plan.hosts {
        to.host(name, HostPlace { router: nodes[&**name], side: None })?;
    }
    for (name, link) in &plan.link {
        graph_link(&mut to, &nodes, name, link)?;
    }
    for (group, hosts) in &plan.group {
        for name in hosts {
            for host in to.net.hosts_named(name)? {
                to.join(group, host);
            }
        }
    }
    routes(&mut to.net, plan)?;
    Ok(to.net)
}

fn graph_link(
    to: &mut Builder<'_>,
    nodes: &BTreeMap<String, NodeId>,
    name: &str,
    link: &GraphLink,
) -> Result<(), Fault> {
    let node = |end: &At<String>| {
        let known: Vec<&String> = nodes.keys().collect();
        nodes.get(&**end).copied().ok_or_else(|| unknown_name("host or router", end, &known))
    };
    // Captures are named after links.
    if !is_plain(name) {
        let why = format!("link {name:?}: use letters, digits, - and _");
        return Err(Fault::new(link.from.span(), why));
    }
    let (from_node, to_node) = (node(&link.from)?, node(&link.to)?);
    if link.one_way {
        if link.wire.back.is_some() {
            let why = "a one-way link has no way back: leave back out, or one_way";
            return Err(Fault::new(link.wire.span(), why));
        }
        let config = to.maker.one_direction(&link.wire.forward(), link.wire.span())?;
        to.link(name, from_node, to_node, config);
    } else {
        to.add_wire(name, from_node, to_node, &link.wire)?;
    }
    Ok(())
}

fn routes(net: &mut Net, plan: &GraphTopology) -> Result<(), Fault> {
    let mut given = BTreeSet::new();
    for route in &plan.route {
        let links = route.links.iter().map(|name| net.link_named(name));
        let links = links.collect::<Result<Vec<_>, _>>()?;
        for from in net.hosts_named(&route.from)? {
            for to in net.hosts_named(&route.to)? {
                let set = net.topology.set_route(from, to, &links);
                set.map_err(|error| Fault::new(route.from.span(), route_error(net, error)))?;
                if !given.insert((from, to)) {
                    let why = "a route between these hosts is there already: leave one of them out";
                    return Err(Fault::new(route.from.span(), why));
                }
            }
        }
    }
    Ok(())
}

/// Error of a route, with the names of links.
fn route_error(net: &Net, error: RouteError) -> String {
    match error {
        RouteError::Broken(link) => {
            let name = &net.topology.links()[link.index()].name;
            format!("{name:?} does not start where the link before it, or the host, is")
        }
        other => other.to_string(),
    }
}
