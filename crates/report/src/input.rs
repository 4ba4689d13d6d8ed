//! Input of a race's report: plain public structs.
//!
//! Every [`Instant`] counts from the moment the page load begins, which is [`Instant::ZERO`]; the
//! caller shifts a simulator's clock accordingly. Sizes are bytes. Strings may come from outside
//! (titles, URLs and hosts of a HAR file): they are cleaned and escaped on output, never trusted.

use crate::{Colour, Links, Role, Section, Table};
use std::borrow::Cow;
use units::{Duration, Instant};

/// One race: a page, a path, and how each scheme loaded the one over the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RaceReport {
    /// Headline, such as `news.example over cable`.
    pub title: String,
    /// Assumptions, which a reader opens, one fact a line: page, path, HTTP and TLS, seed, repeats,
    /// and which entries of the page were skipped and why.
    pub assumptions: Vec<String>,
    /// The result in sentences, above everything else.
    pub words: Vec<String>,
    /// Words of the report and their meanings, which a reader opens.
    pub glossary: Vec<String>,
    /// Sections above the results, such as the critical path.
    pub lead: Vec<Section>,
    /// Index of the scheme whose page load stands above the results. If there is no such scheme, no
    /// load stands there.
    pub leading: usize,
    /// The results; [`Table::race`] builds the usual columns.
    pub table: Table,
    /// Sections below the results, such as milestones or worlds side by side.
    pub sections: Vec<Section>,
    /// One load per scheme, in the order to be shown. With repeats: the load of the first seed.
    pub schemes: Vec<SchemeView>,
    /// Description of these loads, such as "first of 7 repeats"; empty if there are no others.
    pub which_loads: String,
    /// Indices of two schemes whose loads are shown row by row beside each other at first; a reader
    /// may choose others. With `None`, or an index out of range, there is no such section.
    pub compared: Option<(usize, usize)>,
    /// The physical bound with which the schemes are compared.
    pub limit: LimitView,
    /// Words of its texts that are links.
    pub links: Links,
}

/// The earliest possible completion of the same page on the same path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LimitView {
    /// Earliest time at which the last byte of the main document can be delivered.
    pub document: Option<Instant>,
    /// Earliest end of the load.
    pub page: Option<Instant>,
    /// The limit's own schedule of objects; may be empty, then only the two instants are drawn.
    pub objects: Vec<ObjectSpan>,
}

/// One page load under one scheme.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SchemeView {
    /// The scheme as the user typed it, such as "linux+iw=32"; it has one colour on the page.
    pub name: String,
    /// Name of the load among several, such as "kernel · first visit"; otherwise empty.
    pub place: String,
    /// One sentence saying what it is.
    pub description: String,
    /// Milestones of the load, each a line through its waterfall.
    pub milestones: Vec<MilestoneView>,
    /// End of the load; `None` if it never ended.
    pub page_done: Option<Instant>,
    /// The page's objects in the order of their discovery.
    pub objects: Vec<ObjectSpan>,
    /// The page's connections in the order of their opening.
    pub connections: Vec<ConnectionView>,
    /// The queues its packets passed.
    pub queues: Vec<QueueView>,
    /// The bound of this load if it is not the report's.
    pub limit: Option<LimitView>,
}

impl SchemeView {
    /// Name and load: its unique title.
    pub(crate) fn unique_title(&self) -> Cow<'_, str> {
        match self.place.is_empty() {
            true => Cow::Borrowed(&self.name),
            false => Cow::Owned(format!("{} · {}", self.name, self.place)),
        }
    }
}

/// A milestone of one load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MilestoneView {
    /// Its name, such as "document" or "DOMContentLoaded".
    pub name: String,
    /// Time of the milestone; `None` if the load has none, or the page does not know it.
    pub at: Option<Instant>,
}

/// The life of one object, revealed ≤ discovery ≤ request ≤ first byte ≤ done; `None` for what
/// never happened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectSpan {
    /// Number of the page's object: the same under every scheme.
    pub index: usize,
    /// Name of the object, usually its URL's path.
    pub label: String,
    /// The host that serves it.
    pub host: String,
    /// Kind of content, such as "html", "script", "image".
    pub kind: String,
    /// Label of the connection that carried it; empty if none did.
    pub connection: String,
    /// The handshakes of that connection, if the object waited for them.
    pub opening: Option<OpeningView>,
    /// Size of the response in bytes, header and body.
    pub bytes: u64,
    /// The object that revealed it, as its [`ObjectSpan::index`]; `None` if the load began with it.
    pub revealed_by: Option<usize>,
    /// The time for which its server thinks before the first byte.
    pub server_wait: Duration,
    /// The part of the load that waits for this object; `None` if it is not on the critical path.
    pub critical: Option<CriticalSpan>,
    /// Delivery of the byte that names the object, or start of the load; `None` if unknown. Between
    /// this time and the discovery the browser works.
    pub revealed: Option<Instant>,
    /// The client knew that it needs the object.
    pub discovered: Instant,
    /// The request was handed to a connection.
    pub requested: Option<Instant>,
    /// The first byte of the response was delivered to the client's application.
    pub first_byte: Option<Instant>,
    /// The last byte was delivered.
    pub done: Option<Instant>,
}

