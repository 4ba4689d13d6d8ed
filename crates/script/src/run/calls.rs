//! The application's side: calls on sockets, and calls that wait.

use super::super::machine;
use super::super::model::{
    Call, CallKind, CallOutcome, Errno, Polled, Shutdown, SocketOption, TcpInfoField, Writing,
};
use super::application::Waiting;
use super::socket::{Phase, Socket, failed_call, returns_error};
use super::subject::{ConnectRequest, ConnectionRequest, SocketProgress, Subject};
use super::{CheckResult, Failure, Run};
use units::Instant;

/// `SOCK_MIN_RCVBUF`, about: a smaller buffer is this, bytes.
const MIN_RECEIVE_BUFFER: u32 = 2304;

impl<S: Subject> Run<'_, S> {
    /// Makes a call, which returns at `returns` if it waits.
    pub(super) fn call(&mut self, call: &Call, returns: Option<Instant>, line: u32) -> CheckResult {
        self.finish_call()?;
        if let Some(outcome) = self.refused(call) {
            return self.finish(call, outcome);
        }
        self.begin(call, returns.is_some())?;
        if let Some(returns) = returns {
            let gives_up = match call.kind {
                CallKind::Poll(Polled { timeout: Some(timeout), .. }) => {
                    Some(self.subject.now() + timeout)
                }
                _ => None,
            };
            let call = call.clone();
            self.application.waiting = Some(Waiting { call, line, returns, gives_up });
            return self.settle_call();
        }
        let outcome = self.would_return(call);
        if let (None, CallKind::Poll(_)) = (outcome, call.kind) {
            let actual = "it finds nothing and waits".to_owned();
            return Err(Failure::new(
                "the call does not return at once",
                call.text.clone(),
                actual,
            ));
        }
        let outcome = outcome.unwrap_or_else(|| self.would_wait(call));
        self.finish(call, outcome)?;
        self.check_polled(call, outcome)
    }

    /// Result of a call that would wait and must not.
    fn would_wait(&mut self, call: &Call) -> CallOutcome {
        let taken = self.application.socket(call.fd).map_or(0, |socket| socket.taken);
        match call.kind {
            CallKind::ConnectWith(_) | CallKind::Write(_) if taken > 0 => CallOutcome::Value(taken),
            CallKind::Connect | CallKind::ConnectWith(_) => failed_call(Errno::InProgress),
            // A script says how much it writes, and this is the first of it.
            CallKind::Write(Writing { bytes: 0, .. }) => failed_call(Errno::InProgress),
            _ => failed_call(Errno::Again),
        }
    }

    /// The error that the state of the socket causes at once.
    fn refused(&mut self, call: &Call) -> Option<CallOutcome> {
        let machine = self.application.machine.now.clone();
        let client = machine.fast_open() & machine::TFO_CLIENT != 0 || machine.fast_open.is_none();
        let socket = self.application.socket(call.fd)?;
        let (phase, connection) = (socket.phase, socket.connection);
        let progress = self.subject.progress(connection);
        let opens = phase == Phase::Opening && !progress.connected && !progress.reset;
        match call.kind {
            CallKind::FastOpenConnect(_) | CallKind::ConnectWith(_) if !client => {
                Some(failed_call(Errno::NotSupported))
            }
            CallKind::Connect | CallKind::ConnectWith(_) if opens => {
                Some(failed_call(Errno::Already))
            }
            CallKind::Connect if phase == Phase::Deferred => Some(failed_call(Errno::IsConnected)),
            CallKind::Connect
                if phase == Phase::Accepted || (phase == Phase::Opening && progress.connected) =>
            {
                Some(failed_call(Errno::IsConnected))
            }
            CallKind::Shutdown(_) if phase != Phase::Listening && self.has_closed(connection) => {
                Some(failed_call(Errno::NotConnected))
            }
            CallKind::Get(option, _) => self.option(call.fd, option, progress),
            _ => None,
        }
    }

    /// Both ends have sent their FINs, and the connection is over, or waits in TIME-WAIT.
    fn has_closed(&mut self, connection: usize) -> bool {
        const TIME_WAIT: u64 = 6;
        const CLOSE: u64 = 7;
        let state = self.subject.info(connection, TcpInfoField::State);
        matches!(state, Some(TIME_WAIT | CLOSE))
    }

    /// The value of an option.
    fn option(
        &mut self,
        fd: u32,
        option: SocketOption,
        progress: SocketProgress,
    ) -> Option<CallOutcome> {
        let socket = self.application.socket(fd)?;
        let connection = socket.connection;
        let own = socket.option(option, progress);
        let value = match option {
            SocketOption::MaxSegment => {
                self.subject.info(connection, TcpInfoField::SndMss).or(own).unwrap_or(536)
            }
            _ => own.unwrap_or(0),
        };
        Some(CallOutcome::Value(value))
    }

    /// Connects, if the call does, whether it returns or waits.
    fn begin(&mut self, call: &Call, waits: bool) -> CheckResult {
        let Some(socket) = self.application.socket(call.fd) else { return Ok(()) };
        let (phase, first) = (socket.phase, matches!(socket.phase, Phase::Fresh | Phase::Deferred));
        let fast_open_connect = socket.fast_open_connect;
        let at_once = socket.non_blocking;
        match call.kind {
            CallKind::Connect if phase == Phase::Fresh => {
                if fast_open_connect && self.subject.knows_cookie() {
                    self.set_phase(call.fd, Phase::Deferred);
                    return Ok(());
                }
                self.connect(call.fd, ConnectRequest::default(), fast_open_connect)
            }
            CallKind::ConnectWith(writing) if first => {
                let at_once = writing.at_once || (at_once && !waits);
                self.connect(call.fd, ConnectRequest { bytes: writing.bytes, at_once }, true)
            }
            CallKind::Write(writing) if phase == Phase::Deferred => {
                let at_once = writing.at_once || (at_once && !waits);
                self.connect(call.fd, ConnectRequest { bytes: writing.bytes, at_once }, true)
            }
            _ => Ok(()),
        }
    }

    fn set_phase(&mut self, fd: u32, phase: Phase) {
        if let Some(socket) = self.application.socket(fd) {
            socket.phase = phase;
        }
    }

    fn connect(&mut self, fd: u32, request: ConnectRequest, fast_open: bool) -> CheckResult {
        let Some(socket) = self.application.sockets.get(&fd) else { return Ok(()) };
        let scheme = self.application.scheme_of_socket(socket, false, fast_open)?;
        let connection = socket.connection;
        let taken = self.subject.connect(connection, &scheme, request);
        if let Some(socket) = self.application.socket(fd) {
            socket.phase = Phase::Opening;
            socket.taken = taken;
        }
        self.application.under_test = Some((connection, false));
        self.request_options(fd);
        Ok(())
    }

    /// Applies to a connection the options that were set before it opened.
    fn request_options(&mut self, fd: u32) {
        let Some(socket) = self.application.sockets.get(&fd) else { return };
        let requests = [
            socket.syn_retries.map(ConnectionRequest::SynRetries),
            socket.user_timeout.map(ConnectionRequest::UserTimeout),
            socket.corked.then_some(ConnectionRequest::Cork(true)),
        ];
        for request in requests.into_iter().flatten() {
            self.subject.request(socket.connection, request);
        }
    }

    pub(super) fn would_return(&mut self, call: &Call) -> Option<CallOutcome> {
        self.collect_backlog();
        let Some(socket) = self.application.sockets.get(&call.fd) else {
            return Some(call.outcome);
        };
        if socket.phase == Phase::Deferred && call.kind == CallKind::Connect {
            return Some(CallOutcome::Value(0));
        }
        // Bytes that a connecting write has accepted.
        if let (CallKind::Write(_), Phase::Opening) = (call.kind, socket.phase)
            && socket.fast_open_connect
            && !self.subject.progress(socket.connection).connected
            && !self.subject.progress(socket.connection).reset
        {
            return None;
        }
        let progress = self.subject.progress(socket.connection);
        socket.outcome(call.kind, call.outcome, progress)
    }

    /// Adds connections of listeners that are not yet accepted.
    fn collect_backlog(&mut self) {
        for number in 0..self.application.connections {
            let claimed = self.application.claimed.contains(&number);
            if claimed || !self.subject.progress(number).accepted {
                continue;
            }
            let mut sockets = self.application.sockets.values_mut();
            if let Some(listener) = sockets.find(|socket| socket.phase == Phase::Listening) {
                listener.backlog.push(number);
                self.application.claimed.insert(number);
            }
        }
    }

    /// The call returns `outcome`: checks that it is the script's, and does what it does.
    pub(super) fn finish(&mut self, call: &Call, outcome: CallOutcome) -> CheckResult {
        let agrees = match (call.outcome, outcome) {
            (CallOutcome::AnyError, CallOutcome::Error(_)) => true,
            // Results of fcntl and its like are not compared.
            (expected, actual) => expected == actual,
        };
        let differs = |actual: String| {
            Err(Failure::new("the call returns something else", call.text.clone(), actual))
        };
        if let (CallKind::Get(option, expected), CallOutcome::Value(value)) = (call.kind, outcome) {
            // The error is reported once, and the call returns 0.
            if let (SocketOption::Error, Some(socket)) = (option, self.application.socket(call.fd))
            {
                socket.error_reported |= value != 0;
            }
            return match (expected == value, call.outcome) {
                (false, _) => differs(format!("the value is {value}")),
                (true, CallOutcome::Value(0)) => Ok(()),
                (true, _) => differs("it returns 0".to_owned()),
            };
        }
        if !agrees {
            return differs(format!("it returns {}", outcome_text(outcome)));
        }
        match outcome {
            CallOutcome::Value(value) => self.perform(call, value)?,
            CallOutcome::Error(errno) if returns_error(call.kind, errno) => {
                if let Some(socket) = self.application.socket(call.fd) {
                    socket.error_reported = true;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Does what a call that returned `value` does.
    fn perform(&mut self, call: &Call, value: u64) -> CheckResult {
        let fd = call.fd;
        if let CallKind::Socket { non_blocking } = call.kind {
            let number = self.application.connections;
            self.application.connections += 1;
            let socket = Socket { non_blocking, ..Socket::new(number) };
            self.application.sockets.insert(fd, socket);
            self.application.claimed.insert(number);
            self.application.under_test = Some((number, true));
            return Ok(());
        }
        let Some(socket) = self.application.socket(fd) else { return Ok(()) };
        let connection = socket.connection;
        let open = !matches!(socket.phase, Phase::Fresh | Phase::Listening);
        match call.kind {
            CallKind::Listen => self.listen(fd)?,
            CallKind::Accept => self.accept(fd, value as u32),
            CallKind::Write(writing) => self.write_bytes(fd, writing, value),
            CallKind::ConnectWith(writing) => self.write_bytes(fd, writing, value),
            CallKind::Read(_) if value > 0 => {
                socket.read += value;
                self.subject.read(connection, value);
            }
            // Only its reading side ends what listens (`inet_shutdown`).
            CallKind::Shutdown(Shutdown::Writing) if socket.phase == Phase::Listening => {}
            CallKind::Shutdown(_) if socket.phase == Phase::Listening => {
                let backlog = std::mem::take(&mut socket.backlog);
                socket.phase = Phase::Fresh;
                self.subject.unlisten();
                backlog.iter().for_each(|number| self.subject.abort(*number));
            }
            CallKind::Shutdown(how) => {
                socket.reading_ended |= how != Shutdown::Writing;
                if how != Shutdown::Reading {
                    socket.shut_down = true;
                    self.subject.shutdown(connection);
                }
            }
            CallKind::Close => self.close(fd),
            CallKind::NoDelay(on) => {
                socket.no_delay = on;
                socket.parameters.push(format!("nagle={}", if on { "off" } else { "on" }));
                if socket.phase == Phase::Listening {
                    self.listen(fd)?;
                } else if open {
                    self.subject.request(connection, ConnectionRequest::NoDelay(on));
                }
            }
            CallKind::Cork(on) => {
                socket.corked = on;
                self.subject.request(connection, ConnectionRequest::Cork(on));
            }
            CallKind::PathMtu(discovers) => socket.ignores_path_mtu = !discovers,
            // An open connection keeps its segment size (`do_tcp_setsockopt`).
            CallKind::MaxSegment(_) if open => {}
            CallKind::MaxSegment(bytes) => {
                socket.max_segment = Some(bytes);
                socket.parameters.push(format!("mss={bytes}"));
                if socket.phase == Phase::Listening {
                    self.listen(fd)?;
                }
            }
            CallKind::LingerZero(on) => socket.linger_zero = on,
            CallKind::NonBlocking(on) => socket.non_blocking = on,
            CallKind::UserTimeout(timeout) => {
                socket.user_timeout = Some(timeout);
                self.subject.request(connection, ConnectionRequest::UserTimeout(timeout));
            }
            CallKind::SynRetries(count) => {
                socket.syn_retries = Some(count);
                self.subject.request(connection, ConnectionRequest::SynRetries(count));
            }
            CallKind::FastOpenQueue(queue) => {
                socket.fast_open_queue = queue;
                if socket.phase == Phase::Listening {
                    self.listen(fd)?;
                }
            }
            CallKind::FastOpenConnect(on) => socket.fast_open_connect = on,
            CallKind::FastOpenKey(Some(key)) => {
                socket.fast_open_key = Some(key);
                if socket.phase == Phase::Listening {
                    self.listen(fd)?;
                }
            }
            CallKind::NotSentLowWater(bytes) => socket.not_sent_low_water = bytes,
            CallKind::SendBuffer(bytes) => socket.send_buffer = Some(bytes),
            // Twice the bytes (`SO_RCVBUF` of socket(7)).
            CallKind::ReceiveBuffer(bytes) => {
                let bytes = bytes.saturating_mul(2).max(MIN_RECEIVE_BUFFER);
                socket.parameters.push(format!("rcvbuf={bytes}B"));
                socket.parameters.push(format!("rcvbuf_max={bytes}B"));
                if socket.phase == Phase::Listening {
                    self.listen(fd)?;
                }
            }
            CallKind::Disconnect => {
                self.subject.abort(connection);
                self.application.renew_socket(fd);
            }
            _ => {}
        }
        Ok(())
    }

    fn listen(&mut self, fd: u32) -> CheckResult {
        self.set_phase(fd, Phase::Listening);
        if let Some(socket) = self.application.sockets.get(&fd) {
            let scheme = self.application.listener_scheme(socket)?;
            let mut machine = self.application.machine.now.clone();
            machine.fast_open_key = socket.fast_open_key.or(machine.fast_open_key);
            self.subject.configure(&machine);
            self.subject.listen(&scheme);
        }
        Ok(())
    }

    /// The machine has changed: listeners open the next connection with its settings, and with a
    /// key of its own.
    pub(super) fn listen_again(&mut self) -> CheckResult {
        let sockets = self.application.sockets.iter();
        let listening = sockets.filter(|(_, socket)| socket.phase == Phase::Listening);
        let listening: Vec<_> = listening.map(|(fd, _)| *fd).collect();
        listening.into_iter().try_for_each(|fd| self.listen(fd))
    }

    fn accept(&mut self, listener: u32, fd: u32) {
        let Some(socket) = self.application.socket(listener) else { return };
        if socket.backlog.is_empty() {
            return;
        }
        let connection = socket.backlog.remove(0);
        let accepted = Socket {
            phase: Phase::Accepted,
            send_buffer: None,
            backlog: Vec::new(),
            connection,
            ..socket.clone()
        };
        self.application.under_test = Some((connection, false));
        self.application.sockets.insert(fd, accepted);
        self.request_options(fd);
    }

    /// Bytes that `connect` has accepted are not written twice.
    fn write_bytes(&mut self, fd: u32, writing: Writing, value: u64) {
        let Some(socket) = self.application.socket(fd) else { return };
        let connection = socket.connection;
        let fresh = value.saturating_sub(std::mem::take(&mut socket.taken));
        if writing.more {
            self.subject.request(connection, ConnectionRequest::More);
        }
        if fresh > 0 {
            self.subject.write(connection, fresh);
        }
        if writing.ends_record {
            self.subject.request(connection, ConnectionRequest::EndRecord);
        }
    }

    /// Unread bytes are lost, which the peer must learn (RFC 2525 §2.17).
    fn close(&mut self, fd: u32) {
        self.collect_backlog();
        let Some(socket) = self.application.sockets.remove(&fd) else { return };
        let connection = socket.connection;
        match socket.phase {
            Phase::Fresh | Phase::Deferred => {}
            Phase::Listening => {
                self.subject.unlisten();
                socket.backlog.iter().for_each(|number| self.subject.abort(*number));
            }
            Phase::Opening | Phase::Accepted => {
                let unread = self.subject.progress(connection).received > socket.read;
                if unread || socket.linger_zero {
                    self.subject.abort(connection);
                } else {
                    self.subject.close(connection);
                }
            }
        }
    }
}

fn outcome_text(outcome: CallOutcome) -> String {
    match outcome {
        CallOutcome::Value(value) => value.to_string(),
        CallOutcome::Error(errno) => format!("-1 {}", errno.name()),
        CallOutcome::AnyError => "-1".to_owned(),
    }
}
