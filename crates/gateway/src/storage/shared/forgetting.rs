//! The exchange of forgotten networks with other gateways.
//!
//! `forgotten` is a sorted set of networks, scored by the time until which their samples are
//! forgotten. A gateway that starts, or that has missed changes, reads it before any record. A
//! gateway that has not read it yet may still write older samples; the others leave these out.

use super::{SharedStore, key};
use crate::os::clock::{CLOCKS_DIFFER, ticks};
use crate::site::GatewaySite;
use crate::site::tenant::Tenant;
use ipnet::IpNet;
use memory::site::{ForgottenNetworks, SiteForget};
use redis::streams::StreamId;
use redis::{AsyncCommands, Pipeline, RedisResult};
use std::time::Duration;

/// Lifetime of the set after its last change, seconds: a little longer than samples can last.
const LIFETIME_S: i64 = 18 * 3600;

/// Longest time for which an order to forget waits for the store.
const STORE_TIMEOUT: Duration = Duration::from_secs(2);

impl SharedStore {
    /// Writes all networks that are forgotten here. Returns true if the store has them now. Changes
    /// that wait for a write have them, too, so a store that was away gets them later.
    pub(crate) async fn has_forgets(&self, tenant: &Tenant) -> bool {
        let mut pipeline = redis::pipe();
        self.tell_forgets(pipeline.atomic(), tenant, &tenant.memory().forgotten().clone());
        let mut connection = self.connection.clone();
        let written = pipeline.query_async::<()>(&mut connection);
        matches!(tokio::time::timeout(STORE_TIMEOUT, written).await, Ok(Ok(())))
    }

    /// Writes the forgotten networks for others.
    pub(super) fn tell_forgets(
        &self,
        pipeline: &mut Pipeline,
        tenant: &Tenant,
        forgotten: &ForgottenNetworks,
    ) {
        let Some(newest) = forgotten.iter().map(|forget| forget.at).max() else { return };
        let forgotten_key = key(tenant, "forgotten");
        for forget in forgotten.iter() {
            let (network, at) = (forget.network.to_string(), forget.at.to_string());
            // The later time is right, whichever gateway writes it (Redis 6.2).
            let mut command = redis::cmd("ZADD");
            command.arg(&forgotten_key).arg("GT").arg(forget.at).arg(&network);
            pipeline.add_command(command).ignore();
            self.tell(pipeline, tenant, &[("forget", network.as_bytes()), ("at", at.as_bytes())]);
        }
        let over = i64::from(newest) - i64::from(SiteForget::RETENTION_TICKS);
        pipeline.zrembyscore(&forgotten_key, "-inf", over).ignore();
        pipeline.expire(&forgotten_key, LIFETIME_S).ignore();
    }

    /// Forgets the networks that any gateway has listed; returns true if any of that was new.
    pub(super) async fn read_forgets(
        &self,
        site: &GatewaySite,
        tenant: &Tenant,
    ) -> RedisResult<bool> {
        let mut connection = self.connection.clone();
        let rows: Vec<(String, u32)> =
            connection.zrange_withscores(key(tenant, "forgotten"), 0, -1).await?;
        let latest = ticks(site.clock.now()).saturating_add(CLOCKS_DIFFER);
        let mut has_news = false;
        for (network, at) in &rows {
            if let Ok(network) = network.parse() {
                let forget = SiteForget { network, at: (*at).min(latest) };
                has_news |= forget_here(site, tenant, forget).await;
            }
        }
        Ok(has_news)
    }
}

/// Forgets the network that `entry` of the stream orders to forget, if it is an order. Returns true
/// if that was new. The other gateway's clock may be behind, so everything taken in here by now is
/// forgotten, too.
pub(super) async fn take_forget(site: &GatewaySite, tenant: &Tenant, entry: &StreamId) -> bool {
    let network = entry.get::<String>("forget").and_then(|text| text.parse::<IpNet>().ok());
    let Some(network) = network else { return false };
    let now = ticks(site.clock.now());
    let told = entry.get("at").unwrap_or(now).min(now.saturating_add(CLOCKS_DIFFER));
    if tenant.memory().forgotten().has(&SiteForget { network, at: told }) {
        return false;
    }
    let at = now.clamp(told, told.saturating_add(CLOCKS_DIFFER));
    forget_here(site, tenant, SiteForget { network, at }).await
}

async fn forget_here(site: &GatewaySite, tenant: &Tenant, forget: SiteForget) -> bool {
    let is_news = !tenant.memory().forgotten().has(&forget);
    if is_news {
        site.note_forget(tenant.forget_here(forget, site.clock.now()).await);
    }
    is_news
}
