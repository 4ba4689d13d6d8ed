//! Calls of the application: `accept(3, ..., ...) = 4`, with what they mean here.

use super::super::model::{Call, CallKind, CallOutcome, Errno, Position, When};
use super::argument::{Argument, Value};
use super::lexer::Token;
use super::settings::MSS;
use super::{Parsed, Parser};
use units::Duration;

const KNOWN: &str = "socket, setsockopt, fcntl, bind, listen, accept, connect, read, recv, \
                     write, send, sendto, shutdown, close";

/// Options of `setsockopt` without effect here.
const IGNORED_OPTIONS: [&str; 4] = ["SO_REUSEADDR", "SO_REUSEPORT", "SO_KEEPALIVE", "SO_SNDBUF"];

/// Most bytes of one `read` or `write`: a terabyte.
const MOST_BYTES: u64 = 1 << 40;

/// A call with its arguments, before they mean anything.
struct RawCall<'a> {
    position: Position,
    name: &'a str,
    arguments: Vec<Argument<'a>>,
    outcome: CallOutcome,
}

impl<'a> Parser<'a> {
    /// A call, which happens at `when`.
    pub(super) fn call(&mut self, when: When) -> Parsed<Call> {
        let returns = self.end_of_blocking(when)?;
        let start = self.start;
        let Token::Word(name) = self.token else {
            return self.unexpected(&format!("a call: {KNOWN}"));
        };
        let position = self.position;
        self.advance()?;
        let arguments = self.arguments()?;
        self.expect_mark("=", "and what the call returns")?;
        let outcome = self.outcome()?;
        let text = self.text[start..self.last_end].to_owned();
        let raw = RawCall { position, name, arguments, outcome };
        let kind = raw.kind()?;
        let fd = if kind == CallKind::Socket { raw.new_fd()? } else { raw.fd()? };
        raw.check_blocking(kind, returns)?;
        Ok(Call { fd, kind, outcome, returns, text })
    }

    /// `...0.2` behind the time: when a blocking call returns.
    fn end_of_blocking(&mut self, when: When) -> Parsed<Option<Duration>> {
        if self.token != Token::Ellipsis {
            return Ok(None);
        }
        self.advance()?;
        let position = self.position;
        let end = self.time()?;
        match when {
            When::At(start) | When::After(start) if end < start => {
                Err((position, "this call returns before it is made".to_owned()))
            }
            _ => Ok(Some(end)),
        }
    }

    /// `1000`, or `-1 EAGAIN (Resource temporarily unavailable)`.
    fn outcome(&mut self) -> Parsed<CallOutcome> {
        let outcome = if self.accept_mark("-")? {
            CallOutcome::Error(self.failure()?)
        } else {
            CallOutcome::Value(self.number("what the call returns", MOST_BYTES)?)
        };
        self.note()?;
        Ok(outcome)
    }

    /// `1 EAGAIN`, behind the minus.
    fn failure(&mut self) -> Parsed<Errno> {
        if self.token != Token::Int(1) {
            return self.unexpected("1: a call that fails returns -1");
        }
        self.advance()?;
        let known = match self.token {
            Token::Word(name) => Errno::ALL.iter().find(|(known, _)| *known == name),
            _ => None,
        };
        match known {
            Some((_, errno)) => self.advance().map(|_| *errno),
            None => self.unexpected(&error_names()),
        }
    }

    /// `(words for the reader)`, perhaps.
    fn note(&mut self) -> Parsed<()> {
        if !self.accept_mark("(")? {
            return Ok(());
        }
        while !self.is_mark(")") && self.token != Token::End {
            self.advance()?;
        }
        self.expect_mark(")", "after the words about the outcome")
    }
}

fn error_names() -> String {
    let names: Vec<_> = Errno::ALL.iter().map(|(name, _)| *name).collect();
    format!("an error: one of {}", names.join(", "))
}

