//! One window for all connections to a host: what happens to it. It grows and falls as that of one
//! CUBIC does; an active member has the share of it that its weight is of all active members'
//! weights.
//!
//! Windows are segments, times nanoseconds of one clock and microseconds where the name says so.
//! `crates/agent/bpf/shared.h` is the same in C, for the kernel; a test there holds the two
//! together.

use crate::cubic::{CubicCurve, CurveAck};
use crate::parts::part_beside;
use crate::window::Credit;

/// What a connection begins with anyway, segments (RFC 6928).
pub const INITIAL_WINDOW: u32 = 10;
/// `ssthresh` while nothing has shown an end of slow start.
pub const UNLIMITED: u32 = 0x7fff_ffff;
/// No window is larger.
const MAX_WINDOW: u32 = 1 << 20;
/// HyStart as Linux has it (`tcp_cubic.c`): from this window on, by the lowest of so many samples
/// of a round trip, which is later than the lowest of all by an eighth, within these bounds.
const HYSTART_LOW_WINDOW: u32 = 16;
const HYSTART_MIN_SAMPLES: u32 = 8;
const HYSTART_DELAY_MIN: u32 = 4000;
const HYSTART_DELAY_MAX: u32 = 16_000;
const NS_PER_US: u64 = 1000;
const NS_PER_MS: u64 = 1_000_000;

/// The window and what is known of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Session {
    /// Of all active members together.
    pub window: u32,
    /// Where slow start ends.
    pub ssthresh: u32,
    /// Of active members.
    pub weights: u32,
    outstanding: u32,
    /// To members of which nothing has arrived since they joined.
    pub promised: u32,
    credit: Credit,
    /// Most outstanding in the round trip under way, or acknowledged.
    round_flight: u32,
    round_acked: u32,
    /// The remembered window that it began with, until as much has arrived of one flight; 0: it
    /// has.
    pub unproven: u32,
    /// Lowest round trip of all, microseconds.
    pub base_us: u32,
    round_end_ns: u64,
    /// Last acknowledgement.
    pub used_ns: u64,
    /// Until then acknowledgements are counted in `round_acked`: for as long as the lowest round
    /// trip.
    counted_ns: u64,
    /// Of the path, as remembered when it began, bytes a second; 0: not known, or something was
    /// lost since.
    pub rate: u64,
    curve: CubicCurve,
    last_flight: u32,
    flight: u32,
    /// Lowest of the round trip under way, microseconds.
    round_us: u32,
    samples: u32,
    /// The last reduction, which may have been for nothing.
    window_before: u32,
    ssthresh_before: u32,
    reduced_ns: u64,
    taught: u32,
    taught_ns: u64,
    /// It began with a remembered window.
    pub is_warm: bool,
}

/// What a connection has in its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionMember {
    /// As counted there; 0: idle.
    pub weight: u32,
    /// What it wants to count.
    pub wants: u32,
    outstanding: u32,
    /// What it was promised as it joined, until something arrives.
    pub promised: u32,
    /// Below its share after a timeout of its own, segments; 0: none.
    pub limit: u32,
    /// It has sent far more than lay in its queue as it joined.
    pub in_pieces: bool,
}

impl Default for SessionMember {
    fn default() -> Self {
        Self { weight: 0, wants: 1, outstanding: 0, promised: 0, limit: 0, in_pieces: false }
    }
}

/// A member joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joining {
    /// Of how many that come it is one, itself included.
    pub among: u32,
    /// Segments that it has to send, as far as is known.
    pub sends: u32,
}

/// Something of a member arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberArrival {
    /// When.
    pub now_ns: u64,
    /// Segments.
    pub acked: u32,
    /// Segments outstanding after it.
    pub outstanding: u32,
    /// Its round trip, microseconds; 0: not measured.
    pub rtt_us: u32,
    /// The member's smoothed round trip, microseconds.
    pub srtt_us: u32,
    /// The window may grow for it.
    pub may_grow: bool,
}

impl Session {
    /// Slow start has not ended.
    pub const fn is_in_slow_start(&self) -> bool {
        self.window < self.ssthresh
    }

    /// Counts a member with this weight; 0: it is idle.
    pub const fn count_weight(&mut self, member: &mut SessionMember, weight: u32) {
        self.weights = self.weights.wrapping_add(weight).wrapping_sub(member.weight);
        member.weight = weight;
    }

    const fn count_outstanding(&mut self, member: &mut SessionMember, outstanding: u32) {
        self.outstanding =
            self.outstanding.wrapping_add(outstanding).wrapping_sub(member.outstanding);
        member.outstanding = outstanding;
    }

    const fn count_promised(&mut self, member: &mut SessionMember, promised: u32) {
        self.promised = self.promised.wrapping_add(promised).wrapping_sub(member.promised);
        member.promised = promised;
    }

