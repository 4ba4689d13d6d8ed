//! `headstart lab scoreboard`: schemes over fixed cells, as tables, JSON and a page of plots and
//! heat maps.

mod against;
mod page;
mod plot;
mod table;

use clap::Command;
use cmdline::names::{self, SchemeList};
use cmdline::progress::{CommandWatch, TerminalWatch};
use cmdline::request::{self, CommandReply, NamedTable};
use cmdline::{Appendix, Failure, report_file, stdout};
use experiment::results::Shard;
use race::ProcessingDelay;
use race::scoreboard::{Board, DEFAULT_SCHEMES, Half, ScoreboardPlan, Set, TransferOutcome};
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct ScoreboardArgs {
    /// Schemes, separated by commas (`headstart schemes`); `linux` is always shown
    #[arg(long, value_name = "A,B,…", default_value = DEFAULT_SCHEMES, value_parser = names::schemes)]
    schemes: SchemeList,

    /// Run 387 cells, most of them cheap, weighed by what they stand for: two fifths of the
    /// sample's time
    #[arg(long, conflicts_with = "all")]
    quick: bool,

    /// Run the whole matrix of 5400 cells, eighteen times the sample
    #[arg(long)]
    all: bool,

    /// Run recorded pages and documents over the paths that people have: 336 cells, first and
    /// repeated visits
    #[arg(long, conflicts_with_all = ["quick", "all"])]
    real: bool,

    /// Run one half of the cells: tune parameters on one, take figures from the other
    ///
    /// A cell is in the same half of every set, by a hash of its name. So a scheme that was tuned
    /// on `--quick --half tune` has seen no cell of `--all --half check`.
    #[arg(long, value_enum)]
    half: Option<HalfName>,

    /// Seed of start phases; with `--seeds` the first of them
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Run each cell under this number of seeds, with the delays of real hosts, and show the
    /// geometric mean
    ///
    /// Each seed draws other start phases and, for each packet, another delay at its host. All
    /// schemes have the same seeds. Intervals are still over cells: seeds of one cell say little of
    /// other cells.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    seeds: u32,

    /// With `--seeds`: hosts answer at once, so seeds differ by start phases and random losses
    /// alone
    #[arg(long, requires = "seeds")]
    exact: bool,

    /// Threads to run on; results do not depend on their number [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,

    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,

    /// Print the schema of the JSON and do nothing else
    #[arg(long)]
    json_schema: bool,

    /// Print the cells as CSV and do nothing else
    #[arg(long)]
    cells: bool,

    /// Say below the table what each scheme lost time to: lost SYNs, timeouts, tail-loss probes,
    /// retransmissions
    #[arg(long, conflicts_with_all = ["json", "cells"])]
    causes: bool,

    /// Say whether a board that `--json` has printed before ranks these schemes alike
    #[arg(long, value_name = "BOARD.json", conflicts_with_all = ["json", "cells"])]
    against: Option<PathBuf>,

    /// Write a page with the tables, time against harm as a plot, and heat maps
    #[arg(long, value_name = "FILE.html", alias = "html")]
    report: Option<PathBuf>,
}

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            ("headstart lab scoreboard --quick", "Gives a first impression, in seconds."),
            (
                "headstart lab scoreboard --report board.html",
                "Runs the published sample of 300 cells, in which every two levels of the matrix meet.",
            ),
            (
                "headstart lab scoreboard --schemes linux,linux+iw=32+pacing=on,spand --json",
                "Scores your schemes. `--json-schema` says how to read the output.",
            ),
            ("headstart lab scoreboard --cells", "Prints the sample itself."),
            (
                "headstart lab scoreboard --quick --half tune --seeds 3 --schemes linux,linux+iw=20,linux+iw=32",
                "Compares settings on half of the cells. `--half check` then gives the figures of the one that you choose.",
            ),
            (
                "headstart lab scoreboard --real --causes",
                "Loads recorded pages and documents over real kinds of paths, and says what each scheme lost time to.",
            ),
            (
                "headstart lab scoreboard --quick --against crates/race/data/scoreboard-all.json",
                "Says whether the quick set ranks as the whole matrix does.",
            ),
        ],
        notes: "A cell has a size (10 kB to 1 MB), a round trip (10 to 600 ms) and a rate (1.5 to 200 Mbit/s). Its queue is 0.25 \
            or 1 bandwidth-delay product. It also says what else is on the path, what the sender remembers, and whether it \
            loads one object or a page of 4 or 12. Every scheme has the same cells and seeds. *harm* is the background's time over that \
            beside `linux`. The column *over fair* is its time over that of max-min fair sharing, which stalls of `linux` do not change."
            .into(),
        exit: &[("0", "done"), ("1", "the page cannot be written at the end"), ("2", "the input is wrong, or the page may not be written there")],
        see_also: &["headstart-schemes", "headstart-race"],
        more: &["docs/scoreboard.md"],
        ..Appendix::default()
    }
}

/// JSON Schema of the output of `--json`.
const JSON_SCHEMA: &str = include_str!("../../../../docs/scoreboard-schema.json");

/// The halves by name.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum HalfName {
    /// Cells to tune parameters on
    Tune,
    /// Cells to take figures from
    Check,
}

impl From<HalfName> for Half {
    fn from(name: HalfName) -> Self {
        match name {
            HalfName::Tune => Self::Tune,
            HalfName::Check => Self::Check,
        }
    }
}

impl ScoreboardArgs {
    const fn set(&self) -> Set {
        match (self.quick, self.all, self.real) {
            (true, _, _) => Set::Quick,
            (_, true, _) => Set::All,
            (_, _, true) => Set::Real,
            _ => Set::Sample,
        }
    }
}

