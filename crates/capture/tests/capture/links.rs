//! One capture over every link layer and through tunnels yields the same segments. Headers are made
//! by hand from the documents that define them; tshark must read the same.

use crate::build::{Order, Packet, packets, pcap};
use crate::tools::{Everything, assert_same, capture, folder};
use crate::tshark::tshark;
use capture::{NotASegment, Observed, PacketDirection, TcpEnd};
use std::fs;
use std::net::SocketAddr;
use tcp::{Flags, Segment, TcpOptions, Timestamps};
use units::SeqNum;
use wire::{Marking, TcpPacket};

/// The original: 36 packets over Ethernet.
const ORIGINAL: &str = "rto003";
const ETHERNET: usize = 14;

pub(crate) fn original() -> Vec<Observed> {
    Everything::of_files([capture(ORIGINAL)]).segments
}

/// Returns the packets of the original from their IP headers on, after other headers.
pub(crate) fn behind(header: &[u8]) -> Vec<Packet> {
    let around = |packet: Packet| {
        let bytes = [header, &packet.bytes[ETHERNET..]].concat();
        let length = packet.length - ETHERNET as u32 + header.len() as u32;
        Packet { bytes, length, ..packet }
    };
    packets(&capture(ORIGINAL)).into_iter().map(around).collect()
}

/// Checks that packets over a link are read as the original, except for `differs`, and that tshark
/// agrees.
pub(crate) fn assert_read(link: u32, packets: &[Packet], differs: impl Fn(&mut Observed)) {
    let expected: Vec<Observed> = original()
        .into_iter()
        .map(|mut segment| {
            differs(&mut segment);
            segment
        })
        .collect();
    let file = pcap(Order::Little, false, link, packets);
    assert_same(&Everything::of_bytes(&file).segments, &expected, &format!("link type {link}"));
    // Tests run in parallel, and each has a thread with its name.
    let test = std::thread::current().name().unwrap_or("test").replace("::", "-");
    assert_as_shown(&format!("{test}-{link}-{}", packets[0].length), &file);
}

/// Checks that segments match tshark, except for fields that it does not print.
fn assert_as_shown(name: &str, file: &[u8]) {
    let path = folder(&format!("link-{name}")).join("capture.pcap");
    fs::write(&path, file).unwrap();
    let plain = |segment: &Observed| Observed {
        direction: PacketDirection::Unknown,
        interface: 0,
        ..*segment
    };
    let read: Vec<Observed> = Everything::of_files([&path]).segments.iter().map(plain).collect();
    if let Some(shown) = tshark(&path) {
        assert_same(&read, &shown, "tshark");
    }
}

#[test]
fn packets_without_a_link_layer() {
    for link in [12, 101, 228] {
        assert_read(link, &behind(&[]), |_| ());
    }
}

/// IEEE 802.1Q: 0x8100 and a tag of two bytes; 802.1ad: 0x88a8 and the provider's tag around it.
#[test]
fn tagged_frames() {
    let addresses = [2; 12];
    let single = [&addresses[..], &[0x81, 0, 0, 7, 8, 0]].concat();
    let double = [&addresses[..], &[0x88, 0xa8, 0, 9, 0x81, 0, 0, 7, 8, 0]].concat();
    assert_read(1, &behind(&single), |_| ());
    assert_read(1, &behind(&double), |_| ());
    let five = [&addresses[..], &[0x81, 0, 0, 7].repeat(5), &[8, 0]].concat();
    let read = Everything::of_bytes(&pcap(Order::Little, false, 1, &behind(&five)));
    assert_eq!(read.counters.of(NotASegment::Malformed), 36, "an attack on readers");
}

/// BSD loopback: the address family, 2 for IPv4, in the order of the host that captured, or of the
/// network (108).
#[test]
fn loopback_of_bsd() {
    assert_read(0, &behind(&[2, 0, 0, 0]), |_| ());
    assert_read(0, &behind(&[0, 0, 0, 2]), |_| ());
    assert_read(108, &behind(&[0, 0, 0, 2]), |_| ());
}

