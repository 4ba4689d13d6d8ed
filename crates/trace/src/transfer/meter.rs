//! Cuts the time of a transfer at every packet and gives each piece to a cause.
//!
//! What a piece was spent on is known from the state of the sender after the packet before, or else from the
//! packet that ends it: a timeout ends a wait for the timer, new data that no ACK let go ends a pause.

use super::TransferReport;
use super::shares::{TimeShare, TimeShares};
use super::trail::WaitTrail;
use super::train::AckTrains;
use crate::kinds::{Retransmission, RetransmissionKind};
use fold::{Foldable, Folding};
use units::{Duration, Instant};

/// What passed: what ends a piece of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passage {
    /// Payload of the request.
    Request { bytes: u64 },
    /// An ACK that newly acknowledged `acked` bytes of payload, and told that `delivered` bytes have arrived.
    Acked { acked: u64, delivered: u64 },
    /// New payload of the response.
    Response { bytes: u64 },
    /// A retransmission of what was last sent at `last_sent`.
    Again { kind: RetransmissionKind, last_sent: Option<Instant> },
    /// The request once more: the one before was lost.
    AskedAgain,
    /// The client's window, which was shut, has opened with nothing outstanding.
    WindowOpened,
}

impl Passage {
    pub(crate) const fn again(again: &Retransmission) -> Self {
        Self::Again { kind: again.kind, last_sent: again.last_sent }
    }
}

/// What ends a piece of time, as far as that says what it was spent on.
enum EndOfPiece {
    Other,
    Request,
    Response,
    /// An ACK that tells that so many bytes have arrived.
    Arrived(u64),
    Again(RetransmissionKind),
}

/// What a sender waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SenderWait {
    /// All is acknowledged.
    Nothing,
    /// All is acknowledged, and the receiver's window has no room for a segment.
    Shut,
    /// The handshake.
    Opening,
    /// A repair.
    Repair,
    /// The window, below the threshold.
    SlowStart,
    /// The window.
    Avoidance,
    /// The receiver's window.
    Receiver,
    /// The window has room: the application has no more, or has sent all.
    Application,
}

/// What a meter needs to know of a sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SenderState {
    pub(crate) wait: SenderWait,
    pub(crate) srtt: Duration,
    /// [`Duration::MAX`] before the first sample.
    pub(crate) min_rtt: Duration,
    pub(crate) mss: u64,
    pub(crate) cwnd: u64,
    /// The pacer keeps data back that the window has room for.
    pub(crate) paced_until: Option<Instant>,
    pub(crate) slow_start: bool,
}

/// What a transfer waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Wait {
    #[default]
    Opening,
    Request,
    Answer,
    /// The window is full.
    SlowStart,
    Avoidance,
    Repair,
    ReceiverWindow,
    /// The window has room: the application has no more, or has sent all.
    Room,
    /// All is acknowledged: the response is over, or pauses.
    Done,
    /// The same, and the client's window is shut: the response is over, or waits for that.
    Shut,
}

fold::choices!(Wait {
    Opening,
    Request,
    Answer,
    SlowStart,
    Avoidance,
    Repair,
    ReceiverWindow,
    Room,
    Done,
    Shut
});

impl Wait {
    /// With an answer under way.
    const fn of(wait: SenderWait) -> Self {
        match wait {
            SenderWait::Nothing => Self::Done,
            SenderWait::Shut => Self::Shut,
            SenderWait::Opening => Self::Opening,
            SenderWait::Repair => Self::Repair,
            SenderWait::SlowStart => Self::SlowStart,
            SenderWait::Avoidance => Self::Avoidance,
            SenderWait::Receiver => Self::ReceiverWindow,
            SenderWait::Application => Self::Room,
        }
    }

    /// All of the response is acknowledged, so far.
    const fn is_done(self) -> bool {
        matches!(self, Self::Done | Self::Shut)
    }
}

/// What a transfer waits for while the path carries its data.
const WAITING: [TimeShare; 5] = [
    TimeShare::Avoidance,
    TimeShare::SlowStart,
    TimeShare::ReceiverWindow,
    TimeShare::Application,
    TimeShare::Recovery,
];

