//! Two endpoints in one process, without root.
#![allow(dead_code, reason = "two programs take what they need")]

pub(crate) mod capture;
pub(crate) mod line;
pub(crate) mod order;
pub(crate) mod world;

use endpoint::{Device, Endpoint, EndpointConfig, Listener, Stream};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use tcp::Scheme;

pub(crate) const PORT: u16 = 80;

pub(crate) fn v4(host: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, host)
}

pub(crate) fn v6(host: u8) -> Ipv6Addr {
    Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, host.into())
}

pub(crate) fn config(host: u8) -> EndpointConfig {
    EndpointConfig::new(Some(v4(host)), Some(v6(host)))
}

pub(crate) fn linux() -> Scheme {
    Scheme::parse("linux").unwrap()
}

/// Client and server.
pub(crate) struct Pair {
    pub(crate) client: Endpoint,
    pub(crate) server: Endpoint,
}

impl Pair {
    /// Creates both endpoints, back to back.
    pub(crate) fn new() -> Self {
        let (a, b) = Device::pair(1500).unwrap();
        Self::on(a, b)
    }

    pub(crate) fn on(client: Device, server: Device) -> Self {
        Self::configured((client, config(1)), (server, config(2)))
    }

    pub(crate) fn configured(
        client: (Device, EndpointConfig),
        server: (Device, EndpointConfig),
    ) -> Self {
        Self {
            client: Endpoint::open(client.0, client.1).unwrap(),
            server: Endpoint::open(server.0, server.1).unwrap(),
        }
    }

    pub(crate) async fn listen(&self) -> Listener {
        self.server.listen(PORT, &linux()).await.unwrap()
    }

    pub(crate) async fn connect(&self) -> Stream {
        self.client.connect(at(v4(2).into()), &linux()).await.unwrap()
    }

    /// Returns both ends of a connection.
    pub(crate) async fn connected(&self) -> (Stream, Stream) {
        let mut listener = self.listen().await;
        let client = self.connect().await;
        (client, listener.accept().await.unwrap().0)
    }
}

pub(crate) fn at(address: IpAddr) -> SocketAddr {
    SocketAddr::new(address, PORT)
}

/// Returns bytes that differ by position and by `seed`.
pub(crate) fn bytes(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let mut next = || {
        // This is Marsaglia's xorshift: any generator would do whose output does not repeat.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..len.div_ceil(8)).flat_map(|_| next().to_le_bytes()).take(len).collect()
}
