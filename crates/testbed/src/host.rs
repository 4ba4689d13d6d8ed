//! The servers' end of a test bed, of any real world.

use crate::exchange::Exchange;
use crate::kernel::{Kernel, KernelServer, ServerPlace};
use crate::wire::Wire;
use emulator::{Addresses, Namespace, Port};
use std::io;
use std::net::SocketAddr;
use tcp::Scheme;
use workload::{LoaderConfig, Page};

/// The port of a page's first host; the others follow.
const FIRST_PORT: u16 = 8000;

/// All of a page's hosts: one address, a port for each.
pub(crate) struct ServerHost {
    addresses: Vec<SocketAddr>,
    kind: Kind,
}

enum Kind {
    Kernel(Kernel),
    Wire(Wire),
}

/// Server of a host: `Real` with the state that all servers of a site share.
#[derive(Clone, Copy)]
pub(crate) enum Serves<'a> {
    Wire(&'a Scheme),
    Kernel(KernelServer<'a>),
}

/// One line of a server, towards one visitor.
#[derive(Clone, Copy)]
pub(crate) struct ServerLine<'a> {
    /// The visitor's addresses.
    pub(crate) visitor: Addresses,
    /// The server's addresses.
    pub(crate) own: Addresses,
    /// The server whose second line it is; `None`: a server of its own.
    pub(crate) of: Option<&'a ServerHost>,
}

impl ServerHost {
    /// Listens for a page's hosts, at its own addresses.
    ///
    /// # Errors
    /// If the machine does not let it, or a server on the wire is to have another line.
    pub(crate) fn new(
        serves: Serves<'_>,
        ServerLine { visitor, own, of }: ServerLine<'_>,
        page: &Page,
        config: &LoaderConfig,
    ) -> io::Result<Self> {
        let ports = (0..page.hosts().len()).map(|host| FIRST_PORT + host as u16);
        let addresses: Vec<_> = ports.map(|port| SocketAddr::new(own.v4.into(), port)).collect();
        let kind = match serves {
            Serves::Wire(_) if of.is_some() => {
                return Err(io::Error::other("a server on the wire has one client"));
            }
            Serves::Wire(scheme) => Kind::Wire(Wire::new(own, scheme)?),
            Serves::Kernel(server) => {
                let namespace = match of.map(|host| &host.kind) {
                    Some(Kind::Kernel(kernel)) => kernel.namespace().clone(),
                    _ => Namespace::new()?,
                };
                let namespace = &namespace;
                let listens_at = &addresses;
                let place = ServerPlace { namespace, addresses: own, visitor, listens_at };
                Kind::Kernel(Kernel::new(place, server, page, config)?)
            }
        };
        Ok(Self { addresses, kind })
    }

    /// Port at which its packets are read and written.
    pub(crate) fn port(&self) -> Port {
        match &self.kind {
            Kind::Kernel(kernel) => kernel.port(),
            Kind::Wire(wire) => wire.port(),
        }
    }

    /// Begins to serve; where each of the page's hosts is.
    pub(crate) async fn serve(&self, exchange: &Exchange) -> io::Result<Vec<SocketAddr>> {
        match &self.kind {
            Kind::Kernel(kernel) => kernel.serve(exchange)?,
            Kind::Wire(wire) => wire.serve(exchange, &self.addresses).await?,
        }
        Ok(self.addresses.clone())
    }
}
