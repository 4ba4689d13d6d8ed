//! The memory of paths as an operator sees it: listed, and cleared.

use super::exchange::ExchangeEntry;
use crate::contract::{ConnectionSettings, LearntPath, PrefixKey};
use crate::os::clock::{monotonic_ns, since};
use arith::reuse::{decayed, half_life_ns};
use ipnet::IpNet;
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use serde::{Deserialize, Serialize};
use std::fs;
use std::os::unix::fs::MetadataExt;

/// A remembered path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RememberedPath {
    /// Inode number of the network namespace that it is seen from; 0: from all, which share it.
    pub namespace: u32,
    /// The destinations.
    pub prefix: IpNet,
    /// The window that was learnt, segments.
    pub window: u32,
    /// Estimate of that window for the next connection, before its own limits; 0 once it is too
    /// old.
    pub window_now: u32,
    /// Window at which slow start ended, segments; `None` if it had not ended.
    pub ssthresh: Option<u32>,
    /// Smoothed round trip when the window was learnt, queue included, milliseconds.
    pub srtt_ms: f64,
    /// Lowest round trip of the connection that taught it, milliseconds.
    pub min_rtt_ms: f64,
    /// At which flights were seen to come in, Mbit/s; `None`: not measured.
    pub rate_mbps: Option<f64>,
    /// Time since the window was learnt, seconds.
    pub age_s: f64,
    /// Connections closed.
    pub connections: u32,
    /// Number of those connections that started with a remembered window.
    pub warm: u32,
    /// Warm starts that lost a segment of their first flight.
    pub fallbacks: u32,
    /// Bytes that peers acknowledged, of the connections closed.
    pub bytes_acked: u64,
    /// Segments with data of these, retransmissions included.
    pub segments_sent: u64,
    /// Number of those segments that were retransmissions.
    pub segments_retransmitted: u64,
}

/// Returns the inode number of this process's network namespace; 0, which is none, if that cannot
/// be seen.
pub fn own_namespace() -> u32 {
    let inode = fs::metadata("/proc/self/ns/net").map(|namespace| namespace.ino());
    u32::try_from(inode.unwrap_or(0)).unwrap_or(0)
}

/// Returns all paths, by namespace and prefix.
pub fn all(map: &MapHandle, settings: &ConnectionSettings) -> Vec<RememberedPath> {
    let now = monotonic_ns();
    let mut entries = pairs(map);
    entries.sort_by_key(|(key, _)| *key);
    entries.iter().map(|(key, path)| remembered_path(*key, path, settings, now)).collect()
}

/// Returns all paths as the kernel has them, in no order.
pub fn pairs(map: &MapHandle) -> Vec<(PrefixKey, LearntPath)> {
    raw(map)
        .filter_map(|(key, value)| {
            Some((PrefixKey::from_bytes(&key)?, LearntPath::from_bytes(&value)?))
        })
        .collect()
}

/// Returns keys and values, by one call of the kernel, since there may be a million. With several
/// calls libbpf-rs would take the first partly filled answer for the last, but the kernel leaves
/// room at the end of buckets.
fn raw(map: &MapHandle) -> impl Iterator<Item = (Vec<u8>, Vec<u8>)> + '_ {
    let all = map.lookup_batch(map.max_entries(), MapFlags::ANY, MapFlags::ANY);
    all.into_iter().flatten()
}

/// Forgets what may be of an address in `prefix`, or everything; returns the number of paths.
pub fn forget(map: &MapHandle, prefix: Option<IpNet>) -> usize {
    let keys: Vec<_> = raw(map).map(|(key, _)| key).collect();
    let is_meant = |key: &[u8]| is_meant(key, prefix);
    keys.iter().filter(|key| is_meant(key) && map.delete(key).is_ok()).count()
}

/// Returns true if the bytes of a key are to be forgotten with `prefix`; a `None` forgets all.
pub(crate) fn is_meant(key: &[u8], prefix: Option<IpNet>) -> bool {
    prefix.is_none() || PrefixKey::from_bytes(key).is_some_and(|key| key.overlaps(prefix))
}

/// Returns the number of entries.
pub fn count(map: &MapHandle) -> usize {
    raw(map).count()
}

/// Describes a path of the map, with its window as it is believed at `now`.
fn remembered_path(
    key: PrefixKey,
    path: &LearntPath,
    settings: &ConnectionSettings,
    now: u64,
) -> RememberedPath {
    let age = since(path.learnt_ns, now);
    let half_life = half_life_ns(path.srtt_us, settings.half_life_rtts);
    let believed = decayed(path.window.into(), age, half_life);
    let is_too_old = age > settings.max_age_ns;
    RememberedPath {
        namespace: key.namespace,
        prefix: key.prefix,
        window: path.window,
        window_now: if is_too_old { 0 } else { u32::try_from(believed).unwrap_or(path.window) },
        ssthresh: Some(path.ssthresh).filter(|segments| *segments != 0),
        srtt_ms: f64::from(path.srtt_us) / 1e3,
        min_rtt_ms: f64::from(path.min_rtt_us) / 1e3,
        rate_mbps: Some(path.rate as f64 * 8e-6).filter(|rate| *rate > 0.0),
        age_s: age as f64 / 1e9,
        connections: path.connections,
        warm: path.warm,
        fallbacks: path.fallbacks,
        bytes_acked: path.bytes_acked,
        segments_sent: path.sent,
        segments_retransmitted: path.retransmitted,
    }
}

