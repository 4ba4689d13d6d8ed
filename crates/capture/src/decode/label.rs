//! What is between a frame and its IP header in the networks of providers: labels of MPLS, sessions of PPPoE.

use super::Rest;
use super::protocol::NetworkProtocol;
use crate::tally::NotASegment;

/// Labels on a packet; more than a few are rare.
const MOST_LABELS: usize = 8;

/// MPLS (RFC 3032 §2.1): labels of four bytes, of which the last one says so. What follows does not say what it is: IP, by its
/// version, or a frame, which is not looked into.
pub(super) fn in_mpls(rest: &mut Rest<'_>) -> Result<NetworkProtocol, NotASegment> {
    const LAST: u8 = 1;
    for _ in 0..MOST_LABELS {
        let label: &[u8; 4] = rest.take()?;
        if label[2] & LAST != 0 {
            let [version] = rest.head()?;
            return match version >> 4 {
                4 => Ok(NetworkProtocol::V4),
                6 => Ok(NetworkProtocol::V6),
                _ => Err(NotASegment::Tunnelled),
            };
        }
    }
    Err(NotASegment::Tunnelled)
}

/// A session of PPPoE (RFC 2516 §4): six bytes, and the protocol of PPP (RFC 1332 §4, RFC 5072 §2).
pub(super) fn in_pppoe(rest: &mut Rest<'_>) -> Result<NetworkProtocol, NotASegment> {
    /// Version 1, type 1, and code 0: data.
    const DATA: [u8; 2] = [0x11, 0];
    let head: &[u8; 8] = rest.take()?;
    match (head[..2] == DATA, u16::from_be_bytes([head[6], head[7]])) {
        (true, 0x0021) => Ok(NetworkProtocol::V4),
        (true, 0x0057) => Ok(NetworkProtocol::V6),
        _ => Err(NotASegment::Tunnelled),
    }
}
