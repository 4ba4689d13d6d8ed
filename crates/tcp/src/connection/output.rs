//! The next segment to send. The order is fixed: control, retransmission, what recovery allows,
//! new data, and only then a bare ACK. The window gates data, never ACKs, probes or control.

use super::{BareProbe, Connection, State};
use crate::config::{EcnMode, IdleRestart, Opening};
use crate::path::{Path, SendLimit};
use crate::segment::{Ecn, Flags, SackBlocks, Segment};
use crate::startup::PendingData;
use sender::LeavingSegment;
use std::ops::ControlFlow;
use units::Instant;

/// Facts about a segment that leaves, beside the segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departure {
    /// Offset in the byte stream (not the sequence space) of its first payload byte.
    pub(crate) payload_offset: u64,
    /// It, or part of it, was sent before.
    pub(crate) retransmission: bool,
    /// Nothing more leaves before something happens: a bare ACK goes when nothing else may.
    pub(crate) last: bool,
}

impl Departure {
    pub(super) const fn without_data(start: u64) -> Self {
        Self { payload_offset: start.saturating_sub(1), retransmission: false, last: false }
    }
}

/// A piece of sequence space about to be sent.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    pub(super) start: u64,
    pub(super) len: u64,
    /// Its index on the scoreboard if it was sent before.
    pub(super) index: Option<usize>,
    /// Allowance of recovery when the piece was chosen; zero if recovery was not asked.
    pub(super) allowance: u64,
}

impl Connection {
    /// Writes the next segment into `out`, if one may leave now.
    #[inline(always)]
    pub(crate) fn poll_transmit(
        &mut self,
        now: Instant,
        path: &mut Path,
        out: &mut Segment,
    ) -> Option<Departure> {
        if let Some(piece) = self.fast_path_piece(path) {
            debug_assert!(self.sender.is_open_for(path, piece.allowance));
            return Some(self.send_fast_path(now, path, piece, out));
        }
        if let ControlFlow::Break(last) = self.poll_end(now, out) {
            return last;
        }
        if let Some(piece) = self.next_piece(now, path) {
            let departure = self.send_any(now, path, piece, out);
            return Some(Departure { last: self.is_last(now, path, &piece), ..departure });
        }
        self.poll_bare(now, path, out)
    }

    /// Writes the reset of a connection that is over, or about to be, which sends nothing else.
    #[inline]
    pub(super) fn poll_end(
        &mut self,
        now: Instant,
        out: &mut Segment,
    ) -> ControlFlow<Option<Departure>> {
        if let Some(reset) = self.ending.take_reset() {
            return ControlFlow::Break(Some(self.reset_segment(now, reset, out)));
        }
        if self.state == State::Closed {
            ControlFlow::Break(None)
        } else {
            ControlFlow::Continue(())
        }
    }

    /// [`Connection::poll_transmit`] for rare callers: the frequent one has its own copy.
    #[cold]
    #[inline(never)]
    pub(crate) fn poll_rarely(
        &mut self,
        now: Instant,
        path: &mut Path,
        out: &mut Segment,
    ) -> Option<Departure> {
        self.poll_transmit(now, path, out)
    }

    /// Writes a segment without data: a probe of a closed window, or an ACK.
    #[inline]
    pub(super) fn poll_bare(
        &mut self,
        now: Instant,
        path: &mut Path,
        out: &mut Segment,
    ) -> Option<Departure> {
        self.update_persist_timer(now, path);
        let probe = self.peer_window.take_probe();
        if probe != BareProbe::None
            && (probe == BareProbe::Alive || self.sender.window_edge() <= self.sender.nxt())
        {
            // One below the acknowledged number: the peer must answer with its window, and nothing
            // enters the stream. Linux probes so; RFC 9293 §3.8.6.1 would send a byte.
            return Some(self.fill_without_data(now, Flags::ACK, self.sender.una() - 1, out));
        }
        if !self.receiver.ack_timer().is_due() {
            return None;
        }
        Some(Departure {
            last: true,
            ..self.fill_without_data(now, Flags::ACK, self.bare_start(), out)
        })
    }

    /// [`Connection::send_piece`] for rare callers: the frequent one has its own copy.
    #[inline(never)]
    pub(super) fn send_any(
        &mut self,
        now: Instant,
        path: &mut Path,
        piece: Piece,
        out: &mut Segment,
    ) -> Departure {
        self.send_piece::<false>(now, path, piece, out)
    }

