//! The prefixes that a site's memory keeps, and their covering prefixes.
//!
//! Reports are kept at lengths of 16, 20, 24 and 28 bits of IPv4, and 32, 40, 48, 56 and 64 of
//! IPv6. Above each length that covers others lie its two *halves*, one bit longer: if they agree,
//! they answer together for the covering prefix, and if not, each for itself.

use crate::{canonical_address, canonical_network, holds_translated};
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use siphasher::sip::SipHasher13;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A prefix in nine bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Prefix {
    /// The first 64 bits of the address; of IPv4 the upper half is used.
    pub(super) bits: u64,
    /// Length in bits, and in the highest bit the family.
    pub(super) tag: u8,
}

/// A set of [labels](Prefix::label).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LabelSet([u64; 4]);

impl LabelSet {
    const ALL: Self = Self([u64::MAX; 4]);

    fn add(&mut self, label: u8) {
        self.0[usize::from(label >> 6)] |= 1 << (label & 63);
    }

    /// Returns true if the set has the label.
    pub(super) const fn has(&self, label: u8) -> bool {
        self.0[(label >> 6) as usize] & 1 << (label & 63) != 0
    }
}

/// Bits by which a kept length may exceed that of a prefix whose labels are computed one by one.
/// Chosen, not measured.
const MAX_FREE: u8 = 4;
const IPV6: u8 = 0x80;
const LEAVES_4: [u8; 4] = [28, 24, 20, 16];
const LEAVES_6: [u8; 5] = [64, 56, 48, 40, 32];
const HALVES_4: [u8; 3] = [25, 21, 17];
const HALVES_6: [u8; 4] = [57, 49, 41, 33];

impl Prefix {
    /// The prefix of all networks of a site, of both families.
    pub(super) const SITE: Self = Self { bits: 0, tag: 0 };

    fn new(bits: u64, length: u8, family: u8) -> Self {
        let mask = if length == 0 { 0 } else { u64::MAX << (64 - u32::from(length)) };
        Self { bits: bits & mask, tag: length | family }
    }

    /// Returns the prefix under which reports of `network` are kept: cut to the next shorter length
    /// that is kept, at most that of [`LEAVES_4`] or [`LEAVES_6`]. `None` if it is shorter than the
    /// shortest.
    pub(super) fn of_report(network: IpNet) -> Option<Self> {
        if holds_translated(&network) {
            return None;
        }
        let network = canonical_network(network);
        let (bits, family) = bits_of_network(network);
        let kept = leaves(family).iter().find(|kept| **kept <= network.prefix_len())?;
        Some(Self::new(bits, *kept, family))
    }

    /// Returns the prefixes that an address may be kept under, longest first.
    pub(super) fn of_address(address: IpAddr) -> impl Iterator<Item = Self> {
        let (bits, family) = bits_of_network(canonical_address(address).into());
        leaves(family).iter().map(move |length| Self::new(bits, *length, family))
    }

    /// Returns those halves of covering prefixes that this prefix lies in, longest first.
    pub(super) fn halves(self) -> impl Iterator<Item = Self> {
        let family = self.tag & IPV6;
        let halves: &[u8] = if family == 0 { &HALVES_4 } else { &HALVES_6 };
        let shorter = halves.iter().filter(move |length| **length < self.length());
        shorter.map(move |length| Self::new(self.bits, *length, family))
    }

    /// Returns the other half of the covering prefix.
    pub(super) fn other_half(self) -> Self {
        Self { bits: self.bits ^ (1 << (64 - u32::from(self.length()))), ..self }
    }

    /// Returns the prefix that both halves make up.
    pub(super) fn join_halves(self) -> Self {
        Self::new(self.bits, self.length().saturating_sub(1), self.tag & IPV6)
    }

