//! Runs the program of a package; the tests of all programs have this file.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The program with these arguments, run at the repository's root.
pub(crate) fn headstart<S: AsRef<std::ffi::OsStr>>(arguments: &[S]) -> Output {
    command(arguments).output().expect("the binary runs")
}

/// The same, not yet run.
pub(crate) fn command<S: AsRef<std::ffi::OsStr>>(arguments: &[S]) -> Command {
    let mut command = Command::new(crate::PROGRAM);
    command.args(arguments).current_dir(root());
    // Tables in full characters, whatever the machine's locale.
    command.env("LC_ALL", "C.UTF-8");
    command
}

/// Standard output of a run that must succeed.
#[track_caller]
pub(crate) fn stdout(arguments: &[&str]) -> String {
    let output = headstart(arguments);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("results are text")
}

/// A new empty folder for one test.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    folder
}

/// Refused with exit code 2, with all of these words.
#[track_caller]
pub(crate) fn refused(arguments: &[&str], words: &[&str]) {
    let output = headstart(arguments);
    let errors = String::from_utf8(output.stderr).expect("errors are text");
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
    assert!(output.stdout.is_empty(), "{arguments:?} printed results");
    for word in words {
        assert!(errors.contains(word), "{arguments:?}: {word:?} is missing in {errors}");
    }
}

/// Another program of this build. Skips the test if only this package is built.
pub(crate) fn other(name: &str) -> Option<PathBuf> {
    let program = Path::new(crate::PROGRAM).with_file_name(name);
    if !program.exists() {
        test_support::skipped(format!("no {name} beside the program"));
        return None;
    }
    Some(program)
}
