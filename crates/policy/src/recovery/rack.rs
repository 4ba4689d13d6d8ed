//! RACK-TLP (RFC 8985) as a Linux 6.x sender with SACK runs it by default.
//!
//! This file is what the driver sees: ACKs, timers, what may be sent. The rest is one file each:
//! `states` how recovery begins, ends and is undone, `detect` which segments are lost, `reordering`
//! how long to wait before saying so, `tail_probe`, `frto` and `undo` whether a timeout or a
//! reduction was spurious, `timers` when to look. [`super::prr`] shapes the window during fast recovery.
//!
//! What the driver is told: entering fast recovery is [`Reduction::Gradual`] (the threshold falls at
//! once; the window follows in [`Report::cwnd`] from the next ACK on, and what may be sent is
//! [`LossRecovery::allowance`] from this one on), a repaired tail loss is [`Reduction::ToSsthresh`],
//! a timeout [`Reduction::ToOneSegment`] with the window in [`Report::cwnd`]: what is still in
//! flight and one segment. A timeout that falls into an episode already answered reports no
//! reduction but still that window; start-up begins in either case. When one report says both `undo`
//! and `congestion`, the undo came first. Every transmission must be told by
//! [`LossRecovery::on_sent`]: that nothing was sent again is proof enough for an undo.
//!
//! The timer of [`RecoveryState::timeout`] is to be served before a retransmission timer that is
//! due at the same instant: a probe goes out in place of the first timeout.

mod detect;
mod frto;
mod later_acks;
mod plain;
mod reordering;
mod repairing;
mod states;
mod tail_probe;
mod timers;
mod undo;

pub use tail_probe::ProbeWait;

use super::dupacks::{DupAcks, LIMITED_TRANSMIT, LimitedTransmit};
use super::prr::Prr;
use super::{
    AtRest, LossRecovery, PlainAck, RecoveryCapabilities, RecoveryContext, RecoveryDescriptor,
    RecoveryEvent, RecoveryState, Reduction, Report, SentInfo, Stance, TimerAction,
};
use crate::ack::{AckInfo, Newest};
use crate::config::{RtoConfig, RtoFloor};
use crate::registry::{Implied, Make, Parameter};
use detect::{Detector, Verdict};
use frto::FRto;
use reordering::{DUP_THRESH, Reordering};
use tail_probe::TailProbe;
use undo::Undo;
use units::{Duration, Instant};

/// How long a receiver may hold back the ACK of a single segment (RFC 8985 §7.2, WCDelAckT). Linux takes its least timeout
/// (`tcp_rto_min`); that of RFC 6298 is of a second, or none at all.
fn delayed_ack(rto: &RtoConfig) -> Duration {
    match rto.floor {
        RtoFloor::Variance => rto.min,
        RtoFloor::Total => Duration::from_millis(200),
    }
}

/// By the time that segments sent later were acknowledged, with tail loss probes.
pub static RACK_TLP: RecoveryDescriptor = RecoveryDescriptor::new(
    "rack",
    "by the time that segments sent later were acknowledged, with tail loss probes",
    "RFC 8985, RFC 6937",
    Make::Alone(|setup| {
        let right_edge = setup.get(&LIMITED_TRANSMIT) == LimitedTransmit::RightEdge;
        let rack = RackTlp::new(delayed_ack(&setup.config.rto)).with_right_edge(right_edge);
        let (probes, probe_wait) = (setup.get(&TAIL_PROBES), setup.get(&PROBE_WAIT));
        let is_gradual = setup.get(&RATE_REDUCTION);
        Box::new(RackTlp { probes, probe_wait, is_gradual, ..rack })
    }),
)
.with(&[&LIMITED_TRANSMIT, &TAIL_PROBES, &PROBE_WAIT, &RATE_REDUCTION])
.implying(Implied::SACK);

static TAIL_PROBES: Parameter<bool> = Parameter::switch("tlp", "on", "rack: tail-loss probes");

