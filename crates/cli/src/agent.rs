//! `headstart agent`: hands over to `headstart-agent`, a program of its own because building it takes a
//! compiler for the kernel's programs.

use crate::failure::Failure;
use std::env;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use worlds::Agent;

const PROGRAM: &str = "headstart-agent";

#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true, disable_version_flag = true)]
pub(crate) struct AgentArgs {
    /// Arguments of `headstart-agent`; `headstart agent --help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
}

/// Only comes back if there is no such program.
pub(crate) fn run(args: &AgentArgs) -> Result<(), Failure> {
    hand_over(&args.arguments)
}

/// Has it answer the shell that asked this program.
pub(crate) fn complete() -> Result<(), Failure> {
    hand_over(&env::args_os().skip(1).collect::<Vec<_>>())
}

fn hand_over(arguments: &[OsString]) -> Result<(), Failure> {
    let mut error = io::Error::from(ErrorKind::NotFound);
    for program in candidates() {
        error = Command::new(program).args(arguments).exec();
        if error.kind() != ErrorKind::NotFound {
            break;
        }
    }
    Err(Failure::input(match error.kind() {
        ErrorKind::NotFound => missing(),
        _ => format!("cannot run {PROGRAM}: {error}"),
    }))
}

/// What to do without it.
fn missing() -> String {
    format!(
        "the agent is a program of its own, {PROGRAM}, which is neither beside this one nor in PATH; \
         `make agent` builds it (needs clang and libelf)"
    )
}

/// The program, for who wants agents of its own.
///
/// # Errors
/// What to do where there is none.
pub(crate) fn program() -> Result<Agent, String> {
    let path = env::var_os("PATH").unwrap_or_default();
    let of_name = |program: PathBuf| match program.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => vec![program],
        _ => env::split_paths(&path).map(|folder| folder.join(&program)).collect(),
    };
    let found = candidates().flat_map(of_name).find_map(|program| Agent::at(&program).ok());
    let agent = found.ok_or_else(missing)?;
    // Gateways of sites are this program.
    Ok(match env::current_exe() {
        Ok(own) => agent.with_gateway(own),
        Err(_) => agent,
    })
}

/// Beside this program, then wherever the shell would look.
fn candidates() -> impl Iterator<Item = PathBuf> {
    let beside = env::current_exe().ok().map(|own| own.with_file_name(PROGRAM));
    beside.into_iter().chain([PathBuf::from(PROGRAM)])
}
