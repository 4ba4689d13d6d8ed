//! The service stage: a link whose queue chooses the next packet when the link falls free.
//!
//! A driver offers packets by token, wakes the link at [`Served::poll_timeout`] with
//! [`Served::handle_timeout`], and after either takes [`Served::poll_outcome`] until there is none.
//!
//! Every decision has its own instant: a service begins when the link is free and a packet is
//! there. The queue's decision depends on that instant and on earlier arrivals, never on when the
//! driver woke. An offer first makes up for the services that were due before it. Under
//! [`Ties::StillIn`] a service due at exactly `t` sees arrivals at `t`: offer first, wake then.

use crate::medium::{Draws, Medium, independent_stream};
use crate::packet::Queued;
use crate::queue::{Dropped, Queue, Room};
use crate::red::{Judgement, Red, RedArrival};
use crate::server::LinkServer;
use crate::{
    Discipline, LinkConfig, LinkCounters, LinkFate, Occupancy, PacketInfo, Statistics, Ties,
};
use rand_pcg::Pcg32;
use std::collections::VecDeque;
use units::{Instant, Rate};

/// Fate of a packet that entered the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceOutcome {
    /// Its service has started.
    Served {
        /// The driver's name for it.
        token: u32,
        /// Time of the service's start.
        at: Instant,
        /// Delivered or lost.
        fate: LinkFate,
        /// It was marked at the head of the queue (RFC 3168: CE).
        marked: bool,
    },
    /// It was in the queue and has been thrown out.
    Discarded {
        /// The driver's name for it.
        token: u32,
        /// Time of the drop.
        at: Instant,
    },
}

/// Fate of a packet at its arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It is in the queue.
    Queued {
        /// It was marked on the way in (RFC 3168: CE).
        marked: bool,
    },
    /// It did not enter.
    Dropped,
}

/// A link with a service stage.
#[derive(Clone, Debug)]
pub struct Served {
    config: LinkConfig,
    queue: Queue,
    red: Option<Red>,
    server: LinkServer,
    medium: Medium,
    /// The next service, if a packet waits.
    due: Option<Instant>,
    in_service: InService,
    outcomes: VecDeque<ServiceOutcome>,
    /// Empty between calls.
    dropped: Dropped,
    counters: LinkCounters,
    statistics: Option<Statistics>,
}

/// Packets whose service has started, as long as they count: those that depart at one instant.
#[derive(Clone, Copy, Debug, Default)]
struct InService {
    departs: Instant,
    held: Occupancy,
}

impl Served {
    pub(crate) fn new(config: &LinkConfig, stream: &Pcg32) -> Self {
        let red = match config.discipline() {
            Discipline::Red(red) => {
                Some(Red::new(&red, config, independent_stream(stream, Draws::Red)))
            }
            _ => None,
        };
        Self {
            queue: Queue::new(config, stream),
            red,
            server: LinkServer::new(config),
            medium: Medium::new(config, stream),
            due: None,
            in_service: InService::default(),
            outcomes: VecDeque::new(),
            dropped: Dropped::new(),
            counters: LinkCounters::default(),
            statistics: config.statistics().then(Statistics::default),
            config: config.clone(),
        }
    }

    pub(crate) fn set_rate(&mut self, rate: Rate) {
        self.server.set_rate(rate);
    }

    /// Offers a packet at `now`, not earlier than any call before. `token` comes back with its
    /// [`ServiceOutcome`] if it enters.
    pub fn offer(&mut self, now: Instant, info: &PacketInfo, token: u32) -> Admission {
        match self.config.ties() {
            Ties::StillIn => self.serve_while(|due| due < now),
            Ties::Gone => self.serve_while(|due| due <= now),
        }
        let judgement = self.decide_fate(now, info);
        let marked = judgement == Judgement::Mark;
        let packet = Queued { token, info: *info, since: now, marked: false };
        if judgement == Judgement::Drop || !self.enqueue(now, packet) {
            self.counters.drop(info.bytes);
            return Admission::Dropped;
        }
        self.begin_service(now);
        if marked {
            self.counters.count_marked(info.bytes);
        }
        Admission::Queued { marked }
    }

    /// A packet has entered. If the link is idle, the packet is alone and is served at once; there
    /// is nothing to decide.
    fn begin_service(&mut self, now: Instant) {
        if self.due.is_none() && self.queue.occupancy().packets > 0 {
            let start = self.server.start(now);
            self.due = Some(start);
            if start == now && self.in_service_at(now).packets == 0 {
                self.serve(now);
            }
        }
    }

