//! Hostile segments against a host; corpus: `crates/tcp/fuzz-corpus/segments`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    tcp::testing::play(data);
});
