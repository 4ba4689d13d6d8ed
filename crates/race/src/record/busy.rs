//! Times at which a direction of the access link held data of the page.

use super::stretch::Stretch;
use units::Instant;

/// Stretches in which data is at a link, built from reports of packets.
///
/// Packets that enter are reported in the order of their instants. A packet's departure is reported
/// after its arrival, and possibly ahead of the instant.
#[derive(Clone, Debug, Default)]
pub(super) struct Busy {
    /// Completed stretches, in the order of time. They do not touch.
    over: Vec<Stretch>,
    /// The last stretch, as far as it is known.
    last: Option<Stretch>,
    /// Number of packets whose departure is not yet known.
    present: u64,
}

impl Busy {
    /// Records a packet that enters.
    pub(super) fn on_packet_entry(&mut self, at: Instant) {
        // A packet that leaves at the instant at which another enters leaves no gap.
        if self.present == 0 && self.last.is_none_or(|last| last.to < at) {
            self.over.extend(self.last.filter(|last| last.from < last.to));
            self.last = Some(Stretch { from: at, to: at });
        }
        self.present += 1;
    }

    /// Records the departure of a packet.
    pub(super) fn on_packet_departure(&mut self, at: Instant) {
        self.present = self.present.saturating_sub(1);
        if let Some(last) = &mut self.last {
            last.to = last.to.max(at);
        }
    }

    /// All stretches, in the order of time. One that has not ended lasts for ever.
    pub(super) fn busy_stretches(&self) -> impl Iterator<Item = Stretch> {
        let last = self.last.map(|last| match self.present {
            0 => last,
            _ => Stretch { to: Instant::from_nanos(u64::MAX), ..last },
        });
        self.over.iter().copied().chain(last.filter(|last| last.from < last.to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretches(steps: &[(u64, i64)]) -> Vec<(u64, u64)> {
        let mut busy = Busy::default();
        for (nanos, change) in steps {
            let at = Instant::from_nanos(*nanos);
            if *change > 0 { busy.on_packet_entry(at) } else { busy.on_packet_departure(at) }
        }
        busy.busy_stretches().map(|s| (s.from.as_nanos(), s.to.as_nanos())).collect()
    }

    #[test]
    fn what_overlaps_or_touches_is_one_stretch() {
        // The stretches 1 to 4 and 2 to 5 overlap, 5 to 6 follows at once, 8 to 9 stands alone, and
        // 9 to 9 is empty.
        let reported_at_once =
            [(1, 1), (2, 1), (4, -1), (5, -1), (5, 1), (6, -1), (8, 1), (9, -1), (9, 1), (9, -1)];
        assert_eq!(stretches(&reported_at_once), [(1, 6), (8, 9)]);
        // The same stretches, when each departure is known at the entry.
        let reported_ahead =
            [(1, 1), (4, -1), (2, 1), (5, -1), (5, 1), (6, -1), (8, 1), (9, -1), (9, 1), (9, -1)];
        assert_eq!(stretches(&reported_ahead), [(1, 6), (8, 9)]);
        assert_eq!(stretches(&[(3, 1), (3, -1)]), []);
    }

    #[test]
    fn what_has_not_gone_stays() {
        assert_eq!(stretches(&[(1, 1), (2, -1), (5, 1), (6, 1), (7, -1)]), [(1, 2), (5, u64::MAX)]);
    }
}
