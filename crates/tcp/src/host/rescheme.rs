//! Another scheme for a connection that is open and has sent nothing yet.

use super::reported::SharingFacts;
use super::{ConnId, Host};
use crate::ensemble::PathId;
use crate::scheme::Scheme;
use std::fmt;
use units::Instant;

/// The scheme of a connection cannot be changed (any more). The connection is not open, it has sent
/// data or FIN, or one of the schemes opens without a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchemeIsFixed;

impl fmt::Display for SchemeIsFixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a connection's scheme can be changed while it is open and has sent nothing")
    }
}

impl std::error::Error for SchemeIsFixed {}

impl Host {
    /// Makes a connection send by `scheme` from now on: start-up, congestion control, recovery,
    /// memory, and the connections with which it shares its path. The agreements of the handshake
    /// stay (SACK, timestamps, scaling, ECN), and so does the configuration of its receiver;
    /// segments become no larger.
    ///
    /// # Errors
    /// If it has sent data or FIN already, or is not open.
    pub fn set_scheme(
        &mut self,
        now: Instant,
        id: ConnId,
        scheme: &Scheme,
    ) -> Result<(), SchemeIsFixed> {
        let entry = self.connections.at(id.0).ok_or(SchemeIsFixed)?;
        if !entry.conn.may_change_scheme(scheme) {
            return Err(SchemeIsFixed);
        }
        self.leave(id);
        self.give_path(now, id, scheme);
        self.open_path(now, id);
        self.join(now, id);
        self.queue_events(now, id);
        Ok(())
    }

    /// Gives a connection a path of its own in place of the one that it had, with the round trip of
    /// the handshake.
    fn give_path(&mut self, now: Instant, id: ConnId, scheme: &Scheme) {
        let Some(entry) = self.connections.at_mut(id.0) else { return };
        let mut path = self.memories.path(now, scheme, entry.conn.tuple().remote);
        path.set_seed(entry.conn.seed());
        path.set_now(now);
        let before = entry.path;
        if let Some(before) = self.paths.at_mut(before.0) {
            path.adopt(before);
            entry.conn.release(before);
        }
        entry.conn.change_scheme(scheme, &mut path);
        let share = entry.prospect.take().map(|prospect| prospect.share).unwrap_or_default();
        entry.prospect = scheme
            .sharing()
            .map(|sharing| Box::new(SharingFacts { scheme: scheme.shared_name(), sharing, share }));
        entry.path = PathId(self.paths.insert(path));
        self.let_go_of(before);
    }
}
