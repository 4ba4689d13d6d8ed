//! Counters that reports of a prefix increase: they show whether a network has a new report since
//! an answer. Prefixes share counters, so a counter may move for another's report, and never stands
//! still for the own one.

use super::prefix::Prefix;
use std::net::IpAddr;

/// Counters at least, and at most: a megabyte. Chosen, not measured.
const COUNTERS: (usize, usize) = (1 << 10, 1 << 18);

/// The counters of a site's memory.
#[derive(Debug)]
pub(super) struct Revisions {
    counters: Box<[u32]>,
    /// Key of the hash. Visitors choose their addresses, and must not know which of them share a
    /// counter.
    seed: u64,
    /// Counter of changes for all networks at once.
    all: u32,
}

impl Revisions {
    /// Creates counters for this number of networks.
    pub(super) fn new(networks: usize, seed: u64) -> Self {
        let count = networks.clamp(COUNTERS.0, COUNTERS.1).next_power_of_two();
        Self { counters: vec![0; count].into(), seed, all: 0 }
    }

    /// Counts a report of the network with this [spread](Prefix::spread) by the seed of
    /// [`Self::new`].
    pub(super) fn note(&mut self, spread: u64) {
        let place = self.place(spread);
        self.counters[place] = self.counters[place].wrapping_add(1);
    }

    /// Notes that the answer may have changed for any network.
    pub(super) fn note_all(&mut self) {
        self.all = self.all.wrapping_add(1);
    }

    /// Returns a number that changes if there was a report of a network in which `address` lies. It
    /// is the sum of counters that only grow, so they would have to grow by 2^32 together to look
    /// the same.
    pub(super) fn of(&self, address: IpAddr) -> u32 {
        let counters = Prefix::of_address(address)
            .map(|prefix| self.counters[self.place(prefix.spread(self.seed))]);
        counters.fold(self.all, u32::wrapping_add)
    }

    fn place(&self, spread: u64) -> usize {
        (spread as usize) & (self.counters.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(text: &str) -> Prefix {
        Prefix::of_report(text.parse().unwrap()).unwrap()
    }

    #[test]
    fn a_report_of_any_length_that_holds_the_address_is_noted() {
        let asked: [(IpAddr, &[&str]); 2] = [
            (
                "192.0.2.9".parse().unwrap(),
                &["192.0.2.0/28", "192.0.2.0/24", "192.0.0.0/20", "192.0.0.0/16"],
            ),
            ("2001:db8::1".parse().unwrap(), &["2001:db8::/64", "2001:db8::/32"]),
        ];
        for (address, networks) in asked {
            let mut revisions = Revisions::new(1, 7);
            let mut before = revisions.of(address);
            for network in networks {
                revisions.note(prefix(network).spread(7));
                assert_ne!(revisions.of(address), before, "{network}");
                before = revisions.of(address);
            }
            revisions.note_all();
            assert_ne!(revisions.of(address), before);
        }
    }

    /// An address has four of 1,024 counters. They collide with one of 64 other networks' with 64 *
    /// 4 / 1,024, a quarter on average.
    #[test]
    fn others_seldom_count() {
        let mut revisions = Revisions::new(1, 7);
        let address = "192.0.2.9".parse().unwrap();
        let before = revisions.of(address);
        (0..64).for_each(|n| revisions.note(prefix(&format!("10.{n}.1.0/24")).spread(7)));
        assert!(revisions.of(address).wrapping_sub(before) <= 4);
    }

    /// 256 prefixes of 16 bits in 1,024 counters by chance: 1,024 * (1 - (1 - 1/1,024)^256) = 227
    /// different ones, with a deviation of five. Another seed moves all but a few of them.
    #[test]
    fn prefixes_are_spread_by_the_seed() {
        let places = |seed| {
            let revisions = Revisions::new(1, seed);
            let place = |n| revisions.place(prefix(&format!("10.{n}.0.0/16")).spread(seed));
            (0..256).map(place).collect::<Vec<_>>()
        };
        let (mut some, others) = (places(7), places(8));
        let same = some.iter().zip(&others).filter(|(a, b)| a == b).count();
        assert!(same <= 5, "{same}");
        some.sort_unstable();
        some.dedup();
        assert!((202..=252).contains(&some.len()), "{}", some.len());
    }
}
