//! What the programs in the kernel and this side share: `bpf/contract.h`, byte by byte.

use crate::layout::{CONSTANTS, FIELDS};
use crate::schemes::ControlChoice;
use crate::start::StartReason;
use ipnet::IpNet;
use sequential::part::{CanaryPart, PrefixLength, WINDOWS};
use std::fmt::{self, Display, Formatter};
use std::net::{IpAddr, Ipv6Addr};

/// Bits of a v4-mapped address before the IPv4 address (RFC 4291 §2.5.5.2).
const V4_MAPPED: u8 = 96;

/// A destination prefix as seen from a network namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PrefixKey {
    /// Inode number of the network namespace; 0: of all, which share it.
    pub namespace: u32,
    /// The destinations that are remembered together.
    pub prefix: IpNet,
}

/// What is known of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LearntPath {
    /// When the window was learnt, nanoseconds of `CLOCK_MONOTONIC`; wrapped, below 0, if that was before this
    /// boot.
    pub learnt_ns: u64,
    /// Bytes that peers acknowledged, of the connections closed.
    pub bytes_acked: u64,
    /// Segments with data of these, retransmissions included.
    pub sent: u64,
    /// Of these, retransmissions.
    pub retransmitted: u64,
    /// At which flights were seen to come in, bytes a second; 0: not measured.
    pub rate: u64,
    /// Segments.
    pub window: u32,
    /// Where slow start ended, segments; 0 if it had not.
    pub ssthresh: u32,
    /// When the window was learnt, microseconds, queue included.
    pub srtt_us: u32,
    /// Microseconds.
    pub min_rtt_us: u32,
    /// Connections closed.
    pub connections: u32,
    /// Of these, begun with a remembered window.
    pub warm: u32,
    /// Warm starts that lost something of their first flight.
    pub fallbacks: u32,
    /// Of these, the last ones without a success between them.
    pub fallbacks_in_row: u32,
}

/// How a connection went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionSummary {
    /// Its path.
    pub path: PrefixKey,
    /// From its opening to the last arrival at the peer, less pauses longer than a round trip, nanoseconds.
    pub lasted_ns: u64,
    /// Bytes that the peer acknowledged.
    pub bytes_acked: u64,
    /// Window it began with, segments.
    pub first_window: u32,
    /// Window it ended with, segments.
    pub last_window: u32,
    /// At its end, microseconds.
    pub srtt_us: u32,
    /// Microseconds.
    pub min_rtt_us: u32,
    /// Segments with data, retransmissions included.
    pub sent: u32,
    /// Retransmissions.
    pub retransmitted: u32,
    /// Window that it left in memory, segments; 0 if none.
    pub learnt: u32,
    /// It began with a remembered window.
    pub is_warm: bool,
    /// Something of a remembered first window was lost.
    pub has_fallen_back: bool,
    /// It began cold so that others can be compared with it.
    pub in_control_group: bool,
    /// Something of its very first flight was lost, however large that was.
    pub has_lost_first: bool,
    /// Times that it began with a remembered window after idle.
    pub restarts: u32,
    /// First window that the memory proposed, taken or not, segments; 0 if none.
    pub would: u32,
    /// The memory had a window, and chance alone said whether it starts with that: with [`Self::in_control_group`], which side.
    pub is_compared: bool,
    /// Window that the memory had as it opened or began to be compared, segments; 0 if none.
    pub remembered: u32,
    /// Round trip of its handshake, microseconds.
    pub handshake_us: u32,
    /// Stage of the canary in which it opened.
    pub stage: u32,
    /// How it started.
    pub start: StartReason,
}

/// What the operator has said of a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Override {
    /// The destinations, remembered together.
    pub prefix: IpNet,
    /// Largest first window there, segments; 0: connections are left alone.
    pub cap: u32,
}