/// A transfer under way.
#[derive(Clone, Debug)]
struct OpenTransfer {
    report: TransferReport,
    /// Time in which the window had room; the application's, if more data follows.
    room: Duration,
    /// Time since all was acknowledged; a pause, if more data follows.
    done: Duration,
    /// Of that, time in which the client's window was shut: not in `done`.
    shut: Duration,
    answering: bool,
    /// Part of the response was acknowledged: its first window is over.
    acked: bool,
    /// While the window has room: how long the pacer keeps data back, and what that counts as.
    paced: Option<(Instant, TimeShare)>,
    /// Time in which it did, by what that counts as; no waiting if no more data follows. Most senders do not pace.
    pacing: Option<Box<TimeShares>>,
    /// There is some of it.
    has_pacing: bool,
    /// What the path carried meanwhile.
    trail: WaitTrail,
}

impl Foldable for OpenTransfer {
    fn fold(&mut self, folding: &mut Folding<'_>) {
        let Self { report, room, done, shut, answering, acked, paced, pacing, has_pacing, trail } =
            self;
        folding.each(report).each(room).each(done).each(shut).each(answering).each(acked);
        folding.option(paced, || (Instant::ZERO, TimeShare::Path));
        folding.each(pacing).each(has_pacing).each(trail);
    }
}

impl OpenTransfer {
    fn new(began: Instant) -> Self {
        let report = TransferReport { began, ..TransferReport::default() };
        Self {
            report,
            room: Duration::ZERO,
            done: Duration::ZERO,
            shut: Duration::ZERO,
            answering: false,
            acked: false,
            paced: None,
            pacing: None,
            has_pacing: false,
            trail: WaitTrail::default(),
        }
    }

