//! The command line of `headstart lab sim`.

use cmdline::Appendix;
use experiment::results::{PlotRequest, Shard, TableFormat};
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(crate) struct SimArgs {
    /// The plan file, or a folder of results to show again without a run
    #[arg(value_name = "PLAN", required_unless_present_any = ["schema", "example"])]
    pub(crate) plan: Option<PathBuf>,

    /// Folder for the results [default: PLAN-results]
    ///
    /// If the folder holds results of the same plan, only the missing runs are made.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,

    /// Delete the results of another plan, or of another version, that the folder holds
    #[arg(long)]
    pub(crate) force: bool,

    /// Runs at a time; results do not depend on their number [default: one per core]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,

    /// Make only part i of n equal parts of the runs; `headstart lab merge` puts the parts together
    #[arg(long, value_name = "i/n")]
    pub(crate) shard: Option<Shard>,

    /// Format of the tables in the folder [default: csv]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,

    /// Write a page with the results as a table and as plots
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,

    /// A plot for the page; give it again for more [default: completion times, goodput,
    /// utilisation, drops]
    ///
    /// MEASURE is a column of the tables, like goodput, or web.goodput for the workload `web`
    /// alone. AXIS is a key of the sweep or the end of a key, like bottleneck.rate, or scheme.
    /// Without AXIS it is the first axis of numbers.
    #[arg(long, value_name = "MEASURE[:AXIS]", requires = "report")]
    pub(crate) plot: Vec<PlotRequest>,

    /// Check the plan, list its cells, and do nothing else
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Print the results as JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,

    /// Print the JSON Schema of plans and do nothing else
    #[arg(long)]
    pub(crate) schema: bool,

    /// Print an example and do nothing else: dumbbell, parking-lot, chain, asymmetric, graph,
    /// sweep, trace-driven
    ///
    /// All are plans. changing.trace is a trace of a link's rate, for trace-driven.
    #[arg(long, value_name = "NAME", value_parser = super::examples::parse)]
    pub(crate) example: Option<&'static str>,
}

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            (
                "headstart lab sim --example dumbbell > plan.toml",
                "Writes a commented plan to start from.",
            ),
            (
                "headstart lab sim plan.toml",
                "Runs every cell on all cores, prints a table, leaves CSV files in plan-results/. \
                 After Ctrl-C, the same command makes the missing runs.",
            ),
            ("headstart lab sim plan.toml --report page.html", "Also writes a page with plots."),
            (
                "headstart lab sim plan-results --report page.html --plot goodput:bottleneck.rate",
                "Draws another plot from stored results.",
            ),
            ("headstart lab sim plan.toml --dry-run", "Checks the plan and lists its cells."),
            (
                "headstart lab sim plan.toml --shard 2/8 --out part2",
                "Makes the second eighth of the runs. `headstart lab merge part* --out all` joins all parts.",
            ),
        ],
        files: &[
            ("PLAN-results/summary.csv", "means over repeats, with standard errors"),
            ("PLAN-results/cells.csv", "a line for each run"),
            ("PLAN-results/flows.csv", "a line for each transfer"),
            ("PLAN-results/queues.csv", "a line for each link and run"),
        ],
        exit: &[
            ("0", "all runs have succeeded"),
            ("1", "a run failed; the same command tries it again"),
            ("2", "the plan or an option is wrong; nothing was run"),
            ("130", "interrupted; finished runs are kept"),
        ],
        see_also: &["headstart-lab-merge", "headstart-schemes"],
        more: &["docs/sim.md", "docs/plans.md", "docs/sweeps.md"],
        ..Appendix::default()
    }
}

/// Format of tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Text, one line per row
    #[default]
    Csv,
    /// Columns, for programs
    Parquet,
}

impl From<Format> for TableFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Csv => Self::Csv,
            Format::Parquet => Self::Parquet,
        }
    }
}

impl SimArgs {
    pub(crate) fn shard(&self) -> Shard {
        self.shard.unwrap_or(Shard::WHOLE)
    }

    /// Folder of the results: as named, or beside the plan's name in the present folder.
    pub(crate) fn folder(&self, plan: &Path) -> PathBuf {
        if let Some(out) = &self.out {
            return out.clone();
        }
        let stem = plan.file_stem().unwrap_or_default().to_string_lossy();
        match self.shard {
            None => PathBuf::from(format!("{stem}-results")),
            Some(Shard { number, count }) => {
                PathBuf::from(format!("{stem}-results-{number}-of-{count}"))
            }
        }
    }
}