impl RawCall<'_> {
    fn kind(&self) -> Parsed<CallKind> {
        match self.name {
            "socket" => self.socket(),
            "setsockopt" => self.set_option(),
            "fcntl" | "bind" => Ok(CallKind::Nothing),
            "listen" => Ok(CallKind::Listen),
            "accept" => Ok(CallKind::Accept),
            "connect" => Ok(CallKind::Connect),
            "read" | "recv" => self.bytes().map(CallKind::Read),
            "write" | "send" => self.bytes().map(CallKind::Write),
            "sendto" => self.send_to(),
            "shutdown" => self.shutdown(),
            "close" => Ok(CallKind::Close),
            name => self.refuse(&format!("unknown call {name}; known are {KNOWN}")),
        }
    }

    fn refuse<T>(&self, message: &str) -> Parsed<T> {
        Err((self.position, message.to_owned()))
    }

    /// The argument at `index`.
    fn argument(&self, index: usize, what: &str) -> Parsed<&Argument<'_>> {
        self.arguments.get(index).ok_or_else(|| {
            let message = format!("expected {what} as argument {} of {}", index + 1, self.name);
            (self.position, message)
        })
    }

    fn number(&self, index: usize, what: &str, max: u64) -> Parsed<u64> {
        let argument = self.argument(index, what)?;
        match argument.value {
            Value::Number(n) if n <= max => Ok(n),
            _ => Err((argument.position, format!("expected {what} of at most {max}"))),
        }
    }

    fn words(&self, index: usize, what: &str) -> Parsed<&[&str]> {
        let argument = self.argument(index, what)?;
        match &argument.value {
            Value::Words(words) => Ok(words),
            _ => Err((argument.position, format!("expected {what}"))),
        }
    }

    fn fd(&self) -> Parsed<u32> {
        self.number(0, "a descriptor", u64::from(u16::MAX)).map(|fd| fd as u32)
    }

    /// The descriptor that the call returns.
    fn new_fd(&self) -> Parsed<u32> {
        match self.outcome {
            CallOutcome::Value(fd) if fd <= u64::from(u16::MAX) => Ok(fd as u32),
            _ => self.refuse(&format!("expected {} to return a descriptor", self.name)),
        }
    }

    fn bytes(&self) -> Parsed<u64> {
        self.number(2, "a number of bytes", MOST_BYTES)
    }

    fn socket(&self) -> Parsed<CallKind> {
        match self.words(1, "SOCK_STREAM")? {
            words if words.contains(&"SOCK_STREAM") => Ok(CallKind::Socket),
            _ => self.refuse("expected socket(..., SOCK_STREAM, IPPROTO_TCP): only TCP runs here"),
        }
    }

    fn send_to(&self) -> Parsed<CallKind> {
        let bytes = self.bytes()?;
        let fast_open = matches!(&self.argument(3, "MSG_FASTOPEN or 0")?.value,
            Value::Words(words) if words.contains(&"MSG_FASTOPEN"));
        Ok(if fast_open { CallKind::ConnectWith(bytes) } else { CallKind::Write(bytes) })
    }

    fn shutdown(&self) -> Parsed<CallKind> {
        match self.words(1, "SHUT_WR")? {
            ["SHUT_WR"] => Ok(CallKind::Shutdown(false)),
            ["SHUT_RDWR"] => Ok(CallKind::Shutdown(true)),
            _ => self.refuse(
                "expected SHUT_WR or SHUT_RDWR: the receiving side alone cannot be \
                              shut down",
            ),
        }
    }

    fn set_option(&self) -> Parsed<CallKind> {
        const KNOWN: &str = "TCP_NODELAY, TCP_MAXSEG, SO_LINGER, and without effect \
                             SO_REUSEADDR, SO_REUSEPORT, SO_KEEPALIVE, SO_SNDBUF";
        match self.words(2, "an option")? {
            ["TCP_NODELAY"] => self.option_value(1).map(|on| CallKind::NoDelay(on > 0)),
            ["TCP_MAXSEG"] => match self.option_value(u64::from(MSS.1))? as u32 {
                bytes if bytes >= MSS.0 => Ok(CallKind::MaxSegment(bytes)),
                _ => self.refuse(&format!("expected TCP_MAXSEG of at least {}", MSS.0)),
            },
            ["SO_LINGER"] => self.linger(),
            [name] if IGNORED_OPTIONS.contains(name) => Ok(CallKind::Nothing),
            words => {
                let name = words.join("|");
                self.refuse(&format!("unknown socket option {name}; known are {KNOWN}"))
            }
        }
    }

    /// The one number in brackets, as in `[1]`.
    fn option_value(&self, max: u64) -> Parsed<u64> {
        let argument = self.argument(3, "a value like [1]")?;
        match &argument.value {
            Value::List(list) => match list.as_slice() {
                [Argument { value: Value::Number(n), .. }] if *n <= max => Ok(*n),
                _ => Err((argument.position, format!("expected one number of at most {max}"))),
            },
            _ => Err((argument.position, "expected a value in brackets, like [1]".to_owned())),
        }
    }

    fn linger(&self) -> Parsed<CallKind> {
        let argument = self.argument(3, "{onoff=1, linger=0}")?;
        let Value::Members(members) = &argument.value else {
            return Err((argument.position, "expected {onoff=1, linger=0}".to_owned()));
        };
        let member = |name| members.iter().find(|(known, _)| *known == name).map(|(_, n)| *n);
        match (member("onoff"), member("linger")) {
            (Some(0), _) => Ok(CallKind::LingerZero(false)),
            (Some(_), Some(0)) => Ok(CallKind::LingerZero(true)),
            _ => {
                let message = "expected {onoff=1, linger=0} or {onoff=0, linger=0}: close never \
                               waits here";
                Err((argument.position, message.to_owned()))
            }
        }
    }

    /// Only some calls wait; `connect` that returns 0 cannot but wait.
    fn check_blocking(&self, kind: CallKind, returns: Option<Duration>) -> Parsed<()> {
        let waits = matches!(kind, CallKind::Connect | CallKind::Accept | CallKind::Read(_));
        if returns.is_some() && !waits {
            return self.refuse(&format!("{} never waits: remove the time after ...", self.name));
        }
        if kind == CallKind::Connect && returns.is_none() && self.outcome == CallOutcome::Value(0) {
            return self.refuse(
                "connect that returns 0 waits for the SYN-ACK: say until when, as in \
                 +0...0.1 connect(...) = 0, or let it return -1 EINPROGRESS",
            );
        }
        Ok(())
    }
}
