//! The core's segments as bytes on the wire: IPv4 and IPv6, TCP with its options, checksums, ECN
//! and DSCP, and the ICMP errors that concern a connection.
//!
//! [`parse`] and [`parse_offloaded`] read a packet as a TUN device delivers it, without a link
//! layer, and never panic. A refused packet comes with its [`Malformed`], for which there are
//! counters. [`write()`] and its kin write one. Layouts and checksums are those of crate
//! `etherparse`; only this crate knows them, for endpoints and for captures of the simulator. The
//! crate does no I/O of its own and keeps no state; a [`PcapFile`] writes packets to the writer
//! that it is given.

mod datagram;
mod dscp;
mod echo;
mod icmp;
mod ip;
mod malformed;
mod options;
mod packet;
mod parse;
mod pcap;
mod sum;
#[cfg(feature = "testing")]
pub mod testing;
mod too_long;
mod write;

pub use datagram::write_datagram_headers;
pub use dscp::{Dscp, Marking};
pub use echo::write_echo_reply;
pub use icmp::write_icmp_error;
pub use malformed::Malformed;
pub use packet::{Echo, IcmpError, Packet, TcpPacket, Trouble};
pub use parse::{parse, parse_offloaded};
pub use pcap::PcapFile;
pub use too_long::TooLong;
pub use write::{PartialChecksum, write, write_headers, write_headers_offloaded};

/// Bytes of an IPv6 header (RFC 8200 §3).
pub const IPV6_HEADER: usize = 40;
/// Largest packet that an IP header can describe without a jumbo payload.
pub const MAX_PACKET: usize = 65_535;
