//! Ctrl-C and SIGTERM: the first asks what is under way to stop, the second ends at once.

use crate::failure::{Failure, remark};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

/// Signals that ask the process to stop.
const STOPPING: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];
/// Exit code of a process that the second signal ends.
const INTERRUPTED: i32 = 130;

/// State of a request to stop the process.
#[derive(Default)]
pub struct Stop {
    /// Set while the signal is handled. [`Stop::on_signal`] may come later, when the end of a pipe
    /// has been read already that the same Ctrl-C has ended.
    asked: Arc<AtomicBool>,
    /// By SIGTERM, which this process has alone: Ctrl-C also stops the program that writes to its
    /// pipe.
    terminated: Arc<AtomicBool>,
    /// A handler has been notified of the stop.
    appendix_of: AtomicBool,
    /// Nothing is kept, so there is nothing to wait for; nor for a signal that came `before`, if
    /// what it stops has ended.
    ends_at_once: AtomicBool,
    before: AtomicBool,
}

static STOP: OnceLock<Stop> = OnceLock::new();

impl Stop {
    /// The flag that a signal to stop sets.
    pub fn asked(&self) -> &AtomicBool {
        &self.asked
    }

    /// True once a signal has asked to stop.
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }

    /// Set by SIGTERM.
    pub fn terminated(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.terminated)
    }

    /// True once SIGTERM has come.
    pub fn is_terminated(&self) -> bool {
        self.terminated.load(Ordering::SeqCst)
    }

    /// In a thread of its own, some time after the signal.
    fn on_signal(&self) {
        self.asked.store(true, Ordering::SeqCst);
        let is_second = self.appendix_of.swap(true, Ordering::SeqCst);
        let is_behind =
            self.ends_at_once.load(Ordering::SeqCst) && !self.before.load(Ordering::SeqCst);
        if is_second || is_behind {
            std::process::exit(INTERRUPTED);
        }
        remark("stopping; once more to end at once");
    }
}

/// Listens for Ctrl-C and SIGTERM from now on.
pub fn watch() -> Result<&'static Stop, Failure> {
    if let Some(stop) = STOP.get() {
        return Ok(stop);
    }
    let stop = STOP.get_or_init(Stop::default);
    listen(stop).map_err(refused)?;
    Ok(stop)
}

fn listen(stop: &'static Stop) -> io::Result<()> {
    flag::register(SIGTERM, stop.terminated())?;
    // Before the flags: a signal that sets `asked` also reaches the thread.
    let mut signals = Signals::new(STOPPING)?;
    for signal in STOPPING {
        flag::register(signal, Arc::clone(&stop.asked))?;
    }
    let on_signals = move || signals.forever().for_each(|_| stop.on_signal());
    thread::Builder::new().name("signals".to_owned()).spawn(on_signals).map(drop)
}

/// Returns a flag that the first signal sets; the second ends the process at once. Prints nothing.
pub fn stop_flag() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in STOPPING {
        // In this order, so that the first signal does not find its own mark.
        flag::register_conditional_shutdown(signal, INTERRUPTED, Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .map_err(refused)?;
    }
    Ok(stop)
}

fn refused(why: io::Error) -> Failure {
    Failure::failed(format!("cannot listen for Ctrl-C: {why}"))
}

/// From now on the first signal ends the process at once: a part of the rest is of no use.
/// `has_stopped`: a signal has stopped something already, and its part is used.
///
/// # Errors
/// If a signal has come just now, and nothing has stopped for it.
pub fn end_at_once(has_stopped: bool) -> Result<(), Failure> {
    let Some(stop) = STOP.get() else { return Ok(()) };
    let is_asked = stop.is_asked();
    stop.before.store(is_asked, Ordering::SeqCst);
    stop.ends_at_once.store(true, Ordering::SeqCst);
    match is_asked && !has_stopped {
        true => Err(Failure::Interrupted("stopped: there are no results".to_owned())),
        false => Ok(()),
    }
}
