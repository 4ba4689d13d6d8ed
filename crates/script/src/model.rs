//! What a script says, after reading: settings, and events in order.
//!
//! Segments are [`tcp::Segment`]s with the script's own numbering: SYNs have the numbers that the script calls them, all
//! others count from their SYN, which is 0.

use crate::code::Statement;
use crate::machine::Setting;
use tcp::{Scheme, Segment, Unreachable};
use std::net::{IpAddr, Ipv4Addr};
use units::Duration;

/// The scheme of a script that names none: what scripts for packetdrill are mostly written for.
pub const DEFAULT_SCHEME: &str = "linux";

/// A whole script.
#[derive(Clone, Debug)]
pub struct Script {
    /// File name, for messages.
    pub name: String,
    /// What the `--option=value` lines set.
    pub settings: ScriptSettings,
    /// Remarks for the reader: options accepted but without effect here.
    pub notes: Vec<String>,
    /// The events, in order.
    pub events: Vec<ScriptEvent>,
}

/// What the `--option=value` lines set.
#[derive(Clone, Debug)]
pub struct ScriptSettings {
    /// `--scheme`: the TCP under test; `None`: [`DEFAULT_SCHEME`].
    pub scheme: Option<Scheme>,
    /// `--mss`, or `--mtu` less 40 bytes of headers: largest segment the host offers and sends.
    pub mss: Option<u32>,
    /// `--tolerance_usecs`: how far an outbound segment may be from its time.
    pub tolerance: Duration,
    /// `--tcp_ts_tick_usecs`: length of a timestamp tick; `None` leaves values unchecked.
    pub timestamp_tick: Option<Duration>,
    /// `--strict_segments`: one expected segment matches one sent segment only.
    pub strict_segments: bool,
    /// `--ignore_push`: the flag PSH is not compared.
    pub ignore_push: bool,
    /// `--local_ip`: the host's address.
    pub local: IpAddr,
    /// `--remote_ip`: the peer's.
    pub remote: IpAddr,
    /// `--seed`: the host draws its initial sequence number from it.
    pub seed: u64,
}

impl Default for ScriptSettings {
    fn default() -> Self {
        Self {
            scheme: None,
            mss: None,
            tolerance: Duration::from_millis(4),
            timestamp_tick: None,
            strict_segments: false,
            ignore_push: false,
            local: IpAddr::V4(Ipv4Addr::new(192, 168, 0, 1)),
            remote: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
            seed: 1,
        }
    }
}

/// Where in the text something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// One event of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptEvent {
    /// Where it begins.
    pub position: Position,
    /// When it happens.
    pub when: When,
    /// What happens.
    pub action: ScriptAction,
}

/// The time of an event. Absolute times count from the beginning of the script, relative ones
/// from the event before: from its time as written, or from when it happened if it was written
/// as a range or `*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// `0.1`
    At(Duration),
    /// `+0.1`
    After(Duration),
    /// `0.1~0.2`, outbound segments only.
    AtRange(Duration, Duration),
    /// `+0.1~+0.2`, outbound segments only.
    AfterRange(Duration, Duration),
    /// `*`, outbound segments only.
    Any,
}

/// What happens at an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptAction {
    /// `<`: this segment reaches the host.
    Inbound(Segment),
    /// `>`: the host must send this.
    Outbound(Expected),
    /// The application calls.
    Call(Call),
    /// `< icmp`: a router says that something did not arrive.
    Icmp(IcmpMessage),
    /// `%{ assert ... }%`: all must hold.
    Code(Vec<CodeLine>),
    /// Commands in backquotes set something of the machine.
    Shell(Vec<Setting>),
}

/// What a router says of a packet of the host's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IcmpMessage {
    /// What is wrong.
    pub trouble: IcmpTrouble,
    /// First sequence number of the segment it quotes, as scripts count: 0 is the SYN.
    pub quoted: u32,
}

