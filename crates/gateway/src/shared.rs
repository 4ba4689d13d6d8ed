//! What several gateways of a site share: a Redis or Valkey server, or a cluster of them. Each gateway writes records of its own number alone, and takes in those
//! of others, so merges commute: there are no locks and no leader. Without the server each goes on by itself.
//!
//! All keys of tenant T begin with `headstart:2:{T}:`. The braces keep a tenant on one node of a cluster. `records:ORIGIN` is a hash
//! of networks to records (module `codec`). `changes` is a stream of the networks that were written lately or are to be forgotten.
//! `claims:REPORTER:EPOCH` is a sorted set whose only member has the highest sequence that any gateway has claimed for a score. A batch
//! is claimed before it is counted, by one command: of two gateways one counts it.

use crate::codec::{decode, encode};
use crate::config::StoreConfig;
use crate::counts::Tick;
use crate::log::{LogPriority, say};
use crate::site::GatewaySite;
use crate::store::StoreConnection;
use crate::tenant::Tenant;
use ipnet::IpNet;
use memory::site::SiteMemory;
use redis::streams::{StreamId, StreamRangeReply, StreamReadOptions, StreamReadReply};
use redis::{AsyncCommands, Pipeline, RedisError, RedisResult};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Others hear of what one has learnt after so long, about.
const SHARE_EVERY: Duration = Duration::from_millis(200);
/// Entries of a stream that are kept: who misses more reads all records anew.
const CHANGES: usize = 4096;
/// Entries that are read at a time.
const AT_ONCE: usize = 256;
/// Before the first entry of a stream.
const NOTHING: &str = "0-0";
/// Networks whose records are written at a time.
const WRITTEN: usize = 4096;
/// So often in a row before others are read: all that a tenant keeps for it.
const WRITES: usize = 1 + crate::tenant::MOST_CHANGED / WRITTEN;
/// A gateway that starts waits no longer for what it wrote before.
const RESTORE: Duration = Duration::from_secs(10);
/// Claims outlive the time for which a reporter sends a batch again.
const CLAIMS_S: i64 = 3600;

/// Which batch, of a tenant's.
#[derive(Clone, Copy, Debug)]
pub struct BatchName<'a> {
    /// Who has sent it.
    pub reporter: &'a str,
    /// In which epoch.
    pub epoch: u64,
    /// Its number in that.
    pub sequence: u64,
}

/// A store that gateways share.
pub struct SharedStore {
    connection: StoreConnection,
    origin: u32,
    retention_s: i64,
    /// It did not answer last: nothing is asked of it before it does.
    is_failing: AtomicBool,
    /// Rounds of sharing that failed.
    pub failures: Tick,
}

impl std::fmt::Debug for SharedStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedStore").field("origin", &self.origin).finish_non_exhaustive()
    }
}

impl SharedStore {
    /// The store that `config` names, whether it answers now or later.
    ///
    /// # Errors
    /// If its URL is none, or a certificate cannot be read.
    pub fn open(config: &StoreConfig, origin: u32, retention: Duration) -> Result<Self, String> {
        Ok(Self {
            connection: StoreConnection::open(config)?,
            origin,
            retention_s: i64::try_from(retention.as_secs()).unwrap_or(i64::MAX),
            is_failing: AtomicBool::new(false),
            failures: Tick::default(),
        })
    }

    /// Claims a batch for this gateway. False if any gateway has claimed it, or one behind it, before; `None` if the server does
    /// not answer.
    pub async fn claim(&self, tenant: &str, batch: BatchName<'_>) -> Option<bool> {
        if self.is_failing.load(Ordering::Relaxed) {
            return None;
        }
        let key = claims_key(tenant, batch.reporter, batch.epoch);
        let mut command = redis::cmd("ZADD");
        // Greater ones alone, and whether it has changed anything (Redis 6.2). A score is exact up to 2^53.
        command.arg(&key).arg("GT").arg("CH").arg(batch.sequence).arg("sequence");
        let mut pipeline = redis::pipe();
        pipeline.add_command(command).expire(&key, CLAIMS_S).ignore();
        let claimed: RedisResult<(u64,)> = pipeline.query_async(&mut self.connection.clone()).await;
        match claimed {
            Ok((changed,)) => Some(changed > 0),
            Err(error) => {
                self.note_failure(&error);
                None
            }
        }
    }

