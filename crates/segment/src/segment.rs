//! TCP segments as the core sees them: every header field and option, no byte layout.
//!
//! Payload is a length. An engine that moves real bytes keeps them beside the segment, addressed by
//! the stream offset in the host's `Transmit`; the simulator has none.

use crate::cookie::FastOpenCookie;
use crate::ecn::{Ecn, EcnCounters};
use crate::raw_options::RawOptions;
use crate::raw_options::kind::EXPERIMENT;
use std::fmt;
use std::num::NonZeroU32;
use std::ops::Range;
use units::{Duration, SeqNum};

/// Bytes of an IPv4 header without options (RFC 791 §3.1).
pub const IPV4_HEADER: u32 = 20;
/// Bytes of a TCP header without options (RFC 9293 §3.1).
pub const TCP_HEADER: u32 = 20;
/// Bytes of a UDP header (RFC 768).
pub const UDP_HEADER: u32 = 8;
/// Most payload of a UDP datagram of QUIC until path MTU discovery finds more (RFC 9000 §14.1,
/// §14.3).
pub const QUIC_DATAGRAM: u32 = 1200;
/// Bytes of a datagram beside the stream's bytes. The short header takes 1, the packet number 2,
/// and the connection ID none (RFC 9000 §17.3.1). The authentication tag takes 16 (RFC 9001 §5.3).
/// A STREAM frame's header takes 8: type 1, stream 1, offset 4, length 2 (RFC 9000 §19.8). An ACK
/// frame is taken to be as large.
pub const QUIC_OVERHEAD: u32 = 1 + 2 + 16 + 8;
/// Bytes that the timestamps option takes, padded as every stack sends it (RFC 7323 app. A).
pub const TIMESTAMPS_BYTES: u32 = 12;

/// Header flags (RFC 9293 §3.1, RFC 9768 §3.1), one bit each, in the order of the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u16);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Self = Self(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// Reset the connection.
    pub const RST: Self = Self(0x04);
    /// Push.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement field is significant.
    pub const ACK: Self = Self(0x10);
    /// ECN echo (RFC 3168 §6.1).
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced (RFC 3168 §6.1).
    pub const CWR: Self = Self(0x80);
    /// Accurate ECN (RFC 9768 §3.1).
    pub const AE: Self = Self(0x100);
    /// The bits of the ACE field: AE, CWR and ECE (RFC 9768 §3.2.2).
    pub const ACE: Self = Self(0x1C0);

    /// True if every bit of `other` is set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets of bits.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the ACE field, 0 to 7 (RFC 9768 §3.2.2); ECE is its lowest bit.
    pub const fn ace(self) -> u8 {
        (self.0 >> 6) as u8 & 7
    }

    /// The same flags with another ACE field, of which the lowest three bits count.
    #[must_use]
    pub const fn with_ace(self, ace: u8) -> Self {
        Self(self.0 & !Self::ACE.0 | (ace as u16 & 7) << 6)
    }
}

/// Timestamps option (RFC 7323 §3): value and echo reply, in the sender's own ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    /// The sender's clock when the segment left.
    pub value: u32,
    /// The peer's value being echoed; zero without ACK.
    pub echo: u32,
}

/// A sender's report to a performance gateway on the path: its share of the path and its round trip
/// (Zhang, Qiu & Keshav 2000 §5.2.2). On the wire it is an experimental option (RFC 6994).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Performance {
    /// `Wc`, bytes; a larger share is sent as the largest that fits.
    pub share: NonZeroU32,
    /// Smoothed round trip, microseconds; zero if there is none.
    pub rtt_micros: u32,
}

impl Performance {
    /// Bytes of the option: kind, length, identifier, share and round trip.
    pub const WIRE_BYTES: u32 = 12;
    /// Its identifier among experiments (RFC 6994 §3): none is registered for it.
    pub const IDENTIFIER: u16 = 0x5350;

