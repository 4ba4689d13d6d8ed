//! `headstart agent`, `headstart gateway` and `headstart lab`: each hands over to a program of its
//! own.

use cmdline::Failure;
use cmdline::programs::HeadstartProgram;
use std::ffi::OsString;

#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true, disable_version_flag = true)]
pub(crate) struct LaunchArgs {
    /// Arguments of the program that does it; --help lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
}

impl LaunchArgs {
    /// Only comes back if there is no such program.
    pub(crate) fn hand_over(&self, program: &HeadstartProgram) -> Result<(), Failure> {
        Err(Failure::input(program.hand_over(&self.arguments)))
    }
}
