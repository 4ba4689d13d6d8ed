//! The world `kernel`: servers on sockets of the Linux kernel, under a congestion control of its own.

use crate::exchange::Exchange;
use crate::server::{Knobs, serve};
use emulator::{Addresses, Interface, InterfaceConfig, Namespace, Port};
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use std::io;
use std::net::SocketAddr;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::spawn_local;
use workload::{ConnId, HostId, Kind};

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 1024;

/// The kernel's congestion control that a scheme is the model of; `None` if it is of none.
///
/// The rest of the kernel's TCP is as it comes: `linux` is what a server runs by default, and so the
/// other two are `linux` with another congestion control.
pub fn congestion_control(scheme: &str) -> Option<&'static str> {
    match scheme {
        "linux" => Some("cubic"),
        "linux-bbr" => Some("bbr"),
        "linux-reno" => Some("reno"),
        _ => None,
    }
}

/// A Linux host of its own: a namespace with a device.
pub(crate) struct Kernel {
    device: Interface,
    listeners: Vec<std::net::TcpListener>,
}

impl Kernel {
    /// Listens at each of these addresses, which have to be the device's.
    ///
    /// # Errors
    /// If the machine does not let it, or the kernel has no such congestion control.
    pub(crate) fn new(
        addresses: Addresses,
        control: &str,
        listens_at: &[SocketAddr],
    ) -> io::Result<Self> {
        let namespace = Namespace::new()?;
        let device = Interface::open(&namespace, &InterfaceConfig::new(addresses))?;
        let all = || listens_at.iter().map(|address| listen(*address, control)).collect();
        let listeners: io::Result<_> = namespace.run(all)?;
        Ok(Self { device, listeners: listeners? })
    }

    /// Where its packets are read and written.
    pub(crate) fn port(&self) -> Port {
        self.device.port()
    }

    /// Serves the page's hosts, in their order, for as long as the runtime lives.
    pub(crate) fn serve(&self, exchange: &Exchange) -> io::Result<()> {
        for (host, listener) in self.listeners.iter().enumerate() {
            let listener = TcpListener::from_std(listener.try_clone()?)?;
            spawn_local(accept(exchange.clone(), (HostId(host as u32), listener)));
        }
        Ok(())
    }
}

fn listen(address: SocketAddr, control: &str) -> io::Result<std::net::TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_tcp_congestion(control.as_bytes()).map_err(|error| {
        let why = format!("the kernel has no congestion control {control:?} ({error})");
        io::Error::new(error.kind(), why)
    })?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
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
    let low_water = exchange.low_water(host);
    if let Some(low) = low_water {
        let low = u32::try_from(low).unwrap_or(u32::MAX);
        SockRef::from(&stream).set_tcp_notsent_lowat(low)?;
    }
    serve(exchange, conn, (stream, Socketry, low_water)).await
}

/// The kernel takes more only while less than the low water is unsent, so what it has taken is no
/// more than that; and it does not care what the bytes are.
struct Socketry;

impl Knobs for Socketry {
    fn announce(&self, _kind: Kind) {}

    async fn unsent_below(&self, _low: u64) -> u64 {
        0
    }
}