static RATE_REDUCTION: Parameter<bool> = Parameter::switch(
    "prr",
    "on",
    "rack: the window falls by what is delivered (PRR); off: at once, as RFC 9002 §7.3.2 allows",
);

/// How long nothing is heard before a tail-loss probe is sent.
pub static PROBE_WAIT: Parameter<ProbeWait> = Parameter::choice(
    "tlp_wait",
    &[("2rtt", ProbeWait::TwoRoundTrips), ("1.5rtt", ProbeWait::OneAndHalf)],
    "2rtt",
    "rack: round trips without an answer before a tail-loss probe",
);

/// Linux's congestion states; the one for ECN is the path's own affair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing dubious.
    Open,
    /// SACKed data or something sent again is outstanding; the window is as in `Open`.
    Disorder,
    /// Fast recovery.
    Recovery,
    /// After a timeout.
    Loss,
}

/// What the policy's timer is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Timer {
    #[default]
    Reordering,
    Probe,
}

/// Whether anything is sent again before the next ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Hold {
    #[default]
    None,
    /// It may prove unnecessary.
    Again,
    /// New data goes first, and its ACK tells (F-RTO).
    ForNewData,
}

/// RACK-TLP with PRR, F-RTO and undo; one value per connection.
#[derive(Clone, Debug)]
pub struct RackTlp {
    delayed_ack: Duration,
    /// Tail-loss probes are sent.
    probes: bool,
    probe_wait: ProbeWait,
    /// The window falls by proportional rate reduction, not at once.
    is_gradual: bool,
    state: State,
    /// `snd_nxt` when the state was entered.
    high: u64,
    highest_sacked: u64,
    detector: Detector,
    reordering: Reordering,
    undo: Undo,
    probe: TailProbe,
    frto: FRto,
    prr: Option<Prr>,
    /// Timeouts in a row.
    timeouts: u32,
    hold: Hold,
    timer: Option<(Instant, Timer)>,
    segments_out: usize,
    head_sent_at: Instant,
    /// Of right-edge recovery.
    duplicates: DupAcks,
    /// Segments that later ACKs of others on a shared path have overtaken.
    overtaken: u32,
}

impl RackTlp {
    /// A new connection's recovery. `delayed_ack` is allowed for the peer's ACK of a single
    /// segment before a probe is sent; Linux takes its minimum retransmission timeout, 200 ms.
    pub const fn new(delayed_ack: Duration) -> Self {
        Self {
            delayed_ack,
            probes: true,
            probe_wait: ProbeWait::TwoRoundTrips,
            is_gradual: true,
            state: State::Open,
            high: 0,
            highest_sacked: 0,
            detector: Detector::new(),
            reordering: Reordering::new(),
            undo: Undo::new(),
            probe: TailProbe::new(),
            frto: FRto::new(),
            prr: None,
            timeouts: 0,
            hold: Hold::None,
            timer: None,
            segments_out: 0,
            head_sent_at: Instant::ZERO,
            duplicates: DupAcks::new(LimitedTransmit::Off),
            overtaken: 0,
        }
    }

    /// The same with right-edge recovery, or without: the first two duplicate ACKs send a new segment each, also where the
    /// window has no room for what they say has left the network.
    #[must_use]
    pub const fn with_right_edge(mut self, on: bool) -> Self {
        let habit = if on { LimitedTransmit::RightEdge } else { LimitedTransmit::Off };
        self.duplicates = DupAcks::new(habit);
        self
    }

    /// Nothing is lost, SACKed or probed, and the ACK advances: most of them.
    #[inline]
    fn is_undisturbed(&self, cx: &RecoveryContext<'_>, ack: &AckInfo) -> bool {
        self.is_at_rest()
            && ack.advanced()
            && !is_dubious(ack)
            && cx.board.is_clean()
            && cx.board.sacked_ranges().is_empty()
    }

