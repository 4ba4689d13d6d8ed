//! `headstart lab sim`: runs a plan and leaves its results in a folder.
//!
//! Arguments, progress and printing; crate `experiment` makes the runs and keeps the results.
//! `request` is the same for programs that embed it.

mod args;
mod examples;
mod page;
mod progress;
mod request;
pub(crate) mod show;

pub(crate) use args::{Format, SimArgs, appendix};
pub(crate) use examples::names as example_names;
pub(crate) use progress::SimWatch;
pub use request::{PlanText, SimRequest, SweepReply};

use cmdline::progress::CommandWatch;
use cmdline::{Failure, jobs, remark, stdout};
use experiment::plan::Plan;
use experiment::results::{
    FailedRun, Folder, Manifest, StoredResults, Summary, Workers, make_runs, write_tables,
};
use page::ReportPage;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use units::counted;

pub(crate) fn run(args: &SimArgs) -> Result<(), Failure> {
    if let Some(example) = args.example {
        return stdout::print(example);
    }
    if args.schema {
        return stdout::print_json(&experiment::plan::schema());
    }
    let Some(path) = &args.plan else {
        return Err(Failure::input("name a plan; `headstart lab sim --help` shows how to begin"));
    };
    if path.is_dir() {
        return show_again(path, args);
    }
    let text = PlanText::read(path)?;
    let plan = plan_of(&text)?;
    match args.dry_run {
        true => dry_run(&plan, args),
        false => run_sweep(&plan, args, path),
    }
}

/// Shows the results that a folder holds, without running anything.
fn show_again(path: &Path, args: &SimArgs) -> Result<(), Failure> {
    let shown = path.display();
    let for_plans = [
        args.out.is_some(),
        args.shard.is_some(),
        args.force,
        args.dry_run,
        args.jobs.is_some(),
        args.format.is_some(),
    ];
    if for_plans.contains(&true) {
        return Err(Failure::input(format!(
            "{shown} holds results: name the plan to run it; --out, --shard, --force, --dry-run, --jobs and --format are for plans"
        )));
    }
    let stored = StoredResults::open(path)?;
    let plan = Plan::outline(&shown.to_string(), &stored.manifest.plan).map_err(Failure::input)?;
    let page = report_page(&plan, args, path)?;
    page.as_ref().map_or(Ok(()), ReportPage::check)?;
    let (summary, done) = stored.summary(&plan)?;
    match args.json {
        true => show::json(&plan, &summary, &stored.manifest)?,
        false => show::print_table(&plan, &summary)?,
    }
    page.map_or(Ok(()), |page| page.write(&plan, &summary, &stored.manifest, done))
}

/// The page that was asked for.
fn report_page(
    plan: &Plan<'_>,
    args: &SimArgs,
    source: &Path,
) -> Result<Option<ReportPage>, Failure> {
    let path = args.report.as_deref();
    path.map(|path| ReportPage::new(plan, path, source, &args.plot)).transpose()
}

/// The plan with this text and the files that it names.
fn plan_of(PlanText { name, text, beside }: &PlanText) -> Result<Plan<'_>, Failure> {
    let loader = |name: &str| {
        let path = beside.join(name);
        fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    Ok(Plan::read(name, text, &loader)?)
}

/// The runs of the part that was asked for.
fn runs(plan: &Plan<'_>, args: &SimArgs) -> impl Iterator<Item = usize> + use<> {
    args.shard().runs(plan.run_count())
}

fn dry_run(plan: &Plan<'_>, args: &SimArgs) -> Result<(), Failure> {
    let mut out = String::new();
    for cell in 0..plan.cell_count() {
        let coordinates = plan.coordinates(cell).into_iter();
        let place: Vec<_> = coordinates.map(|c| format!("{}={}", c.key, c.value)).collect();
        out += &format!("cell {cell}: {}\n", place.join(" "));
    }
    out += &format!(
        "{} × {} = {}, {} of them here\n",
        counted(plan.cell_count(), "cell"),
        counted(plan.repeats(), "repeat"),
        counted(plan.run_count(), "run"),
        runs(plan, args).count()
    );
    stdout::print(&out)
}

