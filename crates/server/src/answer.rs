//! Answers from memory: a few words, or bytes.

use crate::body::AnyBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use std::io;

const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// A short answer of ours.
pub(crate) fn text(status: StatusCode, words: &str) -> Response<AnyBody> {
    let mut response = Response::new(body_in_memory(Bytes::copy_from_slice(words.as_bytes())));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, TEXT);
    response
}

/// A body in memory.
pub(crate) fn body_in_memory(bytes: Bytes) -> AnyBody {
    Full::new(bytes).map_err(|never| match never {}).boxed_unsync()
}

/// Answer for a page that is not available now.
pub(crate) fn unavailable_page(error: &io::Error) -> Response<AnyBody> {
    text(StatusCode::SERVICE_UNAVAILABLE, &format!("{error}\n"))
}
