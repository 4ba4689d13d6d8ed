//! `headstart lab check`: the simulator against measurements made with another, against real
//! worlds, and against packetdrill's scripts. The trace engine against labelled captures, and the
//! analyser against transfers of known cause. The race's diagnosis against pages of known cause,
//! which a browser loads. The simulated HTTP/3 against another implementation. The agent's gain
//! against its targets, and where it might harm.

mod agent;
mod fuzz_kernel;
mod harm;
mod harm_schemes;
mod pages;
mod published;
mod quic;
mod scripts;
mod table;
mod traces;
mod truth;
mod worlds;

pub(crate) use agent::appendix as agent_appendix;
pub(crate) use fuzz_kernel::appendix as fuzz_kernel_appendix;
pub(crate) use harm::appendix as harm_appendix;
pub(crate) use pages::appendix as pages_appendix;
pub(crate) use published::appendix as published_appendix;
pub(crate) use quic::appendix as quic_appendix;
pub(crate) use scripts::appendix as scripts_appendix;
pub(crate) use traces::appendix as traces_appendix;
pub(crate) use truth::appendix as truth_appendix;
pub(crate) use worlds::appendix as worlds_appendix;

use cmdline::progress::CountBar;
use cmdline::{Appendix, Entry, Failure, input, note, stdout};
use reproduction::check::ns2::{
    self, ComparisonRow, Measurements, Ns2Verdict, PreparedCases, Selection,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use testbed::TOO_LATE;
use units::counted;

#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    #[command(subcommand)]
    against: Baseline,
}

#[derive(Debug, clap::Subcommand)]
enum Baseline {
    /// Compare the simulator with measurements made by ns-2.35
    ///
    /// Runs the cases of the measurements, and prints our figures beside those of ns-2 and the
    /// bounds.
    #[command(after_help = ns2_appendix().help())]
    Ns2 {
        /// Measurements in the columns of one of the suites [default: the shipped ones]
        #[arg(value_name = "FILE.csv")]
        files: Vec<PathBuf>,
        /// Run this suite alone
        #[arg(long, value_name = "NAME")]
        suite: Option<String>,
        /// Run a few cases of each suite
        #[arg(long)]
        quick: bool,
        /// Print JSON instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Compare simulation, headstart's own TCP and the Linux kernel on the same paths
    ///
    /// Loads single objects of 30 KB, 200 KB and 2 MB and the page `news` in each world. The paths
    /// have 5, 20 and 100 Mbit/s, round trips of 20, 80 and 200 ms, and queues of half and all of
    /// the bandwidth-delay product.
    #[command(after_help = worlds_appendix().help())]
    Worlds(worlds::CheckWorldsArgs),
    /// Play packetdrill's own scripts, unchanged
    ///
    /// Plays every script below a folder in virtual time, and prints how many hold by folder. For
    /// each script that differs it prints the first difference, and the kernel's reason if it is
    /// known.
    #[command(after_help = scripts_appendix().help())]
    Scripts(scripts::CheckScriptsArgs),
    /// Play random scripts in the model of TCP and in the running kernel
    ///
    /// Composes scripts from a seed: lost segments, pauses, timeouts, D-SACKs, small windows and
    /// FINs. Each script has the segments and the `TCP_INFO` of the model. The kernel behind a TUN
    /// device then has to do the same. A script that differs is shrunk.
    #[command(after_help = fuzz_kernel_appendix().help())]
    FuzzKernel(fuzz_kernel::FuzzKernelArgs),
    /// Compare the kinds of retransmissions in captures with labels that others gave them
    #[command(after_help = traces_appendix().help())]
    Traces(traces::CheckTracesArgs),
    /// Compare what `headstart analyze` says of real transfers with their known causes
    ///
    /// Plays transfers between two Linux kernels over emulated links. Each row has a cause that is
    /// known by construction, such as a slow reader, a full link or a pacing cap. The captures of
    /// both ends are analysed, and the first cause and the shares of time are compared with the
    /// truth.
    #[command(after_help = truth_appendix().help())]
    Truth(truth::CheckTruthArgs),
    /// Compare the diagnosis of `headstart race` with known causes, on pages that a browser loads
    ///
    /// Chromium loads 12 pages of 1 to 101 objects from nginx over emulated links. Each page has
    /// one cause that is known by construction, such as a slow server, a chain of imports or a
    /// small window. The load is recorded as a HAR file. A race of this file over the same path
    /// has to name the cause.
    #[command(after_help = pages_appendix().help())]
    Pages(pages::CheckPagesArgs),
    /// Compare simulations with measurements that others published
    ///
    /// Each measurement has its source, its path and size, and the command that simulates it. A
    /// figure holds if it is within 10 % of the published one.
    #[command(after_help = published_appendix().help())]
    Published(published::CheckPublishedArgs),
    /// Compare simulated HTTP/3 with pages that quinn loads
    ///
    /// quinn is a QUIC of others. Its server and client load pages of 1, 10 and 40 objects over 12
    /// emulated paths of 2 to 100 Mbit/s and 10 to 200 ms. The same pages are simulated with the
    /// scheme that is nearest to quinn's congestion control.
    #[command(after_help = quic_appendix().help())]
    Quic(quic::CheckQuicArgs),
    /// Measure what Linux gains by the agent, over emulated links
    ///
    /// Loads objects of 30 KB and 200 KB, and a page of 12 objects over 4 connections and over
    /// HTTP/2, by the Linux kernel with and without an agent, interleaved. The path has 20 Mbit/s,
    /// 80 ms and a queue of 100 packets. Single objects with hs-cubic also cross paths of 5 and 100
    /// Mbit/s, and of 20 and 200 ms. First visits are also measured with options that are off by
    /// default: wide cold starts, and timers of SYNs by the memory of the path.
    #[command(after_help = agent_appendix().help())]
    Agent(agent::CheckAgentArgs),
    /// Check that the agent is nowhere slower than stock Linux, cell by cell
    ///
    /// Loads answers of 10 kB to 5 MB over 1 to 50 connections by stock Linux and with the agent,
    /// at the same time. The paths have 2 to 200 Mbit/s, 10 to 300 ms, and queues of 0.1 to 2
    /// bandwidth-delay products. Some have random loss up to 2 %, a recorded LTE downlink, a
    /// neighbour in the same /24, or rates that change. One table of cells serves simulation and
    /// kernel.
    #[command(after_help = harm_appendix().help())]
    Harm(harm::CheckHarmArgs),
}

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            (
                "headstart lab check ns2 --quick",
                "Checks the simulator against ns-2, a few cases of each suite.",
            ),
            (
                "sudo headstart lab check worlds --quick",
                "Checks simulation against headstart's own TCP and the Linux kernel, in about a minute.",
            ),
            (
                "sudo headstart lab check agent --quick",
                "Measures what Linux gains by the agent, in about a minute.",
            ),
            (
                "headstart lab check harm",
                "Simulates where the agent might be slower than stock Linux, in about a minute.",
            ),
        ],
        exit: CHECKED,
        more: &["docs/validation.md"],
        ..Appendix::default()
    }
}

