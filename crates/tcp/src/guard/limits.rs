//! How much peers may have of a host.

use super::Lifetimes;
use std::net::IpAddr;
use units::Duration;

/// What the peers of one host may cost it, all together. The defaults bound what needs no decision;
/// a server in the open sets [`Limits::connections`] and [`Limits::buffered`] by its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Live connections, half-open ones included, TIME-WAIT not. Beyond, SYNs are dropped. Default:
    /// none.
    pub connections: usize,
    /// Connections that peers have begun to open, over all listening ports (Linux
    /// `tcp_max_syn_backlog`): 4096.
    pub half_open: usize,
    /// When so many are half open, SYNs are answered by cookies, which cost nothing to keep (Linux
    /// `tcp_syncookies`=1); otherwise they are dropped.
    pub syn_cookies: bool,
    /// A peer whose address nothing has proven may have its data taken, and answered, before the handshake ends, where the scheme
    /// says so. Otherwise a Fast Open cookie alone allows that (RFC 7413 §5): anybody can write a visitor's address into a SYN,
    /// and have the answer sent there. Default: it may, as suits a simulation, where nobody lies.
    pub early_data_without_cookie: bool,
    /// Bytes received that no application has read, in order or not, of all connections. When half of
    /// it is taken, a connection gets no more than its share of the other half. Default: none.
    pub buffered: u64,
    /// A connection ends for the application when it comes to TIME-WAIT: what is kept then is a tenth
    /// of it. Otherwise it stays, with its counters, until TIME-WAIT is over, as suits a simulation.
    pub retire_early: bool,
    /// Ended connections kept so; the oldest goes first: 65,536.
    pub time_wait: usize,
    /// A reset ends TIME-WAIT, as RFC 9293 §3.10.7.4 has it; otherwise it is ignored, as RFC 1337
    /// advises (Linux `tcp_rfc1337`).
    pub reset_ends_time_wait: bool,
    /// Challenge ACKs (RFC 5961 §7), of all connections, roughly; `u32::MAX`: no limit. 1000.
    pub challenges_per_second: u32,
    /// At most one ACK to segments of one connection that are not acceptable in so long (Linux
    /// `tcp_invalid_ratelimit`): 500 ms, as often as the ten in five seconds of RFC 5961 §7. Zero: no limit.
    pub invalid_interval: Duration,
    /// Resets to segments of no connection, roughly; `u32::MAX`: no limit. 1000.
    pub resets_per_second: u32,
    /// When what is left of dead or slow peers is freed.
    pub lifetimes: Lifetimes,
    /// What may be believed of path MTUs.
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

/// What may be believed of path MTUs, bytes of IP packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MtuLimits {
    /// No message makes packets over IPv4 smaller than this: 552, as Linux (`min_pmtu`).
    pub least_v4: u32,
    /// The same over IPv6: 1280 (RFC 8201 §4).
    pub least_v6: u32,
    /// After three timeouts in a row of the same full segment, smaller ones are tried: a router that
    /// drops large packets without a word (RFC 4821 §7.7, RFC 8899 §4.3; Linux `tcp_mtu_probing`=1).
    /// Off: a simulated path has one MTU.
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