    /// Returns the next piece: control first, then the tail-loss probe, then data as far as window
    /// and pacer allow.
    #[inline]
    fn next_piece(&mut self, now: Instant, path: &mut Path) -> Option<Piece> {
        if self.sender.nxt() == 0 {
            if self.waits_to_open() {
                return None;
            }
            let piece = self.syn_piece(now);
            if piece.len > 1 {
                path.begin(self.transfer());
            }
            return Some(piece);
        }
        if !self.may_send_new() {
            return self.next_lost_control();
        }
        if let Some(probe) = self.due_probe(now, path) {
            return Some(probe);
        }
        if self.sender.nxt() == self.sender.end()
            && self.sender.board().waiting() == 0
            && (self.sender.board().is_empty() || !self.sender.recovering())
        {
            path.on_send_stopped(SendLimit::Application);
            return None;
        }
        if self.waits_for_occasion(now, path) {
            return None;
        }
        self.data_piece(now, path)
    }

    /// The tail-loss probe, if recovery has asked for one. New data waits for the pacer even as a
    /// probe (Linux `tcp_send_loss_probe`): then the next segment that the pacer lets go is it.
    #[inline]
    pub(super) fn due_probe(&mut self, now: Instant, path: &mut Path) -> Option<Piece> {
        if !self.sender.take_probe() {
            return None;
        }
        let probe = self.probe_piece(path)?;
        if probe.index.is_none() && path.release(now).is_some() {
            return None;
        }
        self.sender.count_probe();
        Some(probe)
    }

    /// True if the pacer, or the burst limit, allows no data at this send opportunity.
    #[inline]
    pub(super) fn waits_for_occasion(&mut self, now: Instant, path: &mut Path) -> bool {
        path.prepare_to_send(|| self.sender.written().saturating_sub(self.sender.una()));
        // The pacer is checked before the burst limit: its timer makes the next send opportunity.
        if let Some(release) = path.release(now) {
            self.timers.pace_until(release);
            path.on_send_stopped(SendLimit::Pacer);
            return true;
        }
        if self.burst_left == 0 {
            self.pause_burst(now, path);
        }
        self.burst_left == 0
    }

    /// Ends a send opportunity whose burst limit is used up. Data that a start-up spaces does not
    /// wait for the next ACK: another opportunity follows after the time that the start-up plans
    /// for a segment.
    #[cold]
    pub(super) fn pause_burst(&mut self, now: Instant, path: &Path) {
        if let Some(gap) = path.planned_gap() {
            self.timers.pace_until(now + gap);
        }
    }

    pub(super) fn syn_piece(&self, now: Instant) -> Piece {
        // A FIN never rides on a SYN, and its options leave less room than those of other segments.
        let early = if self.is_early_data_allowed() { self.next_new_len(1) } else { 0 };
        let data = early.min(self.sender.written() - 1).min(self.syn_room(now));
        Piece { start: 0, len: 1 + data, index: None, allowance: 0 }
    }

    /// Returns a SYN or SYN-ACK, with its data, that timed out.
    pub(super) fn next_lost_control(&mut self) -> Option<Piece> {
        let index = self.sender.next_lost()?;
        self.piece_at(index).filter(|piece| piece.start == 0)
    }

    pub(super) fn piece_at(&self, index: usize) -> Option<Piece> {
        let s = self.sender.board().segment(index)?;
        Some(Piece { start: s.start, len: u64::from(s.len), index: Some(index), allowance: 0 })
    }

    /// RFC 8985 §7.3: new data if there is any, else the last segment again.
    pub(super) fn probe_piece(&self, path: &Path) -> Option<Piece> {
        if self.new_data_waits() && !path.holds_new_data() {
            let (start, len) = (self.sender.nxt(), self.next_new_len(self.sender.nxt()));
            // The peer's window has to admit the whole segment (`tcp_snd_wnd_test`).
            if len >= self.current_mss() || len > 0 && start + len == self.sender.end() {
                return Some(Piece { start, len, index: None, allowance: 0 });
            }
        }
        self.sender.board().len().checked_sub(1).and_then(|last| self.piece_at(last))
    }

    #[inline]
    fn data_piece(&mut self, now: Instant, path: &mut Path) -> Option<Piece> {
        if self.sender.board().is_empty() && path.bytes_in_flight() == 0 && self.new_data_waits() {
            self.on_sending_resumed(now, path);
        }
        let may_send = self.may_send_new();
        let (allowance, again) = self.sender.next_repair(path, 0, may_send);
        if let Some(index) = again {
            let piece = self.piece_at(index)?;
            // A segment cut before the segment size was agreed on may be longer than a full one.
            return (piece.len.min(self.sender.mss()) <= allowance).then_some(piece);
        }
        let piece = if path.holds_new_data() { None } else { self.new_piece(allowance) };
        if piece.is_none() && self.sender.repairs_instead(path, self.may_send_new()) {
            return self.data_piece(now, path);
        }
        if piece.is_none() {
            let is_window = self.new_data_waits() && allowance < self.sender.mss();
            path.on_send_stopped(SendLimit::window_if(is_window));
        }
        piece
    }

