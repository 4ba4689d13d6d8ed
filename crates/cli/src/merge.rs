//! `headstart merge`: puts the parts of a sharded sweep together.

use crate::failure::{Failure, remark};
use crate::sim::{Format, show};
use plan::Plan;
use results::{Folder, Merge, Merged, write_tables};
use std::path::PathBuf;
use units::counted;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Folders of all parts
    #[arg(value_name = "DIR", required = true)]
    parts: Vec<PathBuf>,
    /// Folder for the whole
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// What tables are written as
    #[arg(long, value_name = "FORMAT", default_value = "csv")]
    format: Format,
    /// Merge also if parts or runs are missing; what is there is kept
    #[arg(long)]
    incomplete: bool,
    /// Throw away what another plan, or another version, has left in the folder
    #[arg(long)]
    force: bool,
    /// Print the results as JSON instead of a table
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  headstart sim plan.toml --shard 1/2 --out part1
  headstart sim plan.toml --shard 2/2 --out part2     (on another machine)
  headstart merge part1 part2 --out all
      The same files as `headstart sim plan.toml --out all` leaves.

docs/sweeps.md has a Slurm array, GNU parallel and a Kubernetes indexed job.";

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let merge = Merge::of(&args.parts, args.incomplete)?;
    let text = merge.manifest().plan.clone();
    let plan = Plan::outline(&merge.first_folder().display().to_string(), &text);
    let plan = plan.map_err(Failure::input)?;
    let folder = Folder::open(&args.out, merge.manifest(), args.force)?;
    let Merged { manifest, done, missing } = merge.link_into(&folder)?;
    let summary = write_tables(folder.path(), &plan, (&done, args.format.into()))?;
    manifest.write(folder.path())?;
    match args.json {
        true => show::json(&plan, &summary, &manifest)?,
        false => show::table(&plan, &summary)?,
    }
    if !missing.is_empty() {
        remark(&format!("{} of {} missing", missing.len(), counted(manifest.runs, "run")));
    }
    remark(&format!("results: {}", folder.path().display()));
    Ok(())
}
