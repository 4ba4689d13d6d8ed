//! The memories that a host's paths query and update. The host makes one when the first path needs
//! it, unless it was given one.

use crate::config::MemoryKind;
use crate::path::{Learning, LearningTerms, Path, Reporting};
use crate::scheme::Scheme;
use crate::startup::{HostAccess, SharedHostState, StartupHostState};
use memory::site::{Reporter, SiteConfig, SiteMemory};
use memory::{
    CacheConfig, Gateway, GatewayConfig, HostCache, ReuseGate, ShareRule, Shared, SiteMember,
    shared,
};
use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use units::Instant;

/// The memories of a host.
#[derive(Default)]
pub(super) struct Memories {
    temporal: Option<Shared>,
    gateway: Option<Shared>,
    site: Option<Shared>,
    host: Option<SharedHostState>,
    pub(super) gate: ReuseGate,
    pub(super) reporting: Reporting,
    pub(super) shares: ShareRule,
}

impl Memories {
    /// Paths of schemes with this kind of memory use `memory` from now on.
    pub(super) fn set(&mut self, kind: MemoryKind, memory: Shared) {
        match kind {
            MemoryKind::None | MemoryKind::WindowPool => {}
            MemoryKind::Temporal => self.temporal = Some(memory),
            MemoryKind::Gateway => self.gateway = Some(memory),
            MemoryKind::Site => self.site = Some(memory),
        }
    }

    /// Returns the number of destinations in its memories.
    pub(super) fn known(&self) -> usize {
        let known = |memory: &Shared| memory.borrow().known().unwrap_or(0);
        let pooled = self.host.as_ref().map_or(0, |one| one.borrow().pool.len());
        pooled
            + [&self.temporal, &self.gateway, &self.site]
                .into_iter()
                .flatten()
                .map(known)
                .sum::<usize>()
    }

    fn of(&mut self, kind: MemoryKind) -> Option<Shared> {
        let memory = match kind {
            MemoryKind::None | MemoryKind::WindowPool => return None,
            MemoryKind::Temporal => {
                self.temporal.get_or_insert_with(|| shared(HostCache::new(CacheConfig::default())))
            }
            MemoryKind::Gateway => {
                self.gateway.get_or_insert_with(|| shared(Gateway::new(GatewayConfig::default())))
            }
            MemoryKind::Site => self.site.get_or_insert_with(|| {
                let alone = Rc::new(RefCell::new(SiteMemory::new(SiteConfig::default())));
                shared(SiteMember::new(Reporter::default(), alone))
            }),
        };
        Some(memory.clone())
    }

    /// Creates a path of `scheme` to `remote`, which begins with the remembered values.
    pub(super) fn path(&mut self, now: Instant, scheme: &Scheme, remote: IpAddr) -> Path {
        let mut path = scheme.path();
        let kind = scheme.config().memory;
        if let Some(memory) = self.of(kind) {
            let Self { gate, reporting, shares: rule, .. } = *self;
            let terms = LearningTerms { gate, reporting, rule };
            let learning = Learning::new(kind, memory, remote, terms);
            path.remember_by(now, learning);
        }
        if kind == MemoryKind::WindowPool {
            let site = &self.site;
            let host = self.host.get_or_insert_with(|| {
                let mut host = StartupHostState::default();
                site.iter().for_each(|site| host.pool.join(site.clone()));
                Rc::new(RefCell::new(host))
            });
            // The path's SYN was received, or leaves now.
            host.borrow_mut().pool.begin_handshake(now, remote);
            path.hook(HostAccess::new(host.clone(), remote));
        }
        path
    }
}
