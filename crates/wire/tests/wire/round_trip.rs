//! A written packet is read back unchanged, in both families, and its checksums add up.

use proptest::prelude::*;
use segment::{
    Ecn, EcnCounters, FastOpenCookie, Flags, Framing, Performance, SackBlocks, Segment, TcpOptions,
    Timestamps, Unreachable,
};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::num::NonZeroU32;
use units::SeqNum;
use wire::{
    Dscp, Echo, Marking, Packet, PartialChecksum, TcpPacket, Trouble, parse, parse_offloaded,
    write, write_echo_reply, write_headers_offloaded, write_icmp_error,
};

fn address(v6: bool, host: u16) -> IpAddr {
    if v6 {
        Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 1, host).into()
    } else {
        Ipv4Addr::from(0x0a00_0000 | u32::from(host)).into()
    }
}

fn ends(v6: bool) -> (SocketAddr, SocketAddr) {
    (SocketAddr::new(address(v6, 1), 443), SocketAddr::new(address(v6, 2), 50_000))
}

prop_compose! {
    /// Options of a SYN: at most MSS 4, SACK permitted 2, timestamps 10, shift 3, a report of 12
    /// and a cookie of 8, which is 39.
    fn syn_options()(
        mss: Option<u16>,
        window_scale in prop::option::of(0..=14_u8),
        sack_permitted: bool,
        timestamps in prop::option::of(any::<(u32, u32)>()),
        performance in prop::option::of((1..u32::MAX, any::<u32>())),
        cookie in prop::option::of(prop::sample::select(vec![0, 4, 6])),
    ) -> TcpOptions {
        TcpOptions {
            mss,
            window_scale,
            sack_permitted,
            timestamps: timestamps.map(|(value, echo)| Timestamps { value, echo }),
            performance: performance.map(performance_of),
            fast_open: cookie.and_then(|len| FastOpenCookie::new(&vec![9; len])),
            ..TcpOptions::default()
        }
    }
}

fn performance_of((share, rtt_micros): (u32, u32)) -> Performance {
    Performance { share: NonZeroU32::new(share).unwrap(), rtt_micros }
}

prop_compose! {
    /// Options of any other segment: four blocks fill the header, with timestamps three do. A
    /// report takes the room of two more.
    fn other_options()(
        timestamps in prop::option::of(any::<(u32, u32)>()),
        performance in prop::option::of((1..u32::MAX, any::<u32>())),
        blocks in prop::collection::vec(any::<(u32, u32)>(), 0..=4),
    ) -> TcpOptions {
        let mut sack = SackBlocks::default();
        let room = [4, 3, 1][usize::from(timestamps.is_some()) + usize::from(performance.is_some())];
        blocks.iter().take(room).for_each(|(l, r)| sack.push(SeqNum(*l), SeqNum(*r)));
        let timestamps = timestamps.map(|(value, echo)| Timestamps { value, echo });
        let performance = performance.map(performance_of);
        TcpOptions { timestamps, sack, performance, ..TcpOptions::default() }
    }
}

/// The options with an AccECN option (RFC 9768 §3.2.3) of the first counters of `all` that fit.
fn with_counters(options: TcpOptions, starts_with_ect1: bool, all: &[u32]) -> TcpOptions {
    let some = (0..=all.len()).rev().map(|count| EcnCounters::new(starts_with_ect1, &all[..count]));
    let mut sets = some.map(|counters| TcpOptions { ecn: Some(counters), ..options });
    sets.find(|options| options.wire_bytes() <= TcpOptions::ROOM).unwrap_or(options)
}

prop_compose! {
    fn segment()(
        (seq, ack, window) in any::<(u32, u32, u16)>(),
        flags: u16,
        ecn in prop::sample::select(vec![Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce]),
        low_priority: bool,
        (of_syn, of_other) in (syn_options(), other_options()),
        counters in prop::option::of((any::<bool>(), prop::collection::vec(0..1_u32 << 24, 0..=3))),
    ) -> Segment {
        // Bit 5 is URG, which the core has no word for.
        let flags = Flags(flags & 0x1DF);
        let options = if flags.contains(Flags::SYN) { of_syn } else { of_other };
        let options = counters.map_or(options, |(first, all)| with_counters(options, first, &all));
        Segment {
            seq: SeqNum(seq),
            ack: SeqNum(if flags.contains(Flags::ACK) { ack } else { 0 }),
            len: 0,
            window,
            flags,
            ecn,
            low_priority,
            framing: Framing::Tcp,
            options,
        }
    }
}

