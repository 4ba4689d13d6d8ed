//! A server that answers as the simulated one does, with the same think times and in the same order.

use crate::exchange::Exchange;
use crate::server::{Knobs, serve as serve_one};
use socket2::Socket;
use std::cell::Cell;
use std::io;
use std::os::fd::AsFd;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::spawn_local;
use workload::{ConnId, HostId, Kind};

/// Serves the page's hosts on their sockets, for as long as the runtime lives.
pub(super) fn serve(exchange: &Exchange, listeners: &[std::net::TcpListener]) -> io::Result<()> {
    for (host, listener) in listeners.iter().enumerate() {
        let listener = TcpListener::from_std(listener.try_clone()?)?;
        spawn_local(accept(exchange.clone(), (HostId(host as u32), listener)));
    }
    Ok(())
}

async fn accept(exchange: Exchange, (host, listener): (HostId, TcpListener)) {
    while let Ok((stream, peer)) = listener.accept().await {
        let Some(conn) = exchange.caller(peer.port()) else { continue };
        let exchange = exchange.clone();
        spawn_local(async move {
            // A connection that fails is one that the loader sees end.
            let _ = one(&exchange, (conn, host), stream).await;
        });
    }
}

async fn one(
    exchange: &Exchange,
    (conn, host): (ConnId, HostId),
    stream: TcpStream,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let socketry =
        Socketry { socket: stream.as_fd().try_clone_to_owned()?.into(), corked: Cell::new(false) };
    serve_one(exchange, conn, (stream, socketry, exchange.low_water(host))).await
}

/// The kernel takes more only while less than the low water is unsent, so what it has taken is no
/// more than that; and it does not care what the bytes are.
struct Socketry {
    /// The stream's, once more.
    socket: Socket,
    /// Whether parts of segments wait (`TCP_CORK`). A server that has several frames to write hands them
    /// over as one; written one by one, short ones would be segments of their own.
    corked: Cell<bool>,
}

impl Socketry {
    fn set_cork(&self, corked: bool) {
        if self.corked.replace(corked) != corked {
            // It fails only on a connection that is over, of which the next write tells.
            let _ = self.socket.set_tcp_cork(corked);
        }
    }
}

impl Knobs for Socketry {
    fn announce(&self, _kind: Kind) {}

    fn cork(&self) {
        self.set_cork(true);
    }

    fn uncork(&self) {
        self.set_cork(false);
    }

    async fn unsent_below(&self, _low: u64) -> u64 {
        0
    }
}
