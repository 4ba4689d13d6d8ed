//! RACK-TLP (RFC 8985) as a Linux 6.x sender with SACK runs it by default.
//!
//! This file has the interface: ACKs, timers, the allowance. The rest is one file each. `states`
//! has the begin, end and undo of recovery; `detect` finds lost segments; `reordering` decides how
//! long to wait before that. `tail_probe`, `frto` and `undo` decide if a timeout or a reduction was
//! spurious, and `timers` when to check. [`super::prr`] shapes the window during fast recovery.
//!
//! Reports to the path: entering fast recovery is [`Reduction::Gradual`]. The threshold is reduced
//! at once; the window follows in [`Report::cwnd`] from the next ACK on, and
//! [`LossRecovery::allowance`] from this one on. A repaired tail loss is [`Reduction::ToSsthresh`].
//! A timeout is [`Reduction::ToOneSegment`] with the window in [`Report::cwnd`]: the bytes still in
//! flight and one segment. A timeout within an episode already answered reports no reduction but
//! still that window; start-up begins in either case. If one report has both `undo` and
//! `congestion`, the undo came first. Every transmission must be reported by
//! [`LossRecovery::on_sent`], because an undo may rely on the fact that nothing was retransmitted.
//!
//! The timer of [`RecoveryState::timeout`] is to be served before a retransmission timer that is
//! due at the same instant: a probe goes out in place of the first timeout.

mod detect;
mod digest;
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
    RecoveryEvent, RecoveryState, Reduction, Report, SentInfo, TimerAction,
};
use crate::ack::AckInfo;
use crate::config::{RtoConfig, RtoFloor};
use crate::registry::{Implied, Make, Parameter};
use detect::Detector;
use frto::FRto;
use reordering::{DUP_THRESH, Reordering};
use tail_probe::TailProbe;
use undo::Undo;
use units::{Duration, Instant};

/// Returns the time for which a receiver may delay the ACK of a single segment (RFC 8985 §7.2,
/// WCDelAckT). Linux uses its minimum timeout (`tcp_rto_min`); that of RFC 6298 is a second, or
/// none at all.
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
    Make::Alone(&|setup| {
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

/// Time without an ACK before a tail-loss probe is sent.
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
    /// SACKed data or a retransmission is outstanding; the window is as in `Open`.
    Disorder,
    /// Fast recovery.
    Recovery,
    /// Repair after a timeout.
    Loss,
}

/// Purpose of the policy's timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Timer {
    #[default]
    Reordering,
    Probe,
}

/// Retransmissions that wait for the next ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum HeldRetransmissions {
    #[default]
    None,
    /// It may prove unnecessary.
    Again,
    /// New data is sent first, and its ACK decides (F-RTO).
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
    hold: HeldRetransmissions,
    timer: Option<(Instant, Timer)>,
    segments_out: usize,
    head_sent_at: Instant,
    /// State of right-edge recovery.
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
            hold: HeldRetransmissions::None,
            timer: None,
            segments_out: 0,
            head_sent_at: Instant::ZERO,
            duplicates: DupAcks::new(LimitedTransmit::Off),
            overtaken: 0,
        }
    }

    /// Returns the recovery with right-edge recovery, or without. With it the first two duplicate
    /// ACKs send a new segment each, even where the window has no room for the segments that have
    /// left the network.
    #[must_use]
    pub const fn with_right_edge(mut self, on: bool) -> Self {
        let habit = if on { LimitedTransmit::RightEdge } else { LimitedTransmit::Off };
        self.duplicates = DupAcks::new(habit);
        self
    }
}

impl RackTlp {
    fn on_rto(&mut self, cx: &mut RecoveryContext<'_>, now: Instant) -> Report {
        let una = cx.board.segment(0).map_or(cx.snd_nxt, |head| head.start);
        let fresh = !self.is_recovering();
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
        self.hold = HeldRetransmissions::None;
        self.timer = None;
        self.timeouts = self.timeouts.saturating_add(1);
        report
    }

    /// Linux `tcp_simple_retransmit`: enters the state after a timeout, with the window unchanged,
    /// and nothing to undo.
    fn on_smaller_segments(&mut self, cx: &mut RecoveryContext<'_>) -> Report {
        if cx.board.lost() == 0 || self.state == State::Loss {
            return Report::default();
        }
        self.undo.take();
        self.state = State::Loss;
        self.high = cx.snd_nxt;
        self.prr = None;
        self.hold = HeldRetransmissions::None;
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

    fn is_recovering(&self) -> bool {
        matches!(self.state, State::Recovery | State::Loss)
    }

    /// Linux `tcp_xmit_recovery`: ends F-RTO if no new data was sent.
    fn on_nothing_new(&mut self, cx: &RecoveryContext<'_>) -> Report {
        if self.hold == HeldRetransmissions::ForNewData && cx.snd_nxt <= self.high {
            self.hold = HeldRetransmissions::None;
            self.frto.begin(false);
        }
        Report::default()
    }

    fn on_timeout(&mut self, cx: &mut RecoveryContext<'_>, now: Instant) -> Report {
        match self.timer.take() {
            Some((_, Timer::Reordering)) => self.on_reordering_timer(cx, now),
            // No probe while anything is SACKed (RFC 8985 §7.2), as after an undo: the last segment
            // may be SACKed.
            Some((_, Timer::Probe)) if cx.board.sacked() == 0 => {
                match self.probe.request(cx.snd_nxt) {
                    true => {
                        Report { probe: true, timer: TimerAction::Restart, ..Report::default() }
                    }
                    // A probe is out: the timeout of the head is next (`tcp_send_loss_probe`).
                    false => Report { timer: TimerAction::FromHead, ..Report::default() },
                }
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
        let recovery_point = self.is_recovering().then_some(self.high);
        RecoveryState {
            repairs_timeout: self.state == State::Loss,
            is_disordered: self.state == State::Disorder,
            timeout: self.timeout(),
            wants_new_data: self.hold == HeldRetransmissions::ForNewData,
            may_be_needless: self.undo.has_sent_again(),
            is_probing: !self.probe.is_idle(),
            reordering: self.reordering.reported(),
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
            RecoveryEvent::LaterAcks(evidence) => self.on_later_acks(cx, evidence),
            RecoveryEvent::SmallerSegments => self.on_smaller_segments(cx),
            RecoveryEvent::NothingNew => self.on_nothing_new(cx),
            RecoveryEvent::Opened => {
                self.undo.clear_retransmissions();
                Report::default()
            }
            _ => Report::default(),
        }
    }

    /// Returns the free room in the window. SACKed and lost segments are not in flight, so every
    /// duplicate ACK releases one segment: limited transmit (RFC 3042) needs no rule of its own.
    fn allowance(&self, cx: &RecoveryContext<'_>) -> u64 {
        let room = match &self.prr {
            Some(prr) if self.state == State::Recovery && !cx.shared => {
                prr.window(cx.ssthresh, cx.mss).saturating_sub(digest::whole_pipe(cx))
            }
            _ => cx.cwnd.saturating_sub(cx.board.pipe()),
        };
        if self.is_recovering() { room } else { room.max(self.duplicates.beyond_right_edge(cx)) }
    }

    fn next_retransmission(&mut self, cx: &mut RecoveryContext<'_>) -> Option<usize> {
        if self.hold == HeldRetransmissions::None { cx.board.next_lost() } else { None }
    }

    fn on_sent(&mut self, sent: &SentInfo) {
        let probe = self.probe.on_sent(sent);
        if let Some(prr) = &mut self.prr {
            prr.on_sent(sent.segments as u64);
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
