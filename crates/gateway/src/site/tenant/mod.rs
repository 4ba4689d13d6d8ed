//! The memory of one tenant: the estimator, its reporters, the busiest networks, and the changes
//! for subscribers. No other tenant sees any of it.

pub mod arrivals;
pub(crate) mod busiest;
pub(crate) mod changed_networks;
pub(crate) mod fleet;
pub(crate) mod judge;
mod locked_memory;
pub(crate) mod messages;
mod other_sites;
mod reporters;
pub(crate) mod subscribers;
pub(crate) mod subscriptions;
pub(crate) mod unshared;

use super::counters::Counts;
use crate::config::Rules;
use crate::config::options::CollectorName;
use crate::config::permission::Allowed;
use crate::pki::Identity;
use arrivals::Arrivals;
use busiest::BusyNetworks;
use changed_networks::{ChangedNetworks, MAX_CHANGED};
use fleet::SiteComparison;
use gateway_proto::comparison::METHOD;
use gateway_proto::v1::{
    self, FleetComparison, HostComparison, NoEstimate, Refusal, RefusedReports, ReportAck,
    ReportBatch,
};
use ipnet::IpNet;
use judge::{JudgedReport, is_short, judge, may_collect, sense_of};
use locked_memory::TenantMemory;
use memory::holds_translated;
use memory::site::{KeptAnswers, Reporter, SiteConfig, SiteEstimate, SiteForget, SiteMemory};
use other_sites::Neighbours;
use reporters::Reporters;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLockReadGuard, RwLockWriteGuard};
use subscribers::Subscribers;
use subscriptions::Updates;
use units::Instant;
use unshared::UnsharedChanges;

/// Number of reports, or networks, taken at a time: questions are answered in between.
const CHUNK_ITEMS: usize = 128;
/// Maximum number of changed networks in one notification of all tenants, ten times a second; those
/// that have waited longest are first. An estimate takes some tens of microseconds, and with
/// sixteen hosts a tenth of a millisecond. So estimates take no more than half of a processor.
const MAX_NOTIFIED: usize = 512;
/// Maximum number of updates in one notification of all tenants: each changed network is an update
/// for each subscriber. An update has some 60 bytes and takes about a microsecond, so updates take
/// no more than a sixth of a processor.
const MAX_UPDATES: usize = 12_800;
/// Number of networks at a time whose histories continue, of all tenants without subscribers.
const MAX_NOTED: usize = 128;

/// A tenant.
pub struct Tenant {
    /// Its name.
    pub name: String,
    memory: TenantMemory,
    /// Its recent answers, while they are valid.
    answers: Mutex<KeptAnswers>,
    known: Mutex<Known>,
    updates: Updates,
    neighbours: Neighbours,
    /// Visitors whom observers have seen.
    pub arrivals: Arrivals,
}

/// The memory beside the estimator.
#[derive(Debug)]
pub struct Known {
    /// Its reporters.
    pub reporters: Reporters,
    /// Networks for people to see.
    pub busy: BusyNetworks,
    /// Its subscribers.
    subscribers: Subscribers,
    /// The comparison of warm starts with the control group.
    pub comparison: SiteComparison,
    /// Networks with new reports since subscribers were last notified.
    changed: ChangedNetworks,
    /// Changes since the shared store was last updated, if there is one.
    unshared: Option<UnsharedChanges>,
}

impl std::fmt::Debug for Tenant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tenant").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A sender, and the rules by which it is judged.
#[derive(Clone, Copy, Debug)]
pub struct Speaker<'a> {
    /// The identity in its certificate.
    pub identity: &'a Identity,
    /// Its permissions.
    pub allowed: &'a Allowed,
    /// The rules in force.
    pub rules: &'a Rules,
}

/// The origin of reports.
#[derive(Clone, Copy, Debug)]
struct ReportSource<'a> {
    speaker: Speaker<'a>,
    reporter: Reporter,
    /// Epoch of their batch.
    epoch: u64,
}

