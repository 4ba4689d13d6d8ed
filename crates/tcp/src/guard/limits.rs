//! Limits of the resources that peers may take of a host.

use super::Lifetimes;
use std::net::IpAddr;
use units::Duration;

/// Total cost of the peers of one host. The defaults bound costs that need no decision; a server on
/// the Internet sets [`Limits::connections`] and [`Limits::buffered`] by its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of live connections, half-open ones included, TIME-WAIT not. Further SYNs are
    /// dropped. Default: none.
    pub connections: usize,
    /// Maximum number of half-open connections of peers, over all listening ports (Linux
    /// `tcp_max_syn_backlog`): 4096.
    pub half_open: usize,
    /// If true, SYNs above that number are answered by cookies, which need no state (Linux
    /// `tcp_syncookies`=1); otherwise they are dropped.
    pub syn_cookies: bool,
    /// If true, data of a peer whose address is not proven may be accepted, and answered, before
    /// the handshake ends, where the scheme says so. Otherwise only a Fast Open cookie allows that
    /// (RFC 7413 §5), because an attacker can write a victim's address into a SYN and have the
    /// answer sent there. Default: true, which suits a simulation, where no host lies.
    pub early_data_without_cookie: bool,
    /// Maximum number of bytes, on all connections, that were received and not read, in order or
    /// not. When half of it is taken, a connection gets no more than its share of the other half.
    /// Default: none.
    pub buffered: u64,
    /// If true, a connection ends for the application when it enters TIME-WAIT, and a tenth of its
    /// memory is kept. Otherwise it stays, with its counters, until TIME-WAIT is over, which suits
    /// a simulation.
    pub retire_early: bool,
    /// Maximum number of ended connections kept so; the oldest is dropped first: 65,536.
    pub time_wait: usize,
    /// A reset ends TIME-WAIT, as RFC 9293 §3.10.7.4 has it; otherwise it is ignored, as RFC 1337
    /// advises (Linux `tcp_rfc1337`).
    pub reset_ends_time_wait: bool,
    /// Challenge ACKs per second (RFC 5961 §7), of all connections, roughly; `u32::MAX`: no limit.
    /// 1000.
    pub challenges_per_second: u32,
    /// Shortest time between two ACKs to unacceptable segments of one connection (Linux
    /// `tcp_invalid_ratelimit`): 500 ms, the rate of ten in five seconds of RFC 5961 §7. Zero: no
    /// limit.
    pub invalid_interval: Duration,
    /// Resets per second to segments of no connection, roughly; `u32::MAX`: no limit. 1000.
    pub resets_per_second: u32,
    /// Times after which the state of dead or slow peers is freed.
    pub lifetimes: Lifetimes,
    /// Path MTUs that are accepted.
    pub mtu: MtuLimits,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: usize::MAX,
            half_open: 4096,
            syn_cookies: true,
            early_data_without_cookie: true,
            buffered: u64::MAX,
            retire_early: false,
            time_wait: 65_536,
            reset_ends_time_wait: true,
            challenges_per_second: 1000,
            invalid_interval: Duration::from_millis(500),
            resets_per_second: 1000,
            lifetimes: Lifetimes::default(),
            mtu: MtuLimits::default(),
        }
    }
}

/// Path MTUs that are accepted, bytes of IP packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MtuLimits {
    /// No message makes packets over IPv4 smaller than this: 552, as Linux (`min_pmtu`).
    pub least_v4: u32,
    /// The smallest accepted MTU over IPv6: 1280 (RFC 8201 §4).
    pub least_v6: u32,
    /// If true, smaller segments are tried after three timeouts in a row of the same full segment:
    /// a router may drop large packets silently. This is RFC 4821 §7.7, RFC 8899 §4.3 and Linux
    /// `tcp_mtu_probing`=1. Off: a simulated path has one MTU.
    pub black_hole_detection: bool,
}

impl Default for MtuLimits {
    fn default() -> Self {
        Self { least_v4: 552, least_v6: 1280, black_hole_detection: false }
    }
}

impl MtuLimits {
    /// The least that is believed of the way to `remote`.
    pub fn least(&self, remote: IpAddr) -> u32 {
        if remote.is_ipv4() { self.least_v4 } else { self.least_v6 }
    }
}
