//! Calls of the application: `accept(3, ..., ...) = 4`, with what they mean here.

use super::super::model::{
    Call, CallKind, CallOutcome, Errno, Polled, Position, Shutdown, When, Writing,
};
use super::argument::{Argument, Value};
use super::lexer::Token;
use super::{Parsed, Parser, Refusal};
use units::Duration;

const KNOWN: &str = "socket, setsockopt, getsockopt, fcntl, bind, listen, accept, connect, read, recv, \
                     recvfrom, readv, write, writev, send, sendto, sendmsg, poll, shutdown, close";

/// Calls that speak of the socket layer, with what they are about.
const SOCKET_LAYER_CALLS: [(&str, &str); 10] = [
    ("epoll_create", "epoll"),
    ("epoll_ctl", "epoll"),
    ("epoll_wait", "epoll"),
    ("open", "files"),
    ("pipe", "splice"),
    ("splice", "splice"),
    ("sendfile", "sendfile"),
    ("recvmsg", "control messages"),
    ("cap_set", "capabilities"),
    ("mmap", "memory"),
];

/// Flags of `send` and `recv` by their bits (`include/linux/socket.h`).
const FLAG_BITS: [(&str, u64); 7] = [
    ("MSG_PEEK", 0x2),
    ("MSG_DONTWAIT", 0x40),
    ("MSG_EOR", 0x80),
    ("MSG_NOSIGNAL", 0x4000),
    ("MSG_MORE", 0x8000),
    ("MSG_ZEROCOPY", 0x400_0000),
    ("MSG_FASTOPEN", 0x2000_0000),
];

/// Most bytes of one `read` or `write`: a terabyte.
const MAX_BYTES: u64 = 1 << 40;

/// A call with its arguments, before they mean anything.
pub(super) struct RawCall<'a> {
    pub(super) position: Position,
    pub(super) name: &'a str,
    pub(super) arguments: Vec<Argument<'a>>,
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
        if let Some((_, about)) = SOCKET_LAYER_CALLS.iter().find(|(known, _)| *known == name) {
            let why = format!("{name} is of the socket layer ({about})");
            return Err((position, Refusal::not_of_tcp(why)));
        }
        self.advance()?;
        let arguments = self.parse_arguments()?;
        self.expect_mark("=", "and what the call returns")?;
        let outcome = self.outcome()?;
        let text = self.text[start..self.last_end].to_owned();
        let raw = RawCall { position, name, arguments, outcome };
        let kind = raw.call_kind()?;
        let fd = if let CallKind::Socket { .. } = kind { raw.new_fd()? } else { raw.fd()? };
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
                Err((position, "this call returns before it is made".into()))
            }
            _ => Ok(Some(end)),
        }
    }

    /// `1000`, or `-1 EAGAIN (Resource temporarily unavailable)`.
    fn outcome(&mut self) -> Parsed<CallOutcome> {
        let outcome = if self.accept_mark("-")? {
            self.failure()?
        } else {
            CallOutcome::Value(self.parse_number("what the call returns", MAX_BYTES)?)
        };
        self.skip_note()?;
        Ok(outcome)
    }

    /// `1 EAGAIN`, behind the minus.
    fn failure(&mut self) -> Parsed<CallOutcome> {
        if self.token != Token::Int(1) {
            return self.unexpected("1: a call that fails returns -1");
        }
        self.advance()?;
        if !matches!(self.token, Token::Word(_)) {
            return Ok(CallOutcome::AnyError);
        }
        let known = match self.token {
            Token::Word(name) => Errno::named(name),
            _ => None,
        };
        match known {
            Some(errno) => self.advance().map(|_| CallOutcome::Error(errno)),
            None => self.unexpected(&error_names()),
        }
    }

    /// `(words for the reader)`, perhaps.
    fn skip_note(&mut self) -> Parsed<()> {
        if self.is_mark("(") {
            self.lexer.skip_note()?;
            self.advance()?;
        }
        Ok(())
    }
}

fn error_names() -> String {
    let names: Vec<_> = Errno::ALL.iter().map(|(name, ..)| *name).collect();
    format!("an error: one of {}", names.join(", "))
}