/// A stretch of the critical path: the load waits for one object from `from` to `to`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CriticalSpan {
    /// The wait for the object ahead of it on the path ends, or the load begins.
    pub from: Instant,
    /// The wait for the next object begins, or the load ends.
    pub to: Instant,
}

/// Times of a connection's opening: lookup ≤ opened ≤ connected ≤ ready; `None` for an event that
/// never happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpeningView {
    /// The client began to look up the name of the host; `None` if it knew the address.
    pub lookup: Option<Instant>,
    /// The client wanted it: its first packet left.
    pub opened: Instant,
    /// TCP was established.
    pub connected: Option<Instant>,
    /// So was TLS, if there is any.
    pub ready: Option<Instant>,
}

/// The data sender of one connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConnectionView {
    /// Name, unique within the scheme, such as "a.example #2".
    pub label: String,
    /// Segments and acknowledgements, in any order of time.
    pub sequence: Vec<SequencePoint>,
    /// Every recorded change of the window, in order of time.
    pub window: Vec<WindowPoint>,
    /// Bytes sent and not acknowledged after each change, in order of time.
    pub flight: Vec<LevelPoint>,
    /// The receive window that the client offered after each change, in order of time.
    pub offered: Vec<LevelPoint>,
    /// Bounds of the sender, in order of time.
    pub bounds: Vec<BoundPoint>,
}

/// A number of bytes from an instant on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelPoint {
    /// Start of the level.
    pub at: Instant,
    /// Number of bytes.
    pub bytes: u64,
}

/// The bound of a sender from an instant on; `None` while the sender has nothing to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoundPoint {
    /// Start of the bound.
    pub at: Instant,
    /// The bound.
    pub bound: Option<SenderBound>,
}

/// Kind of a sender's bound; each has one colour on all pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SenderBound {
    /// The path carried data of the page.
    Path,
    /// Its congestion window.
    CongestionWindow,
    /// The receive window that the client offered.
    ReceiveWindow,
    /// Losses not yet repaired.
    Recovery,
    /// Its server had nothing to send yet.
    Server,
    /// Signals under way: handshakes, requests, last bytes.
    Rounds,
}

impl SenderBound {
    /// All of them, in the order of legends.
    pub(crate) const ALL: [Self; 6] = [
        Self::Path,
        Self::CongestionWindow,
        Self::ReceiveWindow,
        Self::Recovery,
        Self::Server,
        Self::Rounds,
    ];

    /// Its name in legends: that of tables.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::CongestionWindow => "cwnd",
            Self::ReceiveWindow => "rwnd",
            Self::Recovery => "recovery",
            Self::Server => "server",
            Self::Rounds => "rounds",
        }
    }

    /// Its colour.
    pub(crate) const fn colour(self) -> Colour {
        Colour::Role(match self {
            Self::Path => Role::Path,
            Self::CongestionWindow => Role::Cwnd,
            Self::ReceiveWindow => Role::ReceiveWindow,
            Self::Recovery => Role::Recovery,
            Self::Server => Role::Server,
            Self::Rounds => Role::Rounds,
        })
    }
}

/// Something that happened to a range of a connection's byte stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequencePoint {
    /// Time of the event.
    pub at: Instant,
    /// First byte of the range, from the stream's beginning (no wrap).
    pub from: u64,
    /// First byte after the range.
    pub to: u64,
    /// Kind of the event.
    pub kind: SequenceKind,
}

/// Kind of an event of a range of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceKind {
    /// Sent for the first time.
    Sent,
    /// Retransmitted.
    Retransmitted,
    /// Acknowledged cumulatively: `to` is the acknowledgement number.
    Acked,
    /// Acknowledged selectively.
    Sacked,
    /// A segment carrying it was dropped on its way; `at` is when.
    Dropped,
}

/// The window after one change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowPoint {
    /// Time of the change.
    pub at: Instant,
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Slow-start threshold in bytes; `None` while infinite.
    pub ssthresh: Option<u64>,
    /// Cause of the change, such as "slow start" or "timeout"; changes of a cause share a colour.
    pub cause: Cow<'static, str>,
}

/// Content of one queue over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueView {
    /// Name, such as "access link, down".
    pub label: String,
    /// Its bound; `None` if unlimited. Decides whether packets or bytes are drawn.
    pub capacity: Option<QueueCapacity>,
    /// Occupancy after each change, in order of time.
    pub points: Vec<QueuePoint>,
    /// When it dropped a packet, in order of time.
    pub drops: Vec<Instant>,
}

/// The bound of a queue, packet in service included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueCapacity {
    /// Limit in packets.
    Packets(u64),
    /// Limit in bytes.
    Bytes(u64),
}

/// Content of a queue from an instant on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuePoint {
    /// Start of this content.
    pub at: Instant,
    /// Packets waiting and in service.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}
