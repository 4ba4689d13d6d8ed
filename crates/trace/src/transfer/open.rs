//! A transfer in progress: its report so far, and time whose cause only later packets show.

use super::draft::Draft;
use super::pause::{AT_ONCE, AckClock};
use super::plateau::Plateau;
use super::shares::{TimeShare, TimeShares};
use super::tls::TlsHandshake;
use super::trail::WaitTrail;
use super::wait::{Flight, SenderState};
use crate::kinds::RetransmissionKind;
use units::{Duration, Instant};

/// Size of a request after an answer up to which it may be control frames, bytes. HTTP/2's frames
/// for settings, windows and pings have 9 to 17 bytes (RFC 9113 §6.5, §6.7, §6.9). In a TLS record
/// of their own they have 22 to 29 more (RFC 8446 §5.2). A request as short is rare.
const CONTROL_BYTES: u64 = 64;

/// A transfer in progress. The fields that most packets read are adjacent, from the end of the
/// report to the middle of the trail.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct OpenTransfer {
    /// Time in which the pacer kept data back, by the cause that gets it; no waiting if no more
    /// data follows. Most senders do not pace.
    pub(super) pacing: Option<Box<TimeShares>>,
    pub(super) report: Draft,
    /// Time since the last data in which the window had room. Later packets show its cause.
    pub(super) room: Duration,
    /// Time since all was acknowledged; a pause, if more data follows.
    pub(super) done: Duration,
    /// Part of the time since then in which the client's window was shut; it is not in `done`.
    pub(super) shut: Duration,
    /// Idle time before the first data of this transfer, which has no request.
    pub(super) resumed: Duration,
    /// The TLS handshake before it.
    pub(super) tls: Option<Box<TlsHandshake>>,
    /// Data right after the TLS handshake: its time, and its bytes. It is a ticket, or the answer
    /// if there is no other.
    pub(super) ticket: Option<(Instant, u64)>,
    /// The time of the request by cause, if it was large.
    pub(super) upload: Option<Box<TimeShares>>,
    /// The time at which the client closed its side.
    pub(super) left: Option<Instant>,
    /// True if the server has probed a shut window: it has more to send.
    pub(super) is_probed: bool,
    /// True if there was an answer before it on its connection.
    pub(super) follows: bool,
    pub(super) answering: bool,
    /// True if part of the response was acknowledged: its first window is over.
    pub(super) acked: bool,
    /// True if there is some time in `pacing`.
    pub(super) has_pacing: bool,
    /// The time until which the pacer keeps data back while the window has room, and its cause.
    pub(super) paced: Option<(Instant, TimeShare)>,
    pub(super) clock: AckClock,
    pub(super) plateau: Plateau,
    /// Time in which the link was full.
    pub(super) full: Duration,
    /// Bytes that the path carried meanwhile.
    pub(super) trail: WaitTrail,
}

impl OpenTransfer {
    /// Creates a transfer on a path with the round trip `rtt`, as far as that is known.
    pub(super) fn new(began: Instant, rtt: Duration) -> Self {
        Self {
            report: Draft { began, ..Draft::default() },
            room: Duration::ZERO,
            done: Duration::ZERO,
            shut: Duration::ZERO,
            resumed: Duration::ZERO,
            tls: None,
            ticket: None,
            upload: None,
            left: None,
            is_probed: false,
            follows: false,
            answering: false,
            acked: false,
            paced: None,
            pacing: None,
            has_pacing: false,
            clock: AckClock::default(),
            plateau: Plateau::default(),
            full: Duration::ZERO,
            trail: WaitTrail::new(rtt),
        }
    }

    /// Returns true if all data of the client may be control frames, and no request.
    pub(super) const fn may_be_control(&self) -> bool {
        self.follows && !self.answering && self.report.request_bytes <= CONTROL_BYTES
    }

    /// Notes the sender's state.
    #[inline]
    pub(super) fn note_sender_state(&mut self, sender: &SenderState) {
        self.clock.note_sender_state(sender);
        self.report.mss = sender.mss;
        self.report.srtt = sender.srtt;
        self.note_window(sender.flight.cwnd);
        if sender.paced_until.is_some() || self.paced.is_some() {
            self.note_pacing(sender);
        }
    }