/// What holds for all connections, from their opening on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionSettings {
    /// What is older is not believed, nanoseconds.
    pub max_age_ns: u64,
    /// Round trips after which half of a window is believed no more.
    pub half_life_rtts: u32,
    /// Largest first window, segments.
    pub cap: u32,
    /// Bits of an IPv4 prefix that is remembered as one.
    pub v4_bits: u8,
    /// The same for IPv6.
    pub v6_bits: u8,
    /// What attended connections get.
    pub control: ControlChoice,
    /// Of a million connections so many begin cold for comparison.
    pub control_group: u32,
    /// Beside them so many of a million may start warm.
    pub canary: u32,
    /// Counts up whenever something changes that connections are compared under.
    pub stage: u32,
    /// Connections that start cold because warm starts did harm to such ones.
    pub stopped: StoppedParts,
    /// So that nobody can tell which.
    pub salt: u32,
    /// DSCP of first flights; 0: as they are.
    pub mark: u8,
    /// All begin cold; what would be done is told.
    pub leaves_windows: bool,
    /// Connections are left alone unless one of their ports is [`PortKey::ONLY`].
    pub only_ports: bool,
    /// What connections that are opened here offer at first, bytes; 0: as the kernel has it.
    pub receive_window: u32,
    /// Cold starts measure the path, and end slow start by that.
    pub paces_cold: bool,
    /// What is learnt in one network namespace counts in all.
    pub shares_namespaces: bool,
    /// Transfers whose size is known begin so that they end with an epoch (TCP/SPAND).
    pub ends_epochs: bool,
    /// Other programs attend to new connections: those that these have are no others' business.
    pub is_superseded: bool,
}

/// Kinds of connections that start cold, as the programs tell them apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoppedParts {
    windows: u64,
    lengths: [u32; 8],
}

/// What the operator has said of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PortKey {
    /// The peer's, not ours.
    pub is_remote: bool,
    /// Its number.
    pub number: u16,
}

/// Offset and size of a field, by the names of the header; does not compile if there is none. Of the whole struct: "".
const fn of(structure: &str, name: &str) -> (usize, usize) {
    let mut n = 0;
    while n < FIELDS.len() {
        if is_same(FIELDS[n].of, structure) && is_same(FIELDS[n].name, name) {
            return (FIELDS[n].at, FIELDS[n].size);
        }
        n += 1;
    }
    panic!("no such field in contract.h")
}

/// A constant by its name in the header; does not compile if there is none.
const fn constant(name: &str) -> u32 {
    let mut n = 0;
    while n < CONSTANTS.len() {
        if is_same(CONSTANTS[n].0, name) {
            return CONSTANTS[n].1;
        }
        n += 1;
    }
    panic!("no such constant in contract.h")
}

const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut n = 0;
    while n < a.len() && n < b.len() && a[n] == b[n] {
        n += 1;
    }
    n == a.len() && n == b.len()
}

/// The bytes of a field, of which there have to be so many.
macro_rules! get {
    ($bytes:expr, $structure:literal, $name:literal, $size:expr) => {{
        const FIELD: (usize, usize) = of($structure, $name);
        const { assert!(FIELD.1 == $size, "a field of contract.h has another size") };
        *$bytes.get(FIELD.0..)?.first_chunk::<{ FIELD.1 }>()?
    }};
}

/// Sets a field to bytes, of which there have to be as many as it has.
macro_rules! put {
    ($bytes:expr, $structure:literal, $name:literal, $value:expr) => {{
        const FIELD: (usize, usize) = of($structure, $name);
        let value: [u8; FIELD.1] = $value;
        $bytes[FIELD.0..FIELD.0 + FIELD.1].copy_from_slice(&value);
    }};
}

impl PrefixKey {
    /// Bytes of a key.
    pub const SIZE: usize = of("path_key", "").1;

    /// As the map has it.
    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        let (bits, address) = mapped(self.prefix);
        let mut bytes = [0; Self::SIZE];
        put!(bytes, "path_key", "netns", self.namespace.to_ne_bytes());
        put!(bytes, "path_key", "bits", u32::from(bits).to_ne_bytes());
        put!(bytes, "path_key", "address", address);
        bytes
    }

    /// From the map; `None` if the bytes are none of a key.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let namespace = u32::from_ne_bytes(get!(bytes, "path_key", "netns", 4));
        let bits = u32::from_ne_bytes(get!(bytes, "path_key", "bits", 4));
        let address = Ipv6Addr::from(get!(bytes, "path_key", "address", 16));
        Some(Self { namespace, prefix: unmapped(u8::try_from(bits).ok()?, address)? })
    }
}

impl LearntPath {
    /// Bytes of a value.
    pub const SIZE: usize = of("path", "").1;

