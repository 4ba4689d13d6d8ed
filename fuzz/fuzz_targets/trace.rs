//! The trace engine on captures made from arbitrary bytes.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    trace::testing::play_capture(data);
});
