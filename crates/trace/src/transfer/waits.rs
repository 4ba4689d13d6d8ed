//! The waits of a transfer in their order, in little memory: most packets of a response add one,
//! and most ACKs search for one.

use super::shares::TimeShare;
use units::{Duration, Instant};

/// Maximum number of waits that are remembered.
const MAX_WAITS: u32 = 64;
/// Number of round trips that are remembered: a loss is found one round trip after it, or a little
/// more.
const REMEMBERED: u64 = 3;
/// Initial capacity.
const INITIAL_CAPACITY: usize = 16;
/// Number of waits that a search compares at once. It finds the end among them without a branch,
/// which would often be mispredicted.
const SEARCH_LANES: usize = 4;

/// A wait, in nine bytes. Its start is not stored: it starts at the end of the one before.
#[derive(Clone, Copy, Debug, Default)]
struct PastWait {
    ended: [u8; 8],
    /// The cause; `None`: the window had room.
    share: Option<TimeShare>,
}

impl PastWait {
    #[inline]
    const fn new(ended: Instant, share: Option<TimeShare>) -> Self {
        Self { ended: ended.as_nanos().to_ne_bytes(), share }
    }

    #[inline]
    const fn end(&self) -> Instant {
        Instant::from_nanos(u64::from_ne_bytes(self.ended))
    }
}

/// Instants at which waiting began after a time without waits, in their order.
#[derive(Clone, Debug, Default)]
struct Resumed {
    at: Vec<Instant>,
}

/// Waits in their order. The latest is never forgotten. The fields that most packets read are at
/// the beginning.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(super) struct Waits {
    /// Time at which the latest ended.
    until: Instant,
    places: Box<[PastWait]>,
    first: u32,
    end: u32,
    /// Upper bound of the number of waits in which the window had room for an unknown cause.
    rooms: u32,
    /// Index at which the last search ended. The next one begins there, since later ACKs report
    /// later arrivals.
    found: u32,
    /// Time of the last search since the path's round trip was set: it determines which waits are
    /// forgotten.
    seen: Instant,
    /// The instant that the last search was for.
    sought: Instant,
    /// The path's round trip.
    rtt: Duration,
    /// Waits that ended before this instant were forgotten when the path was last found to be
    /// shorter or longer.
    forgotten: Instant,
    /// End of the wait before the first one, or else the start of the first of all.
    started: Instant,
    /// Starts of the waits that do not begin at the end of the one before; nearly all do.
    resumed: Option<Box<Resumed>>,
}

impl Waits {
    /// Creates the waits for a path with the round trip `rtt`.
    pub(super) fn new(rtt: Duration) -> Self {
        Self { rtt, ..Self::default() }
    }

    /// Sets the path's round trip to `rtt` from now on.
    pub(super) fn set_rtt(&mut self, rtt: Duration) {
        self.forgotten = self.forget_before();
        (self.rtt, self.seen) = (rtt, Instant::ZERO);
    }

    /// Notes a look at the path, no earlier than the last one. Waits that are too old then are
    /// forgotten, once that matters.
    #[inline]
    pub(super) fn note_look(&mut self, now: Instant) {
        debug_assert!(self.seen <= now);
        self.seen = now;
    }

    /// Returns the instant before which ended waits are forgotten.
    fn forget_before(&self) -> Instant {
        self.forgotten.max(instant_before(self.seen, self.rtt.saturating_mul(REMEMBERED)))
    }

    #[inline]
    fn live_waits(&self) -> &[PastWait] {
        &self.places[self.first as usize..self.end as usize]
    }

    #[inline]
    fn live_mut(&mut self) -> &mut [PastWait] {
        &mut self.places[self.first as usize..self.end as usize]
    }

    /// Returns true if some waits have an unknown cause because the window had room.
    #[inline]
    pub(super) const fn has_rooms(&self) -> bool {
        self.rooms > 0
    }

    /// Prolongs the latest wait. Returns false, with nothing changed, if it has another cause, or
    /// there is none.
    #[inline]
    pub(super) fn extend(&mut self, ended: Instant, share: Option<TimeShare>) -> bool {
        let latest = self.places.get_mut(self.end.wrapping_sub(1) as usize);
        let Some(latest) = latest.filter(|latest| latest.share == share) else { return false };
        *latest = PastWait::new(ended, share);
        self.until = ended;
        true
    }

    /// Prolongs the latest wait, whatever its cause. Returns false if there is none.
    #[inline]
    pub(super) fn prolong_latest(&mut self, ended: Instant) -> bool {
        let Some(latest) = self.places.get_mut(self.end.wrapping_sub(1) as usize) else {
            return false;
        };
        *latest = PastWait::new(ended, latest.share);
        self.until = ended;
        true
    }

    /// Adds a wait, which takes some time.
    #[inline]
    pub(super) fn begin(&mut self, began: Instant, ended: Instant, share: Option<TimeShare>) {
        debug_assert!(began < ended);
        let count = self.end - self.first;
        let is_usual = count <= MAX_WAITS && began == self.until;
        let place = self.places.get_mut(self.end as usize).filter(|_| is_usual);
        let Some(place) = place else {
            return self.begin_apart(began, ended, share);
        };
        *place = PastWait::new(ended, share);
        // If the maximum is remembered, the first one is dropped.
        self.first += u32::from(count == MAX_WAITS);
        self.end += 1;
        self.rooms += u32::from(share.is_none());
        self.until = ended;
    }

