//! Progress on standard error: a bar where a person looks at it, a line now and then elsewhere.

use cmdline::remark;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};
use units::counted;

/// Between two lines.
const PERIOD: Duration = Duration::from_secs(10);

pub(crate) enum SimProgress {
    Bar(ProgressBar),
    Lines { all: u64, done: u64, began: Instant, said: Instant },
}

impl SimProgress {
    /// `all` runs are about to be made.
    pub(crate) fn begin(all: u64) -> Self {
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
        Self::Lines { all, done: 0, began: now, said: now }
    }

    /// A run is over.
    pub(crate) fn step(&mut self) {
        match self {
            Self::Bar(bar) => bar.inc(1),
            Self::Lines { all, done, began, said } => {
                *done += 1;
                if now().duration_since(*said) >= PERIOD && *done < *all {
                    *said = now();
                    let passed = said.duration_since(*began).as_secs_f64();
                    let left = passed / *done as f64 * (*all - *done) as f64;
                    remark(&format!("{done} of {}, about {left:.0} s left", counted(*all, "run")));
                }
            }
        }
    }

    pub(crate) fn end(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

/// Results know virtual time only; this is for whoever waits.
#[expect(clippy::disallowed_methods, reason = "a person wants to know how long it takes")]
fn now() -> Instant {
    Instant::now()
}
