//! Routes of packets: one list of links for all routes, and a cursor into it.

use crate::topology::Trees;
use crate::{HostId, LinkId, Topology};

/// Marks the end of a route in the list of hops.
const DELIVER: u32 = u32::MAX;
/// Flag of a hop whose next link is crossed ahead of time.
const LEADS_AHEAD: u32 = 1 << 31;

/// A link on a route.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop(u32);

impl Hop {
    #[inline]
    pub(crate) const fn link(self) -> LinkId {
        LinkId(self.0 & !LEADS_AHEAD)
    }

    /// Returns true if the next link of the route is crossed ahead of time.
    #[inline]
    pub(crate) const fn leads_ahead(self) -> bool {
        self.0 & LEADS_AHEAD != 0
    }
}

/// Routes laid out when first used.
#[derive(Debug)]
pub(crate) struct Routes {
    hops: Vec<u32>,
    /// Starts of routes, by source.
    starts: Vec<Starts>,
    trees: Trees,
}

/// Starts of the routes of a source.
#[derive(Clone, Debug, Default)]
struct Starts {
    /// The destination of the last lookup: most hosts send to one for a while.
    recent: Option<(HostId, u32)>,
    /// Destinations and the starts of their hops, by destination.
    all: Vec<(HostId, u32)>,
}

impl Starts {
    fn find(&mut self, to: HostId) -> Option<u32> {
        let at = self.all.binary_search_by_key(&to, |(host, _)| *host).ok()?;
        self.recent = Some(self.all[at]);
        Some(self.all[at].1)
    }
}

impl Routes {
    pub(crate) fn new(hosts: usize) -> Self {
        Self { hops: Vec::new(), starts: vec![Starts::default(); hosts], trees: Trees::default() }
    }

    /// Returns the cursor at the first hop from one host to another, if the route is laid out.
    #[inline]
    pub(crate) fn start(&mut self, from: HostId, to: HostId) -> Option<u32> {
        let known = &mut self.starts[from.index()];
        match known.recent {
            Some((host, start)) if host == to => Some(start),
            _ => known.find(to),
        }
    }

    /// Lays out a new route; returns `None` if there is no way.
    pub(crate) fn lay_out(&mut self, topology: &Topology, from: HostId, to: HostId) -> Option<u32> {
        let route = topology.route_by(&mut self.trees, from, to)?;
        let start = self.hops.len() as u32;
        self.hops.extend(route.iter().map(|link| link.0));
        self.hops.push(DELIVER);
        let known = &mut self.starts[from.index()].all;
        let at = known.partition_point(|(host, _)| *host < to);
        known.insert(at, (to, start));
        Some(start)
    }

    /// Returns the hop at `cursor`, or `None` at the end of the route.
    #[inline]
    pub(crate) fn hop(&self, cursor: u32) -> Option<Hop> {
        let hop = self.hops[cursor as usize];
        (hop != DELIVER).then_some(Hop(hop))
    }

    /// Returns the links of the route that starts at `start`.
    pub(crate) fn links(&self, start: u32) -> impl Iterator<Item = LinkId> {
        (start..).map_while(|cursor| self.hop(cursor)).map(Hop::link)
    }

    /// Marks the links along a route that are crossed ahead.
    pub(crate) fn mark_crossed_ahead(&mut self, start: u32, ahead: impl Fn(LinkId) -> bool) {
        let links: Vec<_> = self.links(start).collect();
        for (at, next) in links.iter().skip(1).enumerate() {
            if ahead(*next) {
                self.hops[start as usize + at] |= LEADS_AHEAD;
            }
        }
    }

    /// Unmarks a link that is no longer crossed ahead.
    pub(crate) fn unmark_crossed_ahead(&mut self, link: LinkId) {
        for at in 1..self.hops.len() {
            if self.hops[at] != DELIVER && Hop(self.hops[at]).link() == link {
                let before = &mut self.hops[at - 1];
                *before = if *before == DELIVER { DELIVER } else { *before & !LEADS_AHEAD };
            }
        }
    }
}
