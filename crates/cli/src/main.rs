//! The `headstart` binary: reads the command line, calls the libraries, prints what they say.
//!
//! One file per subcommand; `failure` has the exit codes, `stdout` the one way to print results.
//! Results go to standard output, everything else to standard error.

mod agent;
mod analyze;
mod behind;
mod capture;
mod check;
mod completions;
mod emulate;
mod failure;
mod input;
mod merge;
mod names;
mod pages;
mod papers;
mod paths;
mod progress;
mod race;
mod schemes;
mod scoreboard;
mod script;
mod serve;
mod sim;
mod stdout;
mod theory;

use clap::{Parser, Subcommand};
use failure::Failure;
use std::process::ExitCode;

/// Shows how a web page loads under each TCP, beside the physical limit.
#[derive(Debug, Parser)]
#[command(name = "headstart", version, propagate_version = true)]
#[command(after_help = EXAMPLES, max_term_width = 100, subcommand_required = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  headstart race                            a page of today over a cable line
  headstart race page.har --path 20mbit,80ms,100p --report page.html
                                            a page you recorded, with pictures
  headstart sim plan.toml                   an experiment: any topology, queue and workload, varied
  headstart emulate --path 20mbit,80ms,100p -- COMMAND
                                            a command of yours behind a link, in real time
  headstart serve DIR --scheme etcp         files over headstart's own TCP, to any client
  headstart schemes                         what can race, and its parameters

Exit codes: 0 done and checks held, 1 a run or check failed, 2 bad input or missing privilege";

#[derive(Debug, Subcommand)]
enum Command {
    /// Load a page over a path under each scheme
    Race(Box<race::Args>),
    /// Say why the transfers in packet captures are slow
    Analyze(analyze::Args),
    /// Run a command behind a link, in real time
    Emulate(Box<emulate::Args>),
    /// Have the Linux kernel's own TCP begin with what is remembered of the path
    Agent(agent::Args),
    /// Capture a server's TCP headers, for analysis
    Capture(capture::Args),
    /// Serve a folder by HTTP over headstart's own TCP
    Serve(Box<serve::Args>),
    /// Run the experiment of a plan file
    Sim(Box<sim::Args>),
    /// Put the parts of a sharded sweep together
    Merge(merge::Args),
    /// Check the papers' claims
    Papers(papers::Args),
    /// List the schemes and their parameters
    Schemes(schemes::Args),
    /// List the pages that come with headstart
    Pages,
    /// List the paths that have names
    Paths,
    /// Score schemes over a fixed matrix of paths, sizes and circumstances
    Scoreboard(scoreboard::Args),
    /// What the papers' closed forms say, as tables and figures
    Theory(theory::Args),
    /// Play a scenario script against a scheme
    Script(script::Args),
    /// Check the simulator against measurements of another and real worlds, and what an agent gains
    Check(check::Args),
    /// Write a completion script for a shell
    Completions(completions::Args),
}

fn main() -> ExitCode {
    if let Some(code) = emulator::sandbox::serve_as_init() {
        return code;
    }
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Race(args) => race::run(*args),
        Command::Analyze(args) => analyze::run(&args),
        Command::Emulate(args) => emulate::run(&args),
        Command::Agent(args) => agent::run(&args),
        Command::Capture(args) => capture::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Sim(args) => sim::run(&args),
        Command::Merge(args) => merge::run(&args),
        Command::Papers(args) => papers::run(&args),
        Command::Schemes(args) => schemes::run(&args),
        Command::Pages => pages::run(),
        Command::Paths => paths::run(),
        Command::Scoreboard(args) => scoreboard::run(&args),
        Command::Theory(args) => theory::run(&args),
        Command::Script(args) => script::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Completions(args) => completions::run(&args),
    }
}
