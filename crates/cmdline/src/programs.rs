//! The programs of headstart. Each finds the others beside itself, then in `PATH`.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

/// A program that `headstart` hands over to, or runs.
#[derive(Debug)]
pub struct HeadstartProgram {
    /// Its subcommand of `headstart`.
    pub subcommand: &'static str,
    /// Name of its file.
    file: &'static str,
    /// Subject of the sentence that says it is missing.
    about: &'static str,
    /// The way to build it.
    build: &'static str,
}

/// The program that hands over to all others. It has no subcommand of another program.
pub const HEADSTART: HeadstartProgram = HeadstartProgram {
    subcommand: "",
    file: "headstart",
    about: "headstart",
    build: "`make build` builds it",
};

/// Starts the kernel's connections warm. Its build compiles programs for the kernel.
pub const AGENT: HeadstartProgram = HeadstartProgram {
    subcommand: "agent",
    file: "headstart-agent",
    about: "the agent",
    build: "`make agent` builds it (needs clang and libelf)",
};

/// The performance gateway of a site, and its tools.
pub const GATEWAY: HeadstartProgram = HeadstartProgram {
    subcommand: "gateway",
    file: "headstart-gateway",
    about: "the gateway",
    build: "`make gateway` builds it",
};

/// The researcher's bench: papers, plans, checks.
pub const LAB: HeadstartProgram = HeadstartProgram {
    subcommand: "lab",
    file: "headstart-lab",
    about: "the lab",
    build: "`make lab` builds it",
};

impl HeadstartProgram {
    /// Replaces this process by the program. Returns only if that fails, with the reason.
    pub fn hand_over(&self, arguments: &[OsString]) -> String {
        let mut error = io::Error::from(ErrorKind::NotFound);
        for program in self.candidate_paths() {
            error = Command::new(program).args(arguments).exec();
            if error.kind() != ErrorKind::NotFound {
                break;
            }
        }
        match error.kind() {
            ErrorKind::NotFound => self.missing(),
            _ => format!("cannot run {}: {error}", self.file),
        }
    }

    /// The file of the program.
    ///
    /// # Errors
    /// If there is none: how to build the program.
    pub fn find(&self) -> Result<PathBuf, String> {
        let path = env::var_os("PATH").unwrap_or_default();
        let of_name = |program: PathBuf| match program.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => vec![program],
            _ => env::split_paths(&path).map(|folder| folder.join(&program)).collect(),
        };
        let mut found = self.candidate_paths().flat_map(of_name);
        found.find_map(|program| fs::canonicalize(program).ok()).ok_or_else(|| self.missing())
    }

    /// The file beside this program, then the name, which the shell would look for.
    fn candidate_paths(&self) -> impl Iterator<Item = PathBuf> {
        let beside = env::current_exe().ok().map(|own| own.with_file_name(self.file));
        beside.into_iter().chain([PathBuf::from(self.file)])
    }

    fn missing(&self) -> String {
        let Self { about, file, build, .. } = self;
        format!(
            "{about} is a program of its own, {file}, which is neither beside this one nor in PATH; {build}"
        )
    }
}
