//! `headstart lab check truth`: does the analyser name the causes that are known?

use super::{of_machine, remark_if_late};
use cmdline::progress::CountBar;
use cmdline::{Appendix, Failure, note, stdout};
use report::{Cell, Column, Quantity, Row, Table};
use std::path::PathBuf;
use testbed::truth::{
    BURSTY_TOLERANCE_POINTS, ComparedCapture, MeasuredRow, SHARE_TOLERANCE_POINTS, ShareError,
    TruthPlan, TruthReport,
};

#[derive(Debug, clap::Args)]
pub(super) struct CheckTruthArgs {
    /// Measure the rows whose names contain one of these texts
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    rows: Vec<String>,
    /// Measure a part of the rows, in about a minute
    #[arg(long)]
    quick: bool,
    /// Keep a folder for each row: captures, the truth, and records of link and kernels
    ///
    /// The captures are client.pcap and server.pcap. The file truth.json has the row's script, the
    /// steps of both ends with their times, the truth, and the analyser's account. The kernel's
    /// counters of each millisecond are in kernel.csv. There is a line for each packet in link.csv,
    /// and for each read of an application in reads.csv. Times are since the captures' origin.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    keep: Option<PathBuf>,
    /// Rows measured at a time; a slow machine hands their packets over late
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=64))]
    jobs: u16,
    /// Seed of random losses and jitter
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Print JSON with all figures instead of a table
    #[arg(long)]
    json: bool,
}

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            ("sudo headstart lab check truth --quick", "Measures a part, in less than a minute."),
            (
                "sudo headstart lab check truth --rows 'slow start,Nagle' --keep captures",
                "Measures some rows and keeps their captures, to look closer.",
            ),
            (
                "headstart analyze captures/slow-start-300-kb-200-mbit-s-100-ms/server.pcap",
                "Analyses one of the captures that were kept.",
            ),
        ],
        notes: notes().into(),
        exit: &[
            ("0", "every row is inside"),
            ("1", "a row is outside or doubtful, or a transfer failed"),
            ("2", "the input is wrong, or a privilege is missing"),
        ],
        see_also: &["headstart-analyze", "headstart-behind"],
        more: &["docs/validation/trace-engine.md"],
        ..Appendix::default()
    }
}

fn notes() -> String {
    format!(
        "A row is a path and one or a few connections, whose ends follow a script: read, write, pause, reset. The truth \
never comes from the captures:\n\
\x20 first cause      by construction: the script and the path leave no other\n\
\x20 handshake, tls,  the link's own records of packets, and the log of each\n\
\x20 request, think   step\n\
\x20 path             transmission of the packets that the response needs at the\n\
\x20                  path's rate, and one round trip\n\
\x20 slow-start       the rest of a transfer without losses and limits\n\
\x20 receiver-window  the kernel's rwnd_limited; up to the path's share of it may count\n\
\x20                  as path\n\
\x20 send-buffer      the same of the kernel's sndbuf_limited\n\
\x20 application      between the time without data outstanding and the time slept\n\
\x20 nagle            the time between the write of a byte and its packet\n\
\x20 pacing           the rest of a transfer whose pacing rate is capped\n\n\
A row's shares that nothing proves are not compared. All times are as the server sees them. A row is doubtful if \
the kernel's counters contradict what it was built to be: retransmissions, or limits by windows and buffers. It is doubtful as well if another known share is larger than that of the first cause.\n\n\
Each line of the table has the first cause of a row. For the captures at the server and at the client it has the \
analyser's first cause, and the worst error of a share in percentage points. An error below zero means that the analyser's share is \
too small. Retransmissions are those of the engine at the server and at the client, and of the kernels. A row is \
inside if both first causes are right and every known share is within {SHARE_TOLERANCE_POINTS} points, or \
{BURSTY_TOLERANCE_POINTS} where ACKs are late or arrive in bursts. At the client a cause may be *unexplained* instead.\n\n\
If more than one packet in a hundred is handed over later than 1 ms, the row is repeated. It needs root and TUN devices."
    )
}