fn run_sweep(plan: &Plan<'_>, args: &SimArgs, path: &Path) -> Result<(), Failure> {
    let page = report_page(plan, args, path)?;
    let watch = SimWatch::default();
    let stop = cmdline::interrupt::watch()?;
    let waited = SweepWatch { watch: &watch, stop: stop.asked() };
    let swept = run_cells(plan, args, &args.folder(path), page.as_ref(), waited)?;
    let Swept { folder, manifest, summary, .. } = &swept;
    match args.json {
        true => show::json(plan, summary, manifest)?,
        false => show::print_table(plan, summary)?,
    }
    remark(&format!("results: {}", folder.display()));
    if let Some(page) = page {
        page.write(plan, summary, manifest, swept.done)?;
    }
    swept.verdict()
}

/// Progress of a sweep, and what ends it early.
#[derive(Clone, Copy)]
struct SweepWatch<'a> {
    watch: &'a dyn CommandWatch,
    stop: &'a AtomicBool,
}

/// A sweep whose tables are written.
struct Swept {
    folder: PathBuf,
    manifest: Manifest,
    summary: Summary,
    /// Runs of this part that have a result.
    done: usize,
    /// Runs of this part.
    all: usize,
    /// The sweep was asked to stop, and some runs were left.
    stopped: bool,
}

/// Makes the runs that a folder lacks, and writes its tables.
fn run_cells(
    plan: &Plan<'_>,
    args: &SimArgs,
    place: &Path,
    page: Option<&ReportPage>,
    SweepWatch { watch, stop }: SweepWatch<'_>,
) -> Result<Swept, Failure> {
    let mut manifest = Manifest::new(plan, args.shard());
    // The page is checked before `--force` deletes old results. A page within a new folder is
    // checked once the folder exists.
    let waits = !place.exists() && page.is_some_and(ReportPage::has_no_folder);
    page.filter(|_| !waits).map_or(Ok(()), ReportPage::check)?;
    let folder = Folder::open(place, &manifest, args.force)?;
    let results = folder.path();
    let (done, todo) = folder.split(runs(plan, args));
    manifest.done = done.len();
    manifest.write(results)?;
    page.filter(|_| waits).map_or(Ok(()), ReportPage::check)?;
    if !done.is_empty() && !todo.is_empty() {
        let all = counted(done.len() + todo.len(), "run");
        watch.note(&format!("{} of {all} done already", done.len()));
    }
    watch.begin(todo.len() as u64, "runs");
    let workers = Workers { jobs: jobs::threads(args.jobs), stop };
    let outcome = make_runs(plan, results, &todo, workers, &mut || watch.step());
    watch.end();
    let outcome = outcome?;
    let (done, todo) = folder.split(runs(plan, args));
    manifest.done = done.len();
    manifest.failed = outcome.failed;
    let summary = write_tables(results, plan, &done, args.format.unwrap_or_default().into())?;
    manifest.write(results)?;
    Ok(Swept {
        folder: results.to_owned(),
        manifest,
        summary,
        done: done.len(),
        all: done.len() + todo.len(),
        stopped: outcome.stopped,
    })
}

impl Swept {
    /// Fails if a run is missing or failed.
    fn verdict(&self) -> Result<(), Failure> {
        let Self { done, all, .. } = self;
        if self.stopped {
            return Err(Failure::Interrupted(format!(
                "stopped: {done} of {} done and kept; the same command again makes the others",
                counted(*all, "run")
            )));
        }
        fail_if_any_failed(&self.manifest.failed, *all)
    }
}

/// Fails if a run did; says which and why.
pub(crate) fn fail_if_any_failed(failed: &[FailedRun], all: usize) -> Result<(), Failure> {
    const SHOWN: usize = 20;
    if failed.is_empty() {
        return Ok(());
    }
    let mut lines =
        format!("{} of {} failed; the others are kept", failed.len(), counted(all, "run"));
    for run in failed.iter().take(SHOWN) {
        lines += &format!("\n  {}, repeat {}: {}", run.coordinates.join(" "), run.repeat, run.why);
    }
    if failed.len() > SHOWN {
        lines += "\n  … manifest.json has them all";
    }
    Err(Failure::failed(lines))
}
