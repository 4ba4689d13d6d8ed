//! `headstart lab papers`: the papers' claims, reproduced or explained.

mod given;
mod page;
mod readings;
mod shown;
mod table;

use crate::sim::SimWatch;
use clap::Command;
use cmdline::progress::CommandWatch;
use cmdline::request::{self, CommandReply, NamedTable};
use cmdline::{Appendix, Failure, interrupt, report_file, stdout};
use given::GivenReadings;
use reproduction::papers::{self, ClaimAnswer, PaperClaim, PreparedRuns};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(crate) struct PapersArgs {
    /// Claims, like FS-1, or families of claims, like SES [default: all]
    #[arg(value_name = "ID")]
    claims: Vec<String>,

    /// Run fewer repeats and fewer points of each experiment
    #[arg(long)]
    quick: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Write a page with every figure
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,

    /// Runs at a time; results do not depend on their number [default: one per core]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,

    /// Answer BS-4 and BS-5 from captures of your own server, as `headstart analyze` reads them,
    /// instead of simulated ones
    #[arg(long, value_name = "FILE", num_args = 1..)]
    capture: Vec<PathBuf>,

    /// Answer SP-9 from your own server's access log, as `headstart analyze --access-log` reads it,
    /// instead of a simulated one
    #[arg(long, value_name = "FILE")]
    access_log: Option<PathBuf>,

    /// Search for the reading of each paper under which most of its claims hold
    ///
    /// Papers leave choices open. Every level of each choice is run alone, then combinations. With
    /// --quick, readings are not run again with all repeats and points. If single claims are named,
    /// like SP-2 SP-3, the search runs and counts these alone: it takes a fraction of the time, and
    /// ignores the paper's other claims.
    #[arg(long, conflicts_with_all = ["report", "capture", "access_log", "list"])]
    readings: bool,

    /// Readings to try in addition to each level alone
    #[arg(long, value_name = "N", default_value_t = 40, requires = "readings", value_parser = parse_budget)]
    budget: usize,

    /// Seed of the search
    #[arg(long, value_name = "N", default_value_t = 1, requires = "readings")]
    seed: u64,

    /// Table of open choices to search, in place of the one of the paper in `plans/readings`
    #[arg(long, value_name = "FILE", requires = "readings")]
    table: Option<PathBuf>,

    /// File that results of the search are added to, and that it continues from
    #[arg(long, value_name = "FILE", requires = "readings")]
    resume: Option<PathBuf>,

    /// List the claims and do nothing else
    #[arg(long)]
    list: bool,
}

/// A number of readings.
fn parse_budget(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if n <= MAX_READINGS => Ok(n),
        _ => Err(format!("use a number from 0 to {MAX_READINGS}")),
    }
}

/// More readings than this take days.
const MAX_READINGS: usize = 10_000;

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            ("headstart lab papers --list", "Lists the claims, and runs nothing."),
            ("headstart lab papers --quick", "Checks every claim in a few minutes."),
            ("headstart lab papers FS-1 SES", "Checks one claim, and all claims of a family."),
            ("headstart lab papers BS-5 --capture server.pcap", "Finds in your own capture what the paper found in its."),
            ("headstart lab papers --readings FS --quick --resume fs.jsonl", "Searches the readings of a paper, and continues there if it was interrupted."),
            ("headstart lab papers --readings SP-2 SP-3 --quick", "Searches for single claims, in a fraction of the time."),
            ("headstart lab papers --report papers.html", "Also draws every figure of the papers, with our curves."),
        ],
        notes: "A claim holds if, in every line that decides, our mean ± 2 standard errors meets the paper's interval. \
            Lines marked \"also\" do not decide.\n\n\
            Each paper is read in one way for all of its claims: one level of each choice that it leaves open. `plans/readings/` has the \
            choices. The column \"default\" has our figure under the plans as they stand.\n\n\
            Families: FS and SES (Padmanabhan & Katz 1998), SP (Zhang, Qiu & Keshav 2000), PS (Hu & Steenkiste 2003), \
            ET (Eggert, Heidemann & Touch 2000), BS (Balakrishnan et al. 1998)."
            .into(),
        exit: &[
            ("0", "the claims are answered, whether they hold or differ"),
            ("1", "an experiment failed; or a capture or log is damaged, and the answers are from the rest of it"),
            ("2", "there is no such claim, or the report cannot be written"),
            ("130", "interrupted: there are no answers"),
        ],
        see_also: &["headstart-lab-sim", "headstart-lab-theory"],
        more: &["docs/papers.md", "docs/validation/claims.md"],
        ..Appendix::default()
    }
}

