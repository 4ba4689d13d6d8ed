//! Tests of real time, on a machine that other work may take away for a while.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How often it is seen to that time goes on.
const BEAT: Duration = Duration::from_millis(2);
/// A thread that was to wake up is later than this: so were those that are tested. 3 of a round trip's 80 ms would be a
/// loss of 4 %.
const STILL: Duration = Duration::from_millis(3);
const ATTEMPTS: usize = 4;

thread_local! {
    /// The longest that the machine stood still for beds of this thread's test.
    static LONGEST: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Makes a test again, so often at most, as long as it fails while the machine stood still. What fails on one that did not
/// has failed.
pub(crate) fn calmly(test: impl Fn()) {
    for attempt in 1.. {
        LONGEST.set(Duration::ZERO);
        let Err(why) = catch_unwind(AssertUnwindSafe(&test)) else { return };
        let longest = LONGEST.get();
        if longest < STILL || attempt == ATTEMPTS {
            resume_unwind(why);
        }
        eprintln!(
            "attempt {attempt} has failed, but the machine stood still for {longest:?}: again"
        );
    }
}

/// Notes for how long the machine stands still, as long as it lives.
pub(super) struct Pulse {
    is_over: Arc<AtomicBool>,
    beats: Option<JoinHandle<Duration>>,
}

impl Pulse {
    pub(super) fn begin() -> Self {
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
        thread::sleep(BEAT);
        longest = longest.max(start.elapsed().saturating_sub(BEAT));
    }
    longest
}