    /// The option for a share in bytes and a smoothed round trip, each as far as it fits; `None` if
    /// the share is zero.
    pub fn new(share: u64, rtt: Option<Duration>) -> Option<Self> {
        let share = u32::try_from(share).unwrap_or(u32::MAX);
        let micros = rtt.map_or(0, Duration::as_micros);
        let rtt_micros = u32::try_from(micros).unwrap_or(u32::MAX);
        Some(Self { share: NonZeroU32::new(share)?, rtt_micros })
    }

    /// The share, bytes.
    pub fn share(&self) -> u64 {
        self.share.get().into()
    }

    /// The smoothed round trip, if it was measured.
    pub fn rtt(&self) -> Option<Duration> {
        let rtt = Duration::from_micros(u64::from(self.rtt_micros));
        Some(rtt).filter(|rtt| !rtt.is_zero())
    }

    /// The option's bytes, kind and length included.
    pub fn to_bytes(&self) -> [u8; Self::WIRE_BYTES as usize] {
        let mut bytes = [0; Self::WIRE_BYTES as usize];
        bytes[..2].copy_from_slice(&[EXPERIMENT, Self::WIRE_BYTES as u8]);
        bytes[2..4].copy_from_slice(&Self::IDENTIFIER.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.share.get().to_be_bytes());
        bytes[8..].copy_from_slice(&self.rtt_micros.to_be_bytes());
        bytes
    }

    /// Finds it among the options of a header as they stand there; `None` if it is not there, or
    /// they are not what options have to be.
    pub fn find(options: &[u8]) -> Option<Self> {
        RawOptions::new(options).find_map(Self::parse)
    }

    /// Reads one option, kind and length included.
    fn parse(option: &[u8]) -> Option<Self> {
        let word = |at: usize| {
            let bytes = option.get(at..at + 4)?;
            Some(u32::from_be_bytes(bytes.try_into().ok()?))
        };
        let head = u32::from_be_bytes([
            EXPERIMENT,
            Self::WIRE_BYTES as u8,
            (Self::IDENTIFIER >> 8) as u8,
            Self::IDENTIFIER as u8,
        ]);
        if option.len() != Self::WIRE_BYTES as usize || word(0)? != head {
            return None;
        }
        Some(Self { share: NonZeroU32::new(word(4)?)?, rtt_micros: word(8)? })
    }
}

/// Up to four SACK blocks (RFC 2018 §3), most recently changed first; a D-SACK block is first
/// of all (RFC 2883 §4). Each is `[left, right)`.
#[derive(Clone, Copy, Default)]
pub struct SackBlocks {
    count: u8,
    /// Blocks; those from `count` on are undefined.
    blocks: [(SeqNum, SeqNum); Self::MAX],
}

impl SackBlocks {
    /// Blocks that fit into the option space without timestamps; with them one fewer.
    pub const MAX: usize = 4;
    /// No block.
    pub const NONE: Self = Self { count: 0, blocks: [(SeqNum(0), SeqNum(0)); Self::MAX] };

    /// Appends a block; a fifth is dropped.
    pub fn push(&mut self, left: SeqNum, right: SeqNum) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.count)) {
            *slot = (left, right);
            self.count += 1;
        }
    }

    /// True if the first block is a D-SACK block (RFC 2883 §4): it begins below the
    /// acknowledgement, or lies inside the second block. All are offsets from one origin.
    pub fn is_duplicate<T: PartialOrd>(first: &Range<T>, second: Option<Range<T>>, ack: T) -> bool {
        let is_inside = |outer: Range<T>| first.start >= outer.start && first.end <= outer.end;
        first.start < ack || second.is_some_and(is_inside)
    }

    /// Takes all blocks off.
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// The blocks in wire order.
    pub fn as_slice(&self) -> &[(SeqNum, SeqNum)] {
        &self.blocks[..usize::from(self.count)]
    }

    /// Leaves the first `most` blocks.
    pub fn truncate(&mut self, most: usize) {
        self.count = self.count.min(most as u8);
    }

    /// True without any block.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl PartialEq for SackBlocks {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for SackBlocks {}

impl fmt::Debug for SackBlocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}