/// Linux cooked captures: type of the packet, hardware type 1, a sender's address of 6 bytes in 8,
/// protocol; the second version has the protocol first and the interface's index.
#[test]
fn cooked_captures() {
    for (packet_type, direction) in
        [(0, PacketDirection::In), (4, PacketDirection::Out), (3, PacketDirection::Unknown)]
    {
        let first = [0, packet_type, 0, 1, 0, 6, 2, 2, 2, 2, 2, 2, 0, 0, 8, 0];
        assert_read(113, &behind(&first), |segment| segment.direction = direction);
        let second = [8, 0, 0, 0, 0, 1, 0, 5, 0, 1, packet_type, 6, 2, 2, 2, 2, 2, 2, 0, 0];
        assert_read(276, &behind(&second), |segment| {
            segment.direction = direction;
            // The index is 65,541, of which 16 bits are kept.
            segment.interface = 5;
        });
    }
}

/// Returns an IPv4 header of 20 bytes (RFC 791 §3.1) from 192.0.2.1 to 192.0.2.2.
pub(crate) fn ipv4(protocol: u8, carried: usize) -> Vec<u8> {
    let length = (20 + carried) as u16;
    let [high, low] = length.to_be_bytes();
    let mut header = vec![0x45, 0, high, low, 0, 0, 0x40, 0, 64, protocol, 0, 0];
    header.extend([192, 0, 2, 1, 192, 0, 2, 2]);
    header
}

/// Returns an IPv6 header (RFC 8200 §3) from 2001:db8::1 to 2001:db8::2.
pub(crate) fn ipv6(next: u8, carried: usize) -> Vec<u8> {
    let [high, low] = (carried as u16).to_be_bytes();
    let mut header = vec![0x60, 0, 0, 0, high, low, next, 64];
    for last in [1, 2] {
        header.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last]);
    }
    header
}

/// Returns the packets of the original in a tunnel.
pub(crate) fn tunnelled(outer: impl Fn(usize) -> Vec<u8>) -> Vec<Packet> {
    let around = |packet: Packet| {
        let outer = outer(packet.length as usize);
        let length = outer.len() as u32 + packet.length;
        Packet { length, bytes: [outer, packet.bytes].concat(), ..packet }
    };
    behind(&[]).into_iter().map(around).collect()
}

/// IP in IP (RFC 2003), in IPv6, in GRE (RFC 2784 §2) with checksum, key and number (RFC 2890 §2),
/// and Ethernet in GRE.
#[test]
fn tunnels() {
    assert_read(101, &tunnelled(|inner| ipv4(4, inner)), |_| ());
    assert_read(101, &tunnelled(|inner| ipv6(4, inner)), |_| ());
    assert_read(101, &tunnelled(|inner| [ipv4(4, inner + 20), ipv4(4, inner)].concat()), |_| ());
    let gre = |header: &[u8]| {
        let header = header.to_vec();
        tunnelled(move |inner| [ipv4(47, header.len() + inner), header.clone()].concat())
    };
    assert_read(101, &gre(&[0, 0, 8, 0]), |_| ());
    let all = [0xb0, 0, 8, 0, 1, 2, 0, 0, 3, 3, 3, 3, 4, 4, 4, 4];
    assert_read(101, &gre(&all), |_| ());
    let ethernet = [&[0, 0, 0x65, 0x58][..], &[2; 12], &[8, 0]].concat();
    assert_read(101, &gre(&ethernet), |_| ());
}

/// Returns a UDP header (RFC 768) to a port, and the bytes before the inner frame.
pub(crate) fn udp(port: u16, header: &[u8], inner: usize) -> Vec<u8> {
    let length = (8 + header.len() + inner) as u16;
    let [[to, port], [high, low]] = [port.to_be_bytes(), length.to_be_bytes()];
    [&[0xc3, 0x50, to, port, high, low, 0, 0], header].concat()
}

