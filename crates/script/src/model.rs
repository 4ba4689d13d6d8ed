//! What a script says, after reading: settings, and events in order.
//!
//! Segments are [`tcp::Segment`]s with the script's own numbering: the host's initial sequence
//! number is what the script calls it (usually 0), whatever the host drew.

use tcp::{Scheme, Segment};
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
    /// `%{ assert ... }%`: all must hold.
    Assert(Vec<Assertion>),
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
    /// Calls without effect here: `bind`, `fcntl`, options such as `SO_REUSEADDR`.
    Nothing,
    /// `listen`
    Listen,
    /// `connect`
    Connect,
    /// `accept`: the new descriptor is the outcome.
    Accept,
    /// `read`, `recv`: at most so many bytes.
    Read(u64),
    /// `write`, `send`: so many bytes.
    Write(u64),
    /// `sendto` with `MSG_FASTOPEN`: connect with so many bytes ready for the SYN.
    ConnectWith(u64),
    /// `shutdown` with `SHUT_WR`; true with `SHUT_RDWR`: reading ends too.
    Shutdown(bool),
    /// `close`
    Close,
    /// `TCP_NODELAY`, before `listen` or `connect`.
    NoDelay(bool),
    /// `TCP_MAXSEG`, before `listen` or `connect`: bytes.
    MaxSegment(u32),
    /// `SO_LINGER` with time zero: `close` resets.
    LingerZero(bool),
}

/// What a call returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    /// A number from zero.
    Value(u64),
    /// -1 and this error.
    Error(Errno),
}

/// The errors that calls can return here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errno {
    /// `EAGAIN`: it would block.
    Again,
    /// `EINPROGRESS`: the opening has begun.
    InProgress,
    /// `ECONNRESET`: the peer has reset the connection.
    ConnectionReset,
    /// `ECONNREFUSED`: the peer answered the SYN with a reset.
    ConnectionRefused,
    /// `EPIPE`: the sending side is shut down.
    Pipe,
    /// `ENOTCONN`: there is no connection.
    NotConnected,
}

impl Errno {
    /// Every error with its name.
    pub const ALL: [(&'static str, Self); 6] = [
        ("EAGAIN", Self::Again),
        ("EINPROGRESS", Self::InProgress),
        ("ECONNRESET", Self::ConnectionReset),
        ("ECONNREFUSED", Self::ConnectionRefused),
        ("EPIPE", Self::Pipe),
        ("ENOTCONN", Self::NotConnected),
    ];

    /// The name as in `errno.h`.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, errno)| *errno == self).map_or("", |(name, _)| name)
    }
}

/// One `assert` of a code block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assertion {
    /// Where it begins.
    pub position: Position,
    /// What must hold.
    pub condition: Condition,
    /// As written.
    pub text: String,
}

/// A condition on what the host reports of the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// All must hold.
    And(Vec<Condition>),
    /// One must hold.
    Or(Vec<Condition>),
    /// It must not hold.
    Not(Box<Condition>),
    /// `a < b <= c`: the first operand, then what each next one is compared by.
    Compare(Operand, Vec<(Comparator, Operand)>),
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

/// One side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A number, or a constant such as `TCP_CA_Recovery`.
    Number(u64),
    /// A quantity of the connection.
    Info(TcpInfoField),
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
}

impl TcpInfoField {
    /// Every quantity with its name.
    pub const ALL: [(&'static str, Self); 12] = [
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
    ];
}

/// Constants of conditions: numbers as in Linux's `tcp.h`.
pub const CONSTANTS: [(&str, u64); 15] = [
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
    ("TCP_CA_Recovery", 3),
    ("TCP_CA_Loss", 4),
];
