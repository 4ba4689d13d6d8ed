//! The gateway's journal, and how much of it is said.

use crate::options::GatewayLogLevel;
use support::log::Journal;
pub use support::log::LogPriority;

static JOURNAL: Journal = Journal::new("headstart gateway");

/// From now on says so much.
pub fn set_log_level(level: GatewayLogLevel) {
    JOURNAL.set_debugging(level == GatewayLogLevel::Debug);
}

/// Says it in one line.
pub fn say(priority: LogPriority, what: &str) {
    JOURNAL.say(priority, what);
}
