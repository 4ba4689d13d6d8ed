//! Serves a router by plain HTTP/1 to unknown peers. It limits connections in total and per peer,
//! and the time to a complete request header. At a limit the oldest connection is
//! closed, whether it is silent or not.

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
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Longest time to a whole header, from the beginning of the connection or the end of the last
/// response. Scrapers send theirs at once.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);

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
    let (end, ends) = watch::channel(());
    loop {
        tokio::select! {
            (stream, address) = listener.accept() => {
                let slot = slots.enter(peer(&address));
                open.spawn(serve_connection(stream, router.clone(), slot, ends.clone()));
            }
            Some(_) = open.join_next() => {}
            () = &mut stop => break,
        }
    }
    drop((listener, end));
    while open.join_next().await.is_some() {}
}

/// Serves one connection until it ends or loses its slot. After the end of the service it answers
/// the request under way, and no other.
async fn serve_connection(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    router: Router,
    mut slot: PeerSlot,
    mut service: watch::Receiver<()>,
) {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut connection = pin!(connection);
    tokio::select! {
        // An error concerns the peer alone, which sees its connection end.
        _ = connection.as_mut() => {}
        () = slot.lost() => {}
        _ = service.changed() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
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

    /// Starts a server of one page. Its connections count as from peer 192.0.2.`peer(port)`.
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
    /// nevertheless; its request closes one more.
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

    /// The page is answered, and then nothing is asked for nine more seconds: the service does not
    /// wait for them.
    #[tokio::test]
    async fn a_service_that_ends_closes_idle_connections() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/", get(async || "page"));
        let (stop, is_stopped) = tokio::sync::oneshot::channel::<()>();
        let peer = |address: &SocketAddr| address.ip();
        let service = tokio::spawn(serve(listener, router, peer, async { drop(is_stopped.await) }));
        let mut idle = connect(address).await;
        idle.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        let mut answer = [0; 1024];
        let read = idle.read(&mut answer).await.unwrap();
        assert!(answer[..read].ends_with(b"page"));
        stop.send(()).unwrap();
        tokio::time::timeout(Duration::from_secs(5), service).await.unwrap().unwrap();
        assert_eq!(idle.read(&mut answer).await.unwrap(), 0);
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
