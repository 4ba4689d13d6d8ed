//! Bytes from outside, arbitrary ones and those of the corpus: none does harm.

use crate::bed::{batch, network, query, report};
use gateway::storage::codec::encode;
use gateway::testing::{hear, restore};
use gateway_proto::v1::Arrival;
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
}

fn record() -> SiteRecord {
    SiteRecord {
        network: "192.0.2.0/24".parse().unwrap(),
        origin: 1,
        newest_at: 1_676_380_634,
        sequence: 3,
        samples: vec![1, 2, 100, 100, 100, 0x85, 9, 2, 2, 90, 0, 0, 6, 9],
    }
}

fn arrival() -> Arrival {
    Arrival { network: Some(network("192.0.2.0/24")), server: vec![192, 0, 2, 1] }
}

proptest! {
    #[test]
    fn any_bytes_are_heard_without_harm(bytes: Vec<u8>) {
        hear(&bytes);
        restore(&bytes);
    }

    /// Almost valid input: a good message with one byte changed, or cut.
    #[test]
    fn damaged_messages_are_heard_without_harm(at: prop::sample::Index, byte: u8, cut: prop::sample::Index) {
        let mut records = Vec::new();
        (0..4).for_each(|_| encode(&record(), &mut records));
        let messages = [
            batch(1, vec![report("192.0.2.0/24", 100_000), report("2001:db8::/48", 7)]).encode_to_vec(),
            query("192.0.2.0/24").encode_to_vec(),
            arrival().encode_to_vec(),
            records,
        ];
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
    put("messages/ok-arrival", &arrival().encode_to_vec());
    put("messages/bad-cut", &good[..good.len() - 3]);
    put("messages/bad-empty", b"");
    put(
        "messages/bad-figures",
        &batch(u64::MAX, vec![report("192.0.2.1/32", u64::MAX)]).encode_to_vec(),
    );
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
