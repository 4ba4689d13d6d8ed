//! Addresses in packets: replaced where they stand, with their checksums.

use super::Anonymizer;
use crate::decode::tcp_offset;
use std::net::IpAddr;
use std::ops::Range;

/// Where checksums are in the headers of IPv4 (RFC 791 §3.1) and TCP (RFC 9293 §3.1).
const IPV4_CHECKSUM: usize = 10;
const TCP_CHECKSUM: usize = 16;

impl Anonymizer {
    /// Replaces both addresses of a packet that begins with its IP header, `length` bytes on the wire, and carries TCP.
    /// Checksums that were right stay right, as far as they are there. What is no such packet stays.
    pub fn packet(&mut self, packet: &mut [u8], length: u32) {
        let Some(tcp) = tcp_offset(packet, length) else { return };
        let (addresses, is_v4) = match packet[0] >> 4 {
            4 => ([12..16, 16..20], true),
            _ => ([8..24, 24..40], false),
        };
        for place in addresses {
            let before = packet[place.clone()].to_vec();
            self.replace(&mut packet[place.clone()]);
            let change = change(&before, &packet[place]);
            if is_v4 {
                add(packet, IPV4_CHECKSUM, change);
            }
            add(packet, tcp + TCP_CHECKSUM, change);
        }
    }

    fn replace(&mut self, bytes: &mut [u8]) {
        let address = match (<[u8; 4]>::try_from(&*bytes), <[u8; 16]>::try_from(&*bytes)) {
            (Ok(v4), _) => IpAddr::from(v4),
            (_, Ok(v6)) => IpAddr::from(v6),
            _ => return,
        };
        match self.address(address) {
            IpAddr::V4(instead) => bytes.copy_from_slice(&instead.octets()),
            IpAddr::V6(instead) => bytes.copy_from_slice(&instead.octets()),
        }
    }
}

/// What is to be added to a checksum in the ones' complement: words that were, less words that are (RFC 1624 §3).
fn change(before: &[u8], after: &[u8]) -> u32 {
    let words = |bytes: &[u8]| -> Vec<u32> {
        let (pairs, _) = bytes.as_chunks::<2>();
        pairs.iter().map(|pair| u32::from(u16::from_be_bytes(*pair))).collect()
    };
    let was: u32 = words(before).iter().sum();
    let is: u32 = words(after).iter().map(|word| 0xffff - word).sum();
    was + is
}

fn add(packet: &mut [u8], at: usize, change: u32) {
    let place: Range<usize> = at..at + 2;
    let Some([high, low]) = packet.get(place.clone()) else { return };
    let mut sum = u32::from(u16::from_be_bytes([*high, *low])) + change;
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    packet[place].copy_from_slice(&(sum as u16).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::SocketAddr;
    use tcp::{Flags, Segment};
    use wire::{Marking, Packet, TcpPacket, parse, write};

    fn ends() -> impl Strategy<Value = (SocketAddr, SocketAddr)> {
        // What crate `wire` takes from hosts: no groups, and not nobody.
        let v4 = [1..224_u32 << 24, 1..224_u32 << 24]
            .prop_map(|ends| ends.map(|end| IpAddr::V4(end.into())));
        let v6 = [1..0xfe_u128 << 120, 1..0xfe_u128 << 120]
            .prop_map(|ends| ends.map(|end| IpAddr::V6(end.into())));
        prop_oneof![v4, v6].prop_map(|[a, b]| (SocketAddr::new(a, 80), SocketAddr::new(b, 50_000)))
    }

    proptest! {
        /// A packet whose checksums are right is read with the addresses that stand for its own; all else is as it
        /// was. Crate `wire` checks both checksums.
        #[test]
        fn checksums_stay_right((source, destination) in ends(), payload in prop::collection::vec(any::<u8>(), 0..9), key: [u8; 16]) {
            let mut anonymizer = Anonymizer::new(key);
            let expected = [source, destination].map(|end| SocketAddr::new(anonymizer.address(end.ip()), end.port()));
            prop_assume!(expected.iter().all(|end| !end.ip().is_multicast() && !end.ip().is_unspecified()));
            prop_assume!(expected.iter().all(|end| !matches!(end.ip(), IpAddr::V4(v4) if v4.is_broadcast())));
            let segment = Segment { len: payload.len() as u32, flags: Flags::ACK, ..Segment::default() };
            let packet = TcpPacket::new(source, destination, segment, &Marking::default());
            let mut bytes = vec![];
            write(&packet, &payload, &mut bytes).unwrap();
            let length = bytes.len() as u32;
            anonymizer.packet(&mut bytes, length);
            let [source, destination] = expected;
            let instead = TcpPacket { source, destination, ..packet };
            prop_assert_eq!(parse(&bytes), Ok(Packet::Tcp(instead, &payload[..])));
        }

        /// Whatever the bytes are, as many stay, and what is no packet stays as it is.
        #[test]
        fn any_bytes_are_survived(mut bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let before = bytes.clone();
            Anonymizer::new([0; 16]).packet(&mut bytes, 1_000);
            prop_assert_eq!(bytes.len(), before.len());
            prop_assert!(tcp_offset(&before, 1_000).is_some() || bytes == before);
        }
    }
}
