//! A site's gateway without its network interfaces: tenants, the rules in force, counters. Input
//! from gRPC, HTTP and a shared store meets here.
//!
//! A tenant's memory is in [`tenant`]. The module knows the configuration and the holders of
//! certificates ([`crate::pki`]). It opens no socket, and does not know its callers.

pub mod counters;
pub(crate) mod presence;
pub mod tenant;
pub(crate) mod trust;

use crate::config::options::CollectorName;
use crate::config::permission::Allowed;
use crate::config::{DaemonConfig, Rules};
use crate::os::clock::SiteClock;
use crate::os::descriptors::limit;
use crate::pki::{HolderRules, Identity, Revocations};
use arc_swap::ArcSwap;
use counters::Counts;
use memory::site::SiteConfig;
use presence::Presences;
use service::slots::{PeerSlots, SlotLimits};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time;
use tenant::{Speaker, Tenant};
use tokio::sync::{Notify, RwLockReadGuard, watch};
use trust::Trust;
use units::{Duration, Instant};

/// Longest time between two looks at the wall clock, by which certificates end; it may be set.
const LOOK_INTERVAL_S: i64 = 60;

/// Limits of connections that have shown no certificate yet, if there are enough file descriptors.
/// Each may keep 64 KiB of an incomplete ClientHello (rustls).
const UNAUTHENTICATED: SlotLimits = SlotLimits { all: 1024, of_peer: 256 };

/// A gateway's state.
#[derive(Debug)]
pub struct GatewaySite {
    rules: ArcSwap<Rules>,
    tenants: RwLock<BTreeMap<String, Arc<Tenant>>>,
    max_networks: usize,
    /// Distinguishes this gateway's records from others'.
    pub origin: u32,
    /// Gateways of the site.
    pub gateways: Presences,
    /// Counters.
    pub counts: Counts,
    /// Its clock.
    pub clock: SiteClock,
    /// The URIs by which certificates name their holders.
    pub(crate) holders: HolderRules,
    /// Certificates that are refused.
    pub revocations: Arc<Revocations>,
    /// Chains of open connections, and the authority that must have signed them.
    pub(crate) trust: Arc<Trust>,
    /// Connections that have shown no certificate yet.
    pub(crate) unauthenticated: Arc<PeerSlots>,
    /// Wakes the tasks that wait for certificates to be no longer accepted: the list or the rules
    /// have changed.
    judged_anew: watch::Sender<()>,
    /// Held shared by each batch that is being taken in.
    batches: tokio::sync::RwLock<()>,
    /// Tenants note changes for other gateways.
    is_shared: AtomicBool,
    /// Signals that a forgotten network is not on disk yet.
    forgets: Notify,
    ready: AtomicBool,
    /// End of the certificate, seconds since 1970.
    certificate_end: AtomicI64,
}

/// The reason why a holder with a valid certificate is no longer accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silenced {
    /// The list names the certificate now, or its authority.
    Revoked,
    /// The list of revoked certificates could not be read for too long, so the certificate may be
    /// in it.
    Unchecked,
    /// The certificate is not from the authority that the gateway trusts since a reload.
    OtherAuthority,
    /// The certificate has expired.
    Expired,
    /// The gateway no longer has its tenant.
    NotAllowed,
}

impl GatewaySite {
    /// Creates a site with an empty memory.
    ///
    /// # Errors
    /// If the list of revoked certificates cannot be read.
    pub fn new(config: &DaemonConfig, origin: u32) -> Result<Self, String> {
        let revocations = Revocations::open(Some(config.revoked.clone()), config.revoked_grace)?;
        let revocations = Arc::new(revocations);
        let site = Self {
            rules: ArcSwap::from_pointee(config.rules.clone()),
            tenants: RwLock::default(),
            max_networks: config.max_networks,
            origin,
            gateways: Presences::new(origin, config.state.is_some()),
            counts: Counts::default(),
            clock: SiteClock::start(),
            trust: Arc::new(Trust::new(Arc::clone(&revocations))),
            revocations,
            holders: config.holders.clone(),
            unauthenticated: Arc::new(PeerSlots::new(UNAUTHENTICATED.within(limit() / 4))),
            judged_anew: watch::Sender::new(()),
            batches: tokio::sync::RwLock::default(),
            is_shared: AtomicBool::new(false),
            forgets: Notify::new(),
            ready: AtomicBool::new(false),
            certificate_end: AtomicI64::new(0),
        };
        site.add_tenants(&config.rules);
        Ok(site)
    }

    /// Returns the rules in force.
    pub fn rules(&self) -> Arc<Rules> {
        self.rules.load_full()
    }