/// What routers complain of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IcmpTrouble {
    /// The peer cannot be reached.
    Unreachable(Unreachable),
    /// The packet is larger than this MTU, bytes.
    TooBig(u32),
}

/// A segment that the host must send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The segment. Where a `check_` below is false, that part of it means nothing.
    pub segment: Segment,
    /// `win` was given.
    pub check_window: bool,
    /// The ECN field was given, like `[ect0]`.
    pub check_ecn: bool,
    /// Options were not written as `<...>`.
    pub check_options: bool,
}

/// A call of the application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The descriptor it is made on; of `socket`, the one it returns.
    pub fd: u32,
    /// Which call.
    pub kind: CallKind,
    /// What it returns.
    pub outcome: CallOutcome,
    /// When a blocking call returns, if it blocks; absolute or relative as the event's time is.
    pub returns: Option<Duration>,
    /// The call as written.
    pub text: String,
}

/// The calls that scripts can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    /// `socket(..., SOCK_STREAM, IPPROTO_TCP)`
    Socket,
    /// Calls without effect here: `bind`, options such as `SO_REUSEADDR`.
    Nothing,
    /// `fcntl` with `F_SETFL`: with `O_NONBLOCK` or without.
    NonBlocking(bool),
    /// `listen`
    Listen,
    /// `connect`
    Connect,
    /// `accept`: the new descriptor is the outcome.
    Accept,
    /// `read`, `recv`: at most so many bytes.
    Read(u64),
    /// `write`, `send`.
    Write(Writing),
    /// `sendto` or `sendmsg` with `MSG_FASTOPEN`: connect with data ready for the SYN.
    ConnectWith(Writing),
    /// The same to no address (`AF_UNSPEC`).
    ConnectNowhere,
    /// `IP_MTU_DISCOVER` with `IP_PMTUDISC_DONT`: packets may be fragmented.
    NoPathMtu,
    /// `shutdown`
    Shutdown(Shutdown),
    /// `close`
    Close,
    /// A buffer that is none, which is `EFAULT`.
    BadPointer,
    /// `poll` of one descriptor: what is asked for, and what is so.
    Poll(Polled),
    /// `TCP_NODELAY`.
    NoDelay(bool),
    /// `TCP_CORK`.
    Cork(bool),
    /// `TCP_MAXSEG`, before `listen` or `connect`: bytes.
    MaxSegment(u32),
    /// `SO_LINGER` with time zero: `close` resets.
    LingerZero(bool),
    /// `TCP_USER_TIMEOUT`.
    UserTimeout(Duration),
    /// `TCP_SYNCNT`: how often a SYN goes again.
    SynRetries(u32),
    /// `TCP_FASTOPEN` of a listener: connections waiting by a cookie.
    FastOpenQueue(u32),
    /// `TCP_FASTOPEN_CONNECT`: the first write connects, if there is a cookie.
    FastOpenConnect(bool),
    /// `TCP_FASTOPEN_KEY`: of a wrong length if none.
    FastOpenKey(Option<[u8; 16]>),
    /// `TCP_NOTSENT_LOWAT`, bytes.
    NotSentLowWater(u32),
    /// `SO_SNDBUF`: bytes as asked for, of which the kernel takes twice as many.
    SendBuffer(u32),
    /// `getsockopt` of a number, which must be this.
    Get(SocketOption, u64),
}

/// What `write` and its kin are to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Writing {
    /// Bytes.
    pub bytes: u64,
    /// `MSG_DONTWAIT`
    pub at_once: bool,
    /// `MSG_MORE`: more is to come, small segments may wait.
    pub more: bool,
    /// `MSG_EOR`: nothing is added to the last segment.
    pub ends_record: bool,
}

/// What `shutdown` ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// `SHUT_RD`
    Reading,
    /// `SHUT_WR`
    Writing,
    /// `SHUT_RDWR`
    Both,
}

