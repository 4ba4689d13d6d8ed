//! The causes that a transfer waited for in the last round trip. Data that an ACK reports as
//! delivered kept the path busy a propagation time earlier, when the transfer may have waited for
//! something else.

use super::shares::TimeShare;
use super::waits::Waits;
use units::{Duration, Instant};

/// Causes whose time is claimed for the search for a loss.
const WINDOWS: [TimeShare; 3] =
    [TimeShare::SlowStart, TimeShare::Avoidance, TimeShare::ReceiverWindow];

/// Delivered bytes, by the cause that the transfer waited for when the path carried them. The
/// fields that most packets read are at the beginning.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(super) struct WaitTrail {
    /// Bytes delivered while the window had room, for a cause that is not known yet.
    in_room: u64,
    waits: Waits,
    arrived: [u64; TimeShare::COUNT],
}

impl WaitTrail {
    /// Creates a trail for a path with the round trip `rtt`.
    pub(super) fn new(rtt: Duration) -> Self {
        Self { waits: Waits::new(rtt), ..Self::default() }
    }

    /// Sets the path's round trip to `rtt` from now on.
    pub(super) fn set_rtt(&mut self, rtt: Duration) {
        self.waits.set_rtt(rtt);
    }

    /// Notes that for `time` up to `now` the transfer waited for this.
    #[inline]
    pub(super) fn note_wait(&mut self, now: Instant, time: Duration, share: Option<TimeShare>) {
        if !time.is_zero() && !self.waits.extend(now, share) {
            self.waits.begin(now - time, now, share);
        }
    }

    /// Notes that the window had room for `time` up to `now`, which was spent on `share`. Earlier
    /// room without a name gets the same share.
    #[inline]
    pub(super) fn note_named(&mut self, now: Instant, time: Duration, share: TimeShare) {
        if self.has_unnamed() {
            self.note_wait(now, time, None);
            self.name(share);
        } else {
            self.note_wait(now, time, Some(share));
        }
        self.waits.note_look(now);
    }

    /// Prolongs the last wait, with the same cause, up to `now`. Returns false, with nothing
    /// changed, if the cause is not known.
    #[inline]
    pub(super) fn prolong_last_wait(&mut self, now: Instant) -> bool {
        !self.has_unnamed() && self.waits.prolong_latest(now)
    }

    /// Notes an ACK at `now` that reports `bytes` as delivered.
    #[inline]
    pub(super) fn on_arrival(&mut self, now: Instant, bytes: u64) {
        self.waits.note_look(now);
        if bytes > 0 {
            self.on_bytes(now, bytes);
        }
    }

    #[inline(never)]
    fn on_bytes(&mut self, now: Instant, bytes: u64) {
        match self.waits.share_when_sent(now) {
            Some(share) => self.arrived[share as usize] += bytes,
            None => self.in_room += bytes,
        }
    }

    /// Reassigns all waits for windows since an instant to this cause. Returns the time moved.
    pub(super) fn reassign_waits(
        &mut self,
        since: Instant,
        share: TimeShare,
    ) -> impl Iterator<Item = (TimeShare, Duration)> {
        let mut moved = [Duration::ZERO; TimeShare::COUNT];
        self.waits.each_since(since, |wait, time| {
            if let Some(waited) = wait.filter(|waited| WINDOWS.contains(waited)) {
                moved[waited as usize] += time;
                *wait = Some(share);
            }
        });
        TimeShare::ALL.into_iter().zip(moved).filter(|(_, time)| !time.is_zero())
    }

    /// Returns true if the cause of some of the window's room is not known yet.
    #[inline]
    const fn has_unnamed(&self) -> bool {
        self.waits.has_rooms() || self.in_room > 0
    }

    /// Names the cause of the window's room that had no name.
    #[inline]
    pub(super) fn name_room(&mut self, share: TimeShare) {
        if self.has_unnamed() {
            self.name(share);
        }
    }

    fn name(&mut self, share: TimeShare) {
        self.arrived[share as usize] += std::mem::take(&mut self.in_room);
        self.waits.name_rooms(share);
    }

    /// Returns the bytes that the path carried while the transfer waited for this.
    pub(super) const fn carried_bytes(&self, share: TimeShare) -> u64 {
        self.arrived[share as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slow start for 100 ms, then a repair. Data delivered within a round trip of 40 ms after the
    /// change was carried before it.
    #[test]
    fn what_arrived_was_carried_a_round_trip_before() {
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let rtt = Duration::from_millis(40);
        let mut trail = WaitTrail::new(rtt);
        trail.note_wait(at(40), rtt, Some(TimeShare::SlowStart));
        trail.note_wait(at(90), rtt, Some(TimeShare::SlowStart));
        trail.note_wait(at(90), Duration::ZERO, None);
        trail.note_wait(at(100), Duration::from_millis(10), Some(TimeShare::SlowStart));
        trail.note_wait(at(180), rtt * 2, Some(TimeShare::Recovery));
        for (ms, bytes) in [(60, 1), (120, 2), (140, 4), (141, 8), (200, 16)] {
            trail.on_arrival(at(ms), bytes);
        }
        assert_eq!(trail.carried_bytes(TimeShare::SlowStart), 7);
        assert_eq!(trail.carried_bytes(TimeShare::Recovery), 24);
        trail.note_wait(at(240), rtt, None);
        trail.on_arrival(at(300), 32);
        trail.name_room(TimeShare::Application);
        assert_eq!(trail.carried_bytes(TimeShare::Application), 32);
    }

    /// While no round trip is known, the trail keeps only the latest wait. Data delivered later may
    /// have been carried before that wait. It counts as carried in the first wait that is left.
    #[test]
    fn what_is_forgotten_carries_nothing() {
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let ms = Duration::from_millis;
        let mut trail = WaitTrail::default();
        trail.note_wait(at(40), ms(40), Some(TimeShare::SlowStart));
        trail.on_arrival(at(40), 0);
        trail.note_wait(at(50), ms(10), Some(TimeShare::Recovery));
        trail.on_arrival(at(50), 0);
        trail.note_wait(at(60), ms(10), Some(TimeShare::Avoidance));
        trail.set_rtt(ms(40));
        trail.on_arrival(at(60), 1);
        assert_eq!(trail.carried_bytes(TimeShare::Recovery), 1);
    }

    /// Slow start from 0 to 100 ms, then a pause; the segment that was sent at 70 ms is found lost.
    #[test]
    fn waiting_since_a_loss_is_claimed() {
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let rtt = Duration::from_millis(100);
        let mut trail = WaitTrail::new(rtt);
        trail.note_wait(at(100), rtt, Some(TimeShare::SlowStart));
        trail.note_wait(at(200), rtt, Some(TimeShare::Application));
        let claimed: Vec<_> = trail.reassign_waits(at(70), TimeShare::Recovery).collect();
        assert_eq!(claimed, [(TimeShare::SlowStart, Duration::from_millis(30))]);
        assert_eq!(trail.reassign_waits(at(70), TimeShare::Recovery).count(), 0);
        // Data delivered at 150 ms was carried at 50, before the loss, and at 180 at 80.
        trail.on_arrival(at(150), 1);
        trail.on_arrival(at(180), 2);
        assert_eq!(
            (trail.carried_bytes(TimeShare::SlowStart), trail.carried_bytes(TimeShare::Recovery)),
            (1, 2)
        );
    }
}
