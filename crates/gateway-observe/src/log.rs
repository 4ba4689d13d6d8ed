//! The observer's journal.

use support::log::Journal;
pub(crate) use support::log::LogPriority;

static JOURNAL: Journal = Journal::new("headstart gateway observe");

/// Writes one line.
pub(crate) fn say(priority: LogPriority, what: &str) {
    JOURNAL.say(priority, what);
}
