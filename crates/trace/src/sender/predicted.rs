//! The driver of senders whose data the capture does not show: ACKs in, and what the sender must have sent
//! out of the core's own rules (Balakrishnan et al. 1998 §2.3).
//!
//! It runs late: an ACK is digested when later ones prove that what it lets go existed, or when the response
//! is known to have ended. So data is never sent that there was not.

use super::RebuiltSender;
use super::acks::{AckDigest, SenderAck, StampClock};
use crate::kinds::{Retransmission, RetransmissionKind};
use crate::sink::SentData;
use crate::snapshot::SenderSnapshot;
use crate::transfer::{Passage, TransferMeter, TransferReport};
use std::collections::VecDeque;
use units::{Duration, Instant};

/// ACKs that wait at most: the window of a long transfer is taken for used up then.
const MOST_WAITING: usize = 4096;
/// Sends in answer to one event at most.
const MOST_SENT: u32 = 1 << 16;

/// Timers that run out between two events at most: senders give up before.
const MOST_RUN_OUT: u32 = 4096;

/// What a predicted sender does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PredictedEvent {
    Again(Retransmission),
    Sent(SentData),
    Window(SenderSnapshot),
    /// It had not sent what was acknowledged: so many bytes.
    Unforeseen(u64),
    /// An ACK tells a round trip.
    RoundTrip(Instant, Duration),
    /// A transfer is over.
    Transfer(TransferReport),
}

/// What waits to be digested.
#[derive(Clone, Copy, Debug)]
enum Waiting {
    Ack(SenderAck),
    /// A request, before which all below `before` had been acknowledged.
    Request {
        at: Instant,
        before: u64,
        bytes: u64,
    },
}

/// A sender that is predicted, and what it waits for.
pub(crate) struct Predictor {
    waiting: VecDeque<Waiting>,
    /// Acknowledgements that wait, ascending: each ends a segment.
    edges: VecDeque<u64>,
    /// Requests that wait.
    requests: u32,
    /// Highest acknowledgement seen.
    high: u64,
    /// The highest acknowledgement is one more than the one before: most likely a FIN's.
    fin: bool,
    clock: Option<StampClock>,
    /// The first number of the stream.
    origin: u32,
    /// The pacer lets the next segment go then.
    release: Option<Instant>,
}

impl Predictor {
    /// Of a stream whose number of offset 0 is `origin`.
    pub(crate) fn new(origin: u32, high: u64, clock: Option<StampClock>) -> Self {
        Self {
            waiting: VecDeque::new(),
            edges: VecDeque::new(),
            requests: 0,
            high,
            fin: false,
            clock,
            origin,
            release: None,
        }
    }

    /// A segment of a request, `bytes` long.
    pub(crate) fn on_request(&mut self, at: Instant, bytes: u64) {
        self.waiting.push_back(Waiting::Request { at, before: self.high, bytes });
        self.requests += 1;
    }

    /// An ACK reaches the sender.
    pub(crate) fn on_ack(&mut self, ack: &SenderAck) {
        if ack.una > self.high {
            self.fin = ack.una == self.high + 1 && self.high > 1;
            self.high = ack.una;
            self.edges.push_back(ack.una);
        }
        self.waiting.push_back(Waiting::Ack(*ack));
    }

    /// Digests what can be digested; all of it if nothing more is to come (`over`).
    pub(crate) fn run<F: FnMut(PredictedEvent)>(&mut self, on: &mut Predicting<'_, F>, over: bool) {
        while let Some(&next) = self.waiting.front() {
            let Some(limit) = self.limit(on.sender, over) else { return };
            match next {
                Waiting::Ack(ack) => {
                    self.waiting.pop_front();
                    on.sender.offer(limit);
                    self.run_timers(on, ack.at);
                    self.digest(on, &ack);
                }
                Waiting::Request { at, before, bytes } => {
                    let Some(begin) = self.beginning(on.sender, (at, before), over) else { return };
                    self.waiting.pop_front();
                    self.requests -= 1;
                    let Some(answer) = self.limit(on.sender, over) else {
                        // What answers the request is not known yet.
                        self.waiting.push_front(next);
                        self.requests += 1;
                        return;
                    };
                    on.sender.offer(limit.min(answer));
                    self.run_timers(on, at);
                    on.pass(at, Passage::Request { bytes });
                    self.run_timers(on, begin);
                    on.sender.offer(answer);
                    self.send(on, begin);
                }
            }
        }
    }

