//! Replaces addresses in packets, and corrects their checksums.

use super::Anonymizer;
use crate::decode::tcp_offset;
use std::net::IpAddr;
use std::ops::Range;

/// Size of an IPv4 header without options, bytes (RFC 791 §3.1).
const IPV4_HEADER: usize = 20;
/// An IPv4 option that does nothing.
const NO_OPERATION: u8 = 1;
/// Offsets of checksums in the headers of IPv4 (RFC 791 §3.1) and TCP (RFC 9293 §3.1).
const IPV4_CHECKSUM: usize = 10;
const TCP_CHECKSUM: usize = 16;

impl Anonymizer {
    /// Replaces both addresses of a packet that begins with its IP header, `length` bytes on the
    /// wire. Correct checksums stay correct: IPv4's, and TCP's if the packet has a TCP header that
    /// can be found.
    ///
    /// An unreadable packet keeps no address either. An address that is cut becomes zero. Options
    /// of IPv4, which may hold addresses of routers, become no-operations. A packet of another
    /// version becomes zero from its first byte to its last.
    pub fn packet(&mut self, packet: &mut [u8], length: u32) {
        let tcp = tcp_offset(packet, length).map(|tcp| tcp + TCP_CHECKSUM);
        match packet.first().map_or(0, |first| first >> 4) {
            4 => {
                blank_options(packet);
                self.replace_addresses(packet, [12..16, 16..20], &[Some(IPV4_CHECKSUM), tcp]);
            }
            6 => self.replace_addresses(packet, [8..24, 24..40], &[tcp]),
            _ => packet.fill(0),
        }
    }

