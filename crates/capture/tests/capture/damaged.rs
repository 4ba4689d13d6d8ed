//! Captures that are cut, corrupt, or not captures: everything before the damage is read, and the
//! error names the fault and its position. Nothing panics, and no claim of a file allocates memory.

use crate::build::{Order, Packet, PcapNg, packets, pcap, pcap_header};
use crate::tools::{Everything, capture};
use capture::{NotASegment, Observed};
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use std::io::Write;

fn original() -> Vec<Packet> {
    packets(&capture("rto005"))
}

fn segments() -> Vec<Observed> {
    Everything::of_files([capture("rto005")]).segments
}

pub(crate) fn as_pcapng(packets: &[Packet]) -> PcapNg {
    let mut file = PcapNg::new(Order::Little);
    file.interface(1, 0, &[]);
    packets.iter().for_each(|packet| file.packet(0, packet.micros, packet, &[]));
    file
}

/// For a cut at any byte, the packets before are read, and the error names the offset of the cut
/// packet.
#[test]
fn a_capture_may_end_anywhere() {
    let (all, expected) = (original(), segments());
    let pcap = pcap(Order::Little, false, 1, &all);
    let pcapng = as_pcapng(&all).file;
    // Ends of packets in each format.
    let mut ends = [vec![24_usize], vec![28, 28 + 20]];
    for packet in &all {
        let [of_pcap, of_pcapng] = &mut ends;
        of_pcap.push(of_pcap.last().unwrap() + 16 + packet.bytes.len());
        of_pcapng.push(of_pcapng.last().unwrap() + 32 + packet.bytes.len().next_multiple_of(4));
    }
    for (file, ends, headers) in [(pcap, &ends[0], 1), (pcapng, &ends[1], 2)] {
        assert_eq!(file.len(), *ends.last().unwrap());
        for cut in 1..file.len() {
            let read = Everything::of_bytes(&file[..cut]);
            let whole = ends.iter().filter(|end| **end <= cut).count();
            let expected = &expected[..whole.saturating_sub(headers)];
            assert_eq!(read.segments, expected, "cut at {cut}");
            if ends.contains(&cut) {
                assert!(read.errors.is_empty(), "cut at {cut}: {:?}", read.errors);
            } else if cut > 28 {
                let begin = ends[whole - 1];
                let messages = read.only_error();
                assert_eq!(messages, format!("bytes: ends within a packet, at byte {begin}"));
            } else {
                assert_eq!(read.errors.len(), 1, "cut at {cut}");
            }
        }
    }
}

/// Wraps bytes in gzip without compressing them.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(vec![], Compression::none());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

/// A compressed input that is cut or damaged is read up to there.
#[test]
fn compressed_captures_may_be_cut_and_damaged() {
    let file = pcap(Order::Little, false, 1, &original());
    let zstd = zstd::encode_all(&file[..], 3).unwrap();
    let gzip = stored(&file);
    let expected = segments();
    for whole in [&zstd, &gzip] {
        for cut in 5..whole.len() {
            let read = Everything::of_bytes(&whole[..cut]);
            assert_eq!(read.segments, expected[..read.segments.len()], "cut at {cut}");
            assert_eq!(read.errors.len(), 1, "cut at {cut}: {:?}", read.errors);
        }
    }
    let mut damaged = gzip.clone();
    let last = damaged.len() - 5;
    damaged[last] ^= 1;
    let read = Everything::of_bytes(&damaged);
    assert_eq!(read.segments, expected, "only the checksum is wrong");
    assert!(read.only_error().contains("what is compressed by gzip is damaged"), "{read:?}");
}

/// The third record is damaged: the error names the fault and its offset.
#[test]
fn a_corrupt_record_ends_a_pcap_file() {
    let all = original();
    let third = 24 + 32 + all[0].bytes.len() + all[1].bytes.len();
    for (at, words, why) in [
        (8, vec![1_048_577_u32], "a packet of 1048577 bytes; 1048576 are the most"),
        (8, vec![u32::MAX], "a packet of 4294967295 bytes; 1048576 are the most"),
        (0, vec![0; 4], "zeros where a packet should be"),
    ] {
        let mut file = pcap(Order::Little, false, 1, &all);
        let bytes = Order::Little.words(&words);
        file[third + at..third + at + bytes.len()].copy_from_slice(&bytes);
        let read = Everything::of_bytes(&file);
        assert_eq!(read.segments, segments()[..2], "{why}");
        assert_eq!(read.only_error(), format!("bytes: byte {third}: {why}"));
    }
    // Neither time nor length is possible.
    let mut file = pcap(Order::Little, true, 1, &all);
    let words = Order::Little.words(&[1_000_000_000, 60, u32::MAX]);
    file[28..40].copy_from_slice(&words);
    assert!(Everything::of_bytes(&file).only_error().contains("1000000000 nanoseconds"));
}

