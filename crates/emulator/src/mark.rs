//! Congestion marks (RFC 3168 §5): the ECN field of a packet in flight becomes CE.

/// Marks an ECN-capable IPv4 or IPv6 packet and updates the IPv4 checksum; other packets stay
/// unchanged. True if the packet carries the mark now.
pub fn mark_ce(packet: &mut [u8]) -> bool {
    match packet.first().map(|first| first >> 4) {
        Some(4) if packet.len() >= 20 => mark_ipv4(packet),
        Some(6) if packet.len() >= 40 => mark_ipv6(packet),
        _ => false,
    }
}

/// DSCP and ECN are the second octet; the checksum is the sixth word.
fn mark_ipv4(packet: &mut [u8]) -> bool {
    const CE: u8 = 0b11;
    if packet[1] & CE == 0 {
        return false;
    }
    let before = read_u16(packet, 0);
    packet[1] |= CE;
    let checksum = updated(read_u16(packet, 10), before, read_u16(packet, 0));
    packet[10..12].copy_from_slice(&checksum.to_be_bytes());
    true
}

/// The traffic class lies across the first two octets, its lower half in the upper half of the
/// second (RFC 8200 §3). IPv6 has no checksum over it.
const fn mark_ipv6(packet: &mut [u8]) -> bool {
    const CE: u8 = 0b0011_0000;
    if packet[1] & CE == 0 {
        return false;
    }
    packet[1] |= CE;
    true
}

fn read_u16(packet: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([packet[at], packet[at + 1]])
}

/// The checksum after one word has changed, whether it was right or not: HC' = ~(~HC + ~m + m')
/// (RFC 1624 §3). A complete recomputation would hide that a packet was damaged before.
const fn updated(checksum: u16, before: u16, after: u16) -> u16 {
    let sum = !checksum as u32 + !before as u32 + after as u32;
    let sum = (sum & 0xffff) + (sum >> 16);
    !(((sum & 0xffff) + (sum >> 16)) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 1624 §4: checksum DD2F, a word that changes from 5555 to 3285,
    /// gives 0000.
    #[test]
    fn a_checksum_is_updated_as_the_rfc_does() {
        assert_eq!(updated(0xdd2f, 0x5555, 0x3285), 0x0000);
    }
}
