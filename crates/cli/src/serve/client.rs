//! The server's network when it is run for a client: the far end of an emulated link.

use super::network::url;
use crate::behind::{Command, LinkArgs, as_failure};
use cmdline::{Failure, remark};
use emulator::{Addresses, Emulation, Interface, InterfaceConfig, Namespace};
use endpoint::{Endpoint, EndpointConfig};
use std::ffi::OsString;
use std::net::IpAddr;
use tcp::Limits;

/// A client's network behind a link, and the endpoint at the other end.
pub(super) struct Line {
    client: Interface,
    peer: Addresses,
    emulation: Emulation,
}

impl Line {
    /// `limits` are the server's.
    pub(super) fn open_link(links: &LinkArgs, limits: Limits) -> Result<(Self, Endpoint), Failure> {
        let options = links.options()?;
        links.warn_recorded();
        // No other host is in this network, so every number is free.
        let [near, peer] = Addresses::numbered(0);
        let lay = || {
            let config = InterfaceConfig::new(near).with_default_route();
            let client = Interface::open(&Namespace::new()?, &config)?;
            let config =
                EndpointConfig { limits, ..EndpointConfig::new(Some(peer.v4), Some(peer.v6)) };
            let (port, endpoint) = testbed::endpoint_on_a_link(config)?;
            let emulation = Emulation::start(client.port(), port, options)?;
            Ok((Self { client, peer, emulation }, endpoint))
        };
        lay().map_err(as_failure)
    }

    /// Addresses of the server.
    pub(super) fn addresses(&self) -> Vec<IpAddr> {
        vec![self.peer.v4.into(), self.peer.v6.into()]
    }

    /// Runs the command to its end; its exit code.
    pub(super) fn run(&self, words: &[OsString], port: u16) -> Result<u8, Failure> {
        let variables = vec![
            ("HEADSTART_URL", url(self.peer.v4.into(), port)),
            ("HEADSTART_URL6", url(self.peer.v6.into(), port)),
        ];
        Command { client: &self.client, peer: self.peer, words, variables }
            .run(|sandbox| sandbox.wait())
    }

    /// Ends the link; warns if what was measured over it is not to be trusted.
    pub(super) fn end(self) {
        let report = self.emulation.stop();
        let mut scheduling_delay = report.down.scheduling_delay;
        scheduling_delay.add(&report.up.scheduling_delay);
        if scheduling_delay.p99() > testbed::TOO_LATE {
            remark(&format!(
                "warning: the link handed one packet in a hundred over later than {} after its time: repeat \
                 measurements on a quieter machine",
                testbed::TOO_LATE
            ));
        }
    }
}
