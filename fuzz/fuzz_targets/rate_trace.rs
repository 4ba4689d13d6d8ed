//! Recorded rates, in mahimahi's format and in tables; corpus:
//! `crates/link/fuzz-corpus/rate_trace`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = link::RateTrace::parse("fuzz.trace", text);
        for written in ["fuzz.csv", "fuzz.csv:column=2:unit=kbit/s:time=1"] {
            let (down, file) =
                (link::recording::RecordedDirection::Down, |_: &str| Ok(text.to_owned()));
            let _ = link::recording::RecordedLink::read(written, down, &file);
        }
    }
});
