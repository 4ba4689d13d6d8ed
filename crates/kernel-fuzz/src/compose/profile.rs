//! The properties of random scripts, by kind.

use crate::case::{FuzzHandshake, FuzzKind};
use crate::dice::Dice;
use units::Duration;

/// The network's and the peer's treatment of the host, in percent of segments.
#[derive(Clone, Debug, Default)]
pub(super) struct FuzzProfile {
    /// Segments of the host that are lost.
    pub(super) loss: u64,
    /// ACKs of the peer that are lost.
    pub(super) ack_loss: u64,
    /// Segments that are delivered twice.
    pub(super) duplicate: u64,
    /// Segments that are late by up to two round trips.
    pub(super) late: u64,
    /// Segments in order that one ACK acknowledges.
    pub(super) ack_every: u32,
    /// Time between two deliveries of one flight.
    pub(super) spacing: Duration,
    /// Times at which nothing is delivered.
    pub(super) outages: Vec<Outage>,
    /// ACKs that offer another window.
    pub(super) window_change: u64,
    /// Probes of a window that the peer does not answer.
    pub(super) probe_loss: u64,
    /// The peer takes back windows.
    pub(super) may_shrink: bool,
    /// Actions of the application and of the peer, in the order of time.
    pub(super) plan: Vec<PlannedAction>,
    /// Inputs at most.
    pub(super) most_steps: usize,
}

/// A time during which segments are lost, or wait for its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outage {
    pub(super) from: Duration,
    pub(super) to: Duration,
    /// Segments wait, and are not lost.
    pub(super) delays: bool,
}

/// An action of the application or of the peer that answers nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlannedAction {
    pub(super) at: Duration,
    pub(super) what: PlannedKind,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum PlannedKind {
    Write(u64),
    Read(u64),
    Shutdown,
    /// The peer sends these bytes of its stream, and perhaps a FIN behind them.
    PeerData {
        from: u32,
        len: u32,
        fin: bool,
    },
    /// The peer offers a window of this number of full segments.
    PeerWindow(u32),
}

/// An offset of the peer's stream that no window of the host admits, bytes.
pub(super) const OFFSET_OUTSIDE_WINDOW: u32 = 100_000;
/// A full segment of the peer, bytes, also with timestamps.
const FULL: u32 = 1448;
/// Handshakes have one of these round trips, milliseconds.
const ROUND_TRIPS: [u64; 5] = [10, 16, 20, 28, 40];

pub(super) fn random_handshake(kind: FuzzKind, dice: &mut Dice) -> FuzzHandshake {
    let scales: &[u8] = if kind == FuzzKind::Window { &[0, 2] } else { &[0, 2, 7] };
    let handshake = FuzzHandshake {
        round_trip: Duration::from_millis(dice.draw_one(&ROUND_TRIPS)),
        mss: dice.draw_one(&[1000, 1000, 1460, 536]),
        // Without SACK the model is another one than Linux (docs/adr/0003-linux-model.md).
        sack: true,
        timestamps: dice.draw_chance(40),
        window_scale: dice.draw_chance(60).then(|| dice.draw_one(scales)),
        window: dice.draw_one(&[20_000, 32_000, 60_000, 65_535]),
        no_delay: dice.draw_chance(50),
    };
    if kind != FuzzKind::Window {
        return handshake;
    }
    let segments = dice.draw_one(&[2, 4, 6, 8, 12, 20]);
    let window =
        if dice.draw_chance(90) { segments * handshake.payload() } else { dice.draw_below(20_000) };
    FuzzHandshake { window: window.max(400) as u16, ..handshake }
}

impl FuzzProfile {
    pub(super) fn random(kind: FuzzKind, handshake: &FuzzHandshake, dice: &mut Dice) -> Self {
        let base = Self {
            ack_every: dice.draw_one(&[1, 1, 2, 2, 4]),
            spacing: Duration::from_micros(dice.draw_one(&[0, 0, 200, 500, 5000])),
            probe_loss: 20,
            most_steps: 24,
            ..Self::default()
        };
        let start = handshake.round_trip;
        let profile = Self::of_kind(kind, base, start, dice);
        // The model counts bytes where the kernel counts segments. Short segments show that, and
        // would hide other differences.
        match dice.draw_chance(85) {
            true => profile.in_whole_segments(handshake.payload()),
            false => profile,
        }
    }

