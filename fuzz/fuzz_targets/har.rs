//! HAR files; corpus: `crates/workload/fuzz-corpus/har`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = workload::parse_har(data, "fuzz.har");
});