impl Tenant {
    /// Creates a tenant with an empty memory.
    pub fn new(name: &str, config: SiteConfig) -> Self {
        let known = Known {
            reporters: Reporters::default(),
            busy: BusyNetworks::default(),
            subscribers: Subscribers::default(),
            comparison: SiteComparison::default(),
            changed: ChangedNetworks::default(),
            unshared: None,
        };
        Self {
            name: name.to_owned(),
            memory: TenantMemory::new(config),
            answers: Mutex::new(KeptAnswers::new(&config)),
            known: Mutex::new(known),
            updates: Updates::default(),
            neighbours: Neighbours::default(),
            arrivals: Arrivals::default(),
        }
    }

    /// Returns the estimator, to answer questions.
    pub fn memory(&self) -> RwLockReadGuard<'_, SiteMemory> {
        self.memory.read()
    }

    /// Returns the estimator, to fill it before the first question. Later, [`change`](Self::change)
    /// is for that: this one waits for a snapshot, and questions wait behind it.
    pub fn memory_mut(&self) -> RwLockWriteGuard<'_, SiteMemory> {
        self.memory.write()
    }

    /// Changes the estimator as soon as no snapshot reads it; no question is answered while
    /// `change` runs.
    pub async fn change<T>(&self, change: impl FnOnce(&mut SiteMemory) -> T) -> T {
        self.memory.change(change).await
    }

    /// Reads the whole memory. Changes wait meanwhile, and questions are answered.
    pub fn read_whole<T>(&self, read: impl FnOnce(&SiteMemory) -> T) -> T {
        self.memory.read_whole(read)
    }

    /// Returns the memory beside the estimator.
    pub fn known(&self) -> MutexGuard<'_, Known> {
        // After a panic the counters may be a little off, and nothing worse.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a batch in, once. `Err` if it makes no sense as a whole.
    ///
    /// # Errors
    /// If it makes no sense: the reason.
    pub async fn take(
        &self,
        now: Instant,
        speaker: Speaker<'_>,
        batch: &ReportBatch,
        counts: &Counts,
    ) -> Result<ReportAck, &'static str> {
        let collector = sense_of(batch, speaker.rules)?;
        let mut ack =
            ReportAck { epoch: batch.epoch, sequence: batch.sequence, ..ReportAck::default() };
        let wanted = batch.reports.len() as u64;
        let admitted = {
            let mut known = self.known();
            let record = known.reporters.hear(&speaker.identity.name, now);
            record.role = speaker.identity.role;
            if !record.claim(batch.epoch, batch.sequence) {
                counts.repeated_batches.add(1);
                ack.repeated = true;
                return Ok(ack);
            }
            if let Some(status) = &batch.status {
                record.status = Some(messages::bounded(status));
            }
            record.admit(now, speaker.rules.reports_per_second, wanted)
        };
        let mut refused = [0_u32; 8];
        let (admitted, rest) = batch.reports.split_at(admitted as usize);
        refused[Refusal::TooMany as usize] += rest.len() as u32;
        match speaker.rules.collect.contains(&collector)
            && may_collect(speaker.identity.role, collector)
        {
            true => {
                ack.taken =
                    self.take_reports(now, speaker, batch.epoch, admitted, &mut refused).await;
            }
            false => refused[Refusal::Collector as usize] += admitted.len() as u32,
        }
        self.note_counts(speaker.identity, now, &ack, &refused);
        counts.taken.add(collector as usize, ack.taken.into());
        for (why, count) in refused.into_iter().enumerate().filter(|(_, count)| *count > 0) {
            counts.refused.add(why, count.into());
            ack.refused.push(RefusedReports { why: why as i32, count });
        }
        Ok(ack)
    }

    /// Takes `reports` in; returns how many of them count.
    async fn take_reports(
        &self,
        now: Instant,
        speaker: Speaker<'_>,
        epoch: u64,
        reports: &[v1::Report],
        refused: &mut [u32; 8],
    ) -> u32 {
        let reporter: Reporter = speaker.identity.reporter();
        let mut taken = 0;
        for some in reports.chunks(CHUNK_ITEMS) {
            let of = ReportSource { speaker, reporter, epoch };
            taken += self.take_some(now, of, some, refused).await;
            tokio::task::yield_now().await;
        }
        taken
    }

    /// Judges some reports and takes the good ones. Returns their number, and adds the others to
    /// `refused` by reason.
    async fn take_some(
        &self,
        now: Instant,
        of: ReportSource<'_>,
        reports: &[v1::Report],
        refused: &mut [u32; 8],
    ) -> u32 {
        let ReportSource { speaker, reporter, epoch } = of;
        let mut judged = Vec::with_capacity(reports.len());
        for report in reports {
            match judge(report, reporter, speaker.rules, speaker.allowed) {
                Ok(good) => judged.push((report, good)),
                Err(why) => refused[why as usize] += 1,
            }
        }
        let tell = |memory: &mut SiteMemory| {
            for (_, good) in &judged {
                memory.report_aged(now, good.age, &good.report);
            }
        };
        self.change(tell).await;
        let mut known = self.known();
        for (report, good) in &judged {
            known.note(good);
            known.comparison.add(now, &speaker.identity.name, epoch, report);
        }
        judged.len() as u32
    }

    /// Takes the sums of a host's comparison, and returns the findings of all hosts. Sums of
    /// another method are not used, and none while the site takes no reports of agents.
    ///
    /// # Errors
    /// If no connections can have these sums: the reason.
    pub fn compare(
        &self,
        now: Instant,
        speaker: Speaker<'_>,
        host: &HostComparison,
    ) -> Result<FleetComparison, &'static str> {
        if host.method != METHOD || !speaker.rules.collect.contains(&CollectorName::Agent) {
            return Ok(FleetComparison::default());
        }
        let sums = host.to_sums()?;
        let mut known = self.known();
        known.reporters.hear(&speaker.identity.name, now);
        known.comparison.put(now, &speaker.identity.name, sums);
        Ok(FleetComparison::of(&known.comparison.findings(now)))
    }

    fn note_counts(&self, identity: &Identity, now: Instant, ack: &ReportAck, refused: &[u32; 8]) {
        let mut known = self.known();
        let record = known.reporters.hear(&identity.name, now);
        record.taken += u64::from(ack.taken);
        record.refused += refused.iter().map(|count| u64::from(*count)).sum::<u64>();
    }

    /// Answers a question.
    ///
    /// # Errors
    /// If there is no estimate: the reason.
    pub fn answer(
        &self,
        now: Instant,
        speaker: Speaker<'_>,
        query: &v1::Query,
    ) -> Result<v1::Estimate, NoEstimate> {
        let network = query.network.as_ref().and_then(v1::Network::to_net);
        let network = network.filter(|network| !holds_translated(network));
        let network = network.ok_or(NoEstimate::Network)?;
        if !speaker.allowed.may_ask(&network) {
            return Err(NoEstimate::NotAllowed);
        }
        let size = (query.size > 0).then_some(query.size);
        let mut estimate = self.estimate(now, network.addr()).ok_or(NoEstimate::Unknown)?;
        estimate.window = size.map_or(estimate.window, |size| estimate.window.min(size));
        // The network of the answer is no longer than the prefixes in questions may be.
        match is_short(&estimate.network, speaker.rules.longest) {
            true => Ok(messages::estimate(&estimate)),
            false => Ok(messages::estimate_of(network, &estimate)),
        }
    }

    /// Returns the same answer for all askers within seconds, unless its network was reported
    /// meanwhile, or neighbours answer.
    fn estimate(&self, now: Instant, address: IpAddr) -> Option<SiteEstimate> {
        self.own_estimate(now, address).or_else(|| self.by_neighbours(now, address, None))
    }

    /// Returns this site's own estimate. Estimates of addresses that are asked for repeatedly are
    /// kept.
    fn own_estimate(&self, now: Instant, address: IpAddr) -> Option<SiteEstimate> {
        let memory = self.memory();
        if let Some(kept) = self.answers().get(&memory, now, address) {
            return Some(kept);
        }
        let estimate = memory.estimate(now, address, None)?;
        self.answers().put(&memory, now, address, estimate);
        Some(estimate)
    }

    fn answers(&self) -> MutexGuard<'_, KeptAnswers> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the estimates of the busiest networks, at most `most`.
    pub fn busiest(&self, now: Instant, most: usize) -> Vec<v1::Estimate> {
        let busiest = self.known().busy.busiest(most);
        let mut estimates = Vec::with_capacity(busiest.len());
        for some in busiest.chunks(CHUNK_ITEMS) {
            let memory = self.memory();
            let of = |(network, _): &(IpNet, u64)| {
                let found = memory.estimate(now, network.addr(), None)?;
                Some(messages::estimate_of(*network, &found))
            };
            estimates.extend(some.iter().filter_map(of));
        }
        estimates
    }

    /// Forgets at `now` the memory of `network` and all networks within, and makes subscribers and
    /// other gateways do so. Returns the number of known networks.
    pub async fn forget(&self, now: Instant, network: IpNet) -> u64 {
        let forget = SiteForget::new(now, network);
        let forgotten = self.forget_here(forget, now).await;
        // It is gone now, so all later writes are without it.
        if let Some(unshared) = &mut self.known().unshared {
            unshared.note_forgotten(forget);
        }
        forgotten
    }

    /// Forgets a network without notifying other gateways. `now` may be long after the order.
    pub async fn forget_here(&self, forget: SiteForget, now: Instant) -> u64 {
        let forgotten = self.change(|memory| memory.forget(forget)).await;
        {
            let mut known = self.known();
            known.busy.forget(&forget.network);
            known.changed.forget(&forget.network);
            if let Some(unshared) = &mut known.unshared {
                unshared.note_covered(forget.network);
            }
        }
        self.updates.forget(forget.network, now);
        forgotten as u64
    }

    /// Returns the number of open subscriptions.
    pub(crate) fn subscribers(&self) -> usize {
        self.updates.subscribers()
    }

    /// Returns true if networks have changed since the last notification.
    pub(crate) fn has_changes(&self) -> bool {
        !self.known().changed.is_empty()
    }

    /// Adds the estimates of changed networks to their histories, and notifies subscribers, if
    /// there are any. The limits of the gateway are divided among `tenants`, those with subscribers
    /// or those without.
    pub(crate) fn tell_changes(&self, now: Instant, tenants: usize) {
        let subscribers = self.subscribers();
        let has_subscribers = subscribers > 0;
        let most_notified = most_notified(subscribers, tenants);
        let changed: Vec<IpNet> = {
            let mut known = self.known();
            let some =
                known.changed.take(if has_subscribers { most_notified } else { MAX_CHANGED });
            // Without subscribers only histories need an estimate, and rarely.
            let is_wanted =
                |network: &IpNet| has_subscribers || known.busy.wants_estimate(now, network);
            let most =
                if has_subscribers { most_notified } else { (MAX_NOTED / tenants.max(1)).max(1) };
            some.into_iter().filter(is_wanted).take(most).collect()
        };
        for some in changed.chunks(CHUNK_ITEMS) {
            let forgets = self.updates.forgets();
            let estimates: Vec<_> = {
                let memory = self.memory();
                let of = |network: &IpNet| {
                    let estimate = memory.estimate(now, network.addr(), None)?;
                    // A notified subscriber also asks about the network when the next visitor
                    // comes.
                    self.answers().put(&memory, now, network.addr(), estimate);
                    Some((*network, estimate))
                };
                some.iter().filter_map(of).collect()
            };
            let mut known = self.known();
            for (network, estimate) in &estimates {
                known.busy.note_estimate(now, *network, estimate);
            }
            drop(known);
            if has_subscribers {
                for (network, estimate) in &estimates {
                    let told = messages::estimate_of(*network, estimate);
                    self.updates.tell(*network, told, forgets);
                }
            }
        }
    }
}

/// Returns the maximum number of changed networks in one notification of a tenant.
fn most_notified(subscribers: usize, tenants: usize) -> usize {
    let all = MAX_NOTIFIED.min(MAX_UPDATES / subscribers.max(1));
    // A network at a time, so that none waits for ever.
    (all / tenants.max(1)).max(1)
}

impl Known {
    /// Notes a report that counts.
    fn note(&mut self, judged: &JudgedReport) {
        let network = judged.report.network;
        self.busy.note_report(network);
        self.changed.add(network);
        if let Some(unshared) = &mut self.unshared {
            unshared.add(network);
        }
    }
}
