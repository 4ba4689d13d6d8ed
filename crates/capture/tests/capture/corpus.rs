//! Replays the corpus of the fuzz target: a small capture in each format, some of them damaged.

use crate::build::{Order, Packet, PcapNg, packets, pcap, pcap_header};
use crate::carriers::{nflog, pktap, radiotap, wireless};
use crate::damaged::as_pcapng;
use crate::formats::{add_section, gzip};
use crate::links::{ipv4, over_ipv6, udp};
use crate::tools::{Everything, capture};
use std::fs;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz-corpus/captures");

/// `ok-*` are read without an error and have segments, `bad-*` have an error.
#[test]
fn every_file_of_the_corpus_is_what_its_name_says() {
    let (mut good, mut bad) = (0, 0);
    for file in fs::read_dir(FOLDER).expect("the corpus is part of the repository") {
        let path = file.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        capture::testing::play(&bytes);
        let read = Everything::of_bytes(&bytes);
        let name = path.file_name().unwrap().to_str().unwrap();
        match name.split_once('-') {
            Some(("ok", _)) => {
                assert!(!read.segments.is_empty() && read.errors.is_empty(), "{name}: {read:?}");
                good += 1;
            }
            Some(("bad", _)) => {
                assert!(!read.errors.is_empty(), "{name}: {read:?}");
                bad += 1;
            }
            _ => panic!("{name}"),
        }
    }
    assert!(good >= 20 && bad >= 12, "{good} and {bad} files");
}

/// Returns three segments from the middle of a transfer, with SACK ranges and timestamps.
fn few() -> Vec<Packet> {
    packets(&capture("fast019")).drain(300..303).collect()
}

/// Returns these packets from their IP headers on, after another header.
fn few_behind(header: &[u8]) -> Vec<Packet> {
    let around = |packet: Packet| {
        let bytes = [header, &packet.bytes[14..]].concat();
        Packet { length: bytes.len() as u32, bytes, ..packet }
    };
    few().into_iter().map(around).collect()
}

fn in_a_tunnel(header: &[u8], protocol: u8) -> Vec<Packet> {
    let around = |packet: Packet| {
        let outer = ipv4(protocol, header.len() + packet.bytes.len());
        let bytes = [&outer, header, &packet.bytes].concat();
        Packet { length: bytes.len() as u32, bytes, ..packet }
    };
    few_behind(&[]).into_iter().map(around).collect()
}

fn good() -> Vec<(&'static str, Vec<u8>)> {
    let little = |link, packets: &[Packet]| pcap(Order::Little, false, link, packets);
    let plain = little(1, &few());
    let mut blocks = PcapNg::new(Order::Big);
    // There are two: the third would be after a block of 300 KB.
    add_section(&mut blocks, &few()[..2]);
    let mut simple = PcapNg::new(Order::Little);
    simple.interface(1, 0, &[]);
    let packet = few().remove(0);
    simple.block(3, &[&packet.length.to_le_bytes()[..], &packet.bytes].concat());
    let extended = over_ipv6(0, &[[44, 0, 1, 4, 0, 0, 0, 0], [6, 0, 0, 1, 0, 0, 0, 9]].concat());
    let extended = Packet { micros: 1, length: extended.len() as u32, bytes: extended };
    let mut cut = few();
    cut.iter_mut().for_each(|packet| packet.bytes.truncate(60));
    let mut long = few();
    long.iter_mut().for_each(|packet| {
        packet.bytes[16..18].fill(0);
        packet.length = 100_000;
    });
    vec![
        ("big-endian", pcap(Order::Big, false, 1, &few())),
        ("nanoseconds", pcap(Order::Little, true, 1, &few())),
        ("raw", little(101, &few_behind(&[]))),
        ("loopback", little(0, &few_behind(&[2, 0, 0, 0]))),
        ("vlan", little(1, &few_behind(&[&[2; 12][..], &[0x81, 0, 0, 7, 8, 0]].concat()))),
        ("sll", little(113, &few_behind(&[&[0, 4][..], &[2; 12], &[8, 0]].concat()))),
        ("sll2", little(276, &few_behind(&[&[8, 0][..], &[0; 18]].concat()))),
        ("in-ip", little(101, &in_a_tunnel(&[], 4))),
        ("in-gre", little(101, &in_a_tunnel(&[0x20, 0, 8, 0, 1, 2, 3, 4], 47))),
        ("ipv6-extensions", little(229, &[extended])),
        ("short-snap", little(1, &cut)),
        ("super-segments", little(1, &long)),
        ("pcapng", as_pcapng(&few()).file),
        ("pcapng-blocks", blocks.file),
        ("pcapng-simple", simple.file),
        ("gzip", gzip(&plain)),
        ("zstd", zstd::encode_all(&plain[..], 19).unwrap()),
        ("zstd-pcapng", zstd::encode_all(&as_pcapng(&few()).file[..], 19).unwrap()),
        ("appended", [plain.clone(), pcap(Order::Big, true, 101, &few_behind(&[]))].concat()),
        ("microseconds", plain),
    ]
}