/// VXLAN (RFC 7348 §5): flags with the I bit, network 5, and a frame. Geneve (RFC 8926 §3.4): no
/// options, or two words of them; a frame, or IPv4 at once.
#[test]
fn tunnels_over_udp() {
    let frame = [&[2; 12][..], &[8, 0]].concat();
    let through = |port: u16, header: Vec<u8>| {
        tunnelled(move |inner| {
            let udp = udp(port, &header, inner);
            [ipv4(17, udp.len() + inner), udp].concat()
        })
    };
    let vxlan = [&[8, 0, 0, 0, 0, 0, 5, 0][..], &frame].concat();
    assert_read(101, &through(4789, vxlan.clone()), |_| ());
    let geneve = [&[0, 0, 0x65, 0x58, 0, 0, 5, 0][..], &frame].concat();
    assert_read(101, &through(6081, geneve), |_| ());
    let options = [2, 0, 8, 0, 0, 0, 5, 0, 1, 2, 3, 1, 9, 9, 9, 9];
    assert_read(101, &through(6081, options.to_vec()), |_| ());
    // This header has a group's number (VXLAN-GBP), as Open vSwitch writes it.
    let group = [&[0x88, 0, 0, 9, 0, 0, 5, 0][..], &frame].concat();
    assert_read(101, &through(4789, group), |_| ());
    // This is the port of Linux before the RFC, which tshark does not recognise.
    let read = Everything::of_bytes(&pcap(Order::Little, false, 101, &through(8472, vxlan)));
    assert_same(&read.segments, &original(), "8472");
}

/// MPLS (RFC 3032 §2.1): label 16, and label 17 with the bit of the last one. PPPoE (RFC 2516 §4):
/// session 7, IPv4 in PPP.
#[test]
fn labels_and_sessions() {
    let labels = [&[2; 12][..], &[0x88, 0x47, 0, 1, 0, 64, 0, 1, 0x11, 64]].concat();
    assert_read(1, &behind(&labels), |_| ());
    let session = |inner: usize| {
        let [high, low] = (2 + inner as u16).to_be_bytes();
        [&[2; 12][..], &[0x88, 0x64, 0x11, 0, 0, 7, high, low, 0, 0x21]].concat()
    };
    assert_read(1, &tunnelled(session), |_| ());
}

/// IPv6 after a label, in PPPoE, in Geneve without a frame, and with a VLAN tag in VXLAN; and a
/// tunnel over IPv6.
#[test]
fn tunnels_of_both_versions() {
    let inside = |outer: &dyn Fn(usize) -> Vec<u8>| {
        tunnelled(|inner| [outer(40 + 20 + inner), ipv6(4, 20 + inner), ipv4(4, inner)].concat())
    };
    let over = |port: u16, header: Vec<u8>| {
        move |inner: usize| {
            let udp = udp(port, &header, inner);
            [ipv6(17, udp.len() + inner), udp].concat()
        }
    };
    let label = |_| [&[2; 12][..], &[0x88, 0x47, 0, 1, 1, 64]].concat();
    let session = |inner: usize| {
        let [high, low] = (2 + inner as u16).to_be_bytes();
        [&[2; 12][..], &[0x88, 0x64, 0x11, 0, 0, 7, high, low, 0, 0x57]].concat()
    };
    let geneve = over(6081, vec![0, 0, 0x86, 0xdd, 0, 0, 5, 0]);
    let tagged = [&[8, 0, 0, 0, 0, 0, 5, 0][..], &[2; 12], &[0x81, 0, 0, 7, 0x86, 0xdd]].concat();
    for (link, packets) in [
        (1, inside(&label)),
        (1, inside(&session)),
        (101, inside(&geneve)),
        (101, inside(&over(4789, tagged))),
    ] {
        let read = Everything::of_bytes(&pcap(Order::Little, false, link, &packets));
        assert_same(&read.segments, &original(), "of both versions");
        every_cut_is_read(link, &packets[0]);
    }
}

