//! Packets on links, from the instant a host sends to the instant another receives.
//!
//! [`Network::send`] puts a packet on the first link of its route. [`Network::next`] runs virtual
//! time forward, passing packets from link to link, until an event concerns a host or an
//! application. This module does not know TCP. `stages` handles links that need more than sizes or
//! schedule their own service, `ahead` those that need no event of their own.

mod ahead;
mod stages;

use crate::events::{Due, EventQueue, LinkArrival};
use crate::key::Key;
use crate::observer::{Observer, Step};
use crate::packet::PacketPool;
use crate::processing::Processing;
use crate::routes::Routes;
use crate::{AppId, HostId, LinkId, LinkSpec, SimPacket, Topology};
use ahead::CrossedAhead;
use link::{Link, LinkFate, QueueLimit, Stage, stream};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use units::{Duration, Instant, Rate};

/// An event that concerns a host or an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The packet with this index in the pool is at its destination.
    Delivered(u32),
    /// A host asked to be woken now.
    Wake(HostId),
    /// An application's timer is due.
    Timer(AppId, u32),
}

/// The source of a link's packets, by the routes in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feeder {
    Nobody,
    Link(LinkId),
    /// Several links, or a host.
    Several,
}

/// A link and how it is driven.
#[derive(Debug)]
struct Wire {
    link: Link,
    /// Lanes for arrivals of small and of other packets; [`NO_LANE`] until there are any.
    lanes: [u32; 2],
    /// True if an event for its next service is scheduled.
    service_scheduled: bool,
    feeder: Feeder,
    /// True if packets cross it ahead of time.
    ahead: bool,
    /// True if some link that it feeds is crossed ahead, or has been.
    feeds_ahead: bool,
}

const NO_LANE: u32 = u32::MAX;

impl Wire {
    /// Returns the lane for arrivals of packets of this size; [`NO_LANE`] until there are any.
    #[inline(always)]
    fn lane_for(&self, bytes: u32) -> u32 {
        self.lanes[usize::from(bytes > SMALL)]
    }
}

/// Classes of links whose arrivals are scheduled in order among each other, separately for small
/// and large packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LaneClass {
    /// A link that is likely a bottleneck.
    Own(LinkId),
    /// Links that never drop are mostly idle: those of equal rate and delay share a lane, for small
    /// packets or others.
    Idle { rate: Rate, delay: Duration, large: bool },
    /// Idle links after one feeder, crossed ahead.
    Behind { feeder: LinkId, rate: Rate, delay: Duration, large: bool },
}

/// Links, the packets on them, and virtual time.
pub(crate) struct Network {
    topology: Topology,
    wires: Vec<Wire>,
    routes: Routes,
    packets: PacketPool,
    /// By packet, while a link with a service stage keeps it: the cursor of that link.
    kept: Vec<u32>,
    processing: Processing,
    queue: EventQueue,
    lanes: BTreeMap<LaneClass, u32>,
    ahead: CrossedAhead,
    /// The key of the last event.
    current: Key,
    observers: Vec<Box<dyn Observer>>,
    unreachable: Option<(HostId, HostId)>,
    /// Segments that were dropped or lost and have not been polled since.
    lost: Vec<SimPacket>,
}

/// Size up to which packets share a lane, bytes; larger ones share another. On an idle link small
/// packets overtake those scheduled just before on its neighbours.
const SMALL: u32 = 128;

impl Network {
    /// Creates idle links at time zero. Each link draws its losses from the stream `link/<name>`.
    pub(crate) fn new(topology: Topology, seed: u64) -> Self {
        let limit = Key::INDEX_LIMIT;
        assert!(topology.links().len() < limit, "more than {limit} links");
        assert!(topology.host_count() < limit, "more than {limit} hosts");
        Self {
            routes: Routes::new(topology.host_count()),
            wires: create_links(&topology, seed),
            processing: Processing::new(&topology, seed),
            topology,
            packets: PacketPool::default(),
            kept: Vec::new(),
            queue: EventQueue::new(),
            lanes: BTreeMap::new(),
            ahead: CrossedAhead::default(),
            current: Key::FIRST,
            observers: Vec::new(),
            unreachable: None,
            lost: Vec::new(),
        }
    }

    /// Puts a packet of `bytes` on the first link of its route. Without a route, that is noted and
    /// nothing sent. `make` writes the packet directly into its slot of the pool, because copies of
    /// packets are expensive.
    // Inlining is forced: the caller that polls a host for its segments has the packet's fields in
    // registers.
    #[inline(always)]
    pub(crate) fn send(
        &mut self,
        from: HostId,
        to: HostId,
        bytes: u32,
        make: impl FnOnce() -> SimPacket,
    ) {
        let Some(cursor) = self.routes.start(from, to).or_else(|| self.lay_out(from, to)) else {
            self.unreachable = self.unreachable.or(Some((from, to)));
            return;
        };
        let index = self.packets.insert(make);
        if !self.processing.is_empty()
            && self.delay_by_processing(link_arrival(index, cursor, bytes))
        {
            return;
        }
        if self.forward(self.now(), link_arrival(index, cursor, bytes)) {
            // A host that sends to itself has no link on the way.
            self.queue.push_loopback(self.now(), link_arrival(index, cursor, bytes));
        }
    }

