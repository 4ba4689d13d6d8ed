//! The memory of a path, and its estimate after ageing.

use super::request::ReservationRequest;
use super::{MAX_WINDOW, ReservationTerms};
use arith::reuse::{bdp, decayed, half_life_ns, reach, same_round_trip};
use units::{Duration, Instant};

/// The proven state of a path (`struct path` of the agent).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProvenPath {
    /// Time of the last acknowledgement when the window was learnt.
    pub learnt: Instant,
    /// Remembered window, segments.
    pub window: u32,
    /// Window at which a queue has ended slow start, or the largest window used since, segments; 0:
    /// it has not ended.
    pub ssthresh: u32,
    /// Smoothed round trip when the window was learnt, queue included, microseconds.
    pub srtt_us: u32,
    /// Lowest round trip, microseconds.
    pub min_rtt_us: u32,
    /// Delivery rate that flights have shown, bytes a second; 0: not measured.
    pub rate: u64,
    /// Warm starts in a row that lost something of their first flight.
    pub(super) fallbacks_in_row: u32,
}

/// Value in place of a threshold: a loss has ended slow start, at a window that does not show the
/// path's.
pub const END_UNKNOWN: u32 = 1;

/// A connection's knowledge at a moment at which its path may learn (`struct path_sample`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathSample {
    /// Time of the last acknowledgement: an idle time since proves nothing.
    pub at: Instant,
    /// Segments; 0: nothing is proven.
    pub window: u32,
    /// Window at which a queue has ended slow start, segments, or [`END_UNKNOWN`]; 0: not shown.
    pub ssthresh: u32,
    /// Smoothed round trip, microseconds; 0: not measured.
    pub srtt_us: u32,
    /// Lowest round trip, microseconds; 0: not measured.
    pub min_rtt_us: u32,
    /// The rate of two flights that agree, or of a probe, bytes a second; 0: not known.
    pub rate: u64,
    /// Segments that fill the path at the rate of two flights in a row; 0: no two agreed.
    pub bdp: u32,
    /// Rate that is reported to the site alone: the rate of two flights that agree. If there are
    /// none, it is the rate of the longest one that was held up, or of a probe; 0: none.
    pub shown_rate: u64,
}

/// Reasons for a cold start (`enum start` of the agent).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColdReason {
    /// Nothing is remembered of its path.
    Unknown,
    /// The memory is too old.
    Old,
    /// The round trip does not fit the remembered one.
    RoundTrip,
    /// No more than a stock window is remembered.
    Small,
}

impl PathSample {
    /// Returns the path's capacity in a round trip, segments, if the connection itself has shown
    /// it, rather than a lower bound; 0: it has not.
    pub(super) const fn carries(&self, is_measured: bool) -> u32 {
        if is_measured { self.window } else { self.bdp }
    }

    /// Returns true if all fields are set that a memory needs.
    pub(super) const fn is_whole(&self) -> bool {
        self.window != 0 && self.srtt_us != 0 && self.min_rtt_us != 0
    }
}

impl ProvenPath {
    pub(super) const fn new(sample: &PathSample) -> Self {
        let PathSample { at, window, ssthresh, srtt_us, min_rtt_us, rate, .. } = *sample;
        Self { learnt: at, window, ssthresh, srtt_us, min_rtt_us, rate, fallbacks_in_row: 0 }
    }

    /// Returns the estimate of the window at `now`, segments (`aged_window`).
    pub fn aged_window(&self, now: Instant, terms: &ReservationTerms) -> u32 {
        self.decay_window(self.window, now, terms)
    }

    fn decay_window(&self, window: u32, now: Instant, terms: &ReservationTerms) -> u32 {
        let half_life = half_life_ns(self.srtt_us, terms.half_life_rtts);
        match self.learnt > now {
            true => 0,
            false => decayed(window.into(), (now - self.learnt).as_nanos(), half_life) as u32,
        }
    }

    /// Returns the number of segments of `mss` bytes that fill the path at its rate; 0: the rate is
    /// not known.
    pub const fn bdp(&self, mss: u32) -> u32 {
        bdp(self.rate, self.min_rtt_us, mss)
    }

    /// Returns the initial window before ageing, for segments of `mss` bytes (`reached_window` of
    /// the agent). It exceeds the window that the path has carried if the rate is known and no warm
    /// start has just failed.
    pub const fn reached_window(&self, mss: u32) -> u32 {
        let bdp = if self.fallbacks_in_row == 0 { self.bdp(mss) } else { 0 };
        reach(self.window, bdp)
    }

    fn is_old(&self, now: Instant, terms: &ReservationTerms) -> bool {
        // A time that seems to lie ahead is older than any other (the kernel's difference wraps).
        self.learnt > now || now - self.learnt > terms.max_age
    }

    /// Returns the estimate for a connection with the first round trip and segment size of
    /// `request`, segments; 0: none (`estimate_of`).
    pub(super) fn estimate(
        &self,
        now: Instant,
        request: &ReservationRequest,
        terms: &ReservationTerms,
    ) -> u32 {
        match self.is_believed(now, request.rtt_us, terms) {
            true => self.decay_window(self.reached_window(request.mss), now, terms),
            false => 0,
        }
    }

