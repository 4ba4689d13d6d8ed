//! Handles the applications' commands.

use super::slot::Owner;
use super::{Listening, Stack};
use crate::info::{ConnectionInfo, EndpointStatus, PathInfo};
use crate::mailbox::{Command, Connect, Listen};
use crate::requests::Word;
use crate::shared::{SharedStream, StreamRequests};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use tcp::{ConnId, FourTuple, Path, Scheme};
use units::Instant;

impl Stack {
    pub(crate) fn handle_command(&mut self, now: Instant, command: Command) {
        match command {
            Command::Touch(shared) => self.on_stream_change(now, &shared),
            Command::SetWord(shared, word) => self.set_word(now, &shared, word),
            Command::SetScheme(set) => {
                let done = self.set_scheme(now, &set.shared, &set.scheme);
                let _ = set.reply.send(done);
            }
            Command::Ask(shared, reply) => {
                let known = self.slots.of(&shared).is_some();
                if let Some(info) = self.info(shared.conn).filter(|_| known) {
                    // The caller may have stopped waiting, in this case and in those below.
                    let _ = reply.send(info);
                }
            }
            Command::Connect(connect) => self.connect(now, *connect),
            Command::Listen(listen) => self.listen(listen),
            Command::Rescheme(port, scheme) => self.set_listener_scheme(port, &scheme),
            Command::Unlisten(port) => self.unlisten(now, port),
            Command::Status(reply) => {
                let _ = reply.send(self.status());
            }
            Command::Abort => {
                let all: Vec<_> = self.slots.iter().map(|slot| slot.shared.conn).collect();
                all.into_iter().for_each(|id| self.host.abort(now, id));
            }
            Command::Close(reply) => {
                self.closed.extend(reply);
                let ports: Vec<_> = self.listeners.iter().map(|l| l.port).collect();
                ports.into_iter().for_each(|port| self.unlisten(now, port));
            }
        }
        self.digest_events(now);
    }

    /// Handles a change of the application's side of a stream.
    fn on_stream_change(&mut self, now: Instant, shared: &Arc<SharedStream>) {
        let requests = shared.requests();
        let Some(slot) = self.slots.of(shared) else { return };
        let id = shared.conn;
        let written = requests.written.saturating_sub(slot.written);
        let read = requests.read.saturating_sub(slot.read);
        slot.written += written;
        slot.read += read;
        let shutdown = requests.shutdown && !slot.shutdown;
        slot.shutdown |= shutdown;
        if requests.dropped {
            slot.owner = Owner::Dropped;
        }
        if read > 0 {
            self.host.read(now, id, read);
        }
        if written > 0 {
            self.host.write(now, id, written);
        }
        if is_abort(&requests) {
            self.host.abort(now, id);
        } else if requests.dropped {
            // The application waits no longer for a peer that never finishes.
            self.host.close(now, id);
        } else if shutdown {
            self.host.shutdown(now, id);
        }
    }

    fn set_word(&mut self, now: Instant, shared: &Arc<SharedStream>, word: Word) {
        if self.slots.of(shared).is_none() {
            return;
        }
        let id = shared.conn;
        match word {
            Word::Size(bytes) => self.host.announce(now, id, bytes),
            Word::Weight(weight) => self.host.set_weight(id, weight),
            Word::Content(content) => self.host.set_content(id, content),
            Word::Client(client) => self.host.set_client(id, client),
        }
    }

    fn set_scheme(
        &mut self,
        now: Instant,
        shared: &Arc<SharedStream>,
        scheme: &Scheme,
    ) -> io::Result<()> {
        let scheme = self.fit_scheme(scheme);
        let slot = self.slots.of(shared).ok_or(ErrorKind::NotConnected)?;
        let changed = self.host.set_scheme(now, shared.conn, &scheme);
        changed.map_err(|why| io::Error::new(ErrorKind::InvalidInput, why))?;
        slot.scheme = scheme.name().into();
        Ok(())
    }

    fn listen(&mut self, listen: Listen) {
        let Listen { port, scheme, accepted, reply } = listen;
        let taken = self.listeners.iter().any(|listening| listening.port == port);
        let answer = if taken || port == 0 {
            Err(ErrorKind::AddrInUse.into())
        } else {
            let scheme = self.fit_scheme(&scheme);
            self.host.listen(port, scheme.clone());
            self.listeners.push(Listening { port, scheme, accepted });
            Ok(())
        };
        let _ = reply.send(answer);
    }

