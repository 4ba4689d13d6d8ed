//! The end of a transfer: its outcome, and the part of its waiting that the path would have taken
//! anyway.

use super::link_rate::LinkRate;
use super::open::OpenTransfer;
use super::shares::{TimeShare, TimeShares};
use super::wait::{WAITING, WaitCause};
use super::{TransferEnd, TransferReport};
use units::{Duration, Instant};

/// Bytes up to which data without a request, after an idle time, does not continue an answer. With
/// this little data, servers close sessions or check that the client is alive (TLS, HTTP/2,
/// WebSocket).
const CONTROL_BYTES: u64 = 256;

/// The end of a connection, as it concerns its last transfer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionEnd {
    /// Time of its last packet, or of its reset.
    pub(crate) at: Instant,
    /// The outcome of a transfer that it cuts off.
    pub(crate) cut: TransferEnd,
}

/// The known properties of the path.
#[derive(Clone, Copy)]
pub(super) struct PathKnown<'a> {
    pub(super) link: &'a LinkRate,
    pub(super) min_rtt: Duration,
}

/// The client's captured ACKs.
#[derive(Clone, Copy)]
pub(super) struct Acks {
    pub(super) is_opened: bool,
    pub(super) has_pure: bool,
}

impl Acks {
    /// Returns true if ACKs are missing, as in a capture that was exported through a display
    /// filter: none without data was captured. A receiver acknowledges every second segment at
    /// least (RFC 9293 §3.8.6.3), and a handshake ends with an ACK.
    const fn lacks_acks(&self, report: &TransferReport) -> bool {
        !self.has_pure && (!self.is_opened || report.bytes > 3 * report.mss)
    }
}

/// Conditions in which a transfer ends.
#[derive(Clone, Copy)]
pub(super) struct Ending<'a> {
    /// Time up to which its time has a cause.
    pub(super) mark: Instant,
    /// The cause that it waits for.
    pub(super) wait: WaitCause,
    pub(super) path: PathKnown<'a>,
    pub(super) acks: Acks,
    /// The end of its connection, if that ends the transfer.
    pub(super) end: Option<&'a ConnectionEnd>,
}

impl OpenTransfer {
    /// Returns the report, unless no client waited for an answer.
    pub(super) fn end(mut self, ending: Ending<'_>) -> Option<TransferReport> {
        if !self.answering {
            self.take_ticket();
        }
        if self.is_left_unanswered() || !self.answering {
            return self.end_unanswered(&ending);
        }
        let is_stalled = self.is_stalled(ending.wait);
        let cut = ending.end.filter(|end| is_stalled || self.is_cut(end, ending.wait));
        let mut report = self.draft_report();
        report.ended = ending.mark - self.done - self.shut;
        report.outcome = match cut {
            Some(end) => end.cut,
            None if ending.wait.is_done() => TransferEnd::Complete,
            None => TransferEnd::Unfinished,
        };
        if let Some(end) = cut {
            let since = end.at.saturating_since(ending.mark);
            if is_stalled {
                report.shares.add(TimeShare::ReceiverWindow, self.shut + since);
                report.ended += self.shut + since;
            } else if !ending.wait.is_done() {
                report.shares.add(ending.wait.usual_share(), since);
                report.ended += since;
            }
        }
        report.delivery_rate = ending.path.link.rate();
        report.rate_evidence = ending.path.link.rate_evidence();
        report.link_full = self.full.min(report.duration());
        report.tls = self.tls.as_ref().map(|tls| tls.report);
        report.upload = self.upload_shares();
        self.drop_idle_time(&mut report);
        report.has_acks = !ending.acks.lacks_acks(&report);
        if report.has_acks {
            self.take_path(&mut report, &ending.path);
        } else {
            leave_unexplained(&mut report);
        }
        Some(report)
    }

    /// Returns the shares of the request's time, which they add up to.
    fn upload_shares(&self) -> Option<TimeShares> {
        let shares = self.upload.as_deref()?;
        shares.scaled_to(self.report.shares.of(TimeShare::Request))
    }

    /// Takes the data that seemed to be a ticket as the answer, if there was no other.
    fn take_ticket(&mut self) {
        if let Some((at, bytes)) = self.ticket.take().filter(|_| self.report.asked.is_some()) {
            self.answering = true;
            (self.report.answered, self.report.bytes, self.report.sent) = (Some(at), bytes, at);
        }
    }

    /// Returns true if the client closed its side before an answer was sent, and none of it was
    /// acknowledged.
    fn is_left_unanswered(&self) -> bool {
        let left = self.left.zip(self.report.answered).is_some_and(|(left, at)| left < at);
        left && !self.acked
    }

    /// Returns the report as far as it is known before the end.
    fn draft_report(&self) -> TransferReport {
        TransferReport { last_window: self.clock.cwnd(), ..self.report.report() }
    }

