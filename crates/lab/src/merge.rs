//! `headstart lab merge`: puts the parts of a sharded sweep together.

use crate::sim::{Format, show};
use cmdline::{Appendix, Failure, remark};
use experiment::plan::Plan;
use experiment::results::{Folder, Merge, Merged, write_tables};
use std::fs;
use std::path::{Path, PathBuf};
use units::counted;

#[derive(Debug, clap::Args)]
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
