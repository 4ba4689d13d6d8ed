//! Records of a snapshot or a shared store; corpus: `crates/gateway/fuzz-corpus/records`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gateway::testing::restore(data));
