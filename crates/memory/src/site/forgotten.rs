//! Networks that were forgotten by request, and when. Earlier samples are refused from then on,
//! whichever gateway or file has kept them.
//!
//! A network is kept here as long as the age of a sample can be represented. If there are too many
//! networks, the longest prefixes are shortened: then old samples of their neighbours are not taken
//! from others either.

use super::kept::{OLDEST, Tick};
use super::prefix::Prefix;
use ipnet::IpNet;
use std::collections::BTreeMap;
use units::Instant;

/// Networks at most.
const MOST: usize = 1024;
/// Number of bits by which prefixes are shortened if there are too many.
const SHORTENED: u8 = 4;

/// A network that is forgotten: all samples that were taken until then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteForget {
    /// The network, with all in it.
    pub network: IpNet,
    /// When, in steps of 2^30 ns from the origin of time, as [`super::SiteRecord::heard`].
    pub at: u32,
}

impl SiteForget {
    /// Steps of 2^30 ns for which earlier samples have to be refused, 17.9 h: older samples do not
    /// exist.
    pub const LASTS: u32 = OLDEST;

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
    /// Notes that a network was forgotten.
    pub fn add(&mut self, forget: SiteForget) {
        let (prefix, at) = (Prefix::of_any(forget.network), Tick(forget.at));
        if self.until(prefix).is_some_and(|known| known >= at) {
            return;
        }
        self.newest = self.newest.max(at);
        let newest = self.newest.0;
        let is_over = |then: Tick| newest > then.0.saturating_add(OLDEST);
        self.times
            .retain(|known, then| !is_over(*then) && (*then > at || !known.is_within(prefix)));
        self.times.insert(prefix, at);
        while self.times.len() > MOST {
            self.shorten_longest();
        }
        self.lengths = self.times.keys().fold(0, |lengths, prefix| lengths | bit_of(*prefix));
    }

    /// Whether all of this network is already noted as forgotten then, or later.
    pub fn has(&self, forget: &SiteForget) -> bool {
        self.until(Prefix::of_any(forget.network)).is_some_and(|known| known.0 >= forget.at)
    }

    /// True if nothing is noted.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Forgotten networks, in the order of prefixes.
    pub fn iter(&self) -> impl Iterator<Item = SiteForget> {
        self.times.iter().map(|(prefix, at)| SiteForget { network: prefix.network(), at: at.0 })
    }

    /// Time at which all of `prefix` was last forgotten.
    pub(super) fn until(&self, prefix: Prefix) -> Option<Tick> {
        let known = prefix.covering().filter(|covering| self.lengths & bit_of(*covering) != 0);
        known.filter_map(|covering| self.times.get(&covering).copied()).max()
    }

    /// Time for samples whose oldest is of `oldest`; `None` if all are later. Most are, and need no
    /// search.
    pub(super) fn until_after(&self, prefix: Prefix, oldest: Tick) -> Option<Tick> {
        if self.times.is_empty() || oldest > self.newest || prefix == Prefix::SITE {
            return None;
        }
        self.until(prefix).filter(|until| *until >= oldest)
    }

    /// The longest prefixes become shorter ones, with the latest time of the prefixes that they
    /// cover.
    fn shorten_longest(&mut self) {
        let longest = self.times.keys().map(|prefix| prefix.length()).max().unwrap_or(0);
        for (prefix, at) in std::mem::take(&mut self.times) {
            let kept = match prefix.length() == longest {
                true => prefix.shortened(longest.saturating_sub(SHORTENED)),
                false => prefix,
            };
            let then = self.times.entry(kept).or_default();
            *then = at.max(*then);
        }
    }
}

/// The bit of a length: 0 to 28 of IPv4, 32 to 96 of IPv6.
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
        forgotten.add(forget("10.1.3.0/24", 5 + OLDEST));
        assert_eq!(until(&forgotten, "10.1.2.0/24"), Some(5));
        forgotten.add(forget("10.1.3.0/24", 6 + OLDEST));
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
            assert!(forgotten.times.len() <= MOST);
        }
        for n in 0..2048 {
            assert!(until(&forgotten, &network(n)).is_some_and(|at| at >= n), "{n}");
        }
        assert_eq!(until(&forgotten, "10.99.0.0/24"), None);
    }

    #[test]
    fn later_samples_cost_no_search_and_the_site_is_of_no_network() {
        let mut forgotten = ForgottenNetworks::default();
        forgotten.add(forget("0.0.0.0/0", 7));
        let prefix = Prefix::of_any("10.1.2.0/24".parse().unwrap());
        let after = |prefix, oldest| forgotten.until_after(prefix, Tick(oldest));
        assert_eq!([after(prefix, 7), after(prefix, 8)], [Some(Tick(7)), None]);
        assert_eq!(after(Prefix::SITE, 1), None);
    }
}
