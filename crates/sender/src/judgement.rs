//! Loss recovery, and the members of a shared path, judge an ACK, and the path gets the result.
//!
//! The report on a timeout takes the same way ([`Sender::apply_report`]). An ECN echo is answered
//! as a loss (RFC 3168 §6.1.2).

use crate::Sender;
use crate::acknowledgement::{AckOutcome, Acknowledgement, RecoveryOutcome};
use path::Path;
use policy::ack::{AckInfo, AckSample};
use policy::config::EcnMode;
use policy::congestion::CongestionEvent;
use policy::recovery::{PlainAck, RecoveryEvent, Reduction, Report, SkippableCalls, TimerAction};
use policy::window::Cause;
use units::Instant;

/// An ACK as it was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckReading<'a> {
    pub(crate) info: &'a AckInfo,
    pub(crate) sample: &'a AckSample,
    /// It reports new marks.
    pub(crate) is_marked: bool,
    /// The order of the sender's lowest segment before it, on a shared path.
    pub(crate) lowest: Option<u64>,
}

/// Result of recovery, and of the members of a shared path, for an ACK.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckVerdict {
    /// The window may grow if it acknowledges data.
    pub(crate) grow: bool,
    /// It is for data sent before the window of a shared path fell.
    pub(crate) old: bool,
    /// Bytes delivered again, which count in this growth.
    pub(crate) duplicate_bytes: u64,
    pub(crate) timer: TimerAction,
}

impl Sender {
    /// Asks recovery, and on a shared path the other members, for their result on this ACK.
    pub(crate) fn process_losses(
        &mut self,
        path: &mut Path,
        ack: &Acknowledgement<'_>,
        reading: AckReading<'_>,
        outcome: &mut AckOutcome,
    ) -> AckVerdict {
        let AckReading { info, sample, is_marked, lowest } = reading;
        let arrived = if path.is_shared() { self.note_arrival(path, info) } else { None };
        let old = arrived.is_some_and(|order| path.is_before_reduction(self.origin.client, order));
        let (recovery, mut cx) = self.recovery_parts(path, ack.may_send);
        let report = recovery.on_ack(&mut cx, info);
        if self.retransmit_stamp.is_some() && !self.recovery.state().may_be_needless {
            self.retransmit_stamp = None;
        }
        self.settle_in_flight(path);
        outcome.found = RecoveryOutcome::of(&report);
        self.apply_report(info.now, path, &report, ack.may_send);
        if path.is_shared() {
            path.on_member_ack(sample, arrived, info.advanced());
        }
        if is_marked {
            self.on_marks(info.now, path, arrived, outcome);
        }
        let held = arrived.is_some_and(|order| path.withholds_growth(order, lowest));
        let grow = report.grow && !is_marked && !old && !held;
        AckVerdict { grow, old, duplicate_bytes: report.duplicate_bytes, timer: report.timer }
    }

    /// True if recovery is at rest, and stays so by a plain ACK on a path of its own. Recovery is
    /// notified, unless it needs nothing. `is_once`: all that the ACK acknowledges was sent once,
    /// and the ACK is the first to report it.
    #[inline]
    pub(crate) fn rests_on(
        &mut self,
        path: &Path,
        info: &AckInfo,
        is_once: bool,
        may_send: bool,
    ) -> bool {
        match self.recovery.skippable_calls() {
            SkippableCalls::Idle => {
                debug_assert!(self.is_idle_for(path, info, may_send));
                true
            }
            SkippableCalls::AtRest if is_once && self.board.sacked_ranges().is_empty() => {
                self.notify_plain_ack(path, info);
                true
            }
            _ => false,
        }
    }

    #[inline]
    fn notify_plain_ack(&mut self, path: &Path, info: &AckInfo) {
        debug_assert!(info.progress.partial == 0 && !info.progress.again);
        let (now, newest) = (info.now, info.progress.newest);
        let plain = PlainAck {
            now,
            newest: newest.map_or((now, info.una), |newest| (newest.sent_at, newest.end)),
            head_sent_at: self.board.segment(0).map(|head| head.sent_at),
            segments_out: self.board.len(),
            srtt: path.rtt().srtt(),
            rto: path.rto(self.backoff()),
        };
        self.recovery.on_plain_ack(&plain);
    }

