//! Loss recovery: which bytes are lost, what goes again, and how much may go now.
//!
//! A policy marks losses on the connection's [`Scoreboard`] and says, in a [`Report`], what
//! happened; the path then asks congestion control for the new threshold. The window itself is
//! never inflated: a policy that lets duplicate ACKs clock out segments does so in its
//! [`LossRecovery::allowance`].

/// Declares the modules of recoveries and lists their descriptors, so that a new one takes one line.
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
pub use later_acks::{News, Overtaken};
use units::{Duration, Instant};

/// What a recovery policy may see and mark.
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
    /// What is outstanding is being taken back, not presumed lost by congestion: no reason to think
    /// that the receiver has discarded anything.
    pub retreat: bool,
    /// The path moves the window itself where a recovery would glide to the threshold for a lone
    /// connection: others share it, or a policy rules that answers losses itself.
    pub shared: bool,
}

/// How the window falls when recovery begins.
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

/// What a recovery policy found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// A new episode of congestion began.
    pub congestion: Option<Reduction>,
    /// The segment lost in it had been sent again before.
    pub repeated: bool,
    /// The last reduction was spurious: restore the window.
    pub undo: bool,
    /// Recovery ended with this ACK.
    pub ended: bool,
    /// Window that recovery imposes, after the reduction of `congestion`, bytes.
    pub cwnd: Option<u64>,
    /// The window may grow on this ACK (start-up or congestion control is asked).
    pub grow: bool,
    /// What this does to the retransmission timer.
    pub timer: TimerAction,
    /// Send a tail-loss probe: one segment regardless of the window.
    pub probe: bool,
    /// How much the policy has to be asked from here on.
    pub stance: Stance,
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
        timer: TimerAction::OnProgress,
        probe: false,
        stance: Stance::Idle,
    };

    /// The window that it imposes, if that is all it says of the window: the answer to most ACKs of a fast recovery.
    pub const fn imposes(&self) -> Option<u64> {
        if self.congestion.is_none() && !self.undo && !self.ended { self.cwnd } else { None }
    }

    /// True if it changes neither the window nor what is known of it.
    pub const fn is_quiet(&self) -> bool {
        self.congestion.is_none() && self.cwnd.is_none() && !self.undo && !self.ended
    }
}

/// What a policy promises until it is next told of an ACK, a timeout or a retransmission, so that a
/// connection that loses nothing need not ask it at each segment. Each is a promise only while no
/// segment is lost and waits to be sent again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stance {
    /// Nothing: it has to be asked.
    #[default]
    Ask,
    /// [`LossRecovery::allowance`] is the window less what is in flight, and there is no
    /// [`LossRecovery::next_retransmission`].
    Open,
    /// Beyond that, while nothing is SACKed: an ACK that advances over segments that were sent once,
    /// and tells nothing else, may be told by [`LossRecovery::on_plain_ack`]. It would be answered
    /// with [`Report::PROGRESS`], but for its stance, which stays.
    AtRest,
    /// Beyond that, while nothing is SACKed: an ACK that advances, of which [`AckInfo`] tells nothing
    /// else, changes nothing and would be answered with [`Report::PROGRESS`].
    Idle,
}

/// What happens to the retransmission timer on an ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimerAction {
    /// Restart if the cumulative acknowledgement moved (RFC 6298 §5.3).
    #[default]
    OnProgress,
    /// Restart in any case.
    Restart,
    /// Restart with a timeout twice as long, as after a timeout.
    BackOff,
    /// Leave it running.
    Keep,
}

/// What a retransmission timer means that runs out while nothing is outstanding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleTimeout {
    /// The sender was idle: the restart rule applies.
    Restart,
    /// A timeout like any other, with its penalties, each time it runs out.
    Timeout,
}

/// What was just sent.
#[derive(Clone, Copy, Debug)]
pub struct SentInfo {
    /// When.
    pub now: Instant,
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

/// An ACK that advances over segments that were sent once, and says nothing else, while nothing outstanding is SACKed or lost:
/// what a recovery with nothing to repair goes by.
#[derive(Clone, Copy, Debug)]
pub struct PlainAck {
    /// When it arrived.
    pub now: Instant,
    /// When the newest of the segments was sent, and the offset one past its end.
    pub newest: (Instant, u64),
    /// When the first segment that is still outstanding was sent.
    pub head_sent_at: Option<Instant>,
    /// Segments that are still outstanding.
    pub segments_out: usize,
    /// Smoothed round trip time, with that of this ACK.
    pub srtt: Duration,
    /// Retransmission timeout as it would be armed now.
    pub rto: Duration,
}

/// What a recovery that was told of a plain ACK answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtRest {
    /// Before then its timer does not run out, whatever new data leaves until then.
    pub until: Instant,
}

/// What a recovery knows of reordering on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenReordering {
    /// Segments that one may be late and not lost (`tcpi_reordering`).
    pub degree: u64,
    /// How often something came late (`tcpi_reord_seen`).
    pub seen: u64,
}

/// What a policy of this kind says of itself.
pub type RecoveryDescriptor = Descriptor<dyn LossRecovery>;

