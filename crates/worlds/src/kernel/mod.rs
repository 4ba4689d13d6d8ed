//! The world `kernel`: servers on sockets of the Linux kernel, under a congestion control of its own.
//!
//! Who writes to the sockets is nginx or this process (`builtin`); the sockets are the same.

mod builtin;
mod choice;
mod nginx;
pub(crate) mod site;

pub use choice::ServerChoice;
pub use nginx::Nginx;

use crate::client::Tongue;
use crate::exchange::{Exchange, low_water};
use emulator::{Addresses, Interface, InterfaceConfig, Namespace, Port};
use nginx::Serving;
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpListener};
use workload::{LoaderConfig, Page};

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

/// Who writes to the kernel's sockets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Server {
    /// This process.
    Builtin,
    /// A web server.
    Nginx(Nginx),
}

impl Server {
    /// As it is called in results.
    pub fn name(&self) -> &str {
        match self {
            Self::Builtin => "built-in",
            Self::Nginx(nginx) => nginx.version(),
        }
    }

    const fn tongue(&self) -> Tongue {
        match self {
            Self::Builtin => Tongue::Counts,
            Self::Nginx(_) => Tongue::Http,
        }
    }
}

/// A Linux host of its own: a namespace with a device.
pub(crate) struct Kernel {
    device: Interface,
    listeners: Vec<TcpListener>,
    tongue: Tongue,
    /// Lives as long as this.
    _nginx: Option<Serving>,
}

impl Kernel {
    /// Listens for the page's hosts at each of these addresses, which have to be the device's.
    ///
    /// # Errors
    /// If the machine does not let it, or the kernel has no such congestion control.
    pub(crate) fn new(
        (addresses, listens_at): (Addresses, &[SocketAddr]),
        (control, server): (&str, &Server),
        (page, config): (&Page, &LoaderConfig),
    ) -> io::Result<Self> {
        let namespace = Namespace::new()?;
        let device = Interface::open(&namespace, &InterfaceConfig::new(addresses))?;
        let hosts = listens_at.iter().zip(page.hosts());
        let all = || {
            let one =
                |(address, host)| listen(address, (control, low_water(config.protocol(host))));
            hosts.map(|(address, host)| one((*address, host))).collect()
        };
        let listeners: io::Result<Vec<_>> = namespace.run(all)?;
        let (listeners, tongue) = (listeners?, server.tongue());
        let nginx = match server {
            Server::Builtin => None,
            Server::Nginx(nginx) => Some(nginx.serve(&namespace, (page, config), &listeners)?),
        };
        Ok(Self { device, listeners, tongue, _nginx: nginx })
    }

    /// Where its packets are read and written.
    pub(crate) fn port(&self) -> Port {
        self.device.port()
    }

    /// What it understands.
    pub(crate) const fn tongue(&self) -> Tongue {
        self.tongue
    }

    /// Serves the page's hosts, in their order, for as long as the runtime lives.
    pub(crate) fn serve(&self, exchange: &Exchange) -> io::Result<()> {
        match self.tongue {
            Tongue::Counts => builtin::serve(exchange, &self.listeners),
            Tongue::Http => Ok(()),
        }
    }
}

/// A socket whose connections will have the congestion control, and say that there is room for more only
/// while less than the low water is unsent.
fn listen(
    address: SocketAddr,
    (control, low_water): (&str, Option<u64>),
) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_tcp_congestion(control.as_bytes()).map_err(|error| {
        let why = format!("the kernel has no congestion control {control:?} ({error})");
        io::Error::new(error.kind(), why)
    })?;
    if let Some(low) = low_water {
        socket.set_tcp_notsent_lowat(u32::try_from(low).unwrap_or(u32::MAX))?;
    }
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}
