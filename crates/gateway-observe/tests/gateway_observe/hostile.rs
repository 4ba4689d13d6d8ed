//! Packets from outside, arbitrary ones and those of the corpus: none does harm.

use gateway_observe::testing::see_option;
use proptest::prelude::*;
use std::fs;
use std::path::Path;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz-corpus/option");

#[test]
fn the_corpus_upsets_nothing() {
    let mut count = 0;
    for entry in fs::read_dir(CORPUS).unwrap() {
        see_option(&fs::read(entry.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count >= 4, "{count}");
}

/// A loss at 144,768 bytes (`gateway_observe::path_option`).
const OPTION: [u8; 16] =
    [254, 16, 0x48, 0x53, 0x11, 0, 0x20, 0x6b, 0x30, 0xc4, 0x1c, 0xe2, 0, 139, 0, 2];

/// Returns a FIN of 192.0.2.1:443 to 198.51.100.7 whose header has these options, after its length.
fn packet(options: &[u8]) -> Vec<u8> {
    let length = 40 + options.len() as u8;
    let mut packet = vec![length, 0x45, 0, 0, length, 0, 0, 0x40, 0, 64, 6, 0, 0];
    packet.extend([192, 0, 2, 1, 198, 51, 100, 7, 1, 187, 0xc3, 0x50, 0, 0, 0, 1, 0, 0, 0, 2]);
    packet.extend([(5 + options.len() as u8 / 4) << 4, 0x11, 0, 0, 0, 0, 0, 0]);
    packet.extend(options);
    packet
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_harm(bytes: Vec<u8>) {
        see_option(&bytes);
    }

    /// Almost valid input: a good packet with one byte changed.
    #[test]
    fn damaged_packets_are_read_without_harm(at: prop::sample::Index, byte: u8) {
        let mut packet = packet(&OPTION);
        let place = at.index(packet.len());
        packet[place] = byte;
        see_option(&packet);
    }
}

#[test]
#[ignore = "writes fuzz-corpus: make fuzz-corpus"]
fn write_corpus() {
    fs::create_dir_all(CORPUS).unwrap();
    let put = |name: &str, bytes: &[u8]| fs::write(Path::new(CORPUS).join(name), bytes).unwrap();
    put("ok-loss", &packet(&OPTION));
    put("ok-twice", &[packet(&OPTION), packet(&OPTION)].concat());
    put("bad-version", &packet(&[&OPTION[..4], &[0x2f], &OPTION[5..]].concat()));
    put("bad-figures", &packet(&[&OPTION[..6], &[0xff; 10]].concat()));
    put("bad-length", &packet(&[&[254, 8][..], &OPTION[2..8]].concat()));
    put("bad-cut", &packet(&OPTION)[..50]);
    put("bad-empty", b"");
}