/// `poll`: bits of `poll.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Polled {
    /// What is asked for.
    pub events: u16,
    /// What must be so.
    pub found: u16,
}

/// Options whose value a script may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketOption {
    /// `TCP_MAXSEG`
    MaxSegment,
    /// `SO_ERROR`
    Error,
    /// `SO_SNDBUF`
    SendBuffer,
    /// `TCP_NOTSENT_LOWAT`
    NotSentLowWater,
}

/// What a call returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    /// A number from zero.
    Value(u64),
    /// -1 and this error.
    Error(Errno),
    /// -1, and whatever error.
    AnyError,
}

/// The errors that calls can return here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errno {
    /// `EAGAIN`: it would block.
    Again,
    /// `EINPROGRESS`: the opening has begun.
    InProgress,
    /// `EALREADY`: the opening is under way.
    Already,
    /// `EISCONN`: it is open.
    IsConnected,
    /// `ECONNRESET`: the peer has reset the connection.
    ConnectionReset,
    /// `ECONNREFUSED`: the peer answered the SYN with a reset.
    ConnectionRefused,
    /// `EPIPE`: the sending side is shut down.
    Pipe,
    /// `ENOTCONN`: there is no connection.
    NotConnected,
    /// `ETIMEDOUT`: nobody answers.
    TimedOut,
    /// `EHOSTUNREACH`: a router says that there is no way.
    HostUnreachable,
    /// `EOPNOTSUPP`: not so.
    NotSupported,
    /// `EINVAL`: a wrong argument.
    Invalid,
    /// `EFAULT`: a pointer that is none.
    Fault,
}

impl Errno {
    /// Every error with its name.
    pub const ALL: [(&'static str, Self); 13] = [
        ("EAGAIN", Self::Again),
        ("EINPROGRESS", Self::InProgress),
        ("EALREADY", Self::Already),
        ("EISCONN", Self::IsConnected),
        ("ECONNRESET", Self::ConnectionReset),
        ("ECONNREFUSED", Self::ConnectionRefused),
        ("EPIPE", Self::Pipe),
        ("ENOTCONN", Self::NotConnected),
        ("ETIMEDOUT", Self::TimedOut),
        ("EHOSTUNREACH", Self::HostUnreachable),
        ("EOPNOTSUPP", Self::NotSupported),
        ("EINVAL", Self::Invalid),
        ("EFAULT", Self::Fault),
    ];

    /// The name as in `errno.h`.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, errno)| *errno == self).map_or("", |(name, _)| name)
    }
}

/// One statement of a code block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeLine {
    /// Where it begins.
    pub position: Position,
    /// What it says.
    pub statement: Statement,
    /// As written.
    pub text: String,
}

/// How two operands are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparator {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// What can be asked of the connection, named and counted as in Linux's `struct tcp_info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpInfoField {
    /// `tcpi_state`: one of `TCP_ESTABLISHED` ...
    State,
    /// `tcpi_ca_state`: one of `TCP_CA_Open` ...
    CaState,
    /// `tcpi_snd_cwnd`, segments.
    SndCwnd,
    /// `tcpi_snd_ssthresh`, segments; 2147483647 while unlimited.
    SndSsthresh,
    /// `tcpi_unacked`: segments sent and not acknowledged cumulatively.
    Unacked,
    /// `tcpi_sacked`: segments acknowledged selectively.
    Sacked,
    /// `tcpi_lost`: segments taken for lost.
    Lost,
    /// `tcpi_retrans`: segments sent again and not yet acknowledged.
    Retrans,
    /// `tcpi_total_retrans`: retransmissions so far.
    TotalRetrans,
    /// `tcpi_rto`, microseconds.
    Rto,
    /// `tcpi_rtt`: smoothed, microseconds.
    Rtt,
    /// `tcpi_snd_mss`, bytes.
    SndMss,
    /// `tcpi_options`: bits of [`CONSTANTS`], `TCPI_OPT_TIMESTAMPS` ...
    Options,
    /// `tcpi_delivered`: segments that the peer has acknowledged in one way or the other, the SYN among them.
    Delivered,
    /// `tcpi_reordering`: segments that one may be late and not lost.
    Reordering,
    /// `tcpi_reord_seen`: how often something came late.
    ReordSeen,
    /// `tcpi_backoff`: doublings of the timeout.
    Backoff,
    /// `tcpi_probes`: window probes without an answer.
    Probes,
    /// `tcpi_advmss`: the segment size that the host offers, bytes.
    Advmss,
    /// `tcpi_min_rtt`, microseconds.
    MinRtt,
    /// `tcpi_last_data_recv`: milliseconds since data came.
    LastDataRecv,
    /// `tcpi_rcv_mss`: size of the segments that come, bytes.
    RcvMss,
    /// `tcpi_busy_time`: microseconds with something to send or unacknowledged.
    BusyTime,
    /// `tcpi_rwnd_limited`: of these, those that the peer's window took.
    RwndLimited,
    /// `tcpi_sndbuf_limited`: those that the send buffer took.
    SndbufLimited,
}

