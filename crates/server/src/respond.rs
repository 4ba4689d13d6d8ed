//! One request and its answer; the transport learns of the answer before it is written.

use crate::answer::{body_in_memory, text};
use crate::body::{AnyBody, EndedResponse, ReportedBody};
use crate::regard::content_name;
use crate::site::{Open, Site};
use crate::{status, timing};
use http_body_util::BodyExt;
use hyper::body::{Body, Bytes};
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use workload::ObjectKind;

const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

/// Answers a request.
pub(crate) async fn respond<B>(
    site: Arc<Site>,
    open: Arc<Open>,
    request: Request<B>,
) -> Result<Response<ReportedBody>, Infallible> {
    site.requests.fetch_add(1, Ordering::Relaxed);
    let (parts, _) = request.into_parts();
    let (method, path) = (parts.method.clone(), parts.uri.path().to_owned());
    let asks_status = path.starts_with(status::STATUS_PATH);
    let mut response = match asks_status && site.status.allows(open.peer.ip()) {
        true => status::respond(&site, &method, &path).await,
        false => from_files(&site, Request::from_parts(parts, ())).await,
    };
    add_timing(&open, response.headers_mut()).await;
    Ok(announce(&site, &open, method, path, response))
}

async fn from_files(site: &Site, request: Request<()>) -> Response<AnyBody> {
    let path = request.uri().path().to_owned();
    let response = match site.files.serve_file(request).await {
        Ok(response) => response,
        Err(_) => return text(StatusCode::INTERNAL_SERVER_ERROR, "the file cannot be read\n"),
    };
    let status = response.status();
    match (status, response.map(|body| body.map(BodyExt::boxed_unsync))) {
        (StatusCode::NOT_FOUND, _) => text(status, &format!("there is no {path} here\n")),
        (StatusCode::METHOD_NOT_ALLOWED, response) => {
            let mut answer = text(status, "only GET and HEAD, please\n");
            answer.headers_mut().extend(response.into_parts().0.headers);
            answer
        }
        (_, response) => response.map(|body| body.unwrap_or_else(|| body_in_memory(Bytes::new()))),
    }
}

async fn add_timing(open: &Open, headers: &mut HeaderMap) {
    let Some(info) = open.handle.info().await else { return };
    if let Ok(value) = HeaderValue::try_from(timing::header(&info)) {
        headers.insert(SERVER_TIMING, value);
    }
}

/// Announces the response to the transport.
fn announce(
    site: &Site,
    open: &Open,
    method: Method,
    path: String,
    response: Response<AnyBody>,
) -> Response<ReportedBody> {
    let kind = kind_of(&response);
    let weight = site.set_response_kind(open, kind);
    let length = match method {
        Method::HEAD => 0,
        _ => length_of(&response),
    };
    open.handle.set_size(head_length(&response) + length);
    let (peer, status, content) = (open.peer, response.status(), content_name(kind));
    let ended = EndedResponse { peer, method, path, status, content, weight, sent: 0, length };
    response.map(|body| ReportedBody::new(body, ended, &site.listener))
}

/// Bytes of the body: from the header for a file, and from the body itself for one in memory.
fn length_of(response: &Response<AnyBody>) -> u64 {
    let field = response.headers().get(CONTENT_LENGTH);
    let answer = field.and_then(|length| length.to_str().ok()?.parse().ok());
    answer.or_else(|| response.body().size_hint().exact()).unwrap_or(0)
}

fn kind_of(response: &Response<AnyBody>) -> ObjectKind {
    let mime = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    match (response.status().is_success(), mime) {
        (true, Some(mime)) => ObjectKind::of_mime(mime),
        _ => ObjectKind::Other,
    }
}

/// Bytes of the status line and the header fields as HTTP/1.1 has them, with a date and an end.
fn head_length(response: &Response<AnyBody>) -> u64 {
    const DATE: usize = "date: Sun, 06 Nov 1994 08:49:37 GMT\r\n".len();
    let reason = response.status().canonical_reason().unwrap_or_default();
    let line = "HTTP/1.1 200 \r\n".len() + reason.len();
    let fields = response.headers().iter();
    let fields = fields.map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    (line + fields.sum::<usize>() + DATE + "\r\n".len()) as u64
}
