//! What a member of a session is granted at an ACK or as it joins: its share of the window, and how that is paced. Bursts are, and
//! what leaves in recovery; what ACKs let go is clocked by them already (`grant.h` of the agent).

use super::member::MemberStart;
use super::pacing::rate_of;
use crate::startup::attended::Situation;
use crate::window::{Cause, Window};
use arith::reuse::pacing_rate;
use arith::session::{INITIAL_WINDOW, Joining, Session, SessionMember, burst_rate, spread_of};

/// Segments that are not paced, as the kernel does not the first ones of a connection.
const UNPACED_SEGMENTS: u64 = 10;
/// Linux sends what it paces in pieces of about a millisecond: while round trips are shorter nothing is spaced by that.
const MIN_PACED_RTT_US: u32 = 1000;

/// What a member may do now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grant {
    /// Segments outstanding.
    share: u32,
    /// Segments in a round trip: how fast what leaves as a burst is paced.
    spread: u32,
    /// Of all members.
    window: u32,
    /// Of the path, bytes a second; 0: not known.
    rate: u64,
    /// Lowest round trip of all, microseconds; 0: not known.
    base_us: u32,
    is_in_slow_start: bool,
    /// The window, not remembered alone.
    is_proven: bool,
}

impl Grant {
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

impl MemberStart {
    /// What it may have outstanding, after a timeout of its own less (`take_share`).
    pub(super) fn take_share(&mut self, window: &mut Window, at: &Situation<'_>, grant: &Grant) {
        let mss = window.mss();
        let mut share = grant.share;
        let ssthresh = if grant.is_in_slow_start { u64::MAX } else { u64::from(share) * mss };
        if self.member.limit > 0 && self.member.limit < share {
            share = self.member.limit;
        } else {
            self.member.limit = 0;
        }
        // Nothing tells how to pace it: what a connection begins with anyway.
        if at.srtt_us() == 0 && grant.base_us == 0 {
            share = share.min(INITIAL_WINDOW);
        }
        if window.ssthresh() != ssthresh {
            window.set_ssthresh(ssthresh, Cause::Membership);
        }
        let cwnd = u64::from(share) * mss;
        if window.cwnd() != cwnd {
            window.set_cwnd(cwnd, Cause::Membership);
        }
    }

    /// Paces its share (`pace_share`); `in_flight` bytes are.
    pub(super) fn pace_share(
        &mut self,
        window: &mut Window,
        at: &Situation<'_>,
        (grant, in_flight): (&Grant, u64),
    ) {
        let mss = window.mss();
        let rtt_us = if at.srtt_us() > 0 { at.srtt_us() } else { grant.base_us };
        let even = pacing_rate(grant.spread, mss as u32, rtt_us);
        let is_hurried = grant.is_in_slow_start && grant.is_proven;
        let rate = match self.warm_rate {
            0 => burst_rate(even, grant.rate, (grant.spread, grant.window), is_hurried),
            rate => rate,
        };
        let may_be_spaced = !grant.is_proven || rtt_us == 0 || rtt_us >= MIN_PACED_RTT_US;
        let is_burst = window.cwnd() > in_flight + UNPACED_SEGMENTS * mss;
        let is_limited = self.warm.pacing.limited_to() > 0;
        if (may_be_spaced && is_burst) || self.recovers || is_limited {
            self.warm.pacing.keep_paced();
        } else {
            self.warm.pacing.leave_unpaced();
        }
        self.warm.pacing.apply(window);
        if rate > 0 && self.warm.pacing.is_on() {
            window.set_pacing_rate(Some(rate_of(rate)));
        }
    }
}

/// A member is active from now on (`enter_active`).
pub(super) fn enter_active(
    session: &mut Session,
    member: &mut SessionMember,
    joining: &Joining,
) -> Grant {
    session.count_weight(member, member.wants);
    let share = session.share_at_once(member, joining);
    let mut grant = Grant::of(session, share);
    let coming = member.promised.saturating_mul(joining.among.saturating_sub(1));
    let all = session.promised.saturating_add(coming);
    grant.spread = spread_of(grant.window, share, member.promised, all);
    grant
}
