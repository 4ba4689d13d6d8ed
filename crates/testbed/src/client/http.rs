//! A connection to a server that speaks HTTP, as the loader wants it loaded.
//!
//! The loader's spans become requests of the same length. A browser's messages that open TLS become
//! a request whose answer is as long as the server's part, so nothing is encrypted and no time goes
//! into it. A server of this kind does not think: the client waits that long before it asks.

use super::frames::{Arrivals, Frames};
use super::together::Together;
use crate::exchange::{Exchange, NewConnection, Order};
use crate::local_executor::LocalExecutor;
use crate::site::{self, FINISHED, FLIGHT};
use crate::timer;
use http_body_util::{BodyExt, Empty};
use hyper::body::{Body, Bytes, Incoming};
use hyper::client::conn::{http1, http2};
use hyper::header::HeaderValue;
use hyper::{Request, Response, Version};
use hyper_util::rt::TokioIo;
use std::io;
use tokio::net::TcpStream;
use tokio::task::spawn_local;
use workload::{
    HTTP2_CLIENT_OPENING, Http, LoadConnId, Protocol, Span, SpanContent, TLS12_SERVER_FINISHED,
};

/// Bytes of a request without padding: request line or pseudo header, host.
const BARE: u64 = 50;
/// Servers refuse longer headers.
const MAX_PADDING: u64 = 60_000;
/// The largest window of HTTP/2 (RFC 9113 §6.9.1): TCP's is to be the only limit.
const WINDOW: u32 = (1 << 31) - 1;

type NoBody = Empty<Bytes>;

/// Serves one established connection, to its end.
pub(super) async fn serve_connection(
    exchange: &Exchange,
    mut opening: NewConnection,
    stream: TcpStream,
) -> io::Result<()> {
    let protocol = exchange.protocol(opening.host);
    let arrivals = Arrivals::default();
    let line = Line {
        exchange: exchange.clone(),
        conn: opening.conn,
        protocol,
        arrivals: arrivals.clone(),
    };
    let mut sender = Sender::open(stream, protocol, &arrivals).await?;
    exchange.on_connected(opening.conn);
    let mut ahead = 0;
    while let Some(Order::Write(span)) = opening.orders.recv().await {
        // Bytes sent without a question travel with the first request.
        if span.content == SpanContent::Opening {
            ahead += span.bytes;
            continue;
        }
        let span = Span { bytes: span.bytes + std::mem::take(&mut ahead), ..span };
        match &mut sender {
            Sender::InTurn(sender) => {
                line.send_request(span, RequestMethod::InTurn(sender)).await?
            }
            Sender::Interleaved(sender) => {
                let (line, mut sender) = (line.clone(), sender.clone());
                spawn_local(async move {
                    if line
                        .send_request(span, RequestMethod::Interleaved(&mut sender))
                        .await
                        .is_err()
                    {
                        line.exchange.on_closed(line.conn);
                    }
                });
            }
        }
    }
    Ok(())
}

/// The way to ask.
enum Sender {
    InTurn(http1::SendRequest<NoBody>),
    Interleaved(http2::SendRequest<NoBody>),
}

enum RequestMethod<'a> {
    InTurn(&'a mut http1::SendRequest<NoBody>),
    Interleaved(&'a mut http2::SendRequest<NoBody>),
}

impl RequestMethod<'_> {
    /// The answer, and its stream where answers have one.
    async fn send(
        self,
        request: Request<NoBody>,
        arrivals: &Arrivals,
    ) -> hyper::Result<(Response<Incoming>, Option<u32>)> {
        match self {
            Self::InTurn(sender) => {
                sender.ready().await?;
                Ok((sender.send_request(request).await?, None))
            }
            Self::Interleaved(sender) => {
                sender.ready().await?;
                // Requests are sent in the order of these calls.
                let answer = sender.send_request(request);
                let stream = arrivals.open();
                Ok((answer.await?, Some(stream)))
            }
        }
    }
}