    /// Takes in what this gateway wrote before it was killed, which its snapshot need not have. It has to come before the first report:
    /// of two records of one gateway the later one counts, whole. If the server does not answer, the gateway goes on alone.
    pub async fn restore(&self, site: &GatewaySite) {
        let reading = async {
            for tenant in site.tenants() {
                self.read_records(site, &tenant, self.origin).await?;
            }
            Ok(())
        };
        match tokio::time::timeout(RESTORE, reading).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => self.note_failure(&error),
            Err(_) => {
                let what =
                    "the shared store is slow: not all was read that this gateway had learnt";
                say(LogPriority::Warning, what);
            }
        }
    }

    /// Shares until nobody waits for it any more.
    pub async fn run(self: Arc<Self>, site: Arc<GatewaySite>) {
        let mut places = HashMap::new();
        loop {
            for tenant in site.tenants() {
                let place = places.entry(tenant.name.clone()).or_default();
                match self.exchange(&site, &tenant, place).await {
                    Ok(()) => self.note_success(),
                    Err(error) => {
                        self.failures.add(1);
                        self.note_failure(&error);
                    }
                }
            }
            tokio::time::sleep(SHARE_EVERY).await;
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

    async fn exchange(
        &self,
        site: &GatewaySite,
        tenant: &Tenant,
        place: &mut Place,
    ) -> RedisResult<()> {
        for _ in 0..WRITES {
            if self.write(site, tenant).await? < WRITTEN {
                break;
            }
        }
        if place.0.is_none() {
            // The place in the stream first: what is written while all is read comes once more, and changes nothing.
            let last = self.last_change(tenant).await?;
            self.read_all(site, tenant).await?;
            place.0 = Some(last);
        }
        self.read_changes(site, tenant, place).await
    }

    /// Writes what this gateway has learnt since the last time, of [`WRITTEN`] networks at most; of how many that was.
    async fn write(&self, site: &GatewaySite, tenant: &Tenant) -> RedisResult<usize> {
        let shared = tenant.take_unshared(WRITTEN);
        let networks = shared.networks.len();
        if networks == 0 && shared.forgotten.is_empty() {
            return Ok(0);
        }
        self.forget_records(tenant, &shared.forgotten).await?;
        let (records_key, changes_key) =
            (self.records_key(tenant, self.origin), key(tenant, "changes"));
        let mut pipeline = redis::pipe();
        pipeline.atomic();
        let mut all = Vec::new();
        for record in &shared.records {
            let begin = all.len();
            encode(record, &mut all);
            pipeline.hset(&records_key, record.network.to_string(), &all[begin..]).ignore();
        }
        if !all.is_empty() {
            pipeline.expire(&records_key, self.retention_s).ignore();
            pipeline.sadd(key(tenant, "origins"), self.origin).ignore();
            self.tell(&mut pipeline, &changes_key, "records", &all);
        }
        for network in &shared.forgotten {
            self.tell(&mut pipeline, &changes_key, "forget", network.to_string().as_bytes());
        }
        let written: RedisResult<()> = pipeline.query_async(&mut self.connection.clone()).await;
        if written.is_err() {
            tenant.give_back_unshared(shared);
        } else {
            site.counts.shared.add(shared.records.len() as u64);
        }
        written.map(|()| networks)
    }

    fn tell(&self, pipeline: &mut Pipeline, changes: &str, what: &str, value: &[u8]) {
        let limit = redis::streams::StreamMaxlen::Approx(CHANGES);
        let origin = self.origin.to_string();
        pipeline
            .xadd_maxlen(changes, limit, "*", &[("origin", origin.as_bytes()), (what, value)])
            .ignore();
    }

    /// Takes away what any gateway has written of networks within `forgotten`.
    async fn forget_records(&self, tenant: &Tenant, forgotten: &[IpNet]) -> RedisResult<()> {
        if forgotten.is_empty() {
            return Ok(());
        }
        let mut connection = self.connection.clone();
        let origins: Vec<u32> = connection.smembers(key(tenant, "origins")).await?;
        for origin in origins {
            let key = self.records_key(tenant, origin);
            let names: Vec<String> = connection.hkeys(&key).await?;
            let within = |name: &&String| {
                let network: Result<IpNet, _> = name.parse();
                network.is_ok_and(|network| forgotten.iter().any(|whole| whole.contains(&network)))
            };
            let gone: Vec<&String> = names.iter().filter(within).collect();
            if !gone.is_empty() {
                let _: () = connection.hdel(&key, gone).await?;
            }
        }
        Ok(())
    }

    async fn last_change(&self, tenant: &Tenant) -> RedisResult<String> {
        let mut connection = self.connection.clone();
        let last: StreamRangeReply =
            connection.xrevrange_count(key(tenant, "changes"), "+", "-", 1).await?;
        Ok(last.ids.first().map_or_else(|| NOTHING.to_owned(), |entry| entry.id.clone()))
    }

    /// Takes in all that other gateways, and this one before a restart, have written.
    async fn read_all(&self, site: &GatewaySite, tenant: &Tenant) -> RedisResult<()> {
        let mut connection = self.connection.clone();
        let origins: Vec<u32> = connection.smembers(key(tenant, "origins")).await?;
        for origin in origins {
            self.read_records(site, tenant, origin).await?;
        }
        Ok(())
    }

    /// Takes in all that the gateway `origin` has written.
    async fn read_records(
        &self,
        site: &GatewaySite,
        tenant: &Tenant,
        origin: u32,
    ) -> RedisResult<()> {
        let mut connection = self.connection.clone();
        let records_key = self.records_key(tenant, origin);
        let mut cursor = 0_u64;
        loop {
            let mut command = redis::cmd("HSCAN");
            command.arg(&records_key).arg(cursor).arg("COUNT").arg(1000);
            let (next, rows): (u64, Vec<(String, Vec<u8>)>) =
                command.query_async(&mut connection).await?;
            for (_, bytes) in &rows {
                take_records(site, tenant, bytes).await;
            }
            cursor = next;
            if cursor == 0 {
                return Ok(());
            }
        }
    }

    /// Takes in what has been written since the last time.
    async fn read_changes(
        &self,
        site: &GatewaySite,
        tenant: &Tenant,
        place: &mut Place,
    ) -> RedisResult<()> {
        let (mut connection, changes) = (self.connection.clone(), key(tenant, "changes"));
        loop {
            let Some(last) = &place.0 else { return Ok(()) };
            let oldest: StreamRangeReply = connection.xrange_count(&changes, "-", "+", 1).await?;
            if oldest.ids.first().is_some_and(|oldest| is_later(&oldest.id, last))
                && last != NOTHING
            {
                // What was written between may have been dropped: all is read anew in the next round.
                place.0 = None;
                return Ok(());
            }
            let options = StreamReadOptions::default().count(AT_ONCE);
            let read: Option<StreamReadReply> =
                connection.xread_options(&[&changes], &[last], &options).await?;
            let entries: Vec<StreamId> =
                read.into_iter().flat_map(|read| read.keys).flat_map(|stream| stream.ids).collect();
            let Some(newest) = entries.last() else { return Ok(()) };
            place.0 = Some(newest.id.clone());
            for entry in &entries {
                self.take_change(site, tenant, entry).await;
            }
            if entries.len() < AT_ONCE {
                return Ok(());
            }
        }
    }

    async fn take_change(&self, site: &GatewaySite, tenant: &Tenant, entry: &StreamId) {
        if entry.get::<u32>("origin") == Some(self.origin) {
            return;
        }
        if let Some(bytes) = entry.get::<Vec<u8>>("records") {
            take_records(site, tenant, &bytes).await;
        }
        let forgotten = entry.get::<String>("forget").and_then(|text| text.parse::<IpNet>().ok());
        if let Some(network) = forgotten {
            site.counts.forgotten.add(tenant.forget_here(network).await);
            site.counts.forgets.add(1);
        }
    }

    fn records_key(&self, tenant: &Tenant, origin: u32) -> String {
        key(tenant, &format!("records:{origin}"))
    }
}

/// Whether the entry `id` of a stream, `MILLISECONDS-NUMBER`, is later than `other`.
fn is_later(id: &str, other: &str) -> bool {
    let place = |id: &str| -> Option<(u64, u64)> {
        let (milliseconds, number) = id.split_once('-')?;
        Some((milliseconds.parse().ok()?, number.parse().ok()?))
    };
    place(id) > place(other)
}

/// How far a stream has been read; `None`: all records have to be read first.
#[derive(Debug, Default)]
struct Place(Option<String>);

async fn take_records(site: &GatewaySite, tenant: &Tenant, mut bytes: &[u8]) {
    let take = |memory: &mut SiteMemory| {
        while !bytes.is_empty() {
            // What cannot be read is of a newer version, or of no gateway.
            let Ok(record) = decode(&mut bytes) else { return };
            site.counts.merged.add(u64::from(memory.merge(&record)));
        }
    };
    tenant.change(take).await;
}

fn key(tenant: &Tenant, what: &str) -> String {
    // In braces: a cluster keeps all keys of a tenant on one server, so that transactions are whole.
    format!("headstart:2:{{{}}}:{what}", tenant.name)
}

fn claims_key(tenant: &str, reporter: &str, epoch: u64) -> String {
    format!("headstart:2:{{{tenant}}}:claims:{reporter}:{epoch}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_in_the_order_of_their_numbers() {
        assert!(is_later("10-0", "9-5") && is_later("9-10", "9-9") && is_later("1-1", NOTHING));
        assert!(!is_later("9-9", "9-9") && !is_later("9-9", "10-0"));
    }
}
