//! A site's gateway without its network: tenants, the rules in force, counters. What comes by gRPC,
//! HTTP or from a shared store meets here.
//!
//! A tenant's memory is in [`tenant`]. The module knows the configuration and the holders of
//! certificates ([`crate::pki`]). It opens no socket, and does not know who calls it.

pub mod counters;
pub(crate) mod presence;
pub mod tenant;
pub(crate) mod trust;

use crate::config::options::CollectorName;
use crate::config::permission::Allowed;
use crate::config::{DaemonConfig, Rules};
use crate::os::clock::SiteClock;
use crate::os::descriptors::limit;
use crate::pki::{Identity, Revocations};
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
use units::Duration;

/// Certificates end by the wall clock, which may be set: it is read so often at least.
const LOOK_EVERY_S: i64 = 60;

/// Connections that have shown no certificate yet, if there are enough file descriptors. Each may
/// keep 64 KiB of a ClientHello that is not whole (rustls).
const UNAUTHENTICATED: SlotLimits = SlotLimits { all: 1024, of_peer: 256 };

/// What a gateway is.
#[derive(Debug)]
pub struct GatewaySite {
    rules: ArcSwap<Rules>,
    tenants: RwLock<BTreeMap<String, Arc<Tenant>>>,
    max_networks: usize,
    /// Tells this gateway's records apart from others'.
    pub origin: u32,
    /// Gateways of the site.
    pub gateways: Presences,
    /// Counters.
    pub counts: Counts,
    /// Its clock.
    pub clock: SiteClock,
    /// Certificates that are refused.
    pub revocations: Arc<Revocations>,
    /// Chains of open connections, and the authority that they have to be of.
    pub(crate) trust: Arc<Trust>,
    /// Connections that have shown no certificate yet.
    pub(crate) unauthenticated: Arc<PeerSlots>,
    /// Wakes who waits for certificates to be heard no more: the list or the rules have changed.
    judged_anew: watch::Sender<()>,
    /// Shared by each batch that is being taken in.
    batches: tokio::sync::RwLock<()>,
    /// Tenants note what other gateways have to be told.
    is_shared: AtomicBool,
    /// Something was forgotten that is not on disk yet.
    forgets: Notify,
    ready: AtomicBool,
    /// Seconds since 1970.
    certificate_end: AtomicI64,
}

/// Why somebody whose certificate was good is heard no longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silenced {
    /// The certificate is in the list now.
    Revoked,
    /// Whether it is in the list cannot be known: the list could not be read for too long.
    Unchecked,
    /// It is not of the authority that the gateway knows since a reload.
    OtherAuthority,
    /// Its time is over.
    Expired,
    /// Its tenant is not of this gateway any more.
    NotAllowed,
}

impl GatewaySite {
    /// A site that knows nothing yet.
    ///
    /// # Errors
    /// If the list of revoked certificates cannot be read.
    pub fn new(config: &DaemonConfig, origin: u32) -> Result<Self, String> {
        let site = Self {
            rules: ArcSwap::from_pointee(config.rules.clone()),
            tenants: RwLock::default(),
            max_networks: config.max_networks,
            origin,
            gateways: Presences::new(origin, config.state.is_some()),
            counts: Counts::default(),
            clock: SiteClock::start(),
            revocations: Arc::new(Revocations::open(
                Some(config.revoked.clone()),
                config.revoked_grace,
            )?),
            trust: Arc::default(),
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

    /// The rules in force.
    pub fn rules(&self) -> Arc<Rules> {
        self.rules.load_full()
    }

    /// Reports of a batch at most, by the rules in force.
    pub(crate) fn max_batch(&self) -> usize {
        self.rules.load().max_batch
    }

    /// From now on other rules. What a tenant knew that is gone is forgotten, also if the tenant
    /// comes back; returns these tenants.
    pub fn set_rules(&self, rules: Rules) -> Vec<Arc<Tenant>> {
        let gone = self.add_tenants(&rules);
        self.rules.store(Arc::new(rules));
        self.judged_anew.send_replace(());
        gone
    }

    /// Reads the list of revoked certificates if it has changed; true if it had.
    ///
    /// # Errors
    /// Those of [`Revocations::reread`].
    pub fn reread_revocations(&self) -> Result<bool, String> {
        let reread = self.revocations.reread();
        // Also behind an error: lines without a fault count.
        if reread != Ok(false) {
            self.judged_anew.send_replace(());
        }
        reread
    }

    /// Whether the certificate of `identity` is still good.
    ///
    /// # Errors
    /// Why it is not.
    pub fn check_certificate(&self, identity: &Identity) -> Result<(), Silenced> {
        if self.revocations.contains(identity.fingerprint) {
            return Err(Silenced::Revoked);
        }
        if self.revocations.is_unknown() {
            return Err(Silenced::Unchecked);
        }
        if self.trust.refuses(identity.fingerprint) {
            return Err(Silenced::OtherAuthority);
        }
        if identity.not_after < SiteClock::wall_seconds() {
            return Err(Silenced::Expired);
        }
        Ok(())
    }

    /// Waits until `identity` is heard no more, and says why.
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
            let look_s = left_s.saturating_add(1).clamp(1, LOOK_EVERY_S).unsigned_abs();
            // Whichever comes first.
            let look = time::Duration::from_secs(look_s);
            let _ = tokio::time::timeout(look, judged_anew.changed()).await;
        }
    }

