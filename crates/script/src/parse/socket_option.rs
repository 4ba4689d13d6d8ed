//! Options of sockets: `setsockopt(4, SOL_TCP, TCP_NODELAY, [1], 4)`, `getsockopt`.

use super::super::model::{CallKind, Errno, SocketOption};
use super::argument::{Argument, Value};
use super::call::RawCall;
use super::settings::MSS;
use super::{Parsed, Refusal};
use units::Duration;

/// Options of ports and addresses. They change nothing in TCP, so they are accepted.
const OF_ADDRESSES: [&str; 3] = ["SO_REUSEADDR", "SO_REUSEPORT", "IP_FREEBIND"];

/// Options without effect here. Scripts with one of them have a note.
const IGNORED: [&str; 4] = ["SO_KEEPALIVE", "TCP_KEEPIDLE", "SO_MARK", "IP_TOS"];

/// Options that concern the socket layer alone, whatever their names begin with.
const SOCKET_LAYER_OPTIONS: [&str; 7] = [
    "SO_ZEROCOPY",
    "SO_TIMESTAMPING",
    "SO_TIMESTAMPNS",
    "SO_TIMESTAMP",
    "TCP_INQ",
    "TCP_MD5SIG",
    "TCP_ZEROCOPY_RECEIVE",
];

/// Options of TCP whose mechanism no scheme has for one socket.
const NOT_MODELLED: [&str; 3] = ["TCP_QUICKACK", "TCP_DEFER_ACCEPT", "TCP_LINGER2"];

const KNOWN: &str = "TCP_NODELAY, TCP_CORK, TCP_MAXSEG, TCP_USER_TIMEOUT, TCP_SYNCNT, TCP_FASTOPEN, \
                     TCP_FASTOPEN_CONNECT, TCP_FASTOPEN_KEY, TCP_NOTSENT_LOWAT, TCP_CONGESTION, SO_LINGER, SO_SNDBUF, SO_RCVBUF, and without \
                     effect SO_REUSEADDR, SO_REUSEPORT, SO_KEEPALIVE, TCP_KEEPIDLE, SO_MARK, IP_TOS, \
                     IP_FREEBIND; IP_MTU_DISCOVER";

