//! Replays the corpus that the fuzz target starts from: of `ok-*` the last line is read, of
//! `bad-*` it is refused with a reason.

use findings::access_log::LogReader;

#[test]
fn the_corpus_is_read_or_refused() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz-corpus/access_log");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the corpus") {
        let path = entry.expect("an entry").path();
        let bytes = std::fs::read(&path).expect("bytes");
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        let text = String::from_utf8_lossy(&bytes);
        let mut reader = LogReader::default();
        let read = text.lines().map(|line| reader.read(line).map_err(|why| why.to_string())).last();
        let read = read.unwrap_or_else(|| Err("no line".to_owned()));
        assert_eq!(read.is_ok(), name.starts_with("ok-"), "{name}: {read:?}");
        count += 1;
    }
    assert!(count >= 16, "the corpus has only {count} files");
}
