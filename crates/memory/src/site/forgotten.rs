//! Networks that an operator had forgotten, and when. Older samples stay away from then on,
//! whichever gateway or file has kept them. That includes samples that covering prefixes keep.
//!
//! A network is kept here as long as the age of a sample can be represented. If there are too many
//! networks, the longest prefixes are shortened: then old samples of their neighbours are not taken
//! from others either.

use super::kept::{KeptSample, MAX_AGE_TICKS, Tick};
use super::prefix::{LabelSet, Prefix};
use ipnet::IpNet;
use std::collections::BTreeMap;
use units::Instant;

/// Networks at most. Chosen, not measured.
const MAX_NETWORKS: usize = 1024;
/// Number of bits by which prefixes are shortened if there are too many. Chosen, not measured.
const SHORTENED_BITS: u8 = 4;

/// A network that is forgotten: all samples that were taken until then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteForget {
    /// The network, with all in it.
    pub network: IpNet,
    /// When, in steps of 2^30 ns from the origin of time, as [`super::SiteRecord::newest_at`].
    pub at: u32,
}

impl SiteForget {
    /// Steps of 2^30 ns for which earlier samples have to be refused, 17.9 h: older samples do not
    /// exist.
    pub const RETENTION_TICKS: u32 = MAX_AGE_TICKS;

    /// Forgets `network` at `now`.
    pub fn new(now: Instant, network: IpNet) -> Self {
        Self { network, at: Tick::at(now).0 }
    }
}

/// Forgotten networks: at most 1024.
#[derive(Clone, Debug, Default)]
pub struct ForgottenNetworks {
    times: BTreeMap<Prefix, Tick>,
    newest: Tick,
    /// Lengths of its prefixes, a bit for each: there are few, so a search is short.
    lengths: u128,
}

impl ForgottenNetworks {
    /// Notes that a network was forgotten. Notes that are too old, or lie within it and are not
    /// later, are dropped. If there are more than `MAX_NETWORKS`, the longest prefixes become
    /// shorter, so more than the named networks counts as forgotten.
    pub fn add(&mut self, forget: SiteForget) {
        let (prefix, at) = (Prefix::of_any(forget.network), Tick(forget.at));
        if self.until(prefix).is_some_and(|known| known >= at) {
            return;
        }
        self.newest = self.newest.max(at);
        let newest = self.newest.0;
        let is_over = |then: Tick| newest > then.0.saturating_add(MAX_AGE_TICKS);
        self.times
            .retain(|known, then| !is_over(*then) && (*then > at || !known.is_within(prefix)));
        self.times.insert(prefix, at);
        while self.times.len() > MAX_NETWORKS {
            self.shorten_longest();
        }
        self.lengths = self.times.keys().fold(0, |lengths, prefix| lengths | bit_of(*prefix));
    }

    /// Returns true if all of this network is already noted as forgotten then, or later.
    pub fn has(&self, forget: &SiteForget) -> bool {
        self.until(Prefix::of_any(forget.network)).is_some_and(|known| known.0 >= forget.at)
    }

    /// Returns true if nothing is noted.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Returns the forgotten networks, in the order of prefixes.
    pub fn iter(&self) -> impl Iterator<Item = SiteForget> {
        self.times.iter().map(|(prefix, at)| SiteForget { network: prefix.network(), at: at.0 })
    }

    /// Returns the time at which all of `prefix` was last forgotten.
    pub(super) fn until(&self, prefix: Prefix) -> Option<Tick> {
        let known =
            prefix.covering_prefixes().filter(|covering| self.lengths & bit_of(*covering) != 0);
        known.filter_map(|covering| self.times.get(&covering).copied()).max()
    }

    /// Returns true if a sample of `network` that was measured then is forgotten.
    pub(super) fn has_sample(&self, network: Prefix, measured: Tick) -> bool {
        let is_late = self.times.is_empty() || measured > self.newest;
        !is_late && self.until_any(network).is_some_and(|until| measured < until)
    }

    /// Returns when all of `network`, or a part of it, was forgotten last. The network does not
    /// know which of its samples are of the part.
    fn until_any(&self, network: Prefix) -> Option<Tick> {
        self.within(network).map(|(_, at)| at).chain(self.until(network)).max()
    }

