//! Evidence on a shared path: ACKs of other connections about this one's segments (Balakrishnan et
//! al. 1998 §5.3).
//!
//! They replace the later segments for which RACK waits on its own connection. A connection with
//! few segments under way has none, and would wait for its tail-loss probe.

use super::super::dupacks::DUP_THRESH;
use super::super::{MemberEvidence, RecoveryContext, Report, TimerAction};
use super::RackTlp;

impl RackTlp {
    /// The head is lost: fast recovery begins, as if a segment sent later had been delivered.
    pub(super) fn on_later_acks(
        &mut self,
        cx: &mut RecoveryContext<'_>,
        evidence: MemberEvidence,
    ) -> Report {
        let mut report = Report::default();
        if let MemberEvidence::Overtaken(segments) = evidence {
            self.overtaken = self.overtaken.saturating_add(segments);
        }
        let lost = evidence == MemberEvidence::Lost || self.overtaken >= DUP_THRESH;
        if !lost || self.is_recovering() || cx.board.mark_lost(0) == 0 {
            return report;
        }
        self.overtaken = 0;
        self.enter_recovery(cx, &mut report);
        self.glide(cx, cx.mss, false, &mut report);
        self.timer = None;
        report.timer = TimerAction::Restart;
        report
    }
}
