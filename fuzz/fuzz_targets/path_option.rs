//! TCP options in the headers of packets that a gateway captures; corpus: `crates/gateway/fuzz-corpus/option`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gateway::testing::see_option(data));
