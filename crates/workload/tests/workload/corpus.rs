//! Replays the corpus from which the HAR fuzz target starts. `ok-*` are pages, `bad-*` are refused
//! with one line that names the file, and other files that fuzzing has left there give either.

use std::path::PathBuf;
use workload::parse_har;

fn corpus() -> Vec<PathBuf> {
    let folder = format!("{}/fuzz-corpus/har", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(folder).expect("the corpus is part of the repository");
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    paths
}

#[test]
fn every_file_is_what_its_name_says() {
    let (mut ok, mut bad) = (0, 0);
    for path in corpus() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let page = parse_har(&std::fs::read(&path).unwrap(), &name);
        if name.starts_with("ok-") {
            ok += 1;
            assert!(page.is_ok(), "{name}: {page:?}");
        } else if name.starts_with("bad-") {
            bad += 1;
            let error = page.expect_err(&name).to_string();
            assert!(error.starts_with(&name) && !error.contains('\n'), "{error}");
            assert!(error.contains("; "), "the way out: {error}");
        }
    }
    assert_eq!((ok, bad), (11, 17), "none was lost");
}
