//! Announces this gateway to others, and lists the live ones. The sorted set `headstart:2:gateways`
//! has each gateway with the time of its last announcement, seconds since 1970.

use super::SharedStore;
use crate::os::clock::SiteClock;
use crate::site::GatewaySite;
use crate::site::presence::{GatewayPresence, LISTED_S};
use redis::RedisResult;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Time between two announcements.
pub(super) const ANNOUNCE_INTERVAL: Duration = Duration::from_secs(5);
/// Longest time that a gateway waits for the store when it ends.
const WITHDRAW_TIMEOUT: Duration = Duration::from_secs(1);
/// This key is the site's, not a tenant's.
const GATEWAYS: &str = "headstart:2:gateways";

impl SharedStore {
    /// Announces that this gateway is alive, and reads which others are.
    pub(super) async fn announce(&self, site: &GatewaySite) -> RedisResult<()> {
        let now = SiteClock::wall_seconds();
        let mut pipeline = redis::pipe();
        pipeline.zadd(GATEWAYS, site.gateways.own().member(), now).ignore();
        pipeline.zrembyscore(GATEWAYS, "-inf", now - LISTED_S).ignore();
        pipeline.expire(GATEWAYS, LISTED_S).ignore();
        pipeline.zrange_withscores(GATEWAYS, 0, -1);
        let (rows,): (Vec<(String, f64)>,) =
            pipeline.query_async(&mut self.connection.clone()).await?;
        let mut known: Vec<_> = rows
            .iter()
            .filter_map(|(member, wrote)| GatewayPresence::of_member(member, *wrote as i64))
            .collect();
        let earlier = site.gateways.earlier_runs(&known, now);
        known.retain(|one| !earlier.contains(one));
        site.gateways.set(known);
        self.strike_out(&earlier).await
    }

    /// Announces that this gateway ends. If it keeps its number over a restart, it stays in the
    /// list, since it will be back.
    pub(crate) async fn withdraw(&self, site: &GatewaySite) {
        if site.gateways.keeps_number() || self.is_failing.load(Ordering::Relaxed) {
            return;
        }
        // If that fails, the next run on this host does it, or the list drops this gateway after an
        // hour.
        let own = std::slice::from_ref(site.gateways.own());
        let _ = tokio::time::timeout(WITHDRAW_TIMEOUT, self.strike_out(own)).await;
    }

    /// Removes gateways that are gone from the list in the store.
    async fn strike_out(&self, gone: &[GatewayPresence]) -> RedisResult<()> {
        if gone.is_empty() {
            return Ok(());
        }
        let members: Vec<String> = gone.iter().map(GatewayPresence::member).collect();
        let mut pipeline = redis::pipe();
        pipeline.zrem(GATEWAYS, members).ignore();
        pipeline.query_async(&mut self.connection.clone()).await
    }
}