    /// Makes a packet wait until its host has processed it; returns false if that is now.
    #[cold]
    fn delay_by_processing(&mut self, arrival: LinkArrival) -> bool {
        let packet = self.packets.packet(arrival.packet);
        let departure = self.processing.departure(packet, self.current.at());
        if let Some(at) = departure {
            self.queue.push_loopback(at, arrival);
        }
        departure.is_some()
    }

    #[cold]
    fn lay_out(&mut self, from: HostId, to: HostId) -> Option<u32> {
        let start = self.routes.lay_out(&self.topology, from, to)?;
        self.note_route(start);
        Some(start)
    }

    /// Runs time forward to the next event that concerns a host or an application, up to `limit`.
    /// Returns `None` if there is none until then; time then stays unchanged.
    #[inline(always)]
    pub(crate) fn next(&mut self, limit: Instant) -> Option<Next> {
        while let Some(first) = self.queue.first_until(limit) {
            let (key, arrival) = match self.queue.pop_lane(first) {
                Some(arrival) => arrival,
                None => match self.next_in_heap() {
                    ControlFlow::Continue(Some(arrival)) => arrival,
                    ControlFlow::Continue(None) => continue,
                    ControlFlow::Break(next) => return next,
                },
            };
            let packet = arrival.packet;
            self.current = key;
            if !self.observers.is_empty() && key.index() != Key::NO_LINK {
                self.notify_observers(key.at(), LinkId(key.index()), Step::Arrive, packet);
            }
            if self.forward(key.at(), arrival) {
                return Some(Next::Delivered(packet));
            }
        }
        None
    }

    /// Handles a first event in the heap. Returns an arrival, continues after an internal event of
    /// the network, or breaks with a result; with `None` if there is no event.
    // This stays out of line, so that the loop of arrivals keeps its registers.
    #[inline(never)]
    fn next_in_heap(&mut self) -> ControlFlow<Option<Next>, Option<(Key, LinkArrival)>> {
        let Some((key, due)) = self.queue.pop_heap() else {
            return ControlFlow::Break(None);
        };
        self.current = key;
        match due {
            Due::Arrival(arrival) => ControlFlow::Continue(Some((key, arrival))),
            Due::Wake => ControlFlow::Break(Some(Next::Wake(HostId(key.index())))),
            Due::Timer { token } => {
                ControlFlow::Break(Some(Next::Timer(AppId(key.index()), token)))
            }
            Due::Service => {
                self.serve(LinkId(key.index()));
                ControlFlow::Continue(None)
            }
        }
    }

    /// Offers a packet that is at `cursor` at `now` to the link there; returns true if the route
    /// ends.
    // Inlining is forced: the compiler finds it too long for its two callers, and then every hop
    // costs a tenth more instructions.
    #[inline(always)]
    fn forward(&mut self, now: Instant, arrival: LinkArrival) -> bool {
        let LinkArrival { packet, cursor, bytes } = arrival;
        let Some(hop) = self.routes.hop(cursor) else {
            return true;
        };
        let id = hop.link();
        let wire = &mut self.wires[id.index()];
        let lane = wire.lane_for(bytes);
        let Stage::Fifo(fifo) = wire.link.stage() else {
            self.forward_known(id, packet, cursor);
            return false;
        };
        match fifo.offer(now, bytes) {
            LinkFate::Delivered { departs, arrives } => {
                if !self.observers.is_empty() {
                    self.observe_fate(id, LinkFate::Delivered { departs, arrives }, packet);
                }
                let due = LinkArrival { cursor: cursor + 1, ..arrival };
                if hop.leads_ahead() {
                    let key = self.queue.arrival_key(arrives, id.0);
                    self.cross_ahead(key, due);
                } else {
                    self.schedule(id, lane, arrives, due);
                }
            }
            fate => {
                self.observe_fate(id, fate, packet);
                self.remove_packet(packet);
            }
        }
        false
    }

    /// Schedules an arrival over a link, in its lane for packets of this size.
    #[inline(always)]
    fn schedule(&mut self, id: LinkId, lane: u32, at: Instant, arrival: LinkArrival) {
        let lane = match lane {
            NO_LANE => self.lane_for(id, arrival.bytes > SMALL),
            lane => lane,
        };
        let key = self.queue.arrival_key(at, id.0);
        self.queue.push_arrival(lane, key, arrival);
    }

