//! Cuts the time of a transfer at every packet and gives each piece to a cause. The state of the
//! sender after the packet before shows the cause of a piece. If it does not, the packet that ends
//! the piece does: a timeout ends a wait for the timer. New data that no ACK released ends a pause.

use super::TransferReport;
use super::ending::{Acks, ConnectionEnd, Ending, PathKnown};
use super::link_rate::{Delivery, LinkRate};
use super::open::OpenTransfer;
use super::passage::{Passage, PassingAck, PassingData};
use super::plateau::{RoundAck, RoundEnd};
use super::shares::{TimeShare, TimeShares};
use super::wait::{EndOfPiece, Flight, SenderState, SenderWait, WaitCause};
use crate::kinds::RetransmissionKind;
use units::{Duration, Instant};

mod tls;

/// Meters the transfers of one server. The fields that most packets read are at the beginning.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct TransferMeter {
    open: Option<Box<OpenTransfer>>,
    mark: Instant,
    /// Lowest round trip of the server's sender.
    min_rtt: Duration,
    wait: WaitCause,
    next_index: u32,
    /// The end of the transfer before.
    ended: Instant,
    /// True if the capture shows data as it arrives at the receiver: the link is visible there, and
    /// a limit of the sender is not.
    is_at_receiver: bool,
    /// True if the opening of the connection was captured.
    is_opened: bool,
    /// True if ACKs of the client without data were captured.
    has_pure_acks: bool,
    link: LinkRate,
}

impl TransferMeter {
    /// Creates a meter for a connection that began at `began`, with a SYN or in the middle.
    pub(crate) fn new(began: Instant, by_syn: bool) -> Self {
        Self {
            open: None,
            wait: if by_syn { WaitCause::Opening } else { WaitCause::Done },
            mark: began,
            next_index: 0,
            ended: Instant::ZERO,
            is_at_receiver: false,
            is_opened: false,
            has_pure_acks: false,
            link: LinkRate::default(),
            min_rtt: Duration::ZERO,
        }
    }

    /// Starts the first transfer of a connection with the SYN; half-open connections do not get the
    /// memory.
    #[inline(always)]
    fn begin_opening(&mut self) {
        if self.wait == WaitCause::Opening && self.open.is_none() {
            self.begin_transfer();
        }
    }

    #[cold]
    fn begin_transfer(&mut self) {
        self.open = Some(Box::new(OpenTransfer::new(self.mark, self.min_rtt)));
    }

    /// Notes that the connection is open at the server, by whose times its SYN was sent at `began`.
    pub(crate) fn on_opened(&mut self, began: Instant, now: Instant) {
        self.is_opened = true;
        if self.open.is_none() {
            self.mark = began;
        }
        self.begin_opening();
        self.assign_time(now, &EndOfPiece::Other);
        if self.wait == WaitCause::Opening {
            self.wait = WaitCause::Request;
        }
    }

    /// Returns the bytes of the current request so far.
    pub(crate) fn request_bytes(&self) -> u64 {
        self.open
            .as_ref()
            .filter(|open| !open.answering)
            .map_or(0, |open| open.report.request_bytes)
    }

    /// Returns the time of the current transfer's request.
    pub(crate) fn request_time(&self) -> Option<Instant> {
        self.open.as_ref().and_then(|open| open.report.asked)
    }

