//! Connections that share a path: how they join it, which of them sends next, and how they leave
//! it.
//!
//! A lone connection does not use this. A member is not polled by itself: an event of one queues
//! its ensemble, which is polled as a whole, because an ACK of one opens the window for all.
//! Members with an event send first, control and retransmissions; then new data in the scheduler's
//! turns as far as window and pacer allow; then bare ACKs.

use super::ready::Sender;
use super::reported::{ConnectionEntry, PollState, SharingFacts};
use super::{ConnId, Host, Transmit};
use crate::connection::{Departure, State, TurnOutcome};
use crate::ensemble::{Ensemble, PathId};
use crate::path::{PathReset, SendLimit};
use crate::sharing::Content;
use std::sync::Arc;
use units::Instant;

impl Host {
    /// Gives a connection `weight` times the turns that it would have otherwise, at least 1, among
    /// those that share its path (Padmanabhan & Katz 1998 §6.2, §8). It has no effect where the
    /// scheme shares no path or takes plain turns.
    pub fn set_weight(&mut self, id: ConnId, weight: u32) {
        self.set_share(id, |prospect| prospect.share.weight = weight.max(1));
        let entry = self.connections.at(id.0);
        if let Some(path) = entry.and_then(|entry| self.paths.at_mut(entry.path.0)) {
            path.set_weight(weight);
        }
    }

    /// Sets the kind of content that a connection carries, for schemes that choose the next sender
    /// by it (Eggert, Heidemann & Touch 2000 §4). It has no effect under other schemes.
    pub fn set_content(&mut self, id: ConnId, content: Content) {
        self.set_share(id, |prospect| prospect.share.content = content);
    }

    /// Sets the client behind the peer (a proxy) that a connection serves, by a number that is the
    /// same for the same client. Without it each connection counts as a client of its own. Proxy
    /// congestion control counts the different clients (Balakrishnan et al. 1998 §5.5). It has no
    /// effect under other schemes.
    pub fn set_client(&mut self, id: ConnId, client: u64) {
        self.set_share(id, |prospect| prospect.share.client = Some(client));
    }

    fn set_share(&mut self, id: ConnId, change: impl FnOnce(&mut SharingFacts)) {
        let Some(entry) = self.connections.at_mut(id.0) else { return };
        let Some(prospect) = &mut entry.prospect else { return };
        change(prospect);
        entry.conn.set_client(prospect.share.client);
        if entry.standing == PollState::Member
            && let Some(ensemble) = self.ensembles.get_mut(&entry.path)
        {
            ensemble.set_share(id, &prospect.share);
            let path = entry.path;
            self.count_clients(path);
        }
    }

    /// Sets the number of clients that a path's members serve.
    fn count_clients(&mut self, path: PathId) {
        let ensemble = self.ensembles.get(&path);
        if let Some((ensemble, path)) = ensemble.zip(self.paths.at_mut(path.0)) {
            path.set_clients(ensemble.clients());
        }
    }

