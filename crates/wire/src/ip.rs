//! The IP header, whichever its version.

use crate::dscp::Dscp;
use crate::malformed::Malformed;
use crate::sum::{adds_up, pseudo_header};
use etherparse::checksum::Sum16BitWords;
use etherparse::err::ip::{HeaderError, HeadersError, SliceError};
use etherparse::err::{Layer, LenError};
use etherparse::{IpEcn, IpNumber, IpSlice, LenSource};
use std::net::IpAddr;

/// Fields and payload of an IP packet.
pub(crate) struct Ip<'a> {
    pub(crate) source: IpAddr,
    pub(crate) destination: IpAddr,
    pub(crate) payload: &'a [u8],
    pub(crate) protocol: IpNumber,
    pub(crate) dscp: Dscp,
    pub(crate) ecn: IpEcn,
}

impl<'a> Ip<'a> {
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let slice = IpSlice::from_slice(bytes).map_err(ip_reason)?;
        let (dscp, ecn) = match &slice {
            IpSlice::Ipv4(v4) => {
                if !adds_up(Sum16BitWords::new(), v4.header().slice()) {
                    return Err(Malformed::IpChecksum);
                }
                (v4.header().dcp(), v4.header().ecn())
            }
            IpSlice::Ipv6(v6) if v6.header().payload_length() == 0 => {
                // The payload is empty, or a jumbo payload (RFC 2675).
                return Err(Malformed::IpLength);
            }
            IpSlice::Ipv6(v6) => (v6.header().dscp(), v6.header().ecn()),
        };
        if slice.is_fragmenting_payload() {
            return Err(Malformed::Fragment);
        }
        let (source, destination) = (slice.source_addr(), slice.destination_addr());
        if !is_single(source) || !is_single(destination) {
            return Err(Malformed::Address);
        }
        let carried = slice.payload();
        let (payload, protocol) = (carried.payload, carried.ip_number);
        Ok(Self { source, destination, payload, protocol, dscp: Dscp::new(dscp.value()), ecn })
    }

    /// The sum of the pseudo-header over the payload.
    pub(crate) fn pseudo_header(&self) -> Sum16BitWords {
        let len = self.payload.len() as u32;
        pseudo_header(self.source, self.destination, self.protocol.0, len)
    }
}

/// An address that one host can have.
fn is_single(address: IpAddr) -> bool {
    let broadcast = matches!(address, IpAddr::V4(v4) if v4.is_broadcast());
    !address.is_multicast() && !address.is_unspecified() && !broadcast
}

fn ip_reason(error: SliceError) -> Malformed {
    match error {
        SliceError::Len(LenError { layer, len_source, .. }) => len_reason(layer, len_source),
        SliceError::IpHeaders(HeadersError::Ip(HeaderError::UnsupportedIpVersion { .. })) => {
            Malformed::Version
        }
        SliceError::IpHeaders(HeadersError::Ip(_)) => Malformed::IpLength,
        SliceError::IpHeaders(_) => Malformed::Extension,
    }
}

/// The reason, from the layer where the bytes ended and the source of the length.
fn len_reason(layer: Layer, source: LenSource) -> Malformed {
    match layer {
        Layer::IpHeader => Malformed::Version,
        Layer::Ipv4Header | Layer::Ipv6Header => Malformed::TruncatedIp,
        Layer::Ipv4Packet | Layer::Ipv6Packet if source == LenSource::Slice => {
            Malformed::TruncatedIp
        }
        Layer::Ipv4Packet | Layer::Ipv6Packet => Malformed::IpLength,
        _ => Malformed::Extension,
    }
}
