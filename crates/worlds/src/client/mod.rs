//! The browser's connections: sockets of the Linux kernel, in whatever namespace the thread is in.
//!
//! To servers of ours the bytes are without meaning; to others they are HTTP (`http`).

mod http;

use crate::exchange::{Exchange, Opening, Order};
use crate::filler;
use std::io;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::mpsc;
use tokio::task::spawn_local;
use workload::ConnId;

/// What servers understand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tongue {
    /// How many bytes they are sent; the exchange tells them what it means.
    Counts,
    /// HTTP.
    Http,
}

/// Opens what the loader wants opened, to `servers` by the page's hosts, until nobody wants any more.
pub(crate) async fn run(
    exchange: Exchange,
    mut openings: mpsc::UnboundedReceiver<Opening>,
    (own, servers, tongue): (SocketAddr, Vec<SocketAddr>, Tongue),
) {
    while let Some(opening) = openings.recv().await {
        let (exchange, server) = (exchange.clone(), servers[opening.host.index()]);
        spawn_local(async move {
            let conn = opening.conn;
            // What went wrong is what the loader says of the object then.
            let _ = converse(&exchange, opening, (own, server, tongue)).await;
            exchange.on_closed(conn);
        });
    }
}

/// One connection, from its opening to its end.
async fn converse(
    exchange: &Exchange,
    opening: Opening,
    (own, server, tongue): (SocketAddr, SocketAddr, Tongue),
) -> io::Result<()> {
    let stream = connect(exchange, opening.conn, (own, server)).await?;
    if tongue == Tongue::Http {
        return http::converse(exchange, opening, stream).await;
    }
    let (read, write) = stream.into_split();
    exchange.on_connected(opening.conn);
    tokio::try_join!(receive(exchange, opening.conn, read), send(opening.orders, write))?;
    Ok(())
}

async fn connect(
    exchange: &Exchange,
    conn: ConnId,
    (own, server): (SocketAddr, SocketAddr),
) -> io::Result<TcpStream> {
    let socket = match own {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    socket.set_nodelay(true)?;
    socket.bind(own)?;
    exchange.on_bound(conn, socket.local_addr()?.port());
    socket.connect(server).await
}

async fn receive(exchange: &Exchange, conn: ConnId, mut read: OwnedReadHalf) -> io::Result<()> {
    let (mut buffer, mut total) = (vec![0; filler::CHUNK], 0);
    loop {
        match read.read(&mut buffer).await? {
            0 => break,
            n => total += n as u64,
        }
        exchange.on_received(conn, total);
    }
    exchange.on_closed(conn);
    Ok(())
}

async fn send(
    mut orders: mpsc::UnboundedReceiver<Order>,
    mut write: OwnedWriteHalf,
) -> io::Result<()> {
    while let Some(Order::Write(span)) = orders.recv().await {
        filler::write(&mut write, span.bytes).await?;
    }
    write.shutdown().await
}