    /// Adds a wait if memory has to be made, or if it follows a time without waits.
    #[inline(never)]
    fn begin_apart(&mut self, began: Instant, ended: Instant, share: Option<TimeShare>) {
        if self.end == 0 {
            self.started = began;
        } else if began != self.until {
            self.resume(began);
        }
        if self.end - self.first > MAX_WAITS {
            self.forget();
        }
        self.first += u32::from(self.end - self.first >= MAX_WAITS);
        if self.end as usize == self.places.len() {
            self.make_room();
        }
        self.places[self.end as usize] = PastWait::new(ended, share);
        self.end += 1;
        self.rooms += u32::from(share.is_none());
        self.until = ended;
    }

    #[cold]
    fn resume(&mut self, began: Instant) {
        let start = self.start();
        let resumed = self.resumed.get_or_insert_default();
        resumed.at.retain(|&at| at > start);
        resumed.at.push(began);
    }

    /// Moves the waits to the beginning of the array, and enlarges it if little room is left.
    fn make_room(&mut self) {
        self.forget();
        self.started = self.start();
        let (first, end) = (self.first as usize, self.end as usize);
        self.places.copy_within(first..end, 0);
        (self.first, self.end) = (0, self.end - self.first);
        self.found = self.found.saturating_sub(first as u32);
        if (end - first) * 4 > self.places.len() * 3 || self.places.is_empty() {
            let mut places = std::mem::take(&mut self.places).into_vec();
            places.resize((4 * places.len()).max(INITIAL_CAPACITY), PastWait::default());
            self.places = places.into_boxed_slice();
        }
    }

    /// Forgets waits that ended too long ago.
    fn forget(&mut self) {
        let forgotten = self.forget_before();
        let is_over = |wait: &PastWait| wait.end() < forgotten;
        if let [before @ .., _] = self.live_waits() {
            self.first += before.partition_point(is_over) as u32;
        }
    }

    /// Returns the end of the wait before the first, or else the first one's start.
    fn start(&self) -> Instant {
        let before = self.places.get(self.first.wrapping_sub(1) as usize);
        before.map_or(self.started, PastWait::end)
    }

    /// Returns the cause of the wait one round trip before now; `None`: the window had room, or the
    /// cause is unknown.
    #[inline]
    pub(super) fn share_when_sent(&mut self, now: Instant) -> Option<TimeShare> {
        let then = instant_before(now, self.rtt);
        if self.until < then {
            return None;
        }
        // Some remembered waits already count as forgotten.
        self.share_at(then.max(self.forgotten))
    }

    /// Returns the cause of the first wait that did not end before an instant, or else of the
    /// latest.
    #[inline]
    fn share_at(&mut self, since: Instant) -> Option<TimeShare> {
        let is_later = since >= self.sought;
        let from = if is_later { self.found.max(self.first) } else { self.first } as usize;
        let left = self.places.get(from..self.end as usize)?;
        let latest = left.len().checked_sub(1)?;
        let passed = ended_before(left, since).min(latest);
        (self.found, self.sought) = ((from + passed) as u32, since);
        left[passed].share
    }

    /// Calls `each` for each wait, and its duration, from an instant on. A wait across that instant
    /// is cut in two.
    pub(super) fn each_since(
        &mut self,
        since: Instant,
        mut each: impl FnMut(&mut Option<TimeShare>, Duration),
    ) {
        self.forget();
        let mut index = self.live_waits().partition_point(|wait| wait.end() <= since);
        let before = index.checked_sub(1).map_or(self.start(), |one| self.live_waits()[one].end());
        let Some(wait) = self.live_waits().get(index) else { return };
        let mut began = begin_of(self.resumed.as_deref(), before, wait.end());
        if began < since {
            self.insert(index, PastWait::new(since, wait.share));
            (index, began) = (index + 1, since);
        }
        for wait in &mut self.places[self.first as usize..self.end as usize][index..] {
            let ended = wait.end();
            began = begin_of(self.resumed.as_deref(), began, ended);
            each(&mut wait.share, ended.saturating_since(began));
            began = ended;
        }
    }

    /// Inserts a wait before another.
    fn insert(&mut self, index: usize, wait: PastWait) {
        if self.end as usize == self.places.len() {
            self.make_room();
        }
        self.end += 1;
        self.rooms += u32::from(wait.share.is_none());
        let behind = &mut self.live_mut()[index..];
        behind.rotate_right(1);
        behind[0] = wait;
    }

    /// Names the cause of the waits in which the window had room.
    pub(super) fn name_rooms(&mut self, share: TimeShare) {
        let rooms = std::mem::take(&mut self.rooms) as usize;
        let unnamed = self.live_mut().iter_mut().rev().filter(|wait| wait.share.is_none());
        unnamed.take(rooms).for_each(|wait| wait.share = Some(share));
    }
}

/// Returns the instant `time` before `now`.
fn instant_before(now: Instant, time: Duration) -> Instant {
    Instant::from_nanos(now.as_nanos().saturating_sub(time.as_nanos()))
}

/// Returns the start of the wait that ended at `ended`, while the one before ended at `before`.
fn begin_of(resumed: Option<&Resumed>, before: Instant, ended: Instant) -> Instant {
    let resumed = resumed
        .and_then(|resumed| resumed.at.iter().copied().find(|&at| before < at && at < ended));
    resumed.unwrap_or(before)
}

/// Returns how many of the waits, which are sorted, ended before an instant.
#[inline]
fn ended_before(waits: &[PastWait], since: Instant) -> usize {
    let (fours, rest) = waits.as_chunks::<SEARCH_LANES>();
    let mut passed = 0;
    for four in fours {
        let ended: usize = four.iter().map(|wait| usize::from(wait.end() < since)).sum();
        passed += ended;
        if ended < SEARCH_LANES {
            return passed;
        }
    }
    passed + rest.iter().take_while(|wait| wait.end() < since).count()
}