    /// From the map; `None` if the bytes are none of a path.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Some(Self {
            learnt_ns: u64::from_ne_bytes(get!(bytes, "path", "learnt_ns", 8)),
            bytes_acked: u64::from_ne_bytes(get!(bytes, "path", "bytes_acked", 8)),
            sent: u64::from_ne_bytes(get!(bytes, "path", "sent", 8)),
            retransmitted: u64::from_ne_bytes(get!(bytes, "path", "retransmitted", 8)),
            rate: u64::from_ne_bytes(get!(bytes, "path", "rate", 8)),
            window: u32::from_ne_bytes(get!(bytes, "path", "window", 4)),
            ssthresh: u32::from_ne_bytes(get!(bytes, "path", "ssthresh", 4)),
            srtt_us: u32::from_ne_bytes(get!(bytes, "path", "srtt_us", 4)),
            min_rtt_us: u32::from_ne_bytes(get!(bytes, "path", "min_rtt_us", 4)),
            connections: u32::from_ne_bytes(get!(bytes, "path", "connections", 4)),
            warm: u32::from_ne_bytes(get!(bytes, "path", "warm", 4)),
            fallbacks: u32::from_ne_bytes(get!(bytes, "path", "fallbacks", 4)),
            fallbacks_in_row: u32::from_ne_bytes(get!(bytes, "path", "fallbacks_in_row", 4)),
        })
    }

    /// As the map has it.
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        put!(bytes, "path", "learnt_ns", self.learnt_ns.to_ne_bytes());
        put!(bytes, "path", "bytes_acked", self.bytes_acked.to_ne_bytes());
        put!(bytes, "path", "sent", self.sent.to_ne_bytes());
        put!(bytes, "path", "retransmitted", self.retransmitted.to_ne_bytes());
        put!(bytes, "path", "rate", self.rate.to_ne_bytes());
        put!(bytes, "path", "window", self.window.to_ne_bytes());
        put!(bytes, "path", "ssthresh", self.ssthresh.to_ne_bytes());
        put!(bytes, "path", "srtt_us", self.srtt_us.to_ne_bytes());
        put!(bytes, "path", "min_rtt_us", self.min_rtt_us.to_ne_bytes());
        put!(bytes, "path", "connections", self.connections.to_ne_bytes());
        put!(bytes, "path", "warm", self.warm.to_ne_bytes());
        put!(bytes, "path", "fallbacks", self.fallbacks.to_ne_bytes());
        put!(bytes, "path", "fallbacks_in_row", self.fallbacks_in_row.to_ne_bytes());
        bytes
    }
}

impl ConnectionSummary {
    /// Bytes of a summary.
    pub const SIZE: usize = of("summary", "").1;
    const WARM: u32 = constant("SUMMARY_WARM");
    const FELL_BACK: u32 = constant("SUMMARY_FELL_BACK");
    const CONTROL_GROUP: u32 = constant("SUMMARY_CONTROL_GROUP");
    const LOST_FIRST: u32 = constant("SUMMARY_LOST_FIRST");
    const COMPARED: u32 = constant("SUMMARY_COMPARED");

    /// From the ring buffer; `None` if the bytes are none of a summary.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let path = PrefixKey::from_bytes(&get!(bytes, "summary", "path", PrefixKey::SIZE))?;
        let flags = u32::from_ne_bytes(get!(bytes, "summary", "flags", 4));
        Some(Self {
            path,
            lasted_ns: u64::from_ne_bytes(get!(bytes, "summary", "lasted_ns", 8)),
            bytes_acked: u64::from_ne_bytes(get!(bytes, "summary", "bytes_acked", 8)),
            first_window: u32::from_ne_bytes(get!(bytes, "summary", "first_window", 4)),
            last_window: u32::from_ne_bytes(get!(bytes, "summary", "last_window", 4)),
            srtt_us: u32::from_ne_bytes(get!(bytes, "summary", "srtt_us", 4)),
            min_rtt_us: u32::from_ne_bytes(get!(bytes, "summary", "min_rtt_us", 4)),
            sent: u32::from_ne_bytes(get!(bytes, "summary", "sent", 4)),
            retransmitted: u32::from_ne_bytes(get!(bytes, "summary", "retransmitted", 4)),
            learnt: u32::from_ne_bytes(get!(bytes, "summary", "learnt", 4)),
            is_warm: flags & Self::WARM != 0,
            has_fallen_back: flags & Self::FELL_BACK != 0,
            in_control_group: flags & Self::CONTROL_GROUP != 0,
            has_lost_first: flags & Self::LOST_FIRST != 0,
            restarts: u32::from_ne_bytes(get!(bytes, "summary", "restarts", 4)),
            would: u32::from_ne_bytes(get!(bytes, "summary", "proposed", 4)),
            is_compared: flags & Self::COMPARED != 0,
            remembered: u32::from_ne_bytes(get!(bytes, "summary", "remembered", 4)),
            handshake_us: u32::from_ne_bytes(get!(bytes, "summary", "handshake_us", 4)),
            stage: u32::from_ne_bytes(get!(bytes, "summary", "stage", 4)),
            start: StartReason::of(u32::from_ne_bytes(get!(bytes, "summary", "start", 4)))?,
        })
    }
}