    fn set_listener_scheme(&mut self, port: u16, scheme: &Scheme) {
        let scheme = self.fit_scheme(scheme);
        if let Some(listening) = self.listeners.iter_mut().find(|l| l.port == port) {
            listening.scheme = scheme.clone();
            self.host.listen(port, scheme);
        }
    }

    fn unlisten(&mut self, now: Instant, port: u16) {
        self.listeners.retain(|listening| listening.port != port);
        self.host.unlisten(now, port);
    }

    fn connect(&mut self, now: Instant, connect: Connect) {
        let Connect { to, scheme, early, reply } = connect;
        match self.open(now, to, &scheme, &early) {
            Ok(id) => {
                if let Some(slot) = self.slot_of(id) {
                    slot.owner = Owner::Connecting(reply);
                }
            }
            Err(error) => {
                let _ = reply.send(Err(error));
            }
        }
    }

    fn open(
        &mut self,
        now: Instant,
        to: SocketAddr,
        scheme: &Scheme,
        early: &[u8],
    ) -> io::Result<ConnId> {
        let (remote, remote_port) = (to.ip(), to.port());
        let tuple = |local_port| FourTuple { local_port, remote, remote_port };
        let possible =
            self.addresses.local_address_towards(remote, 0).is_some() && remote_port != 0;
        let host = &self.host;
        let port = self.ports.take(|port| {
            let tuple = tuple(port);
            host.find(&tuple).is_none() && !host.is_in_time_wait(now, &tuple)
        });
        let port = port.filter(|_| possible).ok_or(ErrorKind::AddrNotAvailable)?;
        let (tuple, scheme) = (tuple(port), self.fit_scheme(scheme));
        let id = self.host.connect(now, tuple, &scheme).map_err(|_| ErrorKind::AddrInUse)?;
        self.make_slot(id, &tuple, &scheme);
        if let Some(slot) = self.slots.at_mut(id).filter(|_| !early.is_empty()) {
            slot.shared.write_early(early);
            slot.written = early.len() as u64;
            self.host.write(now, id, slot.written);
        }
        Ok(id)
    }

    fn status(&self) -> EndpointStatus {
        let connections = self.slots.iter().filter_map(|slot| self.info(slot.shared.conn));
        EndpointStatus {
            connections: connections.collect(),
            counters: self.counters.clone(),
            tcp: self.host.counters().clone(),
            buffers: self.accounts.taken_bytes(),
            remembered: self.host.remembered_destinations(),
        }
    }

    fn info(&self, id: ConnId) -> Option<ConnectionInfo> {
        let slot = self.slots.at(id)?;
        let conn = self.host.connection(id)?;
        let path = self.host.path_of(id).map(|path| self.path_info(id, path));
        Some(ConnectionInfo {
            number: id.0,
            local: slot.shared.local,
            peer: slot.shared.peer,
            state: conn.state(),
            scheme: slot.scheme.to_string(),
            mss: conn.mss(),
            bytes_written: slot.written,
            bytes_acked: conn.acked(),
            bytes_received: conn.received(),
            bytes_unsent: conn.unsent(),
            snd_wnd: conn.snd_wnd(),
            stats: conn.stats(),
            segments_lost: conn.scoreboard().losses(),
            bytes_lost: conn.scoreboard().lost(),
            recovering: conn.recovering(),
            delivery_rate: slot.rate.rate(),
            path: path.unwrap_or(PathInfo { number: id.0, ..PathInfo::default() }),
        })
    }

    fn path_info(&self, id: ConnId, path: &Path) -> PathInfo {
        let (window, rtt) = (path.window(), path.rtt());
        PathInfo {
            cwnd: window.cwnd(),
            ssthresh: Some(window.ssthresh()).filter(|bytes| *bytes != u64::MAX),
            bytes_in_flight: path.bytes_in_flight(),
            srtt: rtt.srtt(),
            rttvar: rtt.rttvar(),
            min_rtt: if rtt.has_sample() { rtt.min_rtt() } else { Default::default() },
            rto: rtt.rto(0),
            pacing_rate: window.pacing_rate(),
            in_startup: path.in_startup(),
            remembered: path.began_remembering(),
            startup: *path.startup_report(),
            number: self.host.members_with(id).next().unwrap_or(id).0,
            members: self.host.member_count(id),
        }
    }
}

/// Returns true for an end without FIN: by order of the application, or because it has left data
/// unread.
const fn is_abort(requests: &StreamRequests) -> bool {
    requests.aborted || requests.dropped && requests.unread
}
