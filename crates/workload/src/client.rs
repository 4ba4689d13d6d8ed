//! Clients that load a page: when they open connections, and how long their own work takes.

use crate::page::ObjectKind;
use crate::versions::{Http, ParseProtocolError};
use std::fmt;
use std::str::FromStr;
use units::Duration;

/// Connections that Chromium opens to the page's first host when the load begins. Captures of
/// Chromium 156 show the second SYN 5 to 20 ms after the first, for each of four pages. Its
/// `LoadingPredictor` was off.
pub const CHROMIUM_FIRST_CONNECTIONS: usize = 2;
/// Time from the arrival of a document's references until Chromium requests them. Chromium 156
/// opened the next connections 16 to 18 ms later over 100 Mbit/s and 40 ms, and 31 ms later over 1
/// Gbit/s and 2 ms. The two cores also emulated the path and ran the server.
pub const CHROMIUM_DOCUMENT_WORK: Duration = Duration::from_millis(20);

/// Client that the page loader imitates. It decides when connections are opened, and how long the
/// client's own work takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ClientModel {
    /// The project's own: it opens a connection when an object needs one, and takes no time to read
    /// a document.
    #[default]
    Loader,
    /// Chromium over HTTP/1.1: it opens [`CHROMIUM_FIRST_CONNECTIONS`] to the page's first host at
    /// once, and takes [`CHROMIUM_DOCUMENT_WORK`] to read a document.
    Chromium,
}

impl ClientModel {
    /// Connections that it opens to the page's first host before it knows of any object.
    pub(crate) const fn first_connections(self, http: Http) -> usize {
        match (self, http) {
            (Self::Chromium, Http::Http11) => CHROMIUM_FIRST_CONNECTIONS,
            _ => 0,
        }
    }

    /// Time that the client takes to read an object before it requests the objects that it reveals.
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

impl FromStr for ClientModel {
    type Err = ParseProtocolError;
    fn from_str(s: &str) -> Result<Self, ParseProtocolError> {
        match s {
            "loader" => Ok(Self::Loader),
            "chromium" => Ok(Self::Chromium),
            _ => Err(ParseProtocolError::new(s, "loader or chromium")),
        }
    }
}
