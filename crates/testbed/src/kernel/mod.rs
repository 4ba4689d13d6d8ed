//! The world `kernel`: servers on sockets of the Linux kernel, under a congestion control of its
//! own, stock or with an agent (`agent`). For a site of several servers the agent asks a gateway
//! (`gateway`).
//!
//! The server program is nginx or this process (`builtin`); the sockets are the same.

mod agent;
mod builtin;
mod choice;
mod gateway;
mod nginx;

pub use agent::Agent;
pub use choice::ServerChoice;
pub use nginx::Nginx;

use crate::client_protocol::ClientProtocol;
use crate::contender::AgentScheme;
use crate::exchange::{Exchange, low_water};
pub(crate) use agent::HookingAgent;
use emulator::{Addresses, Cgroup, Interface, InterfaceConfig, Namespace, Port};
use nginx::Serving;
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpListener};
use tcp::Scheme;
use workload::{LoaderConfig, Page};

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 1024;

/// The kernel's congestion control that a scheme is the model of; `None` if it is of none.
///
/// The rest of the kernel's TCP is stock: `linux` is the default of a server, and so the other two
/// are `linux` with another congestion control.
pub fn congestion_control(scheme: &str) -> Option<&'static str> {
    match scheme {
        "linux" => Some("cubic"),
        "linux-bbr" => Some("bbr"),
        "linux-reno" => Some("reno"),
        _ => None,
    }
}

/// The kernel without an agent: a congestion control, and the settings of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stock {
    congestion_control: &'static str,
    /// Segments that connections begin with (`initcwnd` of the route); `None`: as the kernel does.
    initial_window: Option<u32>,
}

impl Stock {
    /// The kernel that a scheme is the model of: `linux`, `linux-bbr` or `linux-reno`, also with
    /// `iw=`. `None` if it is of none.
    pub(crate) fn modelled_by(scheme: &Scheme) -> Option<Self> {
        let (name, parameter) = match scheme.name().split_once('+') {
            Some((name, parameter)) => (name, Some(parameter)),
            None => (scheme.name(), None),
        };
        let only_window = |text: &str| text.starts_with("iw=") && !text.contains('+');
        if !parameter.is_none_or(only_window) {
            return None;
        }
        let initial_window = parameter.map(|_| scheme.config().initial_window);
        congestion_control(name).map(|name| Self { congestion_control: name, initial_window })
    }

    /// Configuration of a device whose route gives connections this initial window.
    fn device(&self, config: InterfaceConfig) -> InterfaceConfig {
        match self.initial_window {
            Some(segments) => config.with_initial_window(segments),
            None => config,
        }
    }
}

/// Program that writes to the kernel's sockets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerProgram {
    /// This process.
    Builtin,
    /// A web server.
    Nginx(Nginx),
}

impl ServerProgram {
    /// Name of the program in results.
    pub fn name(&self) -> &str {
        match self {
            Self::Builtin => "built-in",
            Self::Nginx(nginx) => nginx.version(),
        }
    }

    /// Highest protocol that the program supports.
    pub(crate) const fn client_protocol(&self) -> ClientProtocol {
        match self {
            Self::Builtin => ClientProtocol::Counts,
            Self::Nginx(_) => ClientProtocol::Http,
        }
    }
}

/// The congestion control of a server's connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control<'a> {
    /// The kernel's own.
    Stock(Stock),
    /// Congestion control that an agent sets on the connections.
    Hooked(&'a AgentScheme),
}

/// The serving side of the kernel's world.
#[derive(Clone, Copy)]
pub(crate) struct Service<'a> {
    /// The program that writes to the sockets.
    pub(crate) server: &'a ServerProgram,
    /// The agent's program, for schemes that have one.
    pub(crate) agent: Option<&'a Agent>,
}

impl Service<'_> {
    /// Starts the agent, if the congestion control needs one, for the lifetime of the returned
    /// value. The servers of a site, if there are several, share a gateway.
    ///
    /// # Errors
    /// If the machine does not let it, or there is no agent.
    pub(crate) fn start_agent(
        &self,
        control: Control<'_>,
        servers: u32,
    ) -> io::Result<Option<HookingAgent>> {
        let Control::Hooked(scheme) = control else { return Ok(None) };
        let agent = self.agent.ok_or_else(|| io::Error::other("no agent was given"))?;
        match servers {
            0 | 1 => agent.start_agent(scheme).map(Some),
            _ => agent.attend_to_a_site(scheme).map(Some),
        }
    }
}