/// Packets 3 and 1 have more microseconds, or nanoseconds, than a second: they are left out, and
/// all others are unchanged.
#[test]
fn a_packet_with_an_impossible_time_is_left_out() {
    let all = original();
    for (is_nanos, fraction) in [(false, 1_000_000_u32), (false, u32::MAX), (true, 1_000_000_000)] {
        let mut file = pcap(Order::Little, is_nanos, 1, &all);
        let third = 24 + 32 + all[0].bytes.len() + all[1].bytes.len();
        for at in [third, 24] {
            file[at + 4..at + 8].copy_from_slice(&fraction.to_le_bytes());
        }
        if fraction == u32::MAX {
            // Its second is in the year 2106.
            file[third..third + 4].fill(0xff);
        }
        let read = Everything::of_bytes(&file);
        assert!(read.errors.is_empty(), "{:?}", read.errors);
        let left: Vec<Observed> = [&segments()[1..2], &segments()[3..]].concat();
        assert_eq!(read.segments, left);
        let counters = read.counters;
        assert_eq!((counters.of(NotASegment::ImpossibleTime), counters.first_impossible), (2, 1));
        assert_eq!((counters.backwards, counters.first), (0, Some(segments()[1].at)));
    }
}

/// A block whose two lengths agree but whose contents are invalid costs only itself. One that
/// claims another length ends the file, since the start of the next is unknown.
#[test]
fn a_corrupt_block_of_pcapng_is_passed_over_if_that_is_safe() {
    let all = original();
    let mut file = as_pcapng(&all[..2]);
    let second = file.file.len();
    let too_long = Packet { bytes: all[2].bytes.clone(), ..all[2] };
    file.packet(0, all[2].micros, &too_long, &[]);
    let captured = second + 20;
    file.file[captured..captured + 4].copy_from_slice(&9_999_u32.to_le_bytes());
    let third = file.file.len();
    file.packet(7, all[3].micros, &all[3], &[]);
    file.block(6, &[0; 8]);
    file.packet(0, u64::MAX, &all[3], &[]);
    file.interface(1, 0, &[file.order.half(9), file.order.half(1), [99, 0], [0, 0]].concat());
    file.packet(1, all[4].micros, &all[4], &[]);
    file.packet(0, all[5].micros, &all[5], &[]);
    let read = Everything::of_bytes(&file.file);
    assert_eq!(read.segments.len(), 3, "{:?}", read.errors);
    assert_eq!(read.segments[2].seq, segments()[5].seq);
    let messages: Vec<String> = read.errors.iter().map(ToString::to_string).collect();
    let expected = [
        (second, "a packet of 9999 bytes in a block of"),
        (third, "a packet of interface 7, which is not described"),
        (0, "a packet's block that is too short"),
        (0, "an interface with ticks that are too short"),
    ];
    assert_eq!(messages.len(), expected.len(), "{messages:?}");
    for (messages, (byte, why)) in messages.iter().zip(expected) {
        assert!(
            messages.contains(why) && (byte == 0 || messages.contains(&format!("byte {byte}:"))),
            "{messages}"
        );
    }
    // Its interface cannot be read, so its link type is not known.
    assert_eq!(read.counters.packets, 5);
    assert_eq!(read.counters.of(NotASegment::ImpossibleTime), 1);

    for (at, length) in [(4, 8_u32), (4, 30), (4, 0x0200_0000), (4, 36)] {
        let mut file = as_pcapng(&all[..2]);
        file.packet(0, all[2].micros, &all[2], &[]);
        file.file[second + at..second + at + 4].copy_from_slice(&length.to_le_bytes());
        let read = Everything::of_bytes(&file.file);
        assert_eq!(read.segments, segments()[..2]);
        assert!(
            read.only_error().contains(&format!("byte {second}: a block")),
            "{:?}",
            read.errors
        );
    }
}

/// A file of faulty blocks is given up.
#[test]
fn many_corrupt_blocks_are_too_many() {
    let all = original();
    let mut file = as_pcapng(&all[..1]);
    (0..100).for_each(|_| file.block(6, &[0; 8]));
    file.packet(0, all[1].micros, &all[1], &[]);
    let read = Everything::of_bytes(&file.file);
    assert_eq!((read.segments.len(), read.errors.len()), (1, 8));
}

#[test]
fn what_is_no_capture_is_told_by_its_looks() {
    let messages = |bytes: &[u8]| Everything::of_bytes(bytes).only_error();
    assert_eq!(messages(b""), "bytes: empty");
    assert!(
        messages(b"{\"log\": {\"version\": \"1.2\", \"entries\": []}}")
            .contains("is it a HAR file?")
    );
    assert!(
        messages(&zstd::encode_all(&b"some text"[..], 3).unwrap())
            .contains("compressed by zstd, and not a capture but text")
    );
    assert!(
        messages(&zstd::encode_all(&b""[..], 3).unwrap()).contains("compressed by zstd, and empty")
    );
    assert!(messages(&pcap_header(Order::Little, false, 1)[..23]).contains("23 bytes, too few"));
}

