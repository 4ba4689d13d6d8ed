//! Routes as packets follow them: one list of links for all routes, and a cursor into it.

use crate::{HostId, LinkId, Topology};

/// Ends a route in the list of hops.
const DELIVER: u32 = u32::MAX;

/// Routes laid out when first used.
#[derive(Debug)]
pub(crate) struct Routes {
    hops: Vec<u32>,
    /// For each source, destinations and where their hops start, by destination.
    starts: Vec<Vec<(HostId, u32)>>,
}

impl Routes {
    pub(crate) fn new(hosts: usize) -> Self {
        Self { hops: Vec::new(), starts: vec![Vec::new(); hosts] }
    }

    /// The cursor at the first hop from one host to another; `None` if there is no way.
    #[inline]
    pub(crate) fn start(&mut self, topology: &Topology, from: HostId, to: HostId) -> Option<u32> {
        let known = &self.starts[from.index()];
        match known.binary_search_by_key(&to, |(host, _)| *host) {
            Ok(at) => Some(known[at].1),
            Err(at) => self.lay_out(topology, from, to, at),
        }
    }

    fn lay_out(&mut self, topology: &Topology, from: HostId, to: HostId, at: usize) -> Option<u32> {
        let route = topology.route(from, to)?;
        let start = self.hops.len() as u32;
        self.hops.extend(route.iter().map(|link| link.0));
        self.hops.push(DELIVER);
        self.starts[from.index()].insert(at, (to, start));
        Some(start)
    }

    /// The link at `cursor`, or `None` at the end of the route.
    #[inline]
    pub(crate) fn link(&self, cursor: u32) -> Option<LinkId> {
        let hop = self.hops[cursor as usize];
        (hop != DELIVER).then_some(LinkId(hop))
    }
}