    /// Nothing of a member is under way any more, or will arrive.
    pub const fn discount(&mut self, member: &mut SessionMember) {
        self.count_weight(member, 0);
        self.count_outstanding(member, 0);
        self.count_promised(member, 0);
    }

    /// A member's share. At least one segment: nobody is silenced, also where there are more
    /// members than segments.
    pub fn share_of(&self, member: &SessionMember) -> u32 {
        let share = match self.weights > member.weight {
            true => self.window.wrapping_mul(member.weight) / self.weights,
            false => self.window,
        };
        share.max(1)
    }

    /// What a member may send as it joins: its share. Those that have just joined see nothing of it
    /// for a round trip, so what they were promised is not given again, as far as they have so much
    /// to send, and what is left is for all who come. Not less than a connection begins with anyway
    /// while slow start lasts.
    pub fn share_at_once(&mut self, member: &mut SessionMember, joining: &Joining) -> u32 {
        let taken = self.promised.wrapping_sub(member.promised);
        let beside = part_beside(self.window, taken, INITIAL_WINDOW, joining.among);
        let mut share = self.share_of(member).min(INITIAL_WINDOW.wrapping_add(beside));
        if self.is_in_slow_start() {
            share = share.max(INITIAL_WINDOW);
        }
        self.count_promised(member, share.min(joining.sends));
        share
    }

    /// The first member to send after idle sets the window.
    pub fn start(&mut self, window: u32, ssthresh: u32, is_warm: bool, rate: u64) {
        self.window = window;
        if is_warm || self.ssthresh == 0 {
            self.ssthresh = ssthresh;
        }
        self.is_warm = is_warm;
        self.rate = rate;
        self.unproven = if is_warm { window } else { 0 };
        self.forget_round();
        self.round_end_ns = 0;
        self.counted_ns = 0;
        self.curve.end_epoch();
    }

    fn forget_round(&mut self) {
        self.credit.clear();
        self.round_flight = 0;
        self.round_acked = 0;
        self.last_flight = 0;
        self.flight = 0;
        self.taught = 0;
    }

    /// Nobody has sent yet, or for a while, so whoever does next starts for all. Of silence, and a
    /// round trip: the least retransmission timeout. (A kernel's clock is far from zero, where a
    /// new session was used last; ours may be near.)
    pub const fn is_idle(&self, now_ns: u64, srtt_us: u32) -> bool {
        let silence = 200 * NS_PER_MS + srtt_us as u64 * NS_PER_US;
        let is_silent = now_ns.wrapping_sub(self.used_ns) > silence;
        self.weights == 0 && (self.window == 0 || is_silent)
    }

    fn on_round(&mut self, arrival: &MemberArrival) {
        if arrival.now_ns < self.round_end_ns {
            return;
        }
        self.flight = self.flight.max(self.last_flight);
        self.last_flight = self.round_flight;
        self.round_flight = 0;
        self.round_acked = 0;
        self.samples = 0;
        self.round_us = u32::MAX;
        self.round_end_ns = arrival.now_ns + u64::from(arrival.srtt_us) * NS_PER_US;
        self.counted_ns = arrival.now_ns + u64::from(self.base_us) * NS_PER_US;
        if self.flight >= self.unproven {
            self.unproven = 0;
        }
    }

    /// Leaves slow start before the queue is full.
    fn hystart(&mut self, rtt_us: u32) {
        let later = self.base_us / 8;
        if rtt_us == 0 {
            return;
        }
        if self.base_us == 0 || rtt_us < self.base_us {
            self.base_us = rtt_us;
        }
        if !self.is_in_slow_start() || self.window < HYSTART_LOW_WINDOW {
            return;
        }
        self.round_us = self.round_us.min(rtt_us);
        self.samples = self.samples.wrapping_add(1);
        let later = later.clamp(HYSTART_DELAY_MIN, HYSTART_DELAY_MAX);
        if self.samples >= HYSTART_MIN_SAMPLES && self.round_us > self.base_us.wrapping_add(later) {
            self.ssthresh = self.window;
        }
    }

    fn grow(&mut self, arrival: &MemberArrival) {
        if self.is_in_slow_start() {
            self.window += arrival.acked.min(self.ssthresh - self.window);
        } else {
            let per = self.curve.on_ack(&CurveAck {
                now_ms: arrival.now_ns / NS_PER_MS,
                cwnd: self.window.into(),
                acked: arrival.acked.into(),
                min_rtt_ms: u64::from(self.base_us / 1000),
            });
            let growth = self.credit.add(arrival.acked.into(), per);
            self.window = self.window.saturating_add(growth as u32);
        }
        self.window = self.window.min(MAX_WINDOW);
    }