    /// Replaces both addresses, and corrects the checksums at `checksums`.
    fn replace_addresses(
        &mut self,
        packet: &mut [u8],
        addresses: [Range<usize>; 2],
        checksums: &[Option<usize>],
    ) {
        for place in addresses {
            let Some(address) = packet.get_mut(place.clone()) else {
                let cut = place.start.min(packet.len());
                packet[cut..].fill(0);
                return;
            };
            let before = address.to_vec();
            self.replace(address);
            let change = checksum_change(&before, address);
            checksums.iter().flatten().for_each(|at| add(packet, *at, change));
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

/// Replaces the options of an IPv4 header by no-operations.
fn blank_options(packet: &mut [u8]) {
    let end = packet.len().min(usize::from(packet[0] & 15) * 4);
    let Some(options) = packet.get_mut(IPV4_HEADER..end) else { return };
    let before = options.to_vec();
    options.fill(NO_OPERATION);
    let change = checksum_change(&before, options);
    add(packet, IPV4_CHECKSUM, change);
}

/// Returns the change of a checksum in ones' complement: the old words minus the new words (RFC
/// 1624 §3).
fn checksum_change(before: &[u8], after: &[u8]) -> u32 {
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
        // Crate `wire` accepts these addresses of hosts: neither multicast nor unspecified.
        let v4 = [1..224_u32 << 24, 1..224_u32 << 24]
            .prop_map(|ends| ends.map(|end| IpAddr::V4(end.into())));
        let v6 = [1..0xfe_u128 << 120, 1..0xfe_u128 << 120]
            .prop_map(|ends| ends.map(|end| IpAddr::V6(end.into())));
        prop_oneof![v4, v6].prop_map(|[a, b]| (SocketAddr::new(a, 80), SocketAddr::new(b, 50_000)))
    }

    proptest! {
        /// A packet with correct checksums is read with the replaced addresses, and is otherwise
        /// unchanged. Crate `wire` checks both checksums.
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

        /// Any bytes keep their number.
        #[test]
        fn any_bytes_are_survived(mut bytes in prop::collection::vec(any::<u8>(), 0..80), length in 0..2_000_u32) {
            let before = bytes.len();
            Anonymizer::new([0; 16]).packet(&mut bytes, length);
            prop_assert_eq!(bytes.len(), before);
        }

        /// No address of a header is anywhere afterwards, even if the packet is malformed, cut or
        /// longer than its header says. All other bytes are below 10, those of addresses are not.
        /// One address becomes another, or a part of two others, once in four thousand million
        /// times.
        #[test]
        fn no_address_survives(
            (first, rest) in (any::<u8>(), prop::collection::vec(0..10_u8, 0..160)),
            address in prop::array::uniform4(10..=255_u8),
            length in 0..2_000_u32,
            key: [u8; 16],
        ) {
            let mut bytes = [vec![first], rest].concat();
            let end = match first >> 4 {
                4 => 12..20_usize.max(usize::from(first & 15) * 4),
                6 => 8..40,
                _ => 0..bytes.len(),
            };
            // A multiple of the address is at each possible position of an address.
            let within = end.start.min(bytes.len())..end.end.min(bytes.len());
            bytes[within].iter_mut().zip(address.iter().cycle()).for_each(|(byte, of)| *byte = *of);
            if first >> 4 != 4 && first >> 4 != 6 {
                bytes.iter_mut().take(1).for_each(|byte| *byte = first);
            }
            Anonymizer::new(key).packet(&mut bytes, length);
            prop_assert!(bytes.windows(4).all(|bytes| bytes != address), "{bytes:?}");
        }
    }

    /// Super-segments of IPv6 have a hop-by-hop header. If that header of 72 bytes does not fit a
    /// record of 108 bytes, the TCP header cannot be found; the addresses are at their usual
    /// position.
    #[test]
    fn addresses_are_replaced_where_tcp_cannot_be_found() {
        let mut packet = vec![0; 108];
        (packet[0], packet[6]) = (0x60, 0);
        packet[8..24].fill(0x20);
        packet[24..40].fill(0x30);
        (packet[40], packet[41]) = (6, 8);
        assert_eq!(tcp_offset(&packet, 70_000), None);
        let mut anonymizer = Anonymizer::new([3; 16]);
        let mut expected = packet.clone();
        for place in [8..24, 24..40] {
            let whole: [u8; 16] = packet[place.clone()].try_into().unwrap();
            let IpAddr::V6(instead) = anonymizer.address(IpAddr::from(whole)) else { panic!() };
            expected[place].copy_from_slice(&instead.octets());
        }
        anonymizer.packet(&mut packet, 70_000);
        assert_eq!(packet, expected);
    }

    /// In a record that ends within an address, all bytes from the beginning of that address are
    /// zero.
    #[test]
    fn an_address_that_is_cut_becomes_zero() {
        for (first, cut, zeros) in [(0x45, 19, 16), (0x45, 14, 12), (0x60, 39, 24), (0x60, 9, 8)] {
            let mut packet = vec![7; cut];
            packet[0] = first;
            Anonymizer::new([3; 16]).packet(&mut packet, 1_000);
            assert!(packet[zeros..].iter().all(|byte| *byte == 0), "{first:#x} {packet:?}");
        }
    }

    /// A source route (RFC 791 §3.1) names a router; its option becomes no-operations, and the
    /// header's checksum stays correct.
    #[test]
    fn options_of_ipv4_tell_nothing() {
        let mut packet = vec![0; 48];
        (packet[0], packet[9]) = (0x47, 6);
        packet[12..20].copy_from_slice(&[192, 0, 2, 1, 198, 51, 100, 1]);
        packet[20..28].copy_from_slice(&[131, 7, 4, 203, 0, 113, 9, 0]);
        let sum = |packet: &[u8]| {
            let words = packet[..28].as_chunks::<2>().0.iter();
            let sum: u32 = words.map(|word| u32::from(u16::from_be_bytes(*word))).sum();
            (sum & 0xffff) + (sum >> 16)
        };
        let right = 0xffff - sum(&packet) as u16;
        packet[10..12].copy_from_slice(&right.to_be_bytes());
        Anonymizer::new([3; 16]).packet(&mut packet, 48);
        assert_eq!(packet[20..28], [1; 8]);
        assert_eq!(sum(&packet), 0xffff);
    }
}
