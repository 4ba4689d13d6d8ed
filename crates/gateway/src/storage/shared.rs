//! The shared store of a site's gateways: a Redis or Valkey server, or a cluster of them. Each
//! gateway writes only records with its own number, and takes in those of others. So merges
//! commute: there are no locks and no leader. If the server is away, each gateway goes on alone.
//!
//! All keys of tenant T begin with `headstart:2:{T}:`. The braces keep a tenant on one node of a
//! cluster.
//! - `records:ORIGIN` is a hash of networks to records (module `codec`), and `origins` the set of
//!   gateways that have one. A gateway deletes from its own hash the records that it does not keep
//!   any more (`sweeping`).
//! - `changes` is a stream of the networks that were written lately or are to be forgotten.
//! - `forgotten` has the networks that were forgotten, and when (`forgetting`).
//! - `sums` has the hosts' comparisons of warm starts (`comparing`).
//! - `claims:REPORTER:EPOCH` is a sorted set with one member, whose score is the highest sequence
//!   that any gateway has claimed. One command claims a batch before it counts, so only one of two
//!   gateways counts it.
//!
//! `headstart:2:gateways` is the site's: the gateways that are alive (`announcing`).

mod announcing;
mod comparing;
mod forgetting;
mod reading;
mod sweeping;

use super::codec::{decode, encode};
use super::redis_client::StoreConnection;
use crate::config::StoreConfig;
use crate::os::clock::{CLOCKS_DIFFER, ticks};
use crate::os::log::{LogPriority, say};
use crate::site::GatewaySite;
use crate::site::counters::Tick;
use crate::site::tenant::Tenant;
use crate::site::tenant::unshared::Unshared;
use announcing::ANNOUNCE_INTERVAL;
use comparing::NextComparison;
use memory::site::{SiteMemory, SiteRecord};
use redis::streams::StreamRangeReply;
use redis::{AsyncCommands, Pipeline, RedisError, RedisResult};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sweeping::Sweep;
use tokio::time::Instant;

/// Approximate time after which other gateways learn of a change.
const SHARE_INTERVAL: Duration = Duration::from_millis(200);
/// Maximum number of entries in a stream: a gateway that misses more reads all records again.
const MAX_STREAM_ENTRIES: usize = 4096;
/// Approximate size of the records in an entry, bytes: with [`MAX_STREAM_ENTRIES`], Redis keeps
/// 170 MB for a stream at most.
const ENTRY_BYTES: usize = 32 << 10;
/// The position before the first entry of a stream.
const NOTHING: &str = "0-0";
/// Number of networks whose records are written at a time.
const RECORDS_PER_WRITE: usize = 4096;
/// Maximum number of writes in a row before others are read: enough for all changes that a tenant
/// keeps.
const MAX_WRITES: usize =
    1 + crate::site::tenant::changed_networks::MAX_CHANGED / RECORDS_PER_WRITE;
/// Longest time that a starting gateway waits for its own earlier records.
const RESTORE_TIMEOUT: Duration = Duration::from_secs(10);
/// Lifetime of claims, seconds; it is longer than a reporter repeats a batch.
const CLAIM_LIFETIME_S: i64 = 3600;

/// The name of a batch within a tenant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchName<'a> {
    /// The sender.
    pub reporter: &'a str,
    /// Its epoch.
    pub epoch: u64,
    /// Its number in the epoch.
    pub sequence: u64,
}

/// A store that gateways share.
pub(crate) struct SharedStore {
    connection: StoreConnection,
    origin: u32,
    retention_s: i64,
    /// True if the last command failed: questions skip the store until it answers again.
    is_failing: AtomicBool,
    /// Number of failed rounds of sharing.
    pub failures: Tick,
}

impl std::fmt::Debug for SharedStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedStore").field("origin", &self.origin).finish_non_exhaustive()
    }
}

impl SharedStore {
    /// Opens the store that `config` names, whether it answers now or later.
    ///
    /// # Errors
    /// If its URL is invalid, or a certificate cannot be read.
    pub(crate) fn open(
        config: &StoreConfig,
        origin: u32,
        retention: Duration,
    ) -> Result<Self, String> {
        Ok(Self {
            connection: StoreConnection::open(config)?,
            origin,
            retention_s: i64::try_from(retention.as_secs()).unwrap_or(i64::MAX),
            is_failing: AtomicBool::new(false),
            failures: Tick::default(),
        })
    }

