//! A plan that another program has run, in the words of the command line.

use super::{SimArgs, SweepWatch, Swept, plan_of, report_page, run_cells, show};
use clap::Command;
use cmdline::progress::CommandWatch;
use cmdline::{Failure, input, request};
use experiment::results::{Folder, Manifest};
use report::Table;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// A plan, and where the files are that it names.
#[derive(Clone, Debug)]
pub struct PlanText {
    /// Its name in errors: that of its file, if it is from one.
    pub name: String,
    /// The plan as TOML.
    pub text: String,
    /// The folder of the files that the plan names.
    pub beside: PathBuf,
}

impl PlanText {
    /// Reads a plan from its file.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        Ok(Self {
            name: path.display().to_string(),
            text: input::read_text(path, "a plan")?,
            beside: path.parent().unwrap_or(Path::new("")).to_owned(),
        })
    }
}

/// A plan that another program has run.
#[derive(Debug)]
pub struct SimRequest {
    plan: PlanText,
    args: SimArgs,
}

/// Results of a plan, in a folder.
#[derive(Debug)]
pub struct SweepReply {
    /// The bytes that `headstart lab sim --json` prints.
    pub json: String,
    /// The table that the command prints.
    pub table: Table,
    /// The folder of the results.
    pub folder: PathBuf,
    /// Names of the coordinates of a cell.
    pub keys: Vec<String>,
    /// The reason why the command would fail although there are results: a run that failed.
    pub failure: Result<(), Failure>,
}

impl SimRequest {
    /// The options that a request takes.
    pub fn command() -> Command {
        request::command::<SimArgs>("headstart lab sim")
    }

    /// Reads the options of a request for `plan`.
    ///
    /// # Errors
    /// Fails if an argument is wrong, in the words of the command line.
    pub fn parse(plan: PlanText, mut arguments: Vec<OsString>) -> Result<Self, clap::Error> {
        arguments.push(OsString::from(&plan.name));
        Ok(Self { plan, args: request::parse(Self::command(), arguments)? })
    }

    /// Runs of the whole plan.
    ///
    /// # Errors
    /// Fails if the plan cannot be run.
    pub fn run_count(&self) -> Result<usize, Failure> {
        Ok(plan_of(&self.plan)?.run_count())
    }

    /// Takes the folder of `--out` for this plan, as a run does at its beginning. A program calls
    /// it that makes the runs elsewhere, and joins them there. The folder is not locked afterwards.
    ///
    /// # Errors
    /// Fails if the plan cannot be run, or the folder cannot have its results.
    pub fn claim_folder(&self) -> Result<(), Failure> {
        let Self { plan: text, args } = self;
        let manifest = Manifest::new(&plan_of(text)?, args.shard());
        Folder::open(&args.folder(Path::new(&text.name)), &manifest, args.force)?;
        Ok(())
    }

    /// Makes the runs that the folder lacks, and writes its tables, as `headstart lab sim` does.
    /// Once `stop` is set, runs under way end without a result, and the finished ones are kept.
    ///
    /// # Errors
    /// Fails if the plan cannot be run, or results cannot be written.
    pub fn run(&self, watch: &dyn CommandWatch, stop: &AtomicBool) -> Result<SweepReply, Failure> {
        let Self { plan: text, args } = self;
        let plan = plan_of(text)?;
        let source = Path::new(&text.name);
        let page = report_page(&plan, args, source)?;
        let place = args.folder(source);
        let swept = run_cells(&plan, args, &place, page.as_ref(), SweepWatch { watch, stop })?;
        let Swept { folder, manifest, summary, done, .. } = &swept;
        if let Some(page) = page {
            page.write(&plan, summary, manifest, *done)?;
        }
        Ok(SweepReply {
            json: show::json_of(&plan, summary, manifest)?,
            table: show::table_of(&plan, summary),
            folder: folder.clone(),
            keys: plan.keys(),
            failure: swept.verdict(),
        })
    }
}
