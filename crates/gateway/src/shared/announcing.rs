//! Tells other gateways that this one is alive, and hears which ones are: the sorted set `headstart:2:gateways` has each gateway under the time of
//! its last word, seconds since 1970.

use super::SharedStore;
use crate::clock::SiteClock;
use crate::presence::{GatewayPresence, LISTED_S};
use crate::site::GatewaySite;
use redis::RedisResult;
use std::time::Duration;

/// A gateway says so often that it is alive.
pub(super) const ANNOUNCE_EVERY: Duration = Duration::from_secs(5);
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
        let known = rows
            .iter()
            .filter_map(|(member, wrote)| GatewayPresence::of_member(member, *wrote as i64));
        site.gateways.set(known.collect());
        Ok(())
    }
}
