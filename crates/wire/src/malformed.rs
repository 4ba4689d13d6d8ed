//! Reasons why bytes from outside are refused.

use std::fmt;

/// Reason why a packet is refused. Every reason is a variant of its own, so that counters are
/// separate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Malformed {
    /// Empty, or of an IP version that there is not.
    Version,
    /// It ends before its IP header does, or before the length that this states.
    TruncatedIp,
    /// Its IP header states a length that headers or packets cannot have.
    IpLength,
    /// The checksum of the IPv4 header is wrong.
    IpChecksum,
    /// IPv6 extension headers that cannot be skipped: out of place, or longer than the packet.
    Extension,
    /// A part of a packet; parts are not put together (TCP finds the path's MTU instead, RFC 9293
    /// §3.7.2).
    Fragment,
    /// From or to an address that no single host has (RFC 1122 §3.2.1.3, RFC 9293 §3.9.2.3).
    Address,
    /// From and to the same address and port: the land attack.
    Land,
    /// Neither TCP nor ICMP.
    Protocol,
    /// It ends before its TCP header does.
    TruncatedTcp,
    /// The TCP header's length is below the minimum, or exceeds the segment.
    DataOffset,
    /// The checksum of the segment is wrong.
    TcpChecksum,
    /// The source or destination port is 0, which is reserved (RFC 6335 §6).
    Port,
    /// A TCP option of a length that its kind cannot have, or that runs out of the header.
    OptionLength,
    /// A TCP option that stands there twice.
    OptionRepeated,
    /// It ends before its ICMP header does.
    TruncatedIcmp,
    /// The checksum of the ICMP message is wrong.
    IcmpChecksum,
    /// An ICMP message that says nothing to a TCP endpoint.
    IcmpKind,
    /// An ICMP error that quotes no TCP segment, or too little of it.
    IcmpQuote,
}

impl Malformed {
    /// All reasons, in the order of their numbers.
    pub const ALL: [Self; 19] = [
        Self::Version,
        Self::TruncatedIp,
        Self::IpLength,
        Self::IpChecksum,
        Self::Extension,
        Self::Fragment,
        Self::Address,
        Self::Land,
        Self::Protocol,
        Self::TruncatedTcp,
        Self::DataOffset,
        Self::TcpChecksum,
        Self::Port,
        Self::OptionLength,
        Self::OptionRepeated,
        Self::TruncatedIcmp,
        Self::IcmpChecksum,
        Self::IcmpKind,
        Self::IcmpQuote,
    ];

    /// Its index in [`Malformed::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// A name for counters: lower case, words joined by underscores.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Version => "version",
            Self::TruncatedIp => "truncated_ip",
            Self::IpLength => "ip_length",
            Self::IpChecksum => "ip_checksum",
            Self::Extension => "extension",
            Self::Fragment => "fragment",
            Self::Address => "address",
            Self::Land => "land",
            Self::Protocol => "protocol",
            Self::TruncatedTcp => "truncated_tcp",
            Self::DataOffset => "data_offset",
            Self::TcpChecksum => "tcp_checksum",
            Self::Port => "port",
            Self::OptionLength => "option_length",
            Self::OptionRepeated => "option_repeated",
            Self::TruncatedIcmp => "truncated_icmp",
            Self::IcmpChecksum => "icmp_checksum",
            Self::IcmpKind => "icmp_kind",
            Self::IcmpQuote => "icmp_quote",
        }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl std::error::Error for Malformed {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_reason_has_a_place_and_a_name_of_its_own() {
        for (place, reason) in Malformed::ALL.into_iter().enumerate() {
            assert_eq!(reason.index(), place);
        }
        let names: BTreeSet<_> = Malformed::ALL.iter().map(|reason| reason.name()).collect();
        assert_eq!(names.len(), Malformed::ALL.len());
    }
}
