//! Connections to a few addresses. Chance decides what networks and applications do. The core
//! decides windows and pacing, and so what happens next.

use super::core::{Core, END_EPOCHS, PACE_COLD, WIDE_COLD};
use super::event::{Event, Kind, NO_THRESHOLD, Outcome};

/// Draws a number below a bound, which is not 0.
pub(super) trait Chance {
    fn below(&mut self, bound: u64) -> u64;

    /// True once in `of` times.
    fn once_in(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// Between `least` and `most`, as many of each order of magnitude.
    fn magnitude(&mut self, least: u64, most: u64) -> u64 {
        let doublings = u64::from((most / least).ilog2()) + 1;
        let base = least << self.below(doublings);
        (base + self.below(base)).min(most)
    }
}

/// Sequences of events, each of which begins with a reset, and the core's outcomes.
#[derive(Default)]
pub(super) struct Played {
    pub(super) events: Vec<Event>,
    pub(super) outcomes: Vec<Outcome>,
}

impl Played {
    pub(super) fn append(&mut self, mut other: Self) {
        self.events.append(&mut other.events);
        self.outcomes.append(&mut other.outcomes);
    }
}

/// Two lines of one network, and another.
const ADDRESSES: [u64; 3] = [0xc000_0201, 0xc000_0202, 0xc633_6407];
/// The kernel's least retransmission timeout.
const MIN_RTO_US: u64 = 200_000;

/// The way to one address.
#[derive(Clone, Copy)]
struct Network {
    base_us: u64,
    /// Time of a segment at the bottleneck.
    gap_ns: u64,
    queue: Queue,
    /// Round trips are of whole milliseconds and without jitter, so that limits are met exactly.
    is_even: bool,
}

#[derive(Clone, Copy)]
enum Queue {
    None,
    /// Segments in excess of a round trip wait.
    Window,
    /// Anything.
    Noise,
}

struct Flow {
    /// The next event, but for what happens and when.
    next: Event,
    to: usize,
    is_open: bool,
    /// Bytes that end the recovery under way.
    recovers_until: Option<u64>,
    /// Segments delivered out of order.
    sacked: u64,
    paced_rate: u64,
    /// When its SYN came, or it last sent.
    sent_us: u64,
    arrived_us: u64,
    round_end: u64,
}

struct World<'a, C> {
    chance: &'a mut C,
    core: Core,
    now_us: u64,
    networks: [Network; ADDRESSES.len()],
    flows: Vec<Flow>,
    most_flows: usize,
    opened: u64,
    restarts_after_idle: bool,
    /// Mean number of ACKs until HyStart ends slow start.
    acks_to_hystart: u64,
    played: Played,
}

/// Plays a sequence of chance.
pub(super) fn play(chance: &mut impl Chance) -> Played {
    let networks = ADDRESSES.map(|_| network(chance));
    let now_us = 1_000_000_000 + chance.below(1 << 33);
    let acks_to_hystart = chance.pick(&[64, 10_000]);
    let (restarts_after_idle, most_flows) = (!chance.once_in(4), chance.pick(&[1, 2, 6]));
    let mut world = World {
        chance,
        core: Core::default(),
        now_us,
        networks,
        flows: Vec::new(),
        most_flows,
        opened: 0,
        restarts_after_idle,
        acks_to_hystart,
        played: Played::default(),
    };
    world.set_up();
    for _ in 0..world.chance.magnitude(20, 200) {
        world.act();
    }
    world.played
}

fn network(chance: &mut impl Chance) -> Network {
    let is_even = chance.once_in(3);
    let base_us = match is_even {
        true => chance.pick(&[10_000, 20_000, 40_000, 80_000]),
        false => chance.magnitude(200, 300_000),
    };
    Network {
        base_us,
        is_even,
        gap_ns: chance.magnitude(1000, 10_000_000),
        queue: chance.pick(&[Queue::None, Queue::Window, Queue::Window, Queue::Noise]),
    }
}

