//! Lines of an access log; corpus: `crates/findings/fuzz-corpus/access_log`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let mut reader = findings::access_log::LogReader::default();
    for line in String::from_utf8_lossy(data).lines() {
        if let Err(fault) = reader.read(line) {
            assert!(!fault.to_string().is_empty());
        }
    }
});
