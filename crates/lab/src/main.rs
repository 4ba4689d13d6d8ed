//! The `headstart-lab` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    lab::run_program()
}
