//! One sender, rebuilt from its packets and the ACKs it gets.
//!
//! Sent is what was seen; the window is what RFC 5681 makes of the ACKs. Two things are seen of the
//! true window: it was never less than what was outstanding, and when an ACK brings new data out,
//! what was outstanding before was all that it allowed. What contradicts that is corrected.

use super::{IncomingPacket, OutgoingPacket};
use crate::GatewayReport;
use arith::rtt::Estimator;
use std::collections::VecDeque;
use units::{Duration, Instant, SeqNum};

/// Segments whose times are kept at most, so that one who is never answered costs no more.
const MOST_OUTSTANDING: usize = 65_536;

/// A segment under way.
#[derive(Clone, Copy, Debug)]
struct Sent {
    end: u64,
    at: Instant,
    again: bool,
}

/// What the box knows of a sender.
#[derive(Clone, Debug)]
pub struct ObservedSender {
    /// Sequence number of offset 0.
    origin: Option<SeqNum>,
    una: u64,
    nxt: u64,
    /// Largest payload seen.
    mss: u64,
    cwnd: u64,
    ssthresh: u64,
    /// Numerator left over by growing in avoidance.
    remainder: u64,
    /// Retransmissions below it repair what is known to be lost.
    recover: u64,
    /// No growth until `recover` is acknowledged.
    fast_recovery: bool,
    outstanding: VecDeque<Sent>,
    rtt: Estimator,
    /// The last ACK of new data: when it came, and the window and what was outstanding before it.
    clock: Option<Clock>,
    /// The last ACK of any kind.
    last_ack: Option<Instant>,
    /// ACKs since then that acknowledged nothing new: what they bring out is beyond the window
    /// (RFC 3042).
    duplicates: u32,
    receiver: Receiver,
    transfer: Transfer,
}

#[derive(Clone, Copy, Debug)]
struct Clock {
    at: Instant,
    cwnd: u64,
    outstanding: u64,
    growth: u64,
    /// The first of a transfer.
    first: bool,
}

/// The window that the receiver offers.
#[derive(Clone, Copy, Debug, Default)]
struct Receiver {
    window: u64,
    /// As it asked for in its SYN.
    shift: u8,
    /// The sender has not offered to scale, so nobody does.
    unscaled: bool,
}

impl Receiver {
    fn on_window(&mut self, packet: &IncomingPacket) {
        let shift = if self.unscaled { 0 } else { self.shift };
        self.window = u64::from(packet.window) << shift;
        if let Some(shift) = packet.window_scale {
            // A SYN's own window is not scaled, and no shift is above 14 (RFC 7323 §2.2, §2.3).
            *self = Self { window: packet.window.into(), shift: shift.min(14), ..*self };
        }
    }
}

/// What was sent since all had been acknowledged.
#[derive(Clone, Copy, Debug, Default)]
struct Transfer {
    begun: bool,
    /// An ACK of it has come.
    clocked: bool,
    loss: bool,
    /// All is acknowledged since.
    quiet: Option<Instant>,
}

impl Default for ObservedSender {
    fn default() -> Self {
        Self {
            origin: None,
            una: 0,
            nxt: 0,
            mss: 0,
            cwnd: 0,
            ssthresh: u64::MAX,
            remainder: 0,
            recover: 0,
            fast_recovery: false,
            outstanding: VecDeque::new(),
            rtt: Estimator::new(),
            clock: None,
            last_ack: None,
            duplicates: 0,
            receiver: Receiver::default(),
            transfer: Transfer::default(),
        }
    }
}

impl ObservedSender {
    /// Congestion window, bytes; 0 before anything was sent.
    pub const fn cwnd(&self) -> u64 {
        self.cwnd
    }

    /// Slow-start threshold, bytes; `u64::MAX` while nothing has shown one.
    pub const fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    /// Smoothed round trip, seen from the box; zero before the first.
    pub const fn srtt(&self) -> Duration {
        Duration::from_nanos(self.rtt.srtt8() / 8)
    }

    /// Since when all is acknowledged, if the transfer has not been told of.
    pub(super) fn quiet_since(&self) -> Option<Instant> {
        self.transfer.quiet
    }

    /// A packet of the sender's. Answers what a loss that it shows says of its share.
    pub(super) fn on_outgoing(
        &mut self,
        now: Instant,
        packet: &OutgoingPacket,
    ) -> Option<GatewayReport> {
        self.receiver.unscaled |= packet.syn && !packet.scaling;
        let first = packet.seq + u32::from(packet.syn);
        let origin = *self.origin.get_or_insert(first);
        if packet.len == 0 {
            return None;
        }
        let start = near(self.nxt, first.0.wrapping_sub(origin.0));
        let end = start.saturating_add(u64::from(packet.len));
        self.mss = self.mss.max(u64::from(packet.len));
        self.transfer.quiet = None;
        self.transfer.begun = true;
        if start < self.nxt {
            return self.on_retransmission(now, start);
        }
        if start == self.nxt && u64::from(packet.len) >= self.mss {
            // A short segment may have waited for other reasons than the window (Nagle's).
            self.check_clock(now);
        }
        self.clock = None;
        if self.outstanding.len() >= MOST_OUTSTANDING {
            self.outstanding.pop_front();
        }
        self.outstanding.push_back(Sent { end, at: now, again: false });
        self.nxt = end;
        if self.una >= self.recover && self.duplicates == 0 {
            self.cwnd = self.cwnd.max(self.nxt - self.una);
        }
        None
    }

