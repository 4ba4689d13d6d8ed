//! The agent's log and its level.

use serde::Deserialize;
use support::log::Journal;
pub(crate) use support::log::LogPriority as Level;

static JOURNAL: Journal = Journal::new("headstart agent");

/// Level of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum LogLevel {
    /// Messages that an operator of the agent has to know
    #[default]
    Notice,
    /// Also how each connection starts, and why, in a line at its start and in one at its close;
    /// with the prefix of its peer
    Debug,
}

/// Sets the level.
pub(crate) fn set_log_level(level: LogLevel) {
    JOURNAL.set_debugging(level == LogLevel::Debug);
}

/// Returns true if messages at [`Level::Debug`] are logged.
pub(crate) fn is_debugging() -> bool {
    JOURNAL.is_debugging()
}

/// Logs the message in one line.
pub(crate) fn say(level: Level, what: &str) {
    JOURNAL.say(level, what);
}
