//! The application's side: calls on sockets, and calls that wait.

use super::super::model::{Call, CallKind, CallOutcome, Errno};
use super::subject::{SocketProgress, Subject};
use super::{Failure, Held, Run, seconds};
use tcp::Scheme;
use units::Instant;

/// The application and its one socket.
pub(super) struct Application {
    scheme: Scheme,
    /// Bytes read so far.
    read: u64,
    shut_down: bool,
    reading_ended: bool,
    linger_zero: bool,
    waiting: Option<Waiting>,
}

/// A call that has not returned yet.
struct Waiting {
    call: Call,
    line: u32,
    returns: Instant,
}

impl Application {
    pub(super) fn new(scheme: Scheme, mss: Option<u32>) -> Self {
        let mut new = Self {
            scheme,
            read: 0,
            shut_down: false,
            reading_ended: false,
            linger_zero: false,
            waiting: None,
        };
        if let Some(mss) = mss {
            new.set_parameter(&format!("mss={mss}"));
        }
        new
    }

    /// Changes the scheme under which the socket will open.
    fn set_parameter(&mut self, parameter: &str) {
        let text = format!("{}+{parameter}", self.scheme.name());
        self.scheme = Scheme::parse(&text).map_or(self.scheme.clone(), |scheme| scheme.recorded());
    }

    /// What a call would return now; `None` if it would wait.
    fn outcome(
        &self,
        kind: CallKind,
        asked: CallOutcome,
        progress: SocketProgress,
    ) -> Option<CallOutcome> {
        let available = progress.received - self.read;
        match kind {
            CallKind::Connect if progress.reset => Some(failed(Errno::ConnectionRefused)),
            CallKind::Connect => progress.connected.then_some(CallOutcome::Value(0)),
            CallKind::Accept => progress.accepted.then_some(asked),
            CallKind::Read(_) if progress.reset => Some(failed(Errno::ConnectionReset)),
            CallKind::Read(most) if available > 0 => Some(CallOutcome::Value(most.min(available))),
            CallKind::Read(_) => {
                (progress.peer_closed || self.reading_ended).then_some(CallOutcome::Value(0))
            }
            CallKind::Write(_) if progress.reset => Some(failed(Errno::ConnectionReset)),
            CallKind::Write(_) if self.shut_down => Some(failed(Errno::Pipe)),
            CallKind::Write(bytes) => Some(CallOutcome::Value(bytes)),
            CallKind::Shutdown(_) if progress.reset => Some(failed(Errno::NotConnected)),
            CallKind::ConnectWith(bytes) => Some(CallOutcome::Value(bytes)),
            CallKind::Socket | CallKind::Nothing => Some(asked),
            _ => Some(CallOutcome::Value(0)),
        }
    }
}

