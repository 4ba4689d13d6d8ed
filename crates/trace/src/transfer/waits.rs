//! The waits of a transfer in their order, in little memory: most packets of a response add one, and most ACKs look for one.

use super::shares::TimeShare;
use units::{Duration, Instant};

/// Waits that are remembered.
const MOST: u32 = 64;
/// Round trips that are remembered: a loss is found one round trip after it, or a little more.
const REMEMBERED: u64 = 3;
/// Places at first.
const FIRST: usize = 16;
/// A search looks at so many together: where it ends among them takes no branch, which would often be predicted wrongly.
const TOGETHER: usize = 4;

/// A wait, in nine bytes. Its beginning is not stored: it begins where the one before ends.
#[derive(Clone, Copy, Debug, Default)]
struct PastWait {
    ended: [u8; 8],
    /// What for; `None`: the window had room.
    share: Option<TimeShare>,
}

impl PastWait {
    #[inline]
    const fn new(ended: Instant, share: Option<TimeShare>) -> Self {
        Self { ended: ended.as_nanos().to_ne_bytes(), share }
    }

    #[inline]
    const fn ended(&self) -> Instant {
        Instant::from_nanos(u64::from_ne_bytes(self.ended))
    }
}

/// Instants at which waiting began behind a time without, in their order.
#[derive(Clone, Debug, Default)]
struct Resumed {
    at: Vec<Instant>,
}

/// Waits in their order. The latest stays, whatever is forgotten. What most packets look at is at the beginning.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(super) struct Waits {
    /// When the latest ended.
    until: Instant,
    places: Box<[PastWait]>,
    first: u32,
    end: u32,
    /// Waits in which the window had room, at most: what for is not known yet.
    rooms: u32,
    /// Where the last search ended. The next one begins there, since later ACKs tell of later arrivals.
    found: u32,
    /// When the last look was taken since the path was found to be so long: what is forgotten depends on it.
    seen: Instant,
    /// What it looked for.
    sought: Instant,
    /// The path there and back.
    rtt: Duration,
    /// What ended before was forgotten when the path was last found to be shorter or longer.
    forgotten: Instant,
    /// When the one before the first place ended, or else when the first of all began.
    started: Instant,
    /// Nearly every wait begins when the one before ends. The others begin at these.
    resumed: Option<Box<Resumed>>,
}

impl Waits {
    /// On a path that takes `rtt` there and back.
    pub(super) fn new(rtt: Duration) -> Self {
        Self { rtt, ..Self::default() }
    }

    /// The path takes `rtt` there and back from now on.
    pub(super) fn set_rtt(&mut self, rtt: Duration) {
        self.forgotten = self.forgotten();
        (self.rtt, self.seen) = (rtt, Instant::ZERO);
    }

    /// Looks at the path, no earlier than before. What is too long ago then is forgotten, once that
    /// matters.
    #[inline]
    pub(super) fn look(&mut self, now: Instant) {
        debug_assert!(self.seen <= now);
        self.seen = now;
    }

    /// What ended before is forgotten.
    fn forgotten(&self) -> Instant {
        self.forgotten.max(before(self.seen, self.rtt.saturating_mul(REMEMBERED)))
    }

    #[inline]
    fn live(&self) -> &[PastWait] {
        &self.places[self.first as usize..self.end as usize]
    }

    #[inline]
    fn live_mut(&mut self) -> &mut [PastWait] {
        &mut self.places[self.first as usize..self.end as usize]
    }

    /// In some of them the window had room, and what for is not known yet.
    #[inline]
    pub(super) const fn has_rooms(&self) -> bool {
        self.rooms > 0
    }

    /// Makes the latest longer. False, and nothing has changed, if it was for something else, or there is none.
    #[inline]
    pub(super) fn extend(&mut self, ended: Instant, share: Option<TimeShare>) -> bool {
        let latest = self.places.get_mut(self.end.wrapping_sub(1) as usize);
        let Some(latest) = latest.filter(|latest| latest.share == share) else { return false };
        *latest = PastWait::new(ended, share);
        self.until = ended;
        true
    }

    /// Makes the latest longer, whatever it was for. False if there is none.
    #[inline]
    pub(super) fn prolong(&mut self, ended: Instant) -> bool {
        let Some(latest) = self.places.get_mut(self.end.wrapping_sub(1) as usize) else {
            return false;
        };
        *latest = PastWait::new(ended, latest.share);
        self.until = ended;
        true
    }

