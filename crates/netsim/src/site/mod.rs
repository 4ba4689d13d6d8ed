//! Servers of one site that share a performance gateway, and the gateway's three ways of collecting
//! (Zhang, Qiu & Keshav 2000 §5.2.2). Questions take no time, as in the paper's runs.
//!
//! All reading of the wire happens at the site's border: outbound packets as they arrive at the
//! first queue, inbound packets as they arrive at their server. Traffic within the site is ignored.

mod border;
mod passive;
mod rebuilt;

pub use border::ReportTap;
pub use passive::{PassiveGateway, PassiveTap};

use crate::topology::address_of;
use crate::{HostId, Simulation};
use memory::site::{Reporter, SiteConfig, SiteEstimate, SiteMemory};
use memory::{Average, Gateway, GatewayConfig, ShareRule, Shared, SiteMember, shared};
use std::cell::RefCell;
use std::rc::Rc;
use tcp::{MemoryKind, Reporting};
use units::Instant;

/// The way in which the gateway collects senders' measurements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Collecting {
    /// Senders report to it, at once.
    #[default]
    Reports,
    /// Senders write an option into segments that they send anyway, and the gateway reads it as
    /// they pass.
    Option,
    /// Senders do nothing; the gateway reconstructs their measurements from packets.
    Passive,
}

/// A site.
#[derive(Clone, Debug)]
pub struct SiteSpec {
    /// Its servers.
    pub servers: Vec<HostId>,
    /// The gateway's rules of aggregation.
    pub gateway: GatewayConfig,
    /// The estimator of its memory under schemes with `memory=site`. Senders report to it directly.
    pub estimator: SiteConfig,
    /// The gateway's way of collecting.
    pub collecting: Collecting,
    /// The rule for senders' reports of their share.
    pub shares: ShareRule,
}

/// The gateway of a site in a simulation, read-only.
#[derive(Clone)]
pub struct Site {
    gateway: Rc<RefCell<Gateway>>,
    memory: Rc<RefCell<SiteMemory>>,
}

impl Site {
    /// Returns the averages of `Wc`, bytes, and of the round trip, nanoseconds, towards `remote`.
    pub fn averages(&self, now: Instant, remote: HostId) -> (Option<Average>, Option<Average>) {
        self.gateway.borrow_mut().averages(now, address_of(remote))
    }

    /// Returns the estimate of the site's memory for the path to `remote`.
    pub fn estimate(&self, now: Instant, remote: HostId) -> Option<SiteEstimate> {
        self.memory.borrow().estimate(now, address_of(remote), None)
    }
}

impl Simulation {
    /// Makes the servers of a site share a gateway, under schemes that ask one.
    pub fn add_site(&mut self, spec: &SiteSpec) -> Site {
        let gateway = Rc::new(RefCell::new(Gateway::new(spec.gateway)));
        let memory: Shared = match spec.collecting {
            Collecting::Reports => gateway.clone(),
            Collecting::Option => {
                self.observe(ReportTap::new(self.topology(), &spec.servers, gateway.clone()));
                gateway.clone()
            }
            Collecting::Passive => {
                let passive = PassiveGateway::new(gateway.clone(), &spec.servers).by(spec.shares);
                let passive = Rc::new(RefCell::new(passive));
                self.observe(PassiveTap::new(self.topology(), &spec.servers, passive.clone()));
                passive
            }
        };
        let reporting = match spec.collecting {
            Collecting::Option => Reporting::InSegments,
            Collecting::Reports | Collecting::Passive => Reporting::Direct,
        };
        let site = Rc::new(RefCell::new(SiteMemory::new(spec.estimator)));
        for server in &spec.servers {
            let reporter = Reporter(server.index() as u32);
            let member = shared(SiteMember::new(reporter, site.clone()));
            self.configure_host(*server, |host| {
                host.set_memory(MemoryKind::Gateway, memory.clone());
                host.set_memory(MemoryKind::Site, member);
                host.set_reporting(reporting);
                host.set_share_rule(spec.shares);
            });
        }
        Site { gateway, memory: site }
    }
}
