//! Answers in HTTP, over any stream, for clients to whom bytes have to mean something.
//!
//! What nginx would serve ([`crate::site`]): at the path of an object as many bytes as its answer is
//! modelled to have, header and framing included. It does not think.

use super::Knobs;
use crate::exchange::{Exchange, Part};
use crate::filler;
use crate::here::Here;
use crate::site;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::header::HeaderValue;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::future::ready;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite};
use workload::{HostId, Http};

/// Bytes of an answer's header in HTTP/1.1 but for the padding's: status 17, Date 37, Content-Length of a number of five
/// digits 23, an empty line 2, the padding's name and end 9. In HTTP/2 some 30 less.
const BARE: u64 = 88;
/// Printable, and as long as whatever stands for other servers' headers.
static PADDING: [u8; 256] = [b'X'; 256];

/// Serves one connection of a host to its end.
pub(super) async fn serve<S>(
    exchange: &Exchange,
    host: HostId,
    (stream, knobs): (S, impl Knobs),
) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
    let service = |request: Request<Incoming>| {
        ready(Ok::<_, Infallible>(answer(exchange, (host, request.uri().path()), &knobs)))
    };
    let stream = TokioIo::new(stream);
    let served = match exchange.protocol(host).http {
        Http::Http2 => {
            http2::Builder::new(Here).serve_connection(stream, service_fn(service)).await
        }
        _ => http1::Builder::new().serve_connection(stream, service_fn(service)).await,
    };
    served.map_err(io::Error::other)
}

/// The object at a path; whoever has the connection is told of it.
fn answer(
    exchange: &Exchange,
    (host, path): (HostId, &str),
    knobs: &impl Knobs,
) -> Response<Filling> {
    let protocol = exchange.protocol(host);
    let head = site::head_bytes(protocol);
    let Some(object) = exchange.object_at(path).filter(|object| object.host == host) else {
        let mut nothing = Response::new(Filling(0));
        *nothing.status_mut() = StatusCode::NOT_FOUND;
        return nothing;
    };
    let bytes = protocol.response_bytes(&object);
    knobs.announce(&Part { bytes, kind: Some(object.kind), begins: Some(bytes) });
    let mut answer = Response::new(Filling(bytes.saturating_sub(head)));
    let padding = &PADDING[..head.saturating_sub(BARE).min(PADDING.len() as u64) as usize];
    if let Ok(padding) = HeaderValue::from_bytes(padding) {
        answer.headers_mut().insert("x-pad", padding);
    }
    answer
}

/// So many bytes without meaning.
struct Filling(u64);

impl Body for Filling {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let chunk = filler::chunk(self.0);
        self.0 -= chunk.len() as u64;
        let frame = (!chunk.is_empty()).then(|| Frame::data(Bytes::from_static(chunk)));
        Poll::Ready(frame.map(Ok))
    }

    fn is_end_stream(&self) -> bool {
        self.0 == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0)
    }
}
