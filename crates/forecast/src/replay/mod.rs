//! The application that repeats the actions of a network's visitors. It connects at the same times,
//! asks after the same gap behind each answer, and answers after the same time with the same size
//! as the server.
//!
//! Within a connection everything waits for the step before, and so do connections that follow from
//! an answer: a faster answer causes an earlier request.

mod connection;
mod openings;

pub(crate) use connection::{ReplaySpec, Replayed};

use crate::captured::CapturedTransfer;
use crate::opening::OpeningTime;
use connection::ReplayedConnection;
use netsim::{AppContext, Application, HostId};
use openings::Openings;
use rustc_hash::FxHashMap;
use std::ops::Range;
use tcp::{ConnId, Event, EventKind, Scheme};

/// The port of all servers.
const PORT: u16 = 443;

/// The purpose of a timer.
#[derive(Clone, Copy, Debug)]
enum Due {
    Open,
    Ask,
    Answer,
    Continue,
    Close,
}

impl Due {
    const ALL: [Self; 5] = [Self::Open, Self::Ask, Self::Answer, Self::Continue, Self::Close];

    fn token(self, connection: usize) -> u32 {
        (connection * Self::ALL.len() + self as usize) as u32
    }

    fn of(token: u32) -> (Self, usize) {
        let token = token as usize;
        (Self::ALL[token % Self::ALL.len()], token / Self::ALL.len())
    }
}

/// A replay of all connections of a network.
pub(crate) struct Replay {
    connections: Vec<ReplayedConnection>,
    at_client: FxHashMap<(HostId, ConnId), usize>,
    at_server: FxHashMap<(HostId, ConnId), usize>,
    /// The last connection opened from each port of a client.
    callers: FxHashMap<(HostId, u16), usize>,
    /// Connections that open after answers.
    openings: Openings,
    servers: Vec<HostId>,
    scheme: Scheme,
    under_way: usize,
}

impl Replay {
    /// Creates a replay of these connections; the servers run `scheme`.
    pub(crate) fn new(specs: Vec<ReplaySpec>, servers: Vec<HostId>, scheme: Scheme) -> Self {
        Self {
            openings: Openings::of(&specs),
            under_way: specs.len(),
            connections: specs.into_iter().map(ReplayedConnection::new).collect(),
            at_client: FxHashMap::default(),
            at_server: FxHashMap::default(),
            callers: FxHashMap::default(),
            servers,
            scheme,
        }
    }

    /// Returns the results of the connections, in their order.
    pub(crate) fn results(&self) -> impl Iterator<Item = &Replayed> {
        self.connections.iter().map(|connection| &connection.result)
    }

    /// Opens a connection. Its first transfer begins when the server learns of that.
    fn open(&mut self, context: &mut AppContext<'_>, index: usize) {
        let ReplaySpec { client, server, scheme, .. } = &self.connections[index].spec;
        let (client, conn) = (*client, context.connect(*client, *server, PORT, scheme));
        self.at_client.insert((client, conn), index);
        if let Some(peer) = context.peer(client, conn) {
            self.callers.insert((client, peer.local_port), index);
        }
        let connection = &mut self.connections[index];
        connection.client = Some(conn);
        connection.began = Some(context.now() + connection.spec.half_trip);
    }

    /// Schedules the next request, after the same gap as in the capture.
    fn ask_later(&mut self, context: &mut AppContext<'_>, index: usize) {
        let connection = &mut self.connections[index];
        match connection.transfer(connection.asked).copied() {
            // The server speaks first.
            Some(CapturedTransfer { request: 0, .. }) => connection.asked += 1,
            Some(next) => context.set_timer(context.now() + next.gap, Due::Ask.token(index)),
            None => {}
        }
    }

    /// Sends the client's next request, if there is one.
    fn send_request(&mut self, context: &mut AppContext<'_>, index: usize) {
        let connection = &mut self.connections[index];
        let Some(bytes) = connection.transfer(connection.asked).map(|next| next.request) else {
            return;
        };
        connection.asked += 1;
        if let Some(conn) = connection.client {
            context.write(connection.spec.client, conn, bytes);
        }
    }

    /// Handles `requests` bytes at the server, which answers complete requests. A request takes at
    /// least as long to arrive as in the capture, however fast the simulated client sends it.
    fn on_request_bytes(&mut self, context: &mut AppContext<'_>, index: usize, requests: u64) {
        let connection = &mut self.connections[index];
        let Some(&next) = connection.transfer(connection.answered) else { return };
        let is_unasked = next.request == 0 && connection.answered > 0;
        if connection.is_answering || is_unasked && connection.acked < connection.answered {
            return;
        }
        let (before, _) = connection.payload[connection.answered];
        let now = context.now();
        if requests > before {
            connection.asked_at.get_or_insert(now);
            let is_next = connection.acked == connection.answered;
            if is_next && connection.began.is_none() {
                connection.began = Some(now);
            }
        }
        if requests < before + next.request {
            return;
        }
        connection.is_answering = true;
        let wait = if next.request == 0 { next.gap + next.think } else { next.think };
        let asked = connection.asked_at.take().unwrap_or(now);
        context.set_timer(now.max(asked + next.upload) + wait, Due::Answer.token(index));
    }

