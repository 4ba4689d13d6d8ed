//! The Internet checksum with the pseudo-headers of both families (RFC 1071; RFC 9293 §3.1;
//! RFC 8200 §8.1).

use etherparse::checksum::Sum16BitWords;
use std::net::IpAddr;

/// The sum of a pseudo-header.
pub(crate) fn pseudo_header(from: IpAddr, to: IpAddr, protocol: u8, len: u32) -> Sum16BitWords {
    let mut sum = Sum16BitWords::new();
    for address in [from, to] {
        sum = match address {
            IpAddr::V4(address) => sum.add_4bytes(address.octets()),
            IpAddr::V6(address) => sum.add_16bytes(address.octets()),
        };
    }
    sum.add_2bytes([0, protocol]).add_4bytes(len.to_be_bytes())
}

/// True if bytes that hold their own checksum add up.
pub(crate) fn adds_up(sum: Sum16BitWords, bytes: &[u8]) -> bool {
    sum.add_slice(bytes).ones_complement() == 0
}