    /// Returns which samples of `prefix` are forgotten, if the oldest of them is of `oldest`;
    /// `None` if all are later. Most are, and cost no search.
    pub(super) fn samples_of(&self, prefix: Prefix, oldest: Tick) -> Option<ForgottenSamples> {
        if self.times.is_empty() || oldest > self.newest {
            return None;
        }
        let is_old = |until: &Tick| *until >= oldest;
        let found = if prefix.is_network() {
            let until = self.until_any(prefix).filter(is_old);
            ForgottenSamples { until, of_networks: Vec::new() }
        } else {
            let until = if prefix == Prefix::SITE { None } else { self.until(prefix) };
            let within = self.within(prefix).filter(|(_, at)| is_old(at));
            let of_networks = within.map(|(network, at)| (network.labels(), at)).collect();
            ForgottenSamples { until: until.filter(is_old), of_networks }
        };
        (found.until.is_some() || !found.of_networks.is_empty()).then_some(found)
    }

    /// Returns the forgotten networks of which `prefix` may keep samples, because it covers them.
    fn within(&self, prefix: Prefix) -> impl Iterator<Item = (Prefix, Tick)> {
        let (first, last) = prefix.range();
        let some = self.times.range(first..=last).map(|(network, at)| (*network, *at));
        some.filter(move |(network, _)| prefix.covers(*network))
    }

    /// Turns the longest prefixes into shorter ones, with the latest time of the prefixes that they
    /// cover.
    fn shorten_longest(&mut self) {
        let longest = self.times.keys().map(|prefix| prefix.length()).max().unwrap_or(0);
        for (prefix, at) in std::mem::take(&mut self.times) {
            let kept = match prefix.length() == longest {
                true => prefix.shorten_to(longest.saturating_sub(SHORTENED_BITS)),
                false => prefix,
            };
            let then = self.times.entry(kept).or_default();
            *then = at.max(*then);
        }
    }
}

/// Samples of one prefix that are forgotten.
pub(super) struct ForgottenSamples {
    /// Time until which all of them are.
    until: Option<Tick>,
    /// Under a covering prefix: labels of forgotten networks, and until when their samples are.
    of_networks: Vec<(LabelSet, Tick)>,
}

impl ForgottenSamples {
    /// Returns the time until which all samples are forgotten.
    pub(super) const fn until(&self) -> Option<Tick> {
        self.until
    }

    /// Returns true if `sample` is forgotten. `newest_at`: time of the newest sample beside it.
    pub(super) fn has(&self, sample: KeptSample, newest_at: Tick) -> bool {
        let is_until = |until: Tick| sample.is_until(until, newest_at);
        let mut of_networks = self.of_networks.iter();
        self.until.is_some_and(is_until)
            || of_networks.any(|(labels, until)| labels.has(sample.label) && is_until(*until))
    }
}

