//! The plan's memory, as the memories of a simulation's hosts and sites.

use super::net::Net;
use crate::plan::document::{self, MemorySpec};
use crate::plan::error::Fault;
use memory::site::SiteConfig;
use memory::{
    CacheConfig, EarlyLoss, GatewayConfig, HostCache, QuietShare, ReuseGate, Scope, ShareRule,
    Weighing, shared,
};
use netsim::{Collecting, HostId, Simulation, SiteSpec};
use std::collections::BTreeSet;
use tcp::MemoryKind;

/// Settings of hosts' memories.
#[derive(Clone, Debug)]
pub(crate) struct Memories {
    sites: Vec<SiteSpec>,
    cache: CacheConfig,
    gate: ReuseGate,
}

impl Memories {
    /// The memories of a plan.
    pub(super) fn of(plan: &MemorySpec, net: &Net) -> Result<Self, Fault> {
        let (gateway, shares, estimator) = (gateway(plan), share_rule(plan), SiteConfig::default());
        let (gate, cache) = (ReuseGate::default(), CacheConfig::default());
        let mut sites = Vec::new();
        let mut alone: BTreeSet<HostId> = net.hosts().collect();
        for name in &plan.sites {
            let servers = net.hosts_named(name)?;
            if let Some(twice) = servers.iter().find(|host| !alone.remove(host)) {
                let host = net.topology.host_name(*twice);
                let why = format!("{host} is in a site already: a host has one gateway");
                return Err(Fault::new(name.span(), why));
            }
            let collecting = collection_mode(plan);
            sites.push(SiteSpec { servers, gateway, estimator, collecting, shares });
        }
        let collecting = Collecting::Reports;
        let own = |host| SiteSpec { servers: vec![host], gateway, estimator, collecting, shares };
        sites.extend(alone.into_iter().map(own));
        let half_life = plan.half_life.map_or(cache.half_life, |half_life| half_life.0);
        Ok(Self {
            sites,
            cache: CacheConfig { half_life, ..cache },
            gate: ReuseGate {
                cap: plan.cap.map_or(gate.cap, |cap| cap.0.0),
                max_age: plan.max_age.map_or(gate.max_age, |age| age.0),
            },
        })
    }

    /// Gives the hosts of a simulation their memories.
    pub(crate) fn equip(&self, simulation: &mut Simulation) {
        for site in &self.sites {
            simulation.add_site(site);
            for host in &site.servers {
                simulation.configure_host(*host, |host| {
                    host.set_memory(MemoryKind::Temporal, shared(HostCache::new(self.cache)));
                    host.set_reuse_gate(self.gate);
                });
            }
        }
    }
}

fn gateway(plan: &MemorySpec) -> GatewayConfig {
    let config = GatewayConfig::default();
    GatewayConfig {
        scope: match plan.scope {
            document::ScopeSpec::Network => Scope::Network,
            document::ScopeSpec::Host => Scope::Host,
        },
        weighing: match plan.weigh {
            document::WeighSpec::Samples => Weighing::Samples,
            document::WeighSpec::Hosts => Weighing::Hosts,
        },
        window: plan.window.map_or(config.window, |window| window.0),
        enough: plan.enough.map_or(config.enough, |enough| enough.0 as usize),
        decay: plan.decay.map(|half_life| half_life.0),
        ..config
    }
}

const fn share_rule(plan: &MemorySpec) -> ShareRule {
    ShareRule {
        quiet: match plan.quiet {
            document::QuietSpec::Window => QuietShare::Window,
            document::QuietSpec::Sent => QuietShare::Sent,
            document::QuietSpec::Used => QuietShare::Used,
            document::QuietSpec::Recorded => QuietShare::Recorded,
            document::QuietSpec::None => QuietShare::Nothing,
        },
        early_loss: match plan.early_loss {
            document::EarlyLossSpec::None => EarlyLoss::Nothing,
            document::EarlyLossSpec::End => EarlyLoss::End,
            document::EarlyLossSpec::Share => EarlyLoss::Share,
        },
        whole: plan.whole,
    }
}

const fn collection_mode(plan: &MemorySpec) -> Collecting {
    match plan.collecting {
        document::CollectingSpec::Reports => Collecting::Reports,
        document::CollectingSpec::Option => Collecting::Option,
        document::CollectingSpec::Passive => Collecting::Passive,
    }
}