pub(crate) fn run(args: &ScoreboardArgs) -> Result<(), Failure> {
    if args.json_schema {
        return stdout::print(JSON_SCHEMA);
    }
    if args.cells {
        return stdout::print(&args.set().listing(args.half.map(Half::from)));
    }
    if let Some(path) = &args.report {
        report_file::check(path, args.against.as_deref())?;
    }
    let other = args.against.as_deref().map(against::read).transpose()?;
    let board = run_cells(args, &TerminalWatch::default());
    let written = write_page(args, &board);
    match args.json {
        true => stdout::print_json(&board)?,
        false => {
            stdout::print_table(&table::scores(&board))?;
            stdout::print("\n")?;
            stdout::print_table(&table::states(&board))?;
        }
    }
    if args.causes {
        stdout::print("\n")?;
        stdout::print_table(&table::causes_table(&board))?;
    }
    if let Some(other) = &other {
        against::print(other, &board)?;
    }
    written
}

fn plan(args: &ScoreboardArgs) -> ScoreboardPlan {
    ScoreboardPlan {
        schemes: args.schemes.0.clone(),
        set: args.set(),
        half: args.half.map(Half::from),
        seed: args.seed,
        seeds: args.seeds,
        processing: match args.exact {
            true => ProcessingDelay::NONE,
            false => ScoreboardPlan::usual_processing(args.seeds),
        },
    }
}

/// Runs the cells.
fn run_cells(args: &ScoreboardArgs, watch: &dyn CommandWatch) -> Board {
    let plan = plan(args);
    watch.begin(plan.run_count(), "transfers");
    let board = plan.run(args.jobs.map_or(0, usize::from), &|| watch.step());
    watch.end();
    board
}

/// A board that another program asks for.
#[derive(Debug)]
pub struct ScoreboardRequest(ScoreboardArgs);

impl ScoreboardRequest {
    /// The options that a request takes.
    pub fn command() -> Command {
        request::command::<ScoreboardArgs>("headstart lab scoreboard")
    }

    /// Reads a request.
    ///
    /// # Errors
    /// Fails if an argument is wrong, in the words of the command line.
    pub fn parse(arguments: Vec<OsString>) -> Result<Self, clap::Error> {
        request::parse(Self::command(), arguments).map(Self)
    }

    /// Runs the cells and writes the page that the request asks for.
    ///
    /// # Errors
    /// Fails if the page may not be written where the request says.
    pub fn run(&self, watch: &dyn CommandWatch) -> Result<CommandReply, Failure> {
        self.check_report()?;
        reply(&self.0, &run_cells(&self.0, watch))
    }

    /// Checks that the page can be written where the request says.
    ///
    /// # Errors
    /// Fails if it may not be.
    pub fn check_report(&self) -> Result<(), Failure> {
        self.0.report.as_deref().map_or(Ok(()), |path| report_file::check(path, []))
    }

    /// Number of runs.
    pub fn run_count(&self) -> u64 {
        plan(&self.0).run_count()
    }

    /// Makes a part of the runs, like `2/8`. Returns their outcomes for
    /// [`ScoreboardRequest::joined`].
    ///
    /// # Errors
    /// Fails if the part cannot be read.
    pub fn part(&self, shard: &str, watch: &dyn CommandWatch) -> Result<Vec<[u64; 10]>, Failure> {
        let Self(args) = self;
        let shard: Shard = shard.parse().map_err(Failure::input)?;
        let plan = plan(args);
        watch.begin(shard.runs(plan.run_count() as usize).count() as u64, "transfers");
        let threads = args.jobs.map_or(0, usize::from);
        let outcomes = plan.outcomes(threads, &|run| shard.contains(run), &|| watch.step());
        watch.end();
        Ok(outcomes.iter().map(TransferOutcome::to_numbers).collect())
    }

    /// Scores the runs of all parts, the first part first, and writes the page that the request
    /// asks for.
    ///
    /// # Errors
    /// Fails if runs are missing, or the page may not be written where the request says.
    pub fn joined(&self, parts: &[Vec<[u64; 10]>]) -> Result<CommandReply, Failure> {
        self.check_report()?;
        let Self(args) = self;
        let plan = plan(args);
        let runs = plan.run_count() as usize;
        // Run n is number n / parts of part n % parts.
        let outcome = |run: usize| {
            let part = parts.get(run % parts.len().max(1))?;
            part.get(run / parts.len()).map(|numbers| TransferOutcome::from_numbers(*numbers))
        };
        let outcomes: Option<Vec<TransferOutcome>> = (0..runs).map(outcome).collect();
        let outcomes = outcomes.ok_or_else(|| {
            Failure::input(format!("the parts have fewer runs than the board's {runs}"))
        })?;
        reply(args, &plan.board(&outcomes))
    }
}

fn reply(args: &ScoreboardArgs, board: &Board) -> Result<CommandReply, Failure> {
    Ok(CommandReply {
        json: stdout::json(board)?,
        sentences: Vec::new(),
        tables: vec![
            NamedTable::new("scores", table::scores(board)),
            NamedTable::new("states", table::states(board)),
            NamedTable::new("causes", table::causes_table(board)),
        ],
        failure: write_page(args, board),
    })
}

fn write_page(args: &ScoreboardArgs, board: &Board) -> Result<(), Failure> {
    let Some(path) = &args.report else { return Ok(()) };
    report_file::write(path, &page::document(board).to_html())
}