    /// Returns the prefix in eight bits.
    pub(super) const fn label(self) -> u8 {
        // The golden ratio times 2^64 spreads neighbours evenly.
        (self.bits.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8 ^ self.tag
    }

    /// Returns the prefix as a number, spread by a keyed hash: without the seed a visitor cannot
    /// choose prefixes that collide in a table.
    pub(super) fn spread(self, seed: u64) -> u64 {
        // In one piece: a hasher that is fed part by part keeps account of the parts.
        let mut bytes = [self.tag; 9];
        bytes[..8].copy_from_slice(&self.bits.to_le_bytes());
        SipHasher13::new_with_keys(seed, 0).hash(&bytes)
    }

    /// Returns true for a prefix of IPv4.
    pub(super) const fn is_v4(self) -> bool {
        self.tag & IPV6 == 0
    }

    /// Returns the number of bits.
    pub(super) const fn length(self) -> u8 {
        self.tag & !IPV6
    }

    /// Returns the labels of all networks under which reports of an address in `self` may be kept:
    /// those within it, and those that contain it. If there are many, the set has all labels:
    /// samples of others then count as theirs, too.
    pub(super) fn labels(self) -> LabelSet {
        let family = self.tag & IPV6;
        let mut labels = LabelSet::default();
        for length in leaves(family).iter().filter(|length| **length < self.length()) {
            labels.add(self.shorten_to(*length).label());
        }
        for length in leaves(family).iter().filter(|length| **length >= self.length()) {
            let free = length - self.length();
            if free > MAX_FREE {
                return LabelSet::ALL;
            }
            for n in 0..1_u64 << free {
                let bits = self.bits | n << (64 - u32::from(*length));
                labels.add(Self { bits, tag: length | family }.label());
            }
        }
        labels
    }

    /// Returns the least and the greatest value of prefixes that `self` may cover.
    pub(super) fn range(self) -> (Self, Self) {
        let rest = if self.length() == 0 { u64::MAX } else { !(u64::MAX << (64 - self.length())) };
        (Self { bits: self.bits, tag: 0 }, Self { bits: self.bits | rest, tag: u8::MAX })
    }

    /// Returns true if `self` may keep samples of networks within `network`.
    pub(super) fn covers(self, network: Self) -> bool {
        self == Self::SITE || network.is_within(self)
    }

    /// Returns the prefix cut to this number of bits.
    pub(super) fn shorten_to(self, length: u8) -> Self {
        Self::new(self.bits, length.min(self.length()), self.tag & IPV6)
    }

    /// Returns the prefix itself and all that cover it, of whatever length, longest first.
    pub(super) fn covering_prefixes(self) -> impl Iterator<Item = Self> {
        (0..=self.length()).rev().map(move |length| self.shorten_to(length))
    }

    /// Returns true if reports are kept under it, false of halves and of the site.
    pub(super) fn is_network(self) -> bool {
        leaves(self.tag & IPV6).contains(&self.length())
    }

    /// Returns true if every address of `self` is one of `other`.
    pub(super) fn is_within(self, other: Self) -> bool {
        let family = self.tag & IPV6;
        family == other.tag & IPV6
            && self.length() >= other.length()
            && Self::new(self.bits, other.length(), family) == other
    }

    /// Returns the prefix in the form of other crates. The site is `0.0.0.0/0`.
    pub(super) fn network(self) -> IpNet {
        let length = self.length();
        if self.tag & IPV6 == 0 {
            let address = Ipv4Addr::from_bits((self.bits >> 32) as u32);
            Ipv4Net::new(address, length).unwrap_or_default().into()
        } else {
            let address = Ipv6Addr::from_bits(u128::from(self.bits) << 64);
            Ipv6Net::new(address, length).unwrap_or_default().into()
        }
    }

    /// Returns the prefix of a network that [`Self::network`] has returned. Returns `None` if no
    /// prefix of this length is kept.
    pub(super) fn of_record(network: IpNet) -> Option<Self> {
        let (bits, family) = bits_of_network(network);
        let prefix = Self { bits, tag: network.prefix_len().min(0x7f) | family };
        let halves: &[u8] = if family == 0 { &HALVES_4 } else { &HALVES_6 };
        let kept = prefix.is_network() || halves.contains(&prefix.length());
        (kept || prefix == Self::SITE).then_some(prefix)
    }

    /// Returns the prefix of a network to forget, of any length up to the longest that is kept.
    pub(super) fn of_any(network: IpNet) -> Self {
        let network = canonical_network(network);
        let (bits, family) = bits_of_network(network);
        Self::new(bits, network.prefix_len().min(leaves(family)[0]), family)
    }
}

fn leaves(family: u8) -> &'static [u8] {
    if family == 0 { &LEAVES_4 } else { &LEAVES_6 }
}

/// Returns the upper bits of a network and its family.
fn bits_of_network(network: IpNet) -> (u64, u8) {
    match network.network() {
        IpAddr::V4(v4) => (u64::from(v4.to_bits()) << 32, 0),
        IpAddr::V6(v6) => ((v6.to_bits() >> 64) as u64, IPV6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kept(text: &str) -> Option<String> {
        Prefix::of_report(text.parse().unwrap()).map(|prefix| prefix.network().to_string())
    }

    #[test]
    fn reports_are_kept_at_fixed_lengths() {
        assert_eq!(kept("192.0.2.0/24").as_deref(), Some("192.0.2.0/24"));
        assert_eq!(kept("192.0.2.64/27").as_deref(), Some("192.0.2.0/24"));
        // An address is never kept: 28 bits at most.
        assert_eq!(kept("192.0.2.77/32").as_deref(), Some("192.0.2.64/28"));
        assert_eq!(kept("2001:db8:1:2:3::/80").as_deref(), Some("2001:db8:1:2::/64"));
        assert_eq!(kept("::ffff:192.0.2.0/120").as_deref(), Some("192.0.2.0/24"));
        assert_eq!(kept("64:ff9b::192.0.2.0/120").as_deref(), Some("192.0.2.0/24"));
        // All of IPv4 behind a translator is no network either.
        assert_eq!(kept("64:ff9b::/64"), None);
        // Half of the Internet is no network.
        assert_eq!(kept("128.0.0.0/1"), None);
    }

    #[test]
    fn halves_cover_what_is_shorter() {
        let leaf = Prefix::of_report("10.1.25.0/24".parse().unwrap()).unwrap();
        let halves: Vec<_> = leaf.halves().map(|half| half.network().to_string()).collect();
        // 25 = 0b11001: the half of /20 at 24, the half of /16 at 0.
        assert_eq!(halves, ["10.1.24.0/21", "10.1.0.0/17"]);
        let half = leaf.halves().next().unwrap();
        assert_eq!(half.other_half().network().to_string(), "10.1.16.0/21");
        assert_eq!(half.join_halves().network().to_string(), "10.1.16.0/20");
    }

    proptest! {
        #[test]
        fn a_prefix_is_read_back_and_covers_its_own(v4: u32, v6: u128, six: bool) {
            let address = if six { IpAddr::from(v6.to_be_bytes()) } else { IpAddr::from(v4.to_be_bytes()) };
            for prefix in Prefix::of_address(address) {
                prop_assert_eq!(Prefix::of_record(prefix.network()), Some(prefix));
                prop_assert!(prefix.network().contains(&canonical_address(address)));
                for half in prefix.halves() {
                    prop_assert_eq!(Prefix::of_record(half.network()), Some(half));
                    prop_assert!(prefix.is_within(half) && prefix.is_within(half.join_halves()));
                    prop_assert!(!prefix.is_within(half.other_half()));
                }
            }
        }
    }
}
