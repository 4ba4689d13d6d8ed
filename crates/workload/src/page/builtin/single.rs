//! A page with a single object.

use crate::Http;
use crate::page::{Object, ObjectKind, Page, PageHost};

impl Page {
    /// A document of `body_bytes` bytes, 1 to 2^40, over HTTP/1.1 without TLS: a request of 100
    /// bytes, a header of 200, no think time.
    ///
    /// # Panics
    /// If it is larger than that.
    pub fn single(body_bytes: u64) -> Self {
        let host = PageHost::plain("server.example", Http::Http11);
        let object =
            Object { request_bytes: 100, ..Object::plain("object", ObjectKind::Html, body_bytes) };
        let name = match body_bytes % 1000 {
            0 => format!("{} KB", body_bytes / 1000),
            _ => format!("{body_bytes} B"),
        };
        Self::new(name, vec![host], vec![object]).expect("one object is a page")
    }
}
