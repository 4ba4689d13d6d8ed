//! What destinations a memory keeps apart.

use ipnet::IpNet;
use std::fmt;
use std::net::IpAddr;

/// How widely what one path learns holds (Zhang, Qiu & Keshav 2000 §5.2.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// For the one destination address.
    Host,
    /// For its line, one subscriber's access: an IPv4 address, or the /64 of an IPv6 one (RFC 6177 §2).
    Line,
    /// For its network: addresses that share their first 24 bits, or for IPv6 48, the prefix that
    /// a site usually has (RFC 6177 §2).
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

    /// The destination that `remote` belongs to. An IPv4 address written as one of IPv6 is the IPv4
    /// address (RFC 4291 §2.5.5.2).
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
        let host = IpNet::from(remote.to_canonical());
        let bits = match (scope, host) {
            (Scope::Host, _) | (Scope::Line, IpNet::V4(_)) => host.prefix_len(),
            (Scope::Line, IpNet::V6(_)) => Self::IPV6_LINE,
            (Scope::Network, IpNet::V4(_)) => Self::IPV4_NETWORK,
            (Scope::Network, IpNet::V6(_)) => Self::IPV6_NETWORK,
        };
        Self(IpNet::new(host.addr(), bits).unwrap_or(host).trunc())
    }

    /// The network, or the host as a network of one.
    pub const fn network(&self) -> IpNet {
        self.0
    }

    /// True if what is kept under this key holds for `remote`.
    pub fn contains(&self, remote: IpAddr) -> bool {
        self.0.contains(&remote.to_canonical())
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
        }
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