    /// What [`RackTlp::digest`] comes to then.
    #[inline]
    fn go_on(&mut self, cx: &RecoveryContext<'_>, ack: &AckInfo) -> Report {
        self.begin_anew();
        if let Some(newest) = ack.progress.newest {
            self.note_delivery(cx, ack, newest);
            self.reordering.adapt(newest.sent_at, ack.now);
        }
        self.set_timer(cx, ack.now, None, true);
        Report { grow: true, stance: Stance::AtRest, ..Report::default() }
    }

    /// Notes a segment that the ACK delivered.
    #[inline]
    fn note_delivery(&mut self, cx: &RecoveryContext<'_>, ack: &AckInfo, delivery: Newest) {
        let rtt = ack.now.saturating_since(delivery.sent_at);
        let spurious = ack.echoes_original || rtt < cx.min_rtt;
        self.detector.on_delivered(delivery, ack.now, spurious);
    }

    /// Digests an ACK, whatever it tells.
    #[inline]
    fn digest(&mut self, cx: &mut RecoveryContext<'_>, ack: &AckInfo) -> Report {
        let mut report = Report::default();
        let was_recovering = self.recovering();
        let head_waited = head_waits(cx);
        self.hold = Hold::None;
        if ack.advanced() {
            self.timeouts = 0;
            self.duplicates.count = 0;
            self.overtaken = 0;
        } else if ack.duplicate {
            self.duplicates.on_duplicate(cx);
        }
        let twice = self.learn(cx, ack);
        self.end_probe(cx, ack, &mut report);
        let verdict = if self.state != State::Open || is_dubious(ack) {
            self.react(cx, ack, &mut report)
        } else {
            Verdict::default()
        };
        let delivered = ack.progress.delivered + twice;
        self.glide(cx, delivered, ack.advanced() && verdict.lost == 0, &mut report);
        let restart = ack.advanced() || delivers_after_head(cx, ack);
        self.set_timer(cx, ack.now, verdict.wait, restart);
        if !ack.advanced() && restart || !head_waited && head_waits(cx) {
            report.timer = TimerAction::Restart;
        }
        let progress = ack.advanced() || self.reordering.is_strong() && delivered > twice;
        report.grow = progress && self.state != State::Recovery;
        report.ended = was_recovering && !self.recovering();
        report.stance = match self.state {
            State::Open if self.is_at_rest() => Stance::AtRest,
            State::Open => Stance::Open,
            _ => Stance::Ask,
        };
        report
    }

    /// Takes in what the ACK delivered: reordering, the newest delivery, duplicates. Answers the
    /// bytes that arrived twice.
    fn learn(&mut self, cx: &RecoveryContext<'_>, ack: &AckInfo) -> u64 {
        let highest = cx.board.highest_sacked();
        // To the end of the highest SACKed segment (`tcp_check_sack_reordering`).
        let high = highest.unwrap_or(ack.una);
        let counts = self.state != State::Loss || self.undo.is_reduced();
        if let Some(low) = ack.progress.lowest_original
            && low < self.highest_sacked
            && counts
        {
            self.reordering.observe(low, high, cx.mss);
        }
        self.highest_sacked = highest.unwrap_or(0);
        // The round trip is that of the last one, newest or not (`tcp_rack_advance`).
        if let Some(newest) = ack.progress.newest {
            self.note_delivery(cx, ack, newest);
        }
        if let Some(last) = ack.progress.last {
            self.note_delivery(cx, ack, last);
        }
        let twice = self.undo.on_dsack(ack, cx.mss);
        if twice > 0 && !self.probe.is_reported_by(ack, cx.mss) {
            self.reordering.on_spurious_retransmission();
        }
        if let Some(newest) = ack.progress.newest {
            self.reordering.adapt(newest.sent_at, ack.now);
        }
        u64::from(twice) * cx.mss
    }

    /// Ends the tail-loss probe; a loss it repaired lowers the window (RFC 8985 §7.4.2).
    fn end_probe(&mut self, cx: &RecoveryContext<'_>, ack: &AckInfo, report: &mut Report) {
        if let Some(reduction) = self.probe.on_ack(ack, cx.mss) {
            report.congestion = Some(reduction);
            self.high = cx.snd_nxt;
            self.open(cx);
        }
    }

