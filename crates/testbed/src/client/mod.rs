//! The browser's connections: sockets of the Linux kernel, in whatever namespace the thread is in.
//!
//! To servers of ours the bytes are without meaning; to others they are HTTP (`http`). The client
//! is the loader of the simulations, curl or Chromium (`browser`).

mod browser;
mod chromium;
mod curl;
mod devtools;
mod frames;
mod http;
mod together;

pub use browser::Browser;
pub(crate) use browser::{BrowserVantage, Visitor};
pub use chromium::Chromium;
pub use curl::Curl;

use crate::client_protocol::ClientProtocol;
use crate::exchange::{Exchange, NewConnection, Order};
use crate::padding;
use emulator::{Cgroup, Namespace};
use nix::sys::time::TimeValLike;
use nix::time::{ClockId, clock_getres};
use std::io;
use std::net::SocketAddr;
use tcp::Scheme;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::mpsc;
use tokio::task::spawn_local;
use units::Duration;
use workload::LoadConnId;

/// The browser's TCP: Linux's, or its model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientTcp {
    /// Receive window in bytes that the client offers from the beginning. It grows only by the part
    /// of the same buffer that packets leave free. `None` is stock Linux: 64 KB at first, and more
    /// with use.
    pub window: Option<u32>,
}

impl ClientTcp {
    /// Scheme that models this client in a simulation: with a clock like this kernel's.
    pub fn model(self) -> Scheme {
        let window = self.window.map_or_else(String::new, |bytes| format!("+rwnd={bytes}B"));
        let text = format!("linux{window}+ack_tick={}us", kernel_tick().as_micros());
        Scheme::parse(&text).expect("linux is in the catalogue, and takes both")
    }

    /// Sets the window of connections that are opened in a namespace.
    ///
    /// # Errors
    /// If the kernel does not let it.
    pub(crate) fn prepare(self, namespace: &Namespace) -> io::Result<()> {
        let Some(window) = self.window else { return Ok(()) };
        namespace.set_sysctl("net.ipv4.tcp_rmem", &receive_memory(window))
    }
}

/// Returns `tcp_rmem` for connections that offer `window` bytes from the beginning. The kernel
/// offers half of a buffer until it has seen how much room packets take in it. The first buffer is
/// the largest one, because the model's window never grows.
fn receive_memory(window: u32) -> String {
    let buffer = 2 * u64::from(window);
    format!("4096 {buffer} {buffer}")
}

/// Time between two of this kernel's ticks, at which its delayed ACKs are sent: the step of its
/// coarse clocks. 4 ms, as most are built, if it does not say.
fn kernel_tick() -> Duration {
    let resolution = clock_getres(ClockId::CLOCK_MONOTONIC_COARSE);
    resolution.map_or(Duration::from_millis(4), |tick| {
        Duration::from_nanos(tick.num_nanoseconds() as u64)
    })
}

/// Orders of one connection that are looked at together, at most: more than a page has objects.
const AT_ONCE: usize = 1024;

/// Opens the connections that the loader wants, to `servers` by the page's hosts, until the loader
/// wants no more.
async fn run(
    exchange: Exchange,
    mut openings: mpsc::UnboundedReceiver<NewConnection>,
    own: SocketAddr,
    servers: Vec<SocketAddr>,
) {
    while let Some(opening) = openings.recv().await {
        let (exchange, server) = (exchange.clone(), servers[opening.host.index()]);
        spawn_local(async move {
            let conn = opening.conn;
            // The loader reports the failure with the object.
            let _ = run_connection(&exchange, opening, own, server).await;
            exchange.on_closed(conn);
        });
    }
}

/// One connection, from its opening to its end.
async fn run_connection(
    exchange: &Exchange,
    opening: NewConnection,
    own: SocketAddr,
    server: SocketAddr,
) -> io::Result<()> {
    let stream = connect(exchange, opening.conn, own, server).await?;
    if exchange.client_protocol() != ClientProtocol::Counts {
        return http::serve_connection(exchange, opening, stream).await;
    }
    let (read, write) = stream.into_split();
    exchange.on_connected(opening.conn);
    tokio::try_join!(receive(exchange, opening.conn, read), send(opening.orders, write))?;
    Ok(())
}

async fn connect(
    exchange: &Exchange,
    conn: LoadConnId,
    own: SocketAddr,
    server: SocketAddr,
) -> io::Result<TcpStream> {
    // Another world of this process may have its server's sockets made for an agent right now.
    let socket = Cgroup::run_outside(|| match own {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    })?;
    socket.set_nodelay(true)?;
    socket.bind(own)?;
    exchange.on_bound(conn, socket.local_addr()?.port());
    socket.connect(server).await
}

async fn receive(exchange: &Exchange, conn: LoadConnId, mut read: OwnedReadHalf) -> io::Result<()> {
    let (mut buffer, mut total) = (vec![0; padding::CHUNK], 0);
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
    let mut asked = Vec::new();
    while orders.recv_many(&mut asked, AT_ONCE).await > 0 {
        // All bytes written at one moment leave in one piece, as with the simulated client.
        let writes = asked.iter().map_while(Order::bytes);
        padding::write_padding(&mut write, writes.sum()).await?;
        if asked.iter().any(|order| order.bytes().is_none()) {
            break;
        }
        asked.clear();
    }
    write.shutdown().await
}