const CHECKED: &[Entry] = &[
    ("0", "everything checked is within its bounds"),
    ("1", "something is outside its bounds, or a run failed"),
    ("2", "the input is wrong, or a privilege is missing"),
];

pub(crate) fn ns2_appendix() -> Appendix {
    let suites = ns2::SUITES.iter();
    let suites: String =
        suites.map(|suite| format!("  {:<10}  {}\n", suite.name(), suite.about())).collect();
    Appendix {
        examples: &[
            ("headstart lab check ns2", "Checks all shipped measurements, which takes minutes."),
            ("headstart lab check ns2 --suite single", "Checks one suite."),
            (
                "headstart lab check ns2 mine.csv --json",
                "Checks measurements of yours. Their columns identify the suite.",
            ),
        ],
        notes: format!("Suites:\n{suites}\n{NS2_BOUNDS}").into(),
        exit: &[
            ("0", "all figures are within their bounds"),
            ("1", "a figure is outside; of the shipped measurements some are known to be"),
            ("2", "the input is wrong"),
        ],
        more: &["docs/validation.md"],
        ..Appendix::default()
    }
}

const NS2_BOUNDS: &str = "\
Single flows agree within 1 % if ns-2 lost nothing, and within 5 % if it lost packets. They also agree if our time lies in \
the band that ns-2 spans when the phase of its clock varies. The band comes from a file with the columns time_min and \
time_max: one that you name, FILE-spread.csv beside FILE.csv, or the shipped one. `time_with_other_ties` is our time if a \
packet that leaves a queue at the instant of an arrival has already made room.\n\n\
The other suites agree within 10 % or two standard errors of the difference, whichever is more. The bound is wider where the set-up is a \
guess, or chance decides. It is 30 % in bs1, 30 % for dropped packets in bs2 (5 % for its total), 15 % for times and 25 % for losses in ses.\n\n\
A file's name may have what its columns lack: tick500ms (the clock of the TCPs, otherwise 100 ms), red (marking queues), and \
constant-load or changed-load with a delay like 50ms.";