/// Returns captures of rare links and tunnels, with a TLS record, and with a packet that has an
/// impossible time.
fn rare() -> Vec<(&'static str, Vec<u8>)> {
    let little = |link, packets: &[Packet]| pcap(Order::Little, false, link, packets);
    let radio = [radiotap(&[2], &[0]), wireless(0x88, 1, &[5, 0])].concat();
    let mirror =
        [&[0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, 0x10, 10, 0, 9, 0, 0, 0, 0][..], &[2; 12], &[8, 0]];
    let mobile = udp(2152, &[0x34, 255, 0, 99, 0, 0, 0, 7, 0, 0, 0, 0x85, 1, 0, 9, 0], 60);
    let mut secure = few();
    for packet in &mut secure {
        let header = 14 + 20 + usize::from(packet.bytes[46] >> 4) * 4;
        packet.bytes.truncate(header);
        packet.bytes.extend([&[22, 3, 3, 0, 122, 2, 0, 0, 118, 3, 3][..], &[7; 32], &[0]].concat());
    }
    let mut timeless = little(1, &few());
    timeless[28..32].fill(0xff);
    vec![
        ("ppp", little(9, &few_behind(&[0xff, 3, 0, 0x21]))),
        ("nflog", little(239, &few_behind(&nflog(Order::Little, 60)))),
        ("pktap", little(258, &few_behind(&pktap(Order::Little, 101)))),
        ("radiotap", little(127, &few_behind(&radio))),
        ("erspan", little(101, &in_a_tunnel(&mirror.concat(), 47))),
        ("gtp-u", little(101, &in_a_tunnel(&mobile, 17))),
        ("tls", little(1, &secure)),
        ("impossible-time", timeless),
    ]
}

fn bad() -> Vec<(&'static str, Vec<u8>)> {
    let plain = pcap(Order::Little, false, 1, &few());
    let pcapng = as_pcapng(&few()).file;
    let changed = |file: &[u8], at: usize, to: [u8; 4]| {
        let mut file = file.to_vec();
        file[at..at + 4].copy_from_slice(&to);
        file
    };
    let cut = |file: &[u8]| file[..file.len() - 5].to_vec();
    let mut faults = as_pcapng(&few());
    (0..10).for_each(|_| faults.block(6, &[0; 8]));
    let mut stranger = as_pcapng(&few());
    stranger.packet(9, 0, &few()[0], &[]);
    vec![
        ("empty", vec![]),
        ("har", br#"{"log": {"version": "1.2", "entries": []}}"#.to_vec()),
        ("half-a-header", pcap_header(Order::Little, false, 1)[..12].to_vec()),
        ("cut", cut(&plain)),
        ("cut-pcapng", cut(&pcapng)),
        ("cut-gzip", cut(&gzip(&plain))),
        ("cut-zstd", cut(&zstd::encode_all(&plain[..], 19).unwrap())),
        ("absurd-length", changed(&plain, 24 + 8, [0xff; 4])),
        ("zeros", [plain.clone(), vec![0; 64]].concat()),
        ("absurd-block", changed(&pcapng, 48 + 4, [0xf0; 4])),
        ("two-lengths", changed(&pcapng, pcapng.len() - 4, [1; 4])),
        ("faults", faults.file),
        ("stranger", stranger.file),
    ]
}

/// Writes the corpus from which fuzzing starts.
#[test]
#[ignore = "writes fuzz-corpus: make fuzz-corpus"]
fn write_corpus() {
    fs::create_dir_all(FOLDER).unwrap();
    for (kind, files) in [("ok", good()), ("ok", rare()), ("bad", bad())] {
        for (name, bytes) in files {
            fs::write(format!("{FOLDER}/{kind}-{name}"), bytes).unwrap();
        }
    }
}
