//! Replays the corpus that the rate-trace fuzz target starts from: `ok-*` are traces, `bad-*` are
//! refused with a line and a reason.

use link::RateTrace;

#[test]
fn the_corpus_is_read_or_refused() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz-corpus/rate_trace");
    let mut read = 0;
    for entry in std::fs::read_dir(folder).expect("the corpus") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("text");
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        match RateTrace::parse(name, &text) {
            Ok(trace) => {
                assert!(name.starts_with("ok-"), "{name} is a trace");
                assert!(!trace.length().is_zero() && trace.mean_rate().as_bps() > 0);
            }
            Err(error) => {
                assert!(name.starts_with("bad-"), "{error}");
                assert!(error.to_string().starts_with(&format!("{name}:{}: ", error.line())));
            }
        }
        read += 1;
    }
    assert!(read >= 17, "the corpus has only {read} files");
}