    /// Returns the data that waits to be sent, or is announced.
    pub(super) fn transfer(&self) -> PendingData {
        let announced = self.announced.saturating_sub(self.sender.nxt().max(1));
        let bytes = self.unsent().max(announced);
        let admitted = self.sender.window_edge().saturating_sub(self.sender.nxt());
        PendingData { bytes, admitted, announced }
    }

    /// Data follows an idle time.
    pub(super) fn on_sending_resumed(&mut self, now: Instant, path: &mut Path) {
        let rto = path.rto(self.sender.backoff());
        let Some(ran_out) = path.on_sending_resumed(now, rto, self.transfer()) else {
            return;
        };
        let may_send = self.may_send_new();
        let counts = self.sender.on_idle_timeout(path, may_send);
        if !counts {
            path.restart_by_timer();
        } else if self.config.idle == IdleRestart::TimerSlowStart {
            self.sender.time_out_while_idle(now, path, ran_out, may_send);
            self.collect_report(path);
        }
    }

    #[inline]
    pub(super) fn new_piece(&self, allowance: u64) -> Option<Piece> {
        if !self.may_send_new() {
            return None;
        }
        let len = self.next_new_len(self.sender.nxt());
        if len == 0 || self.is_held_back(len) {
            return None;
        }
        let data = len - u64::from(self.sender.nxt() + len > self.sender.written());
        if data == 0 && self.config.fin_takes_window && allowance < self.sender.mss() {
            return None;
        }
        // The SYN-ACK takes nothing from the window for data that answers data in a SYN: in Linux
        // no connection has sent it.
        let syn = self.state == State::SynReceived && self.config.opening == Opening::FastOpen;
        if data > allowance + u64::from(syn) {
            return None;
        }
        Some(Piece { start: self.sender.nxt(), len, index: None, allowance })
    }

    /// Sequence space of the next new segment from `start`: full, or all there is, or all that
    /// the peer's window admits. A FIN rides on the last data.
    #[inline]
    pub(super) fn next_new_len(&self, start: u64) -> u64 {
        let end = self.sender.end();
        let room = self.sender.window_edge().max(start).min(end) - start;
        let data = room.min(self.current_mss());
        let data = match self.socket_options {
            None => data,
            Some(_) => self.record_end(start).map_or(data, |end| data.min(end - start)),
        };
        // A FIN takes sequence space, so the peer's window must admit it. Past the end of the
        // window, it would move our ACKs out of the peer's sight too.
        let fin_follows = self.sender.has_fin() && start + data == self.sender.written();
        if fin_follows && start + data < self.sender.window_edge() { data + 1 } else { data }
    }

    /// Returns the payload of a full segment sent now: SACK blocks, and a report, reduce it (RFC
    /// 6691).
    #[inline]
    pub(super) fn current_mss(&self) -> u64 {
        let room = self.full_payload() - self.gateway_option.cost();
        if self.accurate.is_some() && self.config.options_count {
            return room - self.accurate_option_bytes();
        }
        if !self.sender.terms().sack
            || !self.config.options_count
            || !self.receiver.has_sack_blocks()
        {
            return room;
        }
        room - self.receiver.sack_bytes(self.sack_room())
    }

    /// SACK blocks that fit beside the other options.
    pub(super) fn sack_room(&self) -> usize {
        // 40 bytes; 2 for the option of blocks, 8 for each; timestamps and a report take 12 each.
        match (self.sender.terms().timestamps, self.gateway_option.is_waiting()) {
            (false, false) => SackBlocks::MAX,
            (true, true) => SackBlocks::MAX - 3,
            _ => SackBlocks::MAX - 1,
        }
    }

    /// True if silly window avoidance or Nagle holds a segment back (RFC 9293 §3.8.6.2.1, §3.7.4).
    /// Data that F-RTO waits for is sent (Linux `tcp_xmit_recovery`).
    #[inline]
    pub(super) fn is_held_back(&self, len: u64) -> bool {
        let full = len >= self.current_mss();
        if self.socket_options.is_some()
            && self.record_end(self.sender.nxt()) == Some(self.sender.nxt() + len)
        {
            return false;
        }
        let last = self.sender.nxt() + len == self.sender.end();
        if full || (last && self.sender.has_fin()) {
            return false;
        }
        if last {
            if self.is_corked() {
                return !self.peer_window.is_overridden() && !self.sender.wants_new_data();
            }
            let outstanding = match self.config.minshall {
                true => self.sender.has_small_outstanding(),
                false => !self.sender.board().is_empty(),
            };
            return self.has_nagle()
                && outstanding
                && !self.is_one_way_answer()
                && !self.sender.wants_new_data();
        }
        // The peer's window cuts the segment short; the persist timer overrides in the end.
        len < self.sender.largest_window() / 2
            && !self.peer_window.is_overridden()
            && !self.ends_cut_batch()
    }

