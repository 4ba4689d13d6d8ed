//! Evidence in ACKs of one connection about the segments of others on the same path (Balakrishnan
//! et al. 1998 §5.3; Padmanabhan & Katz 1998 §7.3; Eggert, Heidemann & Touch 2000 §3.3).
//!
//! The rule is a scheme's; the path applies it and passes the [`MemberEvidence`] to a member's
//! recovery.

/// Effect of being overtaken on segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overtaken {
    /// A member's lowest unacknowledged segment is lost once overtaken more than `threshold` times.
    Lost {
        /// Number of later ACKs without effect (3).
        threshold: u32,
        /// Receivers may delay ACKs. If true, one of two more conditions must hold (Balakrishnan et
        /// al. 1998 §5.3, rules 4 and 5). Either the connection's next segment was overtaken
        /// `threshold` times, or the ACK is for a segment sent 400 ms later. The papers' segments
        /// are all full. A short last segment makes no receiver acknowledge, so it does not count
        /// as the next.
        delayed_acks: bool,
        /// One segment is retransmitted for each ACK, the oldest (TCP-INT); otherwise all lost
        /// ones.
        one_per_ack: bool,
        /// A retransmission may be found lost as well. TCP-INT leaves that to the timeout (rule 3).
        again: bool,
        /// The window grows on an ACK that overtakes another member's outstanding segment, as on
        /// any ACK for delivered data (§6.1). ns-2's `dontIncrCwnd_` prevents that.
        grow: bool,
    },
    /// Each segment overtaken counts as a duplicate ACK of its connection (Eggert et al. 2000
    /// §3.3).
    Each,
}

impl Overtaken {
    /// TCP-INT's rules for receivers that may delay ACKs (Balakrishnan et al. 1998 §5.3).
    pub const OLDEST_LOST: Self = Self::Lost {
        threshold: 3,
        delayed_acks: true,
        one_per_ack: true,
        again: false,
        grow: true,
    };
    /// TCP Session's rule: all lost segments are retransmitted, lost retransmissions too
    /// (Padmanabhan & Katz 1998 §7.3).
    pub const ALL_LOST: Self = Self::Lost {
        threshold: 3,
        delayed_acks: true,
        one_per_ack: false,
        again: true,
        grow: true,
    };

    /// The window stays on ACKs that overtake.
    pub const fn withholds_growth(self) -> bool {
        matches!(self, Self::Lost { grow: false, .. })
    }

    /// Retransmissions may be found lost.
    pub const fn judges_again(self) -> bool {
        matches!(self, Self::Lost { again: true, .. })
    }
}

/// Evidence for a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberEvidence {
    /// Its lowest unacknowledged segment is lost.
    Lost,
    /// Number of its segments that were overtaken by one more ACK.
    Overtaken(u32),
}
