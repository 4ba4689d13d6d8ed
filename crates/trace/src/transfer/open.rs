//! A transfer under way: its report so far, and time of which only what follows tells what it was.

use super::draft::Draft;
use super::shares::{TimeShare, TimeShares};
use super::trail::WaitTrail;
use super::wait::SenderState;
use crate::kinds::RetransmissionKind;
use units::{Duration, Instant};

/// A transfer under way. What most packets look at lies together, from the end of the report to the middle of the trail.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct OpenTransfer {
    /// Time in which the pacer kept data back, by what that counts as; no waiting if no more data follows. Most senders do not pace.
    pub(super) pacing: Option<Box<TimeShares>>,
    pub(super) report: Draft,
    /// Time in which the window had room; the application's, if more data follows.
    pub(super) room: Duration,
    /// Time since all was acknowledged; a pause, if more data follows.
    pub(super) done: Duration,
    /// Of that, time in which the client's window was shut: not in `done`.
    pub(super) shut: Duration,
    pub(super) answering: bool,
    /// Part of the response was acknowledged: its first window is over.
    pub(super) acked: bool,
    /// There is some time in `pacing`.
    pub(super) has_pacing: bool,
    /// While the window has room: how long the pacer keeps data back, and what that counts as.
    pub(super) paced: Option<(Instant, TimeShare)>,
    /// What the path carried meanwhile.
    pub(super) trail: WaitTrail,
}

impl OpenTransfer {
    /// Over a path that takes `rtt` there and back, as far as is known.
    pub(super) fn new(began: Instant, rtt: Duration) -> Self {
        Self {
            report: Draft { began, ..Draft::default() },
            room: Duration::ZERO,
            done: Duration::ZERO,
            shut: Duration::ZERO,
            answering: false,
            acked: false,
            paced: None,
            pacing: None,
            has_pacing: false,
            trail: WaitTrail::new(rtt),
        }
    }

    /// Notes what the sender knows.
    #[inline]
    pub(super) fn note(&mut self, sender: &SenderState, min_rtt: Duration) {
        self.report.mss = sender.mss;
        self.report.srtt = sender.srtt;
        self.report.min_rtt = min_rtt;
        self.report.last_window = sender.cwnd;
        if !self.acked {
            self.report.first_window = sender.cwnd;
        }
        if sender.paced_until.is_some() || self.paced.is_some() {
            self.note_pacing(sender);
        }
    }

    fn note_pacing(&mut self, sender: &SenderState) {
        if let Some(until) = sender.paced_until.max(self.paced.map(|(until, _)| until)) {
            let kept_by =
                if sender.slow_start { TimeShare::SlowStart } else { TimeShare::Avoidance };
            self.paced = Some((until, kept_by));
        }
    }

    /// More data follows: the window had room because the application or the pacer kept data back, and where the client's was shut it
    /// waited for that.
    #[inline]
    pub(super) fn end_pause(&mut self) {
        if !self.shut.is_zero() {
            self.report.shares.add(TimeShare::ReceiverWindow, std::mem::take(&mut self.shut));
        }
        let pause = std::mem::take(&mut self.room) + std::mem::take(&mut self.done);
        self.trail.name_room(TimeShare::Application);
        self.report.shares.add(TimeShare::Application, pause);
        if std::mem::take(&mut self.has_pacing)
            && let Some(pacing) = &mut self.pacing
        {
            self.report.shares.take_all(pacing);
        }
    }

    /// All that an answer waits for at the moment is its application.
    #[inline]
    pub(super) const fn may_go_on(&self) -> bool {
        // One branch for both, since every data segment asks.
        let is_pausing = self.shut.as_nanos() | self.done.as_nanos() != 0;
        self.answering && !self.has_pacing && !is_pausing && self.paced.is_none()
    }

    /// As [`OpenTransfer::had_room`] for `time` up to `now`, and [`OpenTransfer::end_pause`] then.
    #[inline]
    pub(super) fn go_on(&mut self, now: Instant, time: Duration) {
        let pause = std::mem::take(&mut self.room) + time;
        self.trail.note_application(now, time);
        self.report.shares.add(TimeShare::Application, pause);
    }

    /// Time that the pacer took since the last new data.
    pub(super) fn paced_for(&self) -> Duration {
        self.pacing.as_ref().map_or(Duration::ZERO, |pacing| pacing.total())
    }

    /// Something goes again that was last sent at `last_sent`. Since then the transfer has waited for that to be found
    /// lost, whatever else its sender waited for.
    pub(super) fn find_loss(&mut self, kind: RetransmissionKind, last_sent: Option<Instant>) {
        let repair = match kind {
            RetransmissionKind::Timeout => TimeShare::Timeout,
            _ => TimeShare::Recovery,
        };
        self.trail.name_room(repair);
        let searched = std::mem::take(&mut self.room) + self.paced_for();
        self.pacing = None;
        self.report.shares.add(repair, searched);
        let Some(since) = last_sent else { return };
        for (waited, time) in self.trail.claim(since, TimeShare::Recovery) {
            self.report.shares.shift(waited, TimeShare::Recovery, time);
        }
    }

    /// The window had room for `time`, up to `now`.
    #[inline]
    pub(super) fn had_room(&mut self, now: Instant, time: Duration) {
        if self.paced.is_some() {
            return self.had_paced_room(now, time);
        }
        self.room += time;
        self.trail.note(now, time, None);
    }

    /// The same where the pacer has kept data back.
    #[inline(never)]
    fn had_paced_room(&mut self, now: Instant, time: Duration) {
        let began = now - time;
        let Some((until, kept_by)) = self.paced else { return };
        let paced = until.saturating_since(began).min(time);
        if !paced.is_zero() {
            self.pacing.get_or_insert_default().add(kept_by, paced);
            self.has_pacing = true;
        }
        self.room += time.saturating_sub(paced);
        self.trail.note(now, time, (paced > time / 2).then_some(kept_by));
    }
}