    fn enqueue(&mut self, now: Instant, packet: Queued) -> bool {
        let room = Room { limit: self.config.queue(), in_service: self.in_service_at(now) };
        let taken = self.queue.enqueue(packet, room, &mut self.dropped);
        if taken {
            self.counters.take(packet.info.bytes);
        } else if let Some(red) = &mut self.red {
            red.on_overflow();
        }
        self.report_dropped(now);
        taken
    }

    fn decide_fate(&mut self, now: Instant, info: &PacketInfo) -> Judgement {
        let idle = self.occupancy_now(now).packets == 0;
        let Some(red) = &mut self.red else {
            return Judgement::Take;
        };
        let idle_since = idle.then(|| self.server.free_at());
        red.decide_fate(&RedArrival { now, idle_since, waiting: self.queue.occupancy() }, info)
    }

    /// Time of the next service; `None` while nothing waits.
    pub const fn poll_timeout(&self) -> Option<Instant> {
        self.due
    }

    /// Makes every decision that is due at `now` or before.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.serve_while(|due| due <= now);
    }

    /// Fates of packets, in the order of the decisions.
    pub fn poll_outcome(&mut self) -> Option<ServiceOutcome> {
        self.outcomes.pop_front()
    }

    fn serve_while(&mut self, is_due: impl Fn(Instant) -> bool) {
        while let Some(at) = self.due.filter(|at| is_due(*at)) {
            self.serve(at);
        }
    }

    /// The link is free at `at`: the queue decides.
    fn serve(&mut self, at: Instant) {
        let next = self.queue.dequeue(at, &mut self.dropped);
        self.report_dropped(at);
        if let Some(packet) = next {
            self.transmit(at, packet);
        }
        let waits = self.queue.occupancy().packets > 0;
        self.due = waits.then(|| self.server.start(at));
    }

    fn transmit(&mut self, at: Instant, packet: Queued) {
        let bytes = packet.info.bytes;
        let departs = self.server.serve(at, bytes);
        let fate = self.medium.carry(departs, bytes, &mut self.counters);
        self.in_service = self.in_service.and(departs, bytes);
        if packet.marked {
            self.counters.count_marked(bytes);
        }
        if let Some(statistics) = &mut self.statistics {
            statistics.transmitted(packet.since, at, fate, bytes);
        }
        self.outcomes.push_back(ServiceOutcome::Served {
            token: packet.token,
            at,
            fate,
            marked: packet.marked,
        });
    }

    fn report_dropped(&mut self, at: Instant) {
        for packet in self.dropped.drain(..) {
            self.counters.discard(packet.info.bytes);
            if let Some(statistics) = &mut self.statistics {
                statistics.count_sojourn(at.saturating_since(packet.since), packet.info.bytes);
            }
            self.outcomes.push_back(ServiceOutcome::Discarded { token: packet.token, at });
        }
    }

    /// Packets and bytes in the queue at `now`, the packet in service included.
    pub fn occupancy(&mut self, now: Instant) -> Occupancy {
        match self.config.ties() {
            Ties::StillIn => self.serve_while(|due| due < now),
            Ties::Gone => self.serve_while(|due| due <= now),
        }
        self.occupancy_now(now)
    }

    fn occupancy_now(&self, now: Instant) -> Occupancy {
        let (waiting, served) = (self.queue.occupancy(), self.in_service_at(now));
        Occupancy { packets: waiting.packets + served.packets, bytes: waiting.bytes + served.bytes }
    }

    fn in_service_at(&self, now: Instant) -> Occupancy {
        let counts = match self.config.ties() {
            Ties::StillIn => self.in_service.departs >= now,
            Ties::Gone => self.in_service.departs > now,
        };
        if counts { self.in_service.held } else { Occupancy::default() }
    }

    /// Totals so far.
    pub const fn counters(&self) -> &LinkCounters {
        &self.counters
    }

    /// Waiting times so far, if they are measured.
    pub const fn statistics(&self) -> Option<&Statistics> {
        self.statistics.as_ref()
    }
}

impl InService {
    /// With a packet that departs at `departs`, not before the others.
    const fn and(self, departs: Instant, bytes: u32) -> Self {
        let together = self.departs.as_nanos() == departs.as_nanos();
        let before = if together { self.held } else { Occupancy { packets: 0, bytes: 0 } };
        Self { departs, held: before.with(bytes as u64) }
    }
}
