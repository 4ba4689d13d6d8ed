//! Sums of comparisons, so that all gateways of a site have one finding.
//!
//! `sums` is a hash of hosts to the time of their sums, nanoseconds since 1970 in eight bytes, and
//! the sums as agents send them. Later sums of a host replace earlier ones, whichever gateway has
//! received them.

use super::{SharedStore, key};
use crate::site::GatewaySite;
use crate::site::tenant::Tenant;
use crate::site::tenant::fleet::{HostSums, SUMS_LIFETIME};
use gateway_proto::v1::HostComparison;
use prost::Message;
use redis::{AsyncCommands, RedisResult};
use std::collections::HashMap;
use std::time::Duration;
use tokio::time::Instant;
use units::Instant as SiteInstant;

/// Time between two exchanges; agents send sums half as often.
const COMPARE_INTERVAL: Duration = Duration::from_secs(5);
/// Bytes of the time before sums.
const TIME_BYTES: usize = 8;

/// Time of the next exchange.
#[derive(Debug, Default)]
pub(super) struct NextComparison(Option<Instant>);

impl SharedStore {
    /// Writes the sums that hosts have sent to this gateway, and reads those of other hosts, if
    /// that is due.
    pub(super) async fn exchange_sums(
        &self,
        site: &GatewaySite,
        tenant: &Tenant,
        next: &mut NextComparison,
    ) -> RedisResult<()> {
        if next.0.is_some_and(|next| Instant::now() < next) {
            return Ok(());
        }
        let (mut connection, sums_key) = (self.connection.clone(), key(tenant, "sums"));
        let own = tenant.known().comparison.take_unshared();
        let rows: Vec<(String, Vec<u8>)> =
            own.iter().map(|(name, at, sums)| (name.clone(), encode(*at, sums))).collect();
        let mut pipeline = redis::pipe();
        if !rows.is_empty() {
            pipeline.hset_multiple(&sums_key, &rows).ignore();
            pipeline.expire(&sums_key, SUMS_LIFETIME.as_secs_f64() as i64).ignore();
        }
        pipeline.hgetall(&sums_key);
        let read: RedisResult<(HashMap<String, Vec<u8>>,)> =
            pipeline.query_async(&mut connection).await;
        // After a failure, the next sums of a host reach the store within ten seconds.
        let (all,) = read?;
        next.0 = Some(Instant::now() + COMPARE_INTERVAL);
        let mut gone = Vec::new();
        let now = site.clock.now();
        for (name, bytes) in &all {
            match decode(bytes) {
                Some((at, sums)) if now.saturating_since(at) <= SUMS_LIFETIME => {
                    tenant.known().comparison.merge(at.min(now), name, sums);
                }
                _ => gone.push(name),
            }
        }
        match gone.is_empty() {
            true => Ok(()),
            false => connection.hdel(&sums_key, gone).await,
        }
    }
}

fn encode(at: SiteInstant, sums: &HostSums) -> Vec<u8> {
    let mut bytes = at.as_nanos().to_be_bytes().to_vec();
    bytes.extend(HostComparison::of(sums).encode_to_vec());
    bytes
}

/// Decodes sums from the shared store. Returns `None` if no gateway of this version has written
/// that.
fn decode(bytes: &[u8]) -> Option<(SiteInstant, HostSums)> {
    let (at, sums) = bytes.split_first_chunk::<TIME_BYTES>()?;
    let sums = HostComparison::decode(sums).ok()?;
    Some((SiteInstant::from_nanos(u64::from_be_bytes(*at)), sums.to_sums().ok()?))
}
