//! What is forgotten, told by and to other gateways.
//!
//! `forgotten` is a sorted set of networks, scored by the time until which their samples are forgotten. A gateway that starts, or that has
//! missed changes, reads it before any record. Whatever a gateway writes before it has heard of it, the others leave out what is older.

use super::{SharedStore, key};
use crate::os::clock::{CLOCKS_DIFFER, ticks};
use crate::site::GatewaySite;
use crate::site::tenant::Tenant;
use ipnet::IpNet;
use memory::site::{ForgottenNetworks, SiteForget};
use redis::streams::StreamId;
use redis::{AsyncCommands, Pipeline, RedisResult};

/// What nobody adds to goes after so long: a little later than what it keeps away.
const LASTS_S: i64 = 18 * 3600;

impl SharedStore {
    /// Tells others what is forgotten.
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
            // Whoever says the later time is right (Redis 6.2).
            let mut command = redis::cmd("ZADD");
            command.arg(&forgotten_key).arg("GT").arg(forget.at).arg(&network);
            pipeline.add_command(command).ignore();
            self.tell(pipeline, tenant, &[("forget", network.as_bytes()), ("at", at.as_bytes())]);
        }
        let over = i64::from(newest) - i64::from(SiteForget::LASTS);
        pipeline.zrembyscore(&forgotten_key, "-inf", over).ignore();
        pipeline.expire(&forgotten_key, LASTS_S).ignore();
    }

    /// Forgets what any gateway has had forgotten; whether any of it was news.
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

/// Forgets what another gateway has just told to forget, if `entry` of the stream is such; whether that was news. The other's clock may be behind: then
/// what was taken here by now is forgotten, too.
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
        site.note_forget(tenant.forget_here(forget).await);
    }
    is_news
}