impl Display for ConnectionSummary {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "connection to {}: start={} window={} proposed={} remembered={} handshake_ms={:.1} compared={} stage={} fell_back={} \
             restarts={} bytes={} sent={} retransmitted={} lasted_ms={:.1} learnt={}",
            self.path.prefix,
            self.start.name(),
            self.first_window,
            self.would,
            self.remembered,
            f64::from(self.handshake_us) / 1e3,
            self.is_compared,
            self.stage,
            self.has_fallen_back,
            self.restarts,
            self.bytes_acked,
            self.sent,
            self.retransmitted,
            self.lasted_ns as f64 / 1e6,
            self.learnt,
        )
    }
}

impl Override {
    /// Bytes of a key of the longest-prefix map.
    pub const KEY_SIZE: usize = of("override_key", "").1;
    /// Bytes of a value.
    pub const VALUE_SIZE: usize = of("override", "").1;

    /// Key and value as the map has them.
    pub fn to_bytes(self) -> ([u8; Self::KEY_SIZE], [u8; Self::VALUE_SIZE]) {
        let (bits, address) = mapped(self.prefix);
        let bits = u32::from(bits).to_ne_bytes();
        let (mut key, mut value) = ([0; Self::KEY_SIZE], [0; Self::VALUE_SIZE]);
        put!(key, "override_key", "bits", bits);
        put!(key, "override_key", "address", address);
        put!(value, "override", "bits", bits);
        put!(value, "override", "cap", self.cap.to_ne_bytes());
        (key, value)
    }
}

impl ConnectionSettings {
    /// Bytes of the constant.
    pub const SIZE: usize = of("settings", "").1;
    const LEAVE_WINDOWS: u32 = constant("LEAVE_WINDOWS");
    const ONLY_PORTS: u32 = constant("ONLY_PORTS");
    const PACE_COLD: u32 = constant("PACE_COLD");
    const SHARE_NAMESPACES: u32 = constant("SHARE_NAMESPACES");
    const END_EPOCHS: u32 = constant("END_EPOCHS");
    const SUPERSEDED: u32 = constant("SUPERSEDED");

    /// As the programs have them.
    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        let flag = |is_set: bool, flag: u32| if is_set { flag } else { 0 };
        let flags = flag(self.leaves_windows, Self::LEAVE_WINDOWS)
            | flag(self.only_ports, Self::ONLY_PORTS)
            | flag(self.paces_cold, Self::PACE_COLD)
            | flag(self.shares_namespaces, Self::SHARE_NAMESPACES)
            | flag(self.ends_epochs, Self::END_EPOCHS)
            | flag(self.is_superseded, Self::SUPERSEDED);
        let mut bytes = [0; Self::SIZE];
        put!(bytes, "settings", "max_age_ns", self.max_age_ns.to_ne_bytes());
        put!(bytes, "settings", "half_life_rtts", self.half_life_rtts.to_ne_bytes());
        put!(bytes, "settings", "cap", self.cap.to_ne_bytes());
        put!(bytes, "settings", "v4_bits", u32::from(self.v4_bits).to_ne_bytes());
        put!(bytes, "settings", "v6_bits", u32::from(self.v6_bits).to_ne_bytes());
        put!(bytes, "settings", "control", self.control.to_u32().to_ne_bytes());
        put!(bytes, "settings", "control_group", self.control_group.to_ne_bytes());
        put!(bytes, "settings", "salt", self.salt.to_ne_bytes());
        put!(bytes, "settings", "flags", flags.to_ne_bytes());
        put!(bytes, "settings", "mark", (u32::from(self.mark) << 2).to_ne_bytes());
        put!(bytes, "settings", "receive_window", self.receive_window.to_ne_bytes());
        put!(bytes, "settings", "canary", self.canary.to_ne_bytes());
        put!(bytes, "settings", "stage", self.stage.to_ne_bytes());
        put!(bytes, "settings", "stopped_windows", self.stopped.windows.to_ne_bytes());
        put!(bytes, "settings", "stopped_lengths", self.stopped.lengths_to_bytes());
        bytes
    }
}

impl StoppedParts {
    /// None.
    pub const NONE: Self = Self { windows: 0, lengths: [0; 8] };
    const LENGTH_V4: u32 = constant("LENGTH_V4");