    /// New data goes out in answer to an ACK: before, the window was full.
    fn check_clock(&mut self, now: Instant) {
        let Some(clock) = self.clock else { return };
        let answered = self.is_answer(clock.at, now);
        let by_receiver = clock.outstanding.saturating_add(self.mss) > self.receiver.window;
        if !answered || by_receiver || self.una < self.recover {
            return;
        }
        if clock.cwnd < clock.outstanding.saturating_add(self.mss) {
            return;
        }
        self.cwnd = clock.outstanding.saturating_add(clock.growth.min(self.mss));
        self.remainder = 0;
        if !clock.first {
            // Less than thought though it has begun where it was seen to: not slow start grows it. At
            // first it may have fallen since the transfer before (RFC 5681 §4.1).
            self.ssthresh = self.ssthresh.min(clock.outstanding);
        }
    }

    fn on_retransmission(&mut self, now: Instant, start: u64) -> Option<GatewayReport> {
        for sent in &mut self.outstanding {
            sent.again |= sent.end > start;
        }
        self.transfer.loss = true;
        if start < self.recover {
            return None;
        }
        let by_ack = self.last_ack.is_some_and(|at| self.is_answer(at, now));
        let in_avoidance = self.cwnd >= self.ssthresh;
        let share = self.cwnd.saturating_sub(self.mss);
        self.ssthresh = ((self.nxt - self.una) / 2).max(2 * self.mss);
        self.cwnd = if by_ack { self.ssthresh } else { self.mss };
        self.remainder = 0;
        self.fast_recovery = by_ack;
        self.recover = self.nxt;
        (in_avoidance && share > 0).then(|| self.report(share))
    }

    /// A packet towards the sender. Answers its share if a transfer has ended without loss.
    pub(super) fn on_incoming(
        &mut self,
        now: Instant,
        packet: &IncomingPacket,
    ) -> Option<GatewayReport> {
        self.receiver.on_window(packet);
        if let (Some(ack), Some(origin)) = (packet.ack, self.origin) {
            self.on_ack(now, near(self.una, ack.0.wrapping_sub(origin.0)));
        }
        // A request: what was sent before it was another transfer.
        if packet.len > 0 { self.end_transfer() } else { None }
    }

    fn on_ack(&mut self, now: Instant, ack: u64) {
        // A FIN takes a number beyond the last byte; anything further was not seen being sent.
        let ack = ack.min(self.nxt);
        self.last_ack = Some(now);
        if ack <= self.una {
            self.duplicates = self.duplicates.saturating_add(u32::from(self.una < self.nxt));
            return;
        }
        self.duplicates = 0;
        let before = (self.cwnd, self.nxt - self.una);
        self.sample_rtt(now, ack);
        let acked = ack - self.una;
        self.una = ack;
        if self.fast_recovery && ack >= self.recover {
            self.fast_recovery = false;
        } else if !self.fast_recovery {
            self.grow(acked);
        }
        let growth = self.cwnd - before.0;
        let first = !std::mem::replace(&mut self.transfer.clocked, true);
        self.clock = Some(Clock { at: now, cwnd: before.0, outstanding: before.1, growth, first });
        if self.una == self.nxt && self.transfer.begun {
            self.transfer.quiet = Some(now);
        }
    }

    /// What happens at `now` answers an ACK that came at `at`: sooner than another would.
    fn is_answer(&self, at: Instant, now: Instant) -> bool {
        now.saturating_since(at) <= self.srtt() / 8
    }

    /// Drops what is acknowledged; the earliest segment of it that was sent once tells the round trip.
    fn sample_rtt(&mut self, now: Instant, ack: u64) {
        let mut sample = None;
        while let Some(sent) = self.outstanding.front().filter(|sent| sent.end <= ack) {
            if !sent.again && sample.is_none() {
                sample = Some(now.saturating_since(sent.at));
            }
            self.outstanding.pop_front();
        }
        if let Some(sample) = sample {
            self.rtt.on_sample(sample.as_nanos());
        }
    }

    /// RFC 5681 §3.1: slow start, then a segment a round trip.
    fn grow(&mut self, acked: u64) {
        if self.cwnd < self.ssthresh {
            self.cwnd = self.cwnd.saturating_add(acked.min(self.mss));
            return;
        }
        let total = self.remainder.saturating_add(self.mss * self.mss);
        let cwnd = self.cwnd.max(1);
        self.cwnd = self.cwnd.saturating_add(total / cwnd);
        self.remainder = total % cwnd;
    }

    /// What has been sent so far was a transfer: its share, if it met no loss.
    pub(super) fn end_transfer(&mut self) -> Option<GatewayReport> {
        let whole = self.transfer.quiet.is_some() && !self.transfer.loss;
        self.transfer = Transfer::default();
        whole.then(|| self.report(self.cwnd))
    }

    fn report(&self, share: u64) -> GatewayReport {
        GatewayReport { share, rtt: Some(self.srtt()).filter(|rtt| !rtt.is_zero()) }
    }
}

/// The offset near `known` whose low 32 bits are `low`.
fn near(known: u64, low: u32) -> u64 {
    let ahead = low.wrapping_sub(known as u32) as i32;
    known.saturating_add_signed(i64::from(ahead))
}
