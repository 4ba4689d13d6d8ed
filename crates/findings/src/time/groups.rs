//! Groups of transfers: sizes, hours, and the networks of clients.

use super::TimeSums;
use memory::{PathKey, Scope};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use units::Instant;

/// The size class of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SizeClass {
    /// Up to 4 kB: an initial window of three segments (RFC 3390).
    Tiny,
    /// Up to 14,600 bytes: an initial window of ten segments (RFC 6928).
    Small,
    /// Up to 50 kB.
    Medium,
    /// Up to 200 kB.
    Large,
    /// Up to 1 MB.
    Huge,
    /// More than 1 MB.
    Bulk,
}

/// All size classes, the smallest first.
pub const SIZE_CLASSES: [SizeClass; 6] = [
    SizeClass::Tiny,
    SizeClass::Small,
    SizeClass::Medium,
    SizeClass::Large,
    SizeClass::Huge,
    SizeClass::Bulk,
];

impl SizeClass {
    /// Returns the class of a response of `bytes`.
    pub const fn of(bytes: u64) -> Self {
        match bytes {
            0..=4_000 => Self::Tiny,
            4_001..=14_600 => Self::Small,
            14_601..=50_000 => Self::Medium,
            50_001..=200_000 => Self::Large,
            200_001..=1_000_000 => Self::Huge,
            _ => Self::Bulk,
        }
    }

    /// Returns its bounds in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tiny => "up to 4 kB",
            Self::Small => "4 to 14.6 kB",
            Self::Medium => "14.6 to 50 kB",
            Self::Large => "50 to 200 kB",
            Self::Huge => "200 kB to 1 MB",
            Self::Bulk => "above 1 MB",
        }
    }
}

/// Returns the hour of the day, UTC.
pub(super) fn hour(at: Instant) -> usize {
    (at.as_nanos() / 3_600_000_000_000 % 24) as usize
}

/// Maximum number of networks with separate sums; if there are more, half of them are dropped at
/// once.
const MAX_NETWORKS: usize = 1 << 16;

/// Sums by network.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Prefixes {
    #[serde(with = "by_network")]
    listed: FxHashMap<PathKey, TimeSums>,
    others: TimeSums,
}

/// Networks by their first addresses.
mod by_network {
    use super::{FxHashMap, PathKey, Scope, TimeSums};
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};
    use std::collections::BTreeMap;
    use std::net::IpAddr;

    /// Writes the sums of each network, sorted by the network's text.
    pub(super) fn serialize<S: Serializer>(
        listed: &FxHashMap<PathKey, TimeSums>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let sorted: BTreeMap<String, &TimeSums> =
            listed.iter().map(|(key, sums)| (key.to_string(), sums)).collect();
        serializer.collect_map(sorted)
    }

    /// Reads the sums of each network, as [`serialize`] writes them.
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<FxHashMap<PathKey, TimeSums>, D::Error> {
        let listed = BTreeMap::<String, TimeSums>::deserialize(deserializer)?;
        let keyed = |(network, sums): (String, TimeSums)| {
            let address = network.split('/').next().unwrap_or_default();
            let address: IpAddr = address.parse().map_err(D::Error::custom)?;
            Ok((PathKey::new(address, Scope::Network), sums))
        };
        listed.into_iter().map(keyed).collect()
    }
}

impl Prefixes {
    /// Returns the sums of a network. If [`MAX_NETWORKS`] are listed, those with the least time are
    /// added to the other networks first.
    pub(super) fn of(&mut self, key: PathKey) -> &mut TimeSums {
        if self.listed.len() >= MAX_NETWORKS && !self.listed.contains_key(&key) {
            self.give_up();
        }
        self.listed.entry(key).or_default()
    }

    /// Adds the sums of other transfers.
    pub(super) fn add_all(&mut self, other: Self) {
        self.others.merge(&other.others);
        for (key, sums) in other.listed {
            self.of(key).merge(&sums);
        }
    }

    /// Drops the networks with the least time, which matter least.
    fn give_up(&mut self) {
        let mut all: Vec<(PathKey, TimeSums)> = self.listed.drain().collect();
        sort(&mut all);
        for (_, sums) in all.drain(MAX_NETWORKS / 2..) {
            self.others.merge(&sums);
        }
        self.listed.extend(all);
    }

    /// Returns the listed networks, the one with the most time first, and the sums of all others.
    pub(super) fn finish(self) -> (Vec<(PathKey, TimeSums)>, TimeSums) {
        let mut listed: Vec<_> = self.listed.into_iter().collect();
        sort(&mut listed);
        (listed, self.others)
    }
}

fn sort(all: &mut [(PathKey, TimeSums)]) {
    all.sort_by_key(|(key, sums)| (std::cmp::Reverse(sums.total_nanos()), *key));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{IpAddr, Ipv4Addr};
    use trace::TransferReport;

    #[test]
    fn hours_are_those_of_utc() {
        // 25 November 2026, 07:13:20 UTC.
        assert_eq!(hour(Instant::from_nanos(1_795_590_800_000_000_000)), 7);
        assert_eq!(hour(Instant::ZERO), 0);
    }

    #[test]
    fn classes_are_ordered_and_named_by_their_bounds() {
        assert_eq!(SizeClass::of(0), SizeClass::Tiny);
        assert_eq!(SizeClass::of(14_600), SizeClass::Small);
        assert_eq!(SizeClass::of(14_601), SizeClass::Medium);
        assert_eq!(SizeClass::of(u64::MAX), SizeClass::Bulk);
        assert!(SIZE_CLASSES.is_sorted());
    }

    #[test]
    fn too_many_networks_are_summed_together() {
        let mut prefixes = Prefixes::default();
        let one = TransferReport { bytes: 1, ..TransferReport::default() };
        let networks = MAX_NETWORKS as u32 + 1;
        for n in 0..networks {
            let client = IpAddr::V4(Ipv4Addr::from(n << 8));
            prefixes.of(PathKey::new(client, Scope::Network)).add(&one);
        }
        let (listed, others) = prefixes.finish();
        let kept: u64 = listed.iter().map(|(_, sums)| sums.bytes).sum();
        assert_eq!(
            (listed.len(), others.transfers),
            (MAX_NETWORKS / 2 + 1, MAX_NETWORKS as u64 / 2)
        );
        assert_eq!(kept + others.bytes, u64::from(networks));
    }
}
