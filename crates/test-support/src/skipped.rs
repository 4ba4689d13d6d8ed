//! Skips: tests, or parts of them, that do not run because the machine lacks something.
//!
//! A test that cannot run here passes, and what passing tests print is not shown. So a skip is also
//! a line of the file that `HEADSTART_SKIPPED` names, which `make test` shows at its end
//! (`tools/skipped`). With `CI` set, only skips of `tools/skips.allowed` pass.

use std::env;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::thread;

/// The variable that names the file.
const FILE: &str = "HEADSTART_SKIPPED";
/// Skips that pass in CI.
const ALLOWED: &str = include_str!("../../../tools/skips.allowed");

/// Says that the test of this thread goes no further, or leaves a part out, and why.
///
/// # Panics
/// If the file cannot be written, or with `CI` set if `tools/skips.allowed` does not list the
/// reason.
pub fn skipped(why: impl Display) {
    let why = why.to_string();
    // Straight to standard error, since `cargo test` shows nothing that tests print which pass.
    let name = thread::current().name().unwrap_or("a test").to_owned();
    writeln!(io::stderr(), "skipped: {name}: {why}").expect("standard error can be written");
    if let Some(file) = env::var_os(FILE) {
        // Cargo passes the name of a crate to its tests.
        let test = [env::var("CARGO_PKG_NAME").ok(), thread::current().name().map(str::to_owned)];
        let test: Vec<_> = test.into_iter().flatten().collect();
        note(Path::new(&file), &test.join(" "), &why).expect("skips can be noted");
    }
    let is_ci = env::var_os("CI").is_some_and(|value| !value.is_empty());
    assert!(!is_ci || is_allowed(ALLOWED, &why), "tools/skips.allowed has no skip for: {why}");
}

/// True if a line `LACK -- REASON` of `list` names how `why` begins.
fn is_allowed(list: &str, why: &str) -> bool {
    let lines = list.lines().filter(|line| !line.starts_with('#'));
    let mut lacks = lines.filter_map(|line| line.split_once(" -- ")).map(|(lack, _)| lack.trim());
    lacks.any(|lack| !lack.is_empty() && why.starts_with(lack))
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

    /// Output of `make test` at its end.
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
        // A part of a test that was repeated, and a reason of several lines.
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
    fn ci_accepts_a_skip_whose_reason_begins_as_a_line_of_the_list() {
        let list = "# no curl -- a remark\nno nginx -- it is not needed\n -- empty\nno tshark\n";
        assert!(is_allowed(list, "no nginx in PATH"));
        for other in ["no curl in PATH", "there is no nginx", "no tshark in PATH", "# no curl", ""]
        {
            assert!(!is_allowed(list, other), "{other}");
        }
    }

    /// Each line has what is lacking and why CI does without it.
    #[test]
    fn the_list_gives_a_reason_for_each_skip() {
        for line in ALLOWED.lines().filter(|line| !line.starts_with('#')) {
            let (lack, reason) = line.split_once(" -- ").unwrap_or_default();
            assert!(!lack.is_empty() && reason.len() > 20, "{line}");
        }
    }
}
