//! Loss recovery: decides which bytes are lost, which are retransmitted, and how much may be sent
//! now.
//!
//! A policy marks losses on the connection's [`Scoreboard`] and returns a [`Report`]; the path then
//! asks congestion control for the new threshold. The window itself is never inflated: a policy
//! that lets duplicate ACKs clock out segments does so in its [`LossRecovery::allowance`].

/// Declares the modules of recoveries and lists their descriptors, so that a new one takes one
/// line.
macro_rules! recoveries {
    ($($module:ident: $descriptor:ident;)+) => {
        $(pub mod $module;)+

        /// All recoveries, in the order they are listed to users.
        pub static RECOVERIES: &[&RecoveryDescriptor] = &[$(&$module::$descriptor),+];
    };
}

pub mod dupacks;
pub mod later_acks;
pub mod prr;

recoveries! {
    tahoe: TAHOE;
    reno: RENO;
    newreno: NEWRENO;
    sack: SACK;
    sack_pipe: SACK_PIPE;
    rack: RACK_TLP;
    vegas: VEGAS;
    integrated: INTEGRATED;
}

use crate::ack::{AckInfo, Scoreboard};
use crate::registry::Descriptor;
pub use later_acks::{MemberEvidence, Overtaken};
use units::{Duration, Instant};

/// State that a recovery policy may read and mark.
pub struct RecoveryContext<'a> {
    /// The connection's outstanding segments.
    pub board: &'a mut Scoreboard,
    /// The path's window, bytes.
    pub cwnd: u64,
    /// The path's threshold, bytes.
    pub ssthresh: u64,
    /// Segment size, bytes.
    pub mss: u64,
    /// Smoothed round trip time; zero before the first sample.
    pub srtt: Duration,
    /// Lowest round trip seen; [`Duration::MAX`] before the first sample.
    pub min_rtt: Duration,
    /// Retransmission timeout as it would be armed now, back-off included.
    pub rto: Duration,
    /// Next new byte to be sent.
    pub snd_nxt: u64,
    /// Unsent application data waits, and the peer's window has room for it.
    pub new_data: bool,
    /// The path moves the window itself where a recovery would glide to the threshold for a lone
    /// connection: others share it, or a policy rules that answers losses itself.
    pub shared: bool,
}

/// Reduction of the window when recovery begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// `cwnd` := `ssthresh` at once (RFC 5681 §3.2).
    ToSsthresh,
    /// `cwnd` := one segment, and slow start (Jacobson 1988).
    ToOneSegment,
    /// `cwnd` := one segment, `ssthresh` held: the same segment timed out again (RFC 5681 §3.1).
    Again,
    /// `ssthresh` only; the policy lowers `cwnd` ACK by ACK (RFC 6937).
    Gradual,
}

/// Findings of a recovery policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// A new episode of congestion began.
    pub congestion: Option<Reduction>,
    /// The segment lost in it had been retransmitted before.
    pub repeated: bool,
    /// The last reduction was spurious: restore the window.
    pub undo: bool,
    /// Recovery ended with this ACK.
    pub ended: bool,
    /// Window that recovery imposes, after the reduction of `congestion`, bytes; before one that is
    /// [`Reduction::Gradual`].
    pub cwnd: Option<u64>,
    /// The window may grow on this ACK (start-up or congestion control is asked).
    pub grow: bool,
    /// Bytes that the ACK reports as delivered again, which count in this growth (Linux
    /// `tcp_dsack_seen`).
    pub duplicate_bytes: u64,
    /// Effect on the retransmission timer.
    pub timer: TimerAction,
    /// Send a tail-loss probe: one segment regardless of the window.
    pub probe: bool,
    /// The calls that the policy needs from here on.
    pub skippable_calls: SkippableCalls,
}

impl Report {
    /// The window may grow, and the policy is as idle as before: the answer to most ACKs.
    pub const PROGRESS: Self = Self {
        congestion: None,
        repeated: false,
        undo: false,
        ended: false,
        cwnd: None,
        grow: true,
        duplicate_bytes: 0,
        timer: TimerAction::OnProgress,
        probe: false,
        skippable_calls: SkippableCalls::Idle,
    };

    /// Returns the window that the policy imposes, if the report has no other effect on it: the
    /// answer to most ACKs of a fast recovery.
    pub const fn imposes(&self) -> Option<u64> {
        if self.congestion.is_none() && !self.undo && !self.ended { self.cwnd } else { None }
    }

    /// True if it changes neither the window nor the knowledge of it.
    pub const fn is_quiet(&self) -> bool {
        self.congestion.is_none() && self.cwnd.is_none() && !self.undo && !self.ended
    }
}

