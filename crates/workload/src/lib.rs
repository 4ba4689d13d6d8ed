//! Pages and their loading: the data that crosses the network, without the transport.
//!
//! A [`Page`] is data: objects, their sizes, how long a server thinks, and which byte of which
//! object reveals the next. It is built in ([`Page::builtin`]) or read from a browser's recording
//! ([`parse_har`]). A [`PageLoader`] is the browser's end of loading it, a [`ServerSession`] the
//! server's end of one connection. Both are sans-IO: they exchange byte counts with a driver, know
//! no TCP and no clock, and so are the same in virtual and in real time.
//!
//! A driver's loop, for each connection `c`:
//!
//! | event | tell | then |
//! |---|---|---|
//! | load begins | [`PageLoader::start`] | carry out [`PageLoader::poll_action`] until `None` |
//! | [`LoaderAction::Open`] | – | connect; make a [`ServerSession`] when the server accepts |
//! | established at the client | [`PageLoader::handle_connected`] | actions |
//! | [`LoaderAction::Send`] | [`ServerSession::expect`] | write `span.bytes` |
//! | bytes in order at the server | [`ServerSession::handle_received`] | make the calls that [`ServerSession::poll_call`] says, [`PageLoader::expect`] each span |
//! | unsent bytes went out at the server | – | `poll_call` again |
//! | bytes in order at the client | [`PageLoader::handle_received`] | actions |
//! | [`ServerSession::wants_close`] after a write | – | send FIN behind what is unsent |
//! | connection ended by the server | [`PageLoader::handle_closed`] | actions |
//! | `poll_timeout` of either | `handle_timeout` | as above |
//!
//! Over a network that takes no time:
//!
//! ```
//! use std::sync::Arc;
//! use units::Instant;
//! use workload::{LoaderAction, LoaderConfig, Page, PageLoader, ServerSession};
//!
//! let (page, config) = (Arc::new(Page::builtin("text").unwrap()), LoaderConfig::default());
//! let now = Instant::ZERO;
//! let mut loader = PageLoader::new(&page, &config);
//! let mut ends = Vec::new(); // per connection: server, bytes up, bytes down
//! loader.start(now);
//! while let Some(action) = loader.poll_action() {
//!     match action {
//!         LoaderAction::Open { conn, host } => {
//!             ends.push((ServerSession::new(&page, &config, host), 0, 0));
//!             loader.handle_connected(now, conn);
//!         }
//!         LoaderAction::Send { conn, span } => {
//!             let (server, up, down) = &mut ends[conn.index()];
//!             server.expect(now, span);
//!             *up += span.bytes;
//!             server.handle_received(now, *up);
//!             while let Some(span) = server.poll_write(now, 0) {
//!                 loader.expect(conn, span);
//!                 *down += span.bytes;
//!                 loader.handle_received(now, conn, *down);
//!             }
//!         }
//!         LoaderAction::Close { .. } => {}
//!     }
//! }
//! assert_eq!(loader.page_done_at(), Some(now));
//! ```
//!
//! Sizes, gaps and start times of other traffic are drawn from a [`Distribution`].
//!
//! Names are looked up if a host says how long that takes ([`PageHost::lookup`]). Requests of no
//! bytes reach the server at the instant they are announced: the papers' pages ask so, unless a
//! [`RequestModel`] says otherwise.

mod announcement;
mod client;
mod distribution;
mod har;
mod http;
mod loader;
mod page;
mod server;
mod stream;
mod versions;

pub use announcement::Announcements;
pub use client::{CHROMIUM_DOCUMENT_WORK, CHROMIUM_FIRST_CONNECTIONS, ClientModel};
pub use distribution::{Distribution, DistributionError};
pub use har::{HarError, RecordedRun, parse_har, parse_har_page, parse_har_runs};
pub use http::{
    HTTP2_CLIENT_OPENING, HTTP2_FRAME_HEADER, HTTP2_LOW_WATER, HTTP2_SERVER_OPENING, HTTP2_STREAMS,
    HTTP3_FRAME_HEADER, HTTP3_OPENING, HTTP3_STREAMS, HTTP11_CONNECTIONS, LoaderConfig,
    NGINX_HTTP1_HEADER, NGINX_HTTP2_HEADER, Protocol, QUIC_PAYLOAD, RECORD_BYTES,
    TLS_CLIENT_FINISHED, TLS_CLIENT_HELLO, TLS_RESUMED_FLIGHT, TLS_SERVER_FLIGHT,
    TLS12_CLIENT_KEYS, TLS12_SERVER_FINISHED,
};
pub use loader::{ConnectionRecord, LoadConnId, LoadError, LoaderAction, Milestones, PageLoader};
pub use page::{
    BUILTINS, Builtin, ChangeKind, Discovery, HostId, Kilobyte, LeftOut, NamingPart, Object,
    ObjectChange, ObjectId, ObjectKind, ObjectSizes, Page, PageChanges, PageError, PageHost,
    PageMilestone, RecordedFetch, RecordedHost, RecordedLoad, RequestModel, RequestOrder,
    RequestTiming, RevealEvidence, ServerTimeConfidence, VersionEvidence,
};
pub use server::{ServerSession, SocketCall};
pub use stream::{Span, SpanContent};
pub use versions::{Http, ParseProtocolError, ServerModel, Tls};
