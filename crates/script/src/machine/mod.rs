//! The machine that a script sets up by shell commands: sysctls, queue, route, and their effect on
//! the scheme.
//!
//! No command runs. `commands` reads the commands that packetdrill's scripts use, [`SYSCTLS`] is
//! the table of the settings that are known, with what each changes here; anything else is refused
//! by its name. A script without commands leaves the scheme as it is.

mod commands;
mod route;
mod sysctls;

pub(crate) use commands::read;
pub use sysctls::{SYSCTLS, ScriptDefaults, Sysctl};

/// One thing that a shell command sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MachineSetting {
    /// `defaults.sh`: what all scripts of packetdrill begin with.
    Defaults(ScriptDefaults),
    /// `sysctl`, `set_sysctls.py`: the index in [`SYSCTLS`], and the value.
    Sysctl(usize, String),
    /// `sysctl_restore_….sh`: sysctls are as before `set_sysctls.py`.
    Restore,
    /// `ip tcp_metrics flush all`: nothing is known of any peer.
    ForgetPeers,
    /// `tc qdisc … fq`: paced; `pfifo`: not.
    Paced(bool),
    /// `tc qdisc … limit 0`: nothing leaves.
    Drops(bool),
    /// `ethtool -K … tso off gso off`: the kernel segments in software then, which TCP does not
    /// see.
    Offload,
    /// `ip route change …`
    Route(Route),
    /// `ip link set … mtu …`: the largest packet, bytes. The segment size that is offered follows.
    LinkMtu(u32),
    /// `nstat`: counters are read.
    Counters,
    /// `nstat | grep NAME`: this counter has increased since.
    Counted(ExpectedCounter),
}

/// Variants of ECN, as values of `ecn=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestedEcn {
    /// The highest variant for incoming connections.
    pub(crate) accepted: &'static str,
    /// The variant of outgoing connections.
    pub(crate) requested: &'static str,
}

/// Expected increase of a counter since counters were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedCounter {
    /// By Linux's name, without `TcpExt`.
    pub name: String,
    /// Expected increase; at least one if the script has no number.
    pub times: Option<u64>,
}

/// Metrics of a route that concern TCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Route {
    /// Segment size that is offered, bytes.
    pub advmss: Option<u32>,
    /// `mtu lock`: largest packet, bytes.
    pub mtu: Option<u32>,
    /// Segments of the initial window.
    pub initcwnd: Option<u32>,
}

/// The machine's settings; `None` leaves the scheme's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptMachine {
    pub(crate) timestamps: Option<bool>,
    pub(crate) sack: Option<bool>,
    pub(crate) dsack: Option<bool>,
    /// `tcp_rmem`: least, first, most, bytes.
    pub(crate) receive_buffer: Option<[u64; 3]>,
    /// `tcp_ecn`: what listeners accept, and what connecting sockets request.
    pub(crate) ecn: Option<RequestedEcn>,
    /// `tcp_ecn_option`, as a value of `ecn_option=`.
    pub(crate) ecn_option: Option<&'static str>,
    pub(crate) ecn_fallback: Option<bool>,
    pub(crate) slow_start_after_idle: Option<bool>,
    pub(crate) tail_probes: Option<bool>,
    pub(crate) least_batch: Option<u32>,
    /// `tcp_fastopen`: bits.
    pub(crate) fast_open: Option<u32>,
    pub(crate) fast_open_key: Option<[u8; 16]>,
    /// `tcp_fastopen_blackhole_timeout_sec`
    pub(crate) blackhole_seconds: Option<u64>,
    pub(crate) syn_retries: Option<u32>,
    pub(crate) syn_ack_retries: Option<u32>,
    pub(crate) paced: Option<bool>,
    pub(crate) drops: bool,
    /// `tcp_invalid_ratelimit`: 0.
    pub(crate) answers_all_invalid: Option<bool>,
    /// `tcp_rto_max_ms`
    pub(crate) rto_max_ms: Option<u64>,
    /// `tcp_syncookies`: 2.
    pub(crate) always_cookies: bool,
    /// The path to the peer is over IPv6.
    pub(crate) over_ipv6: bool,
    /// The segment size that fits the link, bytes.
    pub(crate) link_mss: Option<u32>,
    pub(crate) route: Route,
}

/// A segment is no smaller, bytes (`TCP_MIN_MSS`, and what schemes take).
const MIN_SEGMENT: u32 = 64;

/// A machine, and what it was before the script's own changes.
#[derive(Clone, Debug)]
pub(crate) struct MachineHistory {
    pub(crate) now: ScriptMachine,
    /// The machine to which restoring commands return.
    before: ScriptMachine,
}

impl MachineHistory {
    /// The machine that a script finds, with the segment size that its settings say, bytes, and the
    /// version of IP.
    pub(crate) fn new(mss: Option<u32>, over_ipv6: bool) -> Self {
        // Ethernet less the headers of IPv6 and TCP.
        let link_mss = mss.or(over_ipv6.then_some(1440));
        let now = ScriptMachine { link_mss, over_ipv6, ..ScriptMachine::default() };
        Self { before: now.clone(), now }
    }

