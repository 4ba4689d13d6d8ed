//! The driver of senders whose data the capture does not show (Balakrishnan et al. 1998 §2.3). From
//! the captured ACKs, the core's own rules infer the data that the sender must have sent.
//!
//! It runs late. It digests an ACK once later ones prove that the data which the ACK releases
//! existed, or once the response is known to have ended. So it never sends data that did not exist.

use super::RebuiltSender;
use super::acks::{AckDigest, SenderAck};
use super::predicted_sends::{NextSend, Transmission};
use crate::kinds::Retransmission;
use crate::sink::SentData;
use crate::snapshot::SenderSnapshot;
use crate::transfer::{Passage, PassingAck, PassingData, TransferMeter, TransferReport};
use sender::StampClock;
use std::collections::VecDeque;
use units::{Duration, Instant};

/// Maximum number of waiting ACKs: with more, the window of a long transfer counts as used up.
const MAX_WAITING: usize = 4096;
/// Longest server think time that is accepted, milliseconds; a longer one means that the clock is
/// misread.
const LONG_THOUGHT: u32 = 1000;
/// Maximum number of sends in answer to one event.
const MAX_SENT: u32 = 1 << 16;

/// Maximum number of timeouts between two events: real senders give up earlier.
const MAX_RUN_OUT: u32 = 4096;

/// Events of an inferred sender.
#[derive(Clone, Debug)]
pub(crate) enum PredictedEvent {
    Again(Retransmission),
    Sent(SentData),
    Window(SenderSnapshot),
    /// Number of acknowledged bytes that it had not sent.
    Unforeseen(u64),
    /// An ACK that yields a round-trip sample.
    RoundTrip(Instant, Duration),
    /// A transfer is over.
    Transfer(Box<TransferReport>),
}

/// Input that waits to be digested.
#[derive(Clone, Copy, Debug)]
enum Waiting {
    Ack(SenderAck),
    /// A request, before which all data below `before` had been acknowledged.
    Request {
        at: Instant,
        before: u64,
        bytes: u64,
    },
}

impl Default for Waiting {
    /// Returns the empty queue.
    fn default() -> Self {
        Self::Request { at: Instant::ZERO, before: 0, bytes: 0 }
    }
}

/// An inferred sender's queue of input.
pub(crate) struct Predictor {
    waiting: VecDeque<Waiting>,
    /// Ends of segments that are not sent yet, ascending: acknowledgements and ends of SACK blocks.
    edges: VecDeque<u64>,
    /// Number of waiting requests.
    requests: u32,
    /// Highest acknowledgement seen.
    high: u64,
    /// The highest acknowledgement is one more than the one before: most likely it acknowledges a
    /// FIN.
    fin: bool,
    clock: Option<StampClock>,
    /// The first number of the stream.
    origin: u32,
    /// Time at which the pacer releases the next segment.
    release: Option<Instant>,
}

impl Predictor {
    /// Creates the predictor of a stream whose offset 0 has the number `origin`.
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

    /// Queues a segment of a request with this many new `bytes`; 0 for a retransmission.
    pub(crate) fn on_request(&mut self, at: Instant, bytes: u64) {
        self.waiting.push_back(Waiting::Request { at, before: self.high, bytes });
        self.requests += 1;
    }

    /// Queues an ACK for the sender.
    pub(crate) fn on_ack(&mut self, ack: &SenderAck) {
        if ack.una > self.high {
            self.fin = ack.una == self.high + 1 && self.high > 1;
            self.high = ack.una;
            self.note_edge(ack.una);
        }
        for &(left, right) in ack.sack.as_slice().iter().filter(|block| block.0 > ack.una) {
            self.note_edge(left);
            self.note_edge(right);
        }
        self.waiting.push_back(Waiting::Ack(*ack));
    }

    /// Notes that a segment ends at `offset`. If [`MAX_WAITING`] ends are noted, the note is
    /// dropped.
    fn note_edge(&mut self, offset: u64) {
        let place = self.edges.partition_point(|&edge| edge < offset);
        if self.edges.get(place) != Some(&offset) && self.edges.len() < MAX_WAITING {
            self.edges.insert(place, offset);
        }
    }