    /// Notes what the sender knows.
    #[inline]
    fn note(&mut self, sender: &SenderState, min_rtt: Duration) {
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
    fn end_pause(&mut self) {
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

    /// Time that the pacer took since the last new data.
    fn paced_for(&self) -> Duration {
        self.pacing.as_ref().map_or(Duration::ZERO, |pacing| pacing.total())
    }

    /// Something goes again that was last sent at `last_sent`. Since then the transfer has waited for that to be found
    /// lost, whatever else its sender waited for.
    fn find_loss(&mut self, kind: RetransmissionKind, last_sent: Option<Instant>) {
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
    fn had_room(&mut self, now: Instant, time: Duration) {
        let began = now - time;
        let Some((until, kept_by)) = self.paced else {
            self.room += time;
            return self.trail.note(began, time, None);
        };
        let paced = until.saturating_since(began).min(time);
        if !paced.is_zero() {
            self.pacing.get_or_insert_default().add(kept_by, paced);
            self.has_pacing = true;
        }
        self.room += time.saturating_sub(paced);
        self.trail.note(began, time, (paced > time / 2).then_some(kept_by));
    }
}

/// Meters the transfers of one server.
#[derive(Clone, Debug)]
pub(crate) struct TransferMeter {
    open: Option<Box<OpenTransfer>>,
    wait: Wait,
    mark: Instant,
    next_index: u32,
    trains: AckTrains,
    /// Lowest round trip of the server's sender.
    min_rtt: Duration,
}

impl Foldable for TransferMeter {
    fn fold(&mut self, folding: &mut Folding<'_>) {
        let Self { open, wait, mark, next_index, trains, min_rtt } = self;
        folding.each(mark).each(wait).option(open, || Box::new(OpenTransfer::new(Instant::ZERO)));
        folding.each(next_index).each(trains).each(min_rtt);
    }
}

impl TransferMeter {
    /// Of a connection that began at `began`, with a SYN or in the middle.
    pub(crate) fn new(began: Instant, by_syn: bool) -> Self {
        Self {
            open: None,
            wait: if by_syn { Wait::Opening } else { Wait::Done },
            mark: began,
            next_index: 0,
            trains: AckTrains::default(),
            min_rtt: Duration::ZERO,
        }
    }

    /// The first transfer of a connection begins with the SYN; half-open ones are spared the memory.
    #[inline(always)]
    fn begin_opening(&mut self) {
        if self.wait == Wait::Opening && self.open.is_none() {
            self.begin_transfer();
        }
    }

    #[cold]
    fn begin_transfer(&mut self) {
        self.open = Some(Box::new(OpenTransfer::new(self.mark)));
    }

    /// The connection is open at the server.
    pub(crate) fn on_opened(&mut self, now: Instant) {
        self.begin_opening();
        self.cut(now, &EndOfPiece::Other);
        if self.wait == Wait::Opening {
            self.wait = Wait::Request;
        }
    }

    /// Something passes that concerns the server's sender. Answers the transfer that ended before it, if
    /// one did. What most packets are is written out where it passes.
    #[inline(always)]
    pub(crate) fn on_passage(
        &mut self,
        now: Instant,
        passage: Passage,
        sender: Option<SenderState>,
    ) -> Option<TransferReport> {
        self.begin_opening();
        // Lags may have put what came before this later.
        let now = now.max(self.mark);
        match passage {
            Passage::Response { bytes } => {
                self.cut(now, &EndOfPiece::Response);
                self.on_response(now, bytes);
                self.settle(sender.as_ref(), false);
                None
            }
            Passage::Acked { acked, delivered } => {
                self.cut(now, &EndOfPiece::Arrived(delivered));
                self.on_acked(now, delivered, sender.as_ref());
                self.settle(sender.as_ref(), acked > 0);
                None
            }
            Passage::Request { bytes } => self.take_request(now, bytes, sender.as_ref()),
            Passage::Again { kind, last_sent } => {
                self.take_again(now, (kind, last_sent), sender.as_ref());
                None
            }
            Passage::AskedAgain => {
                self.take_asked_again(now);
                None
            }
            Passage::WindowOpened => {
                self.cut(now, &EndOfPiece::Other);
                self.settle(sender.as_ref(), false);
                None
            }
        }
    }

    #[inline(never)]
    fn take_request(
        &mut self,
        now: Instant,
        bytes: u64,
        sender: Option<&SenderState>,
    ) -> Option<TransferReport> {
        self.cut(now, &EndOfPiece::Request);
        let ended = self.on_request(now, bytes);
        self.settle(sender, false);
        ended
    }

    #[inline(never)]
    fn take_again(
        &mut self,
        now: Instant,
        (kind, last_sent): (RetransmissionKind, Option<Instant>),
        sender: Option<&SenderState>,
    ) {
        self.cut(now, &EndOfPiece::Again(kind));
        self.on_again(kind, last_sent);
        self.settle(sender, false);
    }

    /// Until now the server had no request.
    #[inline(never)]
    fn take_asked_again(&mut self, now: Instant) {
        if self.wait == Wait::Answer {
            self.cut(now, &EndOfPiece::Request);
        }
    }

    /// The connection is over. Answers the transfer under way, if it had begun to be answered.
    pub(crate) fn finish(&mut self) -> Option<TransferReport> {
        self.close()
    }

    /// Answers the transfer that is over if nothing more of the answer comes.
    pub(crate) fn finish_answered(&mut self) -> Option<TransferReport> {
        if self.wait == Wait::Done { self.close() } else { None }
    }

    /// Sets what the sender waits for after a packet, which may have acknowledged data.
    #[inline(always)]
    fn settle(&mut self, sender: Option<&SenderState>, acked: bool) {
        let Some(sender) = sender else { return };
        if sender.min_rtt != Duration::MAX {
            self.min_rtt = sender.min_rtt;
        }
        if let Some(open) = self.open.as_mut().filter(|open| open.answering) {
            open.acked |= acked;
            open.note(sender, self.min_rtt);
            self.wait = Wait::of(sender.wait);
        }
    }

    /// Gives the time since the last packet to its cause.
    #[inline(always)]
    fn cut(&mut self, now: Instant, end: &EndOfPiece) {
        let time = now.saturating_since(self.mark);
        self.mark = self.mark.max(now);
        let Some(open) = &mut self.open else { return };
        let again = match end {
            EndOfPiece::Again(kind) => Some(*kind),
            _ => None,
        };
        let arrived = match end {
            EndOfPiece::Arrived(bytes) => *bytes,
            _ => 0,
        };
        let share = match (self.wait, again) {
            (Wait::Done, _) => {
                open.done += time;
                return;
            }
            (Wait::Shut, _) => {
                open.shut += time;
                return;
            }
            (_, Some(RetransmissionKind::Timeout)) => TimeShare::Timeout,
            (Wait::Room, Some(_)) => TimeShare::Recovery,
            (Wait::Room, None) => {
                open.had_room(now, time);
                open.trail.on_arrival(now, arrived, self.min_rtt);
                return;
            }
            (Wait::Opening, _) => TimeShare::Handshake,
            // A server that speaks first, as those of mail do, thinks before it does.
            (Wait::Request, _) if matches!(end, EndOfPiece::Response) => TimeShare::Think,
            (Wait::Request, _) => TimeShare::Request,
            (Wait::Answer, _) if matches!(end, EndOfPiece::Request) => TimeShare::Request,
            (Wait::Answer, _) => TimeShare::Think,
            (Wait::SlowStart, _) => TimeShare::SlowStart,
            (Wait::Avoidance, _) => TimeShare::Avoidance,
            (Wait::Repair, _) => TimeShare::Recovery,
            (Wait::ReceiverWindow, _) => TimeShare::ReceiverWindow,
        };
        open.report.shares.add(share, time);
        open.trail.note(now - time, time, Some(share));
        open.trail.on_arrival(now, arrived, self.min_rtt);
    }

    /// An ACK tells how fast the path delivers, unless losses are repaired.
    #[inline]
    fn on_acked(&mut self, now: Instant, delivered: u64, sender: Option<&SenderState>) {
        let Some(sender) = sender else { return };
        let repairs = self.wait == Wait::Repair || sender.wait == SenderWait::Repair;
        let arrived = if repairs { None } else { Some(delivered) };
        self.trains.on_ack(now, arrived, sender.srtt, sender.mss);
    }

    fn on_request(&mut self, now: Instant, bytes: u64) -> Option<TransferReport> {
        // A request that comes while an answer is under way is pipelined, or belongs to the same exchange.
        let is_next = self.wait.is_done() && self.open.as_ref().is_some_and(|open| open.answering);
        let ended = if is_next { self.close() } else { None };
        let open = self.open.get_or_insert_with(|| Box::new(OpenTransfer::new(now)));
        open.report.asked.get_or_insert(now);
        open.report.request_bytes += bytes;
        if !open.answering {
            open.report.asked_whole = Some(now);
            self.wait = Wait::Answer;
        }
        ended
    }

    fn on_response(&mut self, now: Instant, bytes: u64) {
        let open = self.open.get_or_insert_with(|| Box::new(OpenTransfer::new(now)));
        if !open.answering {
            open.answering = true;
            open.report.answered = now;
        }
        open.end_pause();
        open.report.bytes += bytes;
        open.report.sent = now;
    }

    fn on_again(&mut self, kind: RetransmissionKind, last_sent: Option<Instant>) {
        if let Some(open) = &mut self.open {
            open.find_loss(kind, last_sent);
            open.report.retransmissions += 1;
            open.report.timeouts += u32::from(kind == RetransmissionKind::Timeout);
        }
    }

    /// Ends the transfer under way. One that was never answered is none.
    fn close(&mut self) -> Option<TransferReport> {
        let open = self.open.take()?;
        let complete = self.wait.is_done();
        self.wait = Wait::Done;
        if !open.answering {
            return None;
        }
        let mut report = open.report;
        report.index = self.next_index;
        self.next_index += 1;
        report.complete = complete;
        report.ended = self.mark - open.done - open.shut;
        report.delivery_rate = self.trains.rate();
        let room = open.room + open.paced_for();
        report.shares.add(TimeShare::Path, room);
        self.take_path(&mut report, room, &open.trail);
        Some(report)
    }

    /// Takes what the path needs off the waiting: the time that bytes take which it carried meanwhile, at the fastest
    /// rate seen, and a round trip. The time in which the window had `room` at the end is the path's already.
    fn take_path(&self, report: &mut TransferReport, room: Duration, trail: &WaitTrail) {
        for waiting in WAITING {
            let needed = self.trains.time_of(trail.carried(waiting));
            report.shares.shift(waiting, TimeShare::Path, needed);
        }
        // A repair at the end waits for its ACK.
        let mut left = self.min_rtt.saturating_sub(room);
        for waiting in WAITING.into_iter().rev() {
            left = left.saturating_sub(report.shares.shift(waiting, TimeShare::Path, left));
        }
    }
}
