//! `headstart lab merge`: puts the parts of a sharded sweep together.

use crate::SweepReply;
use crate::sim::{Format, fail_if_any_failed, show};
use clap::Command;
use cmdline::{Appendix, Failure, remark, request};
use experiment::plan::Plan;
use experiment::results::{Folder, Manifest, Merge, Merged, Summary, to_parquet, write_tables};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use units::counted;

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct MergeArgs {
    /// Folders of all parts
    #[arg(value_name = "DIR", required = true, value_hint = clap::ValueHint::DirPath)]
    parts: Vec<PathBuf>,
    /// Folder for the joined results
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    out: PathBuf,
    /// Format of the tables in the folder
    #[arg(long, value_name = "FORMAT", default_value = "csv")]
    format: Format,
    /// Merge although parts or runs are missing
    #[arg(long)]
    incomplete: bool,
    /// Delete the results of another plan, or of another version, that the folder holds
    #[arg(long)]
    force: bool,
    /// Print the results as JSON instead of a table
    #[arg(long)]
    json: bool,
}

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            (
                "headstart lab sim plan.toml --shard 1/2 --out part1",
                "Makes the first half of the runs.",
            ),
            (
                "headstart lab sim plan.toml --shard 2/2 --out part2",
                "Makes the second half, perhaps on another machine.",
            ),
            (
                "headstart lab merge part1 part2 --out all",
                "Writes the same files as `headstart lab sim plan.toml --out all`.",
            ),
        ],
        exit: &[
            ("0", "done"),
            ("1", "the results cannot be written, or a part lacks runs that its manifest counts"),
            ("2", "a part is missing, or the parts are not of one plan and version"),
        ],
        see_also: &["headstart-lab-sim"],
        more: &["docs/sweeps.md"],
        ..Appendix::default()
    }
}

pub(crate) fn run(args: &MergeArgs) -> Result<(), Failure> {
    merged(args, |Joined { plan, summary, manifest, missing, folder }| {
        match args.json {
            true => show::json(plan, summary, manifest)?,
            false => show::print_table(plan, summary)?,
        }
        if missing > 0 {
            remark(&format!("{missing} of {} missing", counted(manifest.runs, "run")));
        }
        remark(&format!("results: {}", folder.display()));
        Ok(())
    })
}

/// Parts that another program joins.
#[derive(Debug)]
pub struct MergeRequest(MergeArgs);

impl MergeRequest {
    /// The options that a request takes.
    pub fn command() -> Command {
        request::command::<MergeArgs>("headstart lab merge")
    }

    /// Reads a request.
    ///
    /// # Errors
    /// Fails if an argument is wrong, in the words of the command line.
    pub fn parse(arguments: Vec<OsString>) -> Result<Self, clap::Error> {
        request::parse(Self::command(), arguments).map(Self)
    }

    /// Joins the parts. The reply fails, as that of the whole plan does, if a run of a part did.
    /// `read` gets it while the tables are CSV, whatever their format will be.
    ///
    /// # Errors
    /// Fails if the parts do not fit together, or results cannot be written.
    pub fn run<T>(
        &self,
        read: impl FnOnce(SweepReply) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let args = MergeArgs { format: Format::Csv, ..self.0.clone() };
        merged(&args, |Joined { plan, summary, manifest, folder, .. }| {
            let keys = plan.keys();
            let answer = read(SweepReply {
                json: show::json_of(plan, summary, manifest)?,
                table: show::table_of(plan, summary),
                folder: folder.to_owned(),
                keys: keys.clone(),
                failure: fail_if_any_failed(&manifest.failed, manifest.runs),
            })?;
            if self.0.format == Format::Parquet {
                to_parquet(folder, &keys).map_err(|error| {
                    Failure::failed(format!("cannot write tables in {}: {error}", folder.display()))
                })?;
            }
            Ok(answer)
        })
    }
}

/// Parts that are joined, and the folder that has them.
struct Joined<'a> {
    plan: &'a Plan<'a>,
    summary: &'a Summary,
    manifest: &'a Manifest,
    /// Runs without results.
    missing: usize,
    folder: &'a Path,
}

/// Joins the parts; `show` gets them before the folder is unlocked.
fn merged<T>(
    args: &MergeArgs,
    show: impl FnOnce(Joined<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    refuse_a_part(&args.parts, &args.out)?;
    let merge = Merge::of(&args.parts, args.incomplete)?;
    let text = merge.manifest().plan.clone();
    let plan = Plan::outline(&merge.first_folder().display().to_string(), &text);
    let plan = plan.map_err(Failure::input)?;
    let folder = Folder::open(&args.out, merge.manifest(), args.force)?;
    let Merged { manifest, done, missing } = merge.link_into(&folder)?;
    if !missing.is_empty() && !args.incomplete {
        // The folder holds the runs that are there, for the next try.
        manifest.write(folder.path())?;
        return Err(Failure::failed(format!(
            "{} of {} missing, although the parts' manifests count them as done: run the parts again, or merge with --incomplete",
            missing.len(),
            counted(manifest.runs, "run")
        )));
    }
    let summary = write_tables(folder.path(), &plan, &done, args.format.into())?;
    manifest.write(folder.path())?;
    show(Joined {
        plan: &plan,
        summary: &summary,
        manifest: &manifest,
        missing: missing.len(),
        folder: folder.path(),
    })
}

/// `--force` would delete the runs of a part that the results are written to.
fn refuse_a_part(parts: &[PathBuf], out: &Path) -> Result<(), Failure> {
    let Ok(place) = fs::canonicalize(out) else { return Ok(()) };
    let is_it = |part: &&PathBuf| fs::canonicalize(part).is_ok_and(|part| part == place);
    match parts.iter().find(is_it) {
        None => Ok(()),
        Some(part) => Err(Failure::input(format!(
            "--out {}: that is the part {}; name another folder",
            out.display(),
            part.display()
        ))),
    }
}
