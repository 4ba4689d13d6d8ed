//! A socket of the script's application: what it is set to, and what a call on it would return now.

use super::super::model::{CallKind, CallOutcome, Errno, Polled, SocketOption, Writing};
use super::subject::SocketProgress;
use super::{CheckResult, Failure};
use tcp::{ResetCause, Scheme};
use units::Duration;

const POLLIN: u16 = 0x1;
const POLLOUT: u16 = 0x4;
const POLLERR: u16 = 0x8;
const POLLHUP: u16 = 0x10;
const POLLRDHUP: u16 = 0x2000;

/// State of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Neither listens nor connects.
    Fresh,
    Listening,
    /// `connect` has returned; the first write sends the SYN (`TCP_FASTOPEN_CONNECT`).
    Deferred,
    /// The SYN was sent.
    Opening,
    /// It was accepted.
    Accepted,
}

/// A socket.
#[derive(Clone, Debug)]
pub(super) struct Socket {
    pub(super) phase: Phase,
    /// The connection's number.
    pub(super) connection: usize,
    /// Options set on it, as parameters of its scheme.
    pub(super) parameters: Vec<String>,
    pub(super) non_blocking: bool,
    pub(super) fast_open_connect: bool,
    /// `TCP_FASTOPEN` of a listener.
    pub(super) fast_open_queue: u32,
    /// `TCP_FASTOPEN_KEY` of a listener.
    pub(super) fast_open_key: Option<[u8; 16]>,
    /// Connections of this listener that are not yet accepted.
    pub(super) backlog: Vec<usize>,
    /// Bytes read so far.
    pub(super) read: u64,
    pub(super) shut_down: bool,
    pub(super) reading_ended: bool,
    pub(super) linger_zero: bool,
    /// The error was reported, once.
    pub(super) error_reported: bool,
    /// Bytes that `connect` with data took.
    pub(super) taken: u64,
    pub(super) send_buffer: Option<u32>,
    pub(super) not_sent_low_water: u32,
    pub(super) max_segment: Option<u32>,
    pub(super) syn_retries: Option<u32>,
    pub(super) user_timeout: Option<Duration>,
    pub(super) corked: bool,
    pub(super) no_delay: bool,
    /// `IP_PMTUDISC_DONT`: no message of routers changes its segment size.
    pub(super) ignores_path_mtu: bool,
    /// Error by the last message of a router on its connection.
    pub(super) icmp_error: Option<Errno>,
}

impl Socket {
    pub(super) fn new(connection: usize) -> Self {
        Self {
            phase: Phase::Fresh,
            connection,
            parameters: Vec::new(),
            non_blocking: false,
            fast_open_connect: false,
            fast_open_queue: 0,
            fast_open_key: None,
            backlog: Vec::new(),
            read: 0,
            shut_down: false,
            reading_ended: false,
            linger_zero: false,
            error_reported: false,
            taken: 0,
            send_buffer: None,
            not_sent_low_water: 0,
            max_segment: None,
            syn_retries: None,
            user_timeout: None,
            corked: false,
            no_delay: false,
            ignores_path_mtu: false,
            icmp_error: None,
        }
    }

    /// Scheme with which `listen`'s child, or this socket, opens: `base` with the parameters of the
    /// machine and of the socket.
    pub(super) fn scheme_with_options(
        &self,
        base: &Scheme,
        machine: Vec<String>,
    ) -> CheckResult<Scheme> {
        let mut text = base.name().to_owned();
        let mut set = |parameter: &str| {
            let name = parameter.split('=').next().unwrap_or_default();
            let parts: Vec<_> = text
                .split('+')
                .enumerate()
                .filter(|(index, part)| *index == 0 || part.split('=').next() != Some(name))
                .map(|(_, part)| part)
                .chain([parameter])
                .collect();
            text = parts.join("+");
        };
        machine.iter().for_each(|parameter| set(parameter));
        self.parameters.iter().for_each(|parameter| set(parameter));
        Scheme::parse(&text).map_err(|error| {
            let expected = "settings that the scheme can have".to_owned();
            Failure::new("a socket cannot open with its settings", expected, error.to_string())
        })
    }

    /// The connection's error, if it is not yet reported.
    fn error(&self, progress: SocketProgress) -> Option<Errno> {
        if !progress.reset || self.error_reported {
            return None;
        }
        let opened = progress.connected || progress.accepted;
        Some(match progress.cause {
            Some(ResetCause::TimedOut) => Errno::TimedOut,
            Some(ResetCause::Unreachable(_)) => self.icmp_error.unwrap_or(Errno::HostUnreachable),
            _ if !opened && self.phase == Phase::Opening => Errno::ConnectionRefused,
            _ if progress.peer_closed => Errno::Pipe,
            _ => Errno::ConnectionReset,
        })
    }

