//! The configuration of an endpoint.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use tcp::{FastOpen, Host, Limits, MtuLimits};
use units::Duration;
use wire::Marking;

/// The configuration of an endpoint.
pub struct EndpointConfig {
    /// Its IPv4 address; without one it handles no IPv4.
    pub v4: Option<Ipv4Addr>,
    /// Its IPv6 address; without one it handles no IPv6.
    pub v6: Option<Ipv6Addr>,
    /// DSCPs by drop precedence.
    pub marking: Marking,
    /// Limits of peers' resources and of connection lifetimes. As in Linux, a peer that answers but
    /// takes no data is kept for ever: servers of strangers set [`tcp::Lifetimes::user_timeout`]
    /// and `min_rate`.
    pub limits: Limits,
    /// Keys of Fast Open cookies, and the number of pending connections that use them. `None`: keys
    /// of its own, drawn at the start and again every [`EndpointConfig::FAST_OPEN_KEY_LIFE`];
    /// servers behind one address share theirs.
    pub fast_open: Option<FastOpen>,
    /// Sends small segments at once, though others are not acknowledged (`TCP_NODELAY`).
    pub nodelay: bool,
    /// Maximum size of a stream's written and unacknowledged data, bytes. The buffer begins with
    /// [`EndpointConfig::FIRST_SEND_BUFFER`] and grows with the window, and with the data in
    /// flight.
    pub send_buffer: u64,
    /// Size of all streams' buffers from which on they stop growing and no connection is accepted,
    /// bytes.
    ///
    /// Half of it is available to any peer. When that is taken, a peer (an IPv4 address, or a
    /// network of 64 bits of IPv6) gets its equal share of the other half. Further connections of a
    /// peer above its share are reset.
    pub buffers: usize,
    /// Maximum number of connections that wait for [`crate::Listener::accept`]; others are reset.
    pub backlog: usize,
    /// Longest time for connections to end after the last stream, listener and [`crate::Endpoint`]
    /// are gone.
    pub linger: Duration,
    /// Sets up the host before anything else happens: memories, gates, Fast Open.
    pub setup: Option<HostSetup>,
}

/// The function of [`EndpointConfig::setup`].
pub type HostSetup = Box<dyn FnOnce(&mut Host) + Send>;

impl EndpointConfig {
    /// Initial send buffer of a stream, before its window is known, bytes.
    pub const FIRST_SEND_BUFFER: u64 = 256 << 10;

    /// Time for which cookies are made with one key; they are accepted for as long again. RFC 7413
    /// §4.1.2 lets keys change, and gives no time; Linux changes them only on request.
    pub const FAST_OPEN_KEY_LIFE: Duration = Duration::from_secs(4 * 3600);

    /// Creates a configuration with these addresses and defaults for the rest.
    pub fn new(v4: Option<Ipv4Addr>, v6: Option<Ipv6Addr>) -> Self {
        Self {
            v4,
            v6,
            marking: Marking::default(),
            limits: Limits {
                connections: 100_000,
                early_data_without_cookie: false,
                buffered: 1 << 30,
                retire_early: true,
                mtu: MtuLimits { black_hole_detection: true, ..MtuLimits::default() },
                ..Limits::default()
            },
            fast_open: None,
            nodelay: true,
            send_buffer: 8 << 20,
            buffers: 1 << 30,
            backlog: 4096,
            linger: Duration::from_secs(10),
            setup: None,
        }
    }
}

impl fmt::Debug for EndpointConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EndpointConfig")
            .field("v4", &self.v4)
            .field("v6", &self.v6)
            .finish_non_exhaustive()
    }
}

/// The endpoint's addresses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Addresses {
    pub(crate) v4: Option<Ipv4Addr>,
    pub(crate) v6: Option<Ipv6Addr>,
}

impl Addresses {
    pub(crate) fn contain(&self, address: IpAddr) -> bool {
        match address {
            IpAddr::V4(address) => self.v4 == Some(address),
            IpAddr::V6(address) => self.v6 == Some(address),
        }
    }

    /// Returns the local end of a connection to `remote`.
    pub(crate) fn local_address_towards(&self, remote: IpAddr, port: u16) -> Option<SocketAddr> {
        let address = match remote {
            IpAddr::V4(_) => self.v4.map(IpAddr::V4),
            IpAddr::V6(_) => self.v6.map(IpAddr::V6),
        };
        address.map(|address| SocketAddr::new(address, port))
    }

    /// Returns the address that a listener reports.
    pub(crate) fn listener_address(&self, port: u16) -> SocketAddr {
        let first = self.v4.map(IpAddr::V4).or(self.v6.map(IpAddr::V6));
        SocketAddr::new(first.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)), port)
    }
}
