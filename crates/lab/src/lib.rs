//! `headstart-lab`, which `headstart lab` runs: the researcher's bench.
//!
//! One file per subcommand; `cmdline` has what the programs share.
//!
//! Programs that embed a command, as the Python package does, make a request with the same words as
//! the command line. A request answers with results and prints none.

mod check;
mod manual;
mod merge;
mod papers;
mod scoreboard;
mod script;
mod sim;
mod theory;
mod values;

use clap::{CommandFactory, Parser, Subcommand};
use cmdline::complete::ShellQuestion;
use cmdline::{Failure, stdout};
use std::process::ExitCode;

pub use merge::MergeRequest;
pub use papers::PapersRequest;
pub use scoreboard::ScoreboardRequest;
pub use sim::{PlanText, SimRequest, SweepReply};
pub use theory::TheoryRequest;

/// Checks papers, plans and predictions
///
/// The lab runs experiments in virtual time, checks what papers claim, and compares the simulator
/// with ns-2 and with real hosts, and the agent with its targets.
#[derive(Debug, Parser)]
#[command(name = "headstart lab", bin_name = "headstart lab", version, propagate_version = true)]
#[command(display_name = "headstart-lab", after_help = manual::appendix().help())]
#[command(max_term_width = 100, subcommand_required = true)]
struct Lab {
    #[command(subcommand)]
    command: LabCommand,
}

#[derive(Debug, Subcommand)]
enum LabCommand {
    /// Check the claims of five papers on TCP start-up
    ///
    /// Runs the experiments that each claim needs, and says whether the claim holds here. A claim
    /// that differs comes with the measured cause.
    #[command(after_help = papers::appendix().help())]
    Papers(papers::PapersArgs),
    /// Compute the papers' closed forms, as tables and figures
    ///
    /// Computes what the papers derive on paper, and simulates nothing.
    #[command(after_help = theory::appendix().help())]
    Theory(theory::TheoryArgs),
    /// Run the experiment of a plan file
    ///
    /// A plan says which links join which hosts, who sends what to whom, and what varies. headstart
    /// runs every combination in virtual time, prints a table and keeps the results in a folder.
    #[command(after_help = sim::appendix().help())]
    Sim(Box<sim::SimArgs>),
    /// Put the parts of a sharded sweep together
    ///
    /// `headstart lab sim --shard i/n` runs one part of a plan, for example on one of several
    /// machines. This command joins the folders of all parts to one, which has the same files as an
    /// undivided run.
    #[command(after_help = merge::appendix().help())]
    Merge(merge::MergeArgs),
    /// Score schemes over fixed cells: paths, sizes and conditions
    ///
    /// Runs each scheme in the same cells and prints a line for each. The line has its time
    /// relative to linux and to the limit, and what it takes from traffic in the background, beside
    /// linux and beside fair sharing.
    #[command(after_help = scoreboard::appendix().help())]
    Scoreboard(scoreboard::ScoreboardArgs),
    /// Play a scenario script against a scheme
    ///
    /// A script says which segments arrive when, and which segments the TCP has to send when. The
    /// grammar is a subset of packetdrill's.
    #[command(after_help = script::appendix().help())]
    Script(script::ScriptArgs),
    /// Check the simulator against ns-2 and against real hosts, and the agent against its targets
    #[command(after_help = check::appendix().help())]
    Check(check::CheckArgs),
    /// Answer a shell's question about what may be typed
    #[command(hide = true)]
    Complete(ShellQuestion),
    /// Write the man pages to a folder
    #[command(hide = true)]
    Man(cmdline::man::ManArgs),
}

/// Runs the command of this process's command line; returns its exit code.
pub fn run_program() -> ExitCode {
    if let Some(code) = emulator::sandbox::serve_as_init() {
        return code;
    }
    match run(Lab::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run(command: LabCommand) -> Result<(), Failure> {
    match command {
        LabCommand::Papers(args) => papers::run(&args),
        LabCommand::Theory(args) => theory::run(&args),
        LabCommand::Sim(args) => sim::run(&args),
        LabCommand::Merge(args) => merge::run(&args),
        LabCommand::Scoreboard(args) => scoreboard::run(&args),
        LabCommand::Script(args) => script::run(&args),
        LabCommand::Check(args) => check::run(&args),
        LabCommand::Complete(question) => {
            stdout::print(&question.answer(Lab::command(), &values::of))
        }
        LabCommand::Man(pages) => {
            pages.write(Lab::command(), &manual::appendix_of).map_err(Failure::failed)
        }
    }
}
