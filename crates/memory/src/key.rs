//! The keys under which a memory keeps destinations apart.

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IPv4 addresses behind a translator (NAT64): the well-known prefix of RFC 6052 §2.1, of 96 bits.
const TRANSLATED: Ipv6Addr = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0);
/// Bits before an IPv4 address that is written as one of IPv6.
const BEFORE_IPV4: u8 = 96;

/// Returns the IPv4 address that an IPv6 address stands for: one that is mapped (`::ffff:0:0/96`,
/// RFC 4291 §2.5.5.2), or translated (`64:ff9b::/96`, RFC 6052 §2.1). Any other address is returned
/// unchanged.
///
/// # Examples
/// ```
/// use memory::canonical_address;
/// let translated = "64:ff9b::192.0.2.7".parse().unwrap();
/// assert_eq!(canonical_address(translated).to_string(), "192.0.2.7");
/// ```
pub fn canonical_address(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) if v6.to_bits() >> 32 == TRANSLATED.to_bits() >> 32 => {
            Ipv4Addr::from_bits(v6.to_bits() as u32).into()
        }
        canonical => canonical,
    }
}

/// Returns the IPv4 network that an IPv6 network of at least 96 bits stands for, as
/// [`canonical_address`] does. Any other network is returned unchanged.
pub fn canonical_network(network: IpNet) -> IpNet {
    let IpAddr::V4(v4) = canonical_address(network.addr()) else { return network };
    let bits = match network {
        IpNet::V4(_) => Some(network.prefix_len()),
        IpNet::V6(_) => network.prefix_len().checked_sub(BEFORE_IPV4),
    };
    bits.and_then(|bits| Ipv4Net::new(v4, bits).ok()).map_or(network, IpNet::V4)
}

/// Returns true for an IPv6 network in which all translated IPv4 addresses lie: no network of
/// visitors, but the whole IPv4 Internet.
pub fn holds_translated(network: &IpNet) -> bool {
    let translated = Ipv6Net::new(TRANSLATED, BEFORE_IPV4);
    matches!((network, translated), (IpNet::V6(net), Ok(translated)) if net.contains(&translated))
}

/// Destinations to which a path's memory applies (Zhang, Qiu & Keshav 2000 §5.2.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// The one destination address.
    Host,
    /// Its line, one subscriber's access: an IPv4 address, or the /64 of an IPv6 one (RFC 6177 §2).
    Line,
    /// Its network: addresses that share their first 24 bits, or for IPv6 48, the prefix that a
    /// site usually has (RFC 6177 §2).
    #[default]
    Network,
}

/// A destination as a memory knows it: a host, or a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PathKey(IpNet);

impl PathKey {
    /// Prefix of an IPv4 network, bits.
    pub const IPV4_NETWORK: u8 = 24;
    /// Prefix of an IPv6 line, bits.
    pub const IPV6_LINE: u8 = 64;
    /// Prefix of an IPv6 network, bits.
    pub const IPV6_NETWORK: u8 = 48;

    /// Creates the destination of `remote`; an IPv4 address also if it is written as one of IPv6
    /// ([`canonical_address`]).
    ///
    /// # Examples
    /// ```
    /// use memory::{PathKey, Scope};
    /// let key = PathKey::new("192.0.2.77".parse().unwrap(), Scope::Network);
    /// assert_eq!(key.to_string(), "192.0.2.0/24");
    /// let key = PathKey::new("2001:db8:1:2::7".parse().unwrap(), Scope::Network);
    /// assert_eq!(key.to_string(), "2001:db8:1::/48");
    /// let key = PathKey::new("2001:db8:1:2::7".parse().unwrap(), Scope::Line);
    /// assert_eq!(key.to_string(), "2001:db8:1:2::/64");
    /// ```
    pub fn new(remote: IpAddr, scope: Scope) -> Self {
        let host = IpNet::from(canonical_address(remote));
        let bits = match (scope, host) {
            (Scope::Host, _) | (Scope::Line, IpNet::V4(_)) => host.prefix_len(),
            (Scope::Line, IpNet::V6(_)) => Self::IPV6_LINE,
            (Scope::Network, IpNet::V4(_)) => Self::IPV4_NETWORK,
            (Scope::Network, IpNet::V6(_)) => Self::IPV6_NETWORK,
        };
        Self(IpNet::new(host.addr(), bits).unwrap_or(host).trunc())
    }

    /// Returns the network, or the host as a network of one.
    pub const fn network(&self) -> IpNet {
        self.0
    }

    /// Returns true if an entry under this key applies to `remote`.
    pub fn contains(&self, remote: IpAddr) -> bool {
        self.0.contains(&canonical_address(remote))
    }
}

impl fmt::Display for PathKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(text: &str, scope: Scope) -> PathKey {
        PathKey::new(text.parse().unwrap(), scope)
    }

    #[test]
    fn neighbours_share_a_network_and_no_host() {
        assert_eq!(key("10.1.2.3", Scope::Network), key("10.1.2.250", Scope::Network));
        assert_ne!(key("10.1.2.3", Scope::Network), key("10.1.3.3", Scope::Network));
        assert_ne!(key("10.1.2.3", Scope::Host), key("10.1.2.4", Scope::Host));
        assert_eq!(key("2001:db8:1:2::1", Scope::Network), key("2001:db8:1:ff::9", Scope::Network));
        assert_ne!(key("2001:db8:1::1", Scope::Network), key("2001:db8:2::1", Scope::Network));
    }

    #[test]
    fn ipv4_written_as_ipv6_is_ipv4() {
        for scope in [Scope::Host, Scope::Network] {
            assert_eq!(key("::ffff:10.1.2.3", scope), key("10.1.2.3", scope));
            assert_eq!(key("64:ff9b::10.1.2.3", scope), key("10.1.2.3", scope));
            // One bit beside the well-known prefix.
            assert_ne!(key("64:ff9b::1:10.1.2.3", scope), key("10.1.2.3", scope));
        }
    }

    #[test]
    fn a_network_behind_a_translator_is_one_of_ipv4() {
        let canonical = |text: &str| canonical_network(text.parse().unwrap()).to_string();
        // 96 bits lie before the address: 120 - 96 = 24.
        assert_eq!(canonical("64:ff9b::192.0.2.0/120"), "192.0.2.0/24");
        assert_eq!(canonical("::ffff:192.0.2.0/120"), "192.0.2.0/24");
        assert_eq!(canonical("192.0.2.0/24"), "192.0.2.0/24");
        for other in ["64:ff9b::/48", "64:ff9b:1::/48", "2001:db8::/120"] {
            assert_eq!(canonical(other), other);
        }
        let holds = |text: &str| holds_translated(&text.parse().unwrap());
        assert!(holds("64:ff9b::/96") && holds("64:ff9b::/48") && holds("::/0"));
        assert!(
            !holds("64:ff9b::192.0.2.0/120") && !holds("64:ff9b:1::/48") && !holds("0.0.0.0/0")
        );
    }

    proptest! {
        #[test]
        fn an_address_belongs_to_its_key(v4: u32, v6: u128, six: bool) {
            let address = if six { IpAddr::from(v6.to_be_bytes()) } else { IpAddr::from(v4.to_be_bytes()) };
            for scope in [Scope::Host, Scope::Network] {
                prop_assert!(PathKey::new(address, scope).contains(address));
            }
        }
    }
}
