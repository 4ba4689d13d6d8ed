//! Rare link layers and tunnels, by hand from the documents that define them: the same
//! segments as over Ethernet. VLANs and tunnels have labels.

use crate::build::{Order, Packet, pcap};
use crate::links::{assert_read, behind, every_cut_is_read, ipv4, ipv6, original, tunnelled, udp};
use crate::tools::{Everything, assert_same};
use capture::{NotASegment, UdpUse};
use std::collections::BTreeSet;

/// Returns the packets of the original after a header of 802.11 and that of 802.2: from a station
/// to its access point, in a data frame.
pub(crate) fn wireless(kind: u8, control: u8, extra: &[u8]) -> Vec<u8> {
    let frame = [&[kind, control, 0, 0][..], &[2; 18], &[0x10, 0], extra].concat();
    [&frame[..], &[0xaa, 0xaa, 3, 0, 0, 0, 8, 0]].concat()
}

/// A radiotap header: version 0, padding, length, words of what is present, and fields.
pub(crate) fn radiotap(present: &[u32], fields: &[u8]) -> Vec<u8> {
    let words: Vec<u8> = present.iter().flat_map(|word| word.to_le_bytes()).collect();
    let length = (4 + words.len() + fields.len()) as u16;
    [&[0, 0][..], &length.to_le_bytes(), &words, fields].concat()
}

/// A header of NFLOG for IPv4: the hook of type 1 with 4 bytes, a name of type 10 with 3, and the
/// payload, of type 9.
pub(crate) fn nflog(order: Order, inner: usize) -> Vec<u8> {
    let half = |number: usize| order.half(number as u16);
    let attribute = |kind: usize, length: usize| [half(4 + length), half(kind)].concat();
    let hook = [attribute(1, 4), vec![8, 0, 3, 0]].concat();
    let name = [attribute(10, 3), vec![b'a', b'b', 0, 0]].concat();
    [&[2, 0, 0, 5][..], &hook, &name, &attribute(9, inner)].concat()
}

/// A header of PKTAP of 108 bytes: its length, a packet, the link type.
pub(crate) fn pktap(order: Order, link: u32) -> Vec<u8> {
    let mut header = order.words(&[108, 1, link]);
    header.resize(108, 0);
    header
}

/// Returns the packets of the original after a header that depends on their lengths.
fn of_length(header: impl Fn(usize) -> Vec<u8>) -> Vec<Packet> {
    tunnelled(header)
}

/// Returns them in GRE of this protocol over IPv4, with a number, and this header.
fn in_gre(protocol: [u8; 2], header: &[u8]) -> Vec<Packet> {
    let gre = [&[0x10, 0, protocol[0], protocol[1], 0, 0, 0, 1], header].concat();
    tunnelled(|inner| [ipv4(47, gre.len() + inner), gre.clone()].concat())
}

/// Returns them over UDP over IPv4 to a port, after this header.
fn over_udp(port: u16, header: &[u8]) -> Vec<Packet> {
    tunnelled(|inner| {
        let udp = udp(port, header, inner);
        [ipv4(17, udp.len() + inner), udp].concat()
    })
}

/// Returns them over UDP to the port of GTP-U, after a header whose length is corrected.
fn over_gtp(header: &[u8]) -> Vec<Packet> {
    tunnelled(|inner| {
        let mut header = header.to_vec();
        let length = (header.len() - 8 + inner) as u16;
        header[2..4].copy_from_slice(&length.to_be_bytes());
        let udp = udp(2152, &header, inner);
        [ipv4(17, udp.len() + inner), udp].concat()
    })
}

fn read(link: u32, packets: &[Packet]) -> Everything {
    Everything::of_bytes(&pcap(Order::Little, false, link, packets))
}

/// Checks that the original is read, and that tshark agrees.
fn assert_original(link: u32, packets: &[Packet]) {
    assert_read(link, packets, |_| ());
    every_cut_is_read(link, &packets[0]);
}