    /// Returns true if all data of the client since the last answer may be control frames.
    pub(crate) fn may_be_control(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.may_be_control())
    }

    /// Returns the causes of the current answer's time so far.
    pub(crate) fn under_way(mut self) -> TimeShares {
        let Some(mut open) = self.open.take() else { return TimeShares::default() };
        if self.is_at_receiver {
            // All data is at the receiver, and the ACKs of the last of it are still on their way.
            open.trail.on_arrival(self.mark, open.clock.outstanding());
        }
        open.under_way(&self.link)
    }

    /// Notes the causes of the request's time.
    pub(crate) fn note_upload(&mut self, shares: TimeShares) {
        if let Some(open) = &mut self.open {
            open.upload = Some(Box::new(shares));
        }
    }

    /// Notes that the handshake restarts: all packets since the first SYN were useless.
    pub(crate) fn on_reopened(&mut self) {
        self.is_opened = false;
        self.wait = WaitCause::Opening;
        if let Some(open) = &mut self.open {
            let time = self.mark.saturating_since(open.report.began);
            **open = OpenTransfer::new(open.report.began, self.min_rtt);
            open.report.shares.add(TimeShare::Handshake, time);
        }
    }

    /// Notes a pure ACK of the client.
    pub(crate) const fn note_pure_ack(&mut self) {
        self.has_pure_acks = true;
    }

    /// Handles an event that concerns the server's sender. Returns the transfer that ended before
    /// it, if one did. The cases of most packets are inlined.
    #[inline(always)]
    pub(crate) fn on_passage(
        &mut self,
        now: Instant,
        passage: Passage,
        sender: Option<SenderState>,
    ) -> Option<TransferReport> {
        self.begin_opening();
        // Lags may have moved an earlier event after this one.
        let now = now.max(self.mark);
        match passage {
            Passage::Response(data) => {
                if !self.goes_on(now, &data) {
                    self.doubt_full_window(now);
                    self.assign_time(now, &EndOfPiece::Response);
                    self.on_response(now, &data);
                }
                self.set_expected_event(sender.as_ref(), false);
                None
            }
            Passage::Acked(ack) => {
                if let Some(sender) = &sender {
                    self.on_ack(now, &ack, sender);
                }
                None
            }
            Passage::Request(data) => self.take_request(now, &data, sender.as_ref()),
            Passage::Again { kind, last_sent } => {
                self.take_retransmission(now, kind, last_sent, sender.as_ref());
                None
            }
            Passage::AskedAgain => {
                self.take_asked_again(now);
                None
            }
            Passage::WindowOpened | Passage::Probed | Passage::ClientClosed => {
                self.take_signal(now, passage, sender.as_ref());
                None
            }
        }
    }

    /// Does the same as [`TransferMeter::on_passage`] for an ACK, which ends no transfer.
    #[inline(always)]
    pub(crate) fn on_ack(&mut self, now: Instant, ack: &PassingAck, sender: &SenderState) {
        let now = now.max(self.mark);
        self.assign_time(now, &EndOfPiece::Arrived(ack.delivered));
        self.note_delivery(now, ack, sender);
        self.set_expected_event(Some(sender), ack.acked > 0);
    }

    /// Does the same as [`TransferMeter::on_passage`] for new payload of an answer, if the window
    /// of a sender without a pacer had room for it. Returns false, with nothing changed, if the
    /// answer waits for another event.
    #[inline(always)]
    pub(crate) fn on_next_data(
        &mut self,
        now: Instant,
        data: &PassingData,
        flight: &Flight,
    ) -> bool {
        let goes_on = self.goes_on(now.max(self.mark), data);
        if goes_on && let Some(open) = &mut self.open {
            open.note_flight(flight);
            self.wait = WaitCause::of(flight.wait);
        }
        goes_on
    }

    /// Handles new payload of an answer for which the window had room. Returns false, with nothing
    /// changed, if the answer waits for another event.
    #[inline(always)]
    fn goes_on(&mut self, now: Instant, data: &PassingData) -> bool {
        let Some(open) = &mut self.open else { return false };
        if self.wait != WaitCause::Room || !open.may_go_on() {
            return false;
        }
        let time = now.saturating_since(self.mark);
        self.mark = now;
        open.go_on(now, time, data.bytes);
        open.report.bytes += data.bytes;
        open.report.sent = now;
        true
    }

    /// Handles new payload of the response, whatever the transfer waits for. It ends no transfer.
    #[inline(never)]
    pub(crate) fn take_response(&mut self, now: Instant, data: &PassingData, sender: &SenderState) {
        let _ = self.on_passage(now, Passage::Response(*data), Some(*sender));
    }

    /// Takes a passage that moves no new data, such as a window probe or the end of the client's
    /// data.
    #[inline(never)]
    fn take_signal(&mut self, now: Instant, passage: Passage, sender: Option<&SenderState>) {
        if passage != Passage::ClientClosed {
            self.assign_time(now, &EndOfPiece::Other);
        }
        let Some(open) = &mut self.open else { return };
        match passage {
            Passage::ClientClosed => open.left = open.left.or(Some(now)),
            Passage::Probed => open.is_probed = true,
            _ => {
                open.clock.on_ack(now);
                self.set_expected_event(sender, false);
            }
        }
    }

    /// Takes data of a request. Returns the report of the transfer that it ends, if there is one.
    #[inline(never)]
    fn take_request(
        &mut self,
        now: Instant,
        data: &PassingData,
        sender: Option<&SenderState>,
    ) -> Option<TransferReport> {
        self.assign_time(now, &EndOfPiece::Request);
        if self.is_tls_request(now, data) {
            return None;
        }
        let ended = self.on_request(now, data.bytes);
        self.set_expected_event(sender, false);
        ended
    }

    /// Takes a retransmission, and assigns it the time that led up to it.
    #[inline(never)]
    fn take_retransmission(
        &mut self,
        now: Instant,
        kind: RetransmissionKind,
        last_sent: Option<Instant>,
        sender: Option<&SenderState>,
    ) {
        self.assign_time(now, &EndOfPiece::Again(kind));
        self.note_retransmission(kind, last_sent);
        self.set_expected_event(sender, false);
    }

    /// Notes that until now the server had no request.
    #[inline(never)]
    fn take_asked_again(&mut self, now: Instant) {
        if self.wait == WaitCause::Answer {
            self.assign_time(now, &EndOfPiece::Request);
        }
    }

    /// Ends the connection. Returns the current transfer.
    pub(crate) fn finish(&mut self, end: &ConnectionEnd) -> Option<TransferReport> {
        let open = self.open.take()?;
        self.end_transfer(*open, Some(end))
    }

    /// Returns the transfer that is over if no more of the answer follows.
    pub(crate) fn finish_answered(&mut self) -> Option<TransferReport> {
        if self.wait == WaitCause::Done { self.close() } else { None }
    }

    /// Sets the event that the sender waits for after a packet, which may have acknowledged data.
    #[inline(always)]
    fn set_expected_event(&mut self, sender: Option<&SenderState>, acked: bool) {
        let Some(sender) = sender else { return };
        if sender.min_rtt != self.min_rtt {
            self.note_min_rtt(sender.min_rtt);
        }
        if let Some(open) = &mut self.open
            && open.answering
        {
            open.acked |= acked;
            open.note_sender_state(sender);
            self.wait = WaitCause::of(sender.flight.wait);
        }
    }

    /// Updates the lowest round trip, if the sender knows one.
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

    /// Assigns the time since the last packet to its cause.
    #[inline(always)]
    fn assign_time(&mut self, now: Instant, end: &EndOfPiece) {
        let now = now.max(self.mark);
        let time = now.saturating_since(self.mark);
        self.mark = now;
        let Some(open) = &mut self.open else { return };
        if self.wait.is_done() {
            let left = if self.wait == WaitCause::Done { &mut open.done } else { &mut open.shut };
            *left += time;
            return;
        }
        if self.wait == WaitCause::Room && !matches!(end, EndOfPiece::Again(_)) {
            open.had_room(now, time);
        } else {
            let share = self.wait.spent_on(end);
            open.report.shares.add(share, time);
            open.trail.note_wait(now, time, Some(share));
        }
        let arrived = if let EndOfPiece::Arrived(bytes) = end { *bytes } else { 0 };
        open.trail.on_arrival(now, arrived);
    }

    /// Measures the link's rate with an ACK.
    #[inline]
    fn note_delivery(&mut self, now: Instant, ack: &PassingAck, sender: &SenderState) {
        let repairs = self.wait == WaitCause::Repair || sender.flight.wait == SenderWait::Repair;
        let &SenderState { srtt, mss, .. } = sender;
        // An ACK that made room in the window of a slow reader was sent when the application read.
        let by_receiver = sender.flight.wait.is_receiver() || self.wait == WaitCause::SlowReader;
        let &PassingAck { delivered: bytes, rtt, .. } = ack;
        let delivery = Delivery { now, bytes, rtt, srtt, mss, repairs, by_receiver };
        let full = if self.is_at_receiver { None } else { self.link.on_delivery(&delivery) };
        if let Some(open) = &mut self.open {
            open.full += full.unwrap_or_default();
            let is_other = repairs || full.is_some() || by_receiver;
            let outstanding = open.clock.outstanding();
            if open.plateau.ends_round(&RoundAck { now, srtt, outstanding, is_other }) {
                let (slow_start, is_at_receiver) = (sender.slow_start, self.is_at_receiver);
                let end = RoundEnd { now, slow_start, is_at_receiver };
                open.plateau.end_round(&end, &mut open.report);
            }
            open.clock.on_ack(now);
        }
    }

    /// Notes `bytes` of data that arrive at the receiver, where the capture is made. If timestamps
    /// show it, `rtt` is by how much their trip was longer than that of the SYN-ACK.
    pub(crate) fn on_arrival(&mut self, now: Instant, bytes: u64, rtt: Option<Duration>) {
        self.is_at_receiver = true;
        let Some(open) = &mut self.open else { return };
        let srtt = rtt.unwrap_or(open.report.srtt);
        let by_receiver = self.wait.is_receiver();
        let mss = open.report.mss;
        let delivery = Delivery { now, bytes, rtt, srtt, mss, repairs: rtt.is_none(), by_receiver };
        self.link.measure_by_stamps();
        open.full += self.link.on_delivery(&delivery).unwrap_or_default();
    }

    /// Discards the assumption of a full window. It was full, but data is sent long after the last
    /// ACK: so the window is not known, nor the reason for this data.
    fn doubt_full_window(&mut self, now: Instant) {
        let is_window = self.wait.is_receiver()
            || matches!(self.wait, WaitCause::SlowStart | WaitCause::Avoidance);
        if let Some(open) = &mut self.open
            && is_window
            && open.paced.is_none()
            && open.clock.contradicts_full_window(now, open.report.sent)
        {
            self.wait = WaitCause::Unknown;
        }
    }

    /// Begins a transfer, or adds `bytes` to the request of the open one. Returns the report of the
    /// transfer that it ends, if there is one.
    fn on_request(&mut self, now: Instant, bytes: u64) -> Option<TransferReport> {
        // A request during an answer is pipelined, or is part of the same exchange.
        let is_next = self.wait.is_done() && self.open.as_ref().is_some_and(|open| open.answering);
        let ended = if is_next { self.close() } else { None };
        let started = || {
            let open = OpenTransfer::new(now, self.min_rtt);
            OpenTransfer { follows: self.next_index > 0, ..open }
        };
        let open = self.open.get_or_insert_with(|| Box::new(started()));
        let silence = now.saturating_since(open.report.asked.unwrap_or(now));
        if open.may_be_control() && silence > self.min_rtt {
            **open = started();
        }
        open.report.asked.get_or_insert(now);
        open.report.request_bytes += bytes;
        if !open.answering {
            open.report.asked_whole = Some(now);
            self.wait = WaitCause::Answer;
        }
        ended
    }

    /// Adds data to the answer of the open transfer. Without a request, the server speaks first,
    /// and a transfer begins.
    #[inline]
    fn on_response(&mut self, now: Instant, data: &PassingData) {
        if self.is_tls_response(now, data) {
            return;
        }
        let open = self.open.get_or_insert_with(|| Self::resume(self.ended, now, self.min_rtt));
        if !open.answering {
            open.answering = true;
            open.report.answered = Some(now);
        }
        open.end_pause(now, data.bytes);
        open.report.bytes += data.bytes;
        open.report.sent = now;
    }

    /// Starts a transfer without a request: the server goes on after one that seemed to be over at
    /// `ended`.
    #[cold]
    fn resume(ended: Instant, now: Instant, rtt: Duration) -> Box<OpenTransfer> {
        let began = if ended > Instant::ZERO { ended } else { now };
        let mut open = Box::new(OpenTransfer::new(began, rtt));
        open.resumed = now.saturating_since(began);
        open.report.shares.add(TimeShare::Application, open.resumed);
        open
    }

    fn note_retransmission(&mut self, kind: RetransmissionKind, last_sent: Option<Instant>) {
        if let Some(open) = &mut self.open {
            open.find_loss(kind, last_sent);
            open.report.retransmissions += 1;
            open.report.timeouts += u32::from(kind == RetransmissionKind::Timeout);
        }
    }

    /// Ends the current transfer.
    fn close(&mut self) -> Option<TransferReport> {
        let open = self.open.take()?;
        self.end_transfer(*open, None)
    }

    /// Ends a transfer and returns its report; `None` if it has nothing to report.
    fn end_transfer(
        &mut self,
        open: OpenTransfer,
        end: Option<&ConnectionEnd>,
    ) -> Option<TransferReport> {
        let wait = std::mem::replace(&mut self.wait, WaitCause::Done);
        let path = PathKnown { link: &self.link, min_rtt: self.min_rtt };
        let acks = Acks { is_opened: self.is_opened, has_pure: self.has_pure_acks };
        let mut report = open.end(Ending { mark: self.mark, wait, path, acks, end })?;
        report.index = self.next_index;
        report.min_rtt = self.min_rtt;
        self.next_index += 1;
        self.ended = report.ended;
        Some(report)
    }
}