    /// Returns the maximum number of reports in a batch, by the rules in force.
    pub(crate) fn max_batch(&self) -> usize {
        self.rules.load().max_batch
    }

    /// Sets other rules from now on. The memory of a removed tenant is forgotten, also if the
    /// tenant is added again; returns these tenants.
    pub fn set_rules(&self, rules: Rules) -> Vec<Arc<Tenant>> {
        let gone = self.add_tenants(&rules);
        self.rules.store(Arc::new(rules));
        self.judged_anew.send_replace(());
        gone
    }

    /// Reads the list of revoked certificates if it has changed; returns true if it had.
    ///
    /// # Errors
    /// The same errors as [`Revocations::reread`].
    pub fn reread_revocations(&self) -> Result<bool, String> {
        let reread = self.revocations.reread();
        // After an error as well, lines without a fault count.
        if reread != Ok(false) {
            self.trust.verify_again();
            self.judged_anew.send_replace(());
        }
        reread
    }

    /// Checks that the certificate of `identity` is still good.
    ///
    /// # Errors
    /// If it is not: the reason.
    pub fn check_certificate(&self, identity: &Identity) -> Result<(), Silenced> {
        if self.revocations.contains(identity.fingerprint) {
            return Err(Silenced::Revoked);
        }
        if self.revocations.is_unknown() {
            return Err(Silenced::Unchecked);
        }
        if let Some(why) = self.trust.refusal(identity.fingerprint) {
            return Err(why);
        }
        if identity.not_after < SiteClock::wall_seconds() {
            return Err(Silenced::Expired);
        }
        Ok(())
    }

    /// Waits until `identity` is no longer accepted, and returns the reason.
    pub async fn silenced(&self, identity: &Identity) -> Silenced {
        let mut judged_anew = self.judged_anew.subscribe();
        loop {
            if let Err(why) = self.check_certificate(identity) {
                return why;
            }
            if self.rules.load().permissions.of(identity).is_none() {
                return Silenced::NotAllowed;
            }
            let left_s = identity.not_after.saturating_sub(SiteClock::wall_seconds());
            let look_s = left_s.saturating_add(1).clamp(1, LOOK_INTERVAL_S).unsigned_abs();
            // Either event ends the wait.
            let look = time::Duration::from_secs(look_s);
            let _ = tokio::time::timeout(look, judged_anew.changed()).await;
        }
    }

