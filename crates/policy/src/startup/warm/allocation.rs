//! The allocation of a session member at an ACK or as it joins: its share of the window, and its
//! pacing. Bursts are paced, and segments in recovery; segments that ACKs release are clocked by
//! them already (`allocation.h` of the agent).

use arith::session::{Joining, Session, SessionMember, spread_of};

/// Limits of a member now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allocation {
    /// Segments outstanding.
    pub(super) share: u32,
    /// Segments in a round trip: how fast what leaves as a burst is paced.
    pub(super) spread: u32,
    /// Window of all members, segments.
    pub(super) window: u32,
    /// Rate of the path, bytes a second; 0: not known.
    pub(super) rate: u64,
    /// Lowest round trip of all, microseconds; 0: not known.
    pub(super) base_us: u32,
    pub(super) is_in_slow_start: bool,
    /// The window, not remembered alone.
    pub(super) is_proven: bool,
}

impl Allocation {
    pub(super) const fn of(session: &Session, share: u32) -> Self {
        Self {
            share,
            spread: share,
            window: session.window,
            rate: session.rate,
            base_us: session.base_us,
            is_in_slow_start: session.is_in_slow_start(),
            is_proven: session.unproven == 0,
        }
    }
}

/// A member is active from now on (`enter_active`).
pub(super) fn enter_active(
    session: &mut Session,
    member: &mut SessionMember,
    joining: &Joining,
) -> Allocation {
    session.count_weight(member, member.wants);
    let share = session.share_at_once(member, joining);
    let mut allocation = Allocation::of(session, share);
    let pending = member.allocated.saturating_mul(joining.among.saturating_sub(1));
    let all = session.allocated.saturating_add(pending);
    allocation.spread = spread_of(allocation.window, share, member.allocated, all);
    allocation
}
