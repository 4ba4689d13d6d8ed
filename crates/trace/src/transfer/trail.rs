//! What a transfer waited for in the last round trip: what an ACK says arrived has kept the path busy a
//! propagation time before, when the transfer may have waited for something else.

use super::ring::Ring;
use super::shares::TimeShare;
use fold::{Foldable, Folding};
use units::{Duration, Instant};

/// Waits that are remembered.
const MOST: usize = 64;
/// Round trips that are remembered: a loss is found one round trip after it, or a little more.
const REMEMBERED: u64 = 3;
/// What is claimed for the search for a loss.
const WINDOWS: [TimeShare; 3] =
    [TimeShare::SlowStart, TimeShare::Avoidance, TimeShare::ReceiverWindow];

/// From `began` on it waited for this; `None`: the window had room.
#[derive(Clone, Copy, Debug, Default)]
struct Wait {
    began: Instant,
    ended: Instant,
    share: Option<TimeShare>,
}

impl Foldable for Wait {
    fn fold(&mut self, folding: &mut Folding<'_>) {
        let Self { began, ended, share } = self;
        folding.each(began).each(ended).option(share, || TimeShare::Path);
    }
}

/// Bytes that arrived, by what the transfer waited for when the path carried them.
#[derive(Clone, Debug, Default)]
pub(super) struct WaitTrail {
    /// The latest wait, which most packets make longer.
    last: Option<Wait>,
    /// Those before it.
    before: Ring<Wait>,
    /// What ended before is forgotten: once it matters.
    forgotten: Instant,
    /// Waits in which the window had room, at most: what for is not known yet.
    rooms: usize,
    arrived: [u64; TimeShare::COUNT],
    in_room: u64,
    /// Where the last look for a wait ended: the next one begins there, since what is looked for moves on. Any place will do.
    looked_at: usize,
}

fold::state!(WaitTrail { last, before, forgotten, rooms, arrived, in_room; looked_at });

/// So long before an instant.
fn before(now: Instant, time: Duration) -> Instant {
    Instant::from_nanos(now.as_nanos().saturating_sub(time.as_nanos()))
}

impl WaitTrail {
    /// From `began` on the transfer waited for this, for a time.
    #[inline]
    pub(super) fn note(&mut self, began: Instant, time: Duration, share: Option<TimeShare>) {
        if time.is_zero() {
            return;
        }
        let ended = began + time;
        match &mut self.last {
            Some(last) if last.share == share => last.ended = ended,
            _ => self.begin(Wait { began, ended, share }),
        }
    }

    /// The window had room for `time` up to `now`, and that was for the application.
    #[inline]
    pub(super) fn note_application(&mut self, now: Instant, time: Duration, rtt: Duration) {
        let began = now - time;
        if self.rooms == 0 && self.in_room == 0 {
            // Nothing else is to be named.
            if !time.is_zero() {
                self.begin(Wait { began, ended: now, share: Some(TimeShare::Application) });
            }
            return self.on_arrival(now, 0, rtt);
        }
        self.note(began, time, None);
        self.on_arrival(now, 0, rtt);
        self.name_room(TimeShare::Application);
    }

    /// Another wait begins.
    fn begin(&mut self, wait: Wait) {
        if let Some(last) = self.last {
            if self.before.is_full() || self.before.len() + 1 >= MOST {
                self.forget();
            }
            self.before.push(last);
            if self.before.len() >= MOST {
                self.drop_first();
            }
        }
        self.last = Some(wait);
        self.rooms += usize::from(wait.share.is_none());
    }

    /// Forgets what is too long ago.
    fn forget(&mut self) {
        while self.before.first().is_some_and(|wait| wait.ended < self.forgotten) {
            self.drop_first();
        }
    }

    fn drop_first(&mut self) {
        self.before.drop_first();
        self.looked_at = self.looked_at.saturating_sub(1);
    }

    /// An ACK tells at `now` that `bytes` have arrived, over a path that takes `rtt` there and back.
    #[inline(always)]
    pub(super) fn on_arrival(&mut self, now: Instant, bytes: u64, rtt: Duration) {
        self.forgotten = self.forgotten.max(before(now, rtt.saturating_mul(REMEMBERED)));
        if bytes > 0 {
            self.arrive(before(now, rtt), bytes);
        }
    }

    /// So many bytes were carried then.
    #[inline(never)]
    fn arrive(&mut self, then: Instant, bytes: u64) {
        match self.wait_at(then) {
            Some(share) => self.arrived[share as usize] += bytes,
            None => self.in_room += bytes,
        }
    }

    /// What it waited for then; `None`: the window had room, or nobody knows.
    #[inline]
    fn wait_at(&mut self, then: Instant) -> Option<TimeShare> {
        let last = self.last.filter(|last| last.ended >= then)?;
        // Some that are there still count as forgotten.
        let since = then.max(self.forgotten);
        self.looked_at = self.before.search(self.looked_at, |wait| wait.ended < since);
        self.before.get(self.looked_at).map_or(last.share, |wait| wait.share)
    }

