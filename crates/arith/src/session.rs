//! One window for all connections to a host. It grows and shrinks like the window of one CUBIC; an
//! active member's share is its weight over the weights of all active members.
//!
//! Windows are segments, times nanoseconds of one clock and microseconds where the name says so.
//! `crates/agent/bpf/shared.h` is the same in C, for the kernel; a test there holds the two
//! together.

use crate::cubic::{CubicCurve, CurveAck};
use crate::parts::part_beside;
use crate::window::Credit;

/// Initial window of any connection, segments (RFC 6928).
pub const INITIAL_WINDOW: u32 = 10;
/// `ssthresh` while nothing has shown an end of slow start.
pub const UNLIMITED: u32 = 0x7fff_ffff;
/// No window is larger.
const MAX_WINDOW: u32 = 1 << 20;
/// HyStart of Linux (`tcp_cubic.c`) acts from this window on. It ends slow start if the lowest of a
/// number of samples of a round trip exceeds the lowest of all by an eighth, within these bounds.
const HYSTART_LOW_WINDOW: u32 = 16;
const HYSTART_MIN_SAMPLES: u32 = 8;
const HYSTART_DELAY_MIN: u32 = 4000;
const HYSTART_DELAY_MAX: u32 = 16_000;
const NS_PER_US: u64 = 1000;
const NS_PER_MS: u64 = 1_000_000;

/// The window and its state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Session {
    /// Window of all active members together.
    pub window: u32,
    /// Window at which slow start ends.
    pub ssthresh: u32,
    /// Sum of the weights of active members.
    pub weights: u32,
    outstanding: u32,
    /// Segments reserved for members without an ACK since they joined.
    pub allocated: u32,
    credit: Credit,
    /// Most outstanding in the round trip under way, or acknowledged.
    round_flight: u32,
    round_acked: u32,
    /// The remembered window of the start, until as much of one flight is delivered; 0: it is.
    pub unproven: u32,
    /// Lowest round trip of all, microseconds.
    pub base_us: u32,
    round_end_ns: u64,
    /// Last acknowledgement.
    pub used_ns: u64,
    /// Until then `round_acked` adds up acknowledged segments: for as long as the lowest round
    /// trip.
    counted_ns: u64,
    /// Remembered rate of the path at the start, bytes a second; 0: not known, or a segment was
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

/// State of a connection in its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionMember {
    /// Weight in the session's sum; 0: idle.
    pub weight: u32,
    /// Weight that it wants.
    pub wants: u32,
    outstanding: u32,
    /// Segments reserved for it when it joined, until its first ACK.
    pub allocated: u32,
    /// Below its share after a timeout of its own, segments; 0: none.
    pub limit: u32,
    /// It has sent far more than lay in its queue as it joined.
    pub in_pieces: bool,
}

impl Default for SessionMember {
    fn default() -> Self {
        Self { weight: 0, wants: 1, outstanding: 0, allocated: 0, limit: 0, in_pieces: false }
    }
}

/// A member joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joining {
    /// Number of connections that join, itself included.
    pub among: u32,
    /// Segments that it has to send, as far as is known.
    pub sends: u32,
}