/// Checks that all packets are of this kind.
fn assert_all(link: u32, packets: &[Packet], why: NotASegment) {
    let counters = read(link, packets).counters;
    assert_eq!((counters.of(why), counters.packets), (36, 36), "{why}: {counters:?}");
}

/// RFC 1661 §2, §6.5 and §6.6: with and without address and control, protocol of two bytes and of
/// one.
#[test]
fn point_to_point() {
    for header in [&[0xff, 3, 0, 0x21][..], &[0xff, 3, 0x21], &[0, 0x21], &[0x21]] {
        assert_original(9, &behind(header));
    }
    assert_original(50, &behind(&[0xff, 3, 0, 0x21]));
    assert_all(9, &behind(&[0xff, 3, 0xc0, 0x21]), NotASegment::NotIp);
    let session = |protocol: &'static [u8]| {
        of_length(move |inner| {
            let [high, low] = ((protocol.len() + inner) as u16).to_be_bytes();
            [&[2; 12][..], &[0x88, 0x64, 0x11, 0, 0, 7, high, low], protocol].concat()
        })
    };
    assert_original(1, &session(&[0x21]));
    assert_original(1, &session(&[0, 0x21]));
    assert_all(1, &session(&[0xc0, 0x21]), NotASegment::Tunnelled);
    // The session alone.
    let alone = of_length(|inner| {
        let [high, low] = (2 + inner as u16).to_be_bytes();
        vec![0x11, 0, 0, 7, high, low, 0, 0x21]
    });
    assert_original(51, &alone);
}

#[test]
fn packets_that_operating_systems_log() {
    for order in [Order::Little, Order::Big] {
        let logged = of_length(|inner| nflog(order, inner));
        assert_same(&read(239, &logged).segments, &original(), "NFLOG");
        every_cut_is_read(239, &logged[0]);
        let tapped = behind(&[pktap(order, 1), vec![2; 12], vec![8, 0]].concat());
        assert_same(&read(258, &tapped).segments, &original(), "PKTAP");
        every_cut_is_read(258, &tapped[0]);
        assert_all(258, &behind(&pktap(order, 258)), NotASegment::UnknownLink);
        assert_all(258, &behind(&pktap(order, 195)), NotASegment::UnknownLink);
        // Raw IP, as of macOS' tunnels.
        assert_same(&read(258, &behind(&pktap(order, 12))).segments, &original(), "raw");
    }
    let short = Order::Little.words(&[8, 1, 1]);
    assert_all(258, &behind(&short), NotASegment::Malformed);
    assert_all(258, &behind(&Order::Little.words(&[12, 2, 1])), NotASegment::NotIp);
    assert_all(239, &behind(&[2, 0, 0, 0, 3, 0, 1, 0]), NotASegment::Malformed);
}

