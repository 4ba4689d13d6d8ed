//! Bounded state about a site that the thread of the gateways' client shares with the agent. It has
//! paths asked for, segment sizes of paths, distrusted answers of gateways, and networks to forget.

use crate::contract::PrefixKey;
use crate::os::clock::since;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use std::collections::{BTreeSet, HashMap};
use std::mem;

/// Payload of a full segment on Ethernet with timestamps, bytes, of IPv4 and IPv6. It is assumed
/// for a path until a connection has shown its own. Windows of gateways are bytes, those of the
/// memory segments.
const USUAL_MSS: (u32, u32) = (1448, 1428);
/// Paths whose segments have another size, at most.
const SEGMENT_SIZES: usize = 4096;
/// Limit of networks to forget that the agent has not yet taken; if there are more, all are
/// forgotten.
const FORGETS: usize = 1024;
/// Paths on which warm starts have failed lately, at most.
const QUARANTINED: usize = 4096;
/// Networks asked for that are kept in mind, at most, and paths of each: one for each network
/// namespace.
const ASKED: usize = 16_384;
const NAMESPACES: usize = 16;

/// Networks of which nothing may be kept any more.
#[derive(Debug, Default)]
pub(super) struct Forgets(BTreeSet<IpNet>);

impl Forgets {
    /// Adds a network to forget. If there are more than [`FORGETS`], all networks are forgotten.
    pub(super) fn add(&mut self, network: IpNet) {
        self.0.insert(network);
        if self.0.len() > FORGETS {
            // Then everything is forgotten: more than was asked, but nothing that had to go stays.
            self.0 = BTreeSet::from([Ipv4Net::default().into(), Ipv6Net::default().into()]);
        }
    }

    /// Takes the networks, and leaves none.
    pub(super) fn take(&mut self) -> Vec<IpNet> {
        mem::take(&mut self.0).into_iter().collect()
    }
}

/// Segment sizes that connections have had, bytes, where they are not the usual ones.
#[derive(Debug, Default)]
pub(super) struct SegmentSizes(HashMap<PrefixKey, u32>);

impl SegmentSizes {
    /// Notes the segment size of a path's connection. If [`SEGMENT_SIZES`] unusual ones are noted,
    /// the note is dropped, and the usual size counts for the path.
    pub(super) fn note(&mut self, path: PrefixKey, mss: u32) {
        if mss == 0 || mss == usual_mss(path.prefix) {
            self.0.remove(&path);
        } else if self.0.len() < SEGMENT_SIZES || self.0.contains_key(&path) {
            self.0.insert(path, mss);
        }
    }

    pub(super) fn of(&self, path: &PrefixKey) -> u32 {
        self.0.get(path).copied().unwrap_or_else(|| usual_mss(path.prefix))
    }
}

fn usual_mss(prefix: IpNet) -> u32 {
    if prefix.addr().is_ipv4() { USUAL_MSS.0 } else { USUAL_MSS.1 }
}

/// Paths that were asked for, by the network that gateways know them by. Unasked answers of
/// gateways update these.
#[derive(Debug, Default)]
pub(super) struct AskedPaths(HashMap<IpNet, Vec<PrefixKey>>);

impl AskedPaths {
    /// Notes that `path` is asked for under `network`. If [`ASKED`] networks are noted, all are
    /// dropped first. At most [`NAMESPACES`] paths are noted for a network.
    pub(super) fn add(&mut self, network: IpNet, path: PrefixKey) {
        if self.0.len() >= ASKED && !self.0.contains_key(&network) {
            // Paths that are still of interest are asked for again.
            self.0.clear();
        }
        let paths = self.0.entry(network).or_default();
        if !paths.contains(&path) && paths.len() < NAMESPACES {
            paths.push(path);
        }
    }

    pub(super) fn of(&self, network: &IpNet) -> Vec<PrefixKey> {
        self.0.get(network).cloned().unwrap_or_default()
    }

    /// Drops what may be of an address in `prefix`, or everything, until it is asked for again.
    pub(super) fn forget(&mut self, prefix: Option<IpNet>) {
        self.0.retain(|_, paths| {
            paths.retain(|path| !path.overlaps(prefix));
            !paths.is_empty()
        });
    }
}

/// Paths of which no gateway is believed for a while: a warm start has just failed there.
#[derive(Debug)]
pub(super) struct Quarantine {
    /// Nanoseconds; as long as a memory is believed.
    lasts: u64,
    since: HashMap<PrefixKey, u64>,
}

impl Quarantine {
    pub(super) fn with_duration(lasts: u64) -> Self {
        Self { lasts, since: HashMap::new() }
    }

