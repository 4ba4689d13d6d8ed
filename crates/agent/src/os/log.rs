//! The agent's journal, and how much of it is said.

use serde::Deserialize;
use support::log::Journal;
pub(crate) use support::log::LogPriority as Level;

static JOURNAL: Journal = Journal::new("headstart agent");

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

/// From now on says so much.
pub(crate) fn set_log_level(level: LogLevel) {
    JOURNAL.set_debugging(level == LogLevel::Debug);
}

/// Whether anybody hears what is said at [`Level::Debug`].
pub(crate) fn is_debugging() -> bool {
    JOURNAL.is_debugging()
}

/// Says it in one line.
pub(crate) fn say(level: Level, what: &str) {
    JOURNAL.say(level, what);
}