impl TcpInfoField {
    /// Every quantity with its name.
    pub const ALL: [(&'static str, Self); 25] = [
        ("tcpi_state", Self::State),
        ("tcpi_ca_state", Self::CaState),
        ("tcpi_snd_cwnd", Self::SndCwnd),
        ("tcpi_snd_ssthresh", Self::SndSsthresh),
        ("tcpi_unacked", Self::Unacked),
        ("tcpi_sacked", Self::Sacked),
        ("tcpi_lost", Self::Lost),
        ("tcpi_retrans", Self::Retrans),
        ("tcpi_total_retrans", Self::TotalRetrans),
        ("tcpi_rto", Self::Rto),
        ("tcpi_rtt", Self::Rtt),
        ("tcpi_snd_mss", Self::SndMss),
        ("tcpi_options", Self::Options),
        ("tcpi_delivered", Self::Delivered),
        ("tcpi_reordering", Self::Reordering),
        ("tcpi_reord_seen", Self::ReordSeen),
        ("tcpi_backoff", Self::Backoff),
        ("tcpi_probes", Self::Probes),
        ("tcpi_advmss", Self::Advmss),
        ("tcpi_min_rtt", Self::MinRtt),
        ("tcpi_last_data_recv", Self::LastDataRecv),
        ("tcpi_rcv_mss", Self::RcvMss),
        ("tcpi_busy_time", Self::BusyTime),
        ("tcpi_rwnd_limited", Self::RwndLimited),
        ("tcpi_sndbuf_limited", Self::SndbufLimited),
    ];
}

/// Constants of conditions: numbers as in Linux's `tcp.h`.
pub const CONSTANTS: [(&str, u64); 22] = [
    ("TCP_ESTABLISHED", 1),
    ("TCP_SYN_SENT", 2),
    ("TCP_SYN_RECV", 3),
    ("TCP_FIN_WAIT1", 4),
    ("TCP_FIN_WAIT2", 5),
    ("TCP_TIME_WAIT", 6),
    ("TCP_CLOSE", 7),
    ("TCP_CLOSE_WAIT", 8),
    ("TCP_LAST_ACK", 9),
    ("TCP_LISTEN", 10),
    ("TCP_CLOSING", 11),
    ("TCP_CA_Open", 0),
    ("TCP_CA_Disorder", 1),
    ("TCP_CA_CWR", 2),
    ("TCP_CA_Recovery", 3),
    ("TCP_CA_Loss", 4),
    ("TCPI_OPT_TIMESTAMPS", 1),
    ("TCPI_OPT_SACK", 2),
    ("TCPI_OPT_WSCALE", 4),
    ("TCPI_OPT_ECN", 8),
    ("TCPI_OPT_ECN_SEEN", 16),
    ("TCPI_OPT_SYN_DATA", 32),
];