    /// One past the last byte that the sender has to send now; `None` if it is not known well enough.
    fn limit(&self, sender: &RebuiltSender, over: bool) -> Option<u64> {
        let high = self.high - u64::from(self.fin);
        let request = if self.requests == 0 {
            None
        } else {
            let skip = usize::from(matches!(self.waiting.front(), Some(Waiting::Request { .. })));
            self.waiting.iter().skip(skip).find_map(|waiting| match *waiting {
                Waiting::Request { before, .. } => Some(before),
                Waiting::Ack(_) => None,
            })
        };
        let reach = sender
            .nxt()
            .saturating_add(sender.cwnd().saturating_mul(2))
            .saturating_add(4 * sender.terms.mss);
        if let Some(before) =
            request.filter(|&before| before > sender.una() || before >= sender.nxt())
        {
            // Pipelined requests come before the end of the response.
            return Some(if high > before && before < sender.nxt() { high } else { before });
        }
        let (una, window) = match self.waiting.front() {
            Some(Waiting::Ack(ack)) => (ack.una, ack.window.unwrap_or(0)),
            _ => (0, 0),
        };
        let edge = una.max(sender.una()) + window.max(sender.receive_window());
        let proven = self.high >= reach.min(edge);
        let many = self.waiting.len() >= MOST_WAITING;
        match (proven || over, many) {
            (true, _) => Some(high),
            (false, true) => Some(high.max(reach)),
            (false, false) => None,
        }
    }

    /// When the response to the request at `at` begins: at once, unless its first ACK is late for that.
    fn beginning(
        &self,
        sender: &RebuiltSender,
        (at, before): (Instant, u64),
        over: bool,
    ) -> Option<Instant> {
        let rtt = sender.srtt();
        let soon = at + rtt * 3 / 4;
        let first = self.waiting.iter().find_map(|waiting| match waiting {
            // Without SACK a duplicate a round trip later is the first sign.
            Waiting::Ack(ack) if ack.highest() > before || ack.bare && ack.at > soon => {
                Some(ack.at)
            }
            _ => None,
        });
        let more = self.waiting.iter().skip(1).any(|w| matches!(w, Waiting::Request { .. }));
        if more && self.requests > 1 && first.is_none() {
            return Some(at);
        }
        let Some(first) = first else { return over.then_some(at) };
        let gap = first.saturating_since(at);
        let timeout = is_after_timeouts(gap, sender.rto(), rtt);
        let delayed =
            self.high - before <= sender.terms.mss && gap <= rtt + Duration::from_millis(250);
        let prompt = gap <= rtt + (rtt / 2).max(Duration::from_millis(50));
        Some(if prompt || delayed || timeout { at } else { first - rtt.min(gap) })
    }

    /// The next place beyond what was sent where a segment is known to end, if the response goes on there.
    fn next_edge(&mut self, sender: &RebuiltSender) -> Option<u64> {
        while self.edges.front().is_some_and(|&edge| edge <= sender.nxt()) {
            self.edges.pop_front();
        }
        self.edges.front().copied().filter(|&edge| edge < sender.written)
    }

    /// The byte at `offset` is acknowledged before `until`: what left a round trip before did it.
    fn arrives_before(&self, offset: u64, until: Instant) -> bool {
        let acks = self.waiting.iter().filter_map(|waiting| match waiting {
            Waiting::Ack(ack) => Some(ack),
            Waiting::Request { .. } => None,
        });
        acks.take_while(|ack| ack.at < until).any(|ack| ack.covers(offset))
    }

    /// Runs what runs out before `until`.
    fn run_timers<F: FnMut(PredictedEvent)>(&mut self, on: &mut Predicting<'_, F>, until: Instant) {
        for _ in 0..MOST_RUN_OUT {
            let recovery = on.sender.recovery_timeout().unwrap_or(Instant::FAR_FUTURE);
            let release = self.release.unwrap_or(Instant::FAR_FUTURE);
            let at = on.sender.rto_at.min(recovery).min(release);
            if at >= until {
                return;
            }
            if release <= at {
                self.release = None;
            }
            if recovery <= at {
                on.sender.run_recovery_timer(at);
            }
            if on.sender.rto_at <= at {
                on.sender.time_out(at);
            }
            self.send(on, at);
        }
    }

