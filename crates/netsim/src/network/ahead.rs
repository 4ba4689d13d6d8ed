//! Links that are crossed ahead of time.
//!
//! Some links get all their packets over one other link, in order, and neither drop, lose nor
//! reorder. Then the time of a packet at the far end is known as soon as its entry is known: one
//! event stands for two hops.
//!
//! That holds as long as no other source puts packets on the link. When a new route does, or the
//! run stops and a caller may look, the crossings in the future are taken back. Keys are the same
//! as without this optimisation, so no result depends on it. Observers must see each step in its
//! order: if there is one, no link is crossed ahead.

use super::{Feeder, NO_LANE, Network, Wire, link_arrival};
use crate::LinkId;
use crate::events::LinkArrival;
use crate::key::Key;
use link::{Link, LinkConfig, LinkFate, QueueLimit, Stage};
use std::collections::BTreeMap;
use units::Duration;

/// The packets that have crossed a link ahead of time.
#[derive(Debug, Default)]
pub(super) struct CrossedAhead {
    /// By packet: the key of its entry into the link that it crossed ahead last.
    entered: Vec<Key>,
    /// True if crossings in the future have been taken back.
    paused: bool,
}

impl CrossedAhead {
    /// Notes that a packet crosses a link ahead, which it enters by `key`.
    #[inline(always)]
    fn note_crossing(&mut self, packet: u32, key: Key) {
        match self.entered.get_mut(packet as usize) {
            Some(entered) => *entered = key,
            None => self.entered.resize(packet as usize + 1, key),
        }
    }
}

impl Network {
    /// Moves a packet that arrives by `key` over the following link, as if it were there.
    #[inline(always)]
    pub(super) fn cross_ahead(&mut self, key: Key, due: LinkArrival) {
        let LinkArrival { packet, cursor, bytes } = due;
        let Some(hop) = self.routes.hop(cursor) else { return };
        self.ahead.note_crossing(packet, key);
        let id = hop.link();
        let wire = &mut self.wires[id.index()];
        let lane = wire.lane_for(bytes);
        if let Stage::Fifo(fifo) = wire.link.stage()
            && let LinkFate::Delivered { arrives, .. } = fifo.offer(key.at(), bytes)
        {
            self.schedule(id, lane, arrives, LinkArrival { cursor: cursor + 1, ..due });
        }
    }

    /// Notes the feeders of the links of a new route.
    pub(super) fn note_route(&mut self, start: u32) {
        let links: Vec<_> = self.routes.links(start).collect();
        if let Some(first) = links.first() {
            self.note_feeder(*first, Feeder::Several);
        }
        for hops in links.windows(2) {
            self.note_feeder(hops[1], Feeder::Link(hops[0]));
        }
        let wires = &self.wires;
        self.routes.mark_crossed_ahead(start, |id| wires[id.index()].ahead);
    }

    fn note_feeder(&mut self, id: LinkId, feeder: Feeder) {
        let wire = &mut self.wires[id.index()];
        if wire.feeder == Feeder::Nobody {
            wire.feeder = feeder;
            self.begin_crossing(id);
        } else if wire.feeder != feeder {
            wire.feeder = Feeder::Several;
            if wire.ahead {
                self.take_back(Some(id));
                self.end_crossing(id);
            }
        }
    }

    /// Starts to cross a link ahead if that is possible. The link before it must not be crossed
    /// ahead, nor the one after it: an event stands for two hops at most.
    fn begin_crossing(&mut self, id: LinkId) {
        let wire = &self.wires[id.index()];
        let Feeder::Link(before) = wire.feeder else { return };
        let feeder = &self.wires[before.index()];
        if self.observers.is_empty()
            && !wire.feeds_ahead
            && !feeder.ahead
            && is_in_order(feeder)
            && is_in_order(wire)
            && is_transparent(wire.link.config())
        {
            self.wires[before.index()].feeds_ahead = true;
            let wire = &mut self.wires[id.index()];
            (wire.ahead, wire.lanes) = (true, [NO_LANE; 2]);
        }
    }

