//! Captures in any format; corpus: `crates/capture/fuzz-corpus/captures`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| capture::testing::play(data));