pub(crate) fn run(args: &PapersArgs) -> Result<(), Failure> {
    let claims = papers::select(&args.claims).map_err(Failure::input)?;
    if args.list {
        return stdout::print(&claim_list(&claims));
    }
    if args.readings {
        return readings::run(args, &claims);
    }
    GivenReadings::check(args, &claims)?;
    if let Some(report) = &args.report {
        let inputs = args.capture.iter().chain(&args.access_log);
        report_file::check(report, inputs.map(PathBuf::as_path))?;
    }
    let (answers, all_read) = answers(&claims, args, &SimWatch::default())?;
    // A report that cannot be written is no reason to keep the results back.
    let written =
        args.report.as_ref().map_or(Ok(()), |path| write_page(path, &answers, args.quick));
    match args.json {
        true => stdout::print_json(&answers)?,
        false => table::print(&answers)?,
    }
    written.and(all_read)
}

/// Claims that another program asks for.
#[derive(Debug)]
pub struct PapersRequest(PapersArgs);

impl PapersRequest {
    /// The options that a request takes.
    pub fn command() -> Command {
        request::command::<PapersArgs>("headstart lab papers")
    }

    /// Reads a request.
    ///
    /// # Errors
    /// Fails if an argument is wrong, in the words of the command line.
    pub fn parse(arguments: Vec<OsString>) -> Result<Self, clap::Error> {
        request::parse(Self::command(), arguments).map(Self)
    }

    /// Answers the claims from simulations, and writes the page that the request asks for.
    ///
    /// # Errors
    /// Fails if there is no such claim, or an experiment fails.
    pub fn run(&self, watch: &dyn CommandWatch) -> Result<CommandReply, Failure> {
        let Self(args) = self;
        let claims = papers::select(&args.claims).map_err(Failure::input)?;
        args.report.as_deref().map_or(Ok(()), |path| report_file::check(path, []))?;
        let (answers, all_read) = answers(&claims, args, watch)?;
        let written =
            args.report.as_ref().map_or(Ok(()), |path| write_page(path, &answers, args.quick));
        let figures =
            |answer: &ClaimAnswer| NamedTable::new(answer.claim.id, table::figures_table(answer));
        Ok(CommandReply {
            json: stdout::json(&answers)?,
            sentences: answers.iter().map(table::claim_summary).collect(),
            tables: answers.iter().map(figures).collect(),
            failure: written.and(all_read),
        })
    }
}

fn write_page(path: &Path, answers: &[ClaimAnswer], quick: bool) -> Result<(), Failure> {
    let made = match quick {
        true => "Quick: fewer repeats and points than the plans say.",
        false => "All repeats and points of the plans.",
    };
    report_file::write(path, &page::document(answers, made).to_html())
}

fn claim_list(claims: &[&PaperClaim]) -> String {
    claims.iter().map(|claim| format!("{:<7}{}\n", claim.id, claim.text)).collect()
}

/// The answers, and whether all that was given could be read.
fn answers(
    claims: &[&'static PaperClaim],
    args: &PapersArgs,
    watch: &dyn CommandWatch,
) -> Result<(Vec<ClaimAnswer>, Result<(), Failure>), Failure> {
    let mut prepared = PreparedRuns::new(claims, args.quick).map_err(Failure::failed)?;
    let given = GivenReadings::read(args)?;
    interrupt::end_at_once(false)?;
    if given.site.is_some() {
        prepared = prepared.with_captures_given();
    }
    if given.log.is_some() {
        prepared = prepared.with_log_given();
    }
    if args.quick {
        watch.note("quick: fewer repeats and points than the plans say");
    }
    watch.begin(prepared.len() as u64, "runs");
    let book = prepared.run(args.jobs.map_or(0, usize::from), &|| watch.step());
    watch.end();
    let mut book = book.map_err(Failure::failed)?;
    let all_read = given.add_to(&mut book);
    Ok((papers::answer(claims, &book), all_read))
}