/// Data, data with quality of service, with four addresses, and with both and a control field;
/// after radiotap with and without flags.
#[test]
fn wireless_frames() {
    for header in [
        wireless(0x08, 1, &[]),
        wireless(0x08, 2, &[]),
        wireless(0x88, 1, &[5, 0]),
        wireless(0x08, 3, &[2; 6]),
        wireless(0x88, 0x83, &[2, 2, 2, 2, 2, 2, 5, 0, 0, 0, 0, 0]),
    ] {
        assert_original(105, &behind(&header));
        for radio in [
            radiotap(&[0], &[]),
            radiotap(&[2], &[0]),
            // More words; a time, aligned to eight bytes, before the flags.
            radiotap(&[1 << 31 | 3, 1 << 31, 0], &[&[9; 8][..], &[0]].concat()),
            radiotap(&[3], &[&[9; 8][..], &[0]].concat()),
        ] {
            assert_original(127, &behind(&[radio, header.clone()].concat()));
        }
    }
    let padded = [radiotap(&[2], &[0x20]), wireless(0x88, 1, &[5, 0, 0, 0])].concat();
    assert_same(&read(127, &behind(&padded)).segments, &original(), "padded");
    let damaged = [radiotap(&[2], &[0x40]), wireless(0x08, 1, &[])].concat();
    assert_all(127, &behind(&damaged), NotASegment::Malformed);
    // Two words end at byte 12, and the time begins at byte 16.
    let fields = [&[0; 4][..], &[9; 8], &[0x40]].concat();
    let damaged = [radiotap(&[1 << 31 | 3, 0], &fields), wireless(0x08, 1, &[])].concat();
    assert_all(127, &behind(&damaged), NotASegment::Malformed);
    assert_all(127, &behind(&radiotap(&[3], &[9; 8])), NotASegment::NotIp);
    for (header, why) in [
        // Beacons, acknowledgements, frames without data; encrypted ones; several packets in one.
        (wireless(0x80, 0, &[]), NotASegment::NotIp),
        (wireless(0xd4, 0, &[]), NotASegment::NotIp),
        (wireless(0x48, 1, &[]), NotASegment::NotIp),
        (wireless(0x08, 0x41, &[]), NotASegment::WirelessEncrypted),
        (wireless(0x88, 1, &[0x80, 0]), NotASegment::Tunnelled),
    ] {
        assert_all(105, &behind(&header), why);
    }
    let mut fragments = wireless(0x08, 5, &[]);
    assert_eq!(read(105, &behind(&fragments)).counters.first_fragments, 36);
    fragments[22] = 0x11;
    assert_all(105, &behind(&fragments), NotASegment::LaterFragment);
}