/// TCP options that the core uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpOptions {
    /// Maximum segment size, on SYN only (RFC 9293 §3.7.1).
    pub mss: Option<u16>,
    /// Window scale shift, on SYN only, 0..=14 (RFC 7323 §2).
    pub window_scale: Option<u8>,
    /// SACK permitted, on SYN only (RFC 2018 §2).
    pub sack_permitted: bool,
    /// Timestamps (RFC 7323 §3).
    pub timestamps: Option<Timestamps>,
    /// Selective acknowledgements.
    pub sack: SackBlocks,
    /// A report to a performance gateway.
    pub performance: Option<Performance>,
    /// A Fast Open cookie, or a request for one, on SYN only (RFC 7413 §2).
    pub fast_open: Option<FastOpenCookie>,
    /// Bytes received by their ECN field (RFC 9768 §3.2.3).
    pub ecn: Option<EcnCounters>,
}

impl TcpOptions {
    /// Bytes that a header has room for (RFC 9293 §3.1).
    pub const ROOM: u32 = 40;

    /// Bytes on the wire, padded to 32-bit words.
    pub const fn wire_bytes(&self) -> u32 {
        let mut n = 0;
        if self.mss.is_some() {
            n += 4;
        }
        if self.window_scale.is_some() {
            n += 3;
        }
        if self.sack_permitted {
            n += 2;
        }
        if self.timestamps.is_some() {
            n += 10;
        }
        if !self.sack.is_empty() {
            n += 2 + 8 * self.sack.count as u32;
        }
        if self.performance.is_some() {
            n += Performance::WIRE_BYTES;
        }
        if let Some(cookie) = &self.fast_open {
            n += cookie.wire_bytes();
        }
        if let Some(counters) = &self.ecn {
            n += counters.wire_bytes();
        }
        n.div_ceil(4) * 4
    }
}

/// Headers that a packet has around its payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// TCP's, options included.
    #[default]
    Tcp,
    /// UDP's and QUIC's; what TCP says in options is in frames of packets that are sent anyway.
    Quic,
}

/// One TCP segment with the ECN field of the packet around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number of the first payload byte, or of SYN or FIN itself.
    pub seq: SeqNum,
    /// Next sequence number expected; meaningful with [`Flags::ACK`].
    pub ack: SeqNum,
    /// Payload bytes.
    pub len: u32,
    /// The window field as on the wire: unscaled in a SYN, shifted in all others (RFC 7323 §2.2).
    pub window: u16,
    /// Header flags.
    pub flags: Flags,
    /// ECN field of the IP header.
    pub ecn: Ecn,
    /// High drop precedence: a queue that respects it drops this segment's packet first
    /// (Padmanabhan & Katz 1998 §3.3). Like `ecn`, it is in the IP header.
    pub low_priority: bool,
    /// Options.
    pub options: TcpOptions,
    /// Headers of the packet.
    pub framing: Framing,
}

impl Segment {
    /// True if all bits of `flags` are set.
    pub const fn has(&self, flags: Flags) -> bool {
        self.flags.contains(flags)
    }

    /// Sequence space taken: payload plus one each for SYN and FIN (RFC 9293 §3.4).
    pub const fn sequence_len(&self) -> u32 {
        self.len + self.has(Flags::SYN) as u32 + self.has(Flags::FIN) as u32
    }

