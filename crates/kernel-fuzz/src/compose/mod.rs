//! Random cases: a peer and a network that answer the model's segments.
//!
//! A script has to name the segments that reach the host, and these depend on the segments of the
//! host. So a case is made while the model plays it. Its steps need no model afterwards.

mod peer;
mod profile;

use crate::case::{FuzzCase, FuzzKind, FuzzStep, Stimulus};
use crate::dice::Dice;
use crate::recording::{FIRST_TIMESTAMP, ScriptRecording, Unplayable};
use peer::{PeerReaction, PeerReceiver};
use profile::{FuzzProfile, OFFSET_OUTSIDE_WINDOW, PlannedAction, PlannedKind, random_handshake};
use std::collections::VecDeque;
use tcp::{Flags, Segment};
use units::{Duration, Instant, SeqNum};

/// Times between two turns of the composer's loop, which bounds it whatever the timers do.
const MAX_TURNS: usize = 500;
/// The longest time that a script lasts.
const LONGEST: Duration = Duration::from_millis(2500);
/// Times that a script goes on after its last step, milliseconds: timers may fire.
const QUIET: [u64; 3] = [30, 120, 400];
/// A round trip is longer than that of the handshake by this. RACK compares both, and the kernel's
/// clock is exact to the microsecond.
const LONGER: Duration = Duration::from_micros(500);
/// The peer's delayed ACK.
const DELAYED: Duration = Duration::from_millis(40);

/// A segment of the host on its way to the peer; its ACK reaches the host at `at`.
#[derive(Clone, Copy, Debug)]
struct OnTheWay {
    at: Instant,
    segment: Segment,
}

struct Composer {
    dice: Dice,
    profile: FuzzProfile,
    round_trip: Duration,
    /// Bytes of a full segment of the host.
    payload: u32,
    recording: ScriptRecording,
    peer: PeerReceiver,
    plan: VecDeque<PlannedAction>,
    on_the_way: Vec<OnTheWay>,
    /// Segments of the host that were given a fate.
    seen: usize,
    last_delivery: Instant,
    /// The time at which the peer's delayed ACK is due.
    delayed_ack: Option<Instant>,
    steps: Vec<FuzzStep>,
}

/// The next event of a case.
enum NextEvent {
    Planned(PlannedAction),
    Delivery(Segment),
    DelayedAck,
}

/// The random case of a kind and a seed.
///
/// # Errors
/// If the model makes no progress.
pub fn compose(kind: FuzzKind, seed: u64) -> Result<FuzzCase, Unplayable> {
    let mut dice = Dice::new(seed, kind as u64);
    let handshake = random_handshake(kind, &mut dice);
    let profile = FuzzProfile::random(kind, &handshake, &mut dice);
    let recording = ScriptRecording::open(&handshake)?;
    let mut peer = PeerReceiver::new(&handshake, handshake.timestamps.then_some(FIRST_TIMESTAMP));
    peer.may_shrink = profile.may_shrink;
    let mut composer = Composer {
        plan: profile.plan.iter().copied().collect(),
        round_trip: handshake.round_trip,
        payload: handshake.payload() as u32,
        profile,
        recording,
        peer,
        on_the_way: Vec::new(),
        seen: 0,
        last_delivery: Instant::ZERO,
        delayed_ack: None,
        steps: Vec::new(),
        dice,
    };
    composer.run()?;
    let quiet = Duration::from_millis(composer.dice.pick(&QUIET));
    let end = composer.recording.now() + quiet;
    let end = composer.recording.reach_safe(end)? - Instant::ZERO;
    Ok(FuzzCase { handshake, steps: composer.steps, end })
}

impl Composer {
    fn run(&mut self) -> Result<(), Unplayable> {
        for _ in 0..MAX_TURNS {
            self.give_fates();
            if self.steps.len() >= self.profile.most_steps {
                return Ok(());
            }
            let next = self.next_at();
            let timer = self.recording.next_timer();
            let latest = Instant::ZERO + LONGEST;
            let wanted = match (next, timer) {
                (Some(at), _) if at > latest => return Ok(()),
                // Segments that a timer sends get their fates before anything later happens.
                (Some(at), Some(timer)) if timer <= at => {
                    self.recording.advance(timer)?;
                    continue;
                }
                (Some(at), _) => at,
                (None, Some(timer)) if timer <= latest => {
                    self.recording.advance(timer)?;
                    continue;
                }
                (None, _) => return Ok(()),
            };
            let at = self.recording.reach_safe(wanted)?;
            let event = self.take_next();
            self.happen(at, event)?;
        }
        Ok(())
    }

    /// When the next planned action, delivery or delayed ACK is.
    fn next_at(&self) -> Option<Instant> {
        let planned = self.plan.front().map(|action| Instant::ZERO + action.at);
        let delivery = self.on_the_way.iter().map(|one| one.at).min();
        [planned, delivery, self.delayed_ack].into_iter().flatten().min()
    }

