//! Hostile peers: the fuzzing corpus replayed, and random ones.

use proptest::prelude::*;
use tcp::testing::{play, play_crowd};

#[test]
fn the_corpus_breaks_nothing() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz-corpus/segments");
    let mut played = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        play(&std::fs::read(entry.unwrap().path()).unwrap());
        played += 1;
    }
    assert!(played >= 24, "the corpus is missing: {played} files");
}

/// `PROPTEST_CASES`, for a longer search by hand, or enough for every run of the tests.
fn cases() -> u32 {
    let wanted = std::env::var("PROPTEST_CASES").ok();
    wanted.and_then(|n| n.parse().ok()).unwrap_or(2000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_peer_breaks_the_host(data in prop::collection::vec(any::<u8>(), 2..1500)) {
        play(&data);
    }

    #[test]
    fn no_third_party_breaks_two_hosts(data in prop::collection::vec(any::<u8>(), 2..3000)) {
        play_crowd(&data);
    }
}
