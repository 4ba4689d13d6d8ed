//! Tells other gateways that this one is alive, and hears which ones are: the sorted set `headstart:2:gateways` has each gateway under the time of
//! its last word, seconds since 1970.

use super::SharedStore;
use crate::os::clock::SiteClock;
use crate::site::GatewaySite;
use crate::site::presence::{GatewayPresence, LISTED_S};
use redis::RedisResult;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A gateway says so often that it is alive.
pub(super) const ANNOUNCE_EVERY: Duration = Duration::from_secs(5);
/// A gateway that ends waits no longer for the store.
const WITHDRAW: Duration = Duration::from_secs(1);
/// Of the site and not of a tenant.
const GATEWAYS: &str = "headstart:2:gateways";

impl SharedStore {
    /// Says that this gateway is alive, and reads who else is.
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

    /// Says that this gateway ends. If it has its number also after a restart, it stays in the list: it is to come back.
    pub(crate) async fn withdraw(&self, site: &GatewaySite) {
        if site.gateways.keeps_number() || self.is_failing.load(Ordering::Relaxed) {
            return;
        }
        // If that fails, the next run on this host does it, or the list drops this gateway after an hour.
        let own = std::slice::from_ref(site.gateways.own());
        let _ = tokio::time::timeout(WITHDRAW, self.strike_out(own)).await;
    }

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
