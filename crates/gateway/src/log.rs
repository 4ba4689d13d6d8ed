//! Lines for whoever looks after the gateway: on standard error, with the journal's priorities where that reads it (sd-daemon(3)).

use crate::options::GatewayLogLevel;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

static DEBUGS: AtomicBool = AtomicBool::new(false);

/// How much it matters (syslog(3)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogPriority {
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
pub fn set_log_level(level: GatewayLogLevel) {
    DEBUGS.store(level == GatewayLogLevel::Debug, Ordering::Relaxed);
}

/// Says it in one line.
pub fn say(level: LogPriority, what: &str) {
    if level == LogPriority::Debug && !DEBUGS.load(Ordering::Relaxed) {
        return;
    }
    let plain: String = what.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let line = match std::env::var_os("JOURNAL_STREAM").is_some() {
        true => format!("<{}>{plain}\n", level as u8),
        false => format!("headstart gateway: {plain}\n"),
    };
    // If nobody listens there, nobody can be told.
    let _ = io::stderr().write_all(line.as_bytes());
}
