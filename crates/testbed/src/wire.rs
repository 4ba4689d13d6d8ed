//! The world `wire`: servers over our endpoint, under any scheme of the core.
//!
//! One endpoint represents all hosts of a page. Schemes that share a path among the connections to
//! a host therefore share it among all hosts of the page: `Hosts::Together` in simulation.

use crate::exchange::{Exchange, Part};
use crate::server::{ServerSocketOptions, serve};
use emulator::{Addresses, Port, ThreadScheduling, port_pair};
use endpoint::{Device, Endpoint, EndpointConfig, Handle, Listener};
use std::io;
use std::net::SocketAddr;
use tcp::Scheme;
use tokio::task::spawn_local;
use workload::HostId;

/// Longest packet of the emulated link, bytes.
const MTU: u16 = 1500;

/// An endpoint on a link of its own, and the port that its packets leave and arrive by.
///
/// # Errors
/// If the system gives no thread or descriptor.
pub fn endpoint_on_a_link(config: EndpointConfig) -> io::Result<(Port, Endpoint)> {
    let (port, descriptor) = port_pair()?;
    let device = Device::new(descriptor, MTU)?;
    // The endpoint's thread inherits the scheduling, and so paces in time on a busy machine.
    let open = || Endpoint::open(device, config);
    Ok((port, ThreadScheduling::on_its_own_thread(open)?))
}

/// An endpoint on one end of the emulated link.
pub(crate) struct Wire {
    port: Port,
    endpoint: Endpoint,
    scheme: Scheme,
}

impl Wire {
    /// An endpoint of these addresses whose servers send by `scheme`, without Nagle's algorithm
    /// unless the scheme asks for it.
    ///
    /// # Errors
    /// If the system gives no thread or descriptor.
    pub(crate) fn new(addresses: Addresses, scheme: &Scheme) -> io::Result<Self> {
        let mut config = EndpointConfig {
            // The scheme says.
            nodelay: false,
            ..EndpointConfig::new(Some(addresses.v4), Some(addresses.v6))
        };
        // No client spoofs its address on this link, as in a simulation.
        config.limits.early_data_without_cookie = true;
        let (port, endpoint) = endpoint_on_a_link(config)?;
        Ok(Self { port, endpoint, scheme: race::as_browsers_use_it(scheme) })
    }

    /// Port at which its packets are read and written.
    pub(crate) fn port(&self) -> Port {
        self.port.clone()
    }

    /// Serves the page's hosts at these addresses, in their order, for as long as the runtime
    /// lives.
    ///
    /// # Errors
    /// If the endpoint is gone.
    pub(crate) async fn serve(
        &self,
        exchange: &Exchange,
        addresses: &[SocketAddr],
    ) -> io::Result<()> {
        for (host, address) in addresses.iter().enumerate() {
            let listener = self.endpoint.listen(address.port(), &self.scheme).await?;
            let announces_size = self.scheme.uses_sizes();
            spawn_local(accept(exchange.clone(), HostId(host as u32), listener, announces_size));
        }
        Ok(())
    }
}

async fn accept(exchange: Exchange, host: HostId, mut listener: Listener, announces_size: bool) {
    while let Ok((stream, peer)) = listener.accept().await {
        let exchange = exchange.clone();
        spawn_local(async move {
            let options = Stream { handle: stream.handle(), announces_size };
            // A connection that fails is one that the client sees end.
            let _ = serve(&exchange, host, peer, stream, options).await;
        });
    }
}

struct Stream {
    handle: Handle,
    /// Whether the server announces the length of each answer to the transport.
    announces_size: bool,
}

impl ServerSocketOptions for Stream {
    fn announce(&self, part: &Part) {
        if let Some(kind) = part.kind {
            self.handle.set_content(kind.ticket_content());
        }
        if let Some(bytes) = part.begins.filter(|_| self.announces_size) {
            self.handle.set_size(bytes);
        }
    }

    // The endpoint sends when its thread has taken all that was written meanwhile.
    fn cork(&self) {}

    fn uncork(&self) {}

    async fn unsent_below(&self, low: u64) -> u64 {
        // A closed connection has nothing unsent, and the next write reports it.
        self.handle.unsent_below(low).await.unwrap_or(0)
    }
}
