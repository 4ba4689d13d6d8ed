//! Cuts the time of a transfer at every packet and gives each piece to a cause.
//!
//! What a piece was spent on is known from the state of the sender after the packet before, or else from the
//! packet that ends it: a timeout ends a wait for the timer, new data that no ACK let go ends a pause.

use super::TransferReport;
use super::open::OpenTransfer;
use super::shares::TimeShare;
use super::trail::WaitTrail;
use super::train::AckTrains;
use super::wait::{EndOfPiece, SenderState, SenderWait, WAITING, Wait};
use crate::kinds::{Retransmission, RetransmissionKind};
use units::{Duration, Instant};

/// What passed: what ends a piece of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passage {
    /// Payload of the request.
    Request { bytes: u64 },
    /// An ACK that newly acknowledged `acked` bytes of payload, and told that `delivered` bytes have arrived.
    Acked { acked: u64, delivered: u64 },
    /// New payload of the response.
    Response { bytes: u64 },
    /// A retransmission of what was last sent at `last_sent`.
    Again { kind: RetransmissionKind, last_sent: Option<Instant> },
    /// The request once more: the one before was lost.
    AskedAgain,
    /// The client's window, which was shut, has opened with nothing outstanding.
    WindowOpened,
}

impl Passage {
    pub(crate) const fn again(again: &Retransmission) -> Self {
        Self::Again { kind: again.kind, last_sent: again.last_sent }
    }
}

/// Meters the transfers of one server. What most packets look at is at the beginning.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct TransferMeter {
    open: Option<Box<OpenTransfer>>,
    mark: Instant,
    /// Lowest round trip of the server's sender.
    min_rtt: Duration,
    wait: Wait,
    next_index: u32,
    trains: AckTrains,
}

impl TransferMeter {
    /// Of a connection that began at `began`, with a SYN or in the middle.
    pub(crate) fn new(began: Instant, by_syn: bool) -> Self {
        Self {
            open: None,
            wait: if by_syn { Wait::Opening } else { Wait::Done },
            mark: began,
            next_index: 0,
            trains: AckTrains::default(),
            min_rtt: Duration::ZERO,
        }
    }

    /// The first transfer of a connection begins with the SYN; half-open ones are spared the memory.
    #[inline(always)]
    fn begin_opening(&mut self) {
        if self.wait == Wait::Opening && self.open.is_none() {
            self.begin_transfer();
        }
    }

    #[cold]
    fn begin_transfer(&mut self) {
        self.open = Some(Box::new(OpenTransfer::new(self.mark, self.min_rtt)));
    }

    /// The connection is open at the server.
    pub(crate) fn on_opened(&mut self, now: Instant) {
        self.begin_opening();
        self.cut(now, &EndOfPiece::Other);
        if self.wait == Wait::Opening {
            self.wait = Wait::Request;
        }
    }

    /// Something passes that concerns the server's sender. Answers the transfer that ended before it, if
    /// one did. What most packets are is written out where it passes.
    #[inline(always)]
    pub(crate) fn on_passage(
        &mut self,
        now: Instant,
        passage: Passage,
        sender: Option<SenderState>,
    ) -> Option<TransferReport> {
        self.begin_opening();
        // Lags may have put what came before this later.
        let now = now.max(self.mark);
        match passage {
            Passage::Response { bytes } => {
                self.cut(now, &EndOfPiece::Response);
                self.on_response(now, bytes);
                self.settle(sender.as_ref(), false);
                None
            }
            Passage::Acked { acked, delivered } => {
                self.cut(now, &EndOfPiece::Arrived(delivered));
                self.on_acked(now, delivered, sender.as_ref());
                self.settle(sender.as_ref(), acked > 0);
                None
            }
            Passage::Request { bytes } => self.take_request(now, bytes, sender.as_ref()),
            Passage::Again { kind, last_sent } => {
                self.take_again(now, kind, last_sent, sender.as_ref());
                None
            }
            Passage::AskedAgain => {
                self.take_asked_again(now);
                None
            }
            Passage::WindowOpened => {
                self.cut(now, &EndOfPiece::Other);
                self.settle(sender.as_ref(), false);
                None
            }
        }
    }

    /// As [`TransferMeter::on_passage`], of new payload of the response. It ends no transfer.
    #[inline(always)]
    pub(crate) fn on_new_data(&mut self, now: Instant, bytes: u64, sender: &SenderState) {
        if self.wait == Wait::Room
            && let Some(open) = &mut self.open
            && open.may_go_on()
        {
            let now = now.max(self.mark);
            let time = now.saturating_since(self.mark);
            self.mark = now;
            open.go_on(now, time);
            open.report.bytes += bytes;
            open.report.sent = now;
            self.settle(Some(sender), false);
        } else {
            self.take_response(now, bytes, sender);
        }
    }

    /// The same, whatever the transfer waits for.
    #[inline(never)]
    pub(crate) fn take_response(&mut self, now: Instant, bytes: u64, sender: &SenderState) {
        let _ = self.on_passage(now, Passage::Response { bytes }, Some(*sender));
    }

    #[inline(never)]
    fn take_request(
        &mut self,
        now: Instant,
        bytes: u64,
        sender: Option<&SenderState>,
    ) -> Option<TransferReport> {
        self.cut(now, &EndOfPiece::Request);
        let ended = self.on_request(now, bytes);
        self.settle(sender, false);
        ended
    }

    #[inline(never)]
    fn take_again(
        &mut self,
        now: Instant,
        kind: RetransmissionKind,
        last_sent: Option<Instant>,
        sender: Option<&SenderState>,
    ) {
        self.cut(now, &EndOfPiece::Again(kind));
        self.on_again(kind, last_sent);
        self.settle(sender, false);
    }