    /// Marks a batch that is being taken in, until the mark goes.
    pub(crate) async fn begin_batch(&self) -> RwLockReadGuard<'_, ()> {
        self.batches.read().await
    }

    /// Waits until all batches that have begun are taken in.
    pub(crate) async fn finish_batches(&self) {
        drop(self.batches.write().await);
    }

    /// Makes new tenants of `rules`; returns those that are not in it.
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
        gone
    }

    fn memory_config(&self, rules: &Rules, tenants: usize) -> SiteConfig {
        let max_networks = (self.max_networks / tenants.max(1)).max(1);
        SiteConfig {
            max_networks,
            // Of these, so many may be busy and keep more samples.
            max_busy: (max_networks / 16).max(1),
            max_age: Duration::from_secs(rules.retention.as_secs()),
            origin: self.origin,
            // Visitors choose their addresses: nobody may know which of them meet in a table.
            seed: crate::os::draw::long_number(),
            ..SiteConfig::default()
        }
    }

    /// Grows with everything that is taken in or forgotten.
    pub fn changes(&self) -> u64 {
        let taken = (0..CollectorName::ALL.len()).map(|way| self.counts.taken.get(way));
        taken.sum::<u64>() + self.counts.merged.get() + self.counts.forgets.get()
    }

    /// A network was forgotten, of which so many had been known.
    pub fn note_forget(&self, networks: u64) {
        self.counts.forgotten.add(networks);
        self.counts.forgets.add(1);
        self.forgets.notify_one();
    }

    /// Waits until something was forgotten since this was waited for last.
    pub async fn forgets(&self) {
        self.forgets.notified().await;
    }

    /// From now on tenants note what other gateways have to be told.
    pub fn begin_sharing(&self) {
        self.is_shared.store(true, Ordering::Release);
        self.tenants().iter().for_each(|tenant| tenant.begin_sharing());
    }

    /// The tenant of this name.
    pub fn tenant(&self, name: &str) -> Option<Arc<Tenant>> {
        self.tenants.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// All tenants, in the order of the alphabet.
    pub fn tenants(&self) -> Vec<Arc<Tenant>> {
        self.tenants.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// True once all is restored and heard, until it drains, and while it knows which certificates
    /// are revoked.
    pub fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Acquire) && !self.revocations.is_unknown()
    }

    /// When the certificate that the gateway shows ends, seconds since 1970; 0 before it has shown
    /// any.
    pub fn certificate_end(&self) -> i64 {
        self.certificate_end.load(Ordering::Acquire)
    }

    /// The gateway shows a certificate that ends then, seconds since 1970.
    pub fn set_certificate_end(&self, end: i64) {
        self.certificate_end.store(end, Ordering::Release);
    }

    /// Whether it is ready.
    pub fn set_ready(&self, ready: bool) {
        self.ready.store(ready, Ordering::Release);
    }
}

/// Somebody whose certificate was good when the connection began, with the rules by which it was
/// last judged.
#[derive(Clone, Debug)]
pub struct ReporterSession {
    site: Arc<GatewaySite>,
    identity: Arc<Identity>,
    tenant: Arc<Tenant>,
    rules: Arc<Rules>,
    allowed: Allowed,
}

impl ReporterSession {
    /// The session of `identity`.
    ///
    /// # Errors
    /// Why it is not heard.
    pub fn begin(site: Arc<GatewaySite>, identity: Arc<Identity>) -> Result<Self, Silenced> {
        let rules = site.rules();
        let allowed = rules.permissions.of(&identity).ok_or(Silenced::NotAllowed)?;
        let tenant = site.tenant(&identity.tenant).ok_or(Silenced::NotAllowed)?;
        let mut session = Self { site, identity, tenant, rules, allowed };
        session.renew()?;
        Ok(session)
    }

    /// Judges it anew: certificates end, are revoked, and rules change while connections live.
    ///
    /// # Errors
    /// Why it is heard no longer.
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

    /// Whether its certificate is still good.
    ///
    /// # Errors
    /// Why it is not.
    pub fn check_certificate(&self) -> Result<(), Silenced> {
        self.site.check_certificate(&self.identity)
    }

    /// Whether the rules by which it was judged are in force.
    pub fn is_current(&self) -> bool {
        Arc::ptr_eq(&self.site.rules.load(), &self.rules)
    }

    /// Who speaks.
    pub fn speaker(&self) -> Speaker<'_> {
        Speaker { identity: &self.identity, allowed: &self.allowed, rules: &self.rules }
    }

    /// Whom its certificate names.
    pub const fn identity(&self) -> &Arc<Identity> {
        &self.identity
    }

    /// Its tenant.
    pub const fn tenant(&self) -> &Arc<Tenant> {
        &self.tenant
    }

    /// The site.
    pub const fn site(&self) -> &Arc<GatewaySite> {
        &self.site
    }
}
