//! Addresses of the server and of this machine's end of the device.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// The server's address in a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Network {
    pub(super) address: IpAddr,
    /// Bits of the network's prefix.
    pub(super) prefix: u8,
}

/// Default addresses: from the networks for private use (RFC 1918, RFC 4193).
pub(super) const DEFAULT_V4: Network =
    Network { address: IpAddr::V4(Ipv4Addr::new(10, 77, 0, 1)), prefix: 24 };
pub(super) const DEFAULT_V6: Network =
    Network { address: IpAddr::V6(Ipv6Addr::new(0xfd00, 0x77, 0, 0, 0, 0, 0, 1)), prefix: 64 };

impl Network {
    /// This machine's end: the first host of the network that is not the server.
    pub(super) fn peer(&self) -> IpAddr {
        let first = self.first_address();
        let host = |n: u128| self.with_bits(first + n);
        if host(1) == self.address { host(2) } else { host(1) }
    }

    /// The address of the network itself.
    fn first_address(&self) -> u128 {
        let host_bits = self.width() - u32::from(self.prefix);
        self.bits() >> host_bits << host_bits
    }

    const fn width(&self) -> u32 {
        if self.address.is_ipv4() { 32 } else { 128 }
    }

    fn bits(&self) -> u128 {
        match self.address {
            IpAddr::V4(address) => address.to_bits().into(),
            IpAddr::V6(address) => address.to_bits(),
        }
    }

    fn with_bits(&self, bits: u128) -> IpAddr {
        match self.address {
            IpAddr::V4(_) => Ipv4Addr::from_bits(bits as u32).into(),
            IpAddr::V6(_) => Ipv6Addr::from_bits(bits).into(),
        }
    }
}

impl FromStr for Network {
    type Err = String;

    /// `ADDRESS/BITS`, or an address alone in a network of 24 bits, 64 for IPv6.
    fn from_str(text: &str) -> Result<Self, String> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address
            .parse()
            .map_err(|_| format!("{address:?} is no address: write one like 10.77.0.1/24"))?;
        // A network has room for two hosts beside its own address and, with IPv4, the broadcast
        // one.
        let (bits, usual) = if address.is_ipv4() { (8..=30, 24) } else { (16..=126, 64) };
        let prefix = prefix.map_or(Some(usual), |prefix| prefix.parse().ok());
        let prefix = prefix.filter(|prefix| bits.contains(prefix)).ok_or_else(|| {
            format!(
                "the network has {} to {} bits: write {address}/{usual}",
                bits.start(),
                bits.end()
            )
        })?;
        let network = Self { address, prefix };
        match network.is_a_host() {
            true => Ok(network),
            false => Err(format!("{address}/{prefix} is no address that a host can have")),
        }
    }
}

impl Network {
    fn is_a_host(&self) -> bool {
        let last =
            self.first_address() | (u128::MAX >> (128 - (self.width() - u32::from(self.prefix))));
        let reserved =
            self.bits() == self.first_address() || self.address.is_ipv4() && self.bits() == last;
        let ip = self.address;
        !(reserved || ip.is_unspecified() || ip.is_loopback() || ip.is_multicast())
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

/// The URL of a server at `address`.
pub(super) fn url(address: IpAddr, port: u16) -> String {
    let host = match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    };
    match port {
        80 => format!("http://{host}/"),
        port => format!("http://{host}:{port}/"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_takes_the_next_address_that_is_free() {
        for (server, prefix, machine) in [
            ("10.77.0.1/24", 24, "10.77.0.2"),
            ("10.77.0.9/24", 24, "10.77.0.1"),
            ("192.0.2.5/30", 30, "192.0.2.6"),
            ("192.0.2.6/30", 30, "192.0.2.5"),
            ("10.1.2.3", 24, "10.1.2.1"),
            ("fd00:77::1/64", 64, "fd00:77::2"),
            ("fd00:77::7", 64, "fd00:77::1"),
        ] {
            let network: Network = server.parse().unwrap();
            let machine: IpAddr = machine.parse().unwrap();
            assert_eq!((network.prefix, network.peer()), (prefix, machine), "{server}");
        }
    }

    #[test]
    fn what_no_host_can_have_is_refused() {
        for text in [
            "10.77.0.0/24",
            "10.77.0.255/24",
            "10.77.0.1/31",
            "10.77.0.1/x",
            "127.0.0.1/8",
            "0.0.0.0",
            "224.0.0.1/8",
            "fd00::/64",
            "fd00::1/127",
            "::1",
            "localhost",
            "",
        ] {
            assert!(text.parse::<Network>().is_err(), "{text}");
        }
    }

    #[test]
    fn urls_are_as_short_as_browsers_write_them() {
        assert_eq!(url(DEFAULT_V4.address, 80), "http://10.77.0.1/");
        assert_eq!(url(DEFAULT_V6.address, 8080), "http://[fd00:77::1]:8080/");
    }
}
