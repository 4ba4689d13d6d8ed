//! Packets that are refused, each with its reason: a good one with one damaged field, and with
//! correct checksums where they are not the fault.

use segment::{Flags, Segment, TcpOptions, Timestamps};
use std::net::SocketAddr;
use wire::{Malformed, Marking, Packet, TcpPacket, Trouble, parse, write, write_icmp_error};

const TCP: usize = 20;
const TCP_OPTIONS: usize = 40;
const TCP6: usize = 40;

fn segment() -> Segment {
    let options = TcpOptions {
        mss: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps: Some(Timestamps { value: 1, echo: 0 }),
        ..TcpOptions::default()
    };
    Segment { len: 4, flags: Flags::SYN, options, ..Segment::default() }
}

/// A SYN with 20 bytes of options and 4 of data: 64 bytes over IPv4, 84 over IPv6.
fn good(v6: bool) -> Vec<u8> {
    let ends: [SocketAddr; 2] = if v6 {
        ["[fd00::1]:443", "[fd00::2]:50000"].map(|end| end.parse().unwrap())
    } else {
        ["10.0.0.1:443", "10.0.0.2:50000"].map(|end| end.parse().unwrap())
    };
    let packet = TcpPacket::new(ends[0], ends[1], segment(), &Marking::default());
    let mut bytes = vec![];
    write(&packet, b"data", &mut bytes).unwrap();
    bytes
}

fn sum(bytes: &[u8]) -> u16 {
    let word = |pair: &[u8]| u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |low| u32::from(*low));
    (bytes.chunks(2).map(word).sum::<u32>() % 0xffff) as u16
}

fn put(bytes: &mut [u8], at: usize, checksum: u16) {
    bytes[at..at + 2].copy_from_slice(&(!checksum).to_be_bytes());
}

/// Makes both checksums of an IPv4 packet right.
fn mend(mut bytes: Vec<u8>) -> Vec<u8> {
    let header = usize::from(bytes[0] & 15) * 4;
    bytes[10..12].fill(0);
    let ip = sum(&bytes[..header]);
    put(&mut bytes, 10, ip);
    let tcp = bytes.len() - header;
    bytes[header + 16..header + 18].fill(0);
    let pseudo = [&bytes[12..20], &[0, 6], &(tcp as u16).to_be_bytes(), &bytes[header..]].concat();
    put(&mut bytes, header + 16, sum(&pseudo));
    bytes
}

/// The IPv4 packet with `bytes` put in at `at`, and right checksums.
fn with(at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut packet = good(false);
    packet[at..at + bytes.len()].copy_from_slice(bytes);
    mend(packet)
}

/// The IPv4 packet with these 20 bytes of options.
fn with_options(options: &[u8]) -> Vec<u8> {
    let mut all = [1; 20];
    all[..options.len()].copy_from_slice(options);
    with(TCP_OPTIONS, &all)
}

/// The IPv6 packet with `extension` before TCP, which its header calls `next`.
fn with_extension(next: u8, extension: &[u8]) -> Vec<u8> {
    let mut packet = good(true);
    packet[6] = next;
    packet.splice(TCP6..TCP6, extension.iter().copied());
    let len = (packet.len() - TCP6) as u16;
    packet[4..6].copy_from_slice(&len.to_be_bytes());
    packet
}

/// An ICMP error about a packet of ours, changed.
fn icmp(change: impl FnOnce(&mut Vec<u8>), mended: bool) -> Vec<u8> {
    let mut bytes = vec![];
    let router = "10.9.9.9".parse().unwrap();
    write_icmp_error(router, &good(false), Trouble::TooBig { mtu: 576 }, &mut bytes).unwrap();
    change(&mut bytes);
    let len = bytes.len() as u16;
    bytes[2..4].copy_from_slice(&len.to_be_bytes());
    bytes[10..12].fill(0);
    let ip = sum(&bytes[..20]);
    put(&mut bytes, 10, ip);
    if mended {
        bytes[22..24].fill(0);
        let message = sum(&bytes[20..]);
        put(&mut bytes, 22, message);
    }
    bytes
}

