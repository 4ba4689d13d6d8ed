//! Sending as a member of a shared path: the same steps as [`super::output`] in the same order, but
//! one at a time, because other members' turns lie between them. Control and retransmissions go at
//! once, new data when it is the member's turn, a bare ACK when nothing else goes.

use super::output::Departure;
use super::{Connection, State};
use crate::config::Opening;
use crate::path::{Front, Origin, Path, PathReset, ProxyClient};
use crate::recovery::MemberEvidence;
use crate::scheme::Scheme;
use crate::segment::Segment;
use crate::tuple::FourTuple;
use std::ops::ControlFlow;
use units::Instant;

/// Result of a member's turn to send.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TurnOutcome {
    /// A segment of new data leaves.
    Sent(Departure),
    /// It has nothing to send, or something of its own keeps it from sending: others may.
    Passed,
    /// The window has no room for its next segment.
    NoRoom,
}

impl Connection {
    /// Writes the next segment into `out` that does not wait for a turn: a reset, a SYN, a probe, a
    /// retransmission, a FIN.
    pub(crate) fn poll_urgent(
        &mut self,
        now: Instant,
        path: &mut Path,
        out: &mut Segment,
    ) -> Option<Departure> {
        if let ControlFlow::Break(last) = self.poll_end(now, out) {
            return last;
        }
        let piece = self.urgent_piece(now, path)?;
        Some(self.send_any(now, path, piece, out))
    }

    fn urgent_piece(&mut self, now: Instant, path: &mut Path) -> Option<super::output::Piece> {
        if self.first_data_waits() {
            return None;
        }
        if self.sender.nxt() == 0 {
            if self.waits_to_open() {
                return None;
            }
            return Some(self.opening_piece(now, path));
        }
        if !self.may_send_new() {
            return self.next_lost_control();
        }
        if let Some(probe) = self.due_probe(now, path) {
            return Some(probe);
        }
        if self.sender.board().is_empty() && !self.sender.has_fin() {
            return None;
        }
        if self.waits_for_occasion(now, path) {
            return None;
        }
        let again = self.repair_piece(path).or_else(|| self.detection_piece(path));
        again.or_else(|| self.final_piece(path))
    }

    /// The SYN, with the data that there is room for.
    fn opening_piece(&mut self, now: Instant, path: &mut Path) -> super::output::Piece {
        let mut piece = self.syn_piece(now);
        if piece.len > 1 {
            path.begin(self.transfer());
        }
        if piece.len - 1 > path.room() {
            piece.len = 1;
        }
        piece
    }

    /// Returns the next retransmission, if recovery and the window allow one.
    fn repair_piece(&mut self, path: &mut Path) -> Option<super::output::Piece> {
        let full = self.sender.mss();
        let forced = if self.sender.has_pending_repair() { full } else { 0 };
        let (allowance, index) = self.sender.next_repair(path, forced, self.may_send_new());
        let piece = self.piece_at(index?).filter(|piece| piece.len.min(full) <= allowance)?;
        self.sender.end_pending_repair();
        Some(piece)
    }

    /// Returns new data to send in place of a retransmission, because its ACK shows whether a
    /// timeout was spurious (F-RTO). It is sent at once, two segments at most (RFC 5682 §3.1, step
    /// 2.b). If none can be sent, returns the retransmission.
    fn detection_piece(&mut self, path: &mut Path) -> Option<super::output::Piece> {
        if !self.sender.wants_new_data() {
            return None;
        }
        let allowance = self.allowance(path).min(path.room());
        let high = self.sender.recovery_point().unwrap_or(self.sender.nxt());
        if self.sender.nxt() >= high + 2 * self.sender.mss() {
            return None;
        }
        let new = if path.holds_new_data() { None } else { self.new_piece(allowance) };
        if new.is_none() && self.sender.repairs_instead(path, self.may_send_new()) {
            return self.repair_piece(path);
        }
        new
    }

    /// Returns the last segment, with the FIN (Padmanabhan & Katz 1998 §7.3: sent at once), if
    /// there is room for its data.
    fn final_piece(&mut self, path: &Path) -> Option<super::output::Piece> {
        if !self.sender.has_fin() || self.sender.board().waiting() > 0 || path.holds_new_data() {
            return None;
        }
        let allowance = self.allowance(path).min(path.room());
        self.new_piece(allowance).filter(|piece| piece.start + piece.len > self.sender.written())
    }

    /// True if a retransmission waits for room.
    pub(crate) fn waits_to_repair(&self) -> bool {
        self.state != State::Closed
            && (self.sender.has_pending_repair() || self.sender.board().waiting() > 0)
    }

    /// New data waits for a turn, as far as the member itself is concerned.
    pub(crate) fn waits_for_turn(&self) -> bool {
        if self.first_data_waits() {
            return self.state != State::Closed;
        }
        let len = self.next_new_len(self.sender.nxt());
        self.sender.nxt() > 0
            && self.burst_left > 0
            && self.new_data_waits()
            && len > 0
            && !self.is_held_back(len)
    }