/// Returns the paths in a document's form, in the order of their prefixes.
pub fn export(map: &MapHandle) -> Vec<ExchangeEntry> {
    let (own, now) = (own_namespace(), monotonic_ns());
    let mut pairs = pairs(map);
    pairs.sort_by_key(|(key, _)| *key);
    pairs
        .iter()
        .map(|(key, path)| ExchangeEntry::new(key, path, own, since(path.learnt_ns, now)))
        .collect()
}

/// Learns a path from others, unless a younger sample is known here; the counts of this host's own
/// connections stay. True if it was learnt.
pub fn learn_from_others(map: &MapHandle, key: PrefixKey, learnt: &LearntPath, now: u64) -> bool {
    let known = map.lookup(&key.to_bytes(), MapFlags::ANY).ok().flatten();
    let known = known.and_then(|bytes| LearntPath::from_bytes(&bytes));
    let path = match known {
        Some(own) if since(own.learnt_ns, now) <= since(learnt.learnt_ns, now) => return false,
        Some(own) => LearntPath {
            learnt_ns: learnt.learnt_ns,
            window: learnt.window,
            ssthresh: learnt.ssthresh,
            srtt_us: learnt.srtt_us,
            min_rtt_us: learnt.min_rtt_us,
            rate: learnt.rate,
            ..own
        },
        None => *learnt,
    };
    map.update(&key.to_bytes(), &path.to_bytes(), MapFlags::ANY).is_ok()
}

/// Remembers the entries that are sound, unless a younger one is known; returns their keys.
pub fn import(map: &MapHandle, entries: &[ExchangeEntry]) -> Vec<PrefixKey> {
    let (own, now) = (own_namespace(), monotonic_ns());
    let take = |entry: &ExchangeEntry| {
        entry.check().ok()?;
        let (key, path) = entry.to_path(own, now);
        let present = map.lookup(&key.to_bytes(), MapFlags::ANY).ok().flatten();
        let present = present.and_then(|bytes| LearntPath::from_bytes(&bytes));
        let is_younger = |old: LearntPath| since(old.learnt_ns, now) <= since(path.learnt_ns, now);
        if present.is_some_and(is_younger) {
            return None;
        }
        map.update(&key.to_bytes(), &path.to_bytes(), MapFlags::ANY).ok().map(|()| key)
    };
    entries.iter().filter_map(take).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::StoppedParts;
    use crate::kernel::congestion::ControlChoice;

    const SETTINGS: ConnectionSettings = ConnectionSettings {
        max_age_ns: 600_000_000_000,
        half_life_rtts: 3000,
        cap: 256,
        v4_bits: 24,
        v6_bits: 48,
        control: ControlChoice::Auto,
        mark: 0,
        control_group: 0,
        canary: 1_000_000,
        stage: 0,
        stopped: StoppedParts::NONE,
        salt: 0,
        leaves_windows: false,
        tells_starts: false,
        asks_gateway: false,
        only_ports: false,
        receive_window: 0,
        knows_timers: false,
        widens_cold: false,
        rto_min_us: 0,
        paces_cold: false,
        is_superseded: false,
        shares_namespaces: false,
        ends_epochs: false,
    };

    fn path_of(age_s: u64) -> RememberedPath {
        let path = LearntPath {
            learnt_ns: 0,
            bytes_acked: 0,
            sent: 0,
            retransmitted: 0,
            rate: 0,
            window: 100,
            ssthresh: 0,
            srtt_us: 100_000,
            min_rtt_us: 80_000,
            connections: 1,
            warm: 0,
            fallbacks: 0,
            fallbacks_in_row: 0,
        };
        let key = PrefixKey { namespace: 1, prefix: "192.0.2.0/24".parse().unwrap() };
        remembered_path(key, &path, &SETTINGS, age_s * 1_000_000_000)
    }

    #[test]
    fn half_is_believed_after_the_half_life_and_nothing_beyond_the_oldest_age() {
        // 3000 round trips of 100 ms are 300 s.
        assert_eq!(path_of(0).window_now, 100);
        assert_eq!(path_of(300).window_now, 50);
        assert_eq!(path_of(600).window_now, 25);
        assert_eq!(path_of(601).window_now, 0);
    }
}