impl<C: Chance> World<'_, C> {
    fn set_up(&mut self) {
        let chance = &mut *self.chance;
        let cold = chance.pick(&[0, PACE_COLD, PACE_COLD | WIDE_COLD, PACE_COLD | WIDE_COLD]);
        let reset = Event {
            kind: Kind::Reset as u64,
            flags: cold | chance.pick(&[0, 0, END_EPOCHS]),
            cap: chance.pick(&[256, 256, 20, 2000]),
            max_age_us: chance.pick(&[600_000_000, 600_000_000, 5_000_000]),
            half_life_rtts: chance.pick(&[3000, 3000, 100]),
            has_tx_start: chance.below(2),
            ..Event::default()
        };
        self.play(reset);
    }

    fn play(&mut self, event: Event) -> Outcome {
        let outcome = self.core.play(&event);
        self.played.events.push(event);
        self.played.outcomes.push(outcome);
        outcome
    }

    fn act(&mut self) {
        if self.flows.is_empty() || (self.flows.len() < self.most_flows && self.chance.once_in(6)) {
            return self.shake_hands();
        }
        let flow = self.chance.below(self.flows.len() as u64) as usize;
        if !self.flows[flow].is_open {
            return self.open(flow);
        }
        let (outstanding, has_all) = {
            let next = &self.flows[flow].next;
            (next.outstanding, next.acked == next.sent)
        };
        match self.chance.below(16) {
            0 => self.now_us += self.chance.magnitude(100, 2_000_000_000),
            1 => self.now_us += self.chance.magnitude(100, 300_000),
            15 if has_all => self.pause_for_a_timeout(flow),
            2 | 5 | 6 if has_all => self.close(flow),
            3 if self.chance.once_in(4) => {
                let to = self.flows[flow].to;
                self.networks[to] = network(self.chance);
            }
            4 if outstanding > 0 => self.lose(flow),
            _ if outstanding > 0 => self.arrive(flow),
            _ => self.write(flow),
        }
    }

    /// Nothing is sent for as long as the kernel's timer waits at least, or a little less.
    fn pause_for_a_timeout(&mut self, flow: usize) {
        let flow = &self.flows[flow];
        let until = flow.arrived_us + flow.next.srtt_us + MIN_RTO_US;
        self.now_us = self.now_us.max(until + self.chance.below(3) * 300 - 300);
    }

    fn apply_event(&mut self, flow: usize, kind: Kind) {
        let next = &mut self.flows[flow].next;
        next.kind = kind as u64;
        next.now_us = self.now_us;
        let event = *next;
        let outcome = self.play(event);
        if kind == Kind::Handshake {
            return;
        }
        let flow = &mut self.flows[flow];
        flow.next.cwnd = outcome.cwnd;
        flow.next.ssthresh = outcome.ssthresh;
        flow.next.delivered = 0;
        flow.next.announced = 0;
        flow.paced_rate = match (outcome.is_paced, outcome.fixed, outcome.most) {
            (0, _, _) => 0,
            (_, 0, 0) => 2 * outcome.cwnd * event.mss * 1_000_000 / event.srtt_us.max(1),
            (_, 0, most) | (_, most, 0) => most,
            (_, fixed, most) => fixed.min(most),
        };
    }

    fn shake_hands(&mut self) {
        let to = self.chance.below(ADDRESSES.len() as u64) as usize;
        let cold = self.chance.pick(&[10, 10, 10, 4, 2]);
        let next = Event {
            connection: self.opened,
            address: ADDRESSES[to],
            mss: self.chance.pick(&[1000, 1448, 1448, 536]),
            is_paced: self.chance.once_in(8).into(),
            cwnd: cold,
            ssthresh: NO_THRESHOLD,
            ..Event::default()
        };
        self.opened += 1;
        self.flows.push(Flow {
            next,
            to,
            is_open: false,
            recovers_until: None,
            sacked: 0,
            paced_rate: 0,
            sent_us: self.now_us,
            arrived_us: self.now_us,
            round_end: 0,
        });
        self.apply_event(self.flows.len() - 1, Kind::Handshake);
    }

    fn open(&mut self, flow: usize) {
        let took = self.round_trip(flow);
        self.now_us = self.now_us.max(self.flows[flow].sent_us + took);
        let has_lost = self.chance.once_in(12);
        let Flow { next, is_open, .. } = &mut self.flows[flow];
        *is_open = true;
        next.retransmitted = has_lost.into();
        (next.srtt_us, next.min_rtt_us) = (took, took);
        next.departure_us = self.now_us;
        self.apply_event(flow, Kind::Open);
    }

    /// Round trip of a segment that is acknowledged now, microseconds.
    fn round_trip(&mut self, flow: usize) -> u64 {
        let Flow { to, next, .. } = &self.flows[flow];
        let Network { base_us, gap_ns, queue, is_even } = self.networks[*to];
        let waits = match queue {
            Queue::None => 0,
            Queue::Window => (next.outstanding * gap_ns / 1000).saturating_sub(base_us),
            Queue::Noise => self.chance.below(base_us / 2 + 1),
        };
        let jitter = if is_even { 0 } else { self.chance.below(base_us / 64 + 1) };
        let has_spike = self.chance.once_in(24);
        let spike = if has_spike { self.chance.magnitude(base_us, 64 * base_us) } else { 0 };
        (base_us + waits + jitter + spike).min(4_000_000)
    }

    fn write(&mut self, flow: usize) {
        let segments = self.chance.magnitude(1, 500);
        let announces_size = self.chance.once_in(3);
        let tail = if self.chance.once_in(2) { self.chance.below(536) } else { 0 };
        let waited = self.now_us - self.flows[flow].sent_us;
        let next = &mut self.flows[flow].next;
        if next.written == next.sent {
            let bytes = segments * next.mss - tail;
            next.written += bytes;
            next.announced = if announces_size { bytes } else { 0 };
        }
        let rto = next.srtt_us + MIN_RTO_US;
        if next.sent > 0 && waited > rto && self.restarts_after_idle {
            let announced = std::mem::take(&mut self.flows[flow].next.announced);
            self.apply_event(flow, Kind::Idle);
            // The kernel repeats the event for each buffer that is written, until it sends.
            if self.chance.once_in(4) {
                self.apply_event(flow, Kind::Idle);
            }
            let next = &mut self.flows[flow].next;
            next.announced = announced;
            restart_after_idle(next, waited / rto);
        }
        self.apply_event(flow, Kind::Start);
        self.send(flow);
    }

    fn send(&mut self, flow: usize) {
        while self.has_room(flow) {
            if self.chance.once_in(8) {
                self.apply_event(flow, Kind::Sending);
                if !self.has_room(flow) {
                    return;
                }
            }
            let Flow { next, paced_rate, sent_us, .. } = &mut self.flows[flow];
            next.sent += next.mss.min(next.written - next.sent);
            next.outstanding += 1;
            next.data_segments += 1;
            next.most_outstanding = next.most_outstanding.max(next.outstanding);
            let gap = (next.mss * 1_000_000).checked_div(*paced_rate).unwrap_or(0);
            next.departure_us = next.departure_us.max(self.now_us) + gap;
            *sent_us = self.now_us;
        }
    }

    fn has_room(&self, flow: usize) -> bool {
        let next = &self.flows[flow].next;
        next.sent < next.written && next.outstanding < next.cwnd
    }

    /// Some ACKs come.
    fn arrive(&mut self, flow: usize) {
        self.now_us += self.round_trip(flow);
        let acks = self.chance.magnitude(1, 100);
        let (most, is_even) = (self.chance.pick(&[1, 2, 2, 8]), !self.chance.once_in(4));
        for _ in 0..acks {
            let outstanding = self.flows[flow].next.outstanding;
            if outstanding == 0 {
                return;
            }
            let segments = (1 + self.chance.below(most)).min(outstanding);
            self.pass_gaps(flow, segments, is_even);
            self.acknowledge(flow, segments);
            self.send(flow);
        }
    }

    fn pass_gaps(&mut self, flow: usize, segments: u64, is_even: bool) {
        let gap = self.networks[self.flows[flow].to].gap_ns * segments / 1000;
        let noise =
            if is_even { self.chance.below(gap / 32 + 1) } else { self.chance.below(gap + 1) };
        self.now_us += gap + noise;
    }

    /// `segments` are acknowledged cumulatively, and perhaps those behind them are delivered.
    fn acknowledge(&mut self, flow: usize, segments: u64) {
        let round_trip = self.round_trip(flow);
        let is_stock_end = self.chance.once_in(self.acks_to_hystart);
        let avoids = self.chance.once_in(8);
        let Flow { next, recovers_until, sacked, round_end, arrived_us, .. } =
            &mut self.flows[flow];
        *arrived_us = self.now_us;
        next.acked = (next.acked + segments * next.mss).min(next.sent);
        next.outstanding -= segments;
        let before = (*sacked).min(segments);
        *sacked -= before;
        next.delivered = segments - before;
        smooth(next, round_trip);
        if next.acked >= *round_end {
            *round_end = next.sent;
            next.most_outstanding = next.outstanding;
        }
        if recovers_until.is_some_and(|until| next.acked >= until) {
            *recovers_until = None;
            next.cwnd = next.ssthresh.min(next.cwnd.max(2));
        }
        let kind = if recovers_until.is_some() { Kind::Repair } else { Kind::Arrival };
        if kind == Kind::Arrival && is_stock_end && next.cwnd >= 16 && next.cwnd < next.ssthresh {
            next.ssthresh = next.cwnd;
        }
        next.stock = if next.cwnd < next.ssthresh {
            (next.cwnd + segments).min(next.ssthresh)
        } else {
            next.cwnd + u64::from(avoids)
        };
        self.apply_event(flow, kind);
    }

    fn lose(&mut self, flow: usize) {
        let (took, is_timeout) = (self.round_trip(flow), self.chance.once_in(4));
        self.now_us += took;
        if self.flows[flow].recovers_until.is_some() {
            return;
        }
        if !is_timeout {
            self.acknowledge_selectively(flow, took);
        }
        let next = &mut self.flows[flow].next;
        next.stock = (next.cwnd * 717 / 1024).max(2);
        self.apply_event(flow, Kind::Loss);
        let again = self.chance.magnitude(1, 40);
        let Flow { next, recovers_until, sent_us, .. } = &mut self.flows[flow];
        let again = again.min(next.outstanding);
        next.retransmitted += again;
        next.data_segments += again;
        next.cwnd = if is_timeout { 1 } else { next.ssthresh.min(next.cwnd) };
        *recovers_until = Some(next.sent);
        *sent_us = self.now_us;
        if is_timeout {
            self.apply_event(flow, Kind::Retransmission);
        }
    }

    /// Segments are delivered behind one that is lost.
    fn acknowledge_selectively(&mut self, flow: usize, round_trip: u64) {
        let Flow { next, sacked, arrived_us, .. } = &mut self.flows[flow];
        let sacks = self.chance.below(next.outstanding);
        if sacks > *sacked {
            next.delivered = sacks - *sacked;
            *sacked = sacks;
            *arrived_us = self.now_us;
            smooth(next, round_trip);
            self.apply_event(flow, Kind::Repair);
        }
    }

    /// A FIN goes and is acknowledged.
    fn close(&mut self, flow: usize) {
        self.now_us += self.round_trip(flow);
        let next = &mut self.flows[flow].next;
        next.stock = next.cwnd;
        self.apply_event(flow, Kind::Close);
        self.flows.swap_remove(flow);
    }
}

/// tcp_cwnd_restart: half for each timeout, down to a stock window.
fn restart_after_idle(next: &mut Event, timeouts: u64) {
    let stock = next.cwnd.min(10);
    if next.ssthresh != NO_THRESHOLD {
        next.ssthresh = next.ssthresh.max(next.cwnd * 3 / 4);
    }
    next.cwnd = next.cwnd.checked_shr(timeouts.min(40) as u32).unwrap_or(0).max(stock);
}

fn smooth(next: &mut Event, round_trip: u64) {
    next.round_trip_us = round_trip;
    next.srtt_us = match next.srtt_us {
        0 => round_trip,
        srtt => srtt - srtt / 8 + round_trip / 8,
    };
    next.min_rtt_us = next.min_rtt_us.min(round_trip);
}
