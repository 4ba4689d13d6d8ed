//! Packets to send through pipes.

use etherparse::{IpFragOffset, Ipv4Header, PacketBuilder};

/// Fields of a test packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made {
    pub(crate) v6: bool,
    pub(crate) port: u16,
    /// DSCP and ECN.
    pub(crate) traffic_class: u8,
    pub(crate) payload: usize,
    /// Distinguishes it from others.
    pub(crate) serial: u32,
}

impl Made {
    /// IPv4, best effort, no ECN.
    pub(crate) const fn plain(payload: usize) -> Self {
        Self { v6: false, port: 5000, traffic_class: 0, payload, serial: 0 }
    }

    /// A TCP segment with ACK; its serial is the sequence number.
    pub(crate) fn tcp(self) -> Vec<u8> {
        let payload = vec![0; self.payload];
        let mut packet = Vec::new();
        let builder = match self.v6 {
            false => PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64),
            true => PacketBuilder::ipv6([1; 16], [2; 16], 64),
        };
        let tcp = builder.tcp(self.port, 80, self.serial, 1000).ack(1);
        tcp.write(&mut packet, &payload).unwrap();
        set_traffic_class(&mut packet, self.traffic_class);
        packet
    }
}

/// Writes DSCP and ECN where RFC 791 and RFC 8200 have them.
pub(crate) fn set_traffic_class(packet: &mut [u8], class: u8) {
    if packet[0] >> 4 == 6 {
        packet[0] = 0x60 | class >> 4;
        packet[1] = class << 4 | packet[1] & 0x0f;
        return;
    }
    packet[1] = class;
    let header = Ipv4Header::from_slice(packet).unwrap().0;
    assert_eq!(header.fragment_offset, IpFragOffset::ZERO);
    packet[10..12].copy_from_slice(&header.calc_header_checksum().to_be_bytes());
}

/// True if the checksum of the IPv4 header is right.
pub(crate) fn adds_up(packet: &[u8]) -> bool {
    let header = Ipv4Header::from_slice(packet).unwrap().0;
    header.header_checksum == header.calc_header_checksum()
}