    /// Glides the window during fast recovery.
    fn glide(
        &mut self,
        cx: &RecoveryContext<'_>,
        delivered: u64,
        clean: bool,
        report: &mut Report,
    ) {
        if self.state != State::Recovery {
            self.prr = None;
        } else if let Some(prr) = &mut self.prr {
            prr.on_delivered(delivered, cx.board.pipe(), clean);
            if report.congestion.is_none() {
                report.cwnd = Some(prr.window(cx.ssthresh, cx.mss));
            }
        }
    }
}

impl RackTlp {
    fn on_rto(&mut self, cx: &mut RecoveryContext<'_>, now: Instant) -> Report {
        let una = cx.board.segment(0).map_or(cx.snd_nxt, |head| head.start);
        let fresh = !self.recovering();
        let first = self.timeouts == 0;
        self.mark_lost_by_timeout(cx, now);
        if fresh {
            self.reordering.on_rto(cx.board.has_sacked(DUP_THRESH));
        }
        let mut report = Report::default();
        if fresh || una >= self.high || self.state == State::Loss && first {
            self.begin_episode(cx, cx.cwnd);
            report.congestion = Some(Reduction::ToOneSegment);
        }
        report.cwnd = Some(cx.board.pipe() + cx.mss);
        self.frto.begin(fresh || !first);
        self.probe.forget();
        self.state = State::Loss;
        self.high = cx.snd_nxt;
        self.prr = None;
        self.hold = Hold::None;
        self.timer = None;
        self.timeouts = self.timeouts.saturating_add(1);
        report
    }

    /// Linux `tcp_simple_retransmit`: the state after a timeout, with the window as it was, and nothing to undo.
    fn on_smaller_segments(&mut self, cx: &mut RecoveryContext<'_>) -> Report {
        if cx.board.lost() == 0 || self.state == State::Loss {
            return Report::default();
        }
        self.undo.take();
        self.state = State::Loss;
        self.high = cx.snd_nxt;
        self.prr = None;
        self.hold = Hold::None;
        self.timer = None;
        Report::default()
    }

    /// The window that recovery begins with (RFC 6937).
    fn on_reduced(&mut self, cx: &RecoveryContext<'_>) -> Report {
        let prr = self.prr.as_ref().filter(|_| self.state == State::Recovery);
        Report { cwnd: prr.map(|prr| prr.window(cx.ssthresh, cx.mss)), ..Report::default() }
    }

    /// Returns when its timer runs out.
    pub(crate) fn timeout(&self) -> Option<Instant> {
        self.timer.map(|(at, _)| at)
    }

    fn recovering(&self) -> bool {
        matches!(self.state, State::Recovery | State::Loss)
    }

    /// Linux `tcp_xmit_recovery`: if no new data went, F-RTO is over.
    fn on_nothing_new(&mut self, cx: &RecoveryContext<'_>) -> Report {
        if self.hold == Hold::ForNewData && cx.snd_nxt <= self.high {
            self.hold = Hold::None;
            self.frto.begin(false);
        }
        Report::default()
    }

    fn on_timeout(&mut self, cx: &mut RecoveryContext<'_>, now: Instant) -> Report {
        match self.timer.take() {
            Some((_, Timer::Reordering)) => self.on_reordering_timer(cx, now),
            // Not while anything is SACKed (RFC 8985 §7.2), as after an undo: the last segment may be it.
            Some((_, Timer::Probe)) if cx.board.sacked() == 0 && self.probe.request(cx.snd_nxt) => {
                Report { probe: true, timer: TimerAction::Restart, ..Report::default() }
            }
            _ => Report::default(),
        }
    }
}

impl LossRecovery for RackTlp {
    fn capabilities(&self) -> RecoveryCapabilities {
        RecoveryCapabilities {
            needs_sack: true,
            has_timer: true,
            ..RecoveryCapabilities::BY_DUPLICATES
        }
    }

