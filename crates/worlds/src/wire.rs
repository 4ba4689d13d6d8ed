//! The world `wire`: servers over our endpoint, under any scheme of the core.
//!
//! One endpoint stands for all hosts of a page, so schemes that share a path among the connections to a
//! host share it among all of the page's: `Race::one_server` in simulation.

use crate::exchange::Exchange;
use crate::server::{Knobs, serve};
use crate::timer;
use emulator::{Addresses, Clock, Port, Scheduling, port_pair};
use endpoint::{Config, Device, Endpoint, Handle, Listener};
use netsim::content_of;
use std::io;
use std::net::SocketAddr;
use tcp::Scheme;
use tokio::task::spawn_local;
use units::Duration;
use workload::{HostId, Kind};

/// Longest packet of the emulated link, bytes.
const MTU: u16 = 1500;
/// How often the low water of a connection is looked at; a frame of HTTP/2 takes longer than this up to
/// 200 Mbit/s.
const GLANCE: Duration = Duration::from_micros(500);

/// An endpoint on one end of the emulated link.
pub(crate) struct Wire {
    port: Port,
    endpoint: Endpoint,
    scheme: Scheme,
}

impl Wire {
    /// An endpoint of these addresses whose servers send by `scheme`.
    ///
    /// # Errors
    /// If the system gives no thread or descriptor.
    pub(crate) fn new(addresses: Addresses, scheme: &Scheme) -> io::Result<Self> {
        let (port, descriptor) = port_pair()?;
        let config = Config::new(Some(addresses.v4), Some(addresses.v6));
        let device = Device::new(descriptor, MTU)?;
        let open = || {
            // The endpoint's thread inherits it, and so paces in time on a machine that is busy.
            Scheduling::best();
            Endpoint::open(device, config)
        };
        let endpoint = std::thread::scope(|scope| scope.spawn(open).join());
        let endpoint = endpoint.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok(Self { port, endpoint, scheme: scheme.clone() })
    }

    /// Where its packets are read and written.
    pub(crate) fn port(&self) -> Port {
        self.port.clone()
    }

    /// Serves the page's hosts at these addresses, in their order, for as long as the runtime lives.
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
            spawn_local(accept(exchange.clone(), (HostId(host as u32), listener)));
        }
        Ok(())
    }
}

async fn accept(exchange: Exchange, (host, mut listener): (HostId, Listener)) {
    while let Ok((stream, peer)) = listener.accept().await {
        let Some(conn) = exchange.caller(peer.port()) else { continue };
        let exchange = exchange.clone();
        spawn_local(async move {
            let low_water = exchange.low_water(host);
            let knobs = Stream { handle: stream.handle(), clock: *exchange.clock() };
            // A connection that fails is one that the loader sees end.
            let _ = serve(&exchange, conn, (stream, knobs, low_water)).await;
        });
    }
}

struct Stream {
    handle: Handle,
    clock: Clock,
}

impl Knobs for Stream {
    fn announce(&self, kind: Kind) {
        self.handle.set_content(content_of(kind));
    }

    async fn unsent_below(&self, low: u64) -> u64 {
        loop {
            let unsent = self.handle.info().await.map_or(0, |info| info.bytes_unsent);
            if unsent < low {
                return unsent;
            }
            timer::sleep_until(&self.clock, Some(self.clock.now() + GLANCE)).await;
        }
    }
}
