//! Keys of maps: prefixes as seen from a network namespace, and the prefixes and ports of the
//! operator's rules.

use super::field::{constant, get, of, put};
use ipnet::IpNet;
use std::net::{IpAddr, Ipv6Addr};

/// Bits of a v4-mapped address before the IPv4 address (RFC 4291 §2.5.5.2).
const V4_MAPPED: u8 = 96;

/// A destination prefix as seen from a network namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PrefixKey {
    /// Inode number of the network namespace; 0: of all, which share it.
    pub namespace: u32,
    /// The destinations that are remembered together.
    pub prefix: IpNet,
}

/// The operator's rule for a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Override {
    /// The destinations, remembered together.
    pub prefix: IpNet,
    /// Largest first window there, segments; 0: connections are left alone.
    pub cap: u32,
}

/// The port of an operator's rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PortKey {
    /// The peer's, not ours.
    pub is_remote: bool,
    /// Its number.
    pub number: u16,
}

impl PrefixKey {
    /// Bytes of a key.
    pub const SIZE: usize = of("path_key", "").1;

    /// Returns the map's form of the key.
    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        let (bits, address) = to_mapped(self.prefix);
        let mut bytes = [0; Self::SIZE];
        put!(bytes, "path_key", "netns", self.namespace.to_ne_bytes());
        put!(bytes, "path_key", "bits", u32::from(bits).to_ne_bytes());
        put!(bytes, "path_key", "address", address);
        bytes
    }

    /// Decodes a key of the map of networks or of lines; `None` if the bytes are not a key.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let namespace = u32::from_ne_bytes(get!(bytes, "path_key", "netns", 4));
        let bits = u32::from_ne_bytes(get!(bytes, "path_key", "bits", 4)) & !constant("LINE");
        let address = Ipv6Addr::from(get!(bytes, "path_key", "address", 16));
        Some(Self { namespace, prefix: from_mapped(u8::try_from(bits).ok()?, address)? })
    }

    /// Returns true if some address of `prefix` is one of the key's: a path of the key may have
    /// been learnt from that address. `None` is every address.
    pub fn overlaps(&self, prefix: Option<IpNet>) -> bool {
        prefix.is_none_or(|prefix| prefix.contains(&self.prefix) || self.prefix.contains(&prefix))
    }
}

impl Override {
    /// Bytes of a key of the longest-prefix map.
    pub const KEY_SIZE: usize = of("override_key", "").1;
    /// Bytes of a value.
    pub const VALUE_SIZE: usize = of("override", "").1;

    /// Returns key and value as the map has them.
    pub fn to_bytes(self) -> ([u8; Self::KEY_SIZE], [u8; Self::VALUE_SIZE]) {
        let (bits, address) = to_mapped(self.prefix);
        let bits = u32::from(bits).to_ne_bytes();
        let (mut key, mut value) = ([0; Self::KEY_SIZE], [0; Self::VALUE_SIZE]);
        put!(key, "override_key", "bits", bits);
        put!(key, "override_key", "address", address);
        put!(value, "override", "bits", bits);
        put!(value, "override", "cap", self.cap.to_ne_bytes());
        (key, value)
    }
}

impl PortKey {
    /// Connections of this port are hooked.
    pub const ONLY: u32 = constant("PORT_ONLY");
    /// Connections of this port are left alone, whatever applies to the other side's.
    pub const EXCEPT: u32 = constant("PORT_EXCEPT");
    const REMOTE: u32 = constant("PORT_REMOTE");

    /// Returns the key of the map; its value is [`Self::ONLY`], [`Self::EXCEPT`], or both.
    pub fn to_bytes(self) -> [u8; 4] {
        let side = if self.is_remote { Self::REMOTE } else { 0 };
        (side | u32::from(self.number)).to_ne_bytes()
    }
}

/// Converts a prefix to bits and an address of IPv6. IPv4 becomes v4-mapped IPv6, also where NAT64
/// has translated it. Bits after the prefix are 0.
fn to_mapped(prefix: IpNet) -> (u8, [u8; 16]) {
    match memory::canonical_network(prefix) {
        IpNet::V4(v4) => (V4_MAPPED + v4.prefix_len(), v4.network().to_ipv6_mapped().octets()),
        IpNet::V6(v6) => (v6.prefix_len(), v6.network().octets()),
    }
}

fn from_mapped(bits: u8, address: Ipv6Addr) -> Option<IpNet> {
    match (address.to_ipv4_mapped(), bits.checked_sub(V4_MAPPED)) {
        (Some(v4), Some(bits)) => IpNet::new(IpAddr::V4(v4), bits).ok(),
        _ => IpNet::new(IpAddr::V6(address), bits).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(prefix: &str) -> PrefixKey {
        PrefixKey { namespace: 0x0102_0304, prefix: prefix.parse().unwrap() }
    }

    #[test]
    fn an_ipv4_prefix_is_96_bits_longer_behind_ffff() {
        let bytes = key("192.0.2.0/24").to_bytes();
        assert_eq!(bytes[..4], 0x0102_0304_u32.to_ne_bytes());
        assert_eq!(bytes[4..8], 120_u32.to_ne_bytes());
        assert_eq!(bytes[8..], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 192, 0, 2, 0]);
    }

    /// 192.0.2.0 is c000:200 in hexadecimal.
    #[test]
    fn a_translated_prefix_is_the_ipv4_prefix() {
        assert_eq!(key("64:ff9b::c000:200/120").to_bytes(), key("192.0.2.0/24").to_bytes());
    }

    #[test]
    fn a_line_is_read_without_its_mark() {
        let mut bytes = key("192.0.2.7/32").to_bytes();
        bytes[4..8].copy_from_slice(&(256 + 128_u32).to_ne_bytes());
        assert_eq!(PrefixKey::from_bytes(&bytes), Some(key("192.0.2.7/32")));
    }

    #[test]
    fn keys_come_back_as_they_went() {
        for prefix in ["192.0.2.0/24", "0.0.0.0/0", "203.0.113.7/32", "2001:db8::/48", "::/0"] {
            assert_eq!(PrefixKey::from_bytes(&key(prefix).to_bytes()), Some(key(prefix)));
        }
    }

    /// A window of 192.0.2.0/24 may have been learnt from 192.0.2.7 alone.
    #[test]
    fn a_key_overlaps_what_it_covers_and_what_covers_it() {
        let overlaps = |prefix: &str| key("192.0.2.0/24").overlaps(Some(prefix.parse().unwrap()));
        assert!(key("192.0.2.0/24").overlaps(None));
        assert!(["192.0.2.7/32", "192.0.2.0/24", "192.0.0.0/16"].into_iter().all(overlaps));
        assert!(!["192.0.3.7/32", "192.0.3.0/24", "::/0"].into_iter().any(overlaps));
    }

    #[test]
    fn an_override_says_its_bits_to_the_map_and_to_the_programs() {
        let said = Override { prefix: "2001:db8::1/32".parse().unwrap(), cap: 7 };
        let (key, value) = said.to_bytes();
        assert_eq!(key[..4], 32_u32.to_ne_bytes());
        // Bits after the prefix are 0.
        assert_eq!(key[4..], [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!((&value[..4], &value[4..]), (&key[..4], &7_u32.to_ne_bytes()[..]));
    }

    #[test]
    fn a_key_that_is_too_short_is_none() {
        assert_eq!(PrefixKey::from_bytes(&[0; PrefixKey::SIZE - 1]), None);
    }
}