    /// Something of a member has arrived.
    pub fn on_arrival(&mut self, member: &mut SessionMember, arrival: &MemberArrival) {
        let MemberArrival { acked, outstanding, .. } = *arrival;
        let all = self.outstanding.wrapping_sub(member.outstanding);
        self.round_flight =
            self.round_flight.max(all.wrapping_add(outstanding).wrapping_add(acked));
        self.count_outstanding(member, outstanding);
        if member.promised > 0 && acked > 0 {
            member.in_pieces |= outstanding.wrapping_add(acked) > member.promised.wrapping_mul(2);
            self.count_promised(member, 0);
        }
        self.on_round(arrival);
        // What is outstanding is not known of who has just joined.
        if arrival.now_ns < self.counted_ns {
            self.round_acked = self.round_acked.wrapping_add(acked);
        }
        self.round_flight = self.round_flight.max(self.round_acked);
        self.hystart(arrival.rtt_us);
        if arrival.may_grow {
            self.grow(arrival);
        }
        self.used_ns = arrival.now_ns;
    }

    /// One reduction in a round trip, whoever loses how much. True if this is it.
    pub fn reduce(&mut self, now_ns: u64, srtt_us: u32) -> bool {
        if now_ns.wrapping_sub(self.reduced_ns) < u64::from(srtt_us) * NS_PER_US {
            return false;
        }
        self.reduced_ns = now_ns;
        self.window_before = self.window;
        self.ssthresh_before = self.ssthresh;
        self.window = self.curve.on_congestion(self.window.into()) as u32;
        self.ssthresh = self.window;
        self.rate = 0;
        self.unproven = 0;
        self.forget_round();
        true
    }

    /// Nothing had been lost.
    pub const fn take_back_reduction(&mut self) {
        if self.window_before <= self.window {
            return;
        }
        self.window = self.window_before;
        self.ssthresh = self.ssthresh_before;
        self.window_before = 0;
    }

    /// The most that was outstanding together and has arrived since the last reduction.
    pub fn proven_flight(&self) -> u32 {
        self.flight.max(self.last_flight).max(self.round_flight)
    }

    /// The most that was outstanding together in a round trip that is over, and has arrived.
    pub const fn flight(&self) -> u32 {
        self.flight
    }

    /// Segments outstanding of all members, as far as they have told.
    pub const fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// More is proven than was taught, or as much after a second: each time that all has arrived
    /// would be often.
    pub const fn is_new_sample(&mut self, flight: u32, now_ns: u64) -> bool {
        if flight <= self.taught && now_ns.wrapping_sub(self.taught_ns) < 1000 * NS_PER_MS {
            return false;
        }
        self.taught = flight;
        self.taught_ns = now_ns;
        true
    }

    /// Segments of all members whose losses are a first flight's: to so many the window falls.
    pub const fn fall_to(&mut self, most: u32) {
        if most < self.window {
            self.window = most;
            self.ssthresh = most;
        }
    }
}

/// Segments that a member has to send, as far as is known: what the application has `said`, or what
/// lies in its queue, if that may be all. What is written in pieces, or is as much as the kernel
/// queues before it sends, may be more.
pub const fn known_to_send(said: u32, queued: u32, mss: u32, in_pieces: bool) -> u32 {
    /// Of what is written the kernel queues as much before it sends the first.
    const MIN_PIECE: u32 = 30_000;
    if mss == 0 || (said == 0 && (in_pieces || queued >= MIN_PIECE)) {
        return MAX_WINDOW;
    }
    let segments = (if said > 0 { said } else { queued }) / mss + 1;
    if segments > INITIAL_WINDOW { segments } else { INITIAL_WINDOW }
}

/// Of the pace of all, `window` in a round trip, who joins has the part that it is of those who
/// join within one, as if those to come had as much to send: what others send is ACK-clocked, or
/// has left.
pub fn spread_of(window: u32, share: u32, promised: u32, joining: u32) -> u32 {
    if promised == joining {
        return share.max(window);
    }
    let part = (u64::from(window) * u64::from(promised)).checked_div(joining.into());
    share.max(part.unwrap_or(0) as u32)
}

/// The rate, bytes a second, of a burst that is `even` spread over a round trip; `is_hurried`, once
/// the window is proven and while slow start lasts, four windows in one (3.33 times the pace of
/// 1.2). Where the path is known to be faster than that, at its part of the path's rate.
pub const fn burst_rate(even: u64, path: u64, spread: u32, window: u32, is_hurried: bool) -> u64 {
    let hurried = even.wrapping_mul(3).wrapping_add(even.wrapping_mul(85) >> 8);
    let rate = if is_hurried { hurried } else { even };
    let known = if path > 0 { crate::reuse::first_rate(even, path, spread, window) } else { 0 };
    if known > rate { known } else { rate }
}
