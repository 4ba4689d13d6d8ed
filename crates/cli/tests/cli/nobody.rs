//! A user without rights. These tests become one, for which they have to be root's; others skip
//! them. The tests of several programs have this file.

use nix::unistd::geteuid;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Output};

/// User id of a user without rights.
const NOBODY: u32 = 65_534;

/// The binary where anybody may run it; gone afterwards.
pub(crate) struct Copied(PathBuf);

impl Copied {
    /// Skips the test where tests may not become another user.
    pub(crate) fn new(name: &str) -> Option<Self> {
        if !geteuid().is_root() {
            test_support::skipped("only root can become somebody without rights");
            return None;
        }
        let folder = std::env::temp_dir().join(format!("headstart-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let open = |path: &PathBuf| fs::set_permissions(path, fs::Permissions::from_mode(0o755));
        open(&folder).unwrap();
        let binary = folder.join("program");
        // A copy cannot be run while a child of another test still holds it open for writing.
        let linked = fs::hard_link(crate::PROGRAM, &binary);
        let copied = || fs::copy(crate::PROGRAM, &binary).and_then(|_| open(&binary));
        linked.or_else(|_| copied()).unwrap();
        Some(Self(folder))
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(self.0.join("program"));
        command.args(arguments).current_dir(&self.0).env("LC_ALL", "C.UTF-8");
        command.uid(NOBODY).gid(NOBODY);
        command.output().expect("anybody may run it")
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