    /// Another wait begins, which takes some time.
    #[inline]
    pub(super) fn begin(&mut self, began: Instant, ended: Instant, share: Option<TimeShare>) {
        debug_assert!(began < ended);
        let count = self.end - self.first;
        let is_usual = count <= MOST && began == self.until;
        let place = self.places.get_mut(self.end as usize).filter(|_| is_usual);
        let Some(place) = place else {
            return self.begin_apart(began, ended, share);
        };
        *place = PastWait::new(ended, share);
        // If as many as possible are remembered, the first one goes.
        self.first += u32::from(count == MOST);
        self.end += 1;
        self.rooms += u32::from(share.is_none());
        self.until = ended;
    }

    /// The same, where room has to be made, or waiting begins behind a time without.
    #[inline(never)]
    fn begin_apart(&mut self, began: Instant, ended: Instant, share: Option<TimeShare>) {
        if self.end == 0 {
            self.started = began;
        } else if began != self.until {
            self.resume(began);
        }
        if self.end - self.first > MOST {
            self.forget();
        }
        self.first += u32::from(self.end - self.first >= MOST);
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

    /// Moves the waits to the beginning of the places. There are more places afterwards if few are left.
    fn make_room(&mut self) {
        self.forget();
        self.started = self.start();
        let (first, end) = (self.first as usize, self.end as usize);
        self.places.copy_within(first..end, 0);
        (self.first, self.end) = (0, self.end - self.first);
        self.found = self.found.saturating_sub(first as u32);
        if (end - first) * 4 > self.places.len() * 3 || self.places.is_empty() {
            let mut places = std::mem::take(&mut self.places).into_vec();
            places.resize((4 * places.len()).max(FIRST), PastWait::default());
            self.places = places.into_boxed_slice();
        }
    }

    /// Forgets those that ended too long ago.
    fn forget(&mut self) {
        let forgotten = self.forgotten();
        let is_over = |wait: &PastWait| wait.ended() < forgotten;
        if let [before @ .., _] = self.live() {
            self.first += before.partition_point(is_over) as u32;
        }
    }

    /// When the one before the first ended, or else when that began.
    fn start(&self) -> Instant {
        let before = self.places.get(self.first.wrapping_sub(1) as usize);
        before.map_or(self.started, PastWait::ended)
    }

    /// What was waited for a way there and back before now; `None`: the window had room, or nobody knows.
    #[inline]
    pub(super) fn share_when_sent(&mut self, now: Instant) -> Option<TimeShare> {
        let then = before(now, self.rtt);
        if self.until < then {
            return None;
        }
        // Some that are there still count as forgotten.
        self.share_at(then.max(self.forgotten))
    }

    /// What the first was for that did not end before an instant, or else the latest.
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

    /// Calls for each wait, and for what it took, from an instant on. The one under way then is cut in two.
    pub(super) fn each_since(
        &mut self,
        since: Instant,
        mut each: impl FnMut(&mut Option<TimeShare>, Duration),
    ) {
        self.forget();
        let mut index = self.live().partition_point(|wait| wait.ended() <= since);
        let before = index.checked_sub(1).map_or(self.start(), |one| self.live()[one].ended());
        let Some(wait) = self.live().get(index) else { return };
        let mut began = begin_of(self.resumed.as_deref(), before, wait.ended());
        if began < since {
            self.insert(index, PastWait::new(since, wait.share));
            (index, began) = (index + 1, since);
        }
        for wait in &mut self.places[self.first as usize..self.end as usize][index..] {
            let ended = wait.ended();
            began = begin_of(self.resumed.as_deref(), began, ended);
            each(&mut wait.share, ended.saturating_since(began));
            began = ended;
        }
    }

    /// Puts one in before another.
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

    /// The room that the window had was for this.
    pub(super) fn name_rooms(&mut self, share: TimeShare) {
        let rooms = std::mem::take(&mut self.rooms) as usize;
        let unnamed = self.live_mut().iter_mut().rev().filter(|wait| wait.share.is_none());
        unnamed.take(rooms).for_each(|wait| wait.share = Some(share));
    }
}

/// So long before an instant.
fn before(now: Instant, time: Duration) -> Instant {
    Instant::from_nanos(now.as_nanos().saturating_sub(time.as_nanos()))
}

/// When the wait began that ended at `ended`, while the one before ended at `before`.
fn begin_of(resumed: Option<&Resumed>, before: Instant, ended: Instant) -> Instant {
    let resumed = resumed
        .and_then(|resumed| resumed.at.iter().copied().find(|&at| before < at && at < ended));
    resumed.unwrap_or(before)
}

/// How many of them ended before an instant: these are the first ones.
#[inline]
fn ended_before(waits: &[PastWait], since: Instant) -> usize {
    let (fours, rest) = waits.as_chunks::<TOGETHER>();
    let mut passed = 0;
    for four in fours {
        let ended: usize = four.iter().map(|wait| usize::from(wait.ended() < since)).sum();
        passed += ended;
        if ended < TOGETHER {
            return passed;
        }
    }
    passed + rest.iter().take_while(|wait| wait.ended() < since).count()
}
