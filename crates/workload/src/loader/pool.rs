//! The connections to one host and the objects that wait for one.

use super::LoadConnId;
use super::connection::Connection;
use crate::Protocol;
use crate::page::ObjectId;
use std::collections::VecDeque;

/// Next action of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Ask for the object on the connection.
    Ask(ObjectId, LoadConnId),
    /// Open one more connection.
    Open,
    Nothing,
}

#[derive(Clone, Debug)]
pub(super) struct Pool {
    pub(super) protocol: Protocol,
    /// Objects discovered and not requested, in order of discovery.
    pub(super) waiting: VecDeque<ObjectId>,
    /// Connections not closed, in order of opening.
    pub(super) open: Vec<LoadConnId>,
    /// A connection could not be opened while another was open: no more are opened beside it.
    pub(super) is_refused: bool,
}

impl Pool {
    pub(super) fn new(protocol: Protocol) -> Self {
        Self { protocol, waiting: VecDeque::new(), open: Vec::new(), is_refused: false }
    }

    /// An idle connection is used before a new one is opened; one new connection per waiting
    /// object, up to the limit.
    pub(super) fn poll(&mut self, connections: &[Connection]) -> Next {
        let Some(object) = self.waiting.front().copied() else {
            return Next::Nothing;
        };
        if let Some(conn) = self.open.iter().find(|c| connections[c.index()].can_ask()) {
            self.waiting.pop_front();
            return Next::Ask(object, *conn);
        }
        let opening = self.opening(connections);
        let has_room = self.open.len() < self.protocol.connections as usize;
        let may_open = has_room && !(self.is_refused && self.will_serve(connections));
        if may_open && opening < self.waiting.len() { Next::Open } else { Next::Nothing }
    }

    pub(super) fn forget(&mut self, conn: LoadConnId) {
        self.open.retain(|c| *c != conn);
    }

    fn opening(&self, connections: &[Connection]) -> usize {
        self.open.iter().filter(|conn| connections[conn.index()].is_opening()).count()
    }

    /// A connection is open that is, or will be, free for whatever waits.
    fn will_serve(&self, connections: &[Connection]) -> bool {
        let is_ready = |conn: &LoadConnId| connections[conn.index()].is_ready();
        self.protocol.keeps_alive() && self.open.iter().any(is_ready)
    }

    /// A connection could not be opened. The object that has waited longest has no way to come,
    /// unless another connection serves it later, or one that is being opened has no other object
    /// to serve.
    pub(super) fn on_refused(&mut self, connections: &[Connection]) -> Option<ObjectId> {
        if self.will_serve(connections) {
            self.is_refused = true;
            return None;
        }
        if self.opening(connections) >= self.waiting.len() {
            return None;
        }
        self.waiting.pop_front()
    }
}