    fn end_crossing(&mut self, id: LinkId) {
        let wire = &mut self.wires[id.index()];
        (wire.ahead, wire.lanes) = (false, [NO_LANE; 2]);
        self.routes.unmark_crossed_ahead(id);
    }

    /// Stops all crossings ahead; the run has to be paused.
    pub(super) fn end_all_crossings(&mut self) {
        for n in 0..self.wires.len() {
            if self.wires[n].ahead {
                self.end_crossing(LinkId(n as u32));
            }
        }
    }

    /// Takes back crossings in the future, so that links and their counters are as of now.
    pub(crate) fn roll_back_to_now(&mut self) {
        self.take_back(None);
        self.ahead.paused = true;
    }

    /// Repeats the crossings that [`Network::pause`] has taken back.
    pub(crate) fn resume(&mut self) {
        if !std::mem::take(&mut self.ahead.paused) {
            return;
        }
        let Self { queue, routes, wires, .. } = self;
        let waiting = queue.extract(|_, arrival| {
            let next = routes.hop(arrival.cursor).and_then(|hop| wires.get(hop.link().index()));
            next.is_some_and(|wire| wire.ahead)
        });
        for (key, arrival) in waiting {
            self.cross_ahead(key, arrival);
        }
    }

    /// Takes back the crossings in the future of one link, or of all.
    fn take_back(&mut self, only: Option<LinkId>) {
        let Self { queue, wires, ahead, current, .. } = self;
        let mut links: BTreeMap<u32, Crossings> = BTreeMap::new();
        let future = queue.extract(|key, arrival| {
            let id = key.index();
            let crossed = match only {
                Some(only) => id == only.0,
                None => wires.get(id as usize).is_some_and(|wire| wire.ahead),
            };
            let entered = ahead.entered.get(arrival.packet as usize);
            let future = crossed && entered.is_some_and(|entered| entered > current);
            if crossed {
                links.entry(id).or_default().note_arrival(key, arrival.bytes, future);
            }
            future
        });
        for (id, crossings) in links {
            crossings.take_back(&mut wires[id as usize].link);
        }
        for (_, LinkArrival { packet, cursor, bytes }) in future {
            queue.restore(ahead.entered[packet as usize], link_arrival(packet, cursor - 1, bytes));
        }
    }
}

/// The packets on a link.
#[derive(Default)]
struct Crossings {
    /// Packets that have entered it: keys of their arrivals, and sizes.
    entered: Vec<(Key, u32)>,
    /// Sizes of packets that have not.
    future: Vec<u32>,
}

impl Crossings {
    fn note_arrival(&mut self, arrives: Key, bytes: u32, future: bool) {
        if future {
            self.future.push(bytes);
        } else {
            self.entered.push((arrives, bytes));
        }
    }

    fn take_back(mut self, link: &mut Link) {
        let delay = link.config().delay();
        self.entered.sort_unstable();
        let kept = self.entered.into_iter().map(|(arrives, bytes)| (arrives.at() - delay, bytes));
        if let Stage::Fifo(fifo) = link.stage() {
            fifo.take_back(self.future, kept);
        }
    }
}

/// Returns true if the link's packets arrive in the order in which they entered, at times known
/// then.
fn is_in_order(wire: &Wire) -> bool {
    let config = wire.link.config();
    wire.link.is_plain()
        && config.reordering().is_none()
        && config.aggregation().is_none()
        && config.ordered_jitter().is_none()
        && config.delay_steps().is_none()
}

/// Returns true if every packet gets through, and no earlier than it entered.
fn is_transparent(config: &LinkConfig) -> bool {
    config.queue() == QueueLimit::Unlimited
        && config.loss() == 0.0
        && config.delay() > Duration::ZERO
}
