//! Progress of reading, on standard error: a bar on a terminal, a line now and then elsewhere.

use crate::failure::remark;
use capture::InputProgress;
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

/// Time between two lines.
const PERIOD: Duration = Duration::from_secs(10);

/// Receives how far reading is.
pub trait ReadingWatch {
    /// `read` of the files has been read.
    fn at(&mut self, read: InputProgress);

    /// A file, or a part of one, cannot be read.
    fn refuse(&mut self, why: &str);
}

/// Output of the progress of reading.
pub(super) enum ReadingProgress {
    /// No output.
    Silent,
    Watched(Box<dyn ReadingWatch>),
    Bar(ProgressBar, &'static str),
    Lines {
        began: Instant,
        printed_at: Instant,
        of: &'static str,
    },
}

impl ReadingProgress {
    /// Starts the output for reading `of`, like `packets`, from `total` bytes.
    pub(super) fn begin(total: Option<u64>, of: &'static str) -> Self {
        if !io::stderr().is_terminal() {
            let now = now();
            return Self::Lines { began: now, printed_at: now, of };
        }
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
        let template = if total.is_some() {
            "{bar:30} {percent} %  {msg}, {eta} left"
        } else {
            "{spinner} {msg}"
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self::Bar(bar, of)
    }

    /// Shows that `count` have been read.
    pub(super) fn at(&mut self, count: u64, read: InputProgress) {
        match self {
            Self::Silent => {}
            Self::Watched(watch) => watch.at(read),
            Self::Bar(bar, of) => {
                bar.set_position(read.read);
                bar.set_message(pace(count, of, bar.elapsed()));
            }
            Self::Lines { began, printed_at, of } => {
                let now = now();
                if now.duration_since(*printed_at) >= PERIOD {
                    *printed_at = now;
                    remark(&line(count, of, read, now.duration_since(*began)));
                }
            }
        }
    }

    /// Says what cannot be read, while the bar stands.
    pub(super) fn refuse(&mut self, why: &str) {
        let text = format!("headstart: {why}");
        match self {
            Self::Watched(watch) => watch.refuse(why),
            Self::Bar(bar, _) => bar.suspend(|| remark(&text)),
            _ => remark(&text),
        }
    }

    pub(super) fn end(&self) {
        if let Self::Bar(bar, _) = self {
            bar.finish_and_clear();
        }
    }
}

/// `12,345,678 packets, 8.1 million/s`.
fn pace(count: u64, of: &str, passed: Duration) -> String {
    let rate = count as f64 / passed.as_secs_f64().max(1e-3);
    let rate = match rate {
        1e6.. => format!("{:.1} million", rate / 1e6),
        _ => HumanCount(rate as u64).to_string(),
    };
    format!("{} {of}, {rate}/s", HumanCount(count))
}

/// The same, how much of the files has been read, and how long the rest takes.
fn line(count: u64, of: &str, read: InputProgress, passed: Duration) -> String {
    let pace = pace(count, of, passed);
    let part = read.total.filter(|total| *total > 0).map(|total| read.read as f64 / total as f64);
    match part {
        Some(part) if part > 0.0 => {
            let left = passed.as_secs_f64() * (1.0 / part.min(1.0) - 1.0);
            format!("{pace}, {:.0} %, about {left:.0} s left", 100.0 * part)
        }
        _ => pace,
    }
}

/// Results know the times of packets only; this is for users who wait.
#[expect(clippy::disallowed_methods, reason = "a person wants to know how long it takes")]
pub(super) fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 16 million packets in two seconds are 8 million a second. A quarter of the files took two
    /// seconds, so the other three quarters take six.
    #[test]
    fn a_line_tells_pace_part_and_time_left() {
        let two = Duration::from_secs(2);
        let quarter = InputProgress { read: 250, total: Some(1000) };
        assert_eq!(
            line(16_000_000, "packets", quarter, two),
            "16,000,000 packets, 8.0 million/s, 25 %, about 6 s left"
        );
        let pipe = InputProgress { read: 250, total: None };
        assert_eq!(line(3_000, "packets", pipe, two), "3,000 packets, 1,500/s");
        let started = InputProgress { read: 0, total: Some(1000) };
        assert_eq!(line(0, "packets", started, two), "0 packets, 0/s");
    }
}