    /// Until now the server had no request.
    #[inline(never)]
    fn take_asked_again(&mut self, now: Instant) {
        if self.wait == Wait::Answer {
            self.cut(now, &EndOfPiece::Request);
        }
    }

    /// The connection is over. Answers the transfer under way, if it had begun to be answered.
    pub(crate) fn finish(&mut self) -> Option<TransferReport> {
        self.close()
    }

    /// Answers the transfer that is over if nothing more of the answer comes.
    pub(crate) fn finish_answered(&mut self) -> Option<TransferReport> {
        if self.wait == Wait::Done { self.close() } else { None }
    }

    /// Sets what the sender waits for after a packet, which may have acknowledged data.
    #[inline(always)]
    fn settle(&mut self, sender: Option<&SenderState>, acked: bool) {
        let Some(sender) = sender else { return };
        if sender.min_rtt != self.min_rtt {
            self.note_min_rtt(sender.min_rtt);
        }
        if let Some(open) = &mut self.open
            && open.answering
        {
            open.acked |= acked;
            open.note(sender, self.min_rtt);
            self.wait = Wait::of(sender.wait);
        }
    }

    /// The sender knows another lowest round trip, if it knows one.
    #[inline(never)]
    fn note_min_rtt(&mut self, min_rtt: Duration) {
        if min_rtt == Duration::MAX {
            return;
        }
        self.min_rtt = min_rtt;
        if let Some(open) = &mut self.open {
            open.trail.set_rtt(min_rtt);
        }
    }

    /// Gives the time since the last packet to its cause.
    #[inline(always)]
    fn cut(&mut self, now: Instant, end: &EndOfPiece) {
        let time = now.saturating_since(self.mark);
        self.mark = self.mark.max(now);
        let Some(open) = &mut self.open else { return };
        if self.wait.is_done() {
            let left = if self.wait == Wait::Done { &mut open.done } else { &mut open.shut };
            *left += time;
            return;
        }
        if self.wait == Wait::Room && !matches!(end, EndOfPiece::Again(_)) {
            open.had_room(now, time);
        } else {
            let share = self.wait.spent_on(end);
            open.report.shares.add(share, time);
            open.trail.note(now, time, Some(share));
        }
        let arrived = if let EndOfPiece::Arrived(bytes) = end { *bytes } else { 0 };
        open.trail.on_arrival(now, arrived);
    }

    /// An ACK tells how fast the path delivers, unless losses are repaired.
    #[inline]
    fn on_acked(&mut self, now: Instant, delivered: u64, sender: Option<&SenderState>) {
        let Some(sender) = sender else { return };
        let repairs = self.wait == Wait::Repair || sender.wait == SenderWait::Repair;
        let arrived = if repairs { None } else { Some(delivered) };
        self.trains.on_ack(now, arrived, sender.srtt, sender.mss);
    }

    fn on_request(&mut self, now: Instant, bytes: u64) -> Option<TransferReport> {
        // A request that comes while an answer is under way is pipelined, or belongs to the same exchange.
        let is_next = self.wait.is_done() && self.open.as_ref().is_some_and(|open| open.answering);
        let ended = if is_next { self.close() } else { None };
        let open = self.open.get_or_insert_with(|| Box::new(OpenTransfer::new(now, self.min_rtt)));
        open.report.asked.get_or_insert(now);
        open.report.request_bytes += bytes;
        if !open.answering {
            open.report.asked_whole = Some(now);
            self.wait = Wait::Answer;
        }
        ended
    }

    #[inline]
    fn on_response(&mut self, now: Instant, bytes: u64) {
        let open = self.open.get_or_insert_with(|| Box::new(OpenTransfer::new(now, self.min_rtt)));
        if !open.answering {
            open.answering = true;
            open.report.answered = now;
        }
        open.end_pause();
        open.report.bytes += bytes;
        open.report.sent = now;
    }

    fn on_again(&mut self, kind: RetransmissionKind, last_sent: Option<Instant>) {
        if let Some(open) = &mut self.open {
            open.find_loss(kind, last_sent);
            open.report.retransmissions += 1;
            open.report.timeouts += u32::from(kind == RetransmissionKind::Timeout);
        }
    }

    /// Ends the transfer under way. One that was never answered is none.
    fn close(&mut self) -> Option<TransferReport> {
        let open = self.open.take()?;
        let complete = self.wait.is_done();
        self.wait = Wait::Done;
        if !open.answering {
            return None;
        }
        let mut report = open.report.report();
        report.index = self.next_index;
        self.next_index += 1;
        report.complete = complete;
        report.ended = self.mark - open.done - open.shut;
        report.delivery_rate = self.trains.rate();
        let room = open.room + open.paced_for();
        report.shares.add(TimeShare::Path, room);
        self.take_path(&mut report, room, &open.trail);
        Some(report)
    }

    /// Takes what the path needs off the waiting: the time that bytes take which it carried meanwhile, at the fastest
    /// rate seen, and a round trip. The time in which the window had `room` at the end is the path's already.
    fn take_path(&self, report: &mut TransferReport, room: Duration, trail: &WaitTrail) {
        for waiting in WAITING {
            let needed = self.trains.time_of(trail.carried(waiting));
            report.shares.shift(waiting, TimeShare::Path, needed);
        }
        // A repair at the end waits for its ACK.
        let mut left = self.min_rtt.saturating_sub(room);
        for waiting in WAITING.into_iter().rev() {
            left = left.saturating_sub(report.shares.shift(waiting, TimeShare::Path, left));
        }
    }
}
