//! Bodies of responses that report their end.

use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::{Method, StatusCode};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// A response that is over, for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedResponse {
    /// Address of the client.
    pub peer: SocketAddr,
    /// Method of the request.
    pub method: Method,
    /// Path of the request, as it was written.
    pub path: String,
    /// Status of the answer.
    pub status: StatusCode,
    /// Kind of its content.
    pub content: &'static str,
    /// Its weight among the client's connections, where that matters.
    pub weight: Option<u32>,
    /// Bytes of the body that the transport was given.
    pub sent: u64,
    /// Bytes of the body.
    pub length: u64,
}

impl EndedResponse {
    /// All of the body was given to the transport.
    pub const fn is_complete(&self) -> bool {
        self.sent == self.length
    }
}

impl fmt::Display for EndedResponse {
    /// One line: `192.0.2.7:40123 GET /logo.png 200 51234 bytes image weight 3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { peer, method, path, status, content, sent, length, .. } = self;
        write!(f, "{peer} {method} {path} {} ", status.as_u16())?;
        match self.is_complete() {
            true => write!(f, "{sent} bytes {content}")?,
            false => write!(f, "{sent} of {length} bytes {content}, given up")?,
        }
        self.weight.map_or(Ok(()), |weight| write!(f, " weight {weight}"))
    }
}

/// Receiver of reports on ended responses.
pub(crate) type OnResponse = Arc<dyn Fn(&EndedResponse) + Send + Sync>;

/// Any body of ours.
pub(crate) type AnyBody = UnsyncBoxBody<Bytes, io::Error>;

/// A body whose end is reported, whether it was sent or the client has gone.
pub(crate) struct ReportedBody {
    body: AnyBody,
    ended: EndedResponse,
    listener: OnResponse,
}

impl ReportedBody {
    pub(crate) fn new(body: AnyBody, ended: EndedResponse, listener: &OnResponse) -> Self {
        Self { body, ended, listener: Arc::clone(listener) }
    }
}

impl Body for ReportedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            self.ended.sent += frame.data_ref().map_or(0, |data| data.len() as u64);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for ReportedBody {
    /// Only now is it certain: hyper does not poll a body of known length at its end.
    fn drop(&mut self) {
        (self.listener)(&self.ended);
    }
}