/// An ACK of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberArrival {
    /// Time of the ACK.
    pub now_ns: u64,
    /// Segments acknowledged.
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

    const fn count_allocated(&mut self, member: &mut SessionMember, allocated: u32) {
        self.allocated = self.allocated.wrapping_add(allocated).wrapping_sub(member.allocated);
        member.allocated = allocated;
    }

    /// Removes a member: nothing of it is under way any more, or will be acknowledged.
    pub const fn discount(&mut self, member: &mut SessionMember) {
        self.count_weight(member, 0);
        self.count_outstanding(member, 0);
        self.count_allocated(member, 0);
    }

    /// A member's share. It is at least one segment, so every member can send, even where there are
    /// more members than segments.
    pub fn share_of(&self, member: &SessionMember) -> u32 {
        let share = match self.weights > member.weight {
            true => self.window.wrapping_mul(member.weight) / self.weights,
            false => self.window,
        };
        share.max(1)
    }

    /// Segments that a member may send as it joins: its share. Newly joined members have no ACK for
    /// a round trip, so their reservations, at most the segments they have to send, are not given
    /// out again. The joining connections share the rest. While slow start lasts, a member has no
    /// less than a connection's initial window.
    pub fn share_at_once(&mut self, member: &mut SessionMember, joining: &Joining) -> u32 {
        let taken = self.allocated.wrapping_sub(member.allocated);
        let beside = part_beside(self.window, taken, INITIAL_WINDOW, joining.among);
        let mut share = self.share_of(member).min(INITIAL_WINDOW.wrapping_add(beside));
        if self.is_in_slow_start() {
            share = share.max(INITIAL_WINDOW);
        }
        self.count_allocated(member, share.min(joining.sends));
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

    /// No member has sent yet, or for a while, so the next one to send starts for all. The time of
    /// silence is the least retransmission timeout and a round trip. (A kernel's clock is far from
    /// zero, where a new session was used last; ours may be near.)
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

    /// Processes an ACK of a member.
    pub fn on_arrival(&mut self, member: &mut SessionMember, arrival: &MemberArrival) {
        let MemberArrival { acked, outstanding, .. } = *arrival;
        let all = self.outstanding.wrapping_sub(member.outstanding);
        self.round_flight =
            self.round_flight.max(all.wrapping_add(outstanding).wrapping_add(acked));
        self.count_outstanding(member, outstanding);
        if member.allocated > 0 && acked > 0 {
            member.in_pieces |= outstanding.wrapping_add(acked) > member.allocated.wrapping_mul(2);
            self.count_allocated(member, 0);
        }
        self.on_round(arrival);
        // The number of outstanding segments is not known of a newly joined member.
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

    /// Reduces the window at most once in a round trip, for any number of losses. Returns true if
    /// it does. True if this is it.
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

    /// Undoes the last reduction, because nothing had been lost.
    pub const fn take_back_reduction(&mut self) {
        if self.window_before <= self.window {
            return;
        }
        self.window = self.window_before;
        self.ssthresh = self.ssthresh_before;
        self.window_before = 0;
    }

    /// The most segments that were outstanding together and are delivered since the last reduction.
    pub fn proven_flight(&self) -> u32 {
        self.flight.max(self.last_flight).max(self.round_flight)
    }

    /// The most segments that were outstanding together in a completed round trip, and are
    /// delivered.
    pub const fn flight(&self) -> u32 {
        self.flight
    }

    /// Segments outstanding of all members, as far as they have reported.
    pub const fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// Whether more is proven than at the last sample, or as much after a second: a sample at every
    /// complete delivery would be too frequent.
    pub const fn is_new_sample(&mut self, flight: u32, now_ns: u64) -> bool {
        if flight <= self.taught && now_ns.wrapping_sub(self.taught_ns) < 1000 * NS_PER_MS {
            return false;
        }
        self.taught = flight;
        self.taught_ns = now_ns;
        true
    }

    /// Limits window and threshold to `most` segments of all members, after losses that are those
    /// of a first flight.
    pub const fn fall_to(&mut self, most: u32) {
        if most < self.window {
            self.window = most;
            self.ssthresh = most;
        }
    }
}

/// Segments that a member has to send, as far as is known: the bytes that the application has
/// announced (`announced`), or those in its queue, if they may be all. If the application writes in
/// pieces, or has written as much as the kernel queues before it sends, more may follow.
pub const fn known_to_send(announced: u32, queued: u32, mss: u32, in_pieces: bool) -> u32 {
    /// Bytes that the kernel queues of a write before it sends the first segment.
    const MIN_PIECE: u32 = 30_000;
    if mss == 0 || (announced == 0 && (in_pieces || queued >= MIN_PIECE)) {
        return MAX_WINDOW;
    }
    let segments = (if announced > 0 { announced } else { queued }) / mss + 1;
    if segments > INITIAL_WINDOW { segments } else { INITIAL_WINDOW }
}

/// Share of a joining connection in the pace of all, `window` in a round trip. It is the
/// connection's share among those that join within one round trip, as if each had as much to send.
/// The segments of other members are ACK-clocked, or are already sent.
pub fn spread_of(window: u32, share: u32, allocated: u32, joining: u32) -> u32 {
    if allocated == joining {
        return share.max(window);
    }
    let part = (u64::from(window) * u64::from(allocated)).checked_div(joining.into());
    share.max(part.unwrap_or(0) as u32)
}

/// The rate, bytes a second, of a burst that is `even` spread over a round trip. With `is_hurried`,
/// once the window is proven and while slow start lasts, it is four windows in one (3.33 times the
/// pace of 1.2). If the path is known to be faster, it is a share of the path's rate.
pub const fn burst_rate(even: u64, path: u64, spread: u32, window: u32, is_hurried: bool) -> u64 {
    let hurried = even.wrapping_mul(3).wrapping_add(even.wrapping_mul(85) >> 8);
    let rate = if is_hurried { hurried } else { even };
    let known = if path > 0 { crate::reuse::first_rate(even, path, spread, window) } else { 0 };
    if known > rate { known } else { rate }
}
