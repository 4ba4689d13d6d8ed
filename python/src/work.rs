//! Work beside the interpreter: its lock is released, Ctrl-C stops the work, and a callback gets
//! the progress.

use crate::error::{Fault, defect};
use crate::startup::{self, StartUpFault};
use cmdline::progress::CommandWatch;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Time between two looks for signals and progress. A person does not notice it.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Number of calls of [`run`] that have not returned.
static CALLS: AtomicUsize = AtomicUsize::new(0);

/// Guard of a call of [`run`], which [`CALLS`] includes.
struct CallGuard;

impl CallGuard {
    fn begin() -> Self {
        CALLS.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        CALLS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The payload of a panic that ends work early.
struct Stopped;

/// Receives progress and notes of work, and stops it.
#[derive(Debug, Default)]
pub(crate) struct PythonWatch {
    total: AtomicU64,
    done: AtomicU64,
    stop: Arc<AtomicBool>,
    notes: Mutex<Vec<String>>,
}

impl PythonWatch {
    /// Set once the work is to stop.
    pub(crate) fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    /// The flag, for work that keeps it.
    pub(crate) fn stop_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Counts `done` of `total` things.
    pub(crate) fn at(&self, done: u64, total: u64) {
        self.total.store(total, Ordering::Relaxed);
        self.done.store(done, Ordering::Relaxed);
    }

    /// Unwinds if the work is to stop. `resume_unwind` calls no panic hook, so nothing is printed.
    fn check(&self) {
        if self.stop.load(Ordering::Relaxed) {
            panic::resume_unwind(Box::new(Stopped));
        }
    }

    fn progress(&self) -> Progress {
        let [done, total] = [&self.done, &self.total].map(|count| count.load(Ordering::Relaxed));
        Progress { done, total }
    }

    /// The notes so far.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl CommandWatch for PythonWatch {
    /// Several computations follow one another: the things of all count.
    fn begin(&self, count: u64, noun: &str) {
        CountingWatch(self).begin(count, noun);
        self.check();
    }

    fn step(&self) {
        CountingWatch(self).step();
        self.check();
    }

    fn end(&self) {}

    fn note(&self, text: &str) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
    }
}

/// A watch that never unwinds, for work that looks at [`PythonWatch::stop`] itself.
pub(crate) struct CountingWatch<'a>(pub(crate) &'a PythonWatch);

impl CommandWatch for CountingWatch<'_> {
    fn begin(&self, count: u64, _noun: &str) {
        self.0.total.fetch_add(count, Ordering::Relaxed);
    }

    fn step(&self) {
        self.0.done.fetch_add(1, Ordering::Relaxed);
    }

    fn end(&self) {}

    fn note(&self, text: &str) {
        self.0.note(text);
    }
}

/// Things done, of all.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Progress {
    done: u64,
    total: u64,
}

/// Reports the progress to Python.
struct ProgressCallback<'a> {
    watch: &'a PythonWatch,
    callback: Option<&'a Py<PyAny>>,
    reported: Progress,
}

impl ProgressCallback<'_> {
    /// Calls the callback if the progress has changed.
    fn report(&mut self, py: Python<'_>) -> PyResult<()> {
        let now = self.watch.progress();
        let Some(callback) = self.callback.filter(|_| now != self.reported) else { return Ok(()) };
        self.reported = now;
        callback.call1(py, (now.done, now.total)).map(drop)
    }

    /// Has the interpreter handle its signals, and reports.
    fn look(&mut self) -> PyResult<()> {
        Python::attach(|py| py.check_signals().and_then(|()| self.report(py)))
    }
}

/// Runs `job` in a thread of its own, and calls `callback(done, total)` meanwhile.
///
/// # Errors
/// Raises the fault of the job, with the notes in front of its text; the exception of a signal,
/// like `KeyboardInterrupt`; or that of the callback. The job has ended by then.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    callback: Option<&Py<PyAny>>,
    job: impl FnOnce(&Arc<PythonWatch>) -> Result<T, Fault> + Send,
) -> PyResult<T> {
    if callback.is_some_and(|callback| !callback.bind(py).is_callable()) {
        let why = "progress: use a function that gets the things done, and all".to_owned();
        return Err(Fault { why, key: Some("progress".to_owned()), ..Fault::default() }.raised(py));
    }
    let _call = CallGuard::begin();
    let watch = Arc::<PythonWatch>::default();
    let mut reporter = ProgressCallback { watch: &watch, callback, reported: watch.progress() };
    let (done, raised) = py.detach(|| wait(&watch, &mut reporter, job));
    if let Some(error) = raised {
        return Err(error);
    }
    reporter.report(py)?;
    match done {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(fault)) => Err(fault.after(&watch.notes()).raised(py)),
        Err(panic) => match panic.downcast::<StartUpFault>() {
            Ok(fault) => Err(Fault::from(*fault).after(&watch.notes()).raised(py)),
            Err(panic) => Err(defect(words(&*panic))),
        },
    }
}

/// Runs `job`, and handles signals until it has ended. Returns its end, and the exception that
/// stopped it.
fn wait<T: Send>(
    watch: &Arc<PythonWatch>,
    reporter: &mut ProgressCallback<'_>,
    job: impl FnOnce(&Arc<PythonWatch>) -> Result<T, Fault> + Send,
) -> (thread::Result<Result<T, Fault>>, Option<PyErr>) {
    let (ended, end) = mpsc::channel();
    thread::scope(|scope| {
        let worker = scope.spawn(move || {
            let done = panic::catch_unwind(AssertUnwindSafe(|| job(watch)));
            // The receiver waits until this thread has ended.
            let _ = ended.send(());
            done
        });
        let mut raised = None;
        while end.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
            if raised.is_none() {
                raised = reporter.look().err();
                watch.stop.store(raised.is_some(), Ordering::Relaxed);
            }
            raised = raised.map(interrupt_start_ups);
        }
        (worker.join().unwrap_or_else(Err), raised)
    })
}

/// Ends the start-ups of Python that run just now. Returns the exception to raise.
///
/// Threads do not show whose start-up they run. So only the user's Ctrl-C ends those of other
/// calls, too.
fn interrupt_start_ups(raised: PyErr) -> PyErr {
    let is_alone = CALLS.load(Ordering::Relaxed) == 1;
    Python::attach(|py| match is_alone || raised.is_instance_of::<PyKeyboardInterrupt>(py) {
        true => startup::interrupt(py).err().unwrap_or(raised),
        false => raised,
    })
}

/// The message of a panic.
fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message")
}
