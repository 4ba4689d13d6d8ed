//! Bytes from outside: any, and those of the corpus, which upset nothing.

use crate::bed::{batch, query, report};
use gateway::storage::codec::encode;
use gateway::testing::{hear, restore, see_option};
use memory::site::SiteRecord;
use proptest::prelude::*;
use prost::Message;
use std::fs;
use std::path::Path;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz-corpus");

fn replay(what: &str, take: fn(&[u8])) {
    let mut count = 0;
    for entry in fs::read_dir(Path::new(CORPUS).join(what)).unwrap() {
        take(&fs::read(entry.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count >= 4, "{what}: {count}");
}

#[test]
fn the_corpus_upsets_nothing() {
    replay("messages", hear);
    replay("records", restore);
    replay("option", see_option);
}

fn record() -> SiteRecord {
    SiteRecord {
        network: "192.0.2.0/24".parse().unwrap(),
        origin: 1,
        heard: 1_676_380_634,
        sequence: 3,
        samples: vec![1, 2, 100, 100, 100, 0x85, 9, 2, 2, 90, 0, 0, 6, 9],
    }
}

/// A loss at 144,768 bytes (`gateway::observe::path_option`).
const OPTION: [u8; 16] =
    [254, 16, 0x48, 0x53, 0x11, 0, 0x20, 0x6b, 0x30, 0xc4, 0x1c, 0xe2, 0, 139, 0, 2];

/// A FIN of 192.0.2.1:443 to 198.51.100.7 whose header has these options, behind its length.
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
    fn any_bytes_are_heard_without_harm(bytes: Vec<u8>) {
        hear(&bytes);
        restore(&bytes);
        see_option(&bytes);
    }

    /// Near to what is right: a good message with one byte changed, or cut.
    #[test]
    fn damaged_messages_are_heard_without_harm(at: prop::sample::Index, byte: u8, cut: prop::sample::Index) {
        let mut records = Vec::new();
        (0..4).for_each(|_| encode(&record(), &mut records));
        let messages = [
            batch(1, vec![report("192.0.2.0/24", 100_000), report("2001:db8::/48", 7)]).encode_to_vec(),
            query("192.0.2.0/24").encode_to_vec(),
            records,
        ];
        let mut packet = packet(&OPTION);
        let place = at.index(packet.len());
        packet[place] = byte;
        see_option(&packet);
        for mut bytes in messages {
            let place = at.index(bytes.len());
            bytes[place] = byte;
            bytes.truncate(cut.index(bytes.len()) + 1);
            hear(&bytes);
            restore(&bytes);
        }
    }
}

#[test]
#[ignore = "writes fuzz-corpus: make fuzz-corpus"]
fn write_corpus() {
    let put = |name: &str, bytes: &[u8]| {
        let file = Path::new(CORPUS).join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
    };
    let good =
        batch(1, vec![report("192.0.2.0/24", 100_000), report("2001:db8::/48", 7)]).encode_to_vec();
    put("messages/ok-batch", &good);
    put("messages/ok-query", &query("192.0.2.0/24").encode_to_vec());
    put("messages/bad-cut", &good[..good.len() - 3]);
    put("messages/bad-empty", b"");
    put(
        "messages/bad-figures",
        &batch(u64::MAX, vec![report("192.0.2.1/32", u64::MAX)]).encode_to_vec(),
    );
    put("option/ok-loss", &packet(&OPTION));
    put("option/ok-twice", &[packet(&OPTION), packet(&OPTION)].concat());
    put("option/bad-version", &packet(&[&OPTION[..4], &[0x2f], &OPTION[5..]].concat()));
    put("option/bad-figures", &packet(&[&OPTION[..6], &[0xff; 10]].concat()));
    put("option/bad-length", &packet(&[&[254, 8][..], &OPTION[2..8]].concat()));
    put("option/bad-cut", &packet(&OPTION)[..50]);
    put("option/bad-empty", b"");
    let mut one = Vec::new();
    encode(&record(), &mut one);
    put("records/ok-one", &one);
    put("records/bad-cut", &one[..one.len() - 1]);
    put("records/bad-empty", b"");
    let (mut family, mut bits) = (one.clone(), one.clone());
    family[0] = 5;
    bits[1] = 200;
    put("records/bad-family", &family);
    put("records/bad-length", &bits);
}
