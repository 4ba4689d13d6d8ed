//! Sending as a member of a shared path: the same steps as [`super::output`] in the same order, but
//! one at a time, because other members' turns lie between them. Control and retransmissions go at
//! once, new data when it is the member's turn, a bare ACK when nothing else goes.

use super::output::Departure;
use super::repairs::Repairs;
use super::timers::Deadline;
use super::{Connection, State};
use crate::config::Opening;
use crate::path::{Origin, Path, ProxyClient, Upheaval};
use crate::scheme::Scheme;
use crate::segment::Segment;
use crate::tuple::FourTuple;
use std::ops::ControlFlow;
use units::Instant;

/// What came of a member's turn.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TurnOutcome {
    /// A segment of new data leaves.
    Sent(Departure),
    /// It has nothing to send, or something of its own keeps it from sending: others may.
    Passed,
    /// The window has no room for what it would send.
    NoRoom,
}

impl Connection {
    /// Writes the next segment into `out` that does not wait for a turn: a reset, what opens, a probe,
    /// what goes again, what ends.
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
        if self.snd_nxt == 0 {
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
        if self.board.is_empty() && !self.fin_requested {
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

    /// What goes again, if recovery and the window allow.
    fn repair_piece(&mut self, path: &mut Path) -> Option<super::output::Piece> {
        let full = self.agreed.mss;
        let forced = if self.repair_pending { full } else { 0 };
        let (recovery, mut cx) = self.recovery_parts(path);
        let allowance = recovery.allowance(&cx).max(forced);
        let index = if allowance > 0 { recovery.next_retransmission(&mut cx) } else { None };
        // The policy may have found a loss just now.
        self.settle_in_flight(path);
        let piece = self.piece_at(index?).filter(|piece| piece.len.min(full) <= allowance)?;
        self.repair_pending = false;
        Some(piece)
    }

    /// New data that goes in place of a retransmission, because its ACK tells whether a timeout was spurious (F-RTO): at
    /// once and two segments at most (RFC 5682 §3.1, step 2.b). If none can go, the retransmission.
    fn detection_piece(&mut self, path: &mut Path) -> Option<super::output::Piece> {
        if !self.recovery.wants_new_data() {
            return None;
        }
        let (recovery, cx) = self.recovery_parts(path);
        let allowance = recovery.allowance(&cx).min(path.room());
        let high = recovery.recovery_point().unwrap_or(self.snd_nxt);
        if self.snd_nxt >= high + 2 * self.agreed.mss {
            return None;
        }
        let new = if path.holds_new_data() { None } else { self.new_piece(allowance) };
        if new.is_none() && self.repairs_instead(path) {
            return self.repair_piece(path);
        }
        new
    }

    /// The last segment, with the FIN (Padmanabhan & Katz 1998 §7.3: at once), if what data it carries
    /// has room.
    fn final_piece(&mut self, path: &Path) -> Option<super::output::Piece> {
        if !self.fin_requested || self.board.waiting() > 0 || path.holds_new_data() {
            return None;
        }
        let (recovery, cx) = self.recovery_parts(path);
        let allowance = recovery.allowance(&cx).min(path.room());
        self.new_piece(allowance).filter(|piece| piece.start + piece.len > self.written)
    }

    /// Something is to be sent again and waits for room.
    pub(crate) fn waits_to_repair(&self) -> bool {
        self.state != State::Closed && (self.repair_pending || self.board.waiting() > 0)
    }

    /// New data waits for a turn, as far as the member itself is concerned.
    pub(crate) fn waits_for_turn(&self) -> bool {
        if self.first_data_waits() {
            return self.state != State::Closed;
        }
        let len = self.next_new_len(self.snd_nxt);
        self.snd_nxt > 0
            && self.burst_left > 0
            && self.new_data_waits()
            && len > 0
            && !self.is_held_back(len)
    }

    /// Without a handshake the first segment is one of data like any other: it takes its turn, and
    /// room in the window.
    fn first_data_waits(&self) -> bool {
        self.snd_nxt == 0
            && self.state == State::SynSent
            && self.written > 1
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
        if self.state == State::Closed || !self.waits_for_turn() || self.board.waiting() > 0 {
            if self.burst_left == 0 && self.new_data_waits() {
                self.pause_burst(now, path);
            }
            return TurnOutcome::Passed;
        }
        if self.first_data_waits() {
            return self.poll_first(now, path, out);
        }
        if self.board.is_empty() && path.bytes_in_flight() == 0 {
            self.on_sending_resumed(now, path);
        }
        let room = path.room();
        let (recovery, cx) = self.recovery_parts(path);
        let allowance = recovery.allowance(&cx);
        match self.new_piece(allowance.min(room)) {
            Some(piece) => TurnOutcome::Sent(self.send_any(now, path, piece, out)),
            None if allowance < room => TurnOutcome::Passed,
            None => TurnOutcome::NoRoom,
        }
    }

    /// The pacer lets nothing go before `at`: this member sees to it that somebody asks again then.
    pub(crate) fn wait_for_pacer(&mut self, at: Instant) {
        self.timers.pacing = Deadline::at(at);
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

    /// For whom behind the other host it is there; `None`: for one of its own.
    pub(crate) fn set_client(&mut self, client: Option<u64>) {
        self.client = client;
    }

    pub(crate) fn client(&self) -> ProxyClient {
        let FourTuple { local_port, remote_port, .. } = self.tuple;
        self.client.map_or(ProxyClient::Own(local_port, remote_port), ProxyClient::Named)
    }

    /// Whose reports those of its recovery are.
    pub(super) fn origin(&self) -> Origin {
        let ports = (self.tuple.local_port, self.tuple.remote_port);
        Origin { ports, client: self.client() }
    }

    /// It is open and has sent nothing but what opens; the scheme opens as it did, by a handshake.
    pub(crate) fn may_change_scheme(&self, scheme: &Scheme) -> bool {
        matches!(self.state, State::Established | State::CloseWait)
            && (self.snd_una, self.snd_nxt) == (1, 1)
            && ![&self.config, &scheme.shared_config()].iter().any(|c| c.opening == Opening::OneWay)
    }

    /// Sends by another scheme, over a path that nothing was sent on.
    pub(crate) fn change_scheme(&mut self, scheme: &Scheme, path: &mut Path) {
        self.config = scheme.shared_config();
        self.recovery = Repairs::new(scheme.recovery());
        let payload = u64::from(self.config.mss) - self.option_bytes();
        self.agreed.mss = self.agreed.mss.min(payload);
        self.fit_recovery();
        path.set_mss(self.agreed.mss);
        self.move_to(path);
    }

    /// Leaves the path of its own for one that it shares.
    pub(crate) fn move_to(&mut self, path: &mut Path) {
        self.last_in_flight = 0;
        if let Some(marks) = &mut self.marks {
            marks.clear();
        }
        self.settle_in_flight(path);
    }

    /// True while it may have to send data, or to send it again.
    pub(crate) fn may_need_path(&self) -> bool {
        !matches!(self.state, State::Closed | State::TimeWait)
    }

    /// What happened to another member concerns what this one has outstanding too.
    pub(crate) fn on_upheaval(&mut self, now: Instant, path: &mut Path, upheaval: Upheaval) {
        if self.board.is_empty() || self.snd_una == 0 {
            return;
        }
        let (recovery, mut cx) = self.recovery_parts(path);
        cx.retreat = upheaval == Upheaval::Retreat;
        // The window has fallen already.
        recovery.on_rto(&mut cx, now);
        if let Upheaval::Timeout { backoff } = upheaval {
            self.timers.backoff = backoff;
        }
        self.timers.timed = None;
        self.restart_retransmission_timer(now, path);
        self.settle_in_flight(path);
    }
}