    fn take_next(&mut self) -> NextEvent {
        let at = self.next_at().unwrap_or(Instant::ZERO);
        if self.plan.front().is_some_and(|action| Instant::ZERO + action.at <= at)
            && let Some(action) = self.plan.pop_front()
        {
            return NextEvent::Planned(action);
        }
        match self.on_the_way.iter().position(|one| one.at <= at) {
            Some(place) => NextEvent::Delivery(self.on_the_way.remove(place).segment),
            None => NextEvent::DelayedAck,
        }
    }

    fn happen(&mut self, at: Instant, event: NextEvent) -> Result<(), Unplayable> {
        match event {
            NextEvent::Planned(action) => self.act(at, action.what),
            NextEvent::DelayedAck => self.acknowledge(at),
            NextEvent::Delivery(segment) => {
                let is_probe = segment.sequence_len() == 0;
                let reaction = self.peer.receive(&segment);
                if is_probe && self.dice.chance(self.profile.probe_loss) {
                    return Ok(());
                }
                let enough = self.peer.unacknowledged() >= self.profile.ack_every;
                match reaction {
                    PeerReaction::Nothing => Ok(()),
                    PeerReaction::MayWait if !enough => {
                        self.delayed_ack.get_or_insert(at + DELAYED);
                        Ok(())
                    }
                    _ => self.acknowledge(at),
                }
            }
        }
    }

    /// The peer's ACK reaches the host, or is lost.
    fn acknowledge(&mut self, at: Instant) -> Result<(), Unplayable> {
        self.delayed_ack = None;
        if self.dice.chance(self.profile.window_change) {
            let segments = self.dice.pick(&[0, 1, 2, 4, 8, 20, 40]);
            self.peer.window = segments * self.payload;
        }
        let ack = self.peer.acknowledgement(peer_clock(at));
        if self.dice.chance(self.profile.ack_loss) {
            return Ok(());
        }
        self.apply(at, Stimulus::Segment(ack))
    }

    fn act(&mut self, at: Instant, what: PlannedKind) -> Result<(), Unplayable> {
        match what {
            PlannedKind::Write(bytes) => self.apply(at, Stimulus::Write(bytes)),
            PlannedKind::Read(bytes) => match self.recording.readable() {
                0 => Ok(()),
                _ => self.apply(at, Stimulus::Read(bytes)),
            },
            PlannedKind::Shutdown => self.apply(at, Stimulus::Shutdown),
            PlannedKind::PeerWindow(segments) => {
                self.peer.window = segments * self.payload;
                let update = self.peer.segment(peer_clock(at));
                self.apply(at, Stimulus::Segment(update))
            }
            PlannedKind::PeerData { from, len, fin } => {
                let mut segment = self.peer.segment(peer_clock(at));
                segment.seq = SeqNum(from);
                segment.len = len;
                segment.flags = if fin { segment.flags.with(Flags::FIN) } else { segment.flags };
                let end = from + segment.sequence_len();
                if from < OFFSET_OUTSIDE_WINDOW {
                    self.peer.own_next = self.peer.own_next.max(end);
                }
                self.apply(at, Stimulus::Segment(segment))
            }
        }
    }

    fn apply(&mut self, at: Instant, stimulus: Stimulus) -> Result<(), Unplayable> {
        self.recording.apply(at, &stimulus)?;
        self.steps.push(FuzzStep { at: at - Instant::ZERO, stimulus });
        Ok(())
    }

    /// Decides what the network does to each segment that the host has sent since.
    fn give_fates(&mut self) {
        let fresh = self.recording.sent()[self.seen..].to_vec();
        self.seen += fresh.len();
        for sent in fresh {
            let elapsed = sent.at - Instant::ZERO;
            let outage = self.profile.outages.iter().find(|o| o.from <= elapsed && elapsed < o.to);
            let outage = outage.copied();
            let is_lost = outage.is_some_and(|outage| !outage.delays);
            if is_lost || self.dice.chance(self.profile.loss) {
                continue;
            }
            // A segment that the kernel sends late has a round trip that is no shorter than others.
            let earliest = sent.at + sent.late + self.round_trip + LONGER;
            let mut at = earliest.max(self.last_delivery + self.profile.spacing);
            if let Some(outage) = outage {
                at = at.max(Instant::ZERO + outage.to + self.profile.spacing);
            }
            self.last_delivery = at;
            if self.dice.chance(self.profile.late) {
                let round_trip = self.round_trip.as_micros();
                at += Duration::from_micros(self.dice.between(1000, 2 * round_trip));
            }
            self.on_the_way.push(OnTheWay { at, segment: sent.segment });
            if self.dice.chance(self.profile.duplicate) {
                let again = at + Duration::from_millis(self.dice.below(20));
                self.on_the_way.push(OnTheWay { at: again, segment: sent.segment });
            }
        }
        self.on_the_way.sort_by_key(|one| one.at);
    }
}

/// The peer's clock of timestamps: a millisecond (RFC 7323 §5.4).
fn peer_clock(at: Instant) -> u32 {
    (at.as_nanos() / 1_000_000) as u32 + 1
}
