//! Lines for whoever looks after the agent: on standard error, with the journal's priorities where that
//! reads it (sd-daemon(3)), with the program's name where a person does.

use serde::Deserialize;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether lines at [`Level::Debug`] are said.
static DEBUGS: AtomicBool = AtomicBool::new(false);

/// What is said at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum LogLevel {
    /// What somebody who looks after the agent has to know
    #[default]
    Notice,
    /// Also how each connection starts, and why, in a line as it does and in one as it closes; with the prefix of its peer
    Debug,
}

/// How much it matters (syslog(3)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Somebody has to look.
    Error = 3,
    /// Not as it should be, and it goes on.
    Warning = 4,
    /// Worth knowing.
    Notice = 5,
    /// Of every connection.
    Debug = 7,
}

/// From now on says so much.
pub fn set_log_level(level: LogLevel) {
    DEBUGS.store(level == LogLevel::Debug, Ordering::Relaxed);
}

/// Whether anybody hears what is said at [`Level::Debug`].
pub fn is_debugging() -> bool {
    DEBUGS.load(Ordering::Relaxed)
}

/// Says it in one line.
pub fn say(level: Level, what: &str) {
    if level == Level::Debug && !is_debugging() {
        return;
    }
    let line = line(level, what, std::env::var_os("JOURNAL_STREAM").is_some());
    // Who closed standard error does not want to know.
    let _ = io::stderr().write_all(line.as_bytes());
}

fn line(level: Level, what: &str, for_journal: bool) -> String {
    let what = what.trim_end().replace('\n', "; ");
    match for_journal {
        true => format!("<{}>{what}\n", level as u8),
        false => format!("headstart agent: {what}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_journal_is_told_how_much_it_matters() {
        assert_eq!(line(Level::Error, "it\nfails\n", true), "<3>it; fails\n");
        assert_eq!(line(Level::Notice, "it works", false), "headstart agent: it works\n");
    }
}