    /// Marks a batch that is being taken in, until the mark is dropped.
    pub(crate) async fn begin_batch(&self) -> RwLockReadGuard<'_, ()> {
        self.batches.read().await
    }

    /// Waits until all batches that have started are taken in.
    pub(crate) async fn finish_batches(&self) {
        drop(self.batches.write().await);
    }

    /// Adds the new tenants of `rules`; returns the tenants that are not in it.
    fn add_tenants(&self, rules: &Rules) -> Vec<Arc<Tenant>> {
        let names: Vec<&str> = rules.permissions.tenants().collect();
        let mut tenants = self.tenants.write().unwrap_or_else(PoisonError::into_inner);
        let is_gone = |tenant: &&Arc<Tenant>| !names.contains(&tenant.name.as_str());
        let gone: Vec<_> = tenants.values().filter(is_gone).cloned().collect();
        tenants.retain(|name, _| names.contains(&name.as_str()));
        for name in &names {
            let new = || {
                let tenant = Tenant::new(name, self.memory_config(rules, names.len()));
                if self.is_shared.load(Ordering::Acquire) {
                    tenant.begin_sharing();
                }
                Arc::new(tenant)
            };
            tenants.entry((*name).to_owned()).or_insert_with(new);
        }
        for (name, tenant) in tenants.iter() {
            let named = rules.permissions.neighbours(name).iter();
            let neighbours: Vec<_> = named.filter_map(|name| tenants.get(name).cloned()).collect();
            tenant.set_neighbours(&neighbours);
        }
        gone
    }

    /// Returns the configuration of one tenant's memory. Tenants get equal parts of the networks.
    fn memory_config(&self, rules: &Rules, tenants: usize) -> SiteConfig {
        let max_networks = (self.max_networks / tenants.max(1)).max(1);
        SiteConfig {
            max_networks,
            // A sixteenth of the networks may be busy and keep more samples.
            max_busy: (max_networks / 16).max(1),
            max_age: Duration::from_secs(rules.retention.as_secs()),
            origin: self.origin,
            // Visitors choose their addresses, so the hash must be unpredictable: otherwise they
            // could provoke collisions in a table.
            seed: crate::os::draw::long_number(),
            ..SiteConfig::default()
        }
    }

    /// Returns a number that grows with every report that is taken in and every network that is
    /// forgotten.
    pub fn changes(&self) -> u64 {
        let taken = (0..CollectorName::ALL.len()).map(|way| self.counts.taken.get(way));
        taken.sum::<u64>() + self.counts.merged.get() + self.counts.forgets.get()
    }

    /// Notes that a network was forgotten, with `networks` known networks in it.
    pub fn note_forget(&self, networks: u64) {
        self.counts.forgotten.add(networks);
        self.counts.forgets.add(1);
        self.forgets.notify_one();
    }

    /// Waits until a network was forgotten since the last wait.
    pub async fn forgets(&self) {
        self.forgets.notified().await;
    }

    /// Makes tenants note changes for other gateways from now on.
    pub fn begin_sharing(&self) {
        self.is_shared.store(true, Ordering::Release);
        self.tenants().iter().for_each(|tenant| tenant.begin_sharing());
    }

    /// Returns the tenant of this name.
    pub fn tenant(&self, name: &str) -> Option<Arc<Tenant>> {
        self.tenants.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// Returns all tenants, in alphabetical order.
    pub fn tenants(&self) -> Vec<Arc<Tenant>> {
        self.tenants.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Notifies the subscribers of all tenants of changed networks, and continues the networks'
    /// histories.
    pub fn tell_changes(&self, now: Instant) {
        let has_subscribers = |tenant: &Arc<Tenant>| tenant.subscribers() > 0;
        let changed = self.tenants().into_iter().filter(|tenant| tenant.has_changes());
        let (subscribed, others): (Vec<_>, Vec<_>) = changed.partition(has_subscribers);
        for tenants in [subscribed, others] {
            tenants.iter().for_each(|tenant| tenant.tell_changes(now, tenants.len()));
        }
    }

    /// Returns true from when all is restored and agents are accepted until the gateway drains. It
    /// is false while the revoked certificates are unknown.
    pub fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Acquire) && !self.revocations.is_unknown()
    }

    /// Returns when the gateway's certificate ends, seconds since 1970; 0 before it has shown any.
    pub fn certificate_end(&self) -> i64 {
        self.certificate_end.load(Ordering::Acquire)
    }

    /// Sets when the gateway's certificate ends, seconds since 1970.
    pub fn set_certificate_end(&self, end: i64) {
        self.certificate_end.store(end, Ordering::Release);
    }

    /// Sets whether it is ready.
    pub fn set_ready(&self, ready: bool) {
        self.ready.store(ready, Ordering::Release);
    }
}

/// A holder whose certificate was good at the start of the connection, with the rules by which it
/// was last checked.
#[derive(Clone, Debug)]
pub struct ReporterSession {
    site: Arc<GatewaySite>,
    identity: Arc<Identity>,
    tenant: Arc<Tenant>,
    rules: Arc<Rules>,
    allowed: Allowed,
}

impl ReporterSession {
    /// Starts the session of `identity`.
    ///
    /// # Errors
    /// If it is not accepted: the reason.
    pub fn begin(site: Arc<GatewaySite>, identity: Arc<Identity>) -> Result<Self, Silenced> {
        let rules = site.rules();
        let allowed = rules.permissions.of(&identity).ok_or(Silenced::NotAllowed)?;
        let tenant = site.tenant(&identity.tenant).ok_or(Silenced::NotAllowed)?;
        let mut session = Self { site, identity, tenant, rules, allowed };
        session.renew()?;
        Ok(session)
    }

    /// Checks the holder again: certificates expire or are revoked, and rules change, while
    /// connections are open.
    ///
    /// # Errors
    /// If it is no longer accepted: the reason.
    pub fn renew(&mut self) -> Result<(), Silenced> {
        self.check_certificate()?;
        let current = self.site.rules.load();
        if !Arc::ptr_eq(&current, &self.rules) {
            self.allowed = current.permissions.of(&self.identity).ok_or(Silenced::NotAllowed)?;
            self.tenant = self.site.tenant(&self.identity.tenant).ok_or(Silenced::NotAllowed)?;
            self.rules = Arc::clone(&current);
        }
        Ok(())
    }

    /// Checks that its certificate is still good.
    ///
    /// # Errors
    /// If it is not: the reason.
    pub fn check_certificate(&self) -> Result<(), Silenced> {
        self.site.check_certificate(&self.identity)
    }

    /// Returns true if the rules by which it was checked are in force.
    pub fn is_current(&self) -> bool {
        Arc::ptr_eq(&self.site.rules.load(), &self.rules)
    }

