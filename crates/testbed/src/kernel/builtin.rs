//! A server that answers as the simulated one does, with the same think times and in the same
//! order.

use crate::exchange::{Exchange, Part};
use crate::server::{ServerSocketOptions, serve as serve_one};
use nix::sys::socket::{getsockopt, setsockopt};
use nix::{getsockopt_impl, libc, setsockopt_impl, sockopt_impl};
use socket2::Socket;
use std::cell::Cell;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::spawn_local;
use workload::HostId;

/// `HEADSTART_SIZE` of the agent's `headstart.h`.
const SIZE: i32 = 0x7e00;

sockopt_impl!(
    /// Bytes of the next response.
    Size,
    SetOnly,
    libc::IPPROTO_TCP,
    SIZE,
    u32
);

/// Serves the page's hosts on their sockets, for as long as the runtime lives. `announces_size`:
/// the server announces the length of each answer to the agent.
pub(super) fn serve(
    exchange: &Exchange,
    listeners: &[std::net::TcpListener],
    announces_size: bool,
) -> io::Result<()> {
    for (host, listener) in listeners.iter().enumerate() {
        let listener = TcpListener::from_std(listener.try_clone()?)?;
        spawn_local(accept(exchange.clone(), HostId(host as u32), listener, announces_size));
    }
    Ok(())
}

async fn accept(exchange: Exchange, host: HostId, listener: TcpListener, announces_size: bool) {
    while let Ok((stream, peer)) = listener.accept().await {
        let exchange = exchange.clone();
        spawn_local(async move {
            // A connection that fails is one that the client sees end.
            let _ = serve_connection(&exchange, host, peer, stream, announces_size).await;
        });
    }
}

async fn serve_connection(
    exchange: &Exchange,
    host: HostId,
    peer: SocketAddr,
    stream: TcpStream,
    announces_size: bool,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let socket = Socket::from(stream.as_fd().try_clone_to_owned()?);
    if let Some(low) = exchange.low_water(host) {
        // The kernel wakes a waiting writer when half of it is unsent (`__tcp_stream_memory_free`).
        socket.set_tcp_notsent_lowat(u32::try_from(2 * low).unwrap_or(u32::MAX))?;
    }
    let socketry = Socketry { socket, announces_size, corked: Cell::new(false) };
    serve_one(exchange, host, peer, stream, socketry).await
}

sockopt_impl!(
    /// State of a connection (`struct tcp_info`).
    Info,
    GetOnly,
    libc::IPPROTO_TCP,
    libc::TCP_INFO,
    Standing
);

/// The first fields of the kernel's `struct tcp_info`: the kernel returns as many bytes as the
/// caller requests.
#[repr(C)]
#[expect(
    unreachable_pub,
    reason = "the macro above makes its option public, and so asks it of this"
)]
pub struct Standing {
    state: u8,
    _between: [u8; 143],
    notsent_bytes: u32,
}

/// `TCP_CLOSE`.
const CLOSED: u8 = 7;

/// The kernel does not know the meaning of the bytes.
struct Socketry {
    /// The stream's, once more.
    socket: Socket,
    /// Whether the server announces the length of each answer to the kernel.
    announces_size: bool,
    /// Whether parts of segments wait (`TCP_CORK`). A server that has several frames to write hands
    /// them over as one; written one by one, short ones would be segments of their own.
    corked: Cell<bool>,
}

impl Socketry {
    fn set_cork(&self, corked: bool) {
        if self.corked.replace(corked) != corked {
            // It fails only on a closed connection, which the next write reports.
            let _ = self.socket.set_tcp_cork(corked);
        }
    }
}

impl Socketry {
    /// The socket is registered again each time: the kernel reports room only after a check that
    /// found none.
    async fn wait_for_room(&self) -> io::Result<()> {
        #[expect(
            deprecated,
            reason = "what replaces it is unsafe, and the descriptor is ours till it goes"
        )]
        let socket = AsyncFd::with_interest(self.socket.as_raw_fd(), Interest::WRITABLE)?;
        socket.writable().await?.retain_ready();
        Ok(())
    }
}

impl ServerSocketOptions for Socketry {
    fn announce(&self, part: &Part) {
        if let Some(bytes) = part.begins.filter(|_| self.announces_size) {
            let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
            // Without an agent the kernel knows no such option, and nothing has changed.
            let _ = setsockopt(&self.socket, Size, &bytes);
        }
    }

    fn cork(&self) {
        self.set_cork(true);
    }

    fn uncork(&self) {
        self.set_cork(false);
    }

    /// A closed connection has nothing unsent, and the next write reports it.
    async fn unsent_below(&self, low: u64) -> u64 {
        loop {
            let standing = getsockopt(&self.socket, Info).ok();
            let open = standing.filter(|standing| standing.state != CLOSED);
            let unsent = open.map_or(0, |standing| u64::from(standing.notsent_bytes));
            if unsent < low || self.wait_for_room().await.is_err() {
                return unsent;
            }
        }
    }
}
