//! One capture in every format yields the same segments.

use crate::build::{Order, Packet, PcapNg, packets, pcap};
use crate::tools::{Everything, assert_same, capture, folder, text, wireshark};
use crate::tshark::assert_as_tshark_shows;
use capture::{Observed, PacketDirection};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs;
use std::io::Write;
use std::path::Path;

/// Returns a capture of 654 packets with SACK ranges.
fn original() -> std::path::PathBuf {
    capture("fast019")
}

fn segments(path: &Path) -> Vec<Observed> {
    Everything::of_files([path]).segments
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(vec![], Compression::fast());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

#[test]
fn formats_of_other_programs_have_the_same_segments() {
    let folder = folder("formats");
    let original = original();
    let expected = segments(&original);
    assert_eq!(expected.len(), 654);
    for format in ["pcap", "nsecpcap", "pcapng"] {
        let path = folder.join(format);
        let arguments = ["-F", format, text(&original), text(&path)];
        if wireshark("editcap", &arguments).is_none() {
            return;
        }
        assert_same(&segments(&path), &expected, format);
        let plain = fs::read(&path).unwrap();
        let compressed = [gzip(&plain), zstd::encode_all(&plain[..], 3).unwrap()];
        for bytes in compressed {
            assert_same(&Everything::of_bytes(&bytes).segments, &expected, format);
        }
    }
}

/// `pigz`, `zstd` and `cat` concatenate several compressed files into one.
#[test]
fn compressed_parts_in_a_row_are_one_file() {
    let plain = fs::read(original()).unwrap();
    let expected = segments(&original());
    let (head, tail) = plain.split_at(plain.len() / 2);
    let zstd = |bytes: &[u8]| zstd::encode_all(bytes, 3).unwrap();
    assert_same(
        &Everything::of_bytes(&[gzip(head), gzip(tail)].concat()).segments,
        &expected,
        "gzip",
    );
    assert_same(
        &Everything::of_bytes(&[zstd(head), zstd(tail)].concat()).segments,
        &expected,
        "zstd",
    );
}

/// A program that was restarted with `>>` writes another header between packets, in this test with
/// another link type, byte order and unit of time.
#[test]
fn a_capture_appended_to_another_is_read() {
    let all = packets(&original());
    let (head, tail) = all.split_at(300);
    let cut: Vec<Packet> = tail
        .iter()
        .map(|p| Packet { bytes: p.bytes[14..].to_vec(), length: p.length - 14, ..*p })
        .collect();
    let appended =
        [pcap(Order::Little, false, 1, head), pcap(Order::Big, true, 101, &cut)].concat();
    let read = Everything::of_bytes(&appended);
    assert_same(&read.segments, &segments(&original()), "all");
    assert!(read.errors.is_empty());
}

#[test]
fn both_byte_orders_and_units_are_read() {
    let packets = packets(&original());
    for order in [Order::Little, Order::Big] {
        for is_nanos in [false, true] {
            let read = Everything::of_bytes(&pcap(order, is_nanos, 1, &packets));
            assert_same(&read.segments, &segments(&original()), &format!("{order:?} {is_nanos}"));
        }
    }
}

/// Upper bits of the link type say that 4 bytes of check sequence follow each packet
/// (draft-ietf-opsawg-pcap §4).
#[test]
fn bits_above_the_link_type_do_not_count() {
    let packets = packets(&original());
    let read = Everything::of_bytes(&pcap(Order::Little, false, 0x4400_0001, &packets));
    assert_same(&read.segments, &segments(&original()), "all");
}

/// The file has sections of both byte orders, with blocks of all kinds, and ticks of 10⁻⁶, 10⁻⁹,
/// 10⁻³ and 2⁻¹⁰ s, some with another origin than 1970. Segments are those of the original, and
/// match tshark.
#[test]
fn blocks_of_all_kinds_are_read() {
    let folder = folder("blocks");
    let original = packets(&original());
    let mut expected = segments(&self::original());
    let mut file = PcapNg::new(Order::Little);
    add_section(&mut file, &original[..200]);
    file.section(Order::Big);
    add_section(&mut file, &original[200..400]);
    // Interface 2 has only milliseconds, interface 3 only 2⁻¹⁰ s.
    for (n, segment) in expected[..400].iter_mut().enumerate() {
        let nanos = segment.at.as_nanos();
        let nanos = match n % 200 {
            100..150 => nanos / 1_000_000 * 1_000_000,
            150..200 => (u128::from(nanos) * 1024 / 1_000_000_000 * 1_000_000_000 / 1024) as u64,
            _ => nanos,
        };
        segment.at = units::Instant::from_nanos(nanos);
        segment.interface = (n % 200 / 50) as u16;
    }
    let path = folder.join("blocks.pcapng");
    fs::write(&path, &file.file).unwrap();
    let read = Everything::of_files([&path]);
    assert_same(&read.segments, &expected[..400], "blocks");
    // tshark numbers interfaces of all sections in one row, and does not print them for each
    // segment.
    let plain: Vec<Observed> =
        read.segments.iter().map(|s| Observed { interface: 0, ..*s }).collect();
    if let Some(shown) = crate::tshark::tshark(&path) {
        assert_same(&plain, &shown, "tshark");
    }
}

/// Adds four interfaces with 50 packets each, and skipped blocks between them.
pub(crate) fn add_section(file: &mut PcapNg, packets: &[Packet]) {
    const SECOND: u64 = 1_000_000;
    let offset = 1_000_000_000;
    let milliseconds = file.option(9, &[3]);
    let binary = file.option(9, &[0x80 | 10]);
    let nanoseconds =
        [file.option(2, b"eth0"), file.option(9, &[9]), file.option(14, &file.order.long(offset))]
            .concat();
    file.interface(1, 0, &[]);
    file.interface(1, 262_144, &nanoseconds);
    file.interface(1, 262_144, &milliseconds);
    file.interface(1, 262_144, &binary);
    for (n, packet) in packets.iter().enumerate() {
        let micros = packet.micros;
        match n / 50 {
            0 if n % 2 == 0 => file.packet(0, micros, packet, &[]),
            0 => {
                // An obsolete packet (appendix A): interface and drops share a word.
                let interface = [file.order.half(0), file.order.half(7)].concat();
                let words = [
                    (micros >> 32) as u32,
                    micros as u32,
                    packet.bytes.len() as u32,
                    packet.length,
                ];
                let body = [&interface[..], &file.order.words(&words), &packet.bytes].concat();
                file.block(2, &body);
            }
            1 => {
                let comment = file.option(1, b"a comment");
                file.packet(1, (micros - offset * SECOND) * 1_000, packet, &comment);
            }
            2 => file.packet(2, micros / 1_000, packet, &[]),
            _ => file.packet(3, (u128::from(micros) * 1024 / 1_000_000) as u64, packet, &[]),
        }
        match n % 10 {
            0 => file.block(4, &[0; 4]),
            1 => file.block(0x7000, b"of private use, and of a length that is padded."),
            2 => file.block(0x8000_0001, &vec![7; 300_000]),
            _ => {}
        }
    }
}

/// Wireshark's mergecap makes an interface for each file.
#[test]
fn interfaces_of_different_link_types_are_read() {
    let folder = folder("interfaces");
    let [ethernet, raw, both] = ["1.pcap", "2.pcap", "both.pcapng"].map(|name| folder.join(name));
    let all = packets(&original());
    let half = |of: usize| all.iter().skip(of).step_by(2).cloned().collect::<Vec<_>>();
    fs::write(&ethernet, pcap(Order::Little, false, 1, &half(0))).unwrap();
    let cut: Vec<Packet> = half(1)
        .into_iter()
        .map(|p| Packet { bytes: p.bytes[14..].to_vec(), length: p.length - 14, ..p })
        .collect();
    fs::write(&raw, pcap(Order::Little, false, 101, &cut)).unwrap();
    let arguments = ["-w", text(&both), text(&ethernet), text(&raw)];
    if wireshark("mergecap", &arguments).is_none() {
        return;
    }
    let read = Everything::of_files([&both]).segments;
    assert!((0..2).all(|n| read.iter().filter(|segment| segment.interface == n).count() == 327));
    let plain: Vec<Observed> = read.iter().map(|s| Observed { interface: 0, ..*s }).collect();
    if let Some(shown) = crate::tshark::tshark(&both) {
        assert_same(&plain, &shown, "tshark");
    }
    assert_same(&Everything::of_files([&ethernet, &raw]).segments, &plain, "merged by ourselves");
}

/// Simple packets have no time: the counter shows them, and they have the time of the packet
/// before. The snap length of the interface, 40 bytes, limits their captured part, which lacks the
/// TCP header.
#[test]
fn simple_packets_have_the_time_of_the_packet_before() {
    let original = packets(&original());
    let mut file = PcapNg::new(Order::Big);
    file.interface(1, 54, &[]);
    let simple = |file: &mut PcapNg, packet: &Packet| {
        let bytes = &packet.bytes[..packet.bytes.len().min(54)];
        file.block(3, &[&file.order.word(packet.length)[..], bytes].concat());
    };
    file.packet(0, original[0].micros, &original[0], &[]);
    simple(&mut file, &original[1]);
    simple(&mut file, &original[2]);
    let read = Everything::of_bytes(&file.file);
    assert_eq!((read.segments.len(), read.counters.untimed), (3, 2));
    assert!(read.segments.iter().all(|segment| segment.at == read.segments[0].at));
    let expected = segments(&self::original());
    for (segment, expected) in read.segments.iter().zip(&expected) {
        assert_eq!((segment.seq, segment.payload), (expected.seq, expected.payload));
    }
}

/// The two lowest bits of `epb_flags` are 1 for inbound, 2 for outbound (§4.3.1). Statistics count
/// the packets dropped by the interface (5) and by the system (7) so far. The latest value counts,
/// in each section.
#[test]
fn directions_and_losses_are_told() {
    let original = packets(&original());
    let mut file = PcapNg::new(Order::Little);
    for dropped in [40_u64, 2] {
        file.section(Order::Little);
        file.interface(1, 0, &[]);
        for flags in [0_u32, 1, 2, 5] {
            let options = file.option(2, &file.order.word(flags));
            file.packet(0, original[0].micros, &original[0], &options);
        }
        for dropped in [dropped / 2, dropped] {
            let options = [file.option(5, &file.order.long(dropped)), file.option(7, &[0; 8])];
            let body = [&file.order.words(&[0, 0, 0])[..], &options.concat(), &[0; 4]].concat();
            file.block(5, &body);
        }
    }
    let read = Everything::of_bytes(&file.file);
    use PacketDirection::{In, Out, Unknown};
    let directions: Vec<_> = read.segments.iter().map(|segment| segment.direction).collect();
    assert_eq!(directions, [Unknown, In, Out, In, Unknown, In, Out, In]);
    assert_eq!(read.counters.lost, 42);
}

/// With a snap length, the rest of headers is read, and missing options are reported. Without
/// options a segment needs 14 + 20 + 20 bytes.
#[test]
fn short_snap_lengths_cut_options_and_then_packets() {
    let folder = folder("snap");
    let original = original();
    let expected = segments(&original);
    for snap in ["96", "66", "60", "54", "53", "40", "20", "10"] {
        let path = folder.join(snap);
        let arguments = ["-F", "pcap", "-s", snap, text(&original), text(&path)];
        if wireshark("editcap", &arguments).is_none() {
            return;
        }
        let read = Everything::of_files([&path]);
        let room = snap.parse::<usize>().unwrap();
        if room < 54 {
            assert_eq!(read.counters.of(capture::NotASegment::Cut), 654, "{snap}");
            continue;
        }
        for (segment, whole) in read.segments.iter().zip(&expected) {
            let bare = |segment: &Observed| Observed { options: Default::default(), ..*segment };
            assert_eq!(bare(segment), bare(whole));
            let is_whole = segment.options == whole.options;
            assert!(is_whole || segment.options.are_cut(), "{segment:?} {whole:?}");
        }
        assert_eq!(read.segments.len(), 654);
        assert_eq!(
            read.segments.iter().any(|segment| segment.options.are_cut()),
            room < 74,
            "{snap}"
        );
    }
}

/// The original capture of all these variants matches tshark itself.
#[test]
fn the_original_is_right() {
    assert_as_tshark_shows(&original());
}
