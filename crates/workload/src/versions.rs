//! How a page's hosts may be spoken to: the version of HTTP, and TLS or none; as which server they write, and as which client the page
//! is loaded. [`crate::http`] says what each costs.

use crate::http::CHROMIUM_DOCUMENT_WORK;
use crate::page::ObjectKind;
use std::fmt;
use std::str::FromStr;
use units::Duration;

/// How requests and responses share connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Http {
    /// A connection per object, closed by the server after its response (RFC 1945).
    Http10,
    /// A few kept-alive connections per host, one request at a time on each (RFC 9112 §9.3).
    Http11,
    /// One connection per host that carries all responses interleaved (RFC 9113).
    Http2,
    /// `phttp`: one kept-alive connection per host on which all transfers follow one another in
    /// the order of discovery, requests not waiting for earlier responses (fast-start §6.3).
    Persistent,
}

impl fmt::Display for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Http10 => "1.0",
            Self::Http11 => "1.1",
            Self::Http2 => "2",
            Self::Persistent => "phttp",
        })
    }
}

/// Security of the transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tls {
    /// None.
    None,
    /// TLS 1.3 with a full handshake: one round trip and a certificate (RFC 8446 §2).
    Tls13,
}

impl fmt::Display for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::None => "none",
            Self::Tls13 => "1.3",
        })
    }
}

/// Which web server a simulated one writes as. It decides what a connection's TCP is handed at a time, and in which order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ServerModel {
    /// The project's own: all that may be written at a moment is one write, the urgent first, without Nagle's algorithm.
    #[default]
    Builtin,
    /// nginx 1.22 as it comes, in the clear with `sendfile`: headers are writes of their own, responses follow one another, and
    /// `TCP_NODELAY` and `TCP_CORK` change as it writes.
    Nginx,
}

impl fmt::Display for ServerModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Builtin => "builtin",
            Self::Nginx => "nginx",
        })
    }
}

/// Which client the page loader imitates. It decides when connections are opened, and what the client's own work takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ClientModel {
    /// The project's own: it opens a connection when an object needs one, and takes no time to read a document.
    #[default]
    Loader,
    /// Chromium over HTTP/1.1: it opens two connections to the page's first host at once
    /// ([`CHROMIUM_FIRST_CONNECTIONS`](crate::CHROMIUM_FIRST_CONNECTIONS)), and takes
    /// [`CHROMIUM_DOCUMENT_WORK`](crate::CHROMIUM_DOCUMENT_WORK) to read a document.
    Chromium,
}

impl ClientModel {
    /// What it takes to read an object before it asks for what that reveals.
    pub const fn work_on(self, kind: ObjectKind) -> Duration {
        match (self, kind) {
            (Self::Chromium, ObjectKind::Html) => CHROMIUM_DOCUMENT_WORK,
            _ => Duration::ZERO,
        }
    }
}

impl fmt::Display for ClientModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Loader => "loader",
            Self::Chromium => "chromium",
        })
    }
}

/// A word that names no protocol; says which do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseProtocolError {
    input: String,
    expected: &'static str,
}

impl fmt::Display for ParseProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not known: use {}", self.input, self.expected)
    }
}

impl std::error::Error for ParseProtocolError {}

impl FromStr for Http {
    type Err = ParseProtocolError;
    fn from_str(s: &str) -> Result<Self, ParseProtocolError> {
        match s {
            "1.0" => Ok(Self::Http10),
            "1.1" => Ok(Self::Http11),
            "2" => Ok(Self::Http2),
            "phttp" => Ok(Self::Persistent),
            _ => Err(ParseProtocolError { input: s.to_owned(), expected: "1.0, 1.1, 2 or phttp" }),
        }
    }
}

impl FromStr for ServerModel {
    type Err = ParseProtocolError;
    fn from_str(s: &str) -> Result<Self, ParseProtocolError> {
        match s {
            "builtin" => Ok(Self::Builtin),
            "nginx" => Ok(Self::Nginx),
            _ => Err(ParseProtocolError { input: s.to_owned(), expected: "builtin or nginx" }),
        }
    }
}

impl FromStr for ClientModel {
    type Err = ParseProtocolError;
    fn from_str(s: &str) -> Result<Self, ParseProtocolError> {
        match s {
            "loader" => Ok(Self::Loader),
            "chromium" => Ok(Self::Chromium),
            _ => Err(ParseProtocolError { input: s.to_owned(), expected: "loader or chromium" }),
        }
    }
}

impl FromStr for Tls {
    type Err = ParseProtocolError;
    fn from_str(s: &str) -> Result<Self, ParseProtocolError> {
        match s {
            "none" => Ok(Self::None),
            "1.3" => Ok(Self::Tls13),
            _ => Err(ParseProtocolError { input: s.to_owned(), expected: "none or 1.3" }),
        }
    }
}
