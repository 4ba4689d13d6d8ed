//! A network under construction: nodes, wires and groups of hosts, by name.

use super::wire::LinkMaker;
use crate::plan::document::{At, OneWay, ProcessingSpec, WireSpec};
use crate::plan::error::{Fault, meant};
use link::LinkConfig;
use netsim::{HostId, LinkId, NodeId, RouteFinder, Topology};
use std::collections::{BTreeMap, BTreeSet};

/// A topology and the names in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Net {
    pub(crate) topology: Topology,
    hosts: BTreeMap<String, HostId>,
    groups: BTreeMap<String, Vec<HostId>>,
    links: BTreeMap<String, LinkId>,
    /// Links that lead from a host to its router, and back.
    side: BTreeSet<LinkId>,
    /// The link whose utilisation counts.
    pub(crate) bottleneck: Option<LinkId>,
}

/// Adds to a network.
pub(super) struct Builder<'a> {
    pub(super) net: Net,
    pub(super) maker: LinkMaker<'a>,
}

/// A router, and the wire between it and its hosts.
#[derive(Clone, Copy)]
pub(super) struct HostPlace<'a> {
    pub(super) router: NodeId,
    /// The wire from a host to the router; without one the host is at the router.
    pub(super) side: Option<&'a At<WireSpec>>,
}

impl Builder<'_> {
    /// A host of its own name.
    pub(super) fn host(
        &mut self,
        name: &str,
        HostPlace { router, side }: HostPlace<'_>,
    ) -> Result<HostId, Fault> {
        let topology = &mut self.net.topology;
        let host = match side {
            None => topology.add_host_at(name, router),
            Some(wire) => {
                let host = topology.add_host(name);
                let node = topology.node(host);
                let links = self.maker.both_directions(wire, wire.span())?;
                let out = self.link(&format!("{name}-out"), node, router, links.forward);
                let back = self.link(&format!("{name}-in"), router, node, links.reverse);
                self.net.side.extend([out, back]);
                host
            }
        };
        self.net.hosts.insert(name.to_owned(), host);
        Ok(host)
    }

    /// `count` hosts `<prefix>0`, `<prefix>1`, … in the group `group`.
    pub(super) fn hosts(
        &mut self,
        group: &str,
        prefix: &str,
        count: u32,
        place: HostPlace<'_>,
    ) -> Result<Vec<HostId>, Fault> {
        for n in 0..count {
            let host = self.host(&format!("{prefix}{n}"), place)?;
            self.join(group, host);
        }
        Ok(self.net.groups.get(group).cloned().unwrap_or_default())
    }

    /// Adds a host to a group.
    pub(super) fn join(&mut self, group: &str, host: HostId) {
        self.net.groups.entry(group.to_owned()).or_default().push(host);
    }

    /// Both directions of a wire: `name`, and `name-back`.
    pub(super) fn add_wire(
        &mut self,
        name: &str,
        from: NodeId,
        to: NodeId,
        wire: &At<WireSpec>,
    ) -> Result<LinkId, Fault> {
        let links = self.maker.both_directions(wire, wire.span())?;
        let id = self.link(name, from, to, links.forward);
        self.link(&format!("{name}-back"), to, from, links.reverse);
        Ok(id)
    }

    /// One direction of a wire.
    pub(super) fn one_way(
        &mut self,
        name: &str,
        from: NodeId,
        to: NodeId,
        plan: &At<OneWay>,
    ) -> Result<LinkId, Fault> {
        let config = self.maker.one_direction(plan, plan.span())?;
        Ok(self.link(name, from, to, config))
    }

    pub(super) fn link(
        &mut self,
        name: &str,
        from: NodeId,
        to: NodeId,
        config: LinkConfig,
    ) -> LinkId {
        let id = self.net.topology.add_link(name, from, to, config);
        self.net.links.insert(name.to_owned(), id);
        id
    }
}

impl Net {
    /// Sets the processing delay of hosts.
    pub(super) fn set_processing(&mut self, plan: &ProcessingSpec) -> Result<(), Fault> {
        for host in self.hosts_named(&plan.hosts)? {
            self.topology.set_processing(host, plan.longest.0);
            self.topology.set_processing_order(host, plan.per.into());
        }
        Ok(())
    }

    /// All hosts.
    pub(super) fn hosts(&self) -> impl Iterator<Item = HostId> + use<> {
        (0..self.topology.host_count() as u32).map(HostId)
    }

    /// The link that the plan names.
    pub(super) fn link_named(&self, name: &At<String>) -> Result<LinkId, Fault> {
        let found = self.links.get(&**name).copied();
        found.ok_or_else(|| unknown_name("link", name, &self.links.keys().collect::<Vec<_>>()))
    }

    /// The hosts that `group`, `group[2]`, `group[0..4]` or a host's name stand for.
    pub(super) fn hosts_named(&self, name: &At<String>) -> Result<Vec<HostId>, Fault> {
        let text: &str = name;
        if let Some(host) = self.hosts.get(text) {
            return Ok(vec![*host]);
        }
        let (group, range) = match text.strip_suffix(']').and_then(|rest| rest.split_once('[')) {
            Some((group, range)) => (group, Some(range)),
            None => (text, None),
        };
        let hosts = self.groups.get(group).ok_or_else(|| self.no_such_host(name))?;
        let Some(range) = range else {
            return Ok(hosts.clone());
        };
        let part = parse_range(range).and_then(|(from, to)| hosts.get(from..to));
        part.filter(|part| !part.is_empty()).map(<[HostId]>::to_vec).ok_or_else(|| {
            let all = hosts.len();
            let why = format!("{text:?} names none of the {all} hosts {group}[0..{all}]");
            Fault::new(name.span(), why)
        })
    }

    fn no_such_host(&self, name: &At<String>) -> Fault {
        let known: Vec<&String> = match self.hosts.len() {
            0..=20 => self.groups.keys().chain(self.hosts.keys()).collect(),
            _ => self.groups.keys().collect(),
        };
        unknown_name("host or group", name, &known)
    }

    /// Finds pairs of hosts with a link between them that is no side link.
    pub(crate) fn distances(&self) -> Distances<'_> {
        Distances { side: &self.side, routes: self.topology.route_finder() }
    }
}

/// Links between hosts; known routes help to find others.
#[derive(Debug)]
pub(crate) struct Distances<'a> {
    side: &'a BTreeSet<LinkId>,
    routes: RouteFinder<'a>,
}

impl Distances<'_> {
    /// Whether packets from one host to the other cross a link that is no side link.
    pub(crate) fn are_apart(&mut self, from: HostId, to: HostId) -> bool {
        let route = self.routes.route(from, to).unwrap_or_default();
        route.iter().any(|link| !self.side.contains(link))
    }
}

/// Nothing has this name; lists the known names.
pub(super) fn unknown_name(what: &str, name: &At<String>, known: &[&String]) -> Fault {
    const SHOWN: usize = 40;
    let listed: Vec<&str> = known.iter().take(SHOWN).map(|name| name.as_str()).collect();
    let more = if known.len() > SHOWN { ", …" } else { "" };
    let (name, span) = (&**name, name.span());
    let meant = meant(name, known);
    Fault::new(span, format!("no {what} {name:?}{meant}; there are {}{more}", listed.join(", ")))
}

/// `3` or `0..4`.
fn parse_range(text: &str) -> Option<(usize, usize)> {
    match text.split_once("..") {
        Some((from, to)) => Some((from.parse().ok()?, to.parse().ok()?)),
        None => text.parse().ok().map(|n: usize| (n, n.saturating_add(1))),
    }
}