impl RawCall<'_> {
    /// Returns the option's name, which is the third argument. An option of the socket layer is
    /// refused as not of TCP.
    fn option_name(&self) -> Parsed<&str> {
        match self.words_at(2, "an option")? {
            [name] if SOCKET_LAYER_OPTIONS.contains(name) => {
                let why = format!("{name} is of the socket layer");
                Err((self.position, Refusal::not_of_tcp(why)))
            }
            [name] => Ok(name),
            _ => self.argument_error("expected one socket option"),
        }
    }

    /// Parses `getsockopt`: the option, and the value in brackets that it must return. The value of
    /// `SO_ERROR` may be an error's name.
    pub(super) fn get_option(&self) -> Parsed<CallKind> {
        let option = match self.option_name()? {
            "TCP_MAXSEG" => SocketOption::MaxSegment,
            "SO_ERROR" => SocketOption::Error,
            "SO_SNDBUF" => SocketOption::SendBuffer,
            "TCP_NOTSENT_LOWAT" => SocketOption::NotSentLowWater,
            "TCP_NODELAY" => SocketOption::NoDelay,
            "TCP_CORK" => SocketOption::Cork,
            "TCP_USER_TIMEOUT" => SocketOption::UserTimeout,
            "TCP_FASTOPEN" => SocketOption::FastOpenQueue,
            name if NOT_MODELLED.contains(&name) => {
                return Err((
                    self.position,
                    Refusal::not_modelled(format!("the socket option {name}")),
                ));
            }
            name => {
                return self.argument_error(&format!(
                    "unknown socket option {name}; known are TCP_MAXSEG, SO_ERROR, SO_SNDBUF, TCP_NOTSENT_LOWAT, \
                     TCP_NODELAY, TCP_CORK, TCP_USER_TIMEOUT, TCP_FASTOPEN"
                ));
            }
        };
        if let (SocketOption::Error, Some(errno)) = (option, self.option_error()) {
            return Ok(CallKind::Get(option, errno.number()));
        }
        self.option_value(u64::from(u32::MAX)).map(|value| CallKind::Get(option, value))
    }

    /// Returns the error that the fourth argument names, as in `[ECONNRESET]`; `None` if it is
    /// anything else, such as a number.
    fn option_error(&self) -> Option<Errno> {
        match &self.arguments.get(3)?.value {
            Value::List(list) => match list.as_slice() {
                [Argument { value: Value::Words(words), .. }] if words.len() == 1 => {
                    Errno::named(words[0])
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Parses `ioctl(4, SIOCINQ, [1000])`, which must return the number of received bytes that are
    /// not read yet. Other requests are refused as not of TCP.
    pub(super) fn unread_bytes(&self) -> Parsed<CallKind> {
        match self.words_at(1, "SIOCINQ")? {
            ["SIOCINQ" | "FIONREAD"] => {
                let bytes = self.number_in_brackets(2, u64::from(u32::MAX))?;
                Ok(CallKind::Get(SocketOption::Unread, bytes))
            }
            _ => Err((self.position, Refusal::not_of_tcp("ioctl is of the socket layer"))),
        }
    }

    /// Parses `setsockopt`. Options that change nothing here are accepted, some with a note.
    /// Options that are not modelled, of the socket layer, or unknown are refused.
    pub(super) fn set_option(&self) -> Parsed<CallKind> {
        let number = |max: u32| self.option_value(u64::from(max)).map(|n| n as u32);
        match self.option_name()? {
            "TCP_NODELAY" => number(u32::MAX).map(|on| CallKind::NoDelay(on > 0)),
            "TCP_CORK" => number(u32::MAX).map(|on| CallKind::Cork(on > 0)),
            "TCP_MAXSEG" => match number(MSS.1)? {
                bytes if bytes >= MSS.0 => Ok(CallKind::MaxSegment(bytes)),
                _ => self.argument_error(&format!("expected TCP_MAXSEG of at least {}", MSS.0)),
            },
            "TCP_USER_TIMEOUT" => number(u32::MAX)
                .map(|ms| CallKind::UserTimeout(Duration::from_millis(u64::from(ms)))),
            "TCP_SYNCNT" => number(127).map(CallKind::SynRetries),
            "TCP_FASTOPEN" => number(u32::MAX).map(CallKind::FastOpenQueue),
            "TCP_FASTOPEN_CONNECT" => number(1).map(|on| CallKind::FastOpenConnect(on > 0)),
            "TCP_FASTOPEN_KEY" => self.fast_open_key().map(CallKind::FastOpenKey),
            "TCP_NOTSENT_LOWAT" => number(u32::MAX).map(CallKind::NotSentLowWater),
            "SO_SNDBUF" => number(u32::MAX).map(CallKind::SendBuffer),
            "SO_RCVBUF" => number(u32::MAX).map(CallKind::ReceiveBuffer),
            "SO_LINGER" => self.linger(),
            "IP_MTU_DISCOVER" => self.path_mtu(),
            "TCP_CONGESTION" => self.congestion_control(),
            name if NOT_MODELLED.contains(&name) => {
                Err((self.position, Refusal::not_modelled(format!("the socket option {name}"))))
            }
            name if OF_ADDRESSES.contains(&name) => Ok(CallKind::Nothing),
            name if IGNORED.contains(&name) => {
                let known = IGNORED.iter().find(|known| **known == name);
                Ok(known.map_or(CallKind::Nothing, |known| CallKind::WithoutEffect(known)))
            }
            name => {
                self.argument_error(&format!("unknown socket option {name}; known are {KNOWN}"))
            }
        }
    }

    /// Parses the value of `TCP_CONGESTION`. `"cubic"` changes nothing, as it is the default of the
    /// kernel. Any other name is refused: `--scheme` chooses another scheme.
    fn congestion_control(&self) -> Parsed<CallKind> {
        let argument = self.argument_at(3, "a name like \"cubic\"")?;
        let value = match &argument.value {
            Value::List(list) if list.len() == 1 => &list[0].value,
            other => other,
        };
        match value {
            Value::Text("cubic") => Ok(CallKind::Nothing),
            Value::Text(name) => {
                let why = format!("TCP_CONGESTION {name}: name another scheme by --scheme");
                Err((argument.position, Refusal::not_modelled(why)))
            }
            _ => Err((argument.position, "expected a name like \"cubic\"".into())),
        }
    }

    /// Parses the value of `TCP_FASTOPEN_KEY`, sixteen bytes like `"\x01…"`. `Ok(None)`: it is of
    /// another length, or has no such digits, so the call fails with EINVAL.
    fn fast_open_key(&self) -> Parsed<Option<[u8; 16]>> {
        let argument = self.argument_at(3, "a key like \"\\x01…\"")?;
        let Value::Text(text) = argument.value else {
            return Err((argument.position, "expected a key as a string".into()));
        };
        let bytes: Option<Vec<u8>> = text
            .split("\\x")
            .filter(|digits| !digits.is_empty())
            .map(|digits| u8::from_str_radix(digits, 16).ok())
            .collect();
        Ok(bytes.and_then(|bytes| bytes.try_into().ok()))
    }

    /// Returns the one number in the brackets of the fourth argument, as in `[1]`, if it is at most
    /// `max`.
    fn option_value(&self, max: u64) -> Parsed<u64> {
        self.number_in_brackets(3, max)
    }

    /// Returns the one number in the brackets of argument `index`, from 0, if it is at most `max`.
    fn number_in_brackets(&self, index: usize, max: u64) -> Parsed<u64> {
        let argument = self.argument_at(index, "a value like [1]")?;
        match &argument.value {
            Value::List(list) => match list.as_slice() {
                [Argument { value: Value::Number(n), .. }] if *n <= max => Ok(*n),
                _ => {
                    Err((argument.position, format!("expected one number of at most {max}").into()))
                }
            },
            _ => Err((argument.position, "expected a value in brackets, like [1]".into())),
        }
    }

    /// Parses the value of `IP_MTU_DISCOVER`, as a name or a number, in brackets or without. `DONT`
    /// ends the discovery of the path's MTU; `WANT` and `DO` begin it again, as by default.
    fn path_mtu(&self) -> Parsed<CallKind> {
        let argument = self.argument_at(3, "a value like [IP_PMTUDISC_DONT]")?;
        let value = match &argument.value {
            Value::List(list) if list.len() == 1 => &list[0].value,
            other => other,
        };
        match value {
            Value::Number(0) => Ok(CallKind::PathMtu(false)),
            Value::Number(1 | 2) => Ok(CallKind::PathMtu(true)),
            Value::Words(words) => match words.as_slice() {
                ["IP_PMTUDISC_DONT"] => Ok(CallKind::PathMtu(false)),
                ["IP_PMTUDISC_WANT" | "IP_PMTUDISC_DO"] => Ok(CallKind::PathMtu(true)),
                _ => self.argument_error(
                    "expected IP_PMTUDISC_DONT, IP_PMTUDISC_WANT or IP_PMTUDISC_DO",
                ),
            },
            _ => self.argument_error("expected a value like [IP_PMTUDISC_DONT]"),
        }
    }

    /// Parses the value of `SO_LINGER`. Only `{onoff=1, linger=0}`, by which `close` resets, and
    /// `{onoff=0, …}` are accepted, since `close` never waits here.
    fn linger(&self) -> Parsed<CallKind> {
        let argument = self.argument_at(3, "{onoff=1, linger=0}")?;
        let Value::Members(members) = &argument.value else {
            return Err((argument.position, "expected {onoff=1, linger=0}".into()));
        };
        let member = |name| {
            let found = members.iter().find(|(known, _)| *known == name);
            found.and_then(|(_, argument)| match argument.value {
                Value::Number(n) => Some(n),
                _ => None,
            })
        };
        match (member("onoff"), member("linger")) {
            (Some(0), _) => Ok(CallKind::LingerZero(false)),
            (Some(_), Some(0)) => Ok(CallKind::LingerZero(true)),
            _ => {
                let message = "expected {onoff=1, linger=0} or {onoff=0, linger=0}: close never \
                               waits here";
                Err((argument.position, message.into()))
            }
        }
    }
}
