//! Packets from outside; corpus: `crates/wire/fuzz-corpus/packets`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| wire::testing::play(data));