    /// Carries a recovery report to the path and the counters.
    #[inline(always)]
    pub(crate) fn apply_report(
        &mut self,
        now: Instant,
        path: &mut Path,
        report: &Report,
        may_send: bool,
    ) {
        if report.is_quiet() {
            return;
        }
        if let Some(cwnd) = report.imposes().filter(|_| !path.is_shared()) {
            return path.impose(cwnd);
        }
        if report.congestion.is_some() {
            self.counts.fast_retransmits += 1;
            self.timer.stop_timing();
        }
        let event = self.congestion_event(now, path);
        self.apply_news(path, report, event, may_send);
    }

    /// Like [`Sender::apply_report`], for the report on a timeout.
    #[cold]
    pub(crate) fn apply_timeout(
        &mut self,
        now: Instant,
        path: &mut Path,
        report: &Report,
        may_send: bool,
    ) {
        if !report.is_quiet() {
            let event = CongestionEvent { timeout: true, ..self.congestion_event(now, path) };
            self.apply_news(path, report, event, may_send);
        }
    }

    #[cold]
    fn apply_news(
        &mut self,
        path: &mut Path,
        report: &Report,
        event: CongestionEvent,
        may_send: bool,
    ) {
        if report.undo {
            self.counts.undos += 1;
        }
        if report.congestion.is_some() {
            // One reaction per window, whether by loss or mark (RFC 3168 §6.1.2).
            self.note_ecn_reaction();
        }
        let event = CongestionEvent { repeated: report.repeated, ..event };
        if path.is_shared() {
            let lowest = self.board.segment(0).map_or(u64::MAX, |s| s.order);
            path.on_member_report(report, &event, self.origin, lowest);
        } else {
            path.on_report(report, &event);
        }
        if !path.is_shared() && report.congestion == Some(Reduction::Gradual) {
            let (recovery, mut cx) = self.recovery_parts(path, may_send);
            let report = recovery.on_event(&mut cx, RecoveryEvent::Reduced);
            if report.cwnd.is_some() {
                path.on_report(&report, &event);
            }
        }
    }

    fn congestion_event(&self, now: Instant, path: &Path) -> CongestionEvent {
        CongestionEvent {
            now,
            // Limited transmit exceeded the window; that does not count (RFC 5681 §3.2 step 2).
            flight_size: (self.outstanding_before_ack + self.others_in_flight(path))
                .min(path.usable_cwnd()),
            usable_window: path.usable_cwnd().min(self.largest_window.max(self.terms.mss)),
            timeout: false,
            repeated: false,
            losing_clients: 1,
        }
    }

    /// Marks are answered as a loss would be, once per window, with nothing to retransmit (RFC 3168
    /// §6.1.2; RFC 9768 §3.2.2.5 for Accurate ECN).
    #[cold]
    pub(crate) fn on_marks(
        &mut self,
        now: Instant,
        path: &mut Path,
        arrived: Option<u64>,
        outcome: &mut AckOutcome,
    ) {
        if self.recovering() || self.una <= self.ecn_recover {
            return;
        }
        self.note_ecn_reaction();
        let client = self.origin.client;
        if arrived.is_some_and(|order| path.is_before_reduction(client, order)) {
            return;
        }
        self.counts.ecn_reductions += 1;
        let event = self.congestion_event(now, path);
        // A mark without a known segment concerns data sent since the last reduction.
        let order = arrived.unwrap_or(u64::MAX);
        path.reduce_for(client, order, Reduction::ToSsthresh, &event, Cause::Ecn);
        outcome.found.any = true;
    }

    /// The window is reduced: marks of the same window change nothing more, and a peer with classic
    /// ECN is notified.
    const fn note_ecn_reaction(&mut self) {
        self.ecn_recover = self.nxt;
        self.cwr_pending = matches!(self.terms.ecn, EcnMode::Classic);
    }
}