    /// Returns the report of a request without an answer: the client waited until it closed its
    /// side, or until the last packet.
    fn end_unanswered(&self, ending: &Ending<'_>) -> Option<TransferReport> {
        let end = ending.end?;
        let asked = self.report.asked_whole.or(self.report.asked);
        let is_hello = ending.wait == WaitCause::Tls;
        if self.may_be_control() {
            return None;
        }
        if asked.is_none() && !is_hello {
            return None;
        }
        let mut report = self.draft_report();
        let share = if is_hello { TimeShare::Tls } else { TimeShare::Think };
        let gave_up = self.left.unwrap_or(end.at);
        if let Some(asked) = asked {
            // The client did not wait for the server's work after it had closed: no cause gets that
            // time.
            for share in TimeShare::ALL.into_iter().filter(|share| *share >= TimeShare::Think) {
                report.shares.set(share, Duration::ZERO);
            }
            report.shares.add(share, gave_up.saturating_since(asked));
        } else {
            report.shares.add(share, gave_up.saturating_since(ending.mark));
        }
        (report.answered, report.bytes) = (None, 0);
        report.ended = report.began + report.shares.total();
        report.outcome = TransferEnd::Unanswered;
        report.upload = self.upload_shares();
        report.tls = self.tls.as_ref().map(|tls| tls.report);
        Some(report)
    }

    /// Returns true if the client's window is shut, and the server has shown that it has more.
    fn is_stalled(&self, wait: WaitCause) -> bool {
        wait == WaitCause::Shut && self.is_probed
    }

    /// Returns true if the end of the connection cuts the answer off: some data is not
    /// acknowledged, or its last segment was full and not pushed, so more was due.
    fn is_cut(&self, end: &ConnectionEnd, wait: WaitCause) -> bool {
        end.cut != TransferEnd::Unfinished && (!wait.is_done() || !self.clock.has_ended())
    }

    /// Drops an idle time that a few bytes follow: they continue no answer.
    fn drop_idle_time(&self, report: &mut TransferReport) {
        if report.asked.is_none()
            && report.bytes <= CONTROL_BYTES
            && let Some(answered) = report.answered
        {
            report.shares.shift_out(TimeShare::Application, self.resumed);
            report.began = if self.resumed.is_zero() { report.began } else { answered };
        }
    }

    /// Returns the causes of the time so far. If the window is full, they include the wait for ACKs
    /// of the latest data.
    pub(super) fn under_way(&self, link: &LinkRate) -> TimeShares {
        let mut shares = self.report.shares;
        self.take_carried(&mut shares, link);
        shares
    }

    /// Subtracts the time that the path needs from the waiting. The path needs the trip of the last
    /// data and its ACK, the time of the bytes that the link carried meanwhile, and a round trip.
    fn take_path(&self, report: &mut TransferReport, path: &PathKnown<'_>) {
        let last = self.room + self.paced_for();
        let way = last.min((report.srtt * 5 / 4).max(path.min_rtt));
        self.take_carried(&mut report.shares, path.link);
        report.shares.add(TimeShare::Path, way);
        report.shares.add(TimeShare::Unexplained, last.saturating_sub(way));
        // A repair at the end waits for its ACK.
        let mut left = path.min_rtt.saturating_sub(way);
        for waiting in WAITING.into_iter().rev() {
            left = left.saturating_sub(report.shares.move_time(waiting, TimeShare::Path, left));
        }
    }

    /// Subtracts the time of the bytes that the link carried meanwhile from the waiting.
    fn take_carried(&self, shares: &mut TimeShares, link: &LinkRate) {
        let during = shares.of(TimeShare::Path);
        let mut owed =
            link.time_of(self.trail.carried_bytes(TimeShare::Path)).saturating_sub(during);
        for waiting in WAITING {
            let needed = link.time_of(self.trail.carried_bytes(waiting));
            let taken = shares.move_time(waiting, TimeShare::Path, needed);
            owed += needed.saturating_sub(taken);
        }
        // Bytes for which a cause took too little time were carried during other causes.
        for waiting in WAITING {
            owed = owed.saturating_sub(shares.move_time(waiting, TimeShare::Path, owed));
        }
    }
}

/// Gives up the causes. Without ACKs nothing shows what the response waited for, nor when it was
/// over: it ends with its last data.
fn leave_unexplained(report: &mut TransferReport) {
    let answered = report.answered.unwrap_or(report.began);
    for share in TimeShare::ALL.into_iter().filter(|share| *share > TimeShare::Think) {
        report.shares.set(share, Duration::ZERO);
    }
    report.shares.add(TimeShare::Unexplained, report.sent.saturating_since(answered));
    report.ended = report.began + report.shares.total();
    report.link_full = Duration::ZERO;
}