    fn in_whole_segments(mut self, full: u64) -> Self {
        for action in &mut self.plan {
            if let PlannedKind::Write(bytes) = &mut action.what {
                *bytes = bytes.next_multiple_of(full);
            }
        }
        self
    }

    fn of_kind(kind: FuzzKind, base: Self, start: Duration, dice: &mut Dice) -> Self {
        match kind {
            FuzzKind::Loss => Self {
                loss: dice.draw_one(&[5, 10, 20, 30]),
                ack_loss: dice.draw_one(&[0, 0, 10, 30]),
                late: dice.draw_one(&[0, 0, 5]),
                plan: writes(start, dice, &[4000, 10_000, 20_000, 40_000], 3),
                ..base
            },
            FuzzKind::Application => {
                Self { loss: dice.draw_one(&[0, 0, 3]), plan: requests(start, dice), ..base }
            }
            FuzzKind::Timeout => Self {
                loss: dice.draw_one(&[0, 5, 20]),
                ack_loss: dice.draw_one(&[0, 10]),
                outages: outages(start, dice),
                plan: writes(start, dice, &[1000, 3000, 10_000, 20_000], 3),
                ..base
            },
            FuzzKind::DuplicateSack => Self {
                loss: dice.draw_one(&[0, 3, 10]),
                duplicate: dice.draw_one(&[5, 10, 30]),
                late: dice.draw_one(&[10, 20, 40]),
                ack_loss: dice.draw_one(&[0, 0, 10]),
                plan: writes(start, dice, &[3000, 10_000, 20_000], 3),
                ..base
            },
            FuzzKind::Window => {
                let mut plan = writes(start, dice, &[1500, 5000, 15_000, 30_000], 3);
                plan.extend(window_updates(start, dice));
                if dice.draw_chance(40) {
                    plan.extend(peer_stream(start, dice, false));
                    plan.extend(reads(start, dice));
                }
                Self {
                    loss: dice.draw_one(&[0, 0, 5]),
                    window_change: dice.draw_one(&[20, 50, 80]),
                    may_shrink: dice.draw_chance(5),
                    plan: in_order(plan),
                    ..base
                }
            }
            FuzzKind::Fin => {
                let mut plan = peer_stream(start, dice, true);
                plan.extend(writes(start, dice, &[500, 1000, 5000, 15_000], 2));
                plan.extend(reads(start, dice));
                if dice.draw_chance(70) {
                    let at = start + Duration::from_millis(dice.draw_below(200));
                    plan.push(PlannedAction { at, what: PlannedKind::Shutdown });
                }
                Self {
                    loss: dice.draw_one(&[0, 0, 10, 30]),
                    ack_loss: dice.draw_one(&[0, 0, 20]),
                    window_change: dice.draw_one(&[0, 0, 30]),
                    plan: writes_before_shutdown(in_order(plan)),
                    ..base
                }
            }
        }
    }
}

/// Up to `most` writes of one of `sizes`, with short and long pauses.
fn writes(start: Duration, dice: &mut Dice, sizes: &[u64], most: u64) -> Vec<PlannedAction> {
    let mut at = start;
    let mut plan = Vec::new();
    for _ in 0..dice.draw_between(1, most) {
        let bytes = if dice.draw_chance(50) {
            dice.draw_one(sizes)
        } else {
            dice.draw_between(1, sizes[0] * 4)
        };
        plan.push(PlannedAction { at, what: PlannedKind::Write(bytes) });
        at += Duration::from_millis(dice.draw_one(&[0, 3, 15, 60, 150]));
    }
    plan
}

/// Requests of the peer and responses of the application. A pause may be longer than a timeout.
fn requests(start: Duration, dice: &mut Dice) -> Vec<PlannedAction> {
    let mut at = start;
    let mut from = 1;
    let mut plan = Vec::new();
    for _ in 0..dice.draw_between(1, 4) {
        if dice.draw_chance(50) {
            let len = dice.draw_one(&[100, 400, 1000]);
            plan.push(PlannedAction { at, what: PlannedKind::PeerData { from, len, fin: false } });
            plan.push(PlannedAction { at, what: PlannedKind::Read(20_000) });
            from += len;
            at += Duration::from_millis(dice.draw_one(&[0, 5, 20, 60]));
        }
        for _ in 0..dice.draw_between(1, 3) {
            let bytes = dice.draw_one(&[1, 100, 999, 1000, 1500, 5000, 12_000, 25_000]);
            plan.push(PlannedAction { at, what: PlannedKind::Write(bytes) });
            at += Duration::from_millis(dice.draw_one(&[0, 2, 10, 30]));
        }
        at += Duration::from_millis(dice.draw_one(&[20, 80, 250, 450]));
    }
    plan
}