fn ip_cases() -> Vec<(&'static str, Vec<u8>, Malformed)> {
    use Malformed::*;
    vec![
        ("nothing", vec![], Version),
        ("version 5", with(0, &[0x55]), Version),
        ("half an IPv4 header", good(false)[..12].to_vec(), TruncatedIp),
        ("half an IPv6 header", good(true)[..30].to_vec(), TruncatedIp),
        ("IPv4 cut behind its header", good(false)[..50].to_vec(), TruncatedIp),
        ("IPv6 cut behind its header", good(true)[..60].to_vec(), TruncatedIp),
        ("a header of 4 words", with(0, &[0x44]), IpLength),
        ("a header longer than the packet is said to be", with(2, &[0, 10]), IpLength),
        (
            "IPv6 with nothing in it",
            [&good(true)[..4], &[0, 0], &good(true)[6..]].concat(),
            IpLength,
        ),
        (
            "a wrong header checksum",
            {
                let mut p = good(false);
                p[8] ^= 1;
                p
            },
            IpChecksum,
        ),
        ("the first part of a packet", with(6, &[0x20, 0]), Fragment),
        ("a later part of a packet", with(6, &[0, 9]), Fragment),
        // Fragment header: next 6, offset 0, more to come (RFC 8200 §4.5).
        ("the first part, IPv6", with_extension(44, &[6, 0, 0, 1, 0, 0, 0, 1]), Fragment),
        // Destination options, then hop-by-hop options, which have to come first (RFC 8200 §4.1).
        (
            "extensions out of order",
            with_extension(60, &[0, 0, 1, 4, 0, 0, 0, 0, 6, 0, 1, 4, 0, 0, 0, 0]),
            Extension,
        ),
        // Routing header of 8 * 256 bytes.
        ("an extension longer than the packet", with_extension(43, &[6, 255, 0, 0]), Extension),
        ("from a group", with(12, &[224, 0, 0, 1]), Address),
        ("to everybody", with(16, &[255, 255, 255, 255]), Address),
        ("from nobody", with(12, &[0, 0, 0, 0]), Address),
        ("UDP", with(9, &[17]), Protocol),
        ("ICMPv6 in IPv4", with(9, &[58]), Protocol),
    ]
}

fn tcp_cases() -> Vec<(&'static str, Vec<u8>, Malformed)> {
    use Malformed::*;
    let shortened = |len: u8| {
        let mut packet = good(false);
        packet.truncate(usize::from(len));
        packet[3] = len;
        packet
    };
    let of_good_ip = |mut packet: Vec<u8>| {
        packet[10..12].fill(0);
        let ip = sum(&packet[..20]);
        put(&mut packet, 10, ip);
        packet
    };
    let mut unsummed = good(false);
    unsummed[60] ^= 1;
    let mut unsummed6 = good(true);
    unsummed6[80] ^= 1;
    vec![
        ("no TCP header at all", of_good_ip(shortened(20)), TruncatedTcp),
        ("half a TCP header", of_good_ip(shortened(32)), TruncatedTcp),
        ("a data offset of 4 words", with(TCP + 12, &[0x40]), DataOffset),
        ("a data offset beyond the segment", with(TCP + 12, &[0xf0]), DataOffset),
        ("a wrong checksum", unsummed, TcpChecksum),
        ("a wrong checksum, IPv6", unsummed6, TcpChecksum),
        ("from port 0", with(TCP, &[0, 0]), Port),
        ("to port 0", with(TCP + 2, &[0, 0]), Port),
        ("from and to the same", with(12, &[10, 0, 0, 1, 10, 0, 0, 1, 1, 187, 1, 187]), Land),
        (
            "an option without a length",
            with_options(&[1; 19].iter().copied().chain([2]).collect::<Vec<_>>()),
            OptionLength,
        ),
        ("an option of length 0", with_options(&[2, 0]), OptionLength),
        ("an option of length 1", with_options(&[99, 1]), OptionLength),
        ("an option that runs out", with_options(&[99, 21]), OptionLength),
        ("MSS of 3 bytes", with_options(&[2, 3, 5]), OptionLength),
        ("a shift of 4 bytes", with_options(&[3, 4, 7, 7]), OptionLength),
        ("SACK permitted of 3 bytes", with_options(&[4, 3, 0]), OptionLength),
        ("timestamps of 9 bytes", with_options(&[8, 9, 0, 0, 0, 0, 0, 0, 0]), OptionLength),
        ("SACK without a block", with_options(&[5, 2]), OptionLength),
        ("one block and a half", with_options(&[5, 14]), OptionLength),
        ("MSS twice", with_options(&[2, 4, 5, 180, 2, 4, 0, 64]), OptionRepeated),
        ("SACK twice", with_options(&[5, 10, 0, 0, 0, 0, 0, 0, 0, 1, 5, 10]), OptionRepeated),
    ]
}