/// A packet with any cut counts as something, and the decoder does not panic.
pub(crate) fn every_cut_is_read(link: u32, packet: &Packet) {
    for cut in 0..packet.bytes.len() {
        let bytes = packet.bytes[..cut].to_vec();
        let cut = Packet { bytes, ..packet.clone() };
        let read = Everything::of_bytes(&pcap(Order::Little, false, link, &[cut]));
        assert_eq!(read.counters.packets, 1);
    }
}

#[test]
fn what_is_not_looked_into_is_counted_by_its_kind() {
    let counted = |packets: &[Packet], link, why| {
        let read = Everything::of_bytes(&pcap(Order::Little, false, link, packets));
        assert_eq!(read.counters.of(why), 36, "{why}: {:?}", read.counters);
        assert_eq!(read.counters.packets, 36);
    };
    let nested = |inner| [(0..6).flat_map(|_| ipv4(4, 999)).collect(), ipv4(6, inner)].concat();
    counted(&tunnelled(nested), 101, NotASegment::Tunnelled);
    for (protocol, why) in [
        (1, NotASegment::Icmp),
        (17, NotASegment::Udp),
        (50, NotASegment::Encrypted),
        (132, NotASegment::OtherTransport),
    ] {
        counted(&tunnelled(|inner| ipv4(protocol, inner)), 101, why);
        counted(&tunnelled(|inner| ipv6(protocol, inner)), 101, why);
    }
    counted(&tunnelled(|inner| [ipv6(58, inner)].concat()), 101, NotASegment::Icmp);
    // Version 1 of GRE (PPTP), and an unknown protocol.
    let gre = |head: [u8; 4]| tunnelled(move |inner| [&ipv4(47, inner + 4)[..], &head].concat());
    counted(&gre([0x20, 1, 0x88, 0x0b]), 101, NotASegment::Tunnelled);
    counted(&gre([0, 0, 0x88, 0xcc]), 101, NotASegment::Tunnelled);
    for (ethertype, why) in [
        ([8, 6], NotASegment::Arp),
        ([0x88, 0xcc], NotASegment::NotIp),
        // IPv6 is announced, and IPv4 follows.
        ([0x86, 0xdd], NotASegment::Malformed),
    ] {
        counted(&behind(&[&[2; 12][..], &ethertype].concat()), 1, why);
    }
    for tunnel in [
        // Nine labels, none of them the last; a frame after a label; and PPPoE sessions that open,
        // or carry another protocol.
        [&[0x88, 0x47][..], &[0, 1, 0, 64].repeat(9)].concat(),
        vec![0x88, 0x48, 0, 1, 1, 64, 0, 0, 0, 0],
        vec![0x88, 0x64, 0x11, 0x65, 0, 7, 0, 99, 0, 0x21],
        vec![0x88, 0x64, 0x11, 0, 0, 7, 0, 99, 0xc0, 0x21],
    ] {
        counted(&behind(&[&[2; 12][..], &tunnel].concat()), 1, NotASegment::Tunnelled);
    }
    // These go to the ports of VXLAN and Geneve, but without their marks; and an answer of DNS (RFC
    // 1035 §4.1.1) goes to each of them.
    let dns = [0x08, 0x2a, 0x81, 0x80, 0, 1, 0, 1];
    for (port, header) in [
        (4789, [0, 0, 0, 0, 0, 0, 5, 0]),
        (6081, [0x40, 0, 8, 0, 0, 0, 5, 0]),
        (4789, dns),
        (6081, dns),
    ] {
        let other = |inner| {
            let udp = udp(port, &header, inner);
            [ipv4(17, udp.len() + inner), udp].concat()
        };
        counted(&tunnelled(other), 101, NotASegment::Udp);
    }
    counted(&behind(&[0, 0, 0, 7]), 0, NotASegment::NotIp);
    counted(&behind(&[]), 195, NotASegment::UnknownLink);
    let unknown = pcap(Order::Little, false, 195, &behind(&[]));
    assert_eq!(Everything::of_bytes(&unknown).counters.unknown_link, Some(195));
}