/// A loss recovery policy; one value per connection.
pub trait LossRecovery {
    /// Digests one ACK: marks losses, moves between open and recovering.
    fn on_ack(&mut self, cx: &mut RecoveryContext<'_>, ack: &AckInfo) -> Report;

    /// On a shared path: digests what ACKs of other members say of this one's segments.
    fn on_later_acks(&mut self, cx: &mut RecoveryContext<'_>, news: News) -> Report {
        let _ = (cx, news);
        Report::default()
    }

    /// On a shared path: it is repairing, or knows already, and need not be told more.
    fn is_busy(&self) -> bool {
        self.recovering()
    }

    /// Digests a retransmission timeout: marks losses, leaves fast recovery.
    fn on_rto(&mut self, cx: &mut RecoveryContext<'_>, now: Instant) -> Report;

    /// Digests that the path takes only smaller segments: what was longer is marked lost, and congestion is
    /// not the reason. True if a state of repair begins in which the window stays.
    fn on_smaller_segments(&mut self, cx: &mut RecoveryContext<'_>) -> bool {
        let _ = cx;
        false
    }

    /// Is told that the retransmission timer ran out while nothing was outstanding, all up to
    /// `snd_nxt` being acknowledged: senders whose timer runs on (ns-2) have this.
    fn on_idle_timeout(&mut self, snd_nxt: u64) -> IdleTimeout {
        let _ = snd_nxt;
        IdleTimeout::Restart
    }

    /// Bytes that may be sent now, retransmissions and new data together. The peer's window and
    /// the pacer are applied elsewhere. While nothing is SACKed or lost, new data that is sent takes
    /// its length off it and makes nothing go again.
    fn allowance(&self, cx: &RecoveryContext<'_>) -> u64;

    /// The window right after a gradual reduction, once the threshold is known (`cx.ssthresh`).
    fn window_after_reduction(&self, cx: &RecoveryContext<'_>) -> Option<u64> {
        let _ = cx;
        None
    }

    /// Index on the scoreboard of the segment to send again next, if any.
    fn next_retransmission(&mut self, cx: &mut RecoveryContext<'_>) -> Option<usize> {
        cx.board.next_lost()
    }

    /// It waits for what new data will tell, so that Nagle's algorithm does not hold that back.
    fn wants_new_data(&self) -> bool {
        false
    }

    /// Is told that nothing new can go. True if something may go again now.
    fn on_nothing_new(&mut self, cx: &mut RecoveryContext<'_>) -> bool {
        let _ = cx;
        false
    }

    /// Is told what was sent.
    fn on_sent(&mut self, sent: &SentInfo) {
        let _ = sent;
    }

    /// As [`LossRecovery::on_sent`] of so many segments of new data that left one after the other,
    /// of which the last is told of, at [`Stance::AtRest`] while others are outstanding.
    /// [`LossRecovery::on_plain_ack`] need not be told of what left before it.
    fn on_more_data(&mut self, segments: usize, last: &SentInfo) {
        let _ = segments;
        self.on_sent(last);
    }

    /// As [`LossRecovery::on_ack`], of a plain ACK, at [`Stance::AtRest`].
    fn on_plain_ack(&mut self, ack: &PlainAck) -> AtRest {
        let _ = ack;
        AtRest { until: Instant::ZERO }
    }

    /// Something sent again to repair a loss may still turn out needless. The time of the first such transmission is
    /// compared with what ACKs echo ([`AckInfo::echoes_original`]; Linux `retrans_stamp`).
    fn has_sent_again(&self) -> bool {
        false
    }

    /// A tail-loss probe is out, whose fate an ACK may tell with nothing outstanding.
    fn is_probing(&self) -> bool {
        false
    }

    /// The SYN is acknowledged. That it was sent again says nothing of what follows.
    fn on_opened(&mut self) {}

    /// False if [`LossRecovery::on_sent`] does nothing for data sent for the first time: the policy is
    /// not told of each segment then.
    fn follows_new_data(&self) -> bool {
        true
    }

    /// When the policy's own timer (reordering, tail-loss probe) fires, if armed.
    fn timeout(&self) -> Option<Instant> {
        None
    }

    /// False if [`LossRecovery::timeout`] never answers with a time: it is not asked after each
    /// segment then.
    fn has_timer(&self) -> bool {
        true
    }

    /// Digests the policy's own timer.
    fn on_timeout(&mut self, cx: &mut RecoveryContext<'_>, now: Instant) -> Report {
        let _ = (cx, now);
        Report::default()
    }

    /// The policy is of no use with a peer that does not send SACK: NewReno takes its place.
    fn needs_sack(&self) -> bool {
        false
    }

    /// Bytes outstanding that, by duplicate ACKs without SACK, have left the network: on a path that
    /// others share they are not in flight, instead of the window being inflated by them.
    fn left_network(&self, mss: u64) -> u64 {
        let _ = mss;
        0
    }

    /// What it has seen of reordering; a recovery that does not look tolerates three duplicate ACKs.
    fn reordering(&self) -> SeenReordering {
        SeenReordering { degree: 3, seen: 0 }
    }

    /// True in fast recovery or after a timeout until all that was lost is repaired.
    fn recovering(&self) -> bool {
        self.recovery_point().is_some()
    }

    /// While recovering: the offset whose acknowledgement ends it (RFC 6675 `RecoveryPoint`).
    fn recovery_point(&self) -> Option<u64>;
}
