//! Progress of the background transfers: the time that they take for a number of further bytes, and
//! their losses meanwhile.

use netsim::{Body, HostId, LinkId, Observer, SimPacket, Step};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use tcp::Flags;
use units::{Instant, SeqNum};

/// Counts from the instant at which it is made.
#[derive(Clone, Debug)]
pub(super) struct CountersFrom {
    /// For each source, the offset up to which data is acknowledged, once an ACK was received.
    acked: BTreeMap<HostId, Option<SeqNum>>,
    since: Instant,
    /// Bytes to be acknowledged, over all sources.
    goal: u64,
    counters: Rc<RefCell<StandingCounters>>,
}

/// Counts so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StandingCounters {
    acked: u64,
    /// Time at which the goal was met; later packets do not count.
    pub(super) reached: Option<Instant>,
    /// Packets with data offered to queues.
    pub(super) offered: u64,
    /// Packets of these dropped.
    pub(super) dropped: u64,
}

impl CountersFrom {
    /// Watches `sources` from `since` on, until `goal` bytes are acknowledged to them together. The
    /// counters are shared with the caller.
    pub(super) fn new(
        sources: &[HostId],
        since: Instant,
        goal: u64,
    ) -> (Self, Rc<RefCell<StandingCounters>>) {
        let counters = Rc::new(RefCell::new(StandingCounters::default()));
        let acked = sources.iter().map(|source| (*source, None)).collect();
        (Self { acked, since, goal, counters: Rc::clone(&counters) }, counters)
    }

    fn on_ack(&mut self, at: Instant, source: HostId, ack: SeqNum) {
        let Some(before) = self.acked.get_mut(&source) else { return };
        let advance = before.map_or(0, |before| ack.distance_from(before).max(0));
        if before.is_none() || advance > 0 {
            *before = Some(ack);
        }
        let mut counters = self.counters.borrow_mut();
        counters.acked += u64::from(advance.unsigned_abs());
        if counters.acked >= self.goal && counters.reached.is_none() {
            counters.reached = Some(at);
        }
    }

    fn on_data(&self, step: Step) {
        let mut counters = self.counters.borrow_mut();
        if counters.reached.is_some() {
            return;
        }
        counters.offered += u64::from(matches!(step, Step::Enter { .. } | Step::Drop { .. }));
        counters.dropped += u64::from(matches!(step, Step::Drop { .. } | Step::Discard { .. }));
    }
}

impl Observer for CountersFrom {
    fn on_packet(&mut self, at: Instant, _: LinkId, step: Step, packet: &SimPacket) {
        let Body::Segment(transit) = &packet.body else { return };
        let segment = &transit.segment;
        if at < self.since {
        } else if step == Step::Arrive && segment.has(Flags::ACK) {
            self.on_ack(at, packet.to, segment.ack);
        } else if segment.len > 0 && self.acked.contains_key(&packet.from) {
            self.on_data(step);
        }
    }
}
