//! Prefixes as messages. A prefix of IPv6 has 64 bits at most on the wire, so the address of a host
//! cannot be sent.

use crate::v1::Network;
use crate::v1::network::Address;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use std::net::{Ipv4Addr, Ipv6Addr};

/// Longest prefix of IPv6 in a message, bits.
pub const LONGEST_V6: u8 = 64;

impl Network {
    /// `net` as a message, without what lies behind the prefix; of IPv6 at most the first 64 bits.
    ///
    /// # Examples
    /// ```
    /// use gateway_proto::v1::Network;
    /// let sent = Network::of("192.0.2.77/24".parse().unwrap());
    /// assert_eq!(sent.to_net().unwrap().to_string(), "192.0.2.0/24");
    /// let sent = Network::of("2001:db8::1/128".parse().unwrap());
    /// assert_eq!(sent.to_net().unwrap().to_string(), "2001:db8::/64");
    /// ```
    pub fn of(net: IpNet) -> Self {
        match net.trunc() {
            IpNet::V4(net) => Self {
                address: Some(Address::V4(net.addr().to_bits())),
                length: net.prefix_len().into(),
            },
            IpNet::V6(net) => {
                let length = net.prefix_len().min(LONGEST_V6);
                let upper = (net.addr().to_bits() >> 64) as u64;
                Self { address: Some(Address::V6(upper)), length: length.into() }
            }
        }
    }

    /// Returns the prefix; `None` if there is no address, or it has no or too many bits.
    pub fn to_net(&self) -> Option<IpNet> {
        let length = u8::try_from(self.length).ok().filter(|length| *length > 0)?;
        match self.address? {
            Address::V4(bits) => {
                Ipv4Net::new(Ipv4Addr::from_bits(bits), length).ok().map(|net| net.trunc().into())
            }
            Address::V6(upper) if length <= LONGEST_V6 => {
                let address = Ipv6Addr::from_bits(u128::from(upper) << 64);
                Ipv6Net::new(address, length).ok().map(|net| net.trunc().into())
            }
            Address::V6(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn prefixes_without_sense_are_none() {
        let v4 = |length| Network { address: Some(Address::V4(0xC000_0200)), length };
        assert_eq!(v4(24).to_net(), Some("192.0.2.0/24".parse().unwrap()));
        assert_eq!(v4(0).to_net(), None);
        assert_eq!(v4(33).to_net(), None);
        assert_eq!(v4(256 + 24).to_net(), None);
        let v6 = |length| Network { address: Some(Address::V6(0x2001_0DB8_0001_0000)), length };
        assert_eq!(v6(48).to_net(), Some("2001:db8:1::/48".parse().unwrap()));
        assert_eq!(v6(65).to_net(), None);
        assert_eq!(Network { address: None, length: 24 }.to_net(), None);
    }

    proptest! {
        #[test]
        fn what_is_sent_comes_back(bits: u128, length in 1_u8..=64, six: bool) {
            let net = match six {
                true => IpNet::new(Ipv6Addr::from_bits(bits).into(), length),
                false => IpNet::new(Ipv4Addr::from_bits(bits as u32).into(), length.min(32)),
            };
            let net = net.unwrap().trunc();
            prop_assert_eq!(Network::of(net).to_net(), Some(net));
        }
    }
}
