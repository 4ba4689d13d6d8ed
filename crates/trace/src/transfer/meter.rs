//! Cuts the time of a transfer at every packet and gives each piece to a cause.
//!
//! What a piece was spent on is known from the state of the sender after the packet before, or else from the
//! packet that ends it: a timeout ends a wait for the timer, new data that no ACK let go ends a pause.

use super::TransferReport;
use super::shares::TimeShare;
use super::train::AckTrains;
use crate::kinds::RetransmissionKind;
use units::{Duration, Instant};

/// What passed: what ends a piece of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passage {
    /// Nothing that changes what the sender waits for.
    Other,
    /// Payload of the request.
    Request { bytes: u64 },
    /// An ACK that newly acknowledged bytes of payload.
    Acked { bytes: u64 },
    /// New payload of the response.
    Response { bytes: u64 },
    /// A retransmission.
    Again { kind: RetransmissionKind },
}

/// What a sender waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SenderWait {
    /// All is acknowledged.
    Nothing,
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
}

impl Wait {
    /// With an answer under way.
    const fn of(wait: SenderWait) -> Self {
        match wait {
            SenderWait::Nothing => Self::Done,
            SenderWait::Opening => Self::Opening,
            SenderWait::Repair => Self::Repair,
            SenderWait::SlowStart => Self::SlowStart,
            SenderWait::Avoidance => Self::Avoidance,
            SenderWait::Receiver => Self::ReceiverWindow,
            SenderWait::Application => Self::Room,
        }
    }
}

/// A transfer under way.
#[derive(Clone, Copy, Debug)]
struct OpenTransfer {
    report: TransferReport,
    /// Time in which the window had room; the application's, if more data follows.
    room: Duration,
    /// Time since all was acknowledged; a pause, if more data follows.
    done: Duration,
    answering: bool,
}

impl OpenTransfer {
    fn new(began: Instant) -> Self {
        let report = TransferReport { began, ..TransferReport::default() };
        Self { report, room: Duration::ZERO, done: Duration::ZERO, answering: false }
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

impl TransferMeter {
    /// Of a connection that began at `began`, with a SYN or in the middle.
    pub(crate) fn new(began: Instant, by_syn: bool) -> Self {
        Self {
            open: by_syn.then(|| Box::new(OpenTransfer::new(began))),
            wait: if by_syn { Wait::Opening } else { Wait::Done },
            mark: began,
            next_index: 0,
            trains: AckTrains::default(),
            min_rtt: Duration::ZERO,
        }
    }

    /// The connection is open at the server.
    pub(crate) fn on_opened(&mut self, now: Instant) {
        self.cut(now, Passage::Other);
        if self.wait == Wait::Opening {
            self.wait = Wait::Request;
        }
    }

    /// Something passes that concerns the server's sender. Answers the transfer that ended before it, if
    /// one did.
    pub(crate) fn on_passage(
        &mut self,
        now: Instant,
        passage: Passage,
        sender: Option<SenderState>,
    ) -> Option<TransferReport> {
        // Lags may have put what came before this later.
        let now = now.max(self.mark);
        self.cut(now, passage);
        let ended = match passage {
            Passage::Request { bytes } => self.on_request(now, bytes),
            Passage::Response { bytes } => {
                self.on_response(now, bytes);
                None
            }
            Passage::Again { kind } => {
                self.on_again(kind);
                None
            }
            Passage::Acked { .. } | Passage::Other => None,
        };
        if let Some(sender) = sender {
            if let Passage::Acked { bytes } = passage {
                self.trains.on_ack(now, bytes, sender.srtt, sender.mss);
            }
            self.settle(&sender);
        }
        ended
    }

    /// The connection is over. Answers the transfer under way, if it had begun to be answered.
    pub(crate) fn finish(&mut self) -> Option<TransferReport> {
        self.close()
    }

    /// Answers the transfer that is over if nothing more of the answer comes.
    pub(crate) fn finish_answered(&mut self) -> Option<TransferReport> {
        if self.wait == Wait::Done { self.close() } else { None }
    }

    /// Sets what the sender waits for after a packet.
    fn settle(&mut self, sender: &SenderState) {
        if sender.min_rtt != Duration::MAX {
            self.min_rtt = sender.min_rtt;
        }
        if self.open.as_ref().is_some_and(|open| open.answering) {
            self.wait = Wait::of(sender.wait);
        }
    }

    /// Gives the time since the last packet to its cause.
    fn cut(&mut self, now: Instant, passage: Passage) {
        let time = now.saturating_since(self.mark);
        self.mark = self.mark.max(now);
        let Some(open) = &mut self.open else { return };
        let again = match passage {
            Passage::Again { kind } => Some(kind),
            _ => None,
        };
        let share = match (self.wait, again) {
            (Wait::Done, _) => {
                open.done += time;
                return;
            }
            (_, Some(RetransmissionKind::Timeout)) => TimeShare::Timeout,
            (Wait::Room, Some(_)) => TimeShare::Recovery,
            (Wait::Room, None) => {
                open.room += time;
                return;
            }
            (Wait::Opening, _) => TimeShare::Handshake,
            (Wait::Request, _) => TimeShare::Request,
            (Wait::Answer, _) if matches!(passage, Passage::Request { .. }) => TimeShare::Request,
            (Wait::Answer, _) => TimeShare::Think,
            (Wait::SlowStart, _) => TimeShare::SlowStart,
            (Wait::Avoidance, _) => TimeShare::Avoidance,
            (Wait::Repair, _) => TimeShare::Recovery,
            (Wait::ReceiverWindow, _) => TimeShare::ReceiverWindow,
        };
        open.report.shares.add(share, time);
    }

    fn on_request(&mut self, now: Instant, bytes: u64) -> Option<TransferReport> {
        // A request that comes while an answer is under way is pipelined, or belongs to the same exchange.
        let is_next =
            self.wait == Wait::Done && self.open.as_ref().is_some_and(|open| open.answering);
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
        let pause = std::mem::take(&mut open.room) + std::mem::take(&mut open.done);
        open.report.shares.add(TimeShare::Application, pause);
        open.report.bytes += bytes;
        open.report.sent = now;
    }

    fn on_again(&mut self, kind: RetransmissionKind) {
        if let Some(open) = &mut self.open {
            open.report.retransmissions += 1;
            open.report.timeouts += u32::from(kind == RetransmissionKind::Timeout);
        }
    }

    /// Ends the transfer under way. One that was never answered is none.
    fn close(&mut self) -> Option<TransferReport> {
        let open = self.open.take()?;
        let complete = self.wait == Wait::Done;
        self.wait = Wait::Done;
        if !open.answering {
            return None;
        }
        let mut report = open.report;
        report.index = self.next_index;
        self.next_index += 1;
        report.complete = complete;
        report.ended = self.mark - open.done;
        report.shares.add(TimeShare::Path, open.room);
        self.take_path(&mut report, open.room);
        Some(report)
    }

    /// Takes what the path needs off the waiting: a round trip, and the bytes at the fastest rate seen. So
    /// much of it was spent already while the window had `room`.
    fn take_path(&self, report: &mut TransferReport, room: Duration) {
        let needed = self.min_rtt + self.trains.time_of(report.bytes);
        let mut left = needed.saturating_sub(room);
        for waiting in [TimeShare::Avoidance, TimeShare::SlowStart] {
            left = left.saturating_sub(report.shares.shift(waiting, TimeShare::Path, left));
        }
    }
}
