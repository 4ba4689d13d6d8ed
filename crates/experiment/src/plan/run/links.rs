//! Counters of links in the measured interval: totals at its end less totals at its beginning.

use super::rows::LinkRow;
use link::{LinkCounters, Occupancy, Statistics};
use netsim::{LinkId, Simulation};
use units::{Duration, Instant};

/// The totals of all links at an instant.
pub(super) struct LinkTotals {
    pub(super) at: Instant,
    links: Vec<Totals>,
}

/// One link's totals, and the contents of its queue.
struct Totals {
    counters: LinkCounters,
    statistics: Option<Statistics>,
    queue: Occupancy,
}

impl Totals {
    fn of(simulation: &mut Simulation, id: LinkId) -> Self {
        let queue = simulation.occupancy(id);
        let link = simulation.link(id);
        Self { counters: *link.counters(), statistics: link.statistics().copied(), queue }
    }

    /// Bytes transmitted: taken, and no longer in the queue.
    const fn sent_bytes(&self) -> u64 {
        self.counters.taken_bytes.saturating_sub(self.queue.bytes)
    }
}

impl LinkTotals {
    pub(super) fn of(simulation: &mut Simulation) -> Self {
        let ids = 0..simulation.topology().links().len() as u32;
        let links = ids.map(|id| Totals::of(simulation, LinkId(id))).collect();
        Self { at: simulation.now(), links }
    }

    /// Rows of the links that had something to do since `before`.
    pub(super) fn since(&self, before: &Self, simulation: &Simulation) -> Vec<LinkRow> {
        let time = self.at.saturating_since(before.at);
        let specs = simulation.topology().links().iter();
        let totals = before.links.iter().zip(&self.links);
        let rows = specs.zip(totals).map(|(spec, (before, after))| {
            let (was, is) = (&before.counters, &after.counters);
            // A packet thrown out of the queue is no longer part of the taken bytes.
            let bytes = is.taken_bytes.saturating_sub(was.taken_bytes);
            let sent = after.sent_bytes().saturating_sub(before.sent_bytes());
            let busy = spec.config.rate().transmit_time(sent);
            let waiting = before.statistics.zip(after.statistics);
            let waiting = waiting.map(|(was, is)| Waiting::counters_between(&was, &is, time));
            LinkRow {
                link: spec.name.clone(),
                utilisation: share(busy, time).min(1.0),
                packets: is.taken_packets.saturating_sub(was.taken_packets),
                bytes,
                drops: is.dropped_packets - was.dropped_packets,
                marks: is.marked_packets - was.marked_packets,
                losses: is.lost_packets - was.lost_packets,
                mean_wait: waiting.as_ref().and_then(|waiting| waiting.mean_wait),
                mean_packets: waiting.as_ref().map(|waiting| waiting.mean_packets),
                mean_bytes: waiting.as_ref().map(|waiting| waiting.mean_bytes),
            }
        });
        rows.filter(|row| row.packets + row.drops > 0).collect()
    }
}

fn share(part: Duration, whole: Duration) -> f64 {
    match whole.is_zero() {
        true => 0.0,
        false => part.as_secs_f64() / whole.as_secs_f64(),
    }
}

/// Waiting between two totals.
struct Waiting {
    mean_wait: Option<f64>,
    mean_packets: f64,
    mean_bytes: f64,
}

impl Waiting {
    fn counters_between(was: &Statistics, is: &Statistics, time: Duration) -> Self {
        let packets = is.packets - was.packets;
        let waited = (is.waited - was.waited).as_secs_f64();
        // Over one nanosecond the mean is the integral itself.
        const UNIT: Duration = Duration::from_nanos(1);
        let nanos = time.as_nanos().max(1) as f64;
        Self {
            mean_wait: (packets > 0).then(|| waited / packets as f64),
            mean_packets: (is.mean_packets(UNIT) - was.mean_packets(UNIT)) / nanos,
            mean_bytes: (is.mean_bytes(UNIT) - was.mean_bytes(UNIT)) / nanos,
        }
    }
}