    /// Returns its identity, permissions and rules.
    pub fn speaker(&self) -> Speaker<'_> {
        Speaker { identity: &self.identity, allowed: &self.allowed, rules: &self.rules }
    }

    /// Returns the identity in its certificate.
    pub const fn identity(&self) -> &Arc<Identity> {
        &self.identity
    }

    /// Returns its tenant.
    pub const fn tenant(&self) -> &Arc<Tenant> {
        &self.tenant
    }

    /// Returns the site.
    pub const fn site(&self) -> &Arc<GatewaySite> {
        &self.site
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::options::GatewayOptions;
    use crate::pki::{Fingerprint, HolderRole};
    use crate::replay::site_load::report_of;
    use gateway_proto::v1::{Collector, Network, ReportBatch};
    use std::net::Ipv4Addr;
    use std::path::Path;

    fn net(n: u32) -> ipnet::Ipv4Net {
        ipnet::Ipv4Net::new_assert(Ipv4Addr::from_bits((1 << 24) + (n << 8)), 24)
    }

    /// Reports this number of other networks at `now`.
    async fn report(site: &GatewaySite, tenant: &Tenant, now: Instant, networks: u32) {
        let reports = (0..networks).map(|n| report_of(Network::of(net(n).into()))).collect();
        let identity = Identity {
            tenant: tenant.name.clone(),
            name: "web-1".to_owned(),
            role: HolderRole::Agent,
            fingerprint: Fingerprint::of_certificate(b""),
            not_after: i64::MAX,
        };
        let (rules, allowed) = (site.rules(), Allowed::everything());
        let speaker = Speaker { identity: &identity, allowed: &allowed, rules: &rules };
        let collector = Collector::Agent.into();
        let batch = ReportBatch { epoch: 1, sequence: 1, collector, reports, status: None };
        let ack = tenant.take(now, speaker, &batch, &site.counts).await.unwrap();
        assert_eq!(ack.taken, networks);
    }

    /// 600 networks of each of four tenants have changed, and none of a fifth, which has no part of
    /// the limits although it has a subscriber. Two of the others have subscribers and share
    /// the gateway's limits: 512 networks, and 12,800 updates, which are 320 networks for each of
    /// 40 subscribers. The others share the 128 networks whose histories continue.
    #[tokio::test]
    async fn updates_are_limited_for_all_tenants_together() {
        let text = ["few", "many", "none", "silent", "unchanged"]
            .map(|name| format!("[[tenant]]\nname = \"{name}\"\n"));
        let options = GatewayOptions::parse(&text.concat(), "f").unwrap();
        let config = DaemonConfig::new(&options, Path::new("/nowhere"), None).unwrap();
        let site = GatewaySite::new(&config, 1).unwrap();
        let now = Instant::ZERO + Duration::from_secs(1_800_000_000);
        let mut receivers = Vec::new();
        for (name, subscribers, expected) in
            [("few", 1, 256), ("many", 40, 160), ("none", 0, 0), ("silent", 0, 0)]
        {
            let tenant = site.tenant(name).unwrap();
            report(&site, &tenant, now, 600).await;
            let open = (0..subscribers).map(|n| tenant.subscribe(&format!("web-{n}"), site.clock));
            receivers.extend(open.map(|(updates, open)| (updates, open, expected)));
        }
        let (updates, open) = site.tenant("unchanged").unwrap().subscribe("web-0", site.clock);
        receivers.push((updates, open, 0));
        site.tell_changes(now);
        for (updates, _, expected) in &mut receivers {
            let mut count = 0;
            while tokio::time::timeout(time::Duration::ZERO, updates.recv()).await.is_ok() {
                count += 1;
            }
            assert_eq!(count, *expected);
        }
        for (name, expected) in [("none", 64), ("silent", 64)] {
            let tenant = site.tenant(name).unwrap();
            let known = tenant.known();
            let has_history = |n: &u32| {
                let seen = known.busy.get(&net(*n).into());
                seen.is_some_and(|busy| !busy.history.is_empty())
            };
            assert_eq!((0..600).filter(has_history).count(), expected);
        }
        // No network waits for ever, however many tenants and subscribers there are.
        receivers.extend((0..20_000).map(|_| {
            let (updates, open) = site.tenant("many").unwrap().subscribe("web-1", site.clock);
            (updates, open, 0)
        }));
        site.tell_changes(now);
        let (updates, ..) = receivers.last_mut().unwrap();
        assert!(tokio::time::timeout(time::Duration::ZERO, updates.recv()).await.unwrap().is_ok());
        assert!(tokio::time::timeout(time::Duration::ZERO, updates.recv()).await.is_err());
    }
}