fn icmp_cases() -> Vec<(&'static str, Vec<u8>, Malformed)> {
    use Malformed::*;
    vec![
        ("half an ICMP header", icmp(|p| p.truncate(24), false), TruncatedIcmp),
        ("a wrong ICMP checksum", icmp(|p| p[27] ^= 1, false), IcmpChecksum),
        ("a redirect", icmp(|p| p[20] = 5, true), IcmpKind),
        ("an echo reply", icmp(|p| p[20] = 0, true), IcmpKind),
        ("a quotation of half an IP header", icmp(|p| p.truncate(38), true), IcmpQuote),
        ("a quotation without sequence number", icmp(|p| p.truncate(54), true), IcmpQuote),
        ("a quotation of UDP", icmp(|p| p[28 + 9] = 17, true), IcmpQuote),
        ("a quotation of a later part", icmp(|p| p[28 + 7] = 9, true), IcmpQuote),
    ]
}

#[test]
fn each_has_its_reason() {
    let cases = [ip_cases(), tcp_cases(), icmp_cases()].concat();
    for (what, bytes, reason) in &cases {
        assert_eq!(parse(bytes).err(), Some(*reason), "{what}");
    }
    for reason in Malformed::ALL {
        assert!(cases.iter().any(|case| case.2 == reason), "no case of {reason}");
    }
}

/// Unusual packets that are correct: the same table must not refuse them.
#[test]
fn the_unusual_is_taken() {
    let cases = [
        ("as it is", good(false)),
        ("IPv6", good(true)),
        ("unknown options", with_options(&[99, 6, 1, 2, 3, 4, 200, 2])),
        ("an end of options, then rubbish", with_options(&[0, 2, 99, 2, 99])),
        ("two experiments", with_options(&[253, 4, 1, 2, 253, 4, 3, 4])),
        // Hop-by-hop, routing and destination options, each of 8 bytes.
        (
            "extensions",
            with_extension(
                0,
                &[43, 0, 1, 4, 0, 0, 0, 0, 60, 0, 4, 0, 0, 0, 0, 0, 6, 0, 1, 4, 0, 0, 0, 0],
            ),
        ),
        // An atomic fragment is a whole packet (RFC 6946).
        ("an atomic fragment", with_extension(44, &[6, 0, 0, 0, 0, 0, 0, 1])),
    ];
    for (what, bytes) in &cases {
        let taken = parse(bytes);
        assert!(matches!(taken, Ok(Packet::Tcp(_, b"data"))), "{what}: {taken:?}");
    }
}

/// A shift above 14 means 14 (RFC 7323 §2.3), and options of SYNs count only there.
#[test]
fn options_mean_what_their_rfcs_say() {
    let options = |bytes: &[u8]| match parse(bytes) {
        Ok(Packet::Tcp(packet, _)) => packet.segment.options,
        other => panic!("{other:?}"),
    };
    assert_eq!(options(&with_options(&[3, 3, 99])).window_scale, Some(14));
    let mut ack = good(false);
    ack[TCP + 13] = 0x10;
    let ack = options(&mend(ack));
    assert_eq!((ack.mss, ack.window_scale, ack.sack_permitted), (None, None, false));
    assert_eq!(ack.timestamps, segment().options.timestamps);
}

#[test]
fn the_corpus_is_taken_or_refused() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz-corpus/packets");
    let mut played = 0;
    for entry in std::fs::read_dir(corpus).unwrap() {
        wire::testing::play(&std::fs::read(entry.unwrap().path()).unwrap());
        played += 1;
    }
    assert!(played >= 20);
}

/// Writes the table as a corpus to begin fuzzing with.
#[test]
#[ignore = "writes fuzz-corpus: make fuzz-corpus"]
fn write_corpus() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz-corpus/packets");
    let cases = [ip_cases(), tcp_cases(), icmp_cases()].concat();
    for (what, bytes, _) in cases {
        let name = what.replace([' ', ','], "-");
        std::fs::write(format!("{corpus}/{name}"), bytes).unwrap();
    }
    std::fs::write(format!("{corpus}/good"), good(false)).unwrap();
    std::fs::write(format!("{corpus}/good-6"), good(true)).unwrap();
}