/// A Linux host's server: its program, and how its connections are controlled.
#[derive(Clone, Copy)]
pub(crate) struct KernelServer<'a> {
    /// The congestion control of its connections.
    pub(crate) control: Control<'a>,
    /// The program that serves.
    pub(crate) program: &'a ServerProgram,
    /// The agent that [`Service::start_agent`] has started, if the congestion control takes one.
    pub(crate) agent: Option<&'a HookingAgent>,
}

/// Location of a server.
#[derive(Clone, Copy)]
pub(crate) struct ServerPlace<'a> {
    /// Its network namespace, in which it may have other devices.
    pub(crate) namespace: &'a Namespace,
    /// Its own.
    pub(crate) addresses: Addresses,
    /// Its visitor's.
    pub(crate) visitor: Addresses,
    /// Where it is to listen, by the page's hosts.
    pub(crate) listens_at: &'a [SocketAddr],
}

/// A Linux host of its own: a namespace with a device.
pub(crate) struct Kernel {
    device: Interface,
    listeners: Vec<TcpListener>,
    /// Whether the server announces answers by their size.
    announces_size: bool,
    /// Lives as long as this; without it this process serves.
    nginx: Option<Serving>,
}

impl Kernel {
    /// Listens for the page's hosts.
    ///
    /// # Errors
    /// If the machine does not let it, or the kernel has no such congestion control.
    pub(crate) fn new(
        ServerPlace { namespace, addresses, visitor, listens_at }: ServerPlace<'_>,
        KernelServer { control, program, agent }: KernelServer<'_>,
        page: &Page,
        config: &LoaderConfig,
    ) -> io::Result<Self> {
        let device = InterfaceConfig::new(addresses).towards(visitor);
        let (device, stock) = match control {
            Control::Stock(stock) => (stock.device(device), Some(stock.congestion_control)),
            Control::Hooked(_) => (device, None),
        };
        let device = Interface::open(namespace, &device)?;
        let hosts = listens_at.iter().zip(page.hosts());
        let all = || -> io::Result<Vec<_>> {
            let low_water = |host| low_water(config.protocol(host));
            hosts.map(|(address, host)| listen(*address, stock, low_water(host))).collect()
        };
        let listeners = match agent {
            None => Cgroup::run_outside(|| namespace.run(all))?,
            Some(agent) => agent.cgroup().run(|| namespace.run(all))??,
        }?;
        let nginx = match program {
            ServerProgram::Builtin => None,
            ServerProgram::Nginx(nginx) => Some(nginx.serve(namespace, page, config, &listeners)?),
        };
        let announces_size = matches!(control, Control::Hooked(scheme) if scheme.announces_size());
        Ok(Self { device, listeners, announces_size, nginx })
    }

    /// Its network namespace.
    pub(crate) const fn namespace(&self) -> &Namespace {
        self.device.namespace()
    }

    /// Port at which its packets are read and written.
    pub(crate) fn port(&self) -> Port {
        self.device.port()
    }

    /// Serves the page's hosts, in their order, for as long as the runtime lives.
    pub(crate) fn serve(&self, exchange: &Exchange) -> io::Result<()> {
        match &self.nginx {
            None => builtin::serve(exchange, &self.listeners, self.announces_size),
            Some(_) => Ok(()),
        }
    }
}

/// A socket whose connections will have the congestion control, if one is chosen, and say that
/// there is room for more only while less than the low water is unsent.
pub(crate) fn listen(
    address: SocketAddr,
    control: Option<&str>,
    low_water: Option<u64>,
) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    if let Some(control) = control {
        socket.set_tcp_congestion(control.as_bytes()).map_err(|error| {
            let why = format!("the kernel has no congestion control {control:?} ({error})");
            io::Error::new(error.kind(), why)
        })?;
    }
    if let Some(low) = low_water {
        socket.set_tcp_notsent_lowat(u32::try_from(low).unwrap_or(u32::MAX))?;
    }
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}