    /// All waiting for windows since an instant was for this instead. Answers what is moved.
    pub(super) fn claim(
        &mut self,
        since: Instant,
        share: TimeShare,
    ) -> impl Iterator<Item = (TimeShare, Duration)> {
        self.forget();
        let mut moved = [Duration::ZERO; TimeShare::COUNT];
        if let Some(last) = self.last {
            self.before.push(last);
        }
        let waits = self.before.as_mut_slice();
        if let Some(cut) = waits.iter().position(|w| w.began < since && since < w.ended) {
            let Wait { began, share, .. } = waits[cut];
            waits[cut].began = since;
            self.before.insert(cut, Wait { began, ended: since, share });
            self.rooms += usize::from(share.is_none());
        }
        for wait in self.before.as_mut_slice().iter_mut().filter(|wait| wait.began >= since) {
            if let Some(waited) = wait.share.filter(|waited| WINDOWS.contains(waited)) {
                moved[waited as usize] += wait.ended.saturating_since(wait.began);
                wait.share = Some(share);
            }
        }
        self.last = self.before.pop_last();
        TimeShare::ALL.into_iter().zip(moved).filter(|(_, time)| !time.is_zero())
    }

    /// The room that the window had is now known to have been for this.
    #[inline]
    pub(super) fn name_room(&mut self, share: TimeShare) {
        if self.rooms > 0 || self.in_room > 0 {
            self.name(share);
        }
    }

    fn name(&mut self, share: TimeShare) {
        self.arrived[share as usize] += std::mem::take(&mut self.in_room);
        let rooms = std::mem::take(&mut self.rooms);
        let mut left = rooms;
        if let Some(last) = self.last.as_mut().filter(|last| last.share.is_none() && left > 0) {
            last.share = Some(share);
            left -= 1;
        }
        if left > 0 {
            let rooms = self.before.as_mut_slice().iter_mut().rev();
            let rooms = rooms.filter(|wait| wait.share.is_none()).take(left);
            rooms.for_each(|wait| wait.share = Some(share));
        }
    }

    /// Bytes that the path carried while the transfer waited for this.
    pub(super) const fn carried(&self, share: TimeShare) -> u64 {
        self.arrived[share as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slow start for 100 ms, then a repair: what is known to have arrived within a round trip of 40 ms after the change
    /// was carried before it.
    #[test]
    fn what_arrived_was_carried_a_round_trip_before() {
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let (mut trail, rtt) = (WaitTrail::default(), Duration::from_millis(40));
        trail.note(at(0), rtt, Some(TimeShare::SlowStart));
        trail.note(at(50), rtt, Some(TimeShare::SlowStart));
        trail.note(at(90), Duration::ZERO, None);
        trail.note(at(90), Duration::from_millis(10), Some(TimeShare::SlowStart));
        trail.note(at(100), rtt * 2, Some(TimeShare::Recovery));
        for (ms, bytes) in [(60, 1), (120, 2), (140, 4), (141, 8), (200, 16)] {
            trail.on_arrival(at(ms), bytes, rtt);
        }
        assert_eq!(trail.carried(TimeShare::SlowStart), 7);
        assert_eq!(trail.carried(TimeShare::Recovery), 24);
        trail.note(at(200), rtt, None);
        trail.on_arrival(at(300), 32, rtt);
        trail.name_room(TimeShare::Application);
        assert_eq!(trail.carried(TimeShare::Application), 32);
    }

    /// While no round trip is known, all but the latest wait is forgotten: what arrives once one is known, and would have
    /// been carried before, counts as carried in the first wait that is left.
    #[test]
    fn what_is_forgotten_carries_nothing() {
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let ms = Duration::from_millis;
        let mut trail = WaitTrail::default();
        trail.note(at(0), ms(40), Some(TimeShare::SlowStart));
        trail.on_arrival(at(40), 0, Duration::ZERO);
        trail.note(at(40), ms(10), Some(TimeShare::Recovery));
        trail.on_arrival(at(50), 0, Duration::ZERO);
        trail.note(at(50), ms(10), Some(TimeShare::Avoidance));
        trail.on_arrival(at(60), 1, ms(40));
        assert_eq!(trail.carried(TimeShare::Recovery), 1);
    }

    /// Slow start from 0 to 100 ms, then a pause; the segment that was sent at 70 ms is found lost.
    #[test]
    fn waiting_since_a_loss_is_claimed() {
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let (mut trail, rtt) = (WaitTrail::default(), Duration::from_millis(100));
        trail.note(at(0), rtt, Some(TimeShare::SlowStart));
        trail.note(at(100), rtt, Some(TimeShare::Application));
        let claimed: Vec<_> = trail.claim(at(70), TimeShare::Recovery).collect();
        assert_eq!(claimed, [(TimeShare::SlowStart, Duration::from_millis(30))]);
        assert_eq!(trail.claim(at(70), TimeShare::Recovery).count(), 0);
        // What arrives at 150 ms was carried at 50, before the loss, and at 180 at 80.
        trail.on_arrival(at(150), 1, rtt);
        trail.on_arrival(at(180), 2, rtt);
        assert_eq!(
            (trail.carried(TimeShare::SlowStart), trail.carried(TimeShare::Recovery)),
            (1, 2)
        );
    }
}