    #[cold]
    fn lane_for(&mut self, id: LinkId, large: bool) -> u32 {
        let wire = &mut self.wires[id.index()];
        let config = wire.link.config();
        let (rate, delay) = (config.rate(), config.delay());
        let class = match wire.feeder {
            Feeder::Link(feeder) if wire.ahead => LaneClass::Behind { feeder, rate, delay, large },
            _ if config.queue() == QueueLimit::Unlimited && config.knows_departures() => {
                LaneClass::Idle { rate, delay, large }
            }
            _ => LaneClass::Own(id),
        };
        let lane = *self.lanes.entry(class).or_insert_with(|| self.queue.add_lane());
        wire.lanes[usize::from(large)] = lane;
        lane
    }

    /// Removes a packet that goes no further.
    #[cold]
    fn remove_packet(&mut self, packet: u32) {
        self.lost.push(*self.packets.packet(packet));
        self.packets.remove(packet);
    }

    /// Returns one of the packets that were lost since the last call.
    #[inline]
    pub(crate) fn poll_lost(&mut self) -> Option<SimPacket> {
        self.lost.pop()
    }

    #[cold]
    fn observe_fate(&mut self, id: LinkId, fate: LinkFate, packet: u32) {
        self.observe_entry(id, fate == LinkFate::Dropped, packet);
        self.observe_departure(id, fate, packet);
    }

    /// Reports the fate of a packet after the queue to observers.
    fn observe_departure(&mut self, id: LinkId, fate: LinkFate, packet: u32) {
        if self.observers.is_empty() {
            return;
        }
        if let LinkFate::Delivered { departs, .. } | LinkFate::Lost { departs } = fate {
            self.notify_observers(departs, id, Step::Leave, packet);
        }
        if let LinkFate::Lost { departs } = fate {
            self.notify_observers(departs, id, Step::Lose, packet);
        }
    }

    #[cold]
    fn notify_observers(&mut self, at: Instant, link: LinkId, step: Step, packet: u32) {
        let packet = self.packets.packet(packet);
        for observer in &mut self.observers {
            observer.on_packet(at, link, step, packet);
        }
    }

    /// Schedules a host's wake-up.
    pub(crate) fn wake_at(&mut self, at: Instant, host: HostId) {
        self.queue.push_timer(at, host.0, Due::Wake);
    }

    /// Schedules an application's timer.
    pub(crate) fn timer_at(&mut self, at: Instant, app: AppId, token: u32) {
        self.queue.push_timer(at, app.0, Due::Timer { token });
    }

    /// Moves time forward over an interval without events.
    pub(crate) fn advance_to(&mut self, at: Instant) {
        self.current = self.current.max(Key::end_of(at));
    }

    #[inline]
    pub(crate) const fn now(&self) -> Instant {
        self.current.at()
    }

    #[inline]
    pub(crate) fn packet(&self, index: u32) -> &SimPacket {
        self.packets.packet(index)
    }

    #[inline]
    pub(crate) fn remove(&mut self, packet: u32) {
        self.packets.remove(packet);
    }

    pub(crate) fn link_mut(&mut self, id: LinkId) -> &mut Link {
        &mut self.wires[id.index()].link
    }

    pub(crate) fn link(&self, id: LinkId) -> &Link {
        &self.wires[id.index()].link
    }

    pub(crate) const fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Returns the first pair of hosts without a route between which a packet was sent.
    pub(crate) const fn unreachable(&self) -> Option<(HostId, HostId)> {
        self.unreachable
    }

    /// Adds an observer, between runs.
    pub(crate) fn add_observer(&mut self, observer: Box<dyn Observer>) {
        self.end_all_crossings();
        self.observers.push(observer);
    }

    pub(crate) fn observers(&self) -> &[Box<dyn Observer>] {
        &self.observers
    }

    pub(crate) fn take_observers(&mut self) -> Vec<Box<dyn Observer>> {
        std::mem::take(&mut self.observers)
    }

    /// Returns the number of packets in flight on all links together.
    pub(crate) fn packets_under_way(&self) -> usize {
        self.packets.len()
    }

    /// Returns true if no event will ever happen without further input.
    pub(crate) fn is_idle(&self) -> bool {
        self.queue.is_empty()
    }
}

const fn link_arrival(packet: u32, cursor: u32, bytes: u32) -> LinkArrival {
    LinkArrival { packet, cursor, bytes }
}

/// Creates the links of a topology.
fn create_links(topology: &Topology, seed: u64) -> Vec<Wire> {
    let wire = |spec: &LinkSpec| Wire {
        link: Link::new(spec.config.clone(), stream(seed, &format!("link/{}", spec.name))),
        lanes: [NO_LANE; 2],
        service_scheduled: false,
        feeder: Feeder::Nobody,
        ahead: false,
        feeds_ahead: false,
    };
    topology.links().iter().map(wire).collect()
}