/// Offset 185 is a later fragment. The first one has the flag for more fragments, and the ports
/// (RFC 791 §3.1).
#[test]
fn of_fragments_the_first_is_a_segment() {
    let fragmented = |field: [u8; 2]| {
        let mut packets = behind(&[]);
        packets.iter_mut().for_each(|packet| packet.bytes[6..8].copy_from_slice(&field));
        Everything::of_bytes(&pcap(Order::Little, false, 101, &packets)).counters
    };
    let first = fragmented([0x20, 0]);
    assert_eq!((first.segments, first.first_fragments), (36, 36));
    let later = fragmented([0x20, 185]);
    assert_eq!((later.segments, later.of(NotASegment::LaterFragment)), (0, 36));
    let whole = fragmented([0x40, 0]);
    assert_eq!((whole.segments, whole.first_fragments), (36, 0));
}

/// Lengths contradict each other: a header of 4 words, a packet shorter than its header, a TCP
/// header of 4 words, and one longer than its packet.
#[test]
fn headers_that_contradict_themselves_are_malformed() {
    for (at, bytes) in [(0, &[0x44][..]), (2, &[0, 19]), (32, &[0x40]), (2, &[0, 39])] {
        let mut packets = behind(&[]);
        packets
            .iter_mut()
            .for_each(|packet| packet.bytes[at..at + bytes.len()].copy_from_slice(bytes));
        let read = Everything::of_bytes(&pcap(Order::Little, false, 101, &packets));
        assert_eq!(read.counters.of(NotASegment::Malformed), 36, "{at} {bytes:?}");
    }
}

/// A length of 0 in the IP header: a super-segment of more than 64 KiB (TSO). Its payload is what
/// the frame has: 100,054 − 14 − 20 − 20 = 100,000 bytes, less the options of the packet.
#[test]
fn super_segments_have_the_length_of_their_frame() {
    let mut packets = behind(&[&[2; 12][..], &[8, 0]].concat());
    for packet in &mut packets {
        packet.bytes[ETHERNET + 2..ETHERNET + 4].fill(0);
        packet.length = 100_054;
    }
    let file = pcap(Order::Little, false, 1, &packets);
    let read = Everything::of_bytes(&file);
    for (segment, packet) in read.segments.iter().zip(&packets) {
        let options = u32::from(packet.bytes[ETHERNET + 32] >> 4) * 4 - 20;
        assert_eq!(segment.payload, 100_000 - options);
    }
    assert_eq!(read.segments.len(), 36);
}

/// Returns a segment over IPv6, from its IP header on, with its extension headers between, of which
/// the first has the number `next`.
pub(crate) fn over_ipv6(next: u8, extensions: &[u8]) -> Vec<u8> {
    let ends =
        ["[2001:db8::1]:443", "[2001:db8::2]:50000"].map(|end| end.parse::<SocketAddr>().unwrap());
    let options =
        TcpOptions { timestamps: Some(Timestamps { value: 1, echo: 2 }), ..TcpOptions::default() };
    let segment = Segment {
        seq: SeqNum(7),
        ack: SeqNum(9),
        len: 4,
        flags: Flags::ACK,
        window: 99,
        options,
        ..Segment::default()
    };
    let mut bytes = vec![];
    let packet = TcpPacket::new(ends[0], ends[1], segment, &Marking::default());
    wire::write(&packet, b"data", &mut bytes).unwrap();
    if !extensions.is_empty() {
        bytes[6] = next;
        let length = u16::from_be_bytes([bytes[4], bytes[5]]) + extensions.len() as u16;
        bytes[4..6].copy_from_slice(&length.to_be_bytes());
        bytes.splice(40..40, extensions.iter().copied());
    }
    // Class 0xba, label 0x12345 (RFC 8200 §3).
    bytes[..4].copy_from_slice(&[0x6b, 0xa1, 0x23, 0x45]);
    bytes
}