pub(crate) fn run(args: &CheckArgs) -> Result<(), Failure> {
    match &args.against {
        Baseline::Ns2 { files, suite, quick, json } => {
            let selection = Selection { suite: suite.clone(), quick: *quick };
            against_ns2(files, &selection, *json)
        }
        Baseline::Worlds(args) => worlds::run(args),
        Baseline::Scripts(args) => scripts::run(args),
        Baseline::FuzzKernel(args) => fuzz_kernel::run(args),
        Baseline::Traces(args) => traces::run(args),
        Baseline::Truth(args) => truth::run(args),
        Baseline::Pages(args) => pages::run(args),
        Baseline::Published(args) => published::run(args),
        Baseline::Quic(args) => quic::run(args),
        Baseline::Agent(args) => agent::run(args),
        Baseline::Harm(args) => harm::run(args),
    }
}

fn against_ns2(files: &[PathBuf], selection: &Selection, json: bool) -> Result<(), Failure> {
    let files = read(files)?;
    let prepared = ns2::prepare(&files, selection).map_err(Failure::input)?;
    say_what_is_left_out(&prepared);
    if prepared.is_empty() {
        let names: Vec<_> = files.iter().map(Measurements::name).collect();
        return Err(Failure::input(format!("{}: no case to check", names.join(", "))));
    }
    let progress = CountBar::begin(prepared.len() as u64, "cases");
    let rows = prepared.run(&|| progress.step());
    progress.end();
    let rows = rows.map_err(Failure::input)?;
    match json {
        true => stdout::print_json(&rows)?,
        false => table::print(&rows)?,
    }
    verdict(&rows)
}

fn verdict(rows: &[ComparisonRow]) -> Result<(), Failure> {
    match rows.iter().filter(|row| row.verdict == Ns2Verdict::Outside).count() {
        0 => Ok(()),
        n => Err(Failure::failed(format!(
            "{n} of {} outside; docs/validation/ns2.md describes the known cases",
            counted(rows.len(), "figure")
        ))),
    }
}

fn say_what_is_left_out(prepared: &PreparedCases) {
    for one in &prepared.notes {
        note(one);
    }
    let mut skipped = BTreeMap::new();
    for reason in &prepared.skipped {
        *skipped.entry(reason).or_insert(0) += 1;
    }
    for (reason, rows) in skipped {
        note(&format!("{reason} ({} left out)", counted(rows, "row")));
    }
}

/// The named files, each with its file of spreads if one lies beside it; or those shipped.
fn read(files: &[PathBuf]) -> Result<Vec<Measurements>, Failure> {
    if files.is_empty() {
        return ns2::shipped_measurements().map_err(Failure::input);
    }
    let one = |path: &PathBuf| {
        let name = path.display().to_string();
        let bytes = input::read(path)?;
        ns2::read(&name, &String::from_utf8_lossy(&bytes)).map_err(Failure::input)
    };
    let beside = files.iter().filter_map(|path| spread_of(path)).filter(|path| path.exists());
    files.iter().cloned().chain(beside).map(|path| one(&path)).collect()
}

/// `FILE-spread.csv` for `FILE.csv`.
fn spread_of(path: &Path) -> Option<PathBuf> {
    let stem = path.file_stem()?.to_str()?;
    Some(path.with_file_name(format!("{stem}-spread.csv")))
}

/// Reports that packets of a measurement were later than [`TOO_LATE`], although it was repeated.
fn remark_if_late(what: &str, lateness_p99_s: f64) {
    if lateness_p99_s > TOO_LATE.as_secs_f64() {
        let ms = lateness_p99_s * 1e3;
        note(&format!("packets of {what} were late: {ms:.1} ms"));
    }
}

/// A measurement failed: for want of what the machine has not, or otherwise.
fn of_machine(error: std::io::Error) -> Failure {
    match testbed::cannot_be_had(&error) {
        true => Failure::input(error),
        false => Failure::failed(error),
    }
}