    /// Bars updates of a path by gateways for a while, since its window has failed. If
    /// [`QUARANTINED`] paths are barred, the new one is not.
    pub(super) fn add(&mut self, path: PrefixKey, now: u64) {
        if self.since.len() >= QUARANTINED {
            let lasts = self.lasts;
            self.since.retain(|_, then| since(*then, now) < lasts);
        }
        // With more failures than this at a time the agent stops windows anyway.
        if self.since.len() < QUARANTINED {
            self.since.insert(path, now);
        }
    }

    pub(super) fn has(&self, path: &PrefixKey, now: u64) -> bool {
        self.since.get(path).is_some_and(|then| since(*then, now) < self.lasts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(prefix: &str) -> PrefixKey {
        PrefixKey { namespace: 1, prefix: prefix.parse().unwrap() }
    }

    #[test]
    fn a_path_has_the_segments_that_it_has_had() {
        let mut sizes = SegmentSizes::default();
        assert_eq!(sizes.of(&key("192.0.2.0/24")), 1448);
        assert_eq!(sizes.of(&key("2001:db8::/48")), 1428);
        sizes.note(key("192.0.2.0/24"), 8948);
        assert_eq!(sizes.of(&key("192.0.2.0/24")), 8948);
        sizes.note(key("192.0.2.0/24"), 1448);
        assert_eq!((sizes.of(&key("192.0.2.0/24")), sizes.0.len()), (1448, 0));
        for n in 0..5000_u32 {
            let prefix = IpNet::new(std::net::Ipv4Addr::from(n << 8).into(), 24).unwrap();
            sizes.note(PrefixKey { namespace: 1, prefix }, 1000);
        }
        assert_eq!(sizes.0.len(), SEGMENT_SIZES);
    }

    #[test]
    fn who_has_too_much_forgotten_has_all_forgotten() {
        let mut forgets = Forgets::default();
        let network = |n: u32| IpNet::new(std::net::Ipv4Addr::from(n << 8).into(), 24).unwrap();
        (0..2).chain(0..FORGETS as u32).for_each(|n| forgets.add(network(n)));
        assert_eq!(forgets.0.len(), FORGETS);
        forgets.add(network(FORGETS as u32));
        assert_eq!(forgets.0.len(), 2);
        assert!(forgets.0.iter().all(|network| network.prefix_len() == 0));
    }

    #[test]
    fn what_was_asked_for_is_found_by_its_network_in_bounded_memory() {
        let mut asked = AskedPaths::default();
        let network: IpNet = "192.0.2.0/24".parse().unwrap();
        let [one, other] = [1, 2].map(|namespace| PrefixKey { namespace, prefix: network });
        for path in [one, other, one] {
            asked.add(network, path);
        }
        assert_eq!(asked.of(&network), [one, other]);
        assert_eq!(asked.of(&"192.0.0.0/16".parse().unwrap()), []);
        for n in 0..40_000_u32 {
            let network = IpNet::new(std::net::Ipv4Addr::from(n << 8).into(), 24).unwrap();
            asked.add(network, PrefixKey { namespace: 1, prefix: network });
            assert!(asked.0.len() <= ASKED);
        }
    }

    #[test]
    fn a_path_is_in_quarantine_as_long_as_a_memory_is_believed() {
        let mut quarantine = Quarantine::with_duration(100);
        quarantine.add(key("192.0.2.0/24"), 1000);
        assert!(quarantine.has(&key("192.0.2.0/24"), 1099));
        assert!(!quarantine.has(&key("192.0.2.0/24"), 1100));
        assert!(!quarantine.has(&key("198.51.100.0/24"), 1000));
        for n in 0..5000_u32 {
            let prefix = IpNet::new(std::net::Ipv4Addr::from(n << 8).into(), 24).unwrap();
            quarantine.add(PrefixKey { namespace: 1, prefix }, 1050);
        }
        assert_eq!(quarantine.since.len(), QUARANTINED);
        quarantine.add(key("203.0.113.0/24"), 1200);
        assert!(quarantine.has(&key("203.0.113.0/24"), 1200));
    }

    #[test]
    fn what_is_forgotten_is_asked_for_no_more() {
        let mut asked = AskedPaths::default();
        let [one, other] = ["192.0.2.0/24", "198.51.100.0/24"].map(key);
        [one, other].iter().for_each(|path| asked.add(path.prefix, *path));
        asked.forget(Some("192.0.0.0/16".parse().unwrap()));
        assert_eq!((asked.of(&one.prefix), asked.of(&other.prefix)), (vec![], vec![other]));
        asked.forget(None);
        assert_eq!(asked.of(&other.prefix), []);
    }
}
