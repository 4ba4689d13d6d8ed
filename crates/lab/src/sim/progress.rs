//! Progress on standard error: a bar where a person looks at it, a line now and then elsewhere.

use cmdline::progress::CommandWatch;
use cmdline::remark;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use units::counted;

/// Time between two lines.
const PERIOD: Duration = Duration::from_secs(10);

/// Progress of a long computation.
enum SimProgress {
    Bar(ProgressBar),
    Lines { all: u64, done: u64, began: Instant, printed_at: Instant },
}

impl SimProgress {
    /// `all` runs are about to be made.
    fn begin(all: u64) -> Self {
        if io::stderr().is_terminal() {
            let bar = ProgressBar::with_draw_target(Some(all), ProgressDrawTarget::stderr());
            let style =
                ProgressStyle::with_template("{bar:30} {pos} of {len} runs  {eta} left{msg}");
            if let Ok(style) = style {
                bar.set_style(style);
            }
            return Self::Bar(bar);
        }
        let now = now();
        Self::Lines { all, done: 0, began: now, printed_at: now }
    }

    /// A run is over.
    fn step(&mut self) {
        match self {
            Self::Bar(bar) => bar.inc(1),
            Self::Lines { all, done, began, printed_at } => {
                *done += 1;
                if now().duration_since(*printed_at) >= PERIOD && *done < *all {
                    *printed_at = now();
                    let passed = printed_at.duration_since(*began).as_secs_f64();
                    let left = passed / *done as f64 * (*all - *done) as f64;
                    remark(&format!("{done} of {}, about {left:.0} s left", counted(*all, "run")));
                }
            }
        }
    }

    fn end(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

/// The person at the terminal, or the log of a job.
#[derive(Default)]
pub(crate) struct SimWatch(Mutex<Option<SimProgress>>);

impl SimWatch {
    fn with_progress(&self, act: impl FnOnce(&mut Option<SimProgress>)) {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl CommandWatch for SimWatch {
    fn begin(&self, count: u64, _noun: &str) {
        self.with_progress(|progress| *progress = Some(SimProgress::begin(count)));
    }

    fn step(&self) {
        self.with_progress(|progress| progress.iter_mut().for_each(SimProgress::step));
    }

    fn end(&self) {
        self.with_progress(|progress| progress.take().iter().for_each(SimProgress::end));
    }

    fn note(&self, text: &str) {
        remark(text);
    }
}

/// Results know virtual time only; this is for users who wait.
#[expect(clippy::disallowed_methods, reason = "a person wants to know how long it takes")]
fn now() -> Instant {
    Instant::now()
}
