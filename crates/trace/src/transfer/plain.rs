//! A naive implementation of the trail of waits, as an oracle: both give the same results for any
//! input.

use super::shares::TimeShare;
use super::trail::WaitTrail;
use proptest::prelude::*;
use units::{Duration, Instant};

const MAX_WAITS: usize = 64;
/// The shares used: slow start, avoidance, recovery, the receiver's window, the application, room.
const SHARES: [Option<TimeShare>; 6] = [
    Some(TimeShare::SlowStart),
    Some(TimeShare::Avoidance),
    Some(TimeShare::Recovery),
    Some(TimeShare::ReceiverWindow),
    Some(TimeShare::Application),
    None,
];

/// Start, end and cause of a wait.
type PlainWait = (Instant, Instant, Option<TimeShare>);

#[derive(Default)]
struct PlainTrail {
    waits: Vec<PlainWait>,
    forgotten: Instant,
    rooms: usize,
    arrived: [u64; TimeShare::COUNT],
    in_room: u64,
}

impl PlainTrail {
    fn note_wait(&mut self, began: Instant, ended: Instant, share: Option<TimeShare>) {
        match self.waits.last_mut() {
            _ if began == ended => {}
            Some(last) if last.2 == share => last.1 = ended,
            _ => self.begin((began, ended, share)),
        }
    }

    fn begin(&mut self, wait: PlainWait) {
        if self.waits.len() >= MAX_WAITS {
            self.forget();
        }
        if self.waits.len() >= MAX_WAITS {
            self.waits.remove(0);
        }
        self.waits.push(wait);
        self.rooms += usize::from(wait.2.is_none());
    }

    fn forget(&mut self) {
        while self.waits.len() > 1 && self.waits[0].1 < self.forgotten {
            self.waits.remove(0);
        }
    }

    fn note_application(&mut self, began: Instant, now: Instant) {
        if self.rooms == 0 && self.in_room == 0 {
            self.note_wait(began, now, Some(TimeShare::Application));
        } else {
            self.note_wait(began, now, None);
            self.name_room(TimeShare::Application);
        }
    }

    fn on_arrival(&mut self, now: Instant, bytes: u64, rtt: Duration) {
        self.forgotten = self.forgotten.max(now - rtt * 3);
        match self.wait_at(now - rtt) {
            Some(share) => self.arrived[share as usize] += bytes,
            None => self.in_room += bytes,
        }
    }

    fn wait_at(&self, then: Instant) -> Option<TimeShare> {
        let last = self.waits.last().filter(|last| last.1 >= then)?;
        let since = then.max(self.forgotten);
        self.waits.iter().find(|wait| wait.1 >= since).unwrap_or(last).2
    }

    fn claim_waits(&mut self, since: Instant) -> Vec<(TimeShare, Duration)> {
        self.forget();
        if let Some(cut) = self.waits.iter().position(|wait| wait.0 < since && since < wait.1) {
            let (began, _, share) = self.waits[cut];
            self.waits[cut].0 = since;
            self.waits.insert(cut, (began, since, share));
            self.rooms += usize::from(share.is_none());
        }
        let mut claimed = Vec::new();
        for window in [TimeShare::SlowStart, TimeShare::Avoidance, TimeShare::ReceiverWindow] {
            let is_claimed = |wait: &&mut PlainWait| wait.0 >= since && wait.2 == Some(window);
            let mut time = Duration::ZERO;
            for wait in self.waits.iter_mut().filter(is_claimed) {
                time += wait.1.saturating_since(wait.0);
                wait.2 = Some(TimeShare::Recovery);
            }
            claimed.extend((!time.is_zero()).then_some((window, time)));
        }
        claimed
    }

    fn name_room(&mut self, share: TimeShare) {
        self.arrived[share as usize] += std::mem::take(&mut self.in_room);
        let rooms = self.waits.iter_mut().rev().filter(|wait| wait.2.is_none());
        rooms.take(self.rooms).for_each(|wait| wait.2 = Some(share));
        self.rooms = 0;
    }
}

proptest! {
    /// The input has waits with and without time between them, more than are remembered, on a path
    /// that gets shorter and longer.
    #[test]
    fn it_tells_what_a_plain_trail_tells(
        first_rtt in 0_u64..2_000,
        steps in proptest::collection::vec((0_u32..32, 0_u64..20, 0_usize..6, 0_u64..2_000), 1..600),
    ) {
        let mut rtt = Duration::from_nanos(first_rtt);
        let (mut trail, mut plain) = (WaitTrail::new(rtt), PlainTrail::default());
        let mut now = Instant::from_nanos(1_000);
        for (kind, nanos, share, back) in steps {
            let (began, time) = (now, Duration::from_nanos(nanos));
            now += time;
            match kind {
                0..10 => {
                    trail.note_wait(now, time, SHARES[share]);
                    plain.note_wait(began, now, SHARES[share]);
                }
                10..24 => {
                    trail.note_named(now, time, TimeShare::Application);
                    plain.note_application(began, now);
                    plain.forgotten = plain.forgotten.max(now - rtt * 3);
                }
                // The wait goes on later.
                24 => {}
                25 => {
                    let claimed: Vec<_> = {
                        trail.reassign_waits(now - Duration::from_nanos(back), TimeShare::Recovery).collect()
                    };
                    prop_assert_eq!(claimed, plain.claim_waits(now - Duration::from_nanos(back)));
                }
                26 => {
                    rtt = Duration::from_nanos(back);
                    trail.set_rtt(rtt);
                }
                27 => {
                    trail.name_room(TimeShare::Recovery);
                    plain.name_room(TimeShare::Recovery);
                }
                28 => {
                    let is_known = plain.rooms == 0 && plain.in_room == 0;
                    prop_assert_eq!(trail.prolong_last_wait(now), is_known && !plain.waits.is_empty());
                    if let Some(last) = plain.waits.last_mut().filter(|_| is_known) {
                        last.1 = now;
                    }
                }
                _ => {
                    trail.on_arrival(now, back + 1);
                    plain.on_arrival(now, back + 1, rtt);
                }
            }
            prop_assert!(TimeShare::ALL.iter().all(|&of| trail.carried_bytes(of) == plain.arrived[of as usize]));
        }
    }
}
