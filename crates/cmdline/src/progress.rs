//! Progress on standard error, where a person looks at it, or to a program that calls the command.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::{Mutex, PoisonError};

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

/// Receives notes and progress of a command. Methods are called from any thread.
pub trait CommandWatch: Sync {
    /// A computation of `count` things starts; `noun` is their plural.
    fn begin(&self, count: u64, noun: &str);

    /// One more thing is done. The method may unwind to stop the computation.
    fn step(&self);

    /// The computation is over.
    fn end(&self);

    /// A note for the reader of the results.
    fn note(&self, text: &str);
}

/// The person at the terminal.
#[derive(Default)]
pub struct TerminalWatch(Mutex<Option<CountBar>>);

impl TerminalWatch {
    fn with_bar(&self, act: impl FnOnce(&mut Option<CountBar>)) {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl CommandWatch for TerminalWatch {
    fn begin(&self, count: u64, noun: &str) {
        self.with_bar(|bar| *bar = Some(CountBar::begin(count, noun)));
    }

    fn step(&self) {
        self.with_bar(|bar| bar.iter().for_each(CountBar::step));
    }

    fn end(&self) {
        self.with_bar(|bar| bar.take().iter().for_each(CountBar::end));
    }

    fn note(&self, text: &str) {
        crate::failure::note(text);
    }
}
