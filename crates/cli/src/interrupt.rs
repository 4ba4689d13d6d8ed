//! Ctrl-C and SIGTERM: the first asks what is under way to stop, the second ends at once.

use crate::failure::{Failure, remark};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// What somebody who wants the process to stop has asked for.
#[derive(Default)]
pub(crate) struct Stop {
    /// Set while the signal is handled. What waits for [`Stop::on_signal`] may be told late, when the end of a pipe has been
    /// read already that the same Ctrl-C has ended.
    asked: Arc<AtomicBool>,
    /// By SIGTERM, which this process has alone: Ctrl-C also stops the program that writes to its pipe.
    terminated: Arc<AtomicBool>,
    /// Somebody has been told that it stops.
    told: AtomicBool,
    /// Nothing is kept, so there is nothing to wait for; nor for a signal that came `before`, if what it stops has ended.
    ends_at_once: AtomicBool,
    before: AtomicBool,
}

static STOP: OnceLock<Stop> = OnceLock::new();

impl Stop {
    /// Set once somebody has asked to stop.
    pub(crate) fn asked(&self) -> &AtomicBool {
        &self.asked
    }

    /// True once somebody has asked to stop.
    pub(crate) fn is_asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }

    /// Set by SIGTERM.
    pub(crate) fn terminated(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.terminated)
    }

    /// True once SIGTERM has come.
    pub(crate) fn is_terminated(&self) -> bool {
        self.terminated.load(Ordering::SeqCst)
    }

    /// In a thread of its own, some time after the signal.
    fn on_signal(&self) {
        self.asked.store(true, Ordering::SeqCst);
        let is_second = self.told.swap(true, Ordering::SeqCst);
        let is_behind =
            self.ends_at_once.load(Ordering::SeqCst) && !self.before.load(Ordering::SeqCst);
        if is_second || is_behind {
            std::process::exit(130);
        }
        remark("stopping; once more to end at once");
    }
}

/// Listens for Ctrl-C and SIGTERM from now on.
pub(crate) fn watch() -> Result<&'static Stop, Failure> {
    if let Some(stop) = STOP.get() {
        return Ok(stop);
    }
    let refused = |why: &dyn Display| Failure::failed(format!("cannot listen for Ctrl-C: {why}"));
    let stop = STOP.get_or_init(Stop::default);
    ctrlc::set_handler(|| STOP.get_or_init(Stop::default).on_signal())
        .map_err(|why| refused(&why))?;
    // All handlers are called: each calls the one before.
    flag::register(SIGTERM, stop.terminated()).map_err(|why| refused(&why))?;
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        flag::register(signal, Arc::clone(&stop.asked)).map_err(|why| refused(&why))?;
    }
    Ok(stop)
}

/// From now on the first signal ends the process at once: of what follows no part is of use. `has_stopped`: something has
/// stopped already because somebody asked for it, and what there is of it is used.
///
/// # Errors
/// If somebody has asked just now, and nothing has stopped for it.
pub(crate) fn end_at_once(has_stopped: bool) -> Result<(), Failure> {
    let Some(stop) = STOP.get() else { return Ok(()) };
    let is_asked = stop.is_asked();
    stop.before.store(is_asked, Ordering::SeqCst);
    stop.ends_at_once.store(true, Ordering::SeqCst);
    match is_asked && !has_stopped {
        true => Err(Failure::Interrupted("stopped: there are no results".to_owned())),
        false => Ok(()),
    }
}