impl<S: Subject> Run<'_, S> {
    /// Makes a call, which returns at `returns` if it waits.
    pub(super) fn call(&mut self, call: &Call, returns: Option<Instant>, line: u32) -> Held {
        self.finish_call()?;
        if let CallKind::Connect | CallKind::ConnectWith(_) = call.kind {
            let bytes = if let CallKind::ConnectWith(bytes) = call.kind { bytes } else { 0 };
            self.subject.connect(&self.application.scheme, bytes);
        }
        if let Some(returns) = returns {
            self.application.waiting = Some(Waiting { call: call.clone(), line, returns });
            return self.settle_call();
        }
        let would_wait = match call.kind {
            CallKind::Connect => Errno::InProgress,
            _ => Errno::Again,
        };
        let outcome = self.would_return(call).unwrap_or(failed(would_wait));
        self.finish(call, outcome)
    }

    fn would_return(&mut self, call: &Call) -> Option<CallOutcome> {
        self.application.outcome(call.kind, call.outcome, self.subject.progress())
    }

    /// Lets the waiting call return if it can, and checks that it does so in time.
    pub(super) fn settle_call(&mut self) -> Held {
        let Some(waiting) = self.application.waiting.take() else {
            return Ok(());
        };
        let now = self.subject.now();
        let tolerance = self.tolerance();
        match self.would_return(&waiting.call) {
            Some(outcome) if now + tolerance >= waiting.returns => {
                if waiting.returns + tolerance < now {
                    return Err(waiting.fails(&format!("it returns at {}", seconds(now))));
                }
                let line = waiting.line;
                self.finish(&waiting.call, outcome)
                    .map_err(|failure| Failure { line: Some(line), ..failure })
            }
            Some(_) => Err(waiting.fails(&format!("it returns at {}", seconds(now)))),
            None if waiting.returns + tolerance < now => {
                Err(waiting.fails(&format!("it still waits at {}", seconds(now))))
            }
            None => {
                self.application.waiting = Some(waiting);
                Ok(())
            }
        }
    }

    /// Waits for the call that has not returned yet.
    pub(super) fn finish_call(&mut self) -> Held {
        while let Some(waiting) = &self.application.waiting {
            let limit = waiting.returns + self.tolerance();
            let fired = self.step(limit)?;
            self.settle_call()?;
            if let (false, Some(waiting)) = (fired, &self.application.waiting) {
                return Err(waiting.fails("it never returns"));
            }
        }
        Ok(())
    }

    /// The call returns `outcome`: checks that it is the script's, and does what it does.
    fn finish(&mut self, call: &Call, outcome: CallOutcome) -> Held {
        if outcome != call.outcome {
            let actual = format!("it returns {}", described(outcome));
            return Err(Failure::new("the call returns something else", call.text.clone(), actual));
        }
        if let CallOutcome::Value(value) = outcome {
            self.application.act(call.kind, value, &mut self.subject);
        }
        Ok(())
    }
}

impl Application {
    /// Does what a call of `kind` that returned `value` does.
    fn act(&mut self, kind: CallKind, value: u64, subject: &mut impl Subject) {
        match kind {
            CallKind::Listen => subject.listen(&self.scheme),
            CallKind::Write(bytes) => subject.write(bytes),
            CallKind::Read(_) if value > 0 => {
                self.read += value;
                subject.read(value);
            }
            CallKind::Shutdown(both) => {
                self.reading_ended |= both;
                self.shut_down(subject);
            }
            CallKind::Close => self.close(subject),
            CallKind::NoDelay(on) => {
                self.set_parameter(if on { "nagle=off" } else { "nagle=on" });
            }
            CallKind::MaxSegment(bytes) => self.set_parameter(&format!("mss={bytes}")),
            CallKind::LingerZero(on) => self.linger_zero = on,
            CallKind::Socket
            | CallKind::Nothing
            | CallKind::Connect
            | CallKind::ConnectWith(_)
            | CallKind::Accept
            | CallKind::Read(_) => {}
        }
    }

    fn shut_down(&mut self, subject: &mut impl Subject) {
        self.shut_down = true;
        subject.shutdown();
    }

    /// Bytes that nobody will read are lost, which the peer must learn (RFC 2525 §2.17).
    fn close(&mut self, subject: &mut impl Subject) {
        let unread = subject.progress().received > self.read;
        if unread || self.linger_zero {
            subject.abort();
        } else if !self.shut_down {
            self.shut_down(subject);
        }
    }
}

impl Waiting {
    fn fails(&self, actual: &str) -> Failure {
        let expected = format!("{} ... {}", self.call.text, seconds(self.returns));
        Failure {
            line: Some(self.line),
            ..Failure::new("the call returns at another time", expected, actual.to_owned())
        }
    }
}

fn failed(errno: Errno) -> CallOutcome {
    CallOutcome::Error(errno)
}

fn described(outcome: CallOutcome) -> String {
    match outcome {
        CallOutcome::Value(value) => value.to_string(),
        CallOutcome::Error(errno) => format!("-1 {}", errno.name()),
    }
}