/// A header alone is a capture without packets.
#[test]
fn a_capture_without_packets_is_one() {
    for file in [pcap_header(Order::Big, true, 1), as_pcapng(&[]).file] {
        let read = Everything::of_bytes(&file);
        assert!(read.segments.is_empty() && read.errors.is_empty(), "{read:?}");
    }
}

/// Packets back in time are passed on unmodified, and the counter shows them.
#[test]
fn times_that_run_backwards_are_counted() {
    let mut all = original();
    all.swap(3, 9);
    let read = Everything::of_bytes(&pcap(Order::Little, false, 1, &all));
    assert_eq!(read.segments.len(), all.len());
    assert_eq!(read.counters.backwards, 2);
}

/// The time of the third packet is in the year 2106, and its neighbours are in order. It gets the
/// time of the second, later ones are unchanged, and the fault is reported with its position. The
/// last packet has no later neighbour to compare with.
#[test]
fn a_time_that_leaps_is_that_of_the_packet_before() {
    let all = original();
    for (wrong, micros, shown) in [
        (2, u64::from(u32::MAX) * 1_000_000, "2106-02-07T06:28:15Z"),
        (all.len() - 1, u64::from(u32::MAX) * 1_000_000, "2106-02-07T06:28:15Z"),
        (2, 0, "1970-01-01T00:00:00Z"),
    ] {
        let place = 24 + all[..wrong].iter().map(|packet| 16 + packet.bytes.len()).sum::<usize>();
        let mut damaged = all.clone();
        damaged[wrong].micros = micros;
        for file in [pcap(Order::Little, false, 1, &damaged), as_pcapng(&damaged).file] {
            let read = Everything::of_bytes(&file);
            let mut expected = segments();
            expected[wrong].at = expected[wrong - 1].at;
            assert_eq!(read.segments, expected);
            let messages = read.only_error();
            assert!(messages.contains(&format!("a time of {shown}, and ")), "{messages}");
            // Records of pcapng begin 24 bytes later for its two headers, and are 16 bytes longer
            // or more.
            let is_pcapng = file[..4] == [0x0a, 0x0d, 0x0d, 0x0a];
            assert!(
                is_pcapng || messages.starts_with(&format!("bytes: byte {place}: ")),
                "{messages}"
            );
        }
    }
}

/// One file holds two captures, of which the second was made a year later, or earlier. All packets
/// are read; the first one after the jump has the time of the one before it. The jump is reported.
#[test]
fn a_jump_of_all_times_is_told() {
    const YEAR: u64 = 365 * 86_400 * 1_000_000;
    for later in [true, false] {
        let mut all = original();
        let half = all.len() / 2;
        for packet in &mut all[half..] {
            packet.micros = if later { packet.micros + YEAR } else { packet.micros - YEAR };
        }
        let read = Everything::of_bytes(&pcap(Order::Little, false, 1, &all));
        let place = 24 + all[..half].iter().map(|packet| 16 + packet.bytes.len()).sum::<usize>();
        let messages = read.only_error();
        assert!(
            messages.starts_with(&format!("bytes: byte {place}: times jump from ")),
            "{messages}"
        );
        assert_eq!(read.segments.len(), segments().len());
        assert_eq!(read.segments[half].at, read.segments[half - 1].at);
        let after = units::Instant::from_nanos(all[half + 1].micros * 1_000);
        assert_eq!(read.segments[half + 1].at, after);
    }
}

/// A file whose times all jump to and fro is given up, like one of faulty blocks.
#[test]
fn many_times_that_leap_are_too_many() {
    let mut all = original();
    all.iter_mut()
        .skip(1)
        .step_by(2)
        .for_each(|packet| packet.micros = u64::from(u32::MAX) * 1_000_000);
    let read = Everything::of_bytes(&pcap(Order::Little, false, 1, &all));
    assert_eq!(read.errors.len(), 8);
    assert!(read.segments.len() >= 15, "{}", read.segments.len());
}

proptest! {
    /// With bytes changed anywhere, in either format, something is read, or an error is reported,
    /// and it ends.
    #[test]
    fn any_damage_is_survived(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        is_pcapng: bool,
    ) {
        let all = original();
        let mut file = if is_pcapng { as_pcapng(&all).file } else { pcap(Order::Little, false, 1, &all) };
        for (at, byte) in damage {
            let at = at.index(file.len());
            file[at] = byte;
        }
        let read = Everything::of_bytes(&file);
        prop_assert!(read.counters.packets <= all.len() as u64);
        prop_assert!(read.errors.len() <= 8);
    }
}
