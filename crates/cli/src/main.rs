//! The `headstart` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run_program()
}
