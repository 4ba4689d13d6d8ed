//! Lines of access logs; corpus: `crates/findings/fuzz-corpus/access_log`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Err(fault) = findings::access_log::LogRequest::parse(&String::from_utf8_lossy(data)) {
        assert!(!fault.to_string().is_empty());
    }
});