    fn state(&self) -> RecoveryState {
        let recovery_point = self.recovering().then_some(self.high);
        RecoveryState {
            timeout: self.timeout(),
            wants_new_data: self.hold == Hold::ForNewData,
            may_be_needless: self.undo.has_sent_again(),
            is_probing: !self.probe.is_idle(),
            reordering: self.reordering.told(),
            ..RecoveryState::until(recovery_point)
        }
    }

    fn on_ack(&mut self, cx: &mut RecoveryContext<'_>, ack: &AckInfo) -> Report {
        if self.state == State::Recovery {
            if let Some(report) = self.go_on_repairing(cx, ack) {
                return report;
            }
        } else if self.is_undisturbed(cx, ack) {
            return self.go_on(cx, ack);
        }
        self.digest(cx, ack)
    }

    fn on_event(&mut self, cx: &mut RecoveryContext<'_>, event: RecoveryEvent) -> Report {
        match event {
            RecoveryEvent::RetransmissionTimeout { now, .. } => self.on_rto(cx, now),
            RecoveryEvent::Timeout { now } => self.on_timeout(cx, now),
            RecoveryEvent::Reduced => self.on_reduced(cx),
            RecoveryEvent::LaterAcks(news) => self.hear_later_acks(cx, news),
            RecoveryEvent::SmallerSegments => self.on_smaller_segments(cx),
            RecoveryEvent::NothingNew => self.on_nothing_new(cx),
            RecoveryEvent::Opened => {
                self.undo.settle();
                Report::default()
            }
            _ => Report::default(),
        }
    }

    /// What the window leaves free. SACKed and lost segments are not in flight, so every duplicate
    /// ACK lets one segment go: limited transmit (RFC 3042) needs no rule of its own.
    fn allowance(&self, cx: &RecoveryContext<'_>) -> u64 {
        let window = match &self.prr {
            Some(prr) if self.state == State::Recovery && !cx.shared => {
                prr.window(cx.ssthresh, cx.mss)
            }
            _ => cx.cwnd,
        };
        let room = window.saturating_sub(cx.board.pipe());
        if self.recovering() { room } else { room.max(self.duplicates.beyond_right_edge(cx)) }
    }

    fn next_retransmission(&mut self, cx: &mut RecoveryContext<'_>) -> Option<usize> {
        if self.hold == Hold::None { cx.board.next_lost() } else { None }
    }

    fn on_sent(&mut self, sent: &SentInfo) {
        let probe = self.probe.on_sent(sent);
        if let Some(prr) = &mut self.prr {
            prr.on_sent(sent.len);
        }
        if sent.retransmission {
            self.detector.on_retransmitted(sent.now, sent.end);
            self.undo.on_retransmission(probe);
            return;
        }
        if self.segments_out == 0 {
            self.head_sent_at = sent.now;
        }
        self.segments_out += sent.segments;
        if !probe {
            let rto_left = (self.head_sent_at + sent.rto).saturating_since(sent.now);
            let bound = if rto_left.is_zero() { Duration::MAX } else { rto_left };
            self.arm_probe(sent.now, sent.srtt, bound);
        }
    }

    fn on_plain_ack(&mut self, ack: &PlainAck) -> AtRest {
        self.rest_on(ack)
    }
}

/// An ACK that is more than plain progress.
fn is_dubious(ack: &AckInfo) -> bool {
    ack.progress.sacked > 0 || ack.dsack.is_some() || ack.duplicate
}

/// The head is lost and not sent again yet.
fn head_waits(cx: &RecoveryContext<'_>) -> bool {
    let head = cx.board.segment(0);
    head.is_some_and(|s| s.is_lost() && !s.is_retransmission_in_flight())
}

/// The ACK SACKs data that was sent before the head last was: the path is alive, yet the head is
/// due only a timeout after its own transmission.
fn delivers_after_head(cx: &RecoveryContext<'_>, ack: &AckInfo) -> bool {
    let head = cx.board.segment(0).map(|head| head.sent_at);
    ack.progress.sacked > 0 && ack.progress.earliest_sent.is_some_and(|sent| Some(sent) < head)
}
