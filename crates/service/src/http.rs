//! Serves a router by plain HTTP/1 to unknown peers, so with bounds: of connections in
//! all and of one peer, and of the time to a request's header. Silent peers keep neither others out
//! nor a service without file descriptors.

use crate::slots::{PeerSlot, PeerSlots, SlotLimits};
use axum::Router;
use axum::serve::Listener;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;

/// Longest time to a whole header, from the beginning of the connection or the end of the last
/// response. Scrapers send theirs at once.
const HEADER: Duration = Duration::from_secs(10);

/// Bounds of the pages of a service: for scrapers and some browsers, each with six connections at
/// most.
pub const HTTP_LIMITS: SlotLimits = SlotLimits { all: 128, of_peer: 64 };

/// Serves `router` until `stop` completes, and then until the responses under way have ended.
/// `peer` gives the address by which connections are bounded.
pub async fn serve<L: Listener>(
    mut listener: L,
    router: Router,
    peer: impl Fn(&L::Addr) -> IpAddr,
    stop: impl Future<Output = ()>,
) {
    let slots = Arc::new(PeerSlots::new(HTTP_LIMITS));
    let (mut open, mut stop) = (JoinSet::new(), pin!(stop));
    loop {
        tokio::select! {
            (stream, address) = listener.accept() => {
                open.spawn(answer(stream, router.clone(), slots.enter(peer(&address))));
            }
            Some(_) = open.join_next() => {}
            () = &mut stop => break,
        }
    }
    drop(listener);
    while open.join_next().await.is_some() {}
}

async fn answer(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    router: Router,
    mut slot: PeerSlot,
) {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    tokio::select! {
        // The peer knows why its connection has ended.
        _ = connection => {}
        () = slot.lost() => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::get;
    use std::net::SocketAddr;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::time::Instant;

    /// A server of one page that calls the peer of each connection by the number that `peer` makes
    /// of its port.
    async fn server(peer: fn(u16) -> u8) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/", get(async || "page"));
        let peer = move |address: &SocketAddr| IpAddr::from([192, 0, 2, peer(address.port())]);
        tokio::spawn(serve(listener, router, peer, std::future::pending()));
        address
    }

    async fn connect(address: SocketAddr) -> TcpStream {
        TcpStream::connect(address).await.unwrap()
    }

    async fn page(address: SocketAddr) -> String {
        let (mut stream, mut text) = (connect(address).await, String::new());
        stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
        stream.read_to_string(&mut text).await.unwrap();
        text
    }

    /// Connections that the server has closed.
    fn closed(streams: &[TcpStream]) -> usize {
        streams
            .iter()
            .filter(|stream| stream.try_read(&mut [0]).is_ok_and(|read| read == 0))
            .count()
    }

    /// 200 connections say nothing: of one peer 64 stay, of all together 128. The page is served
    /// nevertheless, for which one more goes.
    #[tokio::test]
    async fn silent_connections_are_bounded_and_keep_nobody_out() {
        for (peer, stay) in [(one_peer as fn(u16) -> u8, 64), (many_peers, 128)] {
            let address = server(peer).await;
            let mut silent = Vec::new();
            for _ in 0..200 {
                silent.push(connect(address).await);
            }
            assert!(page(address).await.ends_with("page"));
            let deadline = Instant::now() + Duration::from_secs(5);
            while closed(&silent) < 200 - stay + 1 && Instant::now() < deadline {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            assert_eq!(closed(&silent), 200 - stay + 1);
        }
    }

    const fn one_peer(_port: u16) -> u8 {
        1
    }

    /// 200 ports lie near each other: no peer has 64 of them.
    const fn many_peers(port: u16) -> u8 {
        (port % 128) as u8
    }

    /// Half a header is no header, and an idle connection ends in the same time.
    #[tokio::test]
    async fn a_header_that_does_not_end_is_waited_for_ten_seconds() {
        let address = server(one_peer).await;
        let (mut silent, mut slow) = (connect(address).await, connect(address).await);
        slow.write_all(b"GET / HTTP/1.1\r\nhost: x").await.unwrap();
        let begun = Instant::now();
        for stream in [&mut silent, &mut slow] {
            let _ = stream.read_to_end(&mut Vec::new()).await;
            let seconds = begun.elapsed().as_secs_f64();
            assert!((9.9..13.0).contains(&seconds), "{seconds}");
        }
    }
}
