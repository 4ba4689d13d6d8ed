//! Scenario scripts, read and, where they can be read, run; corpus:
//! `crates/script/fuzz-corpus/script`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(script) = script::parse("fuzz.pkt", data) {
        let _ = script::run(&script, None);
    }
});
