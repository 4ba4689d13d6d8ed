//! `headstart lab theory`: the papers' closed forms, and the window that minimises the time itself.
//!
//! `topics` computes what was asked for, `tables` and `figures` show it.

mod figures;
mod tables;
mod topics;

use clap::Command;
use cmdline::request::{self, CommandReply};
use cmdline::{Appendix, Failure, report_file, stdout};
use link::path::PathSpec;
use std::ffi::OsString;
use std::path::PathBuf;
use topics::Topics;

#[derive(Debug, clap::Args)]
pub(crate) struct TheoryArgs {
    /// Topics to show [default: all]
    #[arg(value_name = "TOPIC")]
    topics: Vec<Topic>,

    /// For the topic windows: sizes of transfers, in segments
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', default_value = "30,100",
          value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    segments: Vec<u64>,

    /// For the topic time: the path RATE,RTT,QUEUE, as `headstart race` takes it
    #[arg(long, value_name = "PATH", default_value = "10mbit,80ms,0.5bdp", value_parser = parse_path)]
    path: PathSpec,

    /// For the topic time: sizes of transfers, like 30kB [default: 10, 30, 100, 300 and 1000 kB]
    #[arg(long, value_name = "SIZE,SIZE,…", value_delimiter = ',', value_parser = parse_size)]
    sizes: Vec<u64>,

    /// Assume that receivers acknowledge every second segment
    #[arg(long)]
    delayed_acks: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Write a page with figures
    #[arg(long, value_name = "FILE.html", alias = "html")]
    report: Option<PathBuf>,
}

/// Topics to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Topic {
    /// SPAND's initial window for a share of the path and a size, beside RFC 2414's
    Windows,
    /// The rate at which Paced Start's search ends, over the share that is available
    Gaps,
    /// The effect of a loss on parallel connections
    Losses,
    /// The first window that minimises the completion time, beside SPAND's
    Time,
}

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            ("headstart lab theory", "Prints all topics as tables."),
            (
                "headstart lab theory windows --segments 30,100 --report windows.html",
                "Draws cwnd_opt over the share of the path (Zhang, Qiu & Keshav 2000, Figure 5).",
            ),
            (
                "headstart lab theory gaps",
                "Prints where Paced Start ends (Hu & Steenkiste 2003, Table 2): closed forms, and the search.",
            ),
            (
                "headstart lab theory time --path 200mbit,40ms,1bdp --sizes 30kB,1MB",
                "Prints the fastest first window on a path, and what cwnd_opt costs beside it.",
            ),
        ],
        notes: "Windows are in segments. Nothing here is simulated.".into(),
        exit: &[("0", "done"), ("1", "the page cannot be written"), ("2", "the input is wrong")],
        see_also: &["headstart-lab-papers"],
        more: &["docs/theory.md"],
        ..Appendix::default()
    }
}

fn parse_path(text: &str) -> Result<PathSpec, String> {
    text.parse().map_err(|error: link::path::PathError| error.to_string())
}

/// More than this is no short transfer, and takes long to compute.
const MAX_BYTES: u64 = 100_000_000;

fn parse_size(text: &str) -> Result<u64, String> {
    match units::parse_bytes(text).map_err(|error| error.to_string())? {
        bytes @ 1..=MAX_BYTES => Ok(bytes),
        _ => Err("between 1B and 100MB, please".to_owned()),
    }
}

pub(crate) fn run(args: &TheoryArgs) -> Result<(), Failure> {
    if let Some(path) = &args.report {
        report_file::check(path, [])?;
    }
    let topics = Topics::new(args);
    let written = write_page(args, &topics);
    match args.json {
        true => stdout::print_json(&topics)?,
        false => tables::print(&topics)?,
    }
    written
}

/// Closed forms that another program asks for.
#[derive(Debug)]
pub struct TheoryRequest(TheoryArgs);

impl TheoryRequest {
    /// The options that a request takes.
    pub fn command() -> Command {
        request::command::<TheoryArgs>("headstart lab theory")
    }

    /// Reads a request.
    ///
    /// # Errors
    /// Fails if an argument is wrong, in the words of the command line.
    pub fn parse(arguments: Vec<OsString>) -> Result<Self, clap::Error> {
        request::parse(Self::command(), arguments).map(Self)
    }

    /// Computes the topics and writes the page that the request asks for.
    ///
    /// # Errors
    /// Fails if the page may not be written where the request says.
    pub fn run(&self) -> Result<CommandReply, Failure> {
        let Self(args) = self;
        args.report.as_deref().map_or(Ok(()), |path| report_file::check(path, []))?;
        let topics = Topics::new(args);
        Ok(CommandReply {
            json: stdout::json(&topics)?,
            sentences: Vec::new(),
            tables: tables::all(&topics),
            failure: write_page(args, &topics),
        })
    }
}

fn write_page(args: &TheoryArgs, topics: &Topics) -> Result<(), Failure> {
    let Some(path) = &args.report else { return Ok(()) };
    report_file::write(path, &figures::document(topics).to_html())
}
