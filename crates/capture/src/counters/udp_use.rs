//! Uses of UDP, by the bytes of datagrams.

/// Use of UDP in a packet that is not passed on as a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum UdpUse {
    /// It has no UDP header that was read.
    #[default]
    None,
    /// Unknown use.
    Other,
    /// A long header of QUIC with a version in use: the handshake (RFC 9000 §17.2). Later packets
    /// cannot be recognised.
    Quic,
    /// GTP-U, the tunnels of mobile networks.
    GtpU,
    /// GRE over UDP.
    GreOverUdp,
    /// VXLAN.
    Vxlan,
    /// Geneve.
    Geneve,
    /// WireGuard.
    WireGuard,
    /// ESP of IPsec over UDP (RFC 3948).
    EspInUdp,
    /// L2TP, version 2 or 3 (RFC 2661, RFC 3931).
    L2tp,
    /// DTLS, as of WebRTC and of some tunnels.
    Dtls,
}

/// A datagram, header excluded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UdpDatagram<'a> {
    /// Ports of both ends.
    pub(crate) ports: [u16; 2],
    /// Bytes on the wire.
    pub(crate) length: u16,
    /// The first of them.
    pub(crate) bytes: &'a [u8],
}

/// Ports of tunnels, whose bytes alone show too little.
const IPSEC: u16 = 4500;
const L2TP: u16 = 1701;

impl UdpUse {
    /// All of them except none.
    pub const ALL: [Self; 10] = [
        Self::Other,
        Self::Quic,
        Self::GtpU,
        Self::GreOverUdp,
        Self::Vxlan,
        Self::Geneve,
        Self::WireGuard,
        Self::EspInUdp,
        Self::L2tp,
        Self::Dtls,
    ];

    /// Name of the protocol.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None | Self::Other => "UDP",
            Self::Quic => "QUIC",
            Self::GtpU => "GTP-U",
            Self::GreOverUdp => "GRE over UDP",
            Self::Vxlan => "VXLAN",
            Self::Geneve => "Geneve",
            Self::WireGuard => "WireGuard",
            Self::EspInUdp => "IPsec over UDP",
            Self::L2tp => "L2TP",
            Self::Dtls => "DTLS",
        }
    }

    /// Recognises the use of a datagram.
    pub(crate) fn of(datagram: &UdpDatagram<'_>) -> Self {
        let UdpDatagram { ports, length, bytes } = *datagram;
        match *bytes {
            [first, a, b, c, d, id, ..] if is_quic(first, [a, b, c, d], id) => Self::Quic,
            [kind @ 1..=4, 0, 0, 0, ..] if is_wire_guard(kind, length) => Self::WireGuard,
            // Content types of DTLS, and its versions 1.0 and 1.2 (RFC 9147 §4).
            [20..=25, 0xfe, 0xff | 0xfd, ..] => Self::Dtls,
            // Four zeros are IKE, a single byte keeps an address alive (RFC 3948 §2).
            [a, b, c, d, _, _, _, _, ..] if ports.contains(&IPSEC) && [a, b, c, d] != [0; 4] => {
                Self::EspInUdp
            }
            [_, version, ..] if ports.contains(&L2TP) && [2, 3].contains(&(version & 15)) => {
                Self::L2tp
            }
            _ => Self::Other,
        }
    }
}

/// Returns true for a long header: two bits set, a version in use, and an identifier of at most 20
/// bytes (RFC 9000 §17.2).
fn is_quic(first: u8, version: [u8; 4], id: u8) -> bool {
    const LONG: u8 = 0xc0;
    let is_known = match version {
        // Version 1 and 2 (RFC 9369), drafts, and those of Facebook and Google.
        [0, 0, 0, 1] | [0x6b, 0x33, 0x43, 0xcf] | [0xff, 0, 0, 1..=34] | [0xfa, 0xce, 0xb0, _] => {
            true
        }
        [b'Q' | b'T', b'0', b'0'..=b'9', b'0'..=b'9'] => true,
        _ => false,
    };
    first & LONG == LONG && is_known && id <= 20
}

/// Lengths of WireGuard's messages (its paper, §5.4): two of the handshake, a cookie, and data in
/// units of 16 bytes.
fn is_wire_guard(kind: u8, length: u16) -> bool {
    match kind {
        1 => length == 148,
        2 => length == 92,
        3 => length == 64,
        _ => length >= 32 && length.is_multiple_of(16),
    }
}