impl Sender {
    async fn open(stream: TcpStream, protocol: Protocol, arrivals: &Arrivals) -> io::Result<Self> {
        if protocol.http == Http::Http2 {
            let stream = TokioIo::new(Together::new(
                stream,
                HTTP2_CLIENT_OPENING,
                Frames::new(arrivals.clone()),
            ));
            let mut builder = http2::Builder::new(LocalExecutor);
            builder.initial_stream_window_size(WINDOW).initial_connection_window_size(WINDOW);
            let (sender, connection) = builder.handshake(stream).await.map_err(io::Error::other)?;
            // Its end shows in the state of the requests.
            spawn_local(async move { drop(connection.await) });
            return Ok(Self::Interleaved(sender));
        }
        let (sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
        spawn_local(async move { drop(connection.await) });
        Ok(Self::InTurn(sender))
    }
}

/// A connection, for the requests on it.
#[derive(Clone)]
struct Line {
    exchange: Exchange,
    conn: LoadConnId,
    protocol: Protocol,
    arrivals: Arrivals,
}

impl Line {
    /// Sends a request as long as the span, and reports the answer's progress to the loader.
    async fn send_request(&self, span: Span, by: RequestMethod<'_>) -> io::Result<()> {
        let (path, content, payload) = match span.content {
            SpanContent::Request(id) => {
                let object = self.exchange.object(id);
                let begin = self.exchange.clock().now() + object.server_wait;
                timer::sleep_until(self.exchange.clock(), Some(begin)).await;
                let payload = object.response_header_bytes.saturating_add(object.body_bytes);
                (site::path(id), SpanContent::Response(id), payload)
            }
            SpanContent::ClientKeys => {
                (FINISHED.to_owned(), SpanContent::ServerFinished, TLS12_SERVER_FINISHED)
            }
            _ => (FLIGHT.to_owned(), SpanContent::ServerFlight, self.protocol.server_flight()),
        };
        let request = self.request(&path, span.bytes)?;
        let sent = by.send(request, &self.arrivals).await;
        let (answer, stream) = sent.map_err(io::Error::other)?;
        if !answer.status().is_success() {
            return Err(io::Error::other(format!("{path}: {}", answer.status())));
        }
        self.receive(answer.into_body(), stream, content, payload).await
    }

    fn request(&self, path: &str, bytes: u64) -> io::Result<Request<NoBody>> {
        let is_http2 = self.protocol.http == Http::Http2;
        // HTTP/2 wants the whole of it, HTTP/1 the path and a header for the host.
        let uri = if is_http2 { format!("http://server.example{path}") } else { path.to_owned() };
        let mut request = Request::builder().uri(uri);
        if !is_http2 {
            request = request.header("host", "server.example");
        }
        // TLS and the one object that it is opened for share the connection.
        if self.protocol.http == Http::Http10 && path != FLIGHT && path != FINISHED {
            request = request.version(Version::HTTP_10);
        }
        let padding = bytes.saturating_sub(BARE).min(MAX_PADDING) as usize;
        // Eight bits each in Huffman's code too (RFC 7541 §B), and never from a table.
        let mut padding =
            HeaderValue::from_bytes(&vec![b'X'; padding]).map_err(io::Error::other)?;
        padding.set_sensitive(true);
        let request = request.header("x-pad", padding);
        request.body(Empty::new()).map_err(io::Error::other)
    }

    /// The answer's bytes stand for as many of the modelled ones as the same share of all.
    async fn receive(
        &self,
        mut body: Incoming,
        stream: Option<u32>,
        content: SpanContent,
        payload: u64,
    ) -> io::Result<()> {
        let size = Body::size_hint(&body).exact().unwrap_or(0);
        let head = site::head_bytes(self.protocol);
        let (mut reported, mut whole, mut got) = (0, 0, 0);
        loop {
            let arrived = u128::from(payload) * u128::from(head + got) / u128::from(head + size);
            // A server's part of TLS means nothing before it is complete, so not even its start is
            // reported. A span of no bytes is complete.
            let is_tls = matches!(content, SpanContent::ServerFlight | SpanContent::ServerFinished);
            if !is_tls || got == size {
                let arrived = (arrived as u64).min(payload);
                self.exchange.on_delivered(self.conn, content, arrived.saturating_sub(reported));
                reported = reported.max(arrived);
            }
            tokio::select! {
                frame = body.frame() => {
                    let Some(frame) = frame else { break };
                    let frame = frame.map_err(io::Error::other)?;
                    whole += frame.data_ref().map_or(0, |data| data.len() as u64);
                }
                () = self.arrivals.wait_for_bytes() => {}
            }
            got = stream.map_or(whole, |stream| whole.max(self.arrivals.of(stream)));
        }
        match got == size {
            true => Ok(()),
            false => Err(io::Error::other(format!("{got} of {size} bytes were delivered"))),
        }
    }
}
