//! How an endpoint is set up.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use tcp::{FastOpen, Host, Limits, MtuLimits};
use units::Duration;
use wire::Marking;

/// How an endpoint is set up.
pub struct EndpointConfig {
    /// Its IPv4 address; without one it takes no IPv4.
    pub v4: Option<Ipv4Addr>,
    /// Its IPv6 address; without one it takes no IPv6.
    pub v6: Option<Ipv6Addr>,
    /// Code points by drop precedence.
    pub marking: Marking,
    /// What peers may cost it, and how long what is left of them is kept. As in Linux, who answers and takes nothing is kept
    /// for ever: servers of strangers set [`tcp::Lifetimes::user_timeout`] and `min_rate`.
    pub limits: Limits,
    /// Keys of Fast Open cookies, and how many may come in by one. `None`: keys of its own, drawn
    /// when it begins and anew every [`EndpointConfig::FAST_OPEN_KEY_LIFE`]; servers behind one address share
    /// theirs.
    pub fast_open: Option<FastOpen>,
    /// Small segments leave at once, though others are not acknowledged (`TCP_NODELAY`).
    pub nodelay: bool,
    /// What a stream may have written and not acknowledged, at most, bytes. It begins with
    /// [`EndpointConfig::FIRST_SEND_BUFFER`] and grows with the window, and with what is under way.
    pub send_buffer: u64,
    /// What the buffers of all streams may take before they stop growing and no connection is accepted, bytes. Half
    /// of it is for whoever comes. When that is taken, a peer (an IPv4 address, or a network of 64 bits of IPv6) gets
    /// its equal share of the other half, and further connections of a peer above its share are reset.
    pub buffers: usize,
    /// Connections that wait for [`crate::Listener::accept`], at most; others are reset.
    pub backlog: usize,
    /// How long connections may take to end after the last stream, listener and [`crate::Endpoint`]
    /// are gone.
    pub linger: Duration,
    /// Sets up the host before anything else happens: memories, gates, Fast Open.
    pub setup: Option<HostSetup>,
}

/// What [`EndpointConfig::setup`] does.
pub type HostSetup = Box<dyn FnOnce(&mut Host) + Send>;

impl EndpointConfig {
    /// What a stream may buffer before its window is known, bytes.
    pub const FIRST_SEND_BUFFER: u64 = 256 << 10;

    /// How long cookies are made with one key; they are taken as long again (RFC 7413 §4.1.2 has keys
    /// change, and gives no time; Linux's change when somebody changes them).
    pub const FAST_OPEN_KEY_LIFE: Duration = Duration::from_secs(4 * 3600);

    /// An endpoint with these addresses and defaults for the rest.
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

    /// The end of a connection to `remote`.
    pub(crate) fn towards(&self, remote: IpAddr, port: u16) -> Option<SocketAddr> {
        let address = match remote {
            IpAddr::V4(_) => self.v4.map(IpAddr::V4),
            IpAddr::V6(_) => self.v6.map(IpAddr::V6),
        };
        address.map(|address| SocketAddr::new(address, port))
    }

    /// Where a listener says that it is.
    pub(crate) fn any(&self, port: u16) -> SocketAddr {
        let first = self.v4.map(IpAddr::V4).or(self.v6.map(IpAddr::V6));
        SocketAddr::new(first.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)), port)
    }
}
