//! `headstart lab check fuzz-kernel`: random scripts in the model and in the running kernel.

use super::of_machine;
use cmdline::progress::CountBar;
use cmdline::{Appendix, Failure, note, stdout};
use kernel_fuzz::{CampaignPlan, CampaignReport, FoundDifference, FuzzKind, KindCount};
use report::{Cell, Column, Quantity, Row, Table};
use std::fs;
use std::path::{Path, PathBuf};
use units::counted;

#[derive(Debug, clap::Args)]
pub(super) struct FuzzKernelArgs {
    /// Play scripts of these kinds: loss, application, timeout, dsack, window, fin [default: all]
    #[arg(long, value_name = "KIND,…", value_delimiter = ',', value_parser = FuzzKind::named)]
    kind: Vec<FuzzKind>,
    /// Scripts of each kind
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    scripts: u64,
    /// Seed of the first script of each kind; each further script has the next seed
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Keep the script of each difference, with what differs, in this folder
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    keep: Option<PathBuf>,
    /// Scripts played at a time; a slow machine hands their segments over late
    #[arg(long, value_name = "N", default_value_t = 24, value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: u16,
    /// Differences of one kind and message that are shrunk; each takes up to a minute
    #[arg(long, value_name = "N", default_value_t = 2)]
    shrink: u64,
    /// Print JSON with every difference and its script instead of a table
    #[arg(long)]
    json: bool,
}

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            (
                "sudo headstart lab check fuzz-kernel --scripts 50",
                "Plays 50 scripts of each kind, in about a minute.",
            ),
            (
                "sudo headstart lab check fuzz-kernel --kind loss,dsack --scripts 1000 --keep found",
                "Plays 1,000 scripts of two kinds, and keeps the scripts that differ.",
            ),
            (
                "sudo headstart lab check fuzz-kernel --kind fin --scripts 1 --seed 17 --json",
                "Plays the script of one seed once more.",
            ),
            (
                "headstart lab script found/fin-17.pkt",
                "Plays a script that was kept in the model, where it holds.",
            ),
        ],
        notes: NOTES.into(),
        exit: &[
            ("0", "the kernel does what the model does under every script that was played"),
            ("1", "a script differs; each is listed with its first difference"),
            ("2", "the input is wrong, or a privilege is missing"),
        ],
        see_also: &["headstart-lab-script", "headstart-lab-check-scripts"],
        more: &["docs/validation/kernel-scripts.md", "scripts/README.md"],
        ..Appendix::default()
    }
}

const NOTES: &str = "\
A script is made while the model plays it. A simulated peer and network answer what the model sends. \
After each segment that reaches the host, and after each call, the script asserts what TCP_INFO reports. \
State, windows, scoreboard and counters must be equal. Round trips and timeouts may differ by the \
kernel's ticks. A segment that a timer sends may be late by two ticks of 4 ms for each timer since \
the last input.\n\n\
Each script that differs is played three times. If it does not differ in the same event each time, \
or if its inputs were late, it counts as not played. Few differences with the same message are \
shrunk; the others are kept as they are.\n\n\
The kernel runs in network namespaces of this command, with tcp_tso_win_divisor=100 and a larger \
send buffer. Windows that the host offers are not compared, since the kernel's receive buffer counts memory. \
The command needs root and TUN devices.";

pub(super) fn run(args: &FuzzKernelArgs) -> Result<(), Failure> {
    let all = || FuzzKind::ALL.iter().map(|(_, kind)| *kind).collect();
    let plan = CampaignPlan {
        kinds: if args.kind.is_empty() { all() } else { args.kind.clone() },
        scripts: args.scripts,
        seed: args.seed,
        jobs: args.jobs.into(),
        shrink: args.shrink,
    };
    let progress = CountBar::begin(plan.scripts * plan.kinds.len() as u64, "scripts");
    let report = plan.run(&|| progress.step());
    progress.end();
    let report = report.map_err(of_machine)?;
    if let Some(folder) = &args.keep {
        write_differences(folder, &report.differences)?;
    }
    match args.json {
        true => stdout::print_json(&report)?,
        false => print(&report)?,
    }
    verdict(&report)
}

/// Writes a script for each difference, and the list of all of them.
fn write_differences(folder: &Path, differences: &[FoundDifference]) -> Result<(), Failure> {
    let failed = |path: &Path, error: std::io::Error| {
        Failure::input(format!("{}: {error}: --keep takes a folder to write", path.display()))
    };
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let mut list = String::new();
    for found in differences {
        let name = format!("{}-{}.pkt", found.kind.name(), found.seed);
        let line = difference_text(found, &name);
        let path = folder.join(&name);
        let text = format!("// {}\n{}", line.trim_end().replace('\n', "\n// "), found.script);
        fs::write(&path, text).map_err(|error| failed(&path, error))?;
        list.push_str(&line);
    }
    let path = folder.join("differences.txt");
    fs::write(&path, list).map_err(|error| failed(&path, error))
}

fn difference_text(found: &FoundDifference, name: &str) -> String {
    let difference = &found.difference;
    let (line, message) = (difference.line, &difference.message);
    let shrunk = if found.shrunk { "" } else { " (not shrunk)" };
    format!(
        "{name}:{line}: {message}{shrunk}\n   model: {}\n  kernel: {}\n",
        difference.model, difference.kernel
    )
}

fn print(report: &CampaignReport) -> Result<(), Failure> {
    for found in &report.differences {
        stdout::print(&difference_text(
            found,
            &format!("{}-{}.pkt", found.kind.name(), found.seed),
        ))?;
    }
    for (reason, count) in &report.reasons {
        note(&format!("{} could not be played: {reason}", counted(*count, "script")));
    }
    stdout::print_table(&campaign_table(report))
}

fn campaign_table(report: &CampaignReport) -> Table {
    let columns = vec![
        Column::new("kind", Quantity::Text, "What the scripts are about"),
        Column::new("scripts", Quantity::Count, "All of them"),
        Column::new("agree", Quantity::Count, "The kernel does what the model does"),
        Column::new("differ", Quantity::Count, "The kernel does something else each time"),
        Column::new("not played", Quantity::Count, "Late inputs, or another result each time"),
    ];
    let number = |n: u64| Cell::Number((n as f64).into());
    let row = |(kind, count): (&FuzzKind, &KindCount)| Row {
        cells: vec![
            Cell::Text(kind.name().to_owned()),
            number(count.scripts),
            number(count.agree),
            number(count.differ),
            number(count.not_played),
        ],
        is_reference: false,
    };
    Table { columns, rows: report.kinds.iter().map(row).collect() }
}

fn verdict(report: &CampaignReport) -> Result<(), Failure> {
    let sum = |of: fn(&KindCount) -> u64| report.kinds.values().map(of).sum::<u64>();
    let scripts = sum(|count| count.scripts);
    if scripts > 0 && sum(|count| count.agree + count.differ) == 0 {
        return Err(Failure::failed("no script could be played; is the machine busy?"));
    }
    match report.differences.len() {
        0 => Ok(()),
        n => Err(Failure::failed(format!(
            "{n} of {} differ; docs/validation/kernel-scripts.md lists known causes",
            counted(scripts, "script")
        ))),
    }
}
