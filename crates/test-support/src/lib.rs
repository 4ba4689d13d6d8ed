//! Support for tests that other work on the machine may disturb, or that need something which the
//! machine may lack. It is for tests alone, no part of the product.
//!
//! [`retry_on_stall`] repeats a test that failed while the machine stood still. A [`Pulse`]
//! measures that time: a thread that sleeps for moments and sees when it wakes up.
//! [`retry_on_any_stall`] has one pulse for the whole test. [`has`] decides by the machine whether
//! a test can run here. [`skipped`] reports one that cannot. `make test` shows all skips, and CI
//! accepts those of a list.

mod needs;
mod skipped;

pub use needs::{AGENT, EMULATION, Need, has};
pub use skipped::skipped;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Interval at which a pulse checks that time goes on.
const PULSE_INTERVAL: Duration = Duration::from_millis(2);
/// Delay of a waking thread above which tested threads are late, too. 3 of a round trip's 80 ms
/// would be a loss of 4 %.
const STALL_DELAY: Duration = Duration::from_millis(3);
const ATTEMPTS: usize = 4;
/// Attempts without a stall after which the test has failed.
const ATTEMPTS_WITHOUT_STALL: usize = 2;

thread_local! {
    /// The longest that the machine stood still for pulses of this thread's test.
    static LONGEST: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Repeats a test, three times at most, as long as it fails while the machine stood still by the
/// test's [`Pulse`]s. A test that fails twice on a machine that did not has failed. A pulse runs on
/// one processor, and does not see that another stood still.
///
/// # Panics
/// Panics as the test does.
pub fn retry_on_stall(test: impl Fn()) {
    let mut without_stall = 0;
    for attempt in 1.. {
        LONGEST.set(Duration::ZERO);
        let Err(why) = catch_unwind(AssertUnwindSafe(&test)) else { return };
        let longest = LONGEST.get();
        without_stall += usize::from(longest < STALL_DELAY);
        if without_stall == ATTEMPTS_WITHOUT_STALL || attempt == ATTEMPTS {
            resume_unwind(why);
        }
        eprintln!("attempt {attempt} has failed; the machine stood still for {longest:?}: again");
    }
}

/// Repeats a test that has no pulse of its own.
///
/// # Panics
/// Panics as the test does.
pub fn retry_on_any_stall(test: impl Fn()) {
    retry_on_stall(|| {
        let _pulse = Pulse::begin();
        test();
    });
}

/// Notes for how long the machine stands still, as long as it lives, for the test of the thread
/// that drops it.
#[derive(Debug)]
pub struct Pulse {
    is_over: Arc<AtomicBool>,
    beats: Option<JoinHandle<Duration>>,
}

impl Pulse {
    /// Begins to beat.
    pub fn begin() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&is_over);
        Self { is_over, beats: Some(thread::spawn(move || beat_until(&asked))) }
    }
}

impl Drop for Pulse {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let longest = self.beats.take().and_then(|beats| beats.join().ok());
        LONGEST.set(LONGEST.get().max(longest.unwrap_or_default()));
    }
}

/// The latest that it woke up.
#[expect(clippy::disallowed_methods, reason = "real time is what is tested")]
fn beat_until(is_over: &AtomicBool) -> Duration {
    let mut longest = Duration::ZERO;
    while !is_over.load(Ordering::Relaxed) {
        let start = Instant::now();
        thread::sleep(PULSE_INTERVAL);
        longest = longest.max(start.elapsed().saturating_sub(PULSE_INTERVAL));
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Number of runs of a test with this number of failures, on a machine that stood still for
    /// this time; and whether it passed.
    fn runs(failures: usize, stood_still: Duration) -> (usize, bool) {
        let runs = Cell::new(0);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            retry_on_stall(|| {
                LONGEST.set(stood_still);
                runs.set(runs.get() + 1);
                assert!(runs.get() > failures, "on purpose");
            });
        }));
        (runs.get(), outcome.is_ok())
    }

    #[test]
    fn what_fails_is_made_again_more_often_where_the_machine_stood_still() {
        assert_eq!(runs(0, STALL_DELAY), (1, true));
        assert_eq!(runs(3, STALL_DELAY), (4, true));
        assert_eq!(runs(4, STALL_DELAY), (4, false));
        assert_eq!(runs(1, STALL_DELAY / 2), (2, true));
        assert_eq!(runs(2, STALL_DELAY / 2), (2, false));
    }

    #[test]
    fn a_pulse_tells_when_it_goes() {
        LONGEST.set(Duration::ZERO);
        let pulse = Pulse::begin();
        thread::sleep(5 * PULSE_INTERVAL);
        drop(pulse);
        // No thread wakes up at once.
        assert!(LONGEST.get() > Duration::ZERO);
    }
}
