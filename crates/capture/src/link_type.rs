//! Link layers of captures.

/// A link layer, by its number in captures (<https://www.tcpdump.org/linktypes.html>).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkType {
    /// Ethernet (1).
    Ethernet,
    /// BSD loopback: the address family in the byte order of its host (0), or of the network (108).
    Loopback,
    /// IP without a link layer (101, 12 and 14), IPv4 (228), IPv6 (229).
    Raw,
    /// Linux cooked capture (113).
    LinuxSll,
    /// Linux cooked capture, version 2 (276).
    LinuxSll2,
    /// PPP, with or without address and control bytes (9), or in frames like those of HDLC (50).
    Ppp,
    /// Sessions of PPPoE without Ethernet (51).
    Pppoe,
    /// Frames of wireless networks (105).
    Wireless,
    /// The same after a radiotap header (127).
    Radiotap,
    /// Packets that Linux' netfilter has logged (239).
    Nflog,
    /// Packets of macOS with the name of a process (258).
    Pktap,
    /// An unknown one.
    Unknown(u16),
}

impl LinkType {
    /// Returns the link type of a number.
    pub const fn of(number: u16) -> Self {
        match number {
            1 => Self::Ethernet,
            0 | 108 => Self::Loopback,
            12 | 14 | 101 | 228 | 229 => Self::Raw,
            9 | 50 => Self::Ppp,
            51 => Self::Pppoe,
            105 => Self::Wireless,
            113 => Self::LinuxSll,
            127 => Self::Radiotap,
            239 => Self::Nflog,
            258 => Self::Pktap,
            276 => Self::LinuxSll2,
            _ => Self::Unknown(number),
        }
    }
}