    /// Bytes of the whole packet over IPv4.
    pub const fn wire_bytes(&self) -> u32 {
        let headers = match self.framing {
            Framing::Tcp => TCP_HEADER + self.options.wire_bytes(),
            Framing::Quic => UDP_HEADER + QUIC_OVERHEAD,
        };
        IPV4_HEADER + headers + self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_report_is_an_experimental_option_of_twelve_bytes() {
        let rtt = Some(Duration::from_micros(0x0506));
        let performance = Performance::new(0x0102_0304, rtt).unwrap();
        // Kind 253, length 12, identifier "SP", share, round trip (RFC 6994 §3: kind, length,
        // ExID).
        assert_eq!(performance.to_bytes(), [253, 12, 0x53, 0x50, 1, 2, 3, 4, 0, 0, 5, 6]);
        assert_eq!(
            Performance::find(&[&[1, 1, 2, 4, 5, 0xb4], &performance.to_bytes()[..]].concat()),
            Some(performance)
        );
        assert_eq!((performance.share(), performance.rtt()), (0x0102_0304, rtt));
        let options = TcpOptions { performance: Some(performance), ..TcpOptions::default() };
        assert_eq!(options.wire_bytes(), 12);
        assert_eq!(Performance::new(0, None), None);
        let huge = Performance::new(u64::MAX, Some(Duration::MAX)).unwrap();
        assert_eq!((huge.share.get(), huge.rtt_micros), (u32::MAX, u32::MAX));
    }

    /// RFC 2883 §4.1.1: 3000 to 3500 are below the acknowledgement of 4000. §4.1.3: 5000 to 5500
    /// are inside the block of 4500 to 5500. A block of new data is neither.
    #[test]
    fn a_duplicate_is_below_the_acknowledgement_or_inside_the_second_block() {
        let is_duplicate = |first: Range<u32>| SackBlocks::is_duplicate(&first, None, 4000);
        assert!(is_duplicate(3000..3500) && !is_duplicate(4000..4500));
        let outer = Some(4500..5500);
        let is_inside = |first: Range<u32>| SackBlocks::is_duplicate(&first, outer.clone(), 4000);
        assert!(is_inside(5000..5500) && is_inside(4500..5500));
        assert!(!is_inside(5000..5501) && !is_inside(4499..5500));
    }

    proptest! {
        /// Foreign options never fail, valid or not; a report among whole options is found.
        #[test]
        fn any_options_are_read_or_not(
            bytes in prop::collection::vec(any::<u8>(), 0..64),
            share in 1..u32::MAX,
            rtt_micros: u32,
            kinds in prop::collection::vec((2..=252_u8, 2..6_u8), 0..5),
        ) {
            Performance::find(&bytes);
            let performance = Performance { share: NonZeroU32::new(share).unwrap(), rtt_micros };
            let others = kinds.iter().flat_map(|(kind, length)| {
                let mut option = vec![*kind, *length];
                option.resize(usize::from(*length), 7);
                option
            });
            let options: Vec<u8> = others.chain(performance.to_bytes()).chain(bytes).collect();
            prop_assert_eq!(Performance::find(&options), Some(performance));
        }
    }

    /// A full datagram is 1200 bytes behind 28 of headers, whatever TCP would have in options.
    #[test]
    fn a_datagram_of_quic_carries_1173_bytes_of_streams() {
        let timestamps = Some(Timestamps::default());
        let full = Segment {
            len: 1173,
            options: TcpOptions { timestamps, ..TcpOptions::default() },
            framing: Framing::Quic,
            ..Segment::default()
        };
        assert_eq!(full.wire_bytes(), 1228);
        assert_eq!(Segment { len: 0, ..full }.wire_bytes(), 55);
        assert_eq!(Segment { framing: Framing::Tcp, ..full }.wire_bytes(), 1173 + 52);
    }

    #[test]
    fn option_sizes_of_a_linux_server() {
        // MSS 4 + SACK permitted 2 + timestamps 10 + window scale 3 = 19, padded to 20: the SYN
        // of 60 bytes that every capture of Linux shows.
        let syn = TcpOptions {
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps: Some(Timestamps { value: 1, echo: 0 }),
            ..TcpOptions::default()
        };
        assert_eq!(IPV4_HEADER + TCP_HEADER + syn.wire_bytes(), 60);
        let mut ack = TcpOptions { timestamps: syn.timestamps, ..TcpOptions::default() };
        assert_eq!(ack.wire_bytes(), TIMESTAMPS_BYTES);
        ack.sack.push(SeqNum(1), SeqNum(2));
        // 10 + 2 + 8 = 20.
        assert_eq!(ack.wire_bytes(), 20);
    }
}
