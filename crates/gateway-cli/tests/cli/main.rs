//! Tests `headstart-gateway` as a user runs it. `run` starts it.

mod gateway;
mod keys;
#[path = "../../../cli/tests/cli/man.rs"]
mod man;
mod observe;
mod requests;
#[path = "../../../cli/tests/cli/run.rs"]
mod run;

/// The program.
const PROGRAM: &str = env!("CARGO_BIN_EXE_headstart-gateway");
/// Commands that other programs carry out: none.
const OTHERS: &[&str] = &[];
/// Commands with commands of their own.
const GROUPS: &[&str] = &[];