/// The ones' complement sum of 16-bit words: zero (as all ones is) over data that includes its
/// checksum (RFC 1071).
fn sum(parts: &[&[u8]]) -> u64 {
    let bytes = parts.concat();
    let word = |pair: &[u8]| u64::from(pair[0]) << 8 | pair.get(1).map_or(0, |low| u64::from(*low));
    bytes.chunks(2).map(word).sum::<u64>() % 0xffff
}

/// Where TCP begins, and the pseudo-header of a packet: addresses, length, protocol 6 (RFC 9293
/// §3.1, RFC 8200 §8.1).
fn pseudo_header(packet: &[u8]) -> (usize, Vec<u8>) {
    let (start, addresses) =
        if packet[0] >> 4 == 4 { (20, &packet[12..20]) } else { (40, &packet[8..40]) };
    let len = (packet.len() - start) as u16;
    (start, [addresses, &len.to_be_bytes(), &[0, 6]].concat())
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(
        v6: bool,
        segment in segment(),
        payload in prop::collection::vec(any::<u8>(), 0..1500),
        trailer in prop::collection::vec(any::<u8>(), 0..8),
    ) {
        let segment = Segment { len: payload.len() as u32, ..segment };
        let (source, destination) = ends(v6);
        let packet = TcpPacket::new(source, destination, segment, &Marking::ASSURED);
        let mut bytes = vec![];
        write(&packet, &payload, &mut bytes).unwrap();
        let ip = if v6 { 40 } else { 20 };
        prop_assert_eq!(bytes.len(), ip + 20 + segment.options.wire_bytes() as usize + payload.len());
        let (start, pseudo) = pseudo_header(&bytes);
        prop_assert_eq!(sum(&[&pseudo, &bytes[start..]]), 0);
        prop_assert!(v6 || sum(&[&bytes[..20]]) == 0);
        // Bytes after the packet are not part of it.
        bytes.extend(trailer);
        prop_assert_eq!(parse(&bytes), Ok(Packet::Tcp(packet, &payload)));
    }

    /// With one wrong bit anywhere in a segment, the segment is refused, or the bit is not covered.
    #[test]
    fn a_flipped_bit_does_not_go_unnoticed(
        v6: bool,
        segment in segment(),
        payload in prop::collection::vec(any::<u8>(), 0..100),
        at: prop::sample::Index,
        bit in 0..8_u8,
    ) {
        let segment = Segment { len: payload.len() as u32, ..segment };
        let (source, destination) = ends(v6);
        let packet = TcpPacket::new(source, destination, segment, &Marking::default());
        let mut bytes = vec![];
        write(&packet, &payload, &mut bytes).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        // IPv6 has no checksum of its own: class and flow label (bytes 0 to 3) and the hop limit
        // (byte 7) may change.
        let uncovered = v6 && (at < 4 || at == 7);
        prop_assert!(uncovered || parse(&bytes).is_err(), "byte {at}");
    }

    #[test]
    fn whatever_comes_is_taken_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        wire::testing::play(&bytes);
    }

    /// Damage behind a good start reaches further than chance does.
    #[test]
    fn damaged_packets_are_taken_or_refused(
        v6: bool,
        segment in segment(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut: prop::sample::Index,
    ) {
        let segment = Segment { len: 30, ..segment };
        let (source, destination) = ends(v6);
        let packet = TcpPacket::new(source, destination, segment, &Marking::default());
        let mut bytes = vec![];
        write(&packet, &[7; 30], &mut bytes).unwrap();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        wire::testing::play(&bytes[..cut.index(bytes.len() + 1)]);
        wire::testing::play(&bytes);
    }
}

/// The kernel completes the offloaded form: the sum from `start` on, in its complement, at `start +
/// offset` (Linux `skb_checksum_help`). Then it is the whole form.
#[test]
fn an_offloaded_checksum_is_completed_to_the_whole_one() {
    for v6 in [false, true] {
        let (source, destination) = ends(v6);
        let timestamps = Some(Timestamps { value: 1, echo: 2 });
        let options = TcpOptions { timestamps, ..TcpOptions::default() };
        let segment = Segment { len: 3, flags: Flags::ACK, options, ..Segment::default() };
        let packet = TcpPacket::new(source, destination, segment, &Marking::default());
        let (mut open, mut whole) = (vec![], vec![]);
        let partial = write_headers_offloaded(&packet, 3, &mut open).unwrap();
        open.extend([1, 2, 3]);
        write(&packet, &[1, 2, 3], &mut whole).unwrap();
        let ip = if v6 { 40 } else { 20 };
        assert_eq!(partial, PartialChecksum { header_len: ip + 32, start: ip, offset: 16 });
        assert!(parse(&open).is_err());
        assert_eq!(parse_offloaded(&open), Ok(Packet::Tcp(packet, &[1, 2, 3])));
        let filled = !(sum(&[&open[usize::from(ip)..]]) as u16);
        let at = usize::from(partial.start + partial.offset);
        open[at..at + 2].copy_from_slice(&filled.to_be_bytes());
        assert_eq!(open, whole);
    }
}