    /// Returns the members of a connection's path, in the order of their numbers; none if it shares
    /// none.
    pub fn members_with(&self, id: ConnId) -> impl Iterator<Item = ConnId> + '_ {
        self.ensemble_of(id).into_iter().flat_map(Ensemble::members)
    }

    /// Returns the number of members of a connection's path; 0 if it shares none.
    pub fn member_count(&self, id: ConnId) -> usize {
        self.ensemble_of(id).map_or(0, |ensemble| ensemble.members().len())
    }

    fn ensemble_of(&self, id: ConnId) -> Option<&Ensemble> {
        let entry = self.connections.at(id.0).filter(|entry| entry.standing == PollState::Member);
        self.ensembles.get(&entry?.path)
    }

    /// Joins the path to a connection's destination, or starts sharing its own. The connection,
    /// under a scheme that shares paths, is open, or may send before it is.
    pub(super) fn join(&mut self, now: Instant, id: ConnId) {
        let Some(entry) = self.connections.at_mut(id.0) else { return };
        let Some(prospect) = &entry.prospect else { return };
        if entry.standing == PollState::Member || !entry.conn.may_need_path() {
            return;
        }
        let destination = (entry.conn.tuple().remote, Arc::clone(&prospect.scheme));
        let (sharing, share) = (prospect.sharing, prospect.share);
        match self.directory.path(&destination) {
            Some(shared) => self.move_to(now, id, shared),
            None => {
                let own = entry.path;
                if let Some(path) = self.paths.at_mut(own.0) {
                    path.share(sharing);
                }
                self.directory.begin(destination.clone(), own);
                self.ensembles.insert(own, Ensemble::new(destination, &sharing));
            }
        }
        let Some(entry) = self.connections.at_mut(id.0) else { return };
        entry.standing = PollState::Member;
        let path = entry.path;
        if let Some(ensemble) = self.ensembles.get_mut(&path) {
            ensemble.join(id, &share);
        }
        self.count_clients(path);
        self.mark_for_sending(path, id);
    }

    /// Moves a connection from its own path, which was used for nothing but the handshake, to a
    /// shared one.
    fn move_to(&mut self, now: Instant, id: ConnId, shared: PathId) {
        let Some(entry) = self.connections.at_mut(id.0) else { return };
        let Some(own) = self.paths.take(entry.path.0) else { return };
        self.paths.release(entry.path.0);
        entry.path = shared;
        if let Some(path) = self.paths.at_mut(shared.0) {
            path.set_now(now);
            path.adopt(&own);
            entry.conn.move_to(path);
        }
    }

    /// Removes a connection that is over, or will not send any more; its share of the window
    /// becomes the others'.
    pub(super) fn leave(&mut self, id: ConnId) {
        let Some(entry) = self.connections.at_mut(id.0) else { return };
        if entry.standing != PollState::Member {
            return;
        }
        entry.standing = PollState::Idle;
        let shared = entry.path;
        if let Some(path) = self.paths.at_mut(shared.0) {
            entry.conn.release(path);
            path.forget(id.0);
        }
        let client = entry.conn.client();
        let Some(ensemble) = self.ensembles.get_mut(&shared) else { return };
        ensemble.leave(id);
        let path = self.paths.at_mut(shared.0).filter(|_| !ensemble.serves(client));
        if let Some(path) = path {
            path.forget_client(client);
        }
        if ensemble.is_empty() {
            self.end_ensemble(shared);
        } else {
            self.count_clients(shared);
            self.queue_ensemble(shared);
        }
    }

    /// Ends an ensemble whose last member has left: a later connection starts a path of its own.
    /// Connections in TIME-WAIT may still use the old one.
    fn end_ensemble(&mut self, path: PathId) {
        if let Some(ensemble) = self.ensembles.remove(&path) {
            self.directory.end(ensemble.destination());
            if let Some(path) = self.paths.at_mut(path.0) {
                path.learn_of_end();
            }
        }
    }

    /// Processes an event of a member, which may concern all.
    pub(super) fn touch_member(&mut self, now: Instant, id: ConnId) {
        let Some(entry) = self.connections.at(id.0) else { return };
        let shared = entry.path;
        let path_reset = self.paths.at_mut(shared.0).and_then(|path| path.take_path_reset());
        if let Some(path_reset) = path_reset {
            self.notify_members(now, shared, id, path_reset);
        }
        self.mark_for_sending(shared, id);
    }

    /// Notifies all members but `source` of an event.
    fn notify_members(
        &mut self,
        now: Instant,
        shared: PathId,
        source: ConnId,
        path_reset: PathReset,
    ) {
        let Some(ensemble) = self.ensembles.get(&shared) else { return };
        let others: Vec<_> = ensemble.members().filter(|&id| id != source).collect();
        for id in others {
            let entry = self.connections.at_mut(id.0);
            if let Some((entry, path)) = entry.zip(self.paths.at_mut(shared.0)) {
                entry.conn.on_path_reset(now, path, path_reset);
                path.follow(id.0, entry.conn.front_segments());
            }
            self.mark_for_sending(shared, id);
        }
    }

    fn mark_for_sending(&mut self, path: PathId, id: ConnId) {
        if let Some(ensemble) = self.ensembles.get_mut(&path) {
            ensemble.touch(id);
            self.queue_ensemble(path);
        }
    }

    fn queue_ensemble(&mut self, path: PathId) {
        if let Some(ensemble) = self.ensembles.get_mut(&path)
            && ensemble.enter_queue()
        {
            self.ready.push(Sender::Ensemble(path));
        }
    }

    /// Polls the members of a path for a segment; false if none has any for now.
    #[cold]
    pub(super) fn poll_ensemble(&mut self, now: Instant, id: PathId, out: &mut Transmit) -> bool {
        if let Some(path) = self.paths.at_mut(id.0) {
            path.set_now(now);
        }
        loop {
            let sent = self.poll_touched(now, id, out)
                || self.poll_turns(now, id, out)
                || self.poll_finishing(now, id, out);
            if sent {
                return true;
            }
            let Some(ensemble) = self.ensembles.get_mut(&id) else { return false };
            if ensemble.leave_queue() {
                return false;
            }
        }
    }

    /// Polls members that had an event for control and retransmissions.
    fn poll_touched(&mut self, now: Instant, path_id: PathId, out: &mut Transmit) -> bool {
        while let Some(ensemble) = self.ensembles.get_mut(&path_id)
            && let Some(id) = ensemble.first_touched()
        {
            let entry = self.connections.at_mut(id.0);
            let Some((entry, path)) = entry.zip(self.paths.at_mut(path_id.0)) else {
                ensemble.leave(id);
                continue;
            };
            if let Some(departure) = entry.conn.poll_urgent(now, path, &mut out.segment) {
                path.follow(id.0, entry.conn.front_segments());
                return complete_transmit(out, id, entry, departure);
            }
            if entry.conn.waits_for_turn() {
                if ensemble.finds_nobody_sending(id) {
                    path.pace_first_window();
                }
                ensemble.wake(id);
            }
            ensemble.served(entry.conn.waits_to_repair());
        }
        false
    }

    /// Polls members for new data, in turns.
    fn poll_turns(&mut self, now: Instant, path_id: PathId, out: &mut Transmit) -> bool {
        let Some(ensemble) = self.ensembles.get_mut(&path_id) else { return false };
        let Some(path) = self.paths.at_mut(path_id.0) else { return false };
        let mut limit = SendLimit::Application;
        while let Some(id) = ensemble.next_in_turn() {
            let Some(entry) = self.connections.at_mut(id.0) else {
                ensemble.leave(id);
                continue;
            };
            if path.holds_new_data() {
                break;
            }
            if let Some(at) = path.release(now) {
                entry.conn.wait_for_pacer(at);
                ensemble.finish_later(id);
                limit = SendLimit::Pacer;
                break;
            }
            let outstanding = entry.conn.scoreboard().len();
            match entry.conn.poll_turn(now, path, &mut out.segment) {
                TurnOutcome::Sent(departure) => {
                    path.follow(id.0, entry.conn.front_segments());
                    ensemble.on_sent(id, outstanding);
                    return complete_transmit(out, id, entry, departure);
                }
                TurnOutcome::Passed => ensemble.on_passed(),
                TurnOutcome::NoRoom => {
                    limit = SendLimit::Window;
                    break;
                }
            }
        }
        path.on_send_stopped(limit);
        false
    }

    /// Polls members for bare ACKs, sets their timers, and removes those that have ended.
    fn poll_finishing(&mut self, now: Instant, path_id: PathId, out: &mut Transmit) -> bool {
        while let Some(ensemble) = self.ensembles.get_mut(&path_id)
            && let Some(id) = ensemble.first_finishing()
        {
            let entry = self.connections.at_mut(id.0);
            let Some((entry, path)) = entry.zip(self.paths.at_mut(path_id.0)) else {
                ensemble.leave(id);
                continue;
            };
            if let Some(departure) = entry.conn.poll_rest(now, path, &mut out.segment) {
                return complete_transmit(out, id, entry, departure);
            }
            ensemble.finished();
            let retired = entry.conn.state() == State::TimeWait && self.guard.limits.retire_early;
            if retired || entry.conn.state() == State::Closed {
                self.free_if_done(now, id);
                continue;
            }
            if let Some(deadline) = entry.conn.next_timeout() {
                self.wakeups.schedule(id, deadline);
            }
            if !entry.conn.may_need_path() {
                self.leave(id);
            }
        }
        false
    }
}

/// Completes the segment that a member has written into `out`.
fn complete_transmit(
    out: &mut Transmit,
    id: ConnId,
    entry: &ConnectionEntry,
    departure: Departure,
) -> bool {
    out.conn = Some(id);
    out.tuple = *entry.conn.tuple();
    out.payload_offset = departure.payload_offset;
    out.retransmission = departure.retransmission;
    true
}
