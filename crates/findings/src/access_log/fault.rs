//! What is wrong with a line, and the way out.

use std::fmt;

/// Why a line is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogFault {
    /// Nothing in it.
    Empty,
    /// Neither of the formats.
    UnknownFormat,
    /// A JSON object that is none.
    NotJson(String),
    /// A JSON object without a key of these.
    NoKey {
        /// What is missing.
        what: &'static str,
        /// Keys that would do.
        keys: &'static [&'static str],
    },
    /// The client is a name.
    NameOnly(String),
    /// No address.
    NoAddress(String),
    /// No time.
    NoTime(String),
}

impl fmt::Display for LogFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("an empty line"),
            Self::UnknownFormat => f.write_str(
                "neither the common nor the combined log format (ADDRESS - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200 5), \
                 nor a JSON object: set the server's log format to one of them",
            ),
            Self::NotJson(why) => write!(f, "begins as JSON, and is none: {why}"),
            Self::NoKey { what, keys } => {
                write!(f, "a JSON object without {what}: name it {}", keys.join(", "))
            }
            Self::NameOnly(name) => write!(
                f,
                "the client is the name {name:?}, and only addresses tell networks: log addresses (Apache: %a, or HostnameLookups Off)"
            ),
            Self::NoAddress(text) => write!(f, "{text:?} is no address, like 192.0.2.1 or 2001:db8::1"),
            Self::NoTime(text) => write!(
                f,
                "{text:?} is no time, like 10/Oct/2000:13:55:36 -0700, 2000-10-10T20:55:36Z, or seconds since 1970"
            ),
        }
    }
}

impl std::error::Error for LogFault {}