    fn digest<F: FnMut(PredictedEvent)>(&mut self, on: &mut Predicting<'_, F>, ack: &SenderAck) {
        let sender = &mut *on.sender;
        if self.fin && ack.una == self.high && ack.una == sender.nxt() + 1 {
            sender.book_fin(ack.at - sender.srtt());
        }
        if ack.una > sender.nxt() {
            let unforeseen = sender.book_unseen(ack.at - sender.srtt(), ack.una);
            (on.emit)(PredictedEvent::Unforeseen(unforeseen));
            on.tell_sent(ack.at - on.sender.srtt(), unforeseen);
            on.pass(ack.at, Passage::Response { bytes: unforeseen });
        }
        let sender = &mut *on.sender;
        let digest = sender.on_ack(ack);
        if let Some(rtt) = digest.rtt {
            (on.emit)(PredictedEvent::RoundTrip(ack.at, rtt));
        }
        let AckDigest { acked, delivered, .. } = digest;
        let point = sender.point(ack.at);
        on.pass(ack.at, Passage::Acked { acked, delivered });
        (on.emit)(PredictedEvent::Window(point));
        self.send(on, ack.at);
    }

    /// Sends what window, recovery and pacer let go.
    fn send<F: FnMut(PredictedEvent)>(&mut self, on: &mut Predicting<'_, F>, now: Instant) {
        for _ in 0..MOST_SENT {
            on.sender.edge = self.next_edge(on.sender);
            match on.sender.next_predicted(now) {
                NextSend::New(bytes) => {
                    on.sender.book_new(now, bytes, bytes);
                    on.tell_sent(now, bytes);
                    on.pass(now, Passage::Response { bytes });
                }
                NextSend::Again { index, probe } => {
                    let soonest = on.sender.soonest_answer(now, index, probe);
                    let stamp = self.clock.map(|clock| clock.stamp(now));
                    let mut again = on.sender.send_again(now, index, probe, stamp);
                    again.seq = self.origin.wrapping_add(again.start as u32);
                    if self.arrives_before(again.start, soonest) {
                        // Another transmission did that: this one was never sent.
                        continue;
                    }
                    on.pass(now, Passage::again(&again));
                    (on.emit)(PredictedEvent::Again(again));
                }
                NextSend::Wait(release) => {
                    self.release = Some(release);
                    return;
                }
                NextSend::Nothing => return,
            }
        }
    }
}

/// A predicted sender at work: what it meters and to whom it tells.
pub(crate) struct Predicting<'a, F> {
    pub(crate) sender: &'a mut RebuiltSender,
    pub(crate) meter: &'a mut TransferMeter,
    pub(crate) emit: F,
}

impl<F: FnMut(PredictedEvent)> Predicting<'_, F> {
    fn tell_sent(&mut self, at: Instant, bytes: u64) {
        let sent = self.sender.sent(at, self.sender.nxt(), bytes);
        (self.emit)(PredictedEvent::Sent(sent));
    }

    fn pass(&mut self, at: Instant, passage: Passage) {
        if let Some(report) = self.meter.on_passage(at, passage, Some(self.sender.state(at))) {
            (self.emit)(PredictedEvent::Transfer(report));
        }
    }
}

/// True if `gap` is what timeouts in a row of `rto`, doubled each time, and a round trip take.
fn is_after_timeouts(gap: Duration, rto: Duration, rtt: Duration) -> bool {
    let waits = (1..=6_u32).map(|timeouts| rto.saturating_mul((1 << timeouts) - 1));
    waits.into_iter().any(|wait| gap >= wait && gap <= wait + rtt * 2)
}

/// What a predicted sender sends next.
enum NextSend {
    New(u64),
    Again { index: usize, probe: bool },
    Wait(Instant),
    Nothing,
}

impl RebuiltSender {
    /// All below `limit` is there to be sent.
    fn offer(&mut self, limit: u64) {
        self.written = self.written.max(limit);
        self.ended = true;
    }

