//! The command line of `headstart sim`.

use results::{PlotRequest, Shard, TableFormat};
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The plan, or a folder of results to show again without running anything
    #[arg(value_name = "PLAN", required_unless_present_any = ["schema", "example"])]
    pub(crate) plan: Option<PathBuf>,

    /// Folder for the results [default: PLAN-results]
    ///
    /// The same plan into the same folder again goes on where it stopped.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Throw away what another plan, or another version, has left in the folder
    #[arg(long)]
    pub(crate) force: bool,

    /// Runs at a time; results do not depend on it [default: one per core]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,

    /// Make the i-th of n equal parts of the runs; `headstart merge` puts the parts together
    #[arg(long, value_name = "i/n")]
    pub(crate) shard: Option<Shard>,

    /// What tables are written as
    #[arg(long, value_name = "FORMAT", default_value = "csv")]
    pub(crate) format: Format,

    /// Write a page with the results as a table and as plots
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,

    /// What the page plots, again for each plot [default: completion times, goodput, utilisation and drops]
    ///
    /// A measure is a column of the tables, `goodput`; of one workload `web.goodput`. An axis is a key of the sweep
    /// or the end of one, `bottleneck.rate`, or `scheme`. Without it, the first axis of numbers.
    #[arg(long, value_name = "MEASURE[:AXIS]", requires = "report")]
    pub(crate) plot: Vec<PlotRequest>,

    /// Check the plan, say what would be run, and do nothing else
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Print the results as JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,

    /// Print what a plan may contain as JSON Schema, and do nothing else
    #[arg(long)]
    pub(crate) schema: bool,

    /// Print a plan to begin with, and do nothing else: dumbbell, parking-lot, chain, asymmetric,
    /// graph, sweep, trace-driven; changing.trace is a trace to begin with
    #[arg(long, value_name = "NAME", value_parser = super::examples::parse)]
    pub(crate) example: Option<&'static str>,
}

const EXAMPLES: &str = "\
Examples:
  headstart sim --example dumbbell > plan.toml
      A commented plan to begin with.
  headstart sim plan.toml
      Runs every cell on all cores, prints a table, leaves CSV files in plan-results/.
  headstart sim plan.toml
      The same again after Ctrl-C: finished runs are kept, the rest is made up for.
  headstart sim plan.toml --report page.html
      The same, and a page with plots.
  headstart sim plan-results --report page.html --plot goodput:bottleneck.rate
      Another plot from the results that are there.
  headstart sim plan.toml --dry-run
      Checks the plan and lists its cells.
  headstart sim plan.toml --shard 2/8 --out part2
      The second eighth of the runs, on any machine; then `headstart merge part* --out all`.

A plan says what is joined to what, who sends what to whom, and what is varied: docs/plans.md.";

/// What tables are written as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Text, one line per row
    #[default]
    Csv,
    /// Columns, for programs
    #[cfg(feature = "parquet")]
    Parquet,
}

impl From<Format> for TableFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Csv => Self::Csv,
            #[cfg(feature = "parquet")]
            Format::Parquet => Self::Parquet,
        }
    }
}

impl Args {
    pub(crate) fn shard(&self) -> Shard {
        self.shard.unwrap_or(Shard::WHOLE)
    }

    /// Where results go: as named, or beside the plan's name in the present folder.
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
