//! Lines for the operator of a service, on standard error: with the journal's priorities if the
//! journal reads them (sd-daemon(3)), with the program's name if a person does.
//!
//! A program has one [`Journal`], as a static value. A message is always one line, whatever its
//! source.

use crate::clock::{utc, wall};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Priority (syslog(3)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogPriority {
    /// The operator has to look.
    Error = 3,
    /// A fault that the service survives.
    Warning = 4,
    /// Worth knowing.
    Notice = 5,
    /// Details of every connection.
    Debug = 7,
}

/// The log of a program.
#[derive(Debug)]
pub struct Journal {
    program: &'static str,
    debugs: AtomicBool,
}

impl Journal {
    /// Creates the journal of `program`; it omits [`LogPriority::Debug`] until that is switched on.
    pub const fn new(program: &'static str) -> Self {
        Self { program, debugs: AtomicBool::new(false) }
    }

    /// Switches messages on every connection on or off.
    pub fn set_debugging(&self, debugs: bool) {
        self.debugs.store(debugs, Ordering::Relaxed);
    }

    /// Returns true if messages at [`LogPriority::Debug`] are printed.
    pub fn is_debugging(&self) -> bool {
        self.debugs.load(Ordering::Relaxed)
    }

    /// Logs the message in one line.
    pub fn say(&self, priority: LogPriority, what: &str) {
        if priority == LogPriority::Debug && !self.is_debugging() {
            return;
        }
        let for_journal = std::env::var_os("JOURNAL_STREAM").is_some();
        let line = self.line(priority, what, for_journal, wall().as_nanos() / 1_000_000_000);
        // An operator who closed standard error does not want to know.
        let _ = io::stderr().write_all(line.as_bytes());
    }

    /// Joins the lines of `what` to one. Other control characters, which could move a cursor,
    /// become spaces. A journal notes the time itself; a person gets `now_s`, seconds since 1970.
    fn line(&self, priority: LogPriority, what: &str, for_journal: bool, now_s: u64) -> String {
        let what = what.trim_end().replace('\n', "; ");
        let what: String = what.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        match for_journal {
            true => format!("<{}>{what}\n", priority as u8),
            false => format!("{} {}: {what}\n", utc(now_s), self.program),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_journal_is_told_how_much_it_matters_and_a_person_who_says_it() {
        let journal = Journal::new("headstart agent");
        assert_eq!(journal.line(LogPriority::Error, "it\nfails\n", true, 0), "<3>it; fails\n");
        let line = journal.line(LogPriority::Notice, "it\x1b[2J works", false, 1_800_000_000);
        assert_eq!(line, "2027-01-15T08:00:00Z headstart agent: it [2J works\n");
    }

    #[test]
    fn what_is_of_every_connection_is_said_on_demand() {
        let journal = Journal::new("headstart agent");
        assert!(!journal.is_debugging());
        journal.set_debugging(true);
        assert!(journal.is_debugging());
    }
}
