//! The program `headstart`: reads the command line, calls the libraries, prints what they say.
//!
//! One file per subcommand; `cmdline` has what the programs share. `launch` hands over to the other
//! programs. Results go to standard output, everything else to standard error.
//!
//! Programs that embed a command, as the Python package does, make a request with the same words as
//! the command line. So names, defaults and refusals are the same. A request answers with results
//! and prints none.

mod analyze;
mod anonymity;
mod behind;
mod capture;
mod completions;
mod emulate;
mod launch;
mod manual;
mod pages;
mod paths;
mod predict;
mod race;
mod reporting;
mod schemes;
mod serve;

use clap::error::{ContextKind, ContextValue};
use clap::{Parser, Subcommand};
use cmdline::Failure;
use cmdline::complete::ShellQuestion;
use cmdline::programs::{AGENT, GATEWAY, LAB};
use std::process::ExitCode;

pub use analyze::{AnalyzeRequest, BeginMemory, MemoryRows, TableName};
pub use predict::{PredictRequest, PredictWatch};
pub use race::{AnsweredRace, RaceReply, RaceRequest};
pub use schemes::{ParameterEntry, PolicyEntry, SchemeEntry, SchemeListing, SchemesReply, schemes};

/// Shows how a web page loads under each TCP, beside the physical limit
///
/// headstart measures, predicts and deploys TCP start-up for short transfers. It races pages and
/// experiments in simulation, over its own TCP and by the Linux kernel, and its agent starts Linux
/// connections warm.
#[derive(Debug, Parser)]
#[command(name = "headstart", version, propagate_version = true)]
#[command(after_help = manual::appendix().help(), max_term_width = 100, subcommand_required = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Load a page over a path under each scheme
    ///
    /// Loads the page several times under each scheme, in virtual time, and prints a line for each
    /// scheme. The row `limit` is the time that no TCP can beat on this path. A scheme is a way to
    /// send: a TCP with its parameters.
    #[command(after_help = race::appendix().help())]
    Race(race::RaceCommand),
    /// Say why the transfers in packet captures are slow
    ///
    /// Rebuilds the senders of a server's captures, classifies what they retransmitted, and says
    /// where the time of each transfer went.
    #[command(after_help = analyze::appendix().help())]
    Analyze(Box<analyze::AnalyzeArgs>),
    /// Predict what the transfers in packet captures would take under other schemes
    ///
    /// Takes from a server's captures who asked when, for how much, over which paths. Simulated
    /// hosts do the same once more under each scheme. `linux` beside the capture shows how good the
    /// simulation is.
    #[command(after_help = predict::appendix().help())]
    Predict(Box<predict::PredictArgs>),
    /// Run a command behind a link, in real time
    ///
    /// Runs a command in a network of its own. Its only way out is a link of the rate, delay and
    /// queue that you describe; this machine is at the other end.
    #[command(after_help = emulate::appendix().help())]
    Emulate(Box<emulate::EmulateArgs>),
    /// Start the Linux kernel's own TCP connections with what is remembered of their paths
    Agent(launch::LaunchArgs),
    /// Run a site's performance gateway, and ask it: what any of its servers learns of a path, all
    /// know
    Gateway(launch::LaunchArgs),
    /// Check papers, plans and predictions: the researcher's bench
    Lab(launch::LaunchArgs),
    /// Report to the site's gateway what a connection has met
    ///
    /// For hosts without an agent, and for applications: what TCP_INFO of a socket says, or figures
    /// of your own.
    #[command(after_help = reporting::appendix().help())]
    Report(reporting::ReportArgs),
    /// Capture a server's TCP headers, for analysis
    ///
    /// Records what `headstart analyze` needs: headers of TCP segments with their times, and no
    /// payload. Files take turns, and old ones are removed, so it can go on all the time.
    #[command(after_help = capture::appendix().help())]
    Capture(capture::CaptureArgs),
    /// Serve a folder by HTTP over headstart's own TCP
    ///
    /// Serves the files of a folder by HTTP/1.1 to browsers and programs. The TCP beneath is
    /// headstart's, under any scheme. It runs in this process, on a network device and an address
    /// of its own.
    #[command(after_help = serve::appendix().help())]
    Serve(Box<serve::ServeArgs>),
    /// List the schemes and their parameters, or show the page of one
    ///
    /// A scheme is a way to send: a TCP with its parameters, like linux+iw=32. The list has each
    /// scheme with its source and the worlds that have it, then the policies and parameters that
    /// schemes are made of. With a name, the page of that scheme says how it starts and how to try
    /// it.
    #[command(after_help = schemes::appendix().help())]
    Schemes(schemes::SchemesArgs),
    /// List the pages that come with headstart, or show what is read from a HAR file
    ///
    /// With a file: its hosts with their versions, the line of the recording with the confidence
    /// in servers' times, what was left out and why, and all notes.
    #[command(after_help = pages::appendix().help())]
    Pages(pages::PagesArgs),
    /// List the paths that have names
    #[command(after_help = paths::appendix().help())]
    Paths,
    /// Write a completion script for a shell
    #[command(after_help = completions::appendix().help())]
    Completions(completions::CompletionsArgs),
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
    let done = match Cli::try_parse() {
        Ok(cli) => run(cli.command),
        Err(error) => Err(moved_to_lab(&error).unwrap_or_else(|| error.exit())),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Race(command) => race::run(&command),
        Command::Analyze(args) => analyze::run(&args),
        Command::Predict(args) => predict::run(&args),
        Command::Emulate(args) => emulate::run(&args),
        Command::Agent(args) => args.hand_over(&AGENT),
        Command::Gateway(args) => args.hand_over(&GATEWAY),
        Command::Lab(args) => args.hand_over(&LAB),
        Command::Report(args) => reporting::run(&args),
        Command::Capture(args) => capture::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Schemes(args) => schemes::run(&args),
        Command::Pages(args) => pages::run(&args),
        Command::Paths => paths::run(),
        Command::Completions(args) => completions::run(&args),
        Command::Complete(question) => completions::print_completions(&question),
        Command::Man(args) => manual::run(&args),
    }
}

/// Commands of the lab.
const IN_THE_LAB: [&str; 7] = ["check", "merge", "papers", "script", "scoreboard", "sim", "theory"];

/// Where a command is that this program does not have any more.
fn moved_to_lab(error: &clap::Error) -> Option<Failure> {
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let is_there = IN_THE_LAB.contains(&name.as_str());
    is_there
        .then(|| Failure::input(format!("{name} is a command of the lab: headstart lab {name}")))
}