pub(super) fn run(args: &CheckTruthArgs) -> Result<(), Failure> {
    let plan = TruthPlan::new(args.quick).only(&args.rows);
    let plan = plan.map_err(|why| Failure::input(format!("--rows: {why}")))?;
    let jobs = usize::from(args.jobs);
    let plan = TruthPlan { keep: args.keep.clone(), jobs, seed: args.seed, ..plan };
    let progress = CountBar::begin(plan.rows.len() as u64, "rows");
    let report = plan.run(&|| progress.step());
    progress.end();
    let report = report.map_err(of_machine)?;
    for left_out in &report.left_out {
        note(&format!("without {:?}: {}", left_out.row, left_out.why));
    }
    match args.json {
        true => stdout::print_json(&report)?,
        false => print(&report)?,
    }
    verdict(&report)
}

fn print(report: &TruthReport) -> Result<(), Failure> {
    stdout::print_table(&truth_table(report))?;
    for row in &report.rows {
        remark_if_late(&format!("{:?}", row.row.name), row.lateness_p99_s);
        for why in &row.truth.contradictions {
            stdout::print(&format!("\nnote: {} is doubtful: {why}", row.row.name))?;
        }
    }
    let firsts = |of: fn(&MeasuredRow) -> &ComparedCapture| {
        report.rows.iter().filter(|row| of(row).is_first_right).count()
    };
    stdout::print(&format!(
        "\n{} of {} rows are inside; first causes are right in {} at the server and in {} at the client\n",
        report.rows.iter().filter(|row| row.is_inside()).count(),
        report.rows.len(),
        firsts(|row| &row.at_server),
        firsts(|row| &row.at_client),
    ))
}

fn truth_table(report: &TruthReport) -> Table {
    let columns = vec![
        Column::new("row", Quantity::Text, "What was played"),
        Column::new("time", Quantity::Time, "All transfers together"),
        Column::new("truth", Quantity::Text, "The first cause"),
        Column::new("at the server", Quantity::Text, "The analyser's first cause"),
        Column::new("error", Quantity::Text, "Its worst share, in points"),
        Column::new("at the client", Quantity::Text, "The analyser's first cause"),
        Column::new("error", Quantity::Text, "Its worst share, in points"),
        Column::new("retransmissions", Quantity::Text, "Engine at both ends / kernel"),
        Column::new("verdict", Quantity::Text, "Whether the analyser is right"),
    ];
    Table { columns, rows: report.rows.iter().map(line).collect() }
}

fn line(row: &MeasuredRow) -> Row {
    let text = |text: String| Cell::Text(text);
    let first: Vec<&str> = row.truth.first.iter().map(|cause| cause.name()).collect();
    let again = [&row.at_server, &row.at_client].map(|end| end.found.retransmissions);
    let verdict = match (row.truth.contradictions.is_empty(), row.is_inside()) {
        (false, _) => "doubtful",
        (true, true) => "inside",
        (true, false) => "OUTSIDE",
    };
    let cells = vec![
        text(row.row.name.clone()),
        Cell::Number(row.truth.total_s.into()),
        text(first.join(", ")),
        text(found_first(&row.at_server)),
        text(worst(&row.at_server)),
        text(found_first(&row.at_client)),
        text(worst(&row.at_client)),
        text(format!("{}, {} / {}", again[0], again[1], row.truth.retransmissions)),
        text(verdict.to_owned()),
    ];
    Row { cells, is_reference: false }
}

fn found_first(end: &ComparedCapture) -> String {
    let mark = if end.is_first_right { "" } else { " ✗" };
    format!("{}{mark}", end.found.first.unwrap_or("none"))
}

/// Such as `-12.0 slow-start`.
fn worst(end: &ComparedCapture) -> String {
    let text = |worst: ShareError| format!("{:+.1} {}", worst.points, worst.cause.name());
    end.worst().map_or_else(String::new, text)
}

fn verdict(report: &TruthReport) -> Result<(), Failure> {
    if report.holds() {
        return Ok(());
    }
    let (mut outside, mut doubtful) = (0, 0);
    for row in &report.rows {
        match row.truth.contradictions.is_empty() {
            false => doubtful += 1,
            true => outside += usize::from(!row.is_inside()),
        }
    }
    Err(Failure::failed(format!(
        "of {} rows {outside} are outside and {doubtful} doubtful",
        report.rows.len()
    )))
}