/// The calls that a policy can do without until the next ACK, timeout or retransmission, so that a
/// connection without losses need not ask it at each segment. Each is valid only while no segment
/// is lost and waits to be retransmitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkippableCalls {
    /// None: the policy must be asked.
    #[default]
    Ask,
    /// [`LossRecovery::allowance`] is the window less what is in flight, and there is no
    /// [`LossRecovery::next_retransmission`].
    Open,
    /// The policy can do without the calls of `Open`. While nothing is SACKed, it needs only
    /// [`LossRecovery::on_plain_ack`] for an ACK that advances over segments that were sent once,
    /// and reports nothing else. Its answer would be [`Report::PROGRESS`], and the state stays.
    AtRest,
    /// The policy can do without the calls of `AtRest`. While nothing is SACKed, an ACK that
    /// advances, with nothing else in its [`AckInfo`], changes nothing and would be answered with
    /// [`Report::PROGRESS`].
    Idle,
}

/// Effect of an ACK on the retransmission timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimerAction {
    /// Restart if the cumulative acknowledgement moved (RFC 6298 §5.3).
    #[default]
    OnProgress,
    /// Restart in any case.
    Restart,
    /// Restart as of the last transmission of the first segment outstanding (`tcp_rearm_rto`).
    FromHead,
    /// Restart with a timeout twice as long, as after a timeout.
    BackOff,
    /// Leave it running.
    Keep,
}

/// The needs and habits of a recovery, which never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveryCapabilities {
    /// It is of no use with a peer that does not send SACK: NewReno replaces it.
    pub needs_sack: bool,
    /// It has a timer of its own ([`RecoveryState::timeout`]).
    pub has_timer: bool,
    /// [`LossRecovery::on_sent`] does something for data sent for the first time.
    pub follows_new_data: bool,
    /// A retransmission timer that runs out while nothing is outstanding is a timeout like any
    /// other, each time it runs out. Otherwise the sender was idle, and the restart rule applies.
    pub counts_idle_timeouts: bool,
}

impl RecoveryCapabilities {
    /// A recovery by duplicate ACKs: no SACK, no timer of its own.
    pub const BY_DUPLICATES: Self = Self {
        needs_sack: false,
        has_timer: false,
        follows_new_data: true,
        counts_idle_timeouts: false,
    };
}

/// An event, other than an ACK, that a recovery digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryEvent {
    /// The SYN is acknowledged. Its retransmission, if any, is no evidence about later data.
    Opened,
    /// The retransmission timer ran out: losses are marked, and fast recovery ends.
    RetransmissionTimeout {
        /// Instant at which it did.
        now: Instant,
        /// A start-up takes back the outstanding data. There is no congestion, and no reason to
        /// assume that the receiver has discarded anything.
        is_fallback: bool,
    },
    /// The recovery's own timer ran out.
    Timeout {
        /// Instant at which it did.
        now: Instant,
    },
    /// The retransmission timer ran out while nothing was outstanding, at a sender whose timer runs
    /// on (ns-2).
    IdleTimeout,
    /// The reduction that the last report asked for is made: the context has the new threshold. The
    /// answer may impose a window.
    Reduced,
    /// On a shared path, ACKs of other members say this of the segments outstanding.
    LaterAcks(MemberEvidence),
    /// The path takes only smaller segments. Longer ones are marked lost, and congestion is not the
    /// reason. The window stays while they are repaired.
    SmallerSegments,
    /// No new data can leave, which a recovery may have preferred to a retransmission
    /// ([`RecoveryState::wants_new_data`]).
    NothingNew,
}

/// The state of a recovery, so far as others need to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveryState {
    /// The offset whose acknowledgement ends the recovery under way (RFC 6675 `RecoveryPoint`): in
    /// fast recovery, or after a timeout until all that was lost is repaired.
    pub recovery_point: Option<u64>,
    /// A timeout began the repair, perhaps within a fast recovery (Linux `TCP_CA_Loss`). False for
    /// recoveries without that state.
    pub repairs_timeout: bool,
    /// Segments are SACKed or retransmitted, and no repair is under way (`TCP_CA_Disorder`). False
    /// for recoveries without that state.
    pub is_disordered: bool,
    /// When the recovery's own timer (reordering, tail-loss probe) runs out, if it runs.
    pub timeout: Option<Instant>,
    /// On a shared path: it repairs, or knows already, and needs no [`RecoveryEvent::LaterAcks`].
    pub is_busy: bool,
    /// It waits for what new data will show. Nagle's algorithm does not hold that back.
    pub wants_new_data: bool,
    /// A retransmission may still turn out needless. The time of the first retransmission is
    /// compared with what ACKs echo ([`AckInfo::echoes_original`]; Linux `retrans_stamp`).
    pub may_be_needless: bool,
    /// A tail-loss probe is out, whose fate an ACK may show with nothing outstanding.
    pub is_probing: bool,
    /// Bytes outstanding that, by duplicate ACKs without SACK, have left the network. On a shared
    /// path they are not in flight, instead of the window being inflated by them.
    pub left_network: u64,
    /// The reordering that was seen.
    pub reordering: SeenReordering,
}