/// The cases are the extension headers of RFC 8200 §4, alone and in a row. They are hop by hop (0),
/// routing (43), destination (60), a whole fragment (44, RFC 6946), and authentication (51, RFC
/// 4302).
#[test]
fn extension_headers_are_skipped() {
    let option = |next: u8| [next, 0, 1, 4, 0, 0, 0, 0];
    let fragment = |next: u8| [next, 0, 0, 0, 0, 0, 0, 9];
    let authentication = |next: u8| [[next, 2, 0, 0], [1; 4], [2; 4], [3; 4]].concat();
    let row = [
        &option(43)[..],
        &[44, 0, 253, 0, 0, 0, 0, 0],
        &fragment(51),
        &authentication(60),
        &option(6),
    ];
    let mut cases = vec![(6, vec![]), (0, row.concat())];
    cases.extend([0, 43, 60].map(|kind| (kind, option(6).to_vec())));
    cases.push((44, fragment(6).to_vec()));
    cases.push((51, authentication(6)));
    // Two units of eight bytes follow the first.
    cases.push((60, [&[6, 2, 1, 20][..], &[0; 20]].concat()));
    for (link, header) in [
        (101, &[][..]),
        (229, &[]),
        (1, &[&[2; 12][..], &[0x86, 0xdd]].concat()),
        (0, &[24, 0, 0, 0]),
        (0, &[10, 0, 0, 0]),
        (108, &[0, 0, 0, 30]),
    ] {
        let packets: Vec<Packet> = cases
            .iter()
            .map(|(next, extensions)| [header, &over_ipv6(*next, extensions)].concat())
            .map(|bytes| Packet {
                micros: 1_700_000_000_000_000,
                length: bytes.len() as u32,
                bytes,
            })
            .collect();
        let file = pcap(Order::Little, false, link, &packets);
        let read = Everything::of_bytes(&file);
        assert_eq!(read.segments.len(), cases.len(), "{:?}", read.counters);
        let end = |text: &str| TcpEnd::from(text.parse::<SocketAddr>().unwrap());
        for segment in &read.segments {
            assert_eq!(segment.source, end("[2001:db8::1]:443"));
            assert_eq!(segment.destination, end("[2001:db8::2]:50000"));
            assert_eq!((segment.seq, segment.ack, segment.payload), (SeqNum(7), SeqNum(9), 4));
            assert_eq!((segment.traffic_class, segment.ip_id), (0xba, 0x12345));
            assert_eq!(segment.options.timestamps(), Some(Timestamps { value: 1, echo: 2 }));
        }
        assert_eq!(read.counters.first_fragments, 0);
        // Wireshark does not know Linux's number of the family.
        if header != [10, 0, 0, 0] {
            assert_as_shown(&format!("6-{link}-{}", header.len()), &file);
        }
    }
}

/// The first of several fragments has the lowest bit of its offset's field set, a later one has an
/// offset (RFC 8200 §4.5). More extension headers than any real packet has are an attack on
/// readers.
#[test]
fn fragments_and_attacks_by_ipv6() {
    let counters = |next, extensions: &[u8]| {
        let bytes = over_ipv6(next, extensions);
        let packet = Packet { micros: 1, length: bytes.len() as u32, bytes };
        Everything::of_bytes(&pcap(Order::Little, false, 229, &[packet])).counters
    };
    assert_eq!(counters(44, &[6, 0, 0, 1, 0, 0, 0, 9]).first_fragments, 1);
    assert_eq!(counters(44, &[6, 0, 0, 8, 0, 0, 0, 9]).of(NotASegment::LaterFragment), 1);
    let many = [60, 0, 1, 4, 0, 0, 0, 0].repeat(50);
    assert_eq!(counters(60, &many).of(NotASegment::Malformed), 1);
    let beyond = [6, 255, 0, 0, 0, 0, 0, 0];
    assert_eq!(counters(60, &beyond).of(NotASegment::Malformed), 1);
}
