//! Progress on standard error, where a person looks at it.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar of runs; hidden unless standard error is a terminal.
pub(super) struct Progress(ProgressBar);

impl Progress {
    pub(super) fn begin(runs: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(runs), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{bar:30} {pos} of {len} loads  {eta} left");
        if let Ok(style) = style {
            bar.set_style(style);
        }
        Self(bar)
    }

    pub(super) fn step(&self) {
        self.0.inc(1);
    }

    pub(super) fn end(&self) {
        self.0.finish_and_clear();
    }
}
