//! One object of a page: its sizes, its server's think time, and its discovery.

use super::HostId;
use policy::sharing;
use std::fmt;
use units::Duration;

/// Object of a page: an index into [`Page::objects`](super::Page::objects). 0 is the root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub u32);

impl ObjectId {
    /// The object that the user requested.
    pub const ROOT: Self = Self(0);

    /// The index into [`Page::objects`](super::Page::objects).
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Kind of an object for a browser; decides its urgency and whether "HTML done" waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ObjectKind {
    /// A document: the page itself or a frame.
    Html,
    /// JavaScript; in the papers' pages, Java classes.
    Script,
    /// A style sheet.
    Style,
    /// Data that a script requested: JSON and the like.
    Data,
    /// A font.
    Font,
    /// A picture.
    Image,
    /// Sound or video.
    Media,
    /// An answer that only names another address (status 3xx).
    Redirect,
    /// Anything else.
    Other,
}

impl ObjectKind {
    /// The order in which browsers want responses when they compete on one connection: smaller is
    /// sooner. Resources that block rendering come first: two of the eight urgencies of RFC 9218
    /// §4.1, of which browsers use more.
    pub const fn urgency(self) -> u8 {
        match self {
            Self::Html | Self::Script | Self::Style | Self::Data | Self::Font | Self::Redirect => 0,
            Self::Image | Self::Media | Self::Other => 1,
        }
    }

    /// Kind of a MIME type, in any case and with any parameters: `text/html; charset=utf-8`.
    pub fn of_mime(mime: &str) -> Self {
        let mime = mime.to_ascii_lowercase();
        let essence = mime.split(';').next().unwrap_or_default().trim();
        match essence.split('/').next().unwrap_or_default() {
            "image" => Self::Image,
            "font" => Self::Font,
            "audio" | "video" => Self::Media,
            _ if essence.contains("html") => Self::Html,
            _ if essence.contains("css") => Self::Style,
            _ if essence.contains("javascript") || essence.contains("ecmascript") => Self::Script,
            _ if essence.contains("font") => Self::Font,
            _ if essence.contains("json") => Self::Data,
            _ => Self::Other,
        }
    }

    /// The name used in tables and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Script => "script",
            Self::Style => "style",
            Self::Data => "data",
            Self::Font => "font",
            Self::Image => "image",
            Self::Media => "media",
            Self::Redirect => "redirect",
            Self::Other => "other",
        }
    }

    /// The content that Ensemble-TCP's ticket policies see in an object of this kind. Their classes
    /// date from pages of HTML, Java and images (Eggert, Heidemann & Touch 2000 §4).
    pub const fn ticket_content(self) -> sharing::Content {
        match self {
            Self::Html | Self::Redirect => sharing::Content::Html,
            Self::Script | Self::Style | Self::Data => sharing::Content::Code,
            Self::Image | Self::Media | Self::Font => sharing::Content::Image,
            Self::Other => sharing::Content::Other,
        }
    }
}

impl fmt::Display for ObjectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Condition under which the browser discovers that it needs an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discovery {
    /// It is discovered at the start of the load.
    AtStart,
    /// `delay` after the delivery of `offset` bytes of the parent's body, in order.
    InBody {
        /// The object that reveals this one; always an earlier one.
        parent: ObjectId,
        /// Body bytes that must be delivered: 0 for "as soon as the response header is complete",
        /// the whole body for "at the end".
        offset: u64,
        /// Time the browser spends between that byte and the request (parsing, scripts).
        delay: Duration,
    },
}

/// An object that a browser requests. Sizes are bytes of HTTP as HTTP/1.x writes it; the framing of
/// HTTP/2 and TLS is added by [`Protocol`](crate::Protocol).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its address or a label; raw text of the input, not escaped.
    pub label: String,
    /// Host that serves it.
    pub host: HostId,
    /// Kind of the object.
    pub kind: ObjectKind,
    /// Size of the request; 0 means that asking costs no trip: the server starts at the instant
    /// of the request (the request model of the papers' simulations).
    pub request_bytes: u64,
    /// Size of the response's status line and header.
    pub response_header_bytes: u64,
    /// Size of the response's body as transferred.
    pub body_bytes: u64,
    /// Time between the arrival of the request at the server and the first byte of its answer.
    pub server_wait: Duration,
    /// Condition under which the browser discovers it.
    pub discovery: Discovery,
}

impl Object {
    /// An object of the page's first host, discovered at the start: a request of 300 bytes, a
    /// header of 200, no think time.
    pub fn plain(label: impl Into<String>, kind: ObjectKind, body_bytes: u64) -> Self {
        Self {
            label: label.into(),
            host: HostId(0),
            kind,
            request_bytes: 300,
            response_header_bytes: 200,
            body_bytes,
            server_wait: Duration::ZERO,
            discovery: Discovery::AtStart,
        }
    }

    /// Header and body of the response.
    pub const fn response_bytes(&self) -> u64 {
        self.response_header_bytes.saturating_add(self.body_bytes)
    }

    /// The discovery of something found where this object's body ends, `self` being `id`.
    pub const fn at_end(&self, id: ObjectId) -> Discovery {
        Discovery::InBody { parent: id, offset: self.body_bytes, delay: Duration::ZERO }
    }
}