    /// Result of a call now; `None` if it would wait.
    pub(super) fn outcome(
        &self,
        kind: CallKind,
        asked: CallOutcome,
        progress: SocketProgress,
    ) -> Option<CallOutcome> {
        match kind {
            CallKind::Connect => self.connected(progress),
            // The script names the descriptor; there is one, whatever it asks for.
            CallKind::Accept => (!self.backlog.is_empty()).then_some(match asked {
                CallOutcome::Value(_) => asked,
                _ => CallOutcome::Value(0),
            }),
            CallKind::Read(most) | CallKind::Peek(most) => self.readable(most, progress),
            CallKind::Write(writing) => self.writable(writing, progress),
            CallKind::ConnectWith(writing) => match self.phase {
                Phase::Opening if self.taken > 0 && progress.connected => {
                    Some(CallOutcome::Value(self.taken))
                }
                // An open socket accepts it as any write.
                Phase::Opening if progress.connected => self.writable(writing, progress),
                _ => self.connected(progress),
            },
            CallKind::Shutdown(_) if progress.reset => Some(failed_call(Errno::NotConnected)),
            CallKind::Poll(polled) => match self.polled(polled, progress) {
                0 if polled.timeout == Some(Duration::ZERO) => Some(CallOutcome::Value(0)),
                0 => None,
                _ => Some(CallOutcome::Value(1)),
            },
            CallKind::BadPointer => Some(failed_call(Errno::Fault)),
            CallKind::ConnectNowhere => Some(failed_call(Errno::NotSupported)),
            CallKind::FastOpenKey(None) => Some(failed_call(Errno::Invalid)),
            CallKind::Socket { .. } => Some(asked),
            CallKind::FileFlags => {
                const READ_WRITE: u64 = 0x2;
                const NONBLOCK: u64 = 0x800;
                let waits = if self.non_blocking { NONBLOCK } else { 0 };
                Some(CallOutcome::Value(READ_WRITE | waits))
            }
            _ => Some(CallOutcome::Value(0)),
        }
    }

    fn connected(&self, progress: SocketProgress) -> Option<CallOutcome> {
        match self.error(progress) {
            Some(errno) => Some(failed_call(errno)),
            None => (progress.connected || progress.accepted).then_some(CallOutcome::Value(0)),
        }
    }

    fn readable(&self, most: u64, progress: SocketProgress) -> Option<CallOutcome> {
        let available = progress.received.saturating_sub(self.read);
        if available > 0 {
            return Some(CallOutcome::Value(most.min(available)));
        }
        if let Some(errno) = self.error(progress) {
            return Some(failed_call(errno));
        }
        let ended = progress.peer_closed || self.reading_ended || progress.reset;
        ended.then_some(CallOutcome::Value(0))
    }

    fn writable(&self, writing: Writing, progress: SocketProgress) -> Option<CallOutcome> {
        if let Some(errno) = self.error(progress) {
            return Some(failed_call(errno));
        }
        if self.shut_down || progress.reset {
            return Some(failed_call(Errno::Pipe));
        }
        let open = progress.connected || progress.accepted || self.phase == Phase::Accepted;
        // A script may write at once what waits for the opening; a socket that does not block
        // refuses it.
        (open || !self.non_blocking).then_some(CallOutcome::Value(writing.bytes))
    }

    /// Events that hold, among those that are asked for or always reported.
    pub(super) fn polled(&self, polled: Polled, progress: SocketProgress) -> u16 {
        let mut found = 0;
        let open = progress.connected || progress.accepted || self.phase == Phase::Deferred;
        let ended = progress.peer_closed || progress.reset;
        if progress.received > self.read || ended || self.reading_ended {
            found |= POLLIN;
        }
        if open || progress.reset {
            found |= POLLOUT;
        }
        if ended || self.reading_ended {
            found |= POLLRDHUP;
        }
        if progress.reset || (progress.peer_closed && self.shut_down) {
            found |= POLLHUP;
        }
        if self.error(progress).is_some() {
            found |= POLLERR;
        }
        found & (polled.events | POLLERR | POLLHUP)
    }

    /// The value of an option that a script may read, other than of the connection.
    pub(super) fn option(&self, option: SocketOption, progress: SocketProgress) -> Option<u64> {
        match option {
            SocketOption::Error => Some(self.error(progress).map_or(0, Errno::number)),
            SocketOption::SendBuffer => self.send_buffer.map(|bytes| u64::from(bytes) * 2),
            SocketOption::NotSentLowWater => Some(self.not_sent_low_water.into()),
            SocketOption::NoDelay => Some(self.no_delay.into()),
            SocketOption::Cork => Some(self.corked.into()),
            SocketOption::UserTimeout => {
                Some(self.user_timeout.map_or(0, |t| t.as_micros() / 1000))
            }
            SocketOption::FastOpenQueue => Some(self.fast_open_queue.into()),
            SocketOption::Unread => Some(progress.received.saturating_sub(self.read)),
            SocketOption::MaxSegment => self.max_segment.map(u64::from),
        }
    }
}

pub(super) fn failed_call(errno: Errno) -> CallOutcome {
    CallOutcome::Error(errno)
}

/// Whether this error of a call is the connection's, which is reported once.
pub(super) const fn returns_error(kind: CallKind, errno: Errno) -> bool {
    matches!(
        kind,
        CallKind::Read(_)
            | CallKind::Peek(_)
            | CallKind::Write(_)
            | CallKind::Connect
            | CallKind::ConnectWith(_)
    ) && !matches!(errno, Errno::Again | Errno::InProgress | Errno::Already | Errno::IsConnected)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Settings that make no scheme are an error with the reason, and no other scheme is played.
    #[test]
    fn a_setting_that_the_scheme_refuses_is_an_error() {
        let base = Scheme::parse("linux+mss=1000").unwrap();
        let socket = Socket::new(0);
        let opened = |machine: &str| socket.scheme_with_options(&base, vec![machine.to_owned()]);
        assert_eq!(opened("mss=500").map_or_else(|_| 0, |scheme| scheme.config().mss), 500);
        let refused = opened("mss=1").map_or_else(|failure| failure.actual, |_| String::new());
        assert!(refused.contains("mss"), "{refused}");
    }
}
