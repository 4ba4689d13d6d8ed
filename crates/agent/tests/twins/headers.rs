//! The programs of the kernel keep to a hundred columns, tabs being eight.

use std::fs;
use std::path::Path;

fn columns(line: &str) -> usize {
    line.chars().fold(0, |at, c| if c == '\t' { at / 8 * 8 + 8 } else { at + 1 })
}

#[test]
fn lines_of_c_are_at_most_100_columns() {
    let crate_ = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["bpf", "include", "tests", "tests/twins/kernel", "tests/twins/kernel/bpf"]
        .map(|name| fs::read_dir(crate_.join(name)).unwrap());
    let files = folders.into_iter().flatten().map(|entry| entry.unwrap().path());
    let is_c = |file: &Path| file.extension().is_some_and(|ext| ext == "c" || ext == "h");
    for file in files.filter(|file| is_c(file)) {
        for (n, line) in fs::read_to_string(&file).unwrap().lines().enumerate() {
            assert!(columns(line) <= 100, "{}:{}", file.display(), n + 1);
        }
    }
}
