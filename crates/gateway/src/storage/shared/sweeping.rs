//! Deletes records that this gateway has written and does not keep any more: the store has no more
//! of a gateway than the gateway itself.

use super::{SharedStore, counts_now, key};
use crate::site::GatewaySite;
use crate::site::tenant::Tenant;
use crate::storage::codec::decode;
use ipnet::IpNet;
use redis::{AsyncCommands, RedisResult};
use std::time::Duration;
use tokio::time::Instant;

/// Time between two parts of a sweep.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);
/// Approximate number of records in a part. A million records take half an hour.
const RECORDS_PER_PART: usize = 500;
/// Parts at a time after a network was forgotten: a million records take a quarter of a minute
/// then, and other gateways are notified meanwhile.
const URGENT_PARTS: usize = 40;

/// Progress of the sweep over a tenant's records.
#[derive(Debug)]
pub(super) struct Sweep {
    cursor: u64,
    /// Time of the next part.
    next: Instant,
    /// Number of urgent sweeps over all parts that are left.
    urgent: u8,
}

impl Default for Sweep {
    fn default() -> Self {
        Self { cursor: 0, next: Instant::now(), urgent: 0 }
    }
}

impl Sweep {
    /// Makes the sweep urgent, because a forgotten network must leave the store at once. Parts that
    /// were swept already are swept once more.
    pub(super) const fn hurry(&mut self) {
        self.urgent = if self.cursor == 0 { 1 } else { 2 };
    }
}

impl SharedStore {
    /// Sweeps the next part of this gateway's records, if it is due. The gateway must have read all
    /// of its own records before.
    pub(super) async fn sweep(
        &self,
        site: &GatewaySite,
        tenant: &Tenant,
        sweep: &mut Sweep,
    ) -> RedisResult<()> {
        let now = Instant::now();
        if sweep.urgent == 0 && now < sweep.next {
            return Ok(());
        }
        sweep.next = now + SWEEP_INTERVAL;
        for _ in 0..if sweep.urgent == 0 { 1 } else { URGENT_PARTS } {
            sweep.cursor = self.sweep_part(site, tenant, sweep.cursor).await?;
            if sweep.cursor == 0 {
                sweep.urgent = sweep.urgent.saturating_sub(1);
            }
            if sweep.urgent == 0 {
                break;
            }
        }
        Ok(())
    }

    /// Sweeps a part; returns the start of the next one, or 0 after the last.
    async fn sweep_part(
        &self,
        site: &GatewaySite,
        tenant: &Tenant,
        cursor: u64,
    ) -> RedisResult<u64> {
        let mut connection = self.connection.clone();
        let (next, rows) = self.scan(tenant, self.origin, cursor, RECORDS_PER_PART).await?;
        let gone: Vec<&String> = {
            let memory = tenant.memory();
            let is_kept = |(name, bytes): &&(String, Vec<u8>)| {
                let is_own = name.parse::<IpNet>().is_ok_and(|network| memory.has_own(network));
                is_own && decode(&mut &bytes[..]).is_ok_and(|record| counts_now(site, &record))
            };
            rows.iter().filter(|row| !is_kept(row)).map(|(name, _)| name).collect()
        };
        if !gone.is_empty() {
            let _: () = connection.hdel(self.records_key(tenant, self.origin), gone).await?;
        }
        if !rows.is_empty() {
            // Another gateway that found no record of this one may have removed it from the list.
            let mut pipeline = redis::pipe();
            self.list_origin(&mut pipeline, tenant);
            let _: () = pipeline.query_async(&mut connection).await?;
        }
        Ok(next)
    }

    /// Removes a gateway without records from the list.
    pub(super) async fn unlist_origin(&self, tenant: &Tenant, origin: u32) -> RedisResult<()> {
        self.connection.clone().srem(key(tenant, "origins"), origin).await
    }
}