/// ERSPAN (draft-foschiano-erspan §4): type I without a header, type II with one of 8 bytes, type
/// III with one of 12, and 8 more.
#[test]
fn mirrored_frames_in_gre() {
    let frame = [&[2; 12][..], &[8, 0]].concat();
    let type_1 = [&[0, 0, 0x88, 0xbe][..], &frame].concat();
    assert_read(
        101,
        &tunnelled(|inner| [ipv4(47, type_1.len() + inner), type_1.clone()].concat()),
        |_| (),
    );
    let type_2 = [&[0x10, 10, 0, 100, 0, 0, 0, 0][..], &frame].concat();
    assert_original(101, &in_gre([0x88, 0xbe], &type_2));
    let type_3 = [0x20, 10, 0, 100, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_original(101, &in_gre([0x22, 0xeb], &[&type_3[..], &frame].concat()));
    let mut longer = type_3;
    longer[11] = 1;
    let longer = [&longer[..], &[0; 8], &frame].concat();
    assert_same(&read(101, &in_gre([0x22, 0xeb], &longer)).segments, &original(), "longer");
    // A packet of IP instead of a frame; frames of another kind; other versions.
    let mut ip = type_3;
    ip[10] = 2 << 2;
    assert_same(&read(101, &in_gre([0x22, 0xeb], &ip)).segments, &original(), "IP");
    ip[10] = 3 << 2;
    assert_all(101, &in_gre([0x22, 0xeb], &ip), NotASegment::Tunnelled);
    assert_all(
        101,
        &in_gre([0x88, 0xbe], &[&type_3[..8], &frame].concat()),
        NotASegment::Tunnelled,
    );
    assert_all(
        101,
        &in_gre([0x22, 0xeb], &[&type_2[..], &[0; 8]].concat()),
        NotASegment::Tunnelled,
    );
}

/// GTP-U (3GPP TS 29.281 §5.1): a packet, also with a number, and with an extension header of 4
/// bytes that names none behind it; other messages.
#[test]
fn tunnels_of_mobile_networks() {
    let plain = [0x30, 255, 0, 99, 0, 0, 0, 7];
    assert_original(101, &over_gtp(&plain));
    let numbered = [0x32, 255, 0, 99, 0, 0, 0, 7, 0, 1, 0, 0x85];
    assert_original(101, &over_gtp(&numbered));
    let extended = [0x34, 255, 0, 99, 0, 0, 0, 7, 0, 0, 0, 0x85, 1, 0, 9, 0];
    assert_original(101, &over_gtp(&extended));
    let endless = [0x34, 255, 0, 99, 0, 0, 0, 7, 0, 0, 0, 0x85, 0, 0, 9, 0];
    assert_all(101, &over_gtp(&endless), NotASegment::Malformed);
    let mut many = extended[..12].to_vec();
    many.extend([1, 0, 9, 0x85].repeat(9));
    assert_all(101, &over_gtp(&many), NotASegment::Tunnelled);
    let echo = [0x30, 1, 0, 99, 0, 0, 0, 0];
    let counters = read(101, &over_gtp(&echo)).counters;
    assert_eq!((counters.of(NotASegment::Udp), counters.of_udp(UdpUse::GtpU)), (36, 36));
    // Version 2 is another protocol, of control.
    let control = read(101, &over_gtp(&[0x48, 255, 0, 99, 0, 0, 0, 7])).counters;
    assert_eq!((control.of(NotASegment::Udp), control.of_udp(UdpUse::GtpU)), (36, 0));
}

/// RFC 8086 §3: GRE over UDP to port 4754.
#[test]
fn gre_over_udp() {
    assert_original(101, &over_udp(4754, &[0, 0, 8, 0]));
    assert_original(101, &over_udp(4754, &[0x20, 0, 8, 0, 0, 0, 0, 9]));
    let counters = read(101, &over_udp(4754, &[0, 1, 0x88, 0x0b])).counters;
    let counted = (counters.of(NotASegment::Tunnelled), counters.of_udp(UdpUse::GreOverUdp));
    assert_eq!(counted, (36, 36));
}

/// Recognises a datagram from port 50,000 to another one.
fn shown(port: u16, content: &[u8]) -> UdpUse {
    let udp = udp(port, content, 0);
    let bytes = [ipv4(17, udp.len()), udp].concat();
    let packet = Packet { micros: 1, length: bytes.len() as u32, bytes };
    let counters = read(101, &[packet]).counters;
    assert_eq!(counters.of(NotASegment::Udp), 1);
    let all = UdpUse::ALL.into_iter().filter(|used_for| counters.of_udp(*used_for) == 1);
    let [only] = all.collect::<Vec<_>>()[..] else { panic!("{counters:?}") };
    only
}

/// Bytes show the use of UDP, whatever the port is; a port alone shows nothing.
#[test]
fn what_udp_is_used_for() {
    let quic = |version: [u8; 4]| [&[0xc3][..], &version, &[8; 9]].concat();
    for version in [[0, 0, 0, 1], [0x6b, 0x33, 0x43, 0xcf], [0xff, 0, 0, 29], *b"Q050"] {
        assert_eq!(shown(443, &quic(version)), UdpUse::Quic, "{version:?}");
        assert_eq!(shown(8_443, &quic(version)), UdpUse::Quic, "{version:?}");
    }
    assert_eq!(shown(443, &quic([0, 0, 0, 9])), UdpUse::Other);
    // A short header, no fixed bit, an identifier of 21 bytes, and nothing.
    for content in
        [&[0x43, 0, 0, 0, 1, 8][..], &[0x83, 0, 0, 0, 1, 8], &[0xc3, 0, 0, 0, 1, 21], &[]]
    {
        assert_eq!(shown(443, content), UdpUse::Other, "{content:?}");
    }
    let wire_guard =
        |kind: u8, length: usize| [&[kind, 0, 0, 0][..], &vec![7; length - 4]].concat();
    for (kind, length) in [(1, 148), (2, 92), (3, 64), (4, 32), (4, 1_424)] {
        assert_eq!(shown(51_820, &wire_guard(kind, length)), UdpUse::WireGuard);
        assert_eq!(shown(51_820, &wire_guard(kind, length + 4)), UdpUse::Other);
    }
    assert_eq!(shown(4_500, &[1, 2, 3, 4, 0, 0, 0, 1]), UdpUse::EspInUdp);
    assert_eq!(shown(4_500, &[0, 0, 0, 0, 1, 2, 3, 4]), UdpUse::Other);
    assert_eq!(shown(4_501, &[1, 2, 3, 4, 0, 0, 0, 1]), UdpUse::Other);
    assert_eq!(shown(1_701, &[0xc8, 2, 0, 20]), UdpUse::L2tp);
    assert_eq!(shown(9_000, &[22, 0xfe, 0xfd, 0, 0]), UdpUse::Dtls);
    assert_eq!(shown(53, &[0x08, 0x2a, 1, 0, 0, 1, 0, 0]), UdpUse::Other);
}

/// Returns the labels of all segments of these packets.
fn labels(link: u32, packets: &[Packet]) -> BTreeSet<u16> {
    read(link, packets).segments.iter().map(|segment| segment.label).collect()
}

/// Returns the labels after these tags of VLANs.
fn labels_of_tags(tags: &[u16]) -> BTreeSet<u16> {
    let tags: Vec<u8> =
        tags.iter().flat_map(|tag| [&[0x81, 0], &tag.to_be_bytes()[..]].concat()).collect();
    labels(1, &behind(&[&[2; 12][..], &tags, &[8, 0]].concat()))
}

/// A VLAN is its number, whatever its priority is; a priority alone is none.
#[test]
fn the_label_of_a_vlan_is_its_number() {
    for (tags, label) in [(&[][..], 0), (&[0x6000], 0), (&[7], 7), (&[0x6007], 7)] {
        assert_eq!(labels_of_tags(tags), [label].into(), "{tags:?}");
    }
}

/// Another number or another kind of tunnel makes another label.
#[test]
fn what_carries_a_packet_makes_its_label() {
    let frame = [&[2; 12][..], &[8, 0]].concat();
    let session = |number| {
        of_length(move |_| {
            [&[2; 12][..], &[0x88, 0x64, 0x11, 0, 0, number, 0, 99, 0, 0x21]].concat()
        })
    };
    let mpls = |number| behind(&[&[2; 12][..], &[0x88, 0x47, 0, number, 1, 64]].concat());
    let vxlan = |number| over_udp(4789, &[&[8, 0, 0, 0, 0, 0, number, 0][..], &frame].concat());
    let gre = |key| over_udp(4754, &[0x20, 0, 8, 0, 0, 0, 0, key]);
    let mirror =
        |number| in_gre([0x88, 0xbe], &[&[0x10, 0, 0, number, 0, 0, 0, 0][..], &frame].concat());
    let mobile = |number| over_gtp(&[0x30, 255, 0, 99, 0, 0, 0, number]);
    let mut all = Vec::from([[7, 9], [9, 7], [7, 7]].map(|tags| labels_of_tags(&tags)));
    for number in [1, 2] {
        all.extend([
            labels(1, &session(number)),
            labels(1, &mpls(number)),
            labels(101, &vxlan(number)),
        ]);
        all.extend([
            labels(101, &gre(number)),
            labels(101, &mirror(number)),
            labels(101, &mobile(number)),
        ]);
    }
    all.push(labels(101, &tunnelled(|inner| ipv4(4, inner))));
    all.push(labels(101, &tunnelled(|inner| ipv6(4, inner))));
    assert!(all.iter().all(|labels| labels.len() == 1 && *labels.first().unwrap() > 0x0fff));
    let different: BTreeSet<_> = all.iter().collect();
    assert_eq!(different.len(), all.len(), "{all:?}");
}

/// Packets of both directions between two hosts have one label.
#[test]
fn a_tunnel_without_a_number_is_its_two_ends() {
    let reversed = |mut packets: Vec<Packet>| {
        packets.iter_mut().for_each(|packet| packet.bytes[12..20].rotate_left(4));
        packets
    };
    let tunnel = tunnelled(|inner| ipv4(4, inner));
    assert_eq!(labels(101, &reversed(tunnel.clone())), labels(101, &tunnel));
}
