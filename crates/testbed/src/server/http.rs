//! Answers in HTTP, over any stream, for clients that interpret the bytes.
//!
//! It serves the answers of nginx ([`crate::site`]): at the path of an object, the modelled size of
//! its answer, including header and framing. It thinks, and bodies mean something, where the client
//! is a browser.

use super::ServerSocketOptions;
use crate::client_protocol::ClientProtocol;
use crate::documents;
use crate::exchange::{Exchange, Part};
use crate::local_executor::LocalExecutor;
use crate::padding;
use crate::site;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue, LOCATION};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite};
use workload::{HostId, Http, ObjectId, ObjectKind};

/// Bytes of an answer's header in HTTP/1.1 without the padding's value. The status has 17, Date 37,
/// Content-Length of a number of five digits 23, an empty line 2, the padding's name and end 9. In
/// HTTP/2 the header is some 30 bytes shorter.
const BARE: u64 = 88;
/// Printable, and as long as whatever stands for other servers' headers.
static PADDING: [u8; 256] = [b'X'; 256];

/// Serves one connection of a host to its end.
pub(super) async fn serve<S>(
    exchange: &Exchange,
    host: HostId,
    stream: S,
    options: impl ServerSocketOptions + 'static,
) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
    let served = Rc::new((exchange.clone(), options));
    let service = |request: Request<Incoming>| {
        let served = Rc::clone(&served);
        async move {
            let (exchange, options) = &*served;
            let path = request.uri().path();
            sleep_server_wait(exchange, path).await;
            Ok::<_, Infallible>(object_response(exchange, host, path, options))
        }
    };
    let stream = TokioIo::new(stream);
    let outcome = match exchange.protocol(host).http {
        Http::Http2 => {
            http2::Builder::new(LocalExecutor).serve_connection(stream, service_fn(service)).await
        }
        _ => http1::Builder::new().serve_connection(stream, service_fn(service)).await,
    };
    outcome.map_err(io::Error::other)
}

/// Servers of documents take their time, as simulated ones do.
async fn sleep_server_wait(exchange: &Exchange, path: &str) {
    if exchange.client_protocol() != ClientProtocol::Documents {
        return;
    }
    if let Some(object) = exchange.object_at(path).filter(|object| !object.server_wait.is_zero()) {
        let clock = exchange.clock();
        crate::timer::sleep_until(clock, Some(clock.now() + object.server_wait)).await;
    }
}

/// The object at a path; its size is announced to the connection's owner.
fn object_response(
    exchange: &Exchange,
    host: HostId,
    path: &str,
    options: &impl ServerSocketOptions,
) -> Response<Filling> {
    let protocol = exchange.protocol(host);
    let head = site::head_bytes(protocol);
    let Some(object) = exchange.object_at(path).filter(|object| object.host == host) else {
        let mut nothing = Response::new(Filling::of(0));
        *nothing.status_mut() = StatusCode::NOT_FOUND;
        return nothing;
    };
    let bytes = protocol.response_bytes(&object);
    options.announce(&Part { bytes, kind: Some(object.kind), begins: Some(bytes) });
    let body = site::body_bytes(protocol, &object);
    let mut answer = match exchange.client_protocol() {
        ClientProtocol::Documents => document(exchange, path, body),
        _ => Response::new(Filling::of(body)),
    };
    let own: usize = answer.headers().iter().map(|(name, value)| line_bytes(name, value)).sum();
    let padding = head.saturating_sub(BARE).saturating_sub(own as u64).min(PADDING.len() as u64);
    if let Ok(padding) = HeaderValue::from_bytes(&PADDING[..padding as usize]) {
        answer.headers_mut().insert("x-pad", padding);
    }
    answer
}

/// A line of a header in HTTP/1.1: name, colon, space, value and end.
fn line_bytes(name: &HeaderName, value: &HeaderValue) -> usize {
    name.as_str().len() + 2 + value.len() + 2
}

/// The document at a path that a browser can read, `bytes` long.
fn document(exchange: &Exchange, path: &str, bytes: u64) -> Response<Filling> {
    let page = exchange.page();
    let id = page.ids().find(|id| site::path(*id) == path).unwrap_or(ObjectId::ROOT);
    let kind = page.object(id).kind;
    let body = documents::document_body(&page, id, bytes, &|id| exchange.address(id));
    let mut answer = Response::new(Filling { says: body.into(), padding: 0 });
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(documents::media_type(kind)));
    // Another port is another origin, whose objects' sizes the browser would not report.
    headers.insert("timing-allow-origin", HeaderValue::from_static("*"));
    let next = page.children(id).first().filter(|_| kind == ObjectKind::Redirect);
    if let Some(next) = next
        && let Ok(address) = HeaderValue::from_str(&exchange.address(*next))
    {
        headers.insert(LOCATION, address);
        *answer.status_mut() = StatusCode::FOUND;
    }
    answer
}

/// Meaningful bytes, followed by padding.
struct Filling {
    says: Bytes,
    padding: u64,
}

impl Filling {
    /// A body of padding alone.
    const fn of(padding: u64) -> Self {
        Self { says: Bytes::new(), padding }
    }
}

impl Body for Filling {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if !self.says.is_empty() {
            return Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut self.says)))));
        }
        let chunk = padding::chunk(self.padding);
        self.padding -= chunk.len() as u64;
        let frame = (!chunk.is_empty()).then(|| Frame::data(Bytes::from_static(chunk)));
        Poll::Ready(frame.map(Ok))
    }

    fn is_end_stream(&self) -> bool {
        self.says.is_empty() && self.padding == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.says.len() as u64 + self.padding)
    }
}
