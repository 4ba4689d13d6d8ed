//! What a test does not test on a machine that lacks something: said where a test runner does not swallow it.
//!
//! A test that cannot run here passes, and what passing tests print is not shown. So a skip is also a line of the file that
//! `HEADSTART_SKIPPED` names, which `make test` shows when all is done (`tools/skipped`).

use std::env;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::thread;

/// The variable that names the file.
const FILE: &str = "HEADSTART_SKIPPED";

/// Says that the test of this thread goes no further, or leaves a part out, and why.
///
/// # Panics
/// If the file cannot be written: a skip that nobody hears of is what it is there against.
pub fn skipped(why: impl Display) {
    // Straight to standard error, since `cargo test` shows nothing that tests print which pass.
    let name = thread::current().name().unwrap_or("a test").to_owned();
    writeln!(io::stderr(), "skipped: {name}: {why}").expect("standard error can be written");
    let Some(file) = env::var_os(FILE) else { return };
    // Cargo tells the tests of a crate its name.
    let test = [env::var("CARGO_PKG_NAME").ok(), thread::current().name().map(str::to_owned)];
    let test: Vec<_> = test.into_iter().flatten().collect();
    note(Path::new(&file), &test.join(" "), &why.to_string()).expect("skips can be noted");
}

/// True, having said so, if there is a [`reason`] to skip in what a program `said`.
pub fn is_skipped(said: &str, missing: &[&str]) -> bool {
    let why = reason(said, missing);
    if let Some(why) = why {
        skipped(why);
    }
    why.is_some()
}

/// The line of what a program `said` which tells that one of what may be `missing` is.
pub fn reason<'a>(said: &'a str, missing: &[&str]) -> Option<&'a str> {
    said.lines().find(|line| missing.iter().any(|what| line.contains(what)))
}

/// One line, as tests of other processes write theirs meanwhile: the test, a tab, why.
fn note(file: &Path, test: &str, why: &str) -> io::Result<()> {
    let why: Vec<_> = why.split_whitespace().collect();
    let line = format!("{test}\t{}\n", why.join(" "));
    File::options().create(true).append(true).open(file)?.write_all(line.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use std::process::Command;
    use std::{fs, process};

    fn fresh(name: &str) -> PathBuf {
        let file = env::temp_dir().join(format!("headstart-skipped-{}-{name}", process::id()));
        let _ = fs::remove_file(&file);
        file
    }

    /// What `make test` prints at its end.
    fn shown(file: &Path) -> String {
        let tool = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/skipped");
        let output = Command::new(tool).arg(file).output().expect("the tool runs");
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn what_was_skipped_is_shown_by_its_reasons_and_each_test_counts_once() {
        let file = fresh("some");
        note(&file, "headstart-agent session", "run as root").unwrap();
        note(&file, "headstart-agent warm", "run as root").unwrap();
        // A part of a test that was made again, and a reason of several lines.
        note(&file, "headstart-cli curl", "no curl\nin PATH").unwrap();
        note(&file, "headstart-cli curl", "no curl\nin PATH").unwrap();
        let expected = "skipped: 3 tests, or parts of them:
  2: run as root
     headstart-agent session
     headstart-agent warm
  1: no curl in PATH
     headstart-cli curl
";
        assert_eq!(shown(&file), expected);
        fs::remove_file(file).unwrap();
    }

    #[test]
    fn where_nothing_was_skipped_that_is_said() {
        let file = fresh("none");
        assert_eq!(shown(&file), "nothing was skipped\n");
        File::create(&file).unwrap();
        assert_eq!(shown(&file), "nothing was skipped\n");
        fs::remove_file(file).unwrap();
    }

    #[test]
    fn only_what_is_known_to_be_missing_is_a_reason() {
        let said = "note: something else\nheadstart: emulating a link needs root, try sudo\n";
        let why = "headstart: emulating a link needs root, try sudo";
        assert_eq!(reason(said, &["no curl", "needs root"]), Some(why));
        assert_eq!(reason(said, &["no curl", "no nginx"]), None);
        assert_eq!(reason("", &["needs root"]), None);
    }
}
