//! Progress on standard error, where a person looks at it.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar of things done; hidden unless standard error is a terminal.
pub struct CountBar(ProgressBar);

impl CountBar {
    /// `count` things, of which `noun` is the plural.
    pub fn begin(count: u64, noun: &str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(count), ProgressDrawTarget::stderr());
        let template = format!("{{bar:30}} {{pos}} of {{len}} {noun}  {{eta}} left");
        let style = ProgressStyle::with_template(&template);
        if let Ok(style) = style {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// Counts one more.
    pub fn step(&self) {
        self.0.inc(1);
    }

    /// Takes the bar away.
    pub fn end(&self) {
        self.0.finish_and_clear();
    }
}