    /// Digests all input that is ready; everything if no more input follows (`over`).
    pub(crate) fn run<F: FnMut(PredictedEvent)>(&mut self, on: &mut Predicting<'_, F>, over: bool) {
        while let Some(&next) = self.waiting.front() {
            let Some(limit) = self.limit(on.sender, over) else { return };
            match next {
                Waiting::Ack(ack) => {
                    self.waiting.pop_front();
                    on.sender.make_available(limit);
                    self.run_timers(on, ack.at);
                    self.digest(on, &ack);
                }
                Waiting::Request { at, before, bytes } => {
                    let Some(begin) = self.transfer_start(on.sender, at, before, over) else {
                        return;
                    };
                    self.waiting.pop_front();
                    self.requests -= 1;
                    let Some(answer) = self.limit(on.sender, over) else {
                        // The answer to the request is not known yet.
                        self.waiting.push_front(next);
                        self.requests += 1;
                        return;
                    };
                    on.sender.make_available(limit.min(answer));
                    self.run_timers(on, at);
                    on.pass(at, Passage::Request(PassingData { bytes, ..PassingData::default() }));
                    self.run_timers(on, begin);
                    on.sender.make_available(answer);
                    self.send(on, begin);
                }
            }
        }
    }

    /// Returns one past the last byte that the sender has to send now; `None` if it is not known
    /// well enough.
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
            .saturating_add(4 * sender.core.mss());
        if let Some(before) =
            request.filter(|&before| before > sender.una() || before >= sender.nxt())
        {
            // Pipelined requests precede the end of the response.
            return Some(if high > before && before < sender.nxt() { high } else { before });
        }
        let (una, window) = match self.waiting.front() {
            Some(Waiting::Ack(ack)) => (ack.una, ack.window.unwrap_or(0)),
            _ => (0, 0),
        };
        let edge = una.max(sender.una()) + window.max(sender.receive_window());
        let proven = self.high >= reach.min(edge);
        let many = self.waiting.len() >= MAX_WAITING;
        match (proven || over, many) {
            (true, _) => Some(high),
            (false, true) => Some(high.max(reach)),
            (false, false) => None,
        }
    }

    /// Returns when the response to the request at `at` begins: at once, unless its first ACK is
    /// late for that, or echoes a later time.
    fn transfer_start(
        &self,
        sender: &RebuiltSender,
        at: Instant,
        before: u64,
        over: bool,
    ) -> Option<Instant> {
        let rtt = sender.srtt();
        let soon = at + rtt * 3 / 4;
        let first = self.waiting.iter().find_map(|waiting| match waiting {
            // Without SACK, a duplicate ACK a round trip later is the first sign.
            Waiting::Ack(ack) if ack.highest() > before || ack.bare && ack.at > soon => Some(ack),
            _ => None,
        });
        let more = self.waiting.iter().skip(1).any(|w| matches!(w, Waiting::Request { .. }));
        if more && self.requests > 1 && first.is_none() {
            return Some(at);
        }
        let Some(first) = first else { return over.then_some(at) };
        let gap = first.at.saturating_since(at);
        let timeout = is_after_timeouts(gap, sender.rto(), rtt);
        let delayed =
            self.high - before <= sender.core.mss() && gap <= rtt + Duration::from_millis(250);
        let prompt = gap <= rtt + (rtt / 2).max(Duration::from_millis(50));
        if prompt && !timeout && first.una > before {
            return Some(at + self.think_time(at, first).min(gap));
        }
        Some(if prompt || delayed || timeout { at } else { first.at - rtt.min(gap) })
    }

    /// Returns how long after `at` the data that an ACK answers was sent, by its echoed timestamp;
    /// zero if the time is negligible.
    fn think_time(&self, at: Instant, ack: &SenderAck) -> Duration {
        let ticks =
            self.clock.zip(ack.echo).map(|(clock, echo)| echo.wrapping_sub(clock.stamp(at)));
        match ticks {
            Some(ticks) if (2..LONG_THOUGHT).contains(&ticks) => {
                Duration::from_millis(ticks.into())
            }
            _ => Duration::ZERO,
        }
    }

    /// Returns the next known end of a segment that is not sent yet, if the response goes on there.
    fn next_edge(&mut self, sender: &RebuiltSender) -> Option<u64> {
        while self.edges.front().is_some_and(|&edge| edge <= sender.nxt()) {
            self.edges.pop_front();
        }
        self.edges.front().copied().filter(|&edge| edge < sender.core.written())
    }

    /// Returns true if an earlier transmission of `again` was delivered. If `again` is the first
    /// missing segment, the echoed timestamp shows it: that of the segment that filled the hole
    /// (RFC 7323 §4.3). Otherwise the time shows it: an answer to `again` cannot arrive before
    /// `soonest`.
    fn is_delivered_before(&self, again: &Transmission, mut una: u64) -> bool {
        for waiting in &self.waiting {
            let Waiting::Ack(ack) = waiting else { continue };
            if ack.is_delivered(again.start) {
                let echoes = una == again.start && ack.una > una;
                return match self.clock.zip(ack.echo).filter(|_| echoes) {
                    Some((clock, echo)) => {
                        let off = |at| (echo.wrapping_sub(clock.stamp(at)) as i32).unsigned_abs();
                        off(again.before) < off(again.at)
                    }
                    None => ack.at < again.soonest,
                };
            }
            una = una.max(ack.una);
        }
        false
    }

    /// Runs the timers that run out before `until`.
    fn run_timers<F: FnMut(PredictedEvent)>(&mut self, on: &mut Predicting<'_, F>, until: Instant) {
        for _ in 0..MAX_RUN_OUT {
            let recovery = on.sender.recovery_timeout().unwrap_or(Instant::FAR_FUTURE);
            let release = self.release.unwrap_or(Instant::FAR_FUTURE);
            let at = on.sender.retransmission_due().min(recovery).min(release);
            if at >= until {
                return;
            }
            if release <= at {
                self.release = None;
            }
            if recovery <= at {
                on.sender.run_recovery_timer(at);
            }
            if on.sender.retransmission_due() <= at {
                on.sender.time_out(at);
            }
            self.send(on, at);
        }
    }

    /// Digests an ACK at the inferred sender. Data that it acknowledges, and that the sender was
    /// not expected to send, is booked first.
    fn digest<F: FnMut(PredictedEvent)>(&mut self, on: &mut Predicting<'_, F>, ack: &SenderAck) {
        let sender = &mut *on.sender;
        if self.fin && ack.una == self.high && ack.una == sender.nxt() + 1 {
            sender.book_fin(ack.at - sender.srtt());
        }
        let arrived = sender.valid_sack_end(ack.highest()).max(ack.una);
        if arrived > sender.nxt() {
            let unforeseen = sender.book_unseen(ack.at - sender.srtt(), arrived);
            (on.emit)(PredictedEvent::Unforeseen(unforeseen));
            on.report_sent(ack.at - on.sender.srtt(), unforeseen);
            on.pass_response(ack.at, unforeseen);
        }
        let sender = &mut *on.sender;
        let digest = sender.on_ack(ack.read(), ack.window);
        if let Some(rtt) = digest.rtt {
            (on.emit)(PredictedEvent::RoundTrip(ack.at, rtt));
        }
        let AckDigest { acked, delivered, rtt, .. } = digest;
        let point = sender.snapshot(ack.at);
        on.pass(ack.at, Passage::Acked(PassingAck { acked, delivered, rtt }));
        (on.emit)(PredictedEvent::Window(point));
        self.send(on, ack.at);
    }

    /// Sends all data that window, recovery and pacer release.
    fn send<F: FnMut(PredictedEvent)>(&mut self, on: &mut Predicting<'_, F>, now: Instant) {
        for _ in 0..MAX_SENT {
            on.sender.edge = self.next_edge(on.sender);
            match on.sender.next_predicted(now) {
                NextSend::New(bytes) => {
                    on.sender.book_new(now, bytes, bytes);
                    on.report_sent(now, bytes);
                    on.pass_response(now, bytes);
                }
                NextSend::Again { index, probe } => {
                    let transmission = on.sender.transmission(now, index, probe);
                    let una = on.sender.core.una();
                    let stamp = self.clock.map(|clock| clock.stamp(now));
                    let mut again = on.sender.retransmit(now, index, probe, stamp);
                    again.seq = self.origin.wrapping_add(again.start as u32);
                    if transmission.is_some_and(|sent| self.is_delivered_before(&sent, una)) {
                        // Another transmission was acknowledged: this one was never sent.
                        continue;
                    }
                    on.pass(now, Passage::of_retransmission(&again));
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

/// An inferred sender at work: its meter, and the callback for its events.
pub(crate) struct Predicting<'a, F> {
    pub(crate) sender: &'a mut RebuiltSender,
    pub(crate) meter: &'a mut TransferMeter,
    pub(crate) emit: F,
}

impl<F: FnMut(PredictedEvent)> Predicting<'_, F> {
    fn report_sent(&mut self, at: Instant, bytes: u64) {
        let sent = self.sender.sent(at, self.sender.nxt(), bytes);
        (self.emit)(PredictedEvent::Sent(sent));
    }

    fn pass_response(&mut self, at: Instant, bytes: u64) {
        self.pass(at, Passage::Response(PassingData { bytes, ..PassingData::default() }));
    }

    fn pass(&mut self, at: Instant, passage: Passage) {
        if let Some(report) = self.meter.on_passage(at, passage, Some(self.sender.state(at))) {
            (self.emit)(PredictedEvent::Transfer(Box::new(report)));
        }
    }
}

/// Returns true if consecutive timeouts of `rto`, doubled each time, and a round trip take `gap`
/// together.
fn is_after_timeouts(gap: Duration, rto: Duration, rtt: Duration) -> bool {
    let waits = (1..=6_u32).map(|timeouts| rto.saturating_mul((1 << timeouts) - 1));
    waits.into_iter().any(|wait| gap >= wait && gap <= wait + rtt * 2)
}