/// One or two times at which nothing is delivered, long enough for a probe or a timeout.
fn outages(start: Duration, dice: &mut Dice) -> Vec<Outage> {
    let mut from = start;
    let mut list = Vec::new();
    for _ in 0..dice.draw_between(1, 2) {
        from += Duration::from_millis(dice.draw_one(&[0, 1, 15, 30, 80]));
        let to = from + Duration::from_millis(dice.draw_one(&[40, 100, 260, 400, 900]));
        list.push(Outage { from, to, delays: dice.draw_chance(50) });
        from = to;
    }
    list
}

/// Windows that the peer offers without being asked.
fn window_updates(start: Duration, dice: &mut Dice) -> Vec<PlannedAction> {
    let mut at = start;
    let mut plan = Vec::new();
    for _ in 0..dice.draw_between(1, 4) {
        at += Duration::from_millis(dice.draw_one(&[20, 60, 150, 300, 500]));
        let segments = dice.draw_one(&[0, 0, 2, 4, 8, 20]);
        plan.push(PlannedAction { at, what: PlannedKind::PeerWindow(segments) });
    }
    plan
}

/// Data of the peer in segments. Some are late or come twice, and a FIN may end them.
fn peer_stream(start: Duration, dice: &mut Dice, ends: bool) -> Vec<PlannedAction> {
    let mut at = start + Duration::from_millis(dice.draw_one(&[0, 5, 30]));
    let (mut from, mut plan) = (1, Vec::new());
    let count = dice.draw_between(0, 6);
    let on_last = dice.draw_chance(50);
    for index in 0..count {
        let len = dice.draw_one(&[100, 536, 1000, FULL]);
        let fin = ends && on_last && index + 1 == count;
        let what = PlannedKind::PeerData { from, len, fin };
        let late = if dice.draw_chance(20) { dice.draw_between(1, 60) } else { 0 };
        plan.push(PlannedAction { at: at + Duration::from_millis(late), what });
        if dice.draw_chance(80) {
            let read = PlannedKind::Read(50_000);
            plan.push(PlannedAction { at: at + Duration::from_millis(late), what: read });
        }
        if dice.draw_chance(10) {
            let again = at + Duration::from_millis(dice.draw_between(1, 80));
            plan.push(PlannedAction { at: again, what });
        }
        from += len;
        at += Duration::from_millis(dice.draw_one(&[0, 0, 1, 10, 50]));
    }
    if ends && !(on_last && count > 0) && dice.draw_chance(85) {
        at += Duration::from_millis(dice.draw_one(&[0, 5, 50]));
        let offset = if dice.draw_chance(8) { OFFSET_OUTSIDE_WINDOW } else { 0 };
        let what = PlannedKind::PeerData { from: from + offset, len: 0, fin: true };
        plan.push(PlannedAction { at, what });
    }
    plan
}

fn reads(start: Duration, dice: &mut Dice) -> Vec<PlannedAction> {
    let mut at = start;
    let mut plan = Vec::new();
    for _ in 0..dice.draw_between(0, 3) {
        at += Duration::from_millis(dice.draw_one(&[5, 30, 60, 120]));
        let what = PlannedKind::Read(dice.draw_one(&[100, 1000, 50_000]));
        plan.push(PlannedAction { at, what });
    }
    plan
}

fn in_order(mut plan: Vec<PlannedAction>) -> Vec<PlannedAction> {
    plan.sort_by_key(|action| action.at);
    plan
}

/// An application that has shut down its side writes no more.
fn writes_before_shutdown(plan: Vec<PlannedAction>) -> Vec<PlannedAction> {
    let mut shut = false;
    let kept = plan.into_iter().filter(|action| {
        let keeps = !(shut && matches!(action.what, PlannedKind::Write(_)));
        shut |= matches!(action.what, PlannedKind::Shutdown);
        keeps
    });
    kept.collect()
}