    /// Returns true if the memory is young enough, and of the path that the connection's first
    /// round trip shows.
    pub(super) fn is_believed(&self, now: Instant, rtt_us: u32, terms: &ReservationTerms) -> bool {
        !self.is_old(now, terms) && same_round_trip(rtt_us, self.min_rtt_us)
    }

    /// Implements [`super::WindowPool::recall`] for this path.
    pub(super) fn recall(
        &self,
        now: Instant,
        request: &ReservationRequest,
        terms: &ReservationTerms,
    ) -> Result<u32, ColdReason> {
        if self.is_old(now, terms) {
            return Err(ColdReason::Old);
        }
        if !same_round_trip(request.rtt_us, self.min_rtt_us) {
            return Err(ColdReason::RoundTrip);
        }
        let window = self.estimate(now, request, terms).min(terms.cap);
        if window > request.cold { Ok(window) } else { Err(ColdReason::Small) }
    }

    /// Returns the number of segments for all connections that start within a round trip: the
    /// proven window, or the path's known capacity in that time (`room_of`).
    pub(super) fn room(&self, believed: u32, mss: u32) -> u32 {
        let carried = self.rate / 1000 * u64::from(self.min_rtt_us) / 1000;
        let segments = carried.checked_div(mss.into()).unwrap_or(0).min(MAX_WINDOW.into());
        (segments as u32).max(believed)
    }

    /// Returns the end of a slow start that starts with `window` segments, if a queue has ended it
    /// above that; 0: not known.
    pub const fn end_beyond(&self, window: u32) -> u32 {
        if self.ssthresh > window { self.ssthresh } else { 0 }
    }

    /// Returns the threshold to remember. A loss shows that slow start has an end, but not where:
    /// [`END_UNKNOWN`]. A loss that measures the path shows that the end is at most the window.
    const fn next_ssthresh(&self, fresh: &Self, is_measured: bool) -> u32 {
        match (fresh.ssthresh, self.ssthresh) {
            (0, known) if !is_measured => known,
            (0 | END_UNKNOWN, 0 | END_UNKNOWN) => END_UNKNOWN,
            (0 | END_UNKNOWN, known) if is_measured && fresh.window < known => fresh.window,
            (0 | END_UNKNOWN, known) => known,
            (shown, _) => shown,
        }
    }

    /// Implements [`super::WindowPool::learn`] for a known path.
    pub(super) fn learn(
        &mut self,
        now: Instant,
        sample: &PathSample,
        is_measured: bool,
        terms: &ReservationTerms,
    ) -> bool {
        let fresh = Self::new(sample);
        // A probe may have shared the path with others: it shows the least that the path carries.
        let is_whole = sample.bdp > 0 || is_measured;
        if sample.rate > 0 && (is_whole || sample.rate > self.rate) {
            self.rate = sample.rate;
        }
        if !is_measured && fresh.aged_window(now, terms) < self.aged_window(now, terms) {
            return false;
        }
        let ssthresh = self.next_ssthresh(&fresh, is_measured);
        let fallbacks_in_row = self.fallbacks_in_row;
        *self = Self { rate: self.rate, ssthresh, fallbacks_in_row, ..fresh };
        true
    }

    /// Replaces the memory by that of another line, which is remembered from now on.
    pub(super) fn become_slower(
        &mut self,
        now: Instant,
        sample: &PathSample,
        terms: &ReservationTerms,
    ) {
        self.rate = sample.rate;
        self.fallbacks_in_row = 0;
        self.learn(now, sample, true, terms);
    }

    /// Handles a warm start whose first flight has found the path full. Half of the window is
    /// remembered, and after the second failure in a row no more than one segment. The rate is
    /// forgotten if that flight was delivered far more slowly (`is_slower`).
    pub(super) const fn fail(&mut self, is_slower: bool) {
        self.window = if self.fallbacks_in_row > 0 { 1 } else { self.window / 2 };
        if is_slower {
            self.rate = 0;
        }
        self.fallbacks_in_row = self.fallbacks_in_row.saturating_add(1);
    }

    pub(super) const fn forget_rate(&mut self) {
        self.rate = 0;
    }

    /// Notes that a warm start has ended without a loss of its first flight.
    pub(super) const fn confirm(&mut self) {
        self.fallbacks_in_row = 0;
    }

    /// Returns true if the path's capacity is unknown: no slow start has ended there, and no warm
    /// start has lost a segment. Then the window is only what was needed, and no bound
    /// (`has_shown_no_width` of the agent's programs).
    pub const fn has_shown_no_width(&self) -> bool {
        self.ssthresh == 0 && self.fallbacks_in_row == 0
    }

    /// Returns the smoothed round trip when the window was learnt.
    pub const fn srtt(&self) -> Duration {
        Duration::from_micros(self.srtt_us as u64)
    }
}
