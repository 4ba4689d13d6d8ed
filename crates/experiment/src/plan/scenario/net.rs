//! A network under construction: nodes, wires and groups of hosts, by name.

use crate::plan::document::{Discipline, TextOr, Wire, Written};
use crate::plan::error::{Fault, meant};
use link::{LinkConfig, QueueLimit};
use netsim::{Duplex, HostId, LinkId, NodeId, Topology};
use std::collections::BTreeMap;
use toml::Spanned;
use units::Duration;

/// A topology and the names in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Net {
    pub(crate) topology: Topology,
    hosts: BTreeMap<String, HostId>,
    groups: BTreeMap<String, Vec<HostId>>,
    links: BTreeMap<String, LinkId>,
    /// The link whose utilisation counts.
    pub(crate) bottleneck: Option<LinkId>,
}

impl Net {
    /// A host of its own name behind a wire to `router`, or at it.
    pub(super) fn host(&mut self, name: &str, router: NodeId, side: Option<&Wire>) -> HostId {
        let host = match side {
            Some(wire) => {
                let host = self.topology.add_host(name);
                let node = self.topology.node(host);
                let Duplex { forward, reverse } = both_ways(wire);
                self.link(&format!("{name}-out"), (node, router), forward);
                self.link(&format!("{name}-in"), (router, node), reverse);
                host
            }
            None => self.topology.add_host_at(name, router),
        };
        self.hosts.insert(name.to_owned(), host);
        host
    }

    /// Adds a host to a group.
    pub(super) fn join(&mut self, group: &str, host: HostId) {
        self.groups.entry(group.to_owned()).or_default().push(host);
    }

    /// Both directions of a wire: `name`, and `name-back`.
    pub(super) fn wire(&mut self, name: &str, ends: (NodeId, NodeId), wire: &Wire) -> LinkId {
        let Duplex { forward, reverse } = both_ways(wire);
        let id = self.link(name, ends, forward);
        self.link(&format!("{name}-back"), (ends.1, ends.0), reverse);
        id
    }

    fn link(&mut self, name: &str, (from, to): (NodeId, NodeId), config: LinkConfig) -> LinkId {
        let id = self.topology.add_link(name, from, to, config);
        self.links.insert(name.to_owned(), id);
        id
    }

    /// The link that the plan names.
    pub(super) fn link_named(&self, name: &Spanned<String>) -> Result<LinkId, Fault> {
        let known: Vec<&String> = self.links.keys().collect();
        self.links.get(name.get_ref()).copied().ok_or_else(|| dangling("link", name, &known))
    }

    /// The hosts that `group`, `group[2]`, `group[0..4]` or a host's name stand for.
    pub(super) fn hosts_named(&self, name: &Spanned<String>) -> Result<Vec<HostId>, Fault> {
        let text = name.get_ref();
        if let Some(host) = self.hosts.get(text) {
            return Ok(vec![*host]);
        }
        let (group, range) = match text.strip_suffix(']').and_then(|rest| rest.split_once('[')) {
            Some((group, range)) => (group, Some(range)),
            None => (text.as_str(), None),
        };
        let hosts = self.groups.get(group).ok_or_else(|| self.no_such_host(name))?;
        let Some(range) = range else {
            return Ok(hosts.clone());
        };
        let part = parse_range(range).and_then(|(from, to)| hosts.get(from..to));
        part.filter(|part| !part.is_empty()).map(<[HostId]>::to_vec).ok_or_else(|| {
            let why = format!(
                "{text:?} names none of the {} hosts of {group:?}, which are {group}[0..{}]",
                hosts.len(),
                hosts.len()
            );
            Fault::new(name.span(), why)
        })
    }

    fn no_such_host(&self, name: &Spanned<String>) -> Fault {
        let known: Vec<&String> = match self.hosts.len() {
            0..=20 => self.groups.keys().chain(self.hosts.keys()).collect(),
            _ => self.groups.keys().collect(),
        };
        dangling("host or group", name, &known)
    }
}

fn dangling(what: &str, name: &Spanned<String>, known: &[&String]) -> Fault {
    const SHOWN: usize = 40;
    let listed: Vec<&str> = known.iter().take(SHOWN).map(|name| name.as_str()).collect();
    let more = if known.len() > SHOWN { ", …" } else { "" };
    let why = format!(
        "no {what} {:?}{}; there are {}{more}",
        name.get_ref(),
        meant(name.get_ref(), known),
        listed.join(", ")
    );
    Fault::new(name.span(), why)
}

/// `3` or `0..4`.
fn parse_range(text: &str) -> Option<(usize, usize)> {
    match text.split_once("..") {
        Some((from, to)) => Some((from.parse().ok()?, to.parse().ok()?)),
        None => text.parse().ok().map(|n: usize| (n, n.saturating_add(1))),
    }
}

/// Both directions of a wire, the way back as the way there where the plan says nothing else.
fn both_ways(wire: &Wire) -> Duplex<LinkConfig> {
    let back = wire.back.clone().unwrap_or_default();
    let reverse = Wire {
        rate: back.rate.unwrap_or(wire.rate),
        delay: back.delay.or(wire.delay),
        queue: back.queue.or_else(|| wire.queue.clone()),
        loss: back.loss.or(wire.loss),
        back: None,
    };
    Duplex { forward: one_way(wire), reverse: one_way(&reverse) }
}

fn one_way(wire: &Wire) -> LinkConfig {
    let limit = match &wire.queue {
        None => QueueLimit::Unlimited,
        Some(TextOr::Text(limit)) => *limit,
        Some(TextOr::Kind(Discipline::Droptail(queue))) => queue.limit.0,
    };
    let delay = wire.delay.map_or(Duration::ZERO, |Written(delay)| delay);
    let loss = wire.loss.unwrap_or_default().0;
    LinkConfig::new(wire.rate.0, delay, limit)
        .and_then(|link| link.with_loss(loss))
        .expect("the document's quantities are checked as they are read")
}