    /// Lets the server answer: a segment at most, and the rest after its pause. In a pause nothing
    /// was sent though the window had room, so all of it adds to the transfer. If more of the
    /// answer preceded the pause, it would overlap with the time that the window holds that back.
    fn write_response(&mut self, context: &mut AppContext<'_>, index: usize) {
        let uses_sizes = self.scheme.uses_sizes();
        let connection = &mut self.connections[index];
        let (Some(conn), Some(&next)) =
            (connection.server, connection.transfer(connection.answered))
        else {
            return;
        };
        if connection.began.is_none() && connection.acked == connection.answered {
            // There was no request.
            connection.began = Some(context.now());
        }
        let server = connection.spec.server;
        if uses_sizes {
            context.announce(server, conn, next.bytes);
        }
        let mss = context.host(server).connection(conn).map_or(u64::MAX, tcp::Connection::mss);
        let first = if next.pause.is_zero() { next.bytes } else { mss.min(next.bytes.div_ceil(2)) };
        context.write(server, conn, first);
        if first == next.bytes {
            return self.end_answer(context, index);
        }
        connection.kept_back = next.bytes - first;
        context.set_timer(context.now() + next.pause, Due::Continue.token(index));
    }

    /// Writes the part of an answer that its application has withheld.
    fn continue_answer(&mut self, context: &mut AppContext<'_>, index: usize) {
        let connection = &mut self.connections[index];
        let kept_back = std::mem::take(&mut connection.kept_back);
        if let Some(conn) = connection.server {
            context.write(connection.spec.server, conn, kept_back);
        }
        self.end_answer(context, index);
    }

    /// Ends the answer under way and begins the next one, if its request is complete.
    fn end_answer(&mut self, context: &mut AppContext<'_>, index: usize) {
        let connection = &mut self.connections[index];
        connection.is_answering = false;
        connection.answered += 1;
        // Another request may be complete by now.
        let received = connection.received_bytes(context);
        self.on_request_bytes(context, index, received);
    }

    /// Notes that the server knows `total` bytes of its answers to be delivered.
    fn on_acked(&mut self, context: &mut AppContext<'_>, index: usize, total: u64) {
        let now = context.now();
        let connection = &mut self.connections[index];
        while connection.acked < connection.answered {
            let (requests, answers) = connection.payload[connection.acked + 1];
            if total < answers {
                return;
            }
            let began = connection.began.take();
            connection.result.took[connection.acked] =
                began.map(|began| now.saturating_since(began));
            connection.acked += 1;
            if connection.received_bytes(context) > requests {
                // The next request came with this acknowledgement, or before it.
                connection.began = Some(now);
            }
        }
        if let Some(&CapturedTransfer { request: 0, .. }) = connection.transfer(connection.answered)
        {
            // The server sends its unrequested data, after everything before.
            let received = connection.received_bytes(context);
            return self.on_request_bytes(context, index, received);
        }
        let connection = &self.connections[index];
        if connection.acked == connection.spec.plan.transfers.len() {
            let rest = connection.spec.plan.rest;
            context.set_timer(now + rest, Due::Close.token(index));
        }
    }

    fn close(&mut self, context: &mut AppContext<'_>, index: usize) {
        let connection = &self.connections[index];
        if let Some(conn) = connection.client {
            context.shutdown(connection.spec.client, conn);
        }
    }

    /// Notes that the client has `total` bytes of answers.
    fn on_arrived(&mut self, context: &mut AppContext<'_>, index: usize, total: u64) {
        let connection = &mut self.connections[index];
        let before = connection.arrived;
        while connection.payload.get(connection.arrived + 1).is_some_and(|(_, end)| *end <= total) {
            connection.arrived += 1;
        }
        let arrived = connection.arrived;
        let asks = arrived > before && arrived == connection.asked;
        self.open_behind(context, index, before..arrived);
        if asks {
            self.ask_later(context, index);
        }
    }

    /// Opens the connections that wait for these transfers, after their gaps.
    fn open_behind(&mut self, context: &mut AppContext<'_>, index: usize, transfers: Range<usize>) {
        for transfer in transfers {
            for (follower, gap) in self.openings.connections_after(index, transfer) {
                context.set_timer(context.now() + gap, Due::Open.token(follower));
            }
        }
    }

