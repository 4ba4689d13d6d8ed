//! Rate traces in mahimahi's format; corpus: `crates/link/fuzz-corpus/rate_trace`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = link::RateTrace::parse("fuzz.trace", text);
    }
});
