//! Content of a script, after reading: settings, and events in order.
//!
//! Segments are [`tcp::Segment`]s with the script's own numbering: SYNs have the numbers that the
//! script calls them, all others count from their SYN, which is 0.

use crate::code::Statement;
pub use crate::code::{CONSTANTS, Comparator, TcpInfoField};
use crate::machine::MachineSetting;
use std::net::{IpAddr, Ipv4Addr};
use tcp::{LinuxVersion, Scheme, Segment, Unreachable};
use units::Duration;

/// The scheme of a script that names none: what scripts for packetdrill are mostly written for.
pub const DEFAULT_SCHEME: &str = "linux";

/// A whole script.
#[derive(Clone, Debug)]
pub struct Script {
    /// File name, for messages.
    pub name: String,
    /// Settings of the `--option=value` lines.
    pub settings: ScriptSettings,
    /// Remarks for the reader: options accepted but without effect here.
    pub notes: Vec<String>,
    /// The events, in order.
    pub events: Vec<ScriptEvent>,
}

/// Settings of the `--option=value` lines.
#[derive(Clone, Debug)]
pub struct ScriptSettings {
    /// `--scheme`: the TCP under test; `None`: [`DEFAULT_SCHEME`].
    pub scheme: Option<Scheme>,
    /// `--linux`: the version of Linux that the scheme follows; `None`: as the scheme says.
    pub linux: Option<LinuxVersion>,
    /// `--mtu`: largest packet of the host, bytes.
    pub mtu: Option<u32>,
    /// The version of IP was named: a script's own name does not say it.
    pub names_version: bool,
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
            linux: None,
            mtu: None,
            names_version: false,
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

impl ScriptSettings {
    /// The largest segment that the host offers and sends, bytes: the packet less the headers of IP
    /// and TCP.
    pub fn mss(&self) -> Option<u32> {
        let headers = if self.remote.is_ipv6() { 60 } else { 40 };
        self.mtu.and_then(|mtu| mtu.checked_sub(headers))
    }
}

/// Position in the text.
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
    /// Position of its beginning.
    pub position: Position,
    /// Time of the event.
    pub when: When,
    /// Action of the event.
    pub action: ScriptAction,
}

/// The time of an event. Absolute times count from the beginning of the script, relative ones from
/// the event before. They count from that event's time as written, or from its actual time if it
/// was written as a range or `*`.
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

/// Action of an event.
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
    Shell(Vec<MachineSetting>),
}

/// A router's message on a packet of the host's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IcmpMessage {
    /// Reason of the message.
    pub trouble: IcmpTrouble,
    /// The connection's error, if the message ends it (`icmp_err_convert`).
    pub errno: Errno,
    /// First sequence number of the segment it quotes, as scripts count: 0 is the SYN.
    pub quoted: u32,
}

/// Reasons of routers' messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IcmpTrouble {
    /// There is no way to the peer.
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
    /// Expected ECN field.
    pub ecn: ExpectedEcn,
    /// Options were not written as `<...>`.
    pub check_options: bool,
}

/// Expectation of the ECN field of a segment that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedEcn {
    /// Nothing.
    Any,
    /// It is the segment's.
    Same,
    /// `[ect01]`: either codepoint of ECN-capable transport.
    Capable,
}

/// A call of the application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The descriptor it is made on; of `socket`, the one it returns.
    pub fd: u32,
    /// Kind of the call.
    pub kind: CallKind,
    /// Expected result.
    pub outcome: CallOutcome,
    /// When a blocking call returns, if it blocks; absolute or relative as the event's time is.
    pub returns: Option<Duration>,
    /// The call as written.
    pub text: String,
}

