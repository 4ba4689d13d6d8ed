//! Information of an ACK for others than its connection: the members of a shared path, by the order
//! of sending, and the meter of a path whose policy models it.

use crate::Sender;
use path::{Front, MemberDelivery, Path};
use policy::ack::{AckInfo, AckSample};
use policy::recovery::{MemberEvidence, RecoveryEvent, TimerAction};
use units::Instant;

impl Sender {
    /// Records in a shared path which segment this ACK acknowledges, by its index in the order of
    /// sending.
    ///
    /// A cumulative or selective acknowledgement identifies it. RFC 7323 echoes an old timestamp on
    /// duplicates, so without SACK these are assigned by the order of sending (Balakrishnan et al.
    /// 1998, note 2). The n-th is for the n-th segment after the hole, or a later one.
    #[cold]
    pub(crate) fn note_arrival(&mut self, path: &mut Path, info: &AckInfo) -> Option<u64> {
        if info.advanced() {
            self.duplicates = 0;
        }
        let arrived = match info.progress.newest {
            Some(newest) => Some((newest.order, newest.sent_at)),
            None if info.duplicate => {
                self.duplicates += 1;
                let n = (self.duplicates as usize).min(self.board.len() - 1);
                // A spuriously retransmitted segment makes a duplicate too: within less than a
                // round trip, a segment cannot have been delivered.
                let arrived = self.board.segment(n).map(|s| (s.order, s.sent_at));
                let least = path.rtt().min_rtt();
                arrived.filter(|(_, sent_at)| info.now.saturating_since(*sent_at) >= least)
            }
            None => None,
        };
        let (order, sent_at) = arrived?;
        if let Some(log) = path.log() {
            log.note_arrival(order, sent_at);
        }
        Some(order)
    }

    /// State of this member's oldest outstanding segments, for the path's other members.
    pub fn front(&self) -> Front {
        let Some(lowest) = self.board.segment(0) else { return Front::EMPTY };
        let waiting = lowest.is_lost() && !lowest.is_retransmission_in_flight();
        let busy = self.recovery.state().is_busy || waiting || lowest.is_sacked();
        let mut front = Front { busy, sent_at: lowest.sent_at, ..Front::EMPTY };
        for (slot, segment) in front.orders.iter_mut().zip(self.board.iter()) {
            *slot = segment.order;
        }
        if let Some(next) = self.board.segment(1) {
            let two = u64::from(lowest.len) + u64::from(next.len);
            front.ack_due = two >= 2 * self.terms.mss || next.is_sacked();
        }
        front
    }

    /// Processes the ACKs of other members that concern this one's segments.
    pub fn on_later_acks(
        &mut self,
        now: Instant,
        path: &mut Path,
        evidence: MemberEvidence,
        may_send: bool,
    ) {
        self.outstanding_before_ack = self.board.outstanding() + path.left_by_ack();
        let (recovery, mut cx) = self.recovery_parts(path, may_send);
        let report = recovery.on_event(&mut cx, RecoveryEvent::LaterAcks(evidence));
        self.settle_in_flight(path);
        self.apply_report(now, path, &report, may_send);
        if report.timer == TimerAction::Restart {
            self.restart_timer(now, path);
        }
    }

    /// Reports the bytes that the ACK delivered to the path's meter, and through it to the policy
    /// that models the path. `losses_before`: on the scoreboard before it; `old`: it is for data
    /// sent before the window of a shared path fell.
    #[cold]
    pub(crate) fn meter(
        &mut self,
        path: &mut Path,
        sample: &mut AckSample,
        info: &AckInfo,
        losses_before: u64,
        old: bool,
    ) {
        let recovering = if path.is_shared() { old } else { self.recovering() };
        let marks = self.marks.get_or_insert_default();
        let losses = self.board.losses();
        path.meter(sample, info, MemberDelivery { marks, losses_before, losses, recovering });
        match self.board.segment(0) {
            None => marks.clear(),
            // A retransmission is sent later than the segments that follow it.
            Some(head) if !head.was_retransmitted() => marks.forget_before(head.order),
            Some(_) => {}
        }
    }
}