    /// True if the segment is the rest of what the peer's window admits, after full ones that leave
    /// at once (`tcp_mss_split_point`).
    fn ends_cut_batch(&self) -> bool {
        let small = self.has_nagle() && self.sender.has_small_outstanding();
        self.batch.takes_part_at(self.sender.nxt()) && !small && !self.is_corked()
    }

    /// Builds a segment and records it as sent. `FAST_PATH`: [`Connection::fast_path_piece`] has
    /// found it, so it is a full segment of new data amid others, on a path without pacing, and
    /// many checks can be skipped.
    #[inline(always)]
    pub(super) fn send_piece<const FAST_PATH: bool>(
        &mut self,
        now: Instant,
        path: &mut Path,
        piece: Piece,
        out: &mut Segment,
    ) -> Departure {
        let retransmission = !FAST_PATH && piece.index.is_some();
        let full = if FAST_PATH { piece.len } else { self.current_mss() };
        self.data_segment::<FAST_PATH>(now, path, piece, out);
        out.low_priority = false;
        self.peer_window.set_overridden(false);
        let leaving =
            LeavingSegment { now, start: piece.start, len: piece.len, index: piece.index };
        let starts_timer = !FAST_PATH && piece.start == 0 && self.sender.is_timer_stopped();
        self.sender.book(path, &leaving);
        if retransmission {
            self.counts.retransmitted_bytes += u64::from(out.len);
        } else if !FAST_PATH {
            self.note_odd_piece(path, &piece, full, out);
        }
        self.counts.segments_sent += 1;
        self.burst_left = self.burst_left.saturating_sub(1);
        if FAST_PATH {
            path.on_unpaced_sent(now, piece.len as u32, piece.len);
        } else {
            path.on_sent(now, out, if retransmission { 0 } else { u64::from(out.len) });
        }
        self.sender.note_left(path, &leaving, Some(self.stamp_clock()));
        if starts_timer {
            self.hold_opening_timer(now, path);
        }
        Departure { retransmission, ..Departure::without_data(piece.start) }
    }

    /// Notes new data off the fast path: its end, if it comes with a SYN or is shorter than `full`,
    /// and its priority.
    #[inline]
    fn note_odd_piece(&mut self, path: &mut Path, piece: &Piece, full: u64, out: &mut Segment) {
        if piece.start == 0 {
            self.early.note_syn(piece.len);
        } else if u64::from(out.len) < full && out.len > 0 {
            self.sender.note_small(piece.start + piece.len);
        }
        if path.is_paced() && path.marks(u64::from(out.len)) {
            self.mark_low_priority(out);
        }
    }

    /// The segment just booked leaves with low priority.
    #[cold]
    fn mark_low_priority(&mut self, out: &mut Segment) {
        out.low_priority = self.config.show_priority;
        self.sender.note_low_priority();
        self.counts.low_priority_segments += 1;
    }

    /// Bytes that recovery lets go now.
    pub(super) fn allowance(&mut self, path: &Path) -> u64 {
        let may_send = self.may_send_new();
        self.sender.allowance(path, may_send)
    }

    #[inline(always)]
    fn data_segment<const FAST_PATH: bool>(
        &mut self,
        now: Instant,
        path: &Path,
        piece: Piece,
        out: &mut Segment,
    ) {
        let (syn, end) = (!FAST_PATH && piece.start == 0, piece.start + piece.len);
        let fin = !FAST_PATH && self.sender.has_fin() && end == self.sender.end();
        let payload = piece.len - u64::from(syn) - u64::from(fin);
        let mut flags = if syn { self.syn_flags() } else { Flags::ACK };
        if !FAST_PATH && self.state == State::SynSent && !syn {
            // Accelerated opening: the peer's numbers are not known yet.
            flags = Flags::default();
        }
        if fin {
            flags = flags.with(Flags::FIN);
        }
        if FAST_PATH || payload > 0 {
            self.receiver.on_data_sent(now);
            let pushed = self.is_pushed::<FAST_PATH>(path, &piece, payload);
            if pushed && !(syn && self.config.offload) {
                flags = flags.with(Flags::PSH);
            }
        }
        let ect = self.sender.terms().ecn == EcnMode::Classic
            && (FAST_PATH || payload > 0 && piece.index.is_none() && !syn);
        if ect && self.sender.take_cwr() {
            flags = flags.with(Flags::CWR);
        }
        out.ecn = if ect { Ecn::Ect0 } else { Ecn::NotEct };
        out.len = payload as u32;
        self.fill_header(now, flags, piece.start, out);
    }
}