#[test]
fn priority_is_drop_precedence() {
    // The six upper bits of IPv4's second byte: AF13 = 001110, AF11 = 001010 (RFC 2597 §6).
    let (source, destination) = ends(false);
    let cases = [
        (Marking::default(), false, 0, false),
        (Marking::default(), true, 0b00_1110, true),
        (Marking::ASSURED, false, 0b00_1010, false),
    ];
    for (marking, low_priority, bits, read_low) in cases {
        let segment = Segment { low_priority, ..Segment::default() };
        let packet = TcpPacket::new(source, destination, segment, &marking);
        let mut bytes = vec![];
        write(&packet, &[], &mut bytes).unwrap();
        assert_eq!(bytes[1] >> 2, bits);
        let Ok(Packet::Tcp(read, _)) = parse(&bytes) else { panic!("not taken") };
        assert_eq!((read.dscp, read.segment.low_priority), (Dscp::new(bits), read_low));
    }
}

#[test]
fn an_error_names_the_segment_that_met_with_it() {
    for v6 in [false, true] {
        let (source, destination) = ends(v6);
        let segment = Segment { seq: SeqNum(0xdead_beef), len: 1400, ..Segment::default() };
        let packet = TcpPacket::new(source, destination, segment, &Marking::default());
        let mut ours = vec![];
        write(&packet, &[0; 1400], &mut ours).unwrap();
        let troubles = [
            Trouble::TooBig { mtu: 1280 },
            Trouble::Unreachable(Unreachable::Route),
            Trouble::Unreachable(Unreachable::Port),
            Trouble::Unreachable(Unreachable::Prohibited),
            Trouble::Unreachable(Unreachable::Protocol),
            Trouble::Unreachable(Unreachable::TimeExceeded),
        ];
        for trouble in troubles {
            let mut bytes = vec![];
            write_icmp_error(address(v6, 99), &ours, trouble, &mut bytes).unwrap();
            let Ok(Packet::Error(error)) = parse(&bytes) else { panic!("{trouble:?} not taken") };
            assert_eq!((error.trouble, error.seq), (trouble, segment.seq));
            assert_eq!((error.quoted_source, error.quoted_destination), (source, destination));
            assert_eq!((error.reporter, error.destination), (address(v6, 99), source.ip()));
            assert_eq!((error.tuple().local_port, error.tuple().remote_port), (443, 50_000));
        }
    }
}

#[test]
fn an_echo_comes_back_as_it_was() {
    for v6 in [false, true] {
        let (kind, reply) = if v6 { (128, 129) } else { (8, 0) };
        // A reply with the addresses the other way round and another type is a request.
        let body = [0, 7, 0, 1, 10, 11, 12];
        let (asker, asked) = (address(v6, 2), address(v6, 1));
        let backwards = Echo { source: asked, destination: asker, body: &body };
        let mut request = vec![];
        write_echo_reply(&backwards, &mut request).unwrap();
        let icmp = request.len() - body.len() - 4;
        assert_eq!(request[icmp], reply);
        request[icmp] = kind;
        // The type is the upper byte of its word: the complement falls by as much.
        let at = icmp + 2;
        let old = u16::from_be_bytes([request[at], request[at + 1]]);
        let new =
            (u32::from(old) + (u32::from(reply) << 8) + 0xffff - (u32::from(kind) << 8)) % 0xffff;
        request[at..at + 2].copy_from_slice(&(new as u16).to_be_bytes());
        let echo = Echo { source: asker, destination: asked, body: &body };
        assert_eq!(parse(&request), Ok(Packet::Echo(echo)));
    }
}

#[test]
fn what_ip_cannot_carry_is_an_error() {
    let (source, destination) = ends(false);
    let segment = Segment { len: 65_496, ..Segment::default() };
    let packet = TcpPacket::new(source, destination, segment, &Marking::default());
    // 20 + 20 + 65,496 = 65,536, one more than 16 bits say.
    let mut bytes = vec![];
    assert!(write(&packet, &[0; 65_496], &mut bytes).is_err());
    assert!(bytes.is_empty());
    assert!(write(&packet, &[0; 65_495], &mut bytes).is_ok());
}
