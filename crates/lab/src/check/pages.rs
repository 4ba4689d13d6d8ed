//! `headstart lab check pages`: does `headstart race` name the causes that are built into pages?

use super::{of_machine, remark_if_late};
use cmdline::programs::HEADSTART;
use cmdline::progress::CountBar;
use cmdline::{Appendix, Failure, stdout};
use report::{Cell, Column, Quantity, Row, Table};
use serde::Serialize;
use serde_json::Value;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use testbed::pages::{self, JudgedPage, LoadedPage, PageCase, PagePeers};
use testbed::{select, write_files};

#[derive(Debug, clap::Args)]
pub(super) struct CheckPagesArgs {
    /// Load the pages whose names contain one of these texts
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pages: Vec<String>,
    /// Keep a folder for each page: page.har, race.json, client.pcap and server.pcap
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    keep: Option<PathBuf>,
    /// Seed of random losses
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Print JSON with all shares instead of a table
    #[arg(long)]
    json: bool,
}

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            ("sudo headstart lab check pages", "Loads all pages, in about two minutes."),
            (
                "sudo headstart lab check pages --pages 'lossy,window' --keep loads",
                "Loads some pages and keeps their recordings, to look closer.",
            ),
        ],
        notes: NOTES.into(),
        exit: &[
            ("0", "the cause of every page is named"),
            ("1", "a cause is not named, or a load failed"),
            ("2", "the input is wrong, or a program or a privilege is missing"),
        ],
        see_also: &["headstart-race", "headstart-analyze"],
        more: &["docs/validation/built-in-causes.md"],
        ..Appendix::default()
    }
}

const NOTES: &str = "\
A cause is named if it has the largest share of `bound` in the race's JSON. Where a cause has \
files, the critical path has to show it as well. That is the slow file, the late file, the chain of imports or redirects, \
or the waits for connections. A lossy \
path and small windows are no property of a HAR file. There the race gets the path's loss, the initial window or the \
receive window, and the analyser has to name the cause in the capture at the server.\n\n\
The table compares the simulated load event with that of the browser, which includes the browser's own work. A load \
whose packets were late is repeated up to twice. It needs root, TUN devices, chromium and nginx.";

/// All pages, as `--json` prints them.
#[derive(Serialize)]
struct PagesReport {
    browser: String,
    server: String,
    pages: Vec<JudgedPage>,
}

pub(super) fn run(args: &CheckPagesArgs) -> Result<(), Failure> {
    let cases = select(pages::cases(), &args.pages, "page", |case| case.name);
    let cases = cases.map_err(|why| Failure::input(format!("--pages: {why}")))?;
    let headstart = HEADSTART.find().map_err(Failure::input)?;
    let peers = PagePeers::installed().map_err(of_machine)?;
    let progress = CountBar::begin(cases.len() as u64, "pages");
    let mut judged = Vec::new();
    for case in &cases {
        let loaded = peers.load(case, args.seed).map_err(of_machine)?;
        let race = race(&headstart, case, &loaded).map_err(Failure::failed)?;
        if let Some(folder) = &args.keep {
            write_case_files(&folder.join(case.name.replace(' ', "-")), &loaded, &race)
                .map_err(Failure::failed)?;
        }
        judged.push(JudgedPage::of(case, &loaded, &race));
        progress.step();
    }
    progress.end();
    let [browser, server] = peers.versions().map(str::to_owned);
    let report = PagesReport { browser, server, pages: judged };
    match args.json {
        true => stdout::print_json(&report)?,
        false => print(&report)?,
    }
    verdict(&report)
}

/// The JSON of a race of the recording over the case's path.
fn race(headstart: &Path, case: &PageCase, loaded: &LoadedPage) -> io::Result<Value> {
    let mut command = Command::new(headstart);
    command.args(["race", "-", "--json", "--path", &case.path.to_string()]);
    command.args(["--schemes", &case.scheme()]);
    if let Some(window) = case.client_window {
        command.args(["--client-window", &format!("{window}B")]);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(&loaded.har)?;
    }
    let output = child.wait_with_output()?;
    if !output.status.success() {
        let printed = String::from_utf8_lossy(&output.stderr);
        let why = format!("{}: `headstart race` failed: {}", case.name, printed.trim_end());
        return Err(io::Error::other(why));
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn write_case_files(folder: &Path, loaded: &LoadedPage, race: &Value) -> io::Result<()> {
    let race = serde_json::to_vec_pretty(race)?;
    let files: [(&str, &[u8]); 4] = [
        ("page.har", &loaded.har),
        ("race.json", &race),
        ("client.pcap", &loaded.at_client),
        ("server.pcap", &loaded.at_server),
    ];
    write_files(folder, &files)
}

fn print(report: &PagesReport) -> Result<(), Failure> {
    for page in &report.pages {
        remark_if_late(&format!("{:?}", page.case), page.lateness_p99_s);
    }
    stdout::print_table(&pages_table(report))?;
    let named = report.pages.iter().filter(|page| page.is_named()).count();
    stdout::print(&format!(
        "\n{named} of {} causes are named; {} and {}\n",
        report.pages.len(),
        report.browser,
        report.server,
    ))
}

fn pages_table(report: &PagesReport) -> Table {
    let columns = vec![
        Column::new("page", Quantity::Text, "The cause that is built in"),
        Column::new("path", Quantity::Text, "The path"),
        Column::new("objects", Quantity::Count, "Objects of the page"),
        Column::new("browser", Quantity::Time, "The browser's load event"),
        Column::new("simulated", Quantity::Time, "The simulated load event"),
        Column::new("ratio", Quantity::Ratio, "Simulated over the browser's"),
        Column::new("bound by", Quantity::Text, "The race's largest share"),
        Column::new("critical path", Quantity::Text, "Whether it shows the cause"),
        Column::new("capture", Quantity::Text, "The analyser's first cause"),
        Column::new("verdict", Quantity::Text, "Whether all name the cause"),
    ];
    Table { columns, rows: report.pages.iter().map(line).collect() }
}

fn line(page: &JudgedPage) -> Row {
    let text = |text: String| Cell::Text(text);
    let number = |value: Option<f64>| value.map_or(Cell::Undefined, |v| Cell::Number(v.into()));
    let largest = page.bound.iter().max_by(|a, b| a.1.total_cmp(b.1));
    let largest = largest.map(|(name, share)| format!("{name} {:.0} %", share * 100.0));
    let shown = match page.is_critical_right {
        None => "",
        Some(true) => "shows it",
        Some(false) => "✗",
    };
    let capture = match (page.is_analysed_right, page.analysed) {
        (None, _) => String::new(),
        (Some(is_right), first) => {
            format!("{}{}", first.unwrap_or("none"), if is_right { "" } else { " ✗" })
        }
    };
    let cells = vec![
        text(page.case.to_owned()),
        text(page.path.clone()),
        number(Some(page.objects as f64)),
        number(Some(page.browser_s)),
        number(page.simulated_s),
        number(page.ratio()),
        text(largest.unwrap_or_else(|| "unknown".to_owned())),
        text(shown.to_owned()),
        text(capture),
        text(if page.is_named() { "named" } else { "NOT NAMED" }.to_owned()),
    ];
    Row { cells, is_reference: false }
}

fn verdict(report: &PagesReport) -> Result<(), Failure> {
    let missed: Vec<&str> =
        report.pages.iter().filter(|page| !page.is_named()).map(|page| page.case).collect();
    match missed.is_empty() {
        true => Ok(()),
        false => Err(Failure::failed(format!("the cause is not named of: {}", missed.join("; ")))),
    }
}
