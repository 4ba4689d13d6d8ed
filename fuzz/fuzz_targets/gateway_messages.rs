//! Messages of reporters; corpus: `crates/gateway/fuzz-corpus/messages`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gateway::testing::hear(data));