    /// Claims a batch for this gateway. Returns false if any gateway has claimed it, or a later
    /// one, before; `None` if the server does not answer.
    pub(crate) async fn claim(&self, tenant: &str, batch: BatchName<'_>) -> Option<bool> {
        if self.is_failing.load(Ordering::Relaxed) {
            return None;
        }
        let key = claims_key(tenant, batch.reporter, batch.epoch);
        let mut command = redis::cmd("ZADD");
        // The command sets only greater scores, and returns whether it has changed anything (Redis
        // 6.2). A score is exact up to 2^53.
        command.arg(&key).arg("GT").arg("CH").arg(batch.sequence).arg("sequence");
        let mut pipeline = redis::pipe();
        pipeline.add_command(command).expire(&key, CLAIM_LIFETIME_S).ignore();
        let claimed: RedisResult<(u64,)> = pipeline.query_async(&mut self.connection.clone()).await;
        match claimed {
            Ok((changed,)) => Some(changed > 0),
            Err(error) => {
                self.note_failure(&error);
                None
            }
        }
    }

    /// Takes in the records that this gateway wrote before it was killed; its snapshot may lack
    /// them. It must precede the first report: of two records of one gateway the later one replaces
    /// the other. If the server does not answer, the gateway goes on alone.
    pub(crate) async fn restore(&self, site: &GatewaySite) {
        let reading = async {
            for tenant in site.tenants() {
                self.read_forgets(site, &tenant).await?;
                self.read_records(site, &tenant, self.origin).await?;
            }
            Ok(())
        };
        match tokio::time::timeout(RESTORE_TIMEOUT, reading).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => self.note_failure(&error),
            Err(_) => {
                let what =
                    "the shared store is slow: not all was read that this gateway had learnt";
                say(LogPriority::Warning, what);
            }
        }
    }

    /// Shares changes until no task waits for it any more.
    pub(crate) async fn run(self: Arc<Self>, site: Arc<GatewaySite>) {
        let mut places = HashMap::new();
        let mut next = Instant::now();
        loop {
            if Instant::now() >= next {
                next = Instant::now() + ANNOUNCE_INTERVAL;
                // Announcing is only for people: the exchange below reports a failure of the store.
                let _ = self.announce(&site).await;
            }
            for tenant in site.tenants() {
                let place = places.entry(tenant.name.clone()).or_default();
                match self.exchange(&site, &tenant, place).await {
                    Ok(()) => self.note_success(),
                    Err(error) => {
                        self.failures.add(1);
                        self.note_failure(&error);
                        // After an outage the store may be empty.
                        tenant.begin_sharing();
                    }
                }
            }
            tokio::time::sleep(SHARE_INTERVAL).await;
        }
    }

    fn note_success(&self) {
        if self.is_failing.swap(false, Ordering::Relaxed) {
            say(LogPriority::Notice, "the shared store answers again");
        }
    }

    fn note_failure(&self, error: &RedisError) {
        if !self.is_failing.swap(true, Ordering::Relaxed) {
            let what = format!("the shared store does not answer ({error}): going on alone");
            say(LogPriority::Warning, &what);
        }
    }

    /// Writes this gateway's changes to the store, and takes those of others.
    async fn exchange(
        &self,
        site: &GatewaySite,
        tenant: &Tenant,
        place: &mut Place,
    ) -> RedisResult<()> {
        for _ in 0..MAX_WRITES {
            if self.write(site, tenant, place).await? < RECORDS_PER_WRITE {
                break;
            }
        }
        if place.read.is_none() {
            // The position in the stream is read first: anything that is written while all is read
            // appears once more, and changes nothing.
            let last = self.last_change(tenant).await?;
            if self.read_forgets(site, tenant).await? {
                place.sweep.hurry();
            }
            self.read_all(site, tenant).await?;
            place.read = Some(last);
        }
        self.read_changes(site, tenant, place).await?;
        self.exchange_sums(site, tenant, &mut place.comparison).await?;
        self.sweep(site, tenant, &mut place.sweep).await
    }

    /// Writes the new records of this gateway, of [`RECORDS_PER_WRITE`] networks at most; returns
    /// the number of networks.
    async fn write(
        &self,
        site: &GatewaySite,
        tenant: &Tenant,
        place: &mut Place,
    ) -> RedisResult<usize> {
        let shared = tenant.take_unshared(RECORDS_PER_WRITE);
        if shared.is_empty() {
            return Ok(0);
        }
        let pipeline = self.writing(tenant, &shared);
        if let Err(error) = pipeline.query_async::<()>(&mut self.connection.clone()).await {
            tenant.give_back_unshared(shared);
            return Err(error);
        }
        site.counts.shared.add(shared.records.len() as u64);
        if !shared.forgotten.is_empty() {
            place.sweep.hurry();
        }
        Ok(shared.networks.len())
    }

    /// Returns a transaction that writes all of `shared`, or nothing.
    fn writing(&self, tenant: &Tenant, shared: &Unshared) -> Pipeline {
        let records_key = self.records_key(tenant, self.origin);
        let mut pipeline = redis::pipe();
        pipeline.atomic();
        self.tell_forgets(&mut pipeline, tenant, &shared.forgotten);
        let mut entry = Vec::new();
        for record in &shared.records {
            let begin = entry.len();
            encode(record, &mut entry);
            pipeline.hset(&records_key, record.network.to_string(), &entry[begin..]).ignore();
            if entry.len() >= ENTRY_BYTES {
                self.tell(&mut pipeline, tenant, &[("records", entry.as_slice())]);
                entry.clear();
            }
        }
        if !entry.is_empty() {
            self.tell(&mut pipeline, tenant, &[("records", entry.as_slice())]);
        }
        if !shared.records.is_empty() {
            pipeline.expire(&records_key, self.retention_s).ignore();
            self.list_origin(&mut pipeline, tenant);
        }
        pipeline
    }

    /// Adds an entry to the stream.
    fn tell(&self, pipeline: &mut Pipeline, tenant: &Tenant, fields: &[(&str, &[u8])]) {
        let limit = redis::streams::StreamMaxlen::Approx(MAX_STREAM_ENTRIES);
        let origin = self.origin.to_string();
        let mut entry = vec![("origin", origin.as_bytes())];
        entry.extend_from_slice(fields);
        pipeline.xadd_maxlen(key(tenant, "changes"), limit, "*", &entry).ignore();
    }

    /// Lists this gateway among those that have written records.
    fn list_origin(&self, pipeline: &mut Pipeline, tenant: &Tenant) {
        let origins = key(tenant, "origins");
        pipeline.sadd(&origins, self.origin).ignore();
        pipeline.expire(&origins, self.retention_s).ignore();
    }

    async fn last_change(&self, tenant: &Tenant) -> RedisResult<String> {
        let mut connection = self.connection.clone();
        let last: StreamRangeReply =
            connection.xrevrange_count(key(tenant, "changes"), "+", "-", 1).await?;
        Ok(last.ids.first().map_or_else(|| NOTHING.to_owned(), |entry| entry.id.clone()))
    }

    fn records_key(&self, tenant: &Tenant, origin: u32) -> String {
        key(tenant, &format!("records:{origin}"))
    }
}

