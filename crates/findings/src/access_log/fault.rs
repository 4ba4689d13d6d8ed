//! The fault of a line, and the way out.

use std::fmt;

/// The reason why a line is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogFault {
    /// The line is empty.
    Empty,
    /// The line has none of the formats.
    UnknownFormat,
    /// The line is not a valid JSON object.
    NotJson(String),
    /// The JSON object has none of these keys.
    NoKey {
        /// The missing value.
        what: &'static str,
        /// Keys that would have it.
        keys: &'static [&'static str],
    },
    /// The line has no column of this number, from 1.
    NoColumn(usize),
    /// The columns that `#Fields:` names lack this one.
    NoField(&'static str),
    /// The line lacks a value that `--log-format` names.
    NoValue(String),
    /// The client is a name.
    NameOnly(String),
    /// The value is no address.
    NoAddress(String),
    /// The value is no time.
    NoTime(String),
}

impl fmt::Display for LogFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("an empty line"),
            Self::UnknownFormat => f.write_str(
                "no known format: neither the common or combined one (ADDRESS - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200 5), \
                 nor JSON, nor one of W3C (with its line #Fields:), HAProxy, Envoy, S3 or an AWS load balancer; \
                 --log-format client=1,time=4,request=5 names the columns",
            ),
            Self::NotJson(why) => write!(f, "begins as JSON, and is none: {why}"),
            Self::NoKey { what, keys } => write!(
                f,
                "a JSON object without {what}, as {}: name the keys by --log-format client=KEY,time=KEY,request=KEY",
                keys.join(", ")
            ),
            Self::NoColumn(n) => write!(f, "has no column {n}, which its format needs"),
            Self::NoField(name) => {
                write!(f, "#Fields: names no column {name}: add it to the server's log")
            }
            Self::NoValue(value) => write!(f, "has no {value}, which --log-format names"),
            Self::NameOnly(name) => write!(
                f,
                "the client is the name {name:?}, and only addresses identify networks: log addresses (Apache: %a, or HostnameLookups Off)"
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