impl RawCall<'_> {
    fn call_kind(&self) -> Parsed<CallKind> {
        match self.name {
            "socket" => self.socket(),
            "setsockopt" => self.set_option(),
            "getsockopt" => self.get_option(),
            "fcntl" => self.file_control(),
            "ioctl" => self.unread_bytes(),
            "bind" => Ok(CallKind::Nothing),
            "listen" => Ok(CallKind::Listen),
            "accept" => Ok(CallKind::Accept),
            "connect" => Ok(match self.arguments.get(1).map(|argument| &argument.value) {
                Some(Value::Words(words)) if words.as_slice() == ["AF_UNSPEC"] => {
                    CallKind::Disconnect
                }
                _ => CallKind::Connect,
            }),
            "read" | "recv" | "recvfrom" | "write" | "send" | "sendto"
                if self.has_bad_pointer() =>
            {
                Ok(CallKind::BadPointer)
            }
            "read" => self.bytes().map(CallKind::Read),
            "recv" | "recvfrom" => self.receive(),
            "readv" => self.vector().map(CallKind::Read),
            "writev" => self.vector().and_then(|bytes| self.writing(bytes, None)),
            "write" => self.parse_write(None),
            "send" | "sendto" => self.parse_write(Some(3)),
            "sendmsg" => self.send_message(),
            "poll" => self.poll(),
            "shutdown" => self.shutdown(),
            "close" => Ok(CallKind::Close),
            name => self.argument_error(&format!("unknown call {name}; known are {KNOWN}")),
        }
    }

    /// The descriptor; `poll` has it inside.
    fn fd(&self) -> Parsed<u32> {
        if self.name == "poll" {
            return self.polled("fd").map(|(fd, _)| fd as u32);
        }
        self.number_at(0, "a descriptor", u64::from(u16::MAX)).map(|fd| fd as u32)
    }

    /// `NULL` for a buffer.
    fn has_bad_pointer(&self) -> bool {
        let buffer = self.arguments.get(1).map(|argument| &argument.value);
        matches!(buffer, Some(Value::Words(words)) if words.as_slice() == ["NULL"])
    }

    pub(super) fn argument_error<T>(&self, message: &str) -> Parsed<T> {
        Err((self.position, message.into()))
    }

    /// The argument at `index`.
    pub(super) fn argument_at(&self, index: usize, what: &str) -> Parsed<&Argument<'_>> {
        self.arguments.get(index).ok_or_else(|| {
            let message = format!("expected {what} as argument {} of {}", index + 1, self.name);
            (self.position, message.into())
        })
    }

    fn number_at(&self, index: usize, what: &str, max: u64) -> Parsed<u64> {
        let argument = self.argument_at(index, what)?;
        match argument.value {
            Value::Number(n) if n <= max => Ok(n),
            _ => Err((argument.position, format!("expected {what} of at most {max}").into())),
        }
    }

    pub(super) fn words_at(&self, index: usize, what: &str) -> Parsed<&[&str]> {
        let argument = self.argument_at(index, what)?;
        match &argument.value {
            Value::Words(words) => Ok(words),
            _ => Err((argument.position, format!("expected {what}").into())),
        }
    }

    /// The descriptor that the call returns.
    fn new_fd(&self) -> Parsed<u32> {
        match self.outcome {
            CallOutcome::Value(fd) if fd <= u64::from(u16::MAX) => Ok(fd as u32),
            _ => self.argument_error(&format!("expected {} to return a descriptor", self.name)),
        }
    }

    fn bytes(&self) -> Parsed<u64> {
        self.number_at(2, "a number of bytes", MAX_BYTES)
    }

    fn socket(&self) -> Parsed<CallKind> {
        const TCP: &str = "expected socket(..., SOCK_STREAM, IPPROTO_TCP): only TCP runs here";
        let families = ["AF_INET", "AF_INET6", "PF_INET", "PF_INET6"];
        match &self.argument_at(0, "an address family")?.value {
            Value::Any => {}
            Value::Words(words) if words.len() == 1 && families.contains(&words[0]) => {}
            _ => return self.argument_error(TCP),
        }
        let words = self.words_at(1, "SOCK_STREAM")?;
        let known = ["SOCK_STREAM", "SOCK_NONBLOCK", "SOCK_CLOEXEC"];
        if !words.contains(&"SOCK_STREAM") || words.iter().any(|word| !known.contains(word)) {
            return self.argument_error(TCP);
        }
        match &self.argument_at(2, "IPPROTO_TCP")?.value {
            Value::Any | Value::Number(0 | 6) => {}
            Value::Words(words) if words.as_slice() == ["IPPROTO_TCP"] => {}
            Value::Words(words) if words.as_slice() == ["IPPROTO_MPTCP"] => {
                return Err((self.position, Refusal::not_modelled("Multipath TCP (RFC 8684)")));
            }
            _ => return self.argument_error(TCP),
        }
        Ok(CallKind::Socket { non_blocking: words.contains(&"SOCK_NONBLOCK") })
    }

    /// `write`, `send`, `sendto`, whose flags are argument `flags`.
    fn parse_write(&self, flags: Option<usize>) -> Parsed<CallKind> {
        self.writing(self.bytes()?, flags)
    }

    /// `sendmsg(4, {msg_iov(2)=[{..., 600}, {..., 400}]}, MSG_MORE)`
    fn send_message(&self) -> Parsed<CallKind> {
        let argument = self.argument_at(1, "a message with msg_iov")?;
        let Value::Members(members) = &argument.value else {
            return Err((
                argument.position,
                "expected a message, like {msg_iov(1)=[{..., 40}]}".into(),
            ));
        };
        let parts = members.iter().find(|(name, _)| *name == "msg_iov");
        let Some((_, Argument { value: Value::List(parts), .. })) = parts else {
            return Err((argument.position, "expected msg_iov(1)=[{..., 40}] within".into()));
        };
        self.writing(self.sum_of_parts(parts)?, Some(2))
    }

    /// `readv(4, [{..., 600}, {..., 400}], 2)`: the bytes of all parts.
    fn vector(&self) -> Parsed<u64> {
        let argument = self.argument_at(1, "parts, like [{..., 600}, {..., 400}]")?;
        match &argument.value {
            Value::List(parts) => self.sum_of_parts(parts),
            _ => Err((argument.position, "expected parts, like [{..., 600}, {..., 400}]".into())),
        }
    }

    /// Bytes of parts like `{..., 600}`.
    fn sum_of_parts(&self, parts: &[Argument<'_>]) -> Parsed<u64> {
        let mut bytes = 0;
        for part in parts {
            match &part.value {
                Value::List(pair) if pair.len() == 2 => match pair[1].value {
                    Value::Number(n) if n <= MAX_BYTES => bytes += n,
                    _ => return Err((part.position, "expected a number of bytes".into())),
                },
                _ => return Err((part.position, "expected a part like {..., 40}".into())),
            }
        }
        Ok(bytes)
    }

    /// `recv(4, ..., 1000, MSG_PEEK)`
    fn receive(&self) -> Parsed<CallKind> {
        let bytes = self.bytes()?;
        let flags = self.flags_at(3, &["MSG_PEEK", "MSG_DONTWAIT"])?;
        Ok(match flags.contains(&"MSG_PEEK") {
            true => CallKind::Peek(bytes),
            false => CallKind::Read(bytes),
        })
    }

    /// Names of the flags at `index`, of which only those of `known` are accepted. None if there is
    /// no such argument.
    fn flags_at(&self, index: usize, known: &[&'static str]) -> Parsed<Vec<&'static str>> {
        let Some(argument) = self.arguments.get(index) else { return Ok(Vec::new()) };
        let (words, rest): (Vec<&str>, u64) = match &argument.value {
            Value::Words(words) => (words.clone(), 0),
            Value::Number(bits) => {
                let set = FLAG_BITS.iter().filter(|(_, bit)| bits & bit != 0);
                let rest = FLAG_BITS.iter().fold(*bits, |rest, (_, bit)| rest & !bit);
                (set.map(|(name, _)| *name).collect(), rest)
            }
            _ => return Err((argument.position, "expected flags, like MSG_DONTWAIT or 0".into())),
        };
        if words.contains(&"MSG_ZEROCOPY") {
            let why = Refusal::not_of_tcp("MSG_ZEROCOPY is of the socket layer");
            return Err((self.position, why));
        }
        let mut found = Vec::new();
        for word in &words {
            match known.iter().find(|name| *name == word) {
                Some(name) => found.push(*name),
                None => {
                    let known = known.join(", ");
                    return self.argument_error(&format!("unknown flag {word}; known are {known}"));
                }
            }
        }
        match rest {
            0 => Ok(found),
            rest => self.argument_error(&format!("unknown flags {rest:#x}")),
        }
    }

    fn writing(&self, bytes: u64, flags: Option<usize>) -> Parsed<CallKind> {
        const FLAGS: [&str; 5] =
            ["MSG_FASTOPEN", "MSG_DONTWAIT", "MSG_MORE", "MSG_EOR", "MSG_NOSIGNAL"];
        let words = flags.map_or(Ok(Vec::new()), |index| self.flags_at(index, &FLAGS))?;
        let writing = Writing {
            bytes,
            at_once: words.contains(&"MSG_DONTWAIT"),
            more: words.contains(&"MSG_MORE"),
            ends_record: words.contains(&"MSG_EOR"),
        };
        if !words.contains(&"MSG_FASTOPEN") {
            return Ok(CallKind::Write(writing));
        }
        // An address that is none.
        let family = self.arguments.get(4).map(|argument| &argument.value);
        let unspecified =
            matches!(family, Some(Value::Words(words)) if words.as_slice() == ["AF_UNSPEC"]);
        Ok(if unspecified { CallKind::ConnectNowhere } else { CallKind::ConnectWith(writing) })
    }

    /// `fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK)`, `fcntl(3, F_GETFL)`
    fn file_control(&self) -> Parsed<CallKind> {
        match self.words_at(1, "F_GETFL or F_SETFL")? {
            ["F_GETFL"] => Ok(CallKind::FileFlags),
            ["F_SETFL"] => {
                let words = self.words_at(2, "O_NONBLOCK or O_RDWR")?;
                if let Some(other) =
                    words.iter().find(|word| !matches!(**word, "O_RDWR" | "O_NONBLOCK"))
                {
                    return self.argument_error(&format!(
                        "unknown flag {other}; known are O_RDWR and O_NONBLOCK"
                    ));
                }
                Ok(CallKind::NonBlocking(words.contains(&"O_NONBLOCK")))
            }
            _ => self.argument_error("expected F_GETFL or F_SETFL"),
        }
    }

    /// `poll([{fd=4, events=POLLIN, revents=POLLIN}], 1, 1000)`: of one descriptor.
    fn poll(&self) -> Parsed<CallKind> {
        let events = self.polled("events")?.1;
        let found = self.polled("revents")?.1;
        if self.number_at(1, "the number of descriptors, 1,", 1)? != 1 {
            return self.argument_error("expected poll of one descriptor");
        }
        let timeout = match self.argument_at(2, "a timeout in milliseconds")?.value {
            Value::Negative(_) => None,
            _ => {
                let most = i32::MAX as u64;
                Some(Duration::from_millis(self.number_at(2, "a timeout in milliseconds", most)?))
            }
        };
        Ok(CallKind::Poll(Polled { events, found, timeout }))
    }

    /// A member of the one descriptor polled: as a number, and as bits.
    fn polled(&self, name: &str) -> Parsed<(u64, u16)> {
        const BITS: [(&str, u16); 6] = [
            ("POLLIN", 0x1),
            ("POLLPRI", 0x2),
            ("POLLOUT", 0x4),
            ("POLLERR", 0x8),
            ("POLLHUP", 0x10),
            ("POLLRDHUP", 0x2000),
        ];
        const ONE: &str = "expected one descriptor, like [{fd=4, events=POLLIN, revents=POLLIN}]";
        let argument = self.argument_at(0, "a descriptor to poll")?;
        let members = match &argument.value {
            Value::List(list) => match list.as_slice() {
                [Argument { value: Value::Members(members), .. }] => members,
                _ => return Err((argument.position, ONE.into())),
            },
            _ => return Err((argument.position, ONE.into())),
        };
        let member = members.iter().find(|(known, _)| *known == name);
        let Some((_, value)) = member else {
            return Err((argument.position, ONE.into()));
        };
        match &value.value {
            Value::Number(n) => Ok((*n, *n as u16)),
            Value::Words(words) => {
                let mut all = 0;
                for word in words {
                    match BITS.iter().find(|(known, _)| known == word) {
                        Some((_, bit)) => all |= bit,
                        None => {
                            return Err((value.position, format!("unknown event {word}").into()));
                        }
                    }
                }
                Ok((u64::from(all), all))
            }
            _ => Err((value.position, ONE.into())),
        }
    }

    fn shutdown(&self) -> Parsed<CallKind> {
        match self.words_at(1, "SHUT_WR")? {
            ["SHUT_RD"] => Ok(CallKind::Shutdown(Shutdown::Reading)),
            ["SHUT_WR"] => Ok(CallKind::Shutdown(Shutdown::Writing)),
            ["SHUT_RDWR"] => Ok(CallKind::Shutdown(Shutdown::Both)),
            _ => self.argument_error("expected SHUT_RD, SHUT_WR or SHUT_RDWR"),
        }
    }

    /// Only some calls wait; `connect` that returns 0 cannot but wait.
    fn check_blocking(&self, kind: CallKind, returns: Option<Duration>) -> Parsed<()> {
        let waits = matches!(
            kind,
            CallKind::Connect
                | CallKind::Accept
                | CallKind::Read(_)
                | CallKind::Peek(_)
                | CallKind::Write(_)
                | CallKind::ConnectWith(_)
                | CallKind::Poll(_)
        );
        if returns.is_some() && !waits {
            return self
                .argument_error(&format!("{} never waits: remove the time after ...", self.name));
        }
        Ok(())
    }
}
