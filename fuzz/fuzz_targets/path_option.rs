//! TCP options in the headers of packets that an observer captures; corpus:
//! `crates/gateway-observe/fuzz-corpus/option`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gateway_observe::testing::see_option(data));