    /// Handles an event at the client's end of a connection.
    fn on_client(&mut self, context: &mut AppContext<'_>, index: usize, event: &Event) {
        match event.kind {
            EventKind::Connected => self.ask_later(context, index),
            EventKind::Received { total } => self.on_arrived(context, index, total),
            EventKind::PeerClosed => {
                context.shutdown(self.connections[index].spec.client, event.conn)
            }
            EventKind::Reset => {
                // Its number may be another connection's from now on.
                self.connections[index].client = None;
                self.end(context, index);
            }
            EventKind::Closed => self.connections[index].client = None,
            _ => {}
        }
    }

    /// Handles an event at the server's end of a connection.
    fn on_server(&mut self, context: &mut AppContext<'_>, index: usize, event: &Event) {
        match event.kind {
            EventKind::Accepted => self.on_request_bytes(context, index, 0),
            EventKind::Received { total } => self.on_request_bytes(context, index, total),
            EventKind::Acked { total } => self.on_acked(context, index, total),
            EventKind::PeerClosed => {
                self.count(context, index);
                context.shutdown(self.connections[index].spec.server, event.conn);
            }
            EventKind::Closed | EventKind::Reset => {
                self.end(context, index);
                self.free_port(context, index);
            }
            EventKind::Connected => {}
        }
    }

    /// Frees the client's port without a wait. TIME-WAIT would guard against old segments, but a
    /// port is not used again for thousands of connections, and there are enough for those open at
    /// once.
    fn free_port(&mut self, context: &mut AppContext<'_>, index: usize) {
        let connection = &mut self.connections[index];
        if let Some(conn) = connection.client.take() {
            context.abort(connection.spec.client, conn);
        }
    }

    /// Notes how many segments the server has retransmitted, and its timeouts.
    fn count(&mut self, context: &AppContext<'_>, index: usize) {
        let connection = &mut self.connections[index];
        let stats = connection.server.and_then(|conn| context.stats(connection.spec.server, conn));
        if let Some(stats) = stats {
            connection.result.retransmissions = stats.retransmitted_segments;
            connection.result.timeouts = stats.timeouts;
        }
    }

    /// Ends a connection, and the simulation with the last one. Connections that wait for its
    /// transfers may open now.
    fn end(&mut self, context: &mut AppContext<'_>, index: usize) {
        if !std::mem::replace(&mut self.connections[index].is_over, true) {
            self.count(context, index);
            self.under_way -= 1;
            // Answers not delivered by now will never be: their slot becomes free all the same.
            let ReplayedConnection { arrived, spec, .. } = &self.connections[index];
            let never = *arrived..spec.plan.transfers.len();
            self.open_behind(context, index, never);
        }
        if self.under_way == 0 {
            context.finish();
        }
    }
}

impl ReplayedConnection {
    /// Returns the payload that the server has received, bytes.
    fn received_bytes(&self, context: &AppContext<'_>) -> u64 {
        let host = context.host(self.spec.server);
        let connection = self.server.and_then(|conn| host.connection(conn));
        connection.map_or(0, tcp::Connection::received)
    }
}

impl Application for Replay {
    fn start(&mut self, context: &mut AppContext<'_>) {
        for server in &self.servers {
            context.listen(*server, PORT, self.scheme.clone());
        }
        for (index, connection) in self.connections.iter().enumerate() {
            if let OpeningTime::At(at) = connection.spec.opens {
                context.set_timer(at, Due::Open.token(index));
            }
        }
    }

    fn on_event(&mut self, context: &mut AppContext<'_>, host: HostId, event: &Event) {
        if let Some(&index) = self.at_client.get(&(host, event.conn)) {
            return self.on_client(context, index, event);
        }
        if event.kind == EventKind::Accepted
            && let Some(peer) = context.peer(host, event.conn)
            && let Some(&index) = self.callers.get(&(peer.host, peer.port))
        {
            self.at_server.insert((host, event.conn), index);
            self.connections[index].server = Some(event.conn);
        }
        if let Some(&index) = self.at_server.get(&(host, event.conn)) {
            self.on_server(context, index, event);
        }
    }

    fn on_timer(&mut self, context: &mut AppContext<'_>, token: u32) {
        let (due, index) = Due::of(token);
        if self.connections[index].is_over {
            return;
        }
        match due {
            Due::Open => self.open(context, index),
            Due::Ask => self.send_request(context, index),
            Due::Answer => self.write_response(context, index),
            Due::Continue => self.continue_answer(context, index),
            Due::Close => self.close(context, index),
        }
    }

    fn on_stop(&mut self, context: &mut AppContext<'_>) {
        // Retransmissions of unfinished connections count as well.
        for index in 0..self.connections.len() {
            if !self.connections[index].is_over {
                self.count(context, index);
            }
        }
    }

    fn describe(&self) -> String {
        format!("{} connections of a capture, not over", self.under_way)
    }
}
