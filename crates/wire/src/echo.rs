//! Echo requests and replies (RFC 792; RFC 4443 §4.1, §4.2), so that an endpoint answers to ping.

use crate::dscp::Dscp;
use crate::packet::Echo;
use crate::sum::pseudo_header;
use crate::too_long::TooLong;
use crate::write::IpFields;
use etherparse::IpNumber;
use etherparse::checksum::Sum16BitWords;
use segment::Ecn;
use std::net::IpAddr;

/// Appends the reply to `out`.
///
/// # Errors
/// If it is longer than a packet can be; `out` is then as before.
pub fn write_echo_reply(echo: &Echo<'_>, out: &mut Vec<u8>) -> Result<(), TooLong> {
    let (from, to) = (echo.destination, echo.source);
    let kind = if to.is_ipv4() { 0 } else { 129 };
    write_icmp(from, to, [kind, 0], &[echo.body], out)
}

/// Appends an ICMP message of the family that both ends are of.
pub(crate) fn write_icmp(
    from: IpAddr,
    to: IpAddr,
    head: [u8; 2],
    body: &[&[u8]],
    out: &mut Vec<u8>,
) -> Result<(), TooLong> {
    let bytes = 4 + body.iter().map(|part| part.len()).sum::<usize>();
    let len = u16::try_from(bytes).ok().filter(|len| len.checked_add(20).is_some());
    let len = len.ok_or(TooLong { bytes })?;
    let (protocol, start) = if to.is_ipv4() {
        (IpNumber::ICMP, Sum16BitWords::new())
    } else {
        let pseudo = pseudo_header(from, to, IpNumber::IPV6_ICMP.0, u32::from(len));
        (IpNumber::IPV6_ICMP, pseudo)
    };
    // All parts but the last are whole words.
    let sum = body.iter().fold(start.add_2bytes(head), |sum, part| sum.add_slice(part));
    let header = IpFields {
        source: from,
        destination: to,
        protocol,
        len,
        dscp: Dscp::DEFAULT,
        ecn: Ecn::NotEct,
    };
    header.write(out);
    out.extend_from_slice(&head);
    out.extend_from_slice(&sum.ones_complement().to_ne_bytes());
    body.iter().for_each(|part| out.extend_from_slice(part));
    Ok(())
}
