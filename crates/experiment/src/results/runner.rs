//! Makes the runs that are still to be made, as many at a time as there are jobs.
//!
//! Runs are independent of one another, and each writes to a folder of its own: results depend
//! neither on the number of jobs nor on the order.

use crate::plan::{Plan, RunError};
use crate::results::run::Writer;
use crate::results::{FailedRun, ResultsError};
use std::any::Any;
use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

thread_local! {
    /// Message of the thread's last panic.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Outcome of one run.
enum Ended {
    Done,
    Failed(String),
    Stopped,
    /// No file can be written: further runs make no sense.
    Unwritable(String),
    /// A policy unwinds, for the program that registered it. There was no panic.
    Unwound(Box<dyn Any + Send>),
}

/// Number of concurrent runs, and the flag that stops them.
#[derive(Clone, Copy, Debug)]
pub struct Workers<'a> {
    /// Threads; each makes one run at a time.
    pub jobs: usize,
    /// Once it is set, runs under way end without a result and no other begins.
    pub stop: &'a AtomicBool,
}

/// Outcome of a set of runs.
#[derive(Clone, Debug, Default)]
pub struct RunsOutcome {
    /// Runs that ended without a result, in the order of runs.
    pub failed: Vec<FailedRun>,
    /// The runs were stopped, and some were left.
    pub stopped: bool,
}

/// Makes the runs `todo` of a plan and stores them in the folder `results`. Calls `step` after
/// each.
///
/// Meanwhile the process's panic hook is this function's: the message of a panicking run goes to
/// its [`FailedRun`].
///
/// If a run unwinds without a panic (`resume_unwind`), this function unwinds, too.
///
/// # Errors
/// If a result cannot be written.
pub fn make_runs(
    plan: &Plan<'_>,
    results: &Path,
    todo: &[usize],
    Workers { jobs, stop }: Workers<'_>,
    step: &mut dyn FnMut(),
) -> Result<RunsOutcome, ResultsError> {
    let runs = Runs { plan, todo, results, stop };
    let next = AtomicUsize::new(0);
    let (sender, ended) = mpsc::channel();
    let mut outcome = RunsOutcome::default();
    let (mut unwritable, mut unwound) = (None, None);
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|info| PANIC.set(info.to_string())));
    thread::scope(|scope| {
        for _ in 0..jobs.min(todo.len()) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || run_worker(&runs, next, &sender));
        }
        drop(sender);
        for (index, how) in ended {
            match how {
                Ended::Done => {}
                Ended::Failed(why) => outcome.failed.push(failed_run(plan, index, why)),
                Ended::Stopped => {
                    outcome.stopped = true;
                    continue;
                }
                Ended::Unwritable(why) => {
                    stop.store(true, Ordering::Relaxed);
                    unwritable = Some(why);
                }
                Ended::Unwound(payload) => {
                    stop.store(true, Ordering::Relaxed);
                    unwound = Some(payload);
                }
            }
            step();
        }
    });
    panic::set_hook(hook);
    if let Some(payload) = unwound {
        panic::resume_unwind(payload);
    }
    outcome.failed.sort_by_key(|failed| failed.run);
    match unwritable {
        Some(why) => Err(ResultsError::failed(format!("cannot write results: {why}"))),
        None => Ok(outcome),
    }
}

/// Runs to be made, the folder of their results, and the flag that stops them.
#[derive(Clone, Copy)]
struct Runs<'a> {
    plan: &'a Plan<'a>,
    todo: &'a [usize],
    results: &'a Path,
    stop: &'a AtomicBool,
}

/// One worker: takes the next run until there is none, or the stop flag is set.
fn run_worker(runs: &Runs<'_>, next: &AtomicUsize, ended: &mpsc::Sender<(usize, Ended)>) {
    while let Some(&index) = runs.todo.get(next.fetch_add(1, Ordering::Relaxed)) {
        let how = match runs.stop.load(Ordering::Relaxed) {
            true => Ended::Stopped,
            false => run_one(runs, index),
        };
        let stopped = matches!(how, Ended::Stopped);
        if ended.send((index, how)).is_err() || stopped {
            return;
        }
    }
}

fn run_one(&Runs { plan, results, stop, .. }: &Runs<'_>, index: usize) -> Ended {
    let writer = match Writer::begin(results, index) {
        Ok(writer) => writer,
        Err(error) => return Ended::Unwritable(error.to_string()),
    };
    let run = plan.run(index);
    let execute = || plan.execute(&run, &mut |name| writer.file(name), stop);
    match panic::catch_unwind(AssertUnwindSafe(execute)) {
        Ok(Ok(result)) => match writer.finish(&result) {
            Ok(()) => Ended::Done,
            Err(error) => Ended::Unwritable(error.to_string()),
        },
        Ok(Err(error)) => {
            writer.give_up();
            match error {
                RunError::Failed(why) => Ended::Failed(why),
                RunError::Stopped => Ended::Stopped,
                RunError::Output(error) => Ended::Unwritable(error.to_string()),
            }
        }
        Err(payload) => {
            writer.give_up();
            match PANIC.take() {
                // Only a panic calls the hook.
                message if message.is_empty() => Ended::Unwound(payload),
                message => Ended::Failed(format!("a defect of headstart: {message}")),
            }
        }
    }
}

fn failed_run(plan: &Plan<'_>, index: usize, why: String) -> FailedRun {
    let run = plan.run(index);
    let coordinates = plan.coordinates(run.cell);
    FailedRun {
        run: index,
        cell: run.cell,
        repeat: run.repeat,
        coordinates: coordinates.iter().map(|c| format!("{}={}", c.key, c.value)).collect(),
        why,
    }
}