/// Returns the bit of a length: 0 to 28 of IPv4, 32 to 96 of IPv6.
const fn bit_of(prefix: Prefix) -> u128 {
    1 << (prefix.length() + if prefix.is_v4() { 0 } else { 32 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forget(network: &str, at: u32) -> SiteForget {
        SiteForget { network: network.parse().unwrap(), at }
    }

    fn until(forgotten: &ForgottenNetworks, network: &str) -> Option<u32> {
        forgotten.until(Prefix::of_any(network.parse().unwrap())).map(|at| at.0)
    }

    #[test]
    fn a_network_is_forgotten_with_all_in_it_and_nothing_beside() {
        let mut forgotten = ForgottenNetworks::default();
        forgotten.add(forget("10.1.0.0/16", 7));
        forgotten.add(forget("10.1.2.0/24", 9));
        // The time is earlier than that of the network around it.
        forgotten.add(forget("10.1.3.0/24", 6));
        let of = |network| until(&forgotten, network);
        assert_eq!(of("10.1.2.0/24"), Some(9));
        assert_eq!([of("10.1.3.0/24"), of("10.1.0.0/17"), of("10.1.0.0/16")], [Some(7); 3]);
        assert_eq!([of("10.2.2.0/24"), of("10.0.0.0/8"), of("2001:db8::/32")], [None; 3]);
        assert!(
            forgotten.has(&forget("10.1.2.0/24", 9)) && !forgotten.has(&forget("10.1.2.0/24", 10))
        );
        let kept: Vec<_> = forgotten.iter().map(|one| (one.network.to_string(), one.at)).collect();
        assert_eq!(kept, [("10.1.0.0/16".to_owned(), 7), ("10.1.2.0/24".to_owned(), 9)]);
        // A later one, and of all networks: it replaces both.
        forgotten.add(forget("0.0.0.0/0", 10));
        assert_eq!(forgotten.iter().collect::<Vec<_>>(), [forget("0.0.0.0/0", 10)]);
    }

    /// Families are apart: all of IPv4 is nothing of IPv6.
    #[test]
    fn all_of_a_family_is_not_all_of_the_other() {
        let mut forgotten = ForgottenNetworks::default();
        forgotten.add(forget("::/0", 3));
        assert_eq!(until(&forgotten, "2001:db8:1::/48"), Some(3));
        assert_eq!(until(&forgotten, "192.0.2.0/24"), None);
        assert_eq!(forgotten.iter().collect::<Vec<_>>(), [forget("::/0", 3)]);
    }

    /// Samples of before are none any more.
    #[test]
    fn what_was_forgotten_long_ago_is_not_kept() {
        let mut forgotten = ForgottenNetworks::default();
        forgotten.add(forget("10.1.2.0/24", 5));
        forgotten.add(forget("10.1.3.0/24", 5 + MAX_AGE_TICKS));
        assert_eq!(until(&forgotten, "10.1.2.0/24"), Some(5));
        forgotten.add(forget("10.1.3.0/24", 6 + MAX_AGE_TICKS));
        assert_eq!(until(&forgotten, "10.1.2.0/24"), None);
    }

    /// 2048 networks of 24 bits, 16 of which make one of 20: when the 1025th comes, those of 24
    /// bits become 65 of 20.
    #[test]
    fn too_many_are_joined_and_none_of_them_is_lost() {
        let mut forgotten = ForgottenNetworks::default();
        let network = |n: u32| format!("10.{}.{}.0/24", n / 256, n % 256);
        for n in 0..2048 {
            forgotten.add(forget(&network(n), n));
            assert!(forgotten.times.len() <= MAX_NETWORKS);
        }
        for n in 0..2048 {
            assert!(until(&forgotten, &network(n)).is_some_and(|at| at >= n), "{n}");
        }
        assert_eq!(until(&forgotten, "10.99.0.0/24"), None);
    }

    /// All of IPv4 is written as the site is. The site keeps samples of both families.
    #[test]
    fn later_samples_cost_no_search_and_the_site_is_of_no_network() {
        let mut forgotten = ForgottenNetworks::default();
        forgotten.add(forget("0.0.0.0/0", 7));
        let network = Prefix::of_any("10.1.2.0/24".parse().unwrap());
        let of = |prefix, oldest| forgotten.samples_of(prefix, Tick(oldest));
        assert_eq!(of(network, 7).and_then(|samples| samples.until()), Some(Tick(7)));
        assert!(of(network, 8).is_none());
        let site = of(Prefix::SITE, 1).unwrap();
        assert_eq!((site.until(), site.of_networks.len()), (None, 1));
        assert!(of(Prefix::of_any("2001:db8::/33".parse().unwrap()), 1).is_none());
    }

    /// 10.1.3.0/24 is a network of 17 kept ones: itself, and 16 of 28 bits. A /20 has 256 + 16 + 1.
    #[test]
    fn a_covering_prefix_forgets_by_labels() {
        let prefix = |text: &str| Prefix::of_any(text.parse().unwrap());
        let labels = prefix("10.1.3.0/24").labels();
        let count = (0..=u8::MAX).filter(|label| labels.has(*label)).count();
        assert!(labels.has(prefix("10.1.3.0/24").label()) && count <= 19, "{count}");
        assert!(labels.has(prefix("10.1.3.240/28").label()));
        assert!((0..=u8::MAX).all(|label| prefix("10.1.0.0/20").labels().has(label)));
        let mut forgotten = ForgottenNetworks::default();
        forgotten.add(forget("10.1.3.0/24", 7));
        let is_forgotten = |text: &str| forgotten.samples_of(prefix(text), Tick(1)).is_some();
        assert!(
            is_forgotten("10.1.0.0/21")
                && is_forgotten("10.1.0.0/17")
                && is_forgotten("10.1.3.0/25")
        );
        assert!(
            !is_forgotten("10.1.8.0/21")
                && !is_forgotten("10.2.0.0/17")
                && !is_forgotten("10.2.0.0/20")
        );
    }

    /// Reports of a /24 may be of any address in it.
    #[test]
    fn a_network_forgets_all_when_a_part_of_it_is_forgotten() {
        let prefix = |text: &str| Prefix::of_any(text.parse().unwrap());
        let mut forgotten = ForgottenNetworks::default();
        forgotten.add(forget("192.0.2.7/32", 7));
        for (network, until) in [
            ("192.0.2.0/24", Some(Tick(7))),
            ("192.0.0.0/20", Some(Tick(7))),
            ("192.0.2.0/28", Some(Tick(7))),
            ("192.0.2.16/28", None),
            ("192.0.3.0/24", None),
        ] {
            let samples = forgotten.samples_of(prefix(network), Tick(1));
            assert_eq!(samples.and_then(|samples| samples.until()), until, "{network}");
            let has = |measured| forgotten.has_sample(prefix(network), Tick(measured));
            assert_eq!([has(6), has(7)], [until.is_some(), false], "{network}");
        }
    }
}