    /// Without a handshake the first segment is one of data like any other: it takes its turn, and
    /// room in the window.
    fn first_data_waits(&self) -> bool {
        self.sender.nxt() == 0
            && self.state == State::SynSent
            && self.sender.written() > 1
            && self.config.opening == Opening::OneWay
    }

    fn poll_first(&mut self, now: Instant, path: &mut Path, out: &mut Segment) -> TurnOutcome {
        path.begin(self.transfer());
        if path.bytes_in_flight() == 0 {
            self.on_sending_resumed(now, path);
        }
        let piece = self.syn_piece(now);
        if piece.len - 1 > path.room() {
            return TurnOutcome::NoRoom;
        }
        TurnOutcome::Sent(self.send_any(now, path, piece, out))
    }

    /// Writes a segment of new data into `out`.
    pub(crate) fn poll_turn(
        &mut self,
        now: Instant,
        path: &mut Path,
        out: &mut Segment,
    ) -> TurnOutcome {
        if self.state == State::Closed
            || !self.waits_for_turn()
            || self.sender.board().waiting() > 0
        {
            if self.burst_left == 0 && self.new_data_waits() {
                self.pause_burst(now, path);
            }
            return TurnOutcome::Passed;
        }
        if self.first_data_waits() {
            return self.poll_first(now, path, out);
        }
        if self.sender.board().is_empty() && path.bytes_in_flight() == 0 {
            self.on_sending_resumed(now, path);
        }
        let room = path.room();
        let allowance = self.allowance(path);
        match self.new_piece(allowance.min(room)) {
            Some(piece) => TurnOutcome::Sent(self.send_any(now, path, piece, out)),
            None if allowance < room => TurnOutcome::Passed,
            None => TurnOutcome::NoRoom,
        }
    }

    /// The pacer releases no segment before `at`: sets this member's timer, so that the host asks
    /// again then.
    pub(crate) fn wait_for_pacer(&mut self, at: Instant) {
        self.timers.pace_until(at);
    }

    /// Writes a segment without data into `out`, when nothing else goes.
    pub(crate) fn poll_rest(
        &mut self,
        now: Instant,
        path: &mut Path,
        out: &mut Segment,
    ) -> Option<Departure> {
        if self.state == State::Closed { None } else { self.poll_bare(now, path, out) }
    }

    /// Sets the client behind the peer (a proxy) that the connection serves; with `None` it counts
    /// as a client of its own.
    pub(crate) fn set_client(&mut self, client: Option<u64>) {
        self.sender.set_origin(origin_of(&self.tuple, client));
    }

    pub(crate) const fn client(&self) -> ProxyClient {
        self.sender.origin().client
    }

    /// True if the connection is open and has sent nothing but its SYN, and both schemes open by a
    /// handshake.
    pub(crate) fn may_change_scheme(&self, scheme: &Scheme) -> bool {
        matches!(self.state, State::Established | State::CloseWait)
            && (self.sender.una(), self.sender.nxt()) == (1, 1)
            && ![&self.config, &scheme.shared_config()].iter().any(|c| c.opening == Opening::OneWay)
    }

    /// Changes to another scheme, on a path on which nothing was sent.
    pub(crate) fn change_scheme(&mut self, scheme: &Scheme, path: &mut Path) {
        self.config = scheme.shared_config();
        let payload = u64::from(self.config.mss) - self.option_bytes();
        let mss = self.sender.mss().min(payload);
        self.sender.change_scheme(scheme.config(), scheme.recovery(), mss);
        path.set_mss(mss);
        self.move_to(path);
    }

    /// Leaves its own path for a shared one.
    pub(crate) fn move_to(&mut self, path: &mut Path) {
        self.sender.move_to(path);
    }

    /// The connection is over: removes its outstanding data from the path.
    pub(crate) fn release(&mut self, path: &mut Path) {
        self.sender.release(path);
    }

    /// True while the connection may have to send or retransmit data.
    pub(crate) fn may_need_path(&self) -> bool {
        !matches!(self.state, State::Closed | State::TimeWait)
    }

    /// Applies an event of another member to this one's outstanding segments.
    pub(crate) fn on_path_reset(&mut self, now: Instant, path: &mut Path, path_reset: PathReset) {
        let may_send = self.may_send_new();
        self.sender.on_path_reset(now, path, path_reset, may_send);
    }

    /// Returns this member's oldest outstanding segments, for the path.
    pub(crate) fn front_segments(&self) -> Front {
        self.sender.front()
    }

    /// Processes the evidence in other members' ACKs about this one's segments.
    pub(crate) fn on_later_acks(
        &mut self,
        now: Instant,
        path: &mut Path,
        evidence: MemberEvidence,
    ) {
        self.allow_burst();
        let may_send = self.may_send_new();
        self.sender.on_later_acks(now, path, evidence, may_send);
        self.collect_report(path);
    }
}

/// Returns the member of a shared path that a connection is; `client` names its user behind the
/// other host.
pub(super) fn origin_of(tuple: &FourTuple, client: Option<u64>) -> Origin {
    let ports = (tuple.local_port, tuple.remote_port);
    let client = client.map_or(ProxyClient::Own(ports.0, ports.1), ProxyClient::Named);
    Origin { ports, client }
}
