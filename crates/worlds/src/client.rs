//! The browser's connections: sockets of the Linux kernel, in whatever namespace the thread is in.

use crate::exchange::{Exchange, Opening, Order};
use crate::filler;
use std::io;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;
use tokio::task::spawn_local;
use workload::ConnId;

/// Opens what the loader wants opened, to `servers` by the page's hosts, until nobody wants any more.
pub(crate) async fn run(
    exchange: Exchange,
    mut openings: mpsc::UnboundedReceiver<Opening>,
    (own, servers): (SocketAddr, Vec<SocketAddr>),
) {
    while let Some(opening) = openings.recv().await {
        let (exchange, server) = (exchange.clone(), servers[opening.host.index()]);
        spawn_local(async move {
            let conn = opening.conn;
            // What went wrong is what the loader says of the object then.
            let _ = converse(&exchange, opening, (own, server)).await;
            exchange.on_closed(conn);
        });
    }
}

/// One connection, from its opening to its end.
async fn converse(
    exchange: &Exchange,
    opening: Opening,
    (own, server): (SocketAddr, SocketAddr),
) -> io::Result<()> {
    let socket = match own {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    socket.set_nodelay(true)?;
    socket.bind(own)?;
    exchange.on_bound(opening.conn, socket.local_addr()?.port());
    let (read, write) = socket.connect(server).await?.into_split();
    exchange.on_connected(opening.conn);
    tokio::try_join!(receive(exchange, opening.conn, read), send(opening.orders, write))?;
    Ok(())
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
    while let Some(Order::Write(bytes)) = orders.recv().await {
        filler::write(&mut write, bytes).await?;
    }
    write.shutdown().await
}
