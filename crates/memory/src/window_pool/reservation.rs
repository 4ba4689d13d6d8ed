//! The window pool of a path: recent reservations of first flights. Connections that start within a
//! round trip share what the path takes in one. A reservation expires evenly within a round trip,
//! without an event (`reserve.h` of the agent).

use super::request::ReservationRequest;
use super::{ProvenPath, ReservationTerms};
use arith::parts::part_beside;
use arith::pending_handshakes;
use arith::reuse::{first_window, unexpired_part};
use units::{Duration, Instant};

/// Start of a connection if several start at the pace of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedStart {
    /// Its first window, segments.
    pub window: u32,
    /// End of slow start, segments: the connection's share of the path's capacity.
    pub ssthresh: u32,
}

/// A first flight of the window pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// The first window, segments.
    pub window: u32,
    /// Segments that others took within the round trip.
    pub taken: u32,
    /// Connections that begin within the round trip, itself and earlier ones included.
    pub sharers: u32,
    /// The path.
    pub path: ProvenPath,
}

/// The least first window, segments: as after a lost SYN (docs/adr/0022-headstart.md).
const MIN_SHARE: u32 = 4;

/// Limit of the agent's counter of connections: it has twelve bits, and wraps after them.
const SHARER_COUNTER_LIMIT: u32 = 1 << 12;

/// Reservations of a path's first flights, and pending handshakes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Account {
    /// Reserved segments, and when they were reserved.
    given: u32,
    given_ms: u32,
    /// Connections that started since all reservations had expired.
    sharers: u32,
    /// Pending handshakes ([`pending_handshakes`]).
    pending: u64,
}

/// Returns the time on the agent's clock of reservations: milliseconds, which wrap.
const fn milliseconds(at: Instant) -> u32 {
    (at.as_nanos() / 1_000_000) as u32
}

impl Account {
    fn handshakes(&self, now: Instant, path: &ProvenPath) -> u64 {
        pending_handshakes::at(
            self.pending,
            pending_handshakes::span(now.as_nanos(), path.srtt().as_nanos()),
        )
    }

    pub(super) fn begin_handshake(&mut self, now: Instant, path: &ProvenPath) {
        self.pending = pending_handshakes::one_more(self.handshakes(now, path));
    }

    pub(super) fn finish_handshake(&mut self, now: Instant, path: &ProvenPath) -> u32 {
        let pending = self.handshakes(now, path);
        self.pending = pending_handshakes::one_less(pending);
        pending_handshakes::count(pending).max(1)
    }

    pub(super) fn count_restart(&self, now: Instant, path: &ProvenPath) -> u32 {
        pending_handshakes::count(self.handshakes(now, path)) + 1
    }

    /// Returns the part of the reservations that has not expired (`still_reserved`).
    fn still_given(&self, now: Instant, path: &ProvenPath) -> u32 {
        let since_ms = milliseconds(now).wrapping_sub(self.given_ms);
        let (given, since_us) = (u64::from(self.given), u64::from(since_ms) * 1000);
        unexpired_part(given, since_us, path.srtt_us.into()) as u32
    }

    /// Implements [`super::WindowPool::reserve`] for this path (`reserve_window`).
    pub(super) fn reserve(
        &mut self,
        now: Instant,
        path: &ProvenPath,
        request: &ReservationRequest,
        terms: &ReservationTerms,
    ) -> Option<Reservation> {
        let taken = self.still_given(now, path);
        let believed = path.estimate(now, request, terms);
        let offer = offer(request, terms.cap, path.room(believed, request.mss), believed, taken);
        let granted = offer.filter(|_| request.takes);
        self.given = taken.wrapping_add(granted.unwrap_or(request.cold));
        self.given_ms = milliseconds(now);
        let sharers = self.count_sharers(taken, request.among);
        granted.map(|window| Reservation { window, taken, sharers, path: *path })
    }

    /// Returns true if a part of the reservations has not expired.
    pub(super) fn has_given(&self, now: Instant, path: &ProvenPath) -> bool {
        self.still_given(now, path) > 0
    }

    /// Implements [`super::WindowPool::share`] for this path.
    pub(super) fn share(
        &mut self,
        now: Instant,
        path: &ProvenPath,
        request: &ReservationRequest,
        rate: u64,
        terms: &ReservationTerms,
    ) -> Option<SharedStart> {
        let believed = path.estimate(now, request, terms);
        let held = (rate.saturating_mul(path.min_rtt_us.into()) / 1_000_000)
            .checked_div(request.mss.into())?;
        let room = (held.min(super::MAX_WINDOW.into()) as u32).max(believed);
        let taken = self.still_given(now, path);
        let sharers = self.count_sharers(taken, request.among);
        let among = request.among.max(1);
        let left = (room.saturating_sub(taken) / among).max(MIN_SHARE);
        // More than a stock window only if one connection has proven it.
        let window = left.min(believed.max(request.cold)).min(terms.cap);
        let ssthresh = (room / sharers).max(left);
        self.given = taken.saturating_add(window);
        self.given_ms = milliseconds(now);
        Some(SharedStart { window, ssthresh })
    }

    /// Counts a connection that begins as one of `among`. Returns the number that began since
    /// nothing was given or are about to begin, itself included.
    fn count_sharers(&mut self, taken: u32, among: u32) -> u32 {
        let before = if taken == 0 { 0 } else { self.sharers };
        self.sharers = (before + 1) % SHARER_COUNTER_LIMIT;
        before + among.max(1)
    }

    /// Implements [`super::WindowPool::release`] for this path (`release_window`).
    pub(super) fn release(&mut self, path: &ProvenPath, segments: u32, since: Duration) {
        let left = unexpired_part(segments.into(), since.as_micros(), path.srtt_us.into());
        self.given = self.given.saturating_sub(left as u32);
    }
}

/// Returns the available window: a single connection gets no more than one has proven
/// (`make_offer`).
fn offer(
    request: &ReservationRequest,
    cap: u32,
    room: u32,
    believed: u32,
    taken: u32,
) -> Option<u32> {
    let cold = request.cold;
    let wider = u64::from(cold) + u64::from(part_beside(room, taken, cold, request.among));
    let window = first_window(wider.min(believed.into()), cold.into(), cap.into()) as u32;
    (window > cold && window >= request.least).then_some(window)
}
