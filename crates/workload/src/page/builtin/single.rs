//! One object by itself.

use crate::page::{Discovery, Host, HostId, Kind, Object, Page};
use crate::{Http, Tls};
use units::Duration;

impl Page {
    /// A document of so many bytes, 1 to 2^40, over HTTP/1.1 without TLS: a request of 100 bytes, a header of 200, no think
    /// time.
    ///
    /// # Panics
    /// If it is larger than that.
    pub fn single(body_bytes: u64) -> Self {
        let host = Host {
            name: "server.example".to_owned(),
            http: Http::Http11,
            tls: Tls::None,
            http10_connections: Host::UNLIMITED,
        };
        let object = Object {
            label: "object".to_owned(),
            host: HostId(0),
            kind: Kind::Html,
            request_bytes: 100,
            response_header_bytes: 200,
            body_bytes,
            server_wait: Duration::ZERO,
            discovery: Discovery::AtStart,
        };
        let name = match body_bytes % 1000 {
            0 => format!("{} KB", body_bytes / 1000),
            _ => format!("{body_bytes} B"),
        };
        Self::new(name, vec![host], vec![object]).expect("one object is a page")
    }
}
