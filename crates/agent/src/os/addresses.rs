//! The addresses of this host, for gateways that see packets.

use super::log::{Level, say};
use nix::ifaddrs::getifaddrs;
use nix::sys::socket::SockaddrStorage;
use std::net::IpAddr;

/// Returns the addresses of this host's interfaces; none, with a warning, if they cannot be listed.
/// A gateway that sees packets notifies the agent of visitors to these addresses.
pub(crate) fn own_addresses() -> Vec<IpAddr> {
    let interfaces = match getifaddrs() {
        Ok(interfaces) => interfaces,
        Err(error) => {
            let what = format!(
                "cannot list the addresses of this host: {error}. A gateway with an observer notifies this agent only of visitors who \
                 come to the address from which the agent is connected (a unit's RestrictAddressFamilies needs AF_NETLINK)"
            );
            say(Level::Warning, &what);
            return Vec::new();
        }
    };
    let address = |storage: SockaddrStorage| {
        let v4 = storage.as_sockaddr_in().map(|v4| IpAddr::from(v4.ip()));
        v4.or_else(|| storage.as_sockaddr_in6().map(|v6| v6.ip().into()))
    };
    let all = interfaces.filter_map(|interface| address(interface.address?));
    all.filter(|address| !address.is_loopback() && !is_link_local(address)).collect()
}

/// Returns true for an address of the local link, from which no visitor comes.
const fn is_link_local(address: &IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_comes_from_elsewhere_to_the_loopback_device() {
        assert!(own_addresses().iter().all(|own| !own.is_loopback() && !is_link_local(own)));
        assert!(is_link_local(&"fe80::1".parse().unwrap()));
        assert!(is_link_local(&"169.254.0.1".parse().unwrap()));
        assert!(!is_link_local(&"192.0.2.1".parse().unwrap()));
    }
}
