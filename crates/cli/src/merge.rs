//! `headstart merge`: puts the parts of a sharded sweep together.
//!
//! The result is byte for byte what one run of the whole plan leaves: runs are the same wherever
//! they are made, and everything else is a function of them.

use crate::failure::{Failure, remark};
use crate::sim::{Folder, Format, Manifest, Shard, link_run, show, tables};
use plan::Plan;
use std::path::{Path, PathBuf};

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

/// One part: where it is, what it holds, which runs are its share.
struct Part {
    folder: PathBuf,
    manifest: Manifest,
    shard: Shard,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let parts = args.parts.iter().map(|folder| Part::read(folder));
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    check(&parts, args.incomplete)?;
    let mut manifest = parts[0].manifest.clone();
    manifest.shard = None;
    manifest.failed = parts.iter().flat_map(|part| part.manifest.failed.clone()).collect();
    manifest.failed.sort_by_key(|failed| failed.run);
    let text = manifest.plan.clone();
    let plan = Plan::outline(&parts[0].folder.display().to_string(), &text);
    let plan = plan.map_err(Failure::input)?;
    let folder = Folder::open(&args.out, &manifest, args.force)?;
    for part in &parts {
        part.link_runs(folder.path())?;
    }
    let (done, missing) = folder.split(0..manifest.runs);
    manifest.done = done.len();
    let summary = tables::write(folder.path(), &plan, (&done, args.format))?;
    manifest.write(folder.path())?;
    match args.json {
        true => show::json(&plan, &summary, &manifest)?,
        false => show::table(&plan, &summary)?,
    }
    if !missing.is_empty() {
        remark(&format!("{} of {} runs are missing", missing.len(), manifest.runs));
    }
    remark(&format!("results: {}", folder.path().display()));
    Ok(())
}

impl Part {
    fn read(folder: &Path) -> Result<Self, Failure> {
        let manifest = Manifest::read(folder)?.ok_or_else(|| {
            let shown = folder.display();
            Failure::input(format!("{shown}: no manifest.json; name folders of `headstart sim`"))
        })?;
        let shard = match &manifest.shard {
            None => Shard::WHOLE,
            Some(text) => text.parse().map_err(|why| {
                Failure::input(format!("{}: shard {text:?}: {why}", folder.display()))
            })?,
        };
        Ok(Self { folder: folder.to_owned(), manifest, shard })
    }

    /// Its share of all runs.
    fn share(&self) -> impl Iterator<Item = usize> {
        let shard = self.shard;
        (0..self.manifest.runs).filter(move |run| shard.contains(*run))
    }

    fn wrong(&self, why: &str) -> Failure {
        Failure::input(format!("{}: {why}", self.folder.display()))
    }

    fn link_runs(&self, to: &Path) -> Result<(), Failure> {
        for run in self.share() {
            link_run(&self.folder, to, run).map_err(|error| {
                Failure::failed(format!("cannot copy run {run} to {}: {error}", to.display()))
            })?;
        }
        Ok(())
    }
}

/// All parts of one sweep, each once, each complete.
fn check(parts: &[Part], incomplete: bool) -> Result<(), Failure> {
    let first = &parts[0];
    for (n, part) in parts.iter().enumerate() {
        if part.manifest.plan_sha256 != first.manifest.plan_sha256 {
            let why = format!("of another plan than {}", first.folder.display());
            return Err(part.wrong(&why));
        }
        if part.manifest.headstart != first.manifest.headstart {
            let (theirs, ours) = (&part.manifest.headstart, &first.manifest.headstart);
            return Err(part.wrong(&format!("by headstart {theirs}, others by {ours}")));
        }
        if part.shard.count != first.shard.count {
            let why = format!("part {}, others are parts of {}", part.shard, first.shard.count);
            return Err(part.wrong(&why));
        }
        if let Some(other) = parts[..n].iter().find(|other| other.shard == part.shard) {
            let why = format!("part {} is {} already", part.shard, other.folder.display());
            return Err(part.wrong(&why));
        }
        let (done, share) = (part.manifest.done, part.share().count());
        if !incomplete && done < share {
            let why = format!(
                "{done} of {share} runs are done, {} failed; run it again, or merge with \
                 --incomplete",
                part.manifest.failed.len()
            );
            return Err(part.wrong(&why));
        }
    }
    let absent: Vec<String> = (1..=first.shard.count)
        .filter(|number| parts.iter().all(|part| part.shard.number != *number))
        .map(|number| format!("{number}/{}", first.shard.count))
        .collect();
    match absent.is_empty() || incomplete {
        true => Ok(()),
        false => {
            let absent = absent.join(", ");
            Err(Failure::input(format!("missing: part {absent}; or merge with --incomplete")))
        }
    }
}
