//! UDP headers, for captures of the simulator's datagrams.

use crate::dscp::Dscp;
use crate::too_long::TooLong;
use crate::write::IpFields;
use etherparse::{IpNumber, UdpHeader};
use segment::Ecn;
use std::net::SocketAddrV4;

/// Appends IPv4 and UDP headers to `out`; `payload` counts in lengths and checksum and is not
/// written.
///
/// # Errors
/// If the packet is longer than IP can say; `out` is then as before.
pub fn write_datagram_headers(
    source: SocketAddrV4,
    destination: SocketAddrV4,
    dscp: Dscp,
    payload: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), TooLong> {
    let bytes = UdpHeader::LEN + payload.len();
    let len = u16::try_from(bytes).ok().filter(|len| len.checked_add(20).is_some());
    let len = len.ok_or(TooLong { bytes })?;
    let mut udp = UdpHeader {
        source_port: source.port(),
        destination_port: destination.port(),
        length: len,
        checksum: 0,
    };
    let ends = (source.ip().octets(), destination.ip().octets());
    let sum = udp.calc_checksum_ipv4_raw(ends.0, ends.1, payload);
    udp.checksum = sum.map_err(|_| TooLong { bytes })?;
    let header = IpFields {
        source: (*source.ip()).into(),
        destination: (*destination.ip()).into(),
        protocol: IpNumber::UDP,
        len,
        dscp,
        ecn: Ecn::NotEct,
    };
    header.write(out);
    out.extend_from_slice(&udp.to_bytes());
    Ok(())
}