    /// When an ACK can answer a retransmission of the segment at `index` at the soonest: a round trip later,
    /// or half of one where the retransmission may have left before it is thought to. Timeouts and probes
    /// may be for nothing.
    fn soonest_answer(&self, now: Instant, index: usize, probe: bool) -> Instant {
        let kind = self.evidence.next_kind();
        let by_ack = matches!(kind, RetransmissionKind::Fast | RetransmissionKind::Recovery);
        let rtt = self.path.rtt.min_rtt();
        if probe || !by_ack || rtt == Duration::MAX {
            return now;
        }
        let again = self.board.segment(index).is_some_and(|s| s.was_retransmitted());
        now + if again { rtt * 7 / 8 } else { rtt / 2 }
    }

    /// A FIN alone left at `at`.
    fn book_fin(&mut self, at: Instant) {
        self.fin = true;
        self.book_new(at, 1, 0);
    }

    /// The next segment, in the order of the core: probe, retransmission, new data.
    fn next_predicted(&mut self, now: Instant) -> NextSend {
        if self.una == 0 {
            return NextSend::Nothing;
        }
        self.path.set_now(now);
        if std::mem::take(&mut self.probe_pending) {
            let len = self.next_new_len();
            if len > 0 {
                return NextSend::New(len);
            }
            if let Some(index) = self.board.len().checked_sub(1) {
                return NextSend::Again { index, probe: true };
            }
        }
        let idle =
            self.board.waiting() == 0 && (self.board.is_empty() || !self.recovery.recovering());
        if self.nxt >= self.written && idle {
            self.path.on_send_stopped(false);
            return NextSend::Nothing;
        }
        if let Some(release) = self.path.release(now) {
            return NextSend::Wait(release);
        }
        self.resume(now, 0);
        let mss = self.terms.mss;
        let (recovery, mut cx) = self.recovery_parts();
        let allowance = recovery.allowance(&cx);
        if allowance > 0
            && let Some(index) = recovery.next_retransmission(&mut cx)
        {
            self.settle_in_flight();
            let len = self.board.segment(index).map_or(u64::MAX, |s| u64::from(s.len));
            let fits = len.min(mss) <= allowance;
            return if fits { NextSend::Again { index, probe: false } } else { NextSend::Nothing };
        }
        let len = self.next_new_len();
        if len > 0 && len <= allowance && !self.is_held_back(len) {
            return NextSend::New(len);
        }
        let waits = self.new_data_waits();
        self.path.on_send_stopped(waits && allowance < mss);
        NextSend::Nothing
    }

    /// Silly window avoidance and Nagle (RFC 9293 §3.8.6.2.1, §3.7.4).
    fn is_held_back(&self, len: u64) -> bool {
        if len >= self.full_len() {
            false
        } else if self.nxt + len >= self.written {
            self.nagle && !self.board.is_empty()
        } else {
            len < self.max_snd_wnd / 2
        }
    }

    fn next_new_len(&self) -> u64 {
        let end = self.written.min(self.window_edge());
        end.saturating_sub(self.nxt).min(self.full_len())
    }

    /// A full segment; a shorter one where full ones would not end where an ACK shows that one did.
    fn full_len(&self) -> u64 {
        let mss = self.terms.mss;
        let odd = self.edge.map_or(0, |edge| edge.saturating_sub(self.nxt) % mss);
        if odd == 0 { mss } else { odd }
    }

    /// The segment at `index` leaves again.
    fn send_again(
        &mut self,
        now: Instant,
        index: usize,
        probe: bool,
        stamp: Option<u32>,
    ) -> Retransmission {
        let outstanding = self.board.outstanding();
        let kind = if probe { RetransmissionKind::TailProbe } else { self.evidence.next_kind() };
        let phase = if probe { self.phase() } else { self.evidence.found_in };
        let timeout = kind == RetransmissionKind::Timeout;
        let spared_by = timeout.then_some(self.evidence.spared_now);
        let segment = self.board.segment(index);
        let last_sent = segment.map(|segment| segment.sent_at);
        let (start, len) = segment.map_or((self.una, 0), |s| (s.start, s.len));
        self.book_again(now, index, stamp);
        self.evidence.on_retransmission(now, kind, self.nxt);
        Retransmission {
            at: now,
            last_sent,
            start,
            seq: 0,
            len,
            kind,
            phase,
            spared_by,
            outstanding,
            expected: true,
            predicted: true,
        }
    }
}
