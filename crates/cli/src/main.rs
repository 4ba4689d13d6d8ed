//! The `headstart` binary: reads the command line, calls the libraries, prints what they say.
//!
//! One file per subcommand; `failure` has the exit codes, `stdout` the one way to print results.
//! Results go to standard output, everything else to standard error.

mod agent;
mod analyze;
mod anonymity;
mod behind;
mod capture;
mod check;
mod completions;
mod emulate;
mod failure;
mod gateway;
mod input;
mod interrupt;
mod jobs;
mod manual;
mod merge;
mod names;
mod pages;
mod papers;
mod paths;
mod predict;
mod progress;
mod race;
mod report_file;
mod reporting;
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

/// Shows how a web page loads under each TCP, beside the physical limit
///
/// headstart measures, predicts and deploys TCP start-up for short transfers. It races pages and experiments in
/// simulation, over its own TCP and by the Linux kernel, and its agent starts Linux connections warm.
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
    /// Loads the page several times under each scheme, in virtual time, and prints a line for each scheme. The row
    /// `limit` is the time that no TCP can beat on this path. A scheme is a way to send: a TCP with its parameters.
    #[command(after_help = race::appendix().help())]
    Race(Box<race::RaceArgs>),
    /// Say why the transfers in packet captures are slow
    ///
    /// Rebuilds the senders of a server's captures, classifies what they retransmitted, and says where the time of each
    /// transfer went.
    #[command(after_help = analyze::appendix().help())]
    Analyze(Box<analyze::AnalyzeArgs>),
    /// Predict what the transfers in packet captures would take under other schemes
    ///
    /// Takes from a server's captures who asked when, for how much, over which paths. Simulated hosts do the same once more
    /// under each scheme. `linux` beside the capture shows how good the simulation is.
    #[command(after_help = predict::appendix().help())]
    Predict(Box<predict::PredictArgs>),
    /// Run a command behind a link, in real time
    ///
    /// Runs a command in a network of its own. Its only way out is a link of the rate, delay and queue that you
    /// describe; this machine is at the other end.
    #[command(after_help = emulate::appendix().help())]
    Emulate(Box<emulate::EmulateArgs>),
    /// Start the Linux kernel's own TCP connections with what is remembered of their paths
    Agent(agent::AgentArgs),
    /// Run a site's performance gateway: what any of its servers learns of a path, all know
    ///
    /// Servers of a site report what their connections learn of visitors' networks, and ask when a visitor comes. So a server
    /// starts warm towards a network that it has never seen. No connection waits for the gateway, or fails without it.
    #[command(after_help = gateway::appendix().help())]
    Gateway(gateway::GatewayArgs),
    /// Report to the site's gateway what a connection has met
    ///
    /// For hosts without an agent, and for applications: what TCP_INFO of a socket says, or figures of your own.
    #[command(after_help = reporting::appendix().help())]
    Report(reporting::ReportArgs),
    /// Capture a server's TCP headers, for analysis
    ///
    /// Records what `headstart analyze` needs: headers of TCP segments with their times, and no payload. Files take
    /// turns, and old ones are removed, so it can go on all the time.
    #[command(after_help = capture::appendix().help())]
    Capture(capture::CaptureArgs),
    /// Serve a folder by HTTP over headstart's own TCP
    ///
    /// Serves the files of a folder by HTTP/1.1 to browsers and programs. The TCP beneath is headstart's, under any
    /// scheme. It runs in this process, on a network device and an address of its own.
    #[command(after_help = serve::appendix().help())]
    Serve(Box<serve::ServeArgs>),
    /// Run the experiment of a plan file
    ///
    /// A plan says which links join which hosts, who sends what to whom, and what varies. headstart runs every
    /// combination in virtual time, prints a table and keeps the results in a folder.
    #[command(after_help = sim::appendix().help())]
    Sim(Box<sim::SimArgs>),
    /// Put the parts of a sharded sweep together
    ///
    /// `headstart sim --shard i/n` runs one part of a plan, for example on one of several machines. This command joins
    /// the folders of all parts to one, which has the same files as an undivided run.
    #[command(after_help = merge::appendix().help())]
    Merge(merge::MergeArgs),
    /// Check the claims of five papers on TCP start-up
    ///
    /// Runs the experiments that each claim needs, and says whether the claim holds here. A claim that differs comes
    /// with the measured cause.
    #[command(after_help = papers::appendix().help())]
    Papers(papers::PapersArgs),
    /// List the schemes and their parameters, or show the page of one
    ///
    /// A scheme is a way to send: a TCP with its parameters, like linux+iw=32. The list has each scheme with its source
    /// and the worlds that have it, then the policies and parameters that schemes are made of. With a name, the page of
    /// that scheme says how it starts and how to try it.
    #[command(after_help = schemes::appendix().help())]
    Schemes(schemes::SchemesArgs),
    /// List the pages that come with headstart
    #[command(after_help = pages::appendix().help())]
    Pages,
    /// List the paths that have names
    #[command(after_help = paths::appendix().help())]
    Paths,
    /// Score schemes over fixed cells: paths, sizes and circumstances
    ///
    /// Runs each scheme in the same cells and prints a line for each: its time relative to linux and to the limit, and
    /// what it takes from traffic in the background, beside linux and beside fair sharing.
    #[command(after_help = scoreboard::appendix().help())]
    Scoreboard(scoreboard::ScoreboardArgs),
    /// Compute the papers' closed forms, as tables and figures
    ///
    /// Computes what the papers derive on paper, and simulates nothing.
    #[command(after_help = theory::appendix().help())]
    Theory(theory::TheoryArgs),
    /// Play a scenario script against a scheme
    ///
    /// A script says which segments arrive when, and which segments the TCP has to send when. The grammar is a subset
    /// of packetdrill's.
    #[command(after_help = script::appendix().help())]
    Script(script::ScriptArgs),
    /// Check the simulator against ns-2 and against real hosts, and the agent against its targets
    #[command(after_help = check::appendix().help())]
    Check(check::CheckArgs),
    /// Write a completion script for a shell
    #[command(after_help = completions::appendix().help())]
    Completions(completions::CompletionsArgs),
    /// Answer a shell's question about what may be typed
    #[command(hide = true)]
    Complete(completions::CompletionArgs),
    /// Write the man pages to a folder
    #[command(hide = true)]
    Man(cmdline::man::ManArgs),
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
        Command::Predict(args) => predict::run(&args),
        Command::Emulate(args) => emulate::run(&args),
        Command::Agent(args) => agent::run(&args),
        Command::Gateway(args) => gateway::run(&args),
        Command::Report(args) => reporting::run(&args),
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
        Command::Complete(asked) => completions::answer(&asked),
        Command::Man(args) => manual::run(&args),
    }
}
