//! The measurements of a transfer for the memory of a site: the largest window delivered, or the
//! window of a loss, the delivery rate, and the limit of the window.
//!
//! They are reported when a loss is repaired, or when all written data is acknowledged.

use memory::TransferSample;
use memory::site::Bound;
use policy::ack::{AckSample, RttEstimator};
use units::{Duration, Rate};

/// Notes about the current transfer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TransferNotes {
    /// Largest number of bytes in flight when some of them were delivered.
    most: u64,
    /// True if the window was full, and not only the application's data used up.
    limited: bool,
    rate: Option<Rate>,
    /// Bytes in flight at a congestion event.
    met: Option<u64>,
    /// True if the last reduction was the first for this event: if that is undone, there was no
    /// congestion.
    undoable: bool,
    /// Bytes of the path sent by then: once they are delivered, the loss is repaired.
    repaired_at: u64,
    /// True if a loss of this transfer was reported.
    reported: bool,
    /// Number of segments retransmitted since.
    resent: u32,
}

impl TransferNotes {
    /// Notes an ACK. Returns true if it completes the delivery of all bytes in flight at the
    /// congestion event.
    pub(super) fn on_ack(&mut self, sample: &AckSample, window: u64, mss: u64) -> bool {
        if self.met.is_some() {
            // After a loss, bytes in flight include lost ones, and an ACK that fills a hole covers
            // many bytes at once.
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

    /// Notes a congestion event with `in_flight` bytes in flight, before the window falls back;
    /// `sent`: total bytes sent. Another event before all of that is delivered is the same loss.
    pub(super) fn on_congestion(&mut self, in_flight: u64, cwnd: u64, sent: u64) {
        self.undoable = self.met.is_none();
        if self.undoable {
            self.met = Some(in_flight.max(self.most).min(cwnd));
            self.repaired_at = sent;
        }
    }

    /// Notes that the last reduction was spurious: the bytes in flight then were delivered.
    pub(super) fn on_undo(&mut self) {
        if std::mem::take(&mut self.undoable)
            && let Some(met) = self.met.take()
        {
            self.most = self.most.max(met);
            self.resent = 0;
        }
    }

    /// Ends the transfer; returns its sample, unless it is only the part after a reported loss.
    pub(super) fn end(&mut self, rtt: &RttEstimator, mss: u64) -> Option<TransferSample> {
        let behind = self.reported && self.met.is_none();
        let sample = self.take(rtt, mss);
        self.reported = false;
        (!behind && sample.window > 0).then_some(sample)
    }

    /// Returns the sample, and resets the notes.
    pub(super) fn take(&mut self, rtt: &RttEstimator, mss: u64) -> TransferSample {
        let Self { most, limited, rate, met, resent, .. } = *self;
        *self = Self { reported: true, ..Self::default() };
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

    /// Notes an ACK of all but `left` of `sent` segments, with `prior` in flight before it.
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

    /// Ten segments fill the window, and a reduction happens and is undone: ten were delivered, and
    /// no loss bounds the transfer.
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

    /// The second of two reductions within a window is undone: the loss behind the first stays.
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