    /// And these. All and bytes are nothing that the programs could tell by: they change nothing.
    pub const fn add(&mut self, part: CanaryPart) {
        match part {
            CanaryPart::Window(class) => self.windows |= 1 << class,
            CanaryPart::Length(length) => {
                let index = Self::index(length);
                self.lengths[(index / 32) & 7] |= 1 << (index % 32);
            }
            CanaryPart::All | CanaryPart::Bytes(_) => {}
        }
    }

    const fn index(length: PrefixLength) -> usize {
        let base = if length.is_v4 { Self::LENGTH_V4 } else { 0 };
        base as usize + length.bits as usize
    }

    fn lengths_to_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (to, word) in bytes.chunks_exact_mut(4).zip(self.lengths) {
            to.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }
}

/// Both sides tell classes of windows by the same bounds.
const _: () = {
    assert!(constant("WINDOW_CLASSES") as usize == WINDOWS.len() + 1);
    let mut n = 0;
    while n < WINDOWS.len() {
        assert!(constant("WINDOW_CLASS") << n == WINDOWS[n]);
        n += 1;
    }
};

impl PortKey {
    /// Connections of this port are attended to.
    pub const ONLY: u32 = constant("PORT_ONLY");
    /// Connections of this port are left alone, whatever is said of the other side's.
    pub const EXCEPT: u32 = constant("PORT_EXCEPT");
    const REMOTE: u32 = constant("PORT_REMOTE");

    /// Key of the map; its value is [`Self::ONLY`], [`Self::EXCEPT`], or both.
    pub fn to_bytes(self) -> [u8; 4] {
        let side = if self.is_remote { Self::REMOTE } else { 0 };
        (side | u32::from(self.number)).to_ne_bytes()
    }
}

/// IPv4 as v4-mapped IPv6: bits and address, those beyond the prefix 0.
fn mapped(prefix: IpNet) -> (u8, [u8; 16]) {
    match prefix {
        IpNet::V4(v4) => (V4_MAPPED + v4.prefix_len(), v4.network().to_ipv6_mapped().octets()),
        IpNet::V6(v6) => (v6.prefix_len(), v6.network().octets()),
    }
}

fn unmapped(bits: u8, address: Ipv6Addr) -> Option<IpNet> {
    match (address.to_ipv4_mapped(), bits.checked_sub(V4_MAPPED)) {
        (Some(v4), Some(bits)) => IpNet::new(IpAddr::V4(v4), bits).ok(),
        _ => IpNet::new(IpAddr::V6(address), bits).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(prefix: &str) -> PrefixKey {
        PrefixKey { namespace: 0x0102_0304, prefix: prefix.parse().unwrap() }
    }

    #[test]
    fn an_ipv4_prefix_is_96_bits_longer_behind_ffff() {
        let bytes = key("192.0.2.0/24").to_bytes();
        assert_eq!(bytes[..4], 0x0102_0304_u32.to_ne_bytes());
        assert_eq!(bytes[4..8], 120_u32.to_ne_bytes());
        assert_eq!(bytes[8..], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 192, 0, 2, 0]);
    }

    #[test]
    fn keys_come_back_as_they_went() {
        for prefix in ["192.0.2.0/24", "0.0.0.0/0", "203.0.113.7/32", "2001:db8::/48", "::/0"] {
            assert_eq!(PrefixKey::from_bytes(&key(prefix).to_bytes()), Some(key(prefix)));
        }
    }

    #[test]
    fn an_override_says_its_bits_to_the_map_and_to_the_programs() {
        let said = Override { prefix: "2001:db8::1/32".parse().unwrap(), cap: 7 };
        let (key, value) = said.to_bytes();
        assert_eq!(key[..4], 32_u32.to_ne_bytes());
        // What lies beyond the prefix is 0.
        assert_eq!(key[4..], [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!((&value[..4], &value[4..]), (&key[..4], &7_u32.to_ne_bytes()[..]));
    }

    #[test]
    fn paths_come_back_as_they_went() {
        let mut bytes = [0; LearntPath::SIZE];
        bytes.iter_mut().zip(0..).for_each(|(byte, n)| *byte = n);
        assert_eq!(LearntPath::from_bytes(&bytes).unwrap().to_bytes(), bytes);
    }

    #[test]
    fn what_is_too_short_is_nothing() {
        assert_eq!(PrefixKey::from_bytes(&[0; PrefixKey::SIZE - 1]), None);
        assert_eq!(ConnectionSummary::from_bytes(&[0; ConnectionSummary::SIZE - 1]), None);
        assert!(ConnectionSummary::from_bytes(&[0; ConnectionSummary::SIZE]).is_some());
    }
}