    /// Notes the changes by a segment of a sender without a pacer.
    #[inline]
    pub(super) fn note_flight(&mut self, flight: &Flight) {
        self.clock.note_flight(flight);
        // Data may show that the window is larger than the rebuilt one.
        self.note_window(flight.cwnd);
    }

    #[inline]
    const fn note_window(&mut self, cwnd: u64) {
        if !self.acked {
            self.report.first_window = cwnd;
        }
    }

    fn note_pacing(&mut self, sender: &SenderState) {
        if let Some(until) = sender.paced_until.max(self.paced.map(|(until, _)| until)) {
            let kept_by =
                if sender.slow_start { TimeShare::SlowStart } else { TimeShare::Avoidance };
            self.paced = Some((until, kept_by));
        }
    }

    /// Ends a pause with `bytes` of new data. The time in which the window had room, or all was
    /// acknowledged, is given to the cause that kept the data back.
    #[inline]
    pub(super) fn end_pause(&mut self, now: Instant, bytes: u64) {
        if !self.shut.is_zero() {
            self.report.shares.add(TimeShare::ReceiverWindow, std::mem::take(&mut self.shut));
        }
        let pause = std::mem::take(&mut self.room) + std::mem::take(&mut self.done);
        self.plateau.on_data(now, &self.report, &self.clock);
        let cause = self.clock.pause_cause(now, bytes, pause, &self.report);
        self.trail.name_room(cause);
        self.report.shares.add(cause, pause);
        if std::mem::take(&mut self.has_pacing)
            && let Some(pacing) = &mut self.pacing
        {
            self.report.shares.take_all(pacing);
        }
    }

    /// Returns true if only the room of the window keeps the answer back at the moment.
    #[inline]
    pub(super) const fn may_go_on(&self) -> bool {
        // A single branch checks both, since every data segment asks.
        let is_pausing = self.shut.as_nanos() | self.done.as_nanos() != 0;
        self.answering && !self.has_pacing && !is_pausing && self.paced.is_none()
    }

    /// Does the same as [`OpenTransfer::had_room`] for `time` up to `now`, and
    /// [`OpenTransfer::end_pause`] then.
    #[inline]
    pub(super) fn go_on(&mut self, now: Instant, time: Duration, bytes: u64) {
        if time <= AT_ONCE && self.room.is_zero() && self.trail.prolong_last_wait(now) {
            self.report.shares.add(TimeShare::Path, time);
            if now.saturating_since(self.report.sent) > AT_ONCE {
                self.plateau.on_data(now, &self.report, &self.clock);
            }
            return;
        }
        self.assign_cause(now, time, bytes);
    }

    #[inline(never)]
    fn assign_cause(&mut self, now: Instant, time: Duration, bytes: u64) {
        let pause = std::mem::take(&mut self.room) + time;
        self.plateau.on_data(now, &self.report, &self.clock);
        let cause = self.clock.pause_cause(now, bytes, pause, &self.report);
        self.trail.note_named(now, time, cause);
        self.report.shares.add(cause, pause);
    }

    /// Returns the time that the pacer took since the last new data.
    pub(super) fn paced_for(&self) -> Duration {
        self.pacing.as_ref().map_or(Duration::ZERO, |pacing| pacing.total())
    }

    /// Handles a retransmission of data that was last sent at `last_sent`. Since then the transfer
    /// has waited for the detection of the loss, whatever else its sender waited for.
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
        for (waited, time) in self.trail.reassign_waits(since, TimeShare::Recovery) {
            self.report.shares.move_time(waited, TimeShare::Recovery, time);
        }
    }

    /// Notes that the window had room for `time`, up to `now`.
    #[inline]
    pub(super) fn had_room(&mut self, now: Instant, time: Duration) {
        if self.paced.is_some() {
            return self.had_paced_room(now, time);
        }
        self.room += time;
        self.trail.note_wait(now, time, None);
    }

    /// Notes that the window had room for `time`, up to `now`, and the pacer has kept data back.
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
        self.trail.note_wait(now, time, (paced > time / 2).then_some(kept_by));
    }
}
