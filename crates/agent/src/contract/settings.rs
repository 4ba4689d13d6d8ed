//! Settings for all connections, in the programs' form.

use super::field::{constant, of, put};
use crate::kernel::congestion::ControlChoice;
use canary::part::{CanaryPart, LOSSES, PrefixLength, SIZES, WINDOWS};

/// Settings for all connections; a connection reads them when it opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionSettings {
    /// Maximum age of the memory, nanoseconds; older entries are ignored.
    pub max_age_ns: u64,
    /// Round trips of a path after which the estimate of a window is halved.
    pub half_life_rtts: u32,
    /// Largest first window, segments.
    pub cap: u32,
    /// Bits of an IPv4 prefix that is remembered as one.
    pub v4_bits: u8,
    /// Bits of an IPv6 prefix that is remembered as one.
    pub v6_bits: u8,
    /// Congestion control that hooked connections get.
    pub control: ControlChoice,
    /// Connections of a million that start cold for comparison.
    pub control_group: u32,
    /// Connections of a million, beside the control group, that may start warm.
    pub canary: u32,
    /// Counts up whenever something changes that connections are compared under.
    pub stage: u32,
    /// Connections that start cold because warm starts harmed others of their kind.
    pub stopped: StoppedParts,
    /// Makes the choice of the control group unpredictable.
    pub salt: u32,
    /// DSCP of first flights; 0: as they are.
    pub mark: u8,
    /// All connections start cold; the windows that would be set are reported.
    pub leaves_windows: bool,
    /// Connections are left alone unless one of their ports is [`super::PortKey::ONLY`].
    pub only_ports: bool,
    /// Receive window that connections opened here offer at first, bytes; 0: the kernel's.
    pub receive_window: u32,
    /// Cold starts measure the path, and end slow start by that.
    pub paces_cold: bool,
    /// They send more than a stock window, too, the rest of it slowly.
    pub widens_cold: bool,
    /// Network namespaces share what is learnt.
    pub shares_namespaces: bool,
    /// Transfers whose size is known begin so that they end with an epoch (TCP/SPAND).
    pub ends_epochs: bool,
    /// Each start is reported when it happens, for the log.
    pub tells_starts: bool,
    /// Paths that are not known are asked for as handshakes begin.
    pub asks_gateway: bool,
    /// SYNs and SYN-ACKs wait as long as answers take on their path, not a second.
    pub knows_timers: bool,
    /// Minimum of the retransmission timeout, microseconds; 0: the kernel's.
    pub rto_min_us: u32,
    /// Other programs hook new connections; these programs keep to the connections that they have.
    pub is_superseded: bool,
}

/// Kinds of connections that start cold, in the programs' form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoppedParts {
    windows: u64,
    lengths: [u32; 8],
    pasts: u32,
    has_networks: bool,
}

impl ConnectionSettings {
    /// Bytes of the constant.
    pub const SIZE: usize = of("settings", "").1;
    const LEAVE_WINDOWS: u32 = constant("LEAVE_WINDOWS");
    const ONLY_PORTS: u32 = constant("ONLY_PORTS");
    const PACE_COLD: u32 = constant("PACE_COLD");
    const WIDE_COLD: u32 = constant("WIDE_COLD");
    const SHARE_NAMESPACES: u32 = constant("SHARE_NAMESPACES");
    const END_EPOCHS: u32 = constant("END_EPOCHS");
    const REPORT_STARTS: u32 = constant("REPORT_STARTS");
    const ASK_GATEWAY: u32 = constant("ASK_GATEWAY");
    const KNOWN_TIMER: u32 = constant("KNOWN_TIMER");
    const STOP_NETWORKS: u32 = constant("STOP_NETWORKS");
    const SUPERSEDED: u32 = constant("SUPERSEDED");

    /// Returns the programs' form of the settings.
    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        let flag = |is_set: bool, flag: u32| if is_set { flag } else { 0 };
        let flags = flag(self.leaves_windows, Self::LEAVE_WINDOWS)
            | flag(self.only_ports, Self::ONLY_PORTS)
            | flag(self.paces_cold, Self::PACE_COLD)
            | flag(self.widens_cold, Self::WIDE_COLD)
            | flag(self.shares_namespaces, Self::SHARE_NAMESPACES)
            | flag(self.ends_epochs, Self::END_EPOCHS)
            | flag(self.tells_starts, Self::REPORT_STARTS)
            | flag(self.asks_gateway, Self::ASK_GATEWAY)
            | flag(self.knows_timers, Self::KNOWN_TIMER)
            | flag(self.is_superseded, Self::SUPERSEDED)
            | flag(self.stopped.has_networks, Self::STOP_NETWORKS);
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
        put!(bytes, "settings", "rto_min_us", self.rto_min_us.to_ne_bytes());
        put!(bytes, "settings", "canary", self.canary.to_ne_bytes());
        put!(bytes, "settings", "stage", self.stage.to_ne_bytes());
        put!(bytes, "settings", "stopped_windows", self.stopped.windows.to_ne_bytes());
        put!(bytes, "settings", "stopped_lengths", self.stopped.lengths_to_bytes());
        put!(bytes, "settings", "stopped_pasts", self.stopped.pasts.to_ne_bytes());
        bytes
    }
}

impl StoppedParts {
    /// No part is stopped.
    pub const NONE: Self = Self { windows: 0, lengths: [0; 8], pasts: 0, has_networks: false };
    const LENGTH_V4: u32 = constant("LENGTH_V4");

    /// Adds a part. Networks have a map of their own, beside these settings. Parts by bytes, and
    /// all connections, are ignored: the programs cannot recognise the former before a start.
    pub const fn add(&mut self, part: CanaryPart) {
        match part {
            CanaryPart::Window(class) => self.windows |= 1 << class,
            CanaryPart::Length(length) => {
                let index = Self::index(length);
                self.lengths[(index / 32) & 7] |= 1 << (index % 32);
            }
            CanaryPart::Carried(class) => {
                self.pasts |= 1 << (constant("CARRIED_BITS") + class as u32)
            }
            CanaryPart::Lost(class) => self.pasts |= 1 << (constant("LOST_BITS") + class as u32),
            CanaryPart::Network(_) => self.has_networks = true,
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

/// Both sides use the same bounds of classes.
const _: () = {
    assert!(constant("WINDOW_CLASSES") as usize == WINDOWS.len() + 1);
    let mut n = 0;
    while n < WINDOWS.len() {
        assert!(constant("WINDOW_CLASS") << n == WINDOWS[n]);
        n += 1;
    }
    assert!(constant("SIZE_CLASSES") as usize == SIZES.len() + 1);
    n = 0;
    while n < SIZES.len() {
        assert!((constant("SIZE_CLASS") as u64) << (2 * n) == SIZES[n]);
        n += 1;
    }
    assert!(constant("LOSS_CLASSES") as usize == LOSSES.len() + 1);
    n = 0;
    while n < LOSSES.len() {
        assert!(constant("LOSS_CLASS") << (2 * n) == LOSSES[n]);
        n += 1;
    }
};
