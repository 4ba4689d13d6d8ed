//! The gateway's log, and its verbosity.

use serde::Deserialize;
use support::log::Journal;
pub(crate) use support::log::LogPriority;

static JOURNAL: Journal = Journal::new("headstart gateway");

/// Verbosity of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GatewayLogLevel {
    /// Events that an operator needs to know.
    #[default]
    Notice,
    /// Also each connection that opens or closes.
    Debug,
}

/// Sets the verbosity from now on.
pub(crate) fn set_log_level(level: GatewayLogLevel) {
    JOURNAL.set_debugging(level == GatewayLogLevel::Debug);
}

/// Logs a message in one line.
pub(crate) fn say(priority: LogPriority, what: &str) {
    JOURNAL.say(priority, what);
}