impl RecoveryState {
    /// A recovery that lasts until `recovery_point` is acknowledged, or none. It has no timer, and
    /// three duplicate ACKs are a loss to it.
    pub const fn until(recovery_point: Option<u64>) -> Self {
        Self {
            recovery_point,
            repairs_timeout: false,
            is_disordered: false,
            timeout: None,
            is_busy: recovery_point.is_some(),
            wants_new_data: false,
            may_be_needless: false,
            is_probing: false,
            left_network: 0,
            reordering: SeenReordering { degree: 3, seen: 0 },
        }
    }
}

/// Facts about a segment just sent.
#[derive(Clone, Copy, Debug)]
pub struct SentInfo {
    /// Send time.
    pub now: Instant,
    /// Segments of new data that left one after the other, this one the last: 1 but at
    /// [`SkippableCalls::AtRest`], with others outstanding. [`LossRecovery::on_plain_ack`] needs to
    /// know of none that left before it.
    pub segments: usize,
    /// Sequence space taken.
    pub len: u64,
    /// Offset one past its end.
    pub end: u64,
    /// It had been sent before.
    pub retransmission: bool,
    /// Smoothed round trip time; zero before the first sample.
    pub srtt: Duration,
    /// Retransmission timeout as it would be armed now, back-off included.
    pub rto: Duration,
}

/// An ACK that advances over segments that were sent once, and reports nothing else, while nothing
/// outstanding is SACKed or lost. It is all that a recovery with nothing to repair needs.
#[derive(Clone, Copy, Debug)]
pub struct PlainAck {
    /// Time at which the ACK was received.
    pub now: Instant,
    /// Send time of the newest of the segments, and the offset one past its end.
    pub newest: (Instant, u64),
    /// Send time of the first segment that is still outstanding.
    pub head_sent_at: Option<Instant>,
    /// Segments that are still outstanding.
    pub segments_out: usize,
    /// Smoothed round trip time, with that of this ACK.
    pub srtt: Duration,
    /// Retransmission timeout as it would be armed now.
    pub rto: Duration,
}

/// Answer of a recovery to a plain ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtRest {
    /// Deadline of its own timer ([`RecoveryState::timeout`]). Nothing else of its state has
    /// changed.
    pub timeout: Option<Instant>,
    /// Time before which its timer does not expire, whatever new data leaves until then.
    pub until: Instant,
}

/// Reordering on the path that a recovery has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenReordering {
    /// Segments that one may be late and not lost (`tcpi_reordering`).
    pub degree: u64,
    /// Number of times that a segment was late (`tcpi_reord_seen`).
    pub seen: u64,
}

/// Description of a recovery policy.
pub type RecoveryDescriptor = Descriptor<dyn LossRecovery>;

/// A loss recovery policy; one value per connection.
pub trait LossRecovery {
    /// Returns its needs and habits.
    fn capabilities(&self) -> RecoveryCapabilities {
        RecoveryCapabilities::BY_DUPLICATES
    }

    /// Returns its state.
    fn state(&self) -> RecoveryState;

    /// Digests one ACK: marks losses, moves between open and recovering.
    fn on_ack(&mut self, cx: &mut RecoveryContext<'_>, ack: &AckInfo) -> Report;

    /// Digests a plain ACK, at [`SkippableCalls::AtRest`].
    fn on_plain_ack(&mut self, ack: &PlainAck) -> AtRest {
        let _ = ack;
        AtRest { timeout: self.state().timeout, until: Instant::ZERO }
    }

    /// Digests an event. One that the policy has no rule for changes nothing.
    fn on_event(&mut self, cx: &mut RecoveryContext<'_>, event: RecoveryEvent) -> Report;

    /// Digests a segment that leaves. Without a timer of its own, its state stays as it is.
    fn on_sent(&mut self, sent: &SentInfo) {
        let _ = sent;
    }

    /// Bytes that may be sent now, retransmissions and new data together. The peer's window and the
    /// pacer are applied elsewhere. While nothing is SACKed or lost, sending new data reduces it by
    /// the data's length and causes no retransmission.
    fn allowance(&self, cx: &RecoveryContext<'_>) -> u64;

    /// Index on the scoreboard of the segment to retransmit next, if any.
    fn next_retransmission(&mut self, cx: &mut RecoveryContext<'_>) -> Option<usize> {
        cx.board.next_lost()
    }
}
