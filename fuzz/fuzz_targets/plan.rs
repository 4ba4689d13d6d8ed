//! Plan files, read and checked, not run; corpus: `crates/experiment/fuzz-corpus/plan`.
#![no_main]

use experiment::plan::Plan;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let _ = Plan::read("fuzz.toml", text, &|_| Ok(b"1\n2\n".to_vec()));
});
