//! The status page: connections, paths and memory, as JSON (`snapshot`) and for people (`page`).

mod page;
mod snapshot;

use crate::answer::{body_in_memory, text, unavailable_page};
use crate::body::AnyBody;
use crate::site::Site;
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Method, Response, StatusCode};
use snapshot::Snapshot;

/// Path of the status page; `status.json` beside it is for machines.
pub const STATUS_PATH: &str = "/.headstart/";
const JSON: &str = "status.json";
/// Interval after which a browser that shows the page reloads it, seconds.
const REFRESH: (HeaderName, HeaderValue) =
    (HeaderName::from_static("refresh"), HeaderValue::from_static("2"));

/// Answers a request for something below [`STATUS_PATH`].
pub(crate) async fn respond(site: &Site, method: &Method, path: &str) -> Response<AnyBody> {
    if ![Method::GET, Method::HEAD].contains(method) {
        let mut refused = text(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD, please\n");
        refused.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return refused;
    }
    let render: fn(&Snapshot) -> (Vec<u8>, &'static str) = match path.strip_prefix(STATUS_PATH) {
        Some("") => |snapshot| (page::html(snapshot).into_bytes(), "text/html; charset=utf-8"),
        Some(JSON) => |snapshot| (snapshot.to_json(), "application/json"),
        _ => return text(StatusCode::NOT_FOUND, "there are / and status.json here\n"),
    };
    let status = match site.endpoint.status().await {
        Ok(status) => status,
        Err(error) => return unavailable_page(&error),
    };
    let (bytes, mime) = render(&Snapshot::new(site, &status));
    let mut response = Response::new(body_in_memory(bytes.into()));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(mime));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if path == STATUS_PATH {
        headers.insert(REFRESH.0, REFRESH.1);
    }
    response
}
