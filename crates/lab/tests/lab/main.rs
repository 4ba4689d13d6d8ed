//! `headstart-lab` from outside. `run` starts it; one module per kind of claim.

#[path = "../../../cli/tests/cli/agent.rs"]
mod agent;
mod bad_input;
mod beside;
mod check_agent;
mod check_fuzz_kernel;
mod check_harm;
mod check_peers;
mod check_truth;
mod commands;
#[path = "../../../cli/tests/cli/man.rs"]
mod man;
#[path = "../../../cli/tests/cli/nobody.rs"]
mod nobody;
mod outputs;
mod papers;
mod papers_given;
mod privileges;
mod report_places;
#[path = "../../../cli/tests/cli/run.rs"]
mod run;
mod scoreboard;
mod sim;
mod sim_folder;
mod theory;
mod traces;
mod verdicts;

/// The program.
const PROGRAM: &str = env!("CARGO_BIN_EXE_headstart-lab");
/// Commands that other programs carry out: none.
const OTHERS: &[&str] = &[];
/// Commands with commands of their own.
const GROUPS: &[&str] = &["check"];
