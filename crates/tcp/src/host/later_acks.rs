//! Evidence in one connection's ACKs about the segments of others that share its path
//! ([`crate::recovery::Overtaken`]).

use super::{ConnId, Host};
use units::Instant;

impl Host {
    /// Notifies the path of a member's ACKs, and then the members of the evidence about their
    /// segments; they queue for sending.
    pub(super) fn spread_news(&mut self, now: Instant, id: ConnId) {
        let Some(entry) = self.connections.at(id.0) else { return };
        let path_id = entry.path;
        let Some(path) = self.paths.at_mut(path_id.0) else { return };
        path.follow(id.0, entry.conn.front_segments());
        while let Some(path) = self.paths.at_mut(path_id.0)
            && let Some((member, evidence)) = path.log().and_then(|log| log.next_evidence())
        {
            let Some(entry) = self.connections.at_mut(member) else { continue };
            entry.conn.on_later_acks(now, path, evidence);
            path.follow(member, entry.conn.front_segments());
            self.queue_events(now, ConnId(member));
        }
    }
}
