//! What a transfer has met of its path, for the memory of a site: the most that came through, or at which window a loss came,
//! how fast data was delivered, and what kept the window from being larger.
//!
//! Told when a loss is repaired, or all that was written is acknowledged.

use memory::TransferSample;
use memory::site::Bound;
use policy::ack::{AckSample, RttEstimator};
use units::{Duration, Rate};

/// What is noted of the transfer under way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TransferNotes {
    /// Most bytes that were in flight when something of them arrived.
    most: u64,
    /// The window filled, and not only the application's data.
    limited: bool,
    rate: Option<Rate>,
    /// Bytes in flight at which congestion was met.
    met: Option<u64>,
    /// The reduction that came last was the first for it: if that is undone, nothing was met.
    undoable: bool,
    /// What was sent by then, bytes of the path: with its arrival the loss is repaired.
    repaired_at: u64,
    /// A loss of this transfer was told.
    told: bool,
    /// Segments that went again since.
    resent: u32,
}

impl TransferNotes {
    /// Notes an ACK. True if with it all has arrived that was in flight when congestion was met.
    pub(super) fn on_ack(&mut self, sample: &AckSample, window: u64, mss: u64) -> bool {
        if self.met.is_some() {
            // What is in flight counts what was lost, and a hole that closes arrives all at once.
            return sample.acked_total >= self.repaired_at;
        }
        self.most = self.most.max(sample.prior_in_flight);
        self.limited |= sample.prior_in_flight + mss > window;
        let rate = sample.delivery.and_then(|delivery| delivery.rate);
        let rate = rate.map(|rate| {
            let interval = Duration::from_micros(rate.interval_us);
            Rate::from_bytes_over(rate.delivered * mss, interval)
        });
        self.rate = self.rate.max(rate);
        false
    }

    pub(super) fn on_resent(&mut self) {
        self.resent = self.resent.saturating_add(u32::from(self.met.is_some()));
    }

    /// Congestion is met with so much in flight, under a window before it falls; `sent` bytes were ever sent. Meeting it
    /// again before all of that has arrived is the same loss.
    pub(super) fn on_congestion(&mut self, in_flight: u64, cwnd: u64, sent: u64) {
        self.undoable = self.met.is_none();
        if self.undoable {
            self.met = Some(in_flight.max(self.most).min(cwnd));
            self.repaired_at = sent;
        }
    }

    /// The reduction that came last was spurious: what was in flight then came through.
    pub(super) fn on_undo(&mut self) {
        if std::mem::take(&mut self.undoable)
            && let Some(met) = self.met.take()
        {
            self.most = self.most.max(met);
            self.resent = 0;
        }
    }

    /// The transfer is over: what was noted, unless that is a part behind a loss that was told.
    pub(super) fn end(&mut self, rtt: &RttEstimator, mss: u64) -> Option<TransferSample> {
        let behind = self.told && self.met.is_none();
        let sample = self.take(rtt, mss);
        self.told = false;
        (!behind && sample.window > 0).then_some(sample)
    }

    /// What was noted, to begin anew.
    pub(super) fn take(&mut self, rtt: &RttEstimator, mss: u64) -> TransferSample {
        let Self { most, limited, rate, met, resent, .. } = *self;
        *self = Self { told: true, ..Self::default() };
        let window = met.unwrap_or(most);
        let unlost = if limited { Bound::OwnStart } else { Bound::Application };
        TransferSample {
            window,
            rate,
            rtt: Some(rtt.srtt()).filter(|rtt| !rtt.is_zero()),
            min_rtt: Some(rtt.min_rtt()).filter(|rtt| *rtt != Duration::MAX),
            sent: u32::try_from(window.div_ceil(mss)).unwrap_or(u32::MAX),
            lost: resent,
            bound: if met.is_some() { Bound::Loss } else { unlost },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use policy::config::ConnectionConfig;
    use units::Instant;

    const MSS: u64 = 1000;

    /// An ACK of all but `left` of `sent` segments, `prior` in flight before it.
    fn ack(notes: &mut TransferNotes, (sent, left, prior): (u64, u64, u64)) -> bool {
        let sample = AckSample {
            prior_in_flight: prior * MSS,
            acked_total: (sent - left) * MSS,
            ..AckSample::of(Instant::ZERO, MSS)
        };
        notes.on_ack(&sample, 10 * MSS, MSS)
    }

    fn end(notes: &mut TransferNotes) -> TransferSample {
        let rtt = RttEstimator::new(ConnectionConfig::default().rto);
        notes.end(&rtt, MSS).expect("something was noted")
    }

    /// Ten segments fill the window, a reduction comes and is undone: ten came through, and no loss bounds the transfer.
    #[test]
    fn a_reduction_that_is_undone_is_no_loss() {
        let mut notes = TransferNotes::default();
        ack(&mut notes, (10, 9, 10));
        notes.on_congestion(9 * MSS, 10 * MSS, 10 * MSS);
        notes.on_resent();
        notes.on_undo();
        assert!(!ack(&mut notes, (10, 0, 9)));
        let sample = end(&mut notes);
        assert_eq!((sample.window, sample.lost, sample.bound), (10 * MSS, 0, Bound::OwnStart));
    }

    /// Of two reductions within a window the second is undone: the loss that the first was for stays.
    #[test]
    fn an_undo_of_the_second_reduction_keeps_the_loss() {
        let mut notes = TransferNotes::default();
        notes.on_congestion(9 * MSS, 10 * MSS, 10 * MSS);
        notes.on_resent();
        notes.on_congestion(4 * MSS, 7 * MSS, 10 * MSS);
        notes.on_undo();
        let sample = end(&mut notes);
        assert_eq!((sample.window, sample.lost, sample.bound), (9 * MSS, 1, Bound::Loss));
    }
}
