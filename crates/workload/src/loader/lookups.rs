//! The lookups of host names: one for each name, before the first connection to it.

use crate::page::{HostId, Page};
use units::Instant;

/// The browser's knowledge of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameState {
    Unknown,
    LookedUp {
        since: Instant,
        until: Instant,
    },
    Known {
        since: Instant,
        at: Instant,
    },
    /// It was known before the load, or lookups are no part of it.
    KnownBefore,
}

#[derive(Clone, Debug)]
pub(super) struct Lookups {
    /// For each host, the first host of its name.
    first: Vec<HostId>,
    /// The state of each name, by its first host.
    names: Vec<NameState>,
}

impl Lookups {
    /// No name is known, or all are.
    pub(super) fn new(page: &Page, are_known: bool) -> Self {
        let ids = (0..page.hosts().len() as u32).map(HostId);
        let state = |host: &crate::page::PageHost| match host.lookup {
            Some(time) if !time.is_zero() && !are_known => NameState::Unknown,
            _ => NameState::KnownBefore,
        };
        Self {
            first: ids.map(|id| page.first_of_name(id)).collect(),
            names: page.hosts().iter().map(state).collect(),
        }
    }

    /// True if a connection to the host can be opened; begins a lookup if there was none.
    pub(super) fn resolve(&mut self, now: Instant, page: &Page, host: HostId) -> bool {
        let first = self.first[host.index()];
        let name = &mut self.names[first.index()];
        if *name == NameState::Unknown {
            let until = now + page.host(first).lookup.unwrap_or_default();
            *name = NameState::LookedUp { since: now, until };
        }
        matches!(name, NameState::Known { .. } | NameState::KnownBefore)
    }

    /// The end of the next lookup.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let ends = self.names.iter().filter_map(|name| match name {
            NameState::LookedUp { until, .. } => Some(*until),
            _ => None,
        });
        ends.min()
    }

    /// The hosts whose names are known from now on.
    pub(super) fn finish(&mut self, now: Instant) -> Vec<HostId> {
        let mut found = Vec::new();
        for (at, name) in self.names.iter_mut().enumerate() {
            match *name {
                NameState::LookedUp { since, until } if until <= now => {
                    *name = NameState::Known { since, at: now };
                    let hosts = (0..).zip(&self.first).filter(|(_, first)| first.index() == at);
                    found.extend(hosts.map(|(host, _)| HostId(host)));
                }
                _ => {}
            }
        }
        found
    }

    /// The beginning of a lookup that has just ended, for a connection that waited for it.
    pub(super) fn awaited_lookup(&self, now: Instant, host: HostId) -> Option<Instant> {
        match self.names[self.first[host.index()].index()] {
            NameState::Known { since, at } if at == now => Some(since),
            _ => None,
        }
    }
}