/// The read position in a tenant's keys.
#[derive(Debug, Default)]
struct Place {
    /// The last entry of the stream that was read; `None`: all records have to be read first.
    read: Option<String>,
    sweep: Sweep,
    comparison: NextComparison,
}

/// Merges the records of other gateways into the tenant's memory. Stops at one that cannot be read.
async fn take_records(site: &GatewaySite, tenant: &Tenant, mut bytes: &[u8]) {
    let take = |memory: &mut SiteMemory| {
        let unplaced = memory.unplaced();
        while !bytes.is_empty() {
            // An unreadable record is from a newer version, or from no gateway.
            let Ok(record) = decode(&mut bytes) else { break };
            if counts_now(site, &record) {
                site.counts.merged.add(u64::from(memory.merge(&record)));
            }
        }
        memory.unplaced() - unplaced
    };
    note_unplaced(site, tenant.change(take).await);
}

/// Returns true if a record is neither too old to count nor from the future.
fn counts_now(site: &GatewaySite, record: &SiteRecord) -> bool {
    let now = u64::from(ticks(site.clock.now()));
    let retention = u64::try_from(site.rules().retention.as_nanos() >> 30).unwrap_or(u64::MAX);
    let newest_at = u64::from(record.newest_at);
    newest_at <= now + u64::from(CLOCKS_DIFFER) && newest_at.saturating_add(retention) >= now
}

/// Counts records that were dropped because a memory keeps a limited number of gateways apart.
fn note_unplaced(site: &GatewaySite, records: u64) {
    if records > 0 && site.counts.unplaced.get() == 0 {
        let what = "the shared store has records of more than 64 gateways within `retention`: those of the others are not taken; \
            give each gateway a `state` of its own that outlives it";
        say(LogPriority::Warning, what);
    }
    site.counts.unplaced.add(records);
}

fn key(tenant: &Tenant, what: &str) -> String {
    // Braces make a cluster keep all keys of a tenant on one server, so that transactions are
    // atomic.
    format!("headstart:2:{{{}}}:{what}", tenant.name)
}

fn claims_key(tenant: &str, reporter: &str, epoch: u64) -> String {
    format!("headstart:2:{{{tenant}}}:claims:{reporter}:{epoch}")
}