    /// A command sets this.
    pub(crate) fn set(&mut self, setting: &MachineSetting) {
        self.now.set(setting, &self.before);
        if let MachineSetting::Defaults(_) = setting {
            self.before = self.now.clone();
        }
    }
}

/// Bit of `tcp_fastopen` (`include/net/tcp.h`): the client side is on.
pub(crate) const TFO_CLIENT: u32 = 0x1;
/// The server side is on.
pub(crate) const TFO_SERVER: u32 = 0x2;
/// Clients send data without a cookie.
pub(crate) const TFO_CLIENT_NO_COOKIE: u32 = 0x4;
/// Bits of other kernels, which Linux ignores.
pub(crate) const TFO_IGNORED: u32 = 0x7_0000;
/// Servers take data without a cookie.
pub(crate) const TFO_SERVER_NO_COOKIE: u32 = 0x200;
/// All listeners take part, without `TCP_FASTOPEN`.
pub(crate) const TFO_SERVER_ALL: u32 = 0x400;

impl ScriptMachine {
    /// Bits of `tcp_fastopen`.
    pub(crate) fn fast_open(&self) -> u32 {
        self.fast_open.unwrap_or(TFO_CLIENT)
    }

    /// The parameters that these settings add to a scheme, for a socket that listens or one that
    /// connects.
    pub(crate) fn parameters(&self, listens: bool) -> Vec<String> {
        let mut all = Vec::new();
        let mut switch = |name: &str, on: Option<bool>| {
            all.extend(on.map(|on| format!("{name}={}", if on { "on" } else { "off" })));
        };
        switch("timestamps", self.timestamps);
        switch("sack", self.sack);
        switch("dsack", self.dsack);
        switch("ecn_fallback", self.ecn_fallback);
        switch("tlp", self.tail_probes);
        switch("pacing", self.paced.filter(|paced| *paced));
        let ecn = self.ecn.map(|ecn| if listens { ecn.accepted } else { ecn.requested });
        all.extend(ecn.map(|ecn| format!("ecn={ecn}")));
        all.extend(self.ecn_option.map(|option| format!("ecn_option={option}")));
        all.extend(
            self.slow_start_after_idle
                .map(|on| format!("idle={}", if on { "decay" } else { "keep" })),
        );
        all.extend(self.least_batch.map(|segments| format!("tso_least={segments}")));
        if let Some([_, first, most]) = self.receive_buffer {
            all.push(format!("rcvbuf={first}B"));
            all.push(format!("rcvbuf_max={most}B"));
        }
        all.extend(self.rto_max_ms.map(|ms| format!("rto_max={ms}ms")));
        all.extend(self.segment_size().map(|mss| format!("mss={mss}")));
        all.extend(self.route.initcwnd.map(|segments| format!("iw={segments}")));
        all
    }

    /// The segment size that is offered, bytes: the route's or the link's, in a packet of the
    /// route.
    fn segment_size(&self) -> Option<u32> {
        let fits = self.route.mtu.map(|mtu| mtu.saturating_sub(self.headers()).max(MIN_SEGMENT));
        let offered = self.route.advmss.or(self.link_mss);
        match (offered, fits) {
            (Some(offered), Some(fits)) => Some(offered.min(fits)),
            (offered, fits) => offered.or(fits),
        }
    }

    /// Headers of IP and TCP without options, bytes.
    const fn headers(&self) -> u32 {
        if self.over_ipv6 { 60 } else { 40 }
    }

    /// The settings of [`Self::parameters`] that the kernel reads while a connection is open. The
    /// segment size is one: it follows the route.
    pub(crate) fn asked_when_open(&self) -> Vec<String> {
        const ASKED: [&str; 9] = [
            "dsack",
            "ecn_option",
            "idle",
            "mss",
            "pacing",
            "rcvbuf_max",
            "rto_max",
            "tlp",
            "tso_least",
        ];
        let asked = |parameter: &String| {
            parameter.split_once('=').is_some_and(|(name, _)| ASKED.contains(&name))
        };
        self.parameters(true).into_iter().filter(asked).collect()
    }
    /// Sets what `setting` says, if it is the machine's. A route is as the command says it, and as
    /// before in nothing.
    fn set(&mut self, setting: &MachineSetting, before: &Self) {
        match setting {
            MachineSetting::Defaults(whose) => sysctls::set_defaults(self, *whose),
            MachineSetting::Sysctl(index, value) => {
                // Checked when it was read.
                let _ = (SYSCTLS[*index].set)(self, value);
            }
            MachineSetting::Restore => {
                let (drops, paced) = (self.drops, self.paced);
                *self = Self { drops, paced, ..before.clone() };
            }
            MachineSetting::Paced(paced) => self.paced = Some(*paced),
            MachineSetting::Drops(drops) => self.drops = *drops,
            MachineSetting::Route(route) => self.route = *route,
            MachineSetting::LinkMtu(mtu) => self.link_mss = mtu.checked_sub(self.headers()),
            MachineSetting::Offload
            | MachineSetting::ForgetPeers
            | MachineSetting::Counters
            | MachineSetting::Counted(_) => {}
        }
    }
}
