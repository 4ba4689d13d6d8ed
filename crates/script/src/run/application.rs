//! The application and its sockets, between calls.

use super::super::machine::{self, MachineHistory};
use super::super::model::{Call, Errno, ScriptSettings};
use super::socket::{Phase, Socket};
use super::{CheckResult, Failure, seconds};
use std::collections::{BTreeMap, BTreeSet};
use tcp::{LinuxVersion, Scheme};
use units::Instant;

/// The application, its sockets and the machine that they are on.
pub(super) struct Application {
    base: Scheme,
    /// The version of Linux that all schemes follow, unless they name one.
    linux: Option<LinuxVersion>,
    pub(super) machine: MachineHistory,
    pub(super) sockets: BTreeMap<u32, Socket>,
    /// Connections that sockets have had, or a backlog has.
    pub(super) claimed: BTreeSet<usize>,
    /// Sockets and connections so far.
    pub(super) connections: usize,
    /// The connection of the script's segments, and whether it is a listener's.
    pub(super) under_test: Option<(usize, bool)>,
    pub(super) waiting: Option<Waiting>,
}

/// A call that has not returned yet.
pub(super) struct Waiting {
    pub(super) call: Call,
    pub(super) line: u32,
    pub(super) returns: Instant,
    /// Time at which a `poll` that finds nothing returns 0.
    pub(super) gives_up: Option<Instant>,
}

impl Application {
    pub(super) fn new(scheme: Scheme, settings: &ScriptSettings) -> Self {
        Self {
            base: scheme,
            linux: settings.linux,
            machine: MachineHistory::new(settings.mss(), settings.remote.is_ipv6()),
            sockets: BTreeMap::new(),
            claimed: BTreeSet::new(),
            connections: 0,
            under_test: None,
            waiting: None,
        }
    }

    /// The connection that segments are of, and conditions ask.
    pub(super) fn under_test(&self) -> Option<usize> {
        self.under_test.map(|(connection, _)| connection)
    }

    /// A SYN arrives: if a listener is under test it begins a connection.
    pub(super) fn note_syn(&mut self) {
        let Some((place, true)) = self.under_test else { return };
        let listener = self.sockets.values().find(|socket| socket.connection == place);
        if listener.is_some_and(|listener| listener.phase == Phase::Listening) {
            self.under_test = Some((self.connections, false));
            self.connections += 1;
        }
    }

    /// A new connection has the number of one that has ended: sockets of that one have another,
    /// which is returned.
    pub(super) fn renumber(&mut self, connection: usize) -> usize {
        let former = self.connections;
        self.connections += 1;
        let sockets = self.sockets.values_mut().filter(|socket| socket.connection == connection);
        sockets.for_each(|socket| socket.connection = former);
        for socket in self.sockets.values_mut() {
            let waiting = socket.backlog.iter_mut().filter(|number| **number == connection);
            waiting.for_each(|number| *number = former);
        }
        self.claimed.remove(&connection);
        self.claimed.insert(former);
        former
    }

    /// Scheme with which a socket opens.
    pub(super) fn scheme_of_socket(
        &self,
        socket: &Socket,
        listens: bool,
        fast_open: bool,
    ) -> CheckResult<Scheme> {
        let mut parameters = self.machine.now.parameters(listens);
        if fast_open && self.machine.now.fast_open.is_some() {
            parameters.push("tfo=on".to_owned());
        }
        let scheme = socket.scheme_with_options(&self.base, parameters)?;
        Ok(match self.linux {
            Some(version) => scheme.with_linux(version).recorded(),
            None => scheme.recorded(),
        })
    }

    /// A listener takes data in SYNs.
    pub(super) fn listener_scheme(&self, socket: &Socket) -> CheckResult<Scheme> {
        let bits = self.machine.now.fast_open();
        let asked = socket.fast_open_queue > 0 || bits & machine::TFO_SERVER_ALL != 0;
        self.scheme_of_socket(socket, true, bits & machine::TFO_SERVER != 0 && asked)
    }

    /// A router says this of a packet of the connection.
    pub(super) fn note_icmp(&mut self, connection: usize, errno: Errno) {
        let sockets = self.sockets.values_mut().filter(|socket| socket.connection == connection);
        sockets.for_each(|socket| socket.icmp_error = Some(errno));
    }

    /// The connection's socket, or the listener before there is one, may have its packets
    /// fragmented.
    pub(super) fn ignores_path_mtu(&self, connection: usize) -> bool {
        let own = self.sockets.values().find(|socket| socket.connection == connection);
        let listener = || self.sockets.values().find(|socket| socket.phase == Phase::Listening);
        own.or_else(listener).is_some_and(|socket| socket.ignores_path_mtu)
    }

    pub(super) fn socket(&mut self, fd: u32) -> Option<&mut Socket> {
        self.sockets.get_mut(&fd)
    }

    /// The socket is as a new one, and so will its connection be.
    pub(super) fn renew_socket(&mut self, fd: u32) {
        let connection = self.connections;
        self.connections += 1;
        if let Some(socket) = self.socket(fd) {
            let fresh = Socket::new(connection);
            let parameters = std::mem::take(&mut socket.parameters);
            *socket = Socket { parameters, non_blocking: socket.non_blocking, ..fresh };
        }
    }
}

impl Waiting {
    /// That it returns at another time than the script says.
    pub(super) fn wrong_return_time(&self, actual: &str) -> Failure {
        let expected = format!("{} ... {}", self.call.text, seconds(self.returns));
        Failure {
            line: Some(self.line),
            ..Failure::new("the call returns at another time", expected, actual.to_owned())
        }
    }
}
