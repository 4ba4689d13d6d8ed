//! `headstart lab sim`: runs a plan and leaves its results in a folder.
//!
//! Arguments, progress and printing; crate `experiment` makes the runs and keeps the results.

mod args;
mod examples;
mod page;
mod progress;
pub(crate) mod show;

pub(crate) use args::{Format, SimArgs, appendix};
pub(crate) use examples::names as example_names;
pub(crate) use progress::SimProgress;

use cmdline::{Failure, input, jobs, remark, stdout};
use experiment::plan::Plan;
use experiment::results::{
    FailedRun, Folder, Manifest, StoredResults, Workers, make_runs, write_tables,
};
use page::ReportPage;
use std::fs;
use std::path::Path;
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
    let text = input::read_text(path, "a plan")?;
    let plan = plan_of(path, &text)?;
    match args.dry_run {
        true => dry_run(&plan, args),
        false => sweep(&plan, args, path),
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
    let page = page(&plan, args, path)?;
    page.as_ref().map_or(Ok(()), ReportPage::check)?;
    let (summary, done) = stored.summary(&plan)?;
    match args.json {
        true => show::json(&plan, &summary, &stored.manifest)?,
        false => show::table(&plan, &summary)?,
    }
    page.map_or(Ok(()), |page| page.write(&plan, &summary, &stored.manifest, done))
}

/// The page that was asked for.
fn page(plan: &Plan<'_>, args: &SimArgs, source: &Path) -> Result<Option<ReportPage>, Failure> {
    let path = args.report.as_deref();
    path.map(|path| ReportPage::new(plan, path, source, &args.plot)).transpose()
}

/// The plan with this text; the files that it names lie beside it.
fn plan_of<'a>(path: &Path, text: &'a str) -> Result<Plan<'a>, Failure> {
    let beside = path.parent().unwrap_or(Path::new(""));
    let loader = |name: &str| {
        let path = beside.join(name);
        fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    Plan::read(&path.display().to_string(), text, &loader).map_err(Failure::input)
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

fn sweep(plan: &Plan<'_>, args: &SimArgs, path: &Path) -> Result<(), Failure> {
    let mut manifest = Manifest::new(plan, args.shard());
    let page = page(plan, args, path)?;
    // Before `--force` throws old results away; of a new folder, which the page may be meant for, once it is there.
    let is_new = !args.folder(path).exists();
    let waits = is_new && page.as_ref().is_some_and(ReportPage::has_no_folder);
    page.as_ref().filter(|_| !waits).map_or(Ok(()), ReportPage::check)?;
    let folder = Folder::open(&args.folder(path), &manifest, args.force)?;
    let results = folder.path();
    let (done, todo) = folder.split(runs(plan, args));
    manifest.done = done.len();
    manifest.write(results)?;
    page.as_ref().filter(|_| waits).map_or(Ok(()), ReportPage::check)?;
    if !done.is_empty() && !todo.is_empty() {
        let all = counted(done.len() + todo.len(), "run");
        remark(&format!("{} of {all} done already", done.len()));
    }
    let stop = cmdline::interrupt::watch()?;
    let mut progress = SimProgress::begin(todo.len() as u64);
    let workers = Workers { jobs: jobs::threads(args.jobs), stop: stop.asked() };
    let outcome = make_runs(plan, results, &todo, workers, &mut || progress.step());
    progress.end();
    let outcome = outcome?;
    let (done, todo) = folder.split(runs(plan, args));
    manifest.done = done.len();
    manifest.failed = outcome.failed;
    let summary = write_tables(results, plan, &done, args.format.unwrap_or_default().into())?;
    manifest.write(results)?;
    match args.json {
        true => show::json(plan, &summary, &manifest)?,
        false => show::table(plan, &summary)?,
    }
    remark(&format!("results: {}", results.display()));
    if let Some(page) = page {
        page.write(plan, &summary, &manifest, done.len())?;
    }
    let all = done.len() + todo.len();
    if outcome.stopped {
        return Err(Failure::Interrupted(format!(
            "stopped: {} of {} done and kept; the same command again makes the others",
            done.len(),
            counted(all, "run")
        )));
    }
    complain(&manifest.failed, all)
}

/// Fails if a run did; says which and why.
fn complain(failed: &[FailedRun], all: usize) -> Result<(), Failure> {
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
