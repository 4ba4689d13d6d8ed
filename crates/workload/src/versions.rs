//! Protocols of a page's hosts: the version of HTTP, and TLS or none; and the models of servers.
//! [`crate::http`] has the cost of each.

use std::fmt;
use std::str::FromStr;

/// Rules by which requests and responses share connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Http {
    /// A connection per object, closed by the server after its response (RFC 1945).
    Http10,
    /// A few kept-alive connections per host, one request at a time on each (RFC 9112 §9.3).
    Http11,
    /// One connection per host that carries all responses interleaved (RFC 9113).
    Http2,
    /// One connection per host over QUIC, whose responses are streams: a loss delays only those
    /// that it hits. TLS 1.3 is part of it (RFC 9114).
    Http3,
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
            Self::Http3 => "3",
            Self::Persistent => "phttp",
        })
    }
}

/// Security of the transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tls {
    /// No TLS.
    None,
    /// TLS 1.2 with a full handshake: two round trips and a certificate (RFC 5246 §7.3).
    Tls12,
    /// TLS 1.3 with a full handshake: one round trip and a certificate (RFC 8446 §2).
    Tls13,
    /// TLS 1.3 resumed with early data: the first requests go with the ClientHello (RFC 8446 §2.3).
    ZeroRtt,
}

impl Tls {
    /// Bytes around the plaintext of a record. TLS 1.3: header 5, content type 1, authentication
    /// tag 16 (RFC 8446 §5.2; AES-GCM). TLS 1.2: header 5, explicit nonce 8, tag 16 (RFC 5288 §3).
    pub const fn record_overhead(self) -> u64 {
        match self {
            Self::None => 0,
            Self::Tls12 => 29,
            Self::Tls13 | Self::ZeroRtt => 22,
        }
    }
}

impl fmt::Display for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::None => "none",
            Self::Tls12 => "1.2",
            Self::Tls13 => "1.3",
            Self::ZeroRtt => "0rtt",
        })
    }
}

/// Web server that a simulated one imitates. It decides the sizes and the order of the writes to a
/// connection's TCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ServerModel {
    /// The project's own: all that may be written at a moment is one write, the urgent first,
    /// without Nagle's algorithm.
    #[default]
    Builtin,
    /// nginx 1.22 as it comes, in the clear with `sendfile`: headers are writes of their own,
    /// responses follow one another, and `TCP_NODELAY` and `TCP_CORK` change as it writes.
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

/// A word that names no protocol; says which do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseProtocolError {
    input: String,
    expected: &'static str,
}

impl ParseProtocolError {
    /// Creates an error: `input` is none of the words `expected`.
    pub(crate) fn new(input: &str, expected: &'static str) -> Self {
        Self { input: input.to_owned(), expected }
    }
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
            "3" => Ok(Self::Http3),
            "phttp" => Ok(Self::Persistent),
            _ => Err(ParseProtocolError::new(s, "1.0, 1.1, 2, 3 or phttp")),
        }
    }
}

impl FromStr for ServerModel {
    type Err = ParseProtocolError;
    fn from_str(s: &str) -> Result<Self, ParseProtocolError> {
        match s {
            "builtin" => Ok(Self::Builtin),
            "nginx" => Ok(Self::Nginx),
            _ => Err(ParseProtocolError::new(s, "builtin or nginx")),
        }
    }
}

impl FromStr for Tls {
    type Err = ParseProtocolError;
    fn from_str(s: &str) -> Result<Self, ParseProtocolError> {
        match s {
            "none" => Ok(Self::None),
            "1.2" => Ok(Self::Tls12),
            "1.3" => Ok(Self::Tls13),
            "0rtt" => Ok(Self::ZeroRtt),
            _ => Err(ParseProtocolError::new(s, "none, 1.2, 1.3 or 0rtt")),
        }
    }
}
