//! The servers' end of a bed, of whichever world.

use crate::exchange::Exchange;
use crate::kernel::{Attending, Control, Kernel, ServerPlace, ServerProgram};
use crate::wire::Wire;
use emulator::{Addresses, Port};
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

/// What serves: `Real` with what all servers of a site have in common.
#[derive(Clone, Copy)]
pub(crate) enum Serves<'a> {
    Wire(&'a Scheme),
    Kernel(Control<'a>, &'a ServerProgram, Option<&'a Attending>),
}

impl ServerHost {
    /// Listens for a page's hosts, at its own addresses; those of its visitor are the other ones.
    ///
    /// # Errors
    /// If the machine does not let it.
    pub(crate) fn new(
        serves: Serves<'_>,
        [visitor, own]: [Addresses; 2],
        (page, config): (&Page, &LoaderConfig),
    ) -> io::Result<Self> {
        let ports = (0..page.hosts().len()).map(|host| FIRST_PORT + host as u16);
        let addresses: Vec<_> = ports.map(|port| SocketAddr::new(own.v4.into(), port)).collect();
        let kind = match serves {
            Serves::Wire(scheme) => Kind::Wire(Wire::new(own, scheme)?),
            Serves::Kernel(control, server, attending) => {
                let place = ServerPlace { addresses: own, visitor, listens_at: &addresses };
                let by = (control, server, attending);
                Kind::Kernel(Kernel::new(place, by, (page, config))?)
            }
        };
        Ok(Self { addresses, kind })
    }

    /// Where its packets are read and written.
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
