//! Networks of visitors, as they leave a host.

use ipnet::IpNet;
use memory::canonical_network;
use std::net::IpAddr;

/// Maximum number of bits of an address that leave a host, of IPv4 and of IPv6.
const V4_BITS: u8 = 24;
const V6_BITS: u8 = 48;

/// Returns the network of an address, as it leaves this host.
pub fn network_of(address: IpAddr) -> IpNet {
    leaving(address.into())
}

/// Returns an address of a server as in messages: 4 or 16 bytes.
pub fn bytes_of(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => v6.octets().to_vec(),
    }
}

/// Returns a network as it leaves this host: cut to 24 bits of IPv4 and to 48 bits of IPv6. An IPv4
/// network written as IPv6 counts as IPv4.
pub fn leaving(network: IpNet) -> IpNet {
    let network = canonical_network(network);
    let bits = if network.addr().is_ipv4() { V4_BITS } else { V6_BITS };
    let bits = bits.min(network.prefix_len());
    IpNet::new(network.addr(), bits).map_or(network, |cut| cut.trunc())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_of_a_network_leaves_than_a_prefix() {
        for (said, leaves) in [
            ("192.0.2.7/32", "192.0.2.0/24"),
            ("192.0.2.128/25", "192.0.2.0/24"),
            ("198.51.0.0/16", "198.51.0.0/16"),
            ("2001:db8:1:2::3/128", "2001:db8:1::/48"),
            ("2001:db8:1:2::/64", "2001:db8:1::/48"),
            ("2001:db8::/32", "2001:db8::/32"),
            // 96 bits say that an address of IPv4 follows: 96 + 32 and 96 + 16.
            ("::ffff:192.0.2.7/128", "192.0.2.0/24"),
            ("64:ff9b::192.0.2.7/128", "192.0.2.0/24"),
            ("::ffff:198.51.0.0/112", "198.51.0.0/16"),
        ] {
            assert_eq!(leaving(said.parse().unwrap()).to_string(), leaves, "{said}");
        }
    }
}