/// The calls that scripts can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    /// `socket(..., SOCK_STREAM, IPPROTO_TCP)`, or with `SOCK_NONBLOCK`: calls on it do not wait.
    Socket {
        /// `SOCK_NONBLOCK`
        non_blocking: bool,
    },
    /// Calls that change nothing of TCP: `bind`, options such as `SO_REUSEADDR`.
    Nothing,
    /// An option that changes something in the kernel, and nothing here.
    WithoutEffect(&'static str),
    /// `fcntl` with `F_GETFL`
    FileFlags,
    /// `fcntl` with `F_SETFL`: with `O_NONBLOCK` or without.
    NonBlocking(bool),
    /// `listen`
    Listen,
    /// `connect`
    Connect,
    /// `accept`: the new descriptor is the outcome.
    Accept,
    /// `read`, `recv`: at most this number of bytes.
    Read(u64),
    /// `recv` with `MSG_PEEK`: the same bytes may be read once more.
    Peek(u64),
    /// `write`, `send`.
    Write(Writing),
    /// `sendto` or `sendmsg` with `MSG_FASTOPEN`: connect with data ready for the SYN.
    ConnectWith(Writing),
    /// `sendto` or `sendmsg` with `MSG_FASTOPEN`, to no address (`AF_UNSPEC`).
    ConnectNowhere,
    /// `connect` to no address (`AF_UNSPEC`): the connection ends with a reset, and the socket may
    /// connect again.
    Disconnect,
    /// `SO_RCVBUF`, bytes, which Linux doubles.
    ReceiveBuffer(u32),
    /// `IP_MTU_DISCOVER`: with `IP_PMTUDISC_DONT` packets may be fragmented, and no message changes
    /// the segment size.
    PathMtu(bool),
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
    /// `TCP_SYNCNT`: number of retransmissions of a SYN.
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

/// Bytes and flags of `write` and its kin.
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

/// Direction that `shutdown` ends.
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
    /// Requested events.
    pub events: u16,
    /// Expected events when it returns.
    pub found: u16,
    /// Longest wait; `None`: for ever.
    pub timeout: Option<Duration>,
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
    /// `TCP_NODELAY`
    NoDelay,
    /// `TCP_CORK`
    Cork,
    /// `TCP_USER_TIMEOUT`, milliseconds.
    UserTimeout,
    /// `TCP_FASTOPEN`: the longest queue.
    FastOpenQueue,
    /// `SIOCINQ`: bytes that came and were not read.
    Unread,
}

/// Result of a call.
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
    /// `EINPROGRESS`: the opening has started.
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
    /// `ETIMEDOUT`: there is no answer.
    TimedOut,
    /// `EHOSTUNREACH`: a router says that there is no way.
    HostUnreachable,
    /// `ENETUNREACH`: a router says that there is no way to the network.
    NetUnreachable,
    /// `ENOPROTOOPT`: the host has no TCP.
    NoProtocol,
    /// `EACCES`: forbidden.
    Access,
    /// `EBADF`: no descriptor.
    BadDescriptor,
    /// `EADDRINUSE`: the address is in use.
    AddressInUse,
    /// `EMSGSIZE`: too long.
    MessageSize,
    /// `EINTR`: a signal came first.
    Interrupted,
    /// `EOPNOTSUPP`: not so.
    NotSupported,
    /// `EINVAL`: a wrong argument.
    Invalid,
    /// `EFAULT`: a pointer that is none.
    Fault,
}

impl Errno {
    /// Every error with its name, and its number on Linux.
    pub const ALL: [(&'static str, Self, u64); 20] = [
        ("EAGAIN", Self::Again, 11),
        ("EINPROGRESS", Self::InProgress, 115),
        ("EALREADY", Self::Already, 114),
        ("EISCONN", Self::IsConnected, 106),
        ("ECONNRESET", Self::ConnectionReset, 104),
        ("ECONNREFUSED", Self::ConnectionRefused, 111),
        ("EPIPE", Self::Pipe, 32),
        ("ENOTCONN", Self::NotConnected, 107),
        ("ETIMEDOUT", Self::TimedOut, 110),
        ("EHOSTUNREACH", Self::HostUnreachable, 113),
        ("ENETUNREACH", Self::NetUnreachable, 101),
        ("ENOPROTOOPT", Self::NoProtocol, 92),
        ("EOPNOTSUPP", Self::NotSupported, 95),
        ("EINVAL", Self::Invalid, 22),
        ("EFAULT", Self::Fault, 14),
        ("EACCES", Self::Access, 13),
        ("EBADF", Self::BadDescriptor, 9),
        ("EADDRINUSE", Self::AddressInUse, 98),
        ("EMSGSIZE", Self::MessageSize, 90),
        ("EINTR", Self::Interrupted, 4),
    ];

    /// The name as in `errno.h`.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, errno, _)| *errno == self).map_or("", |(name, ..)| name)
    }

    /// The number as in Linux's `errno.h`.
    pub fn number(self) -> u64 {
        Self::ALL.iter().find(|(_, errno, _)| *errno == self).map_or(0, |(.., number)| *number)
    }

    /// The error of a name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, ..)| *known == name).map(|(_, errno, _)| *errno)
    }
}

/// One statement of a code block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeLine {
    /// Position of its beginning.
    pub position: Position,
    /// Its statement.
    pub statement: Statement,
    /// Its text as written.
    pub text: String,
}
