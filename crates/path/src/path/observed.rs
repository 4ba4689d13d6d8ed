//! What a transfer has met of its path, for the memory of a site: the most that came through, or at which window a loss came,
//! how fast data was delivered, and what kept the window from being larger.
//!
//! Told when all that was written is acknowledged, and by a long transfer at each further congestion.

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
    /// Segments that went again since.
    resent: u32,
}

impl TransferNotes {
    pub(super) fn on_ack(&mut self, sample: &AckSample, window: u64, mss: u64) {
        self.most = self.most.max(sample.prior_in_flight);
        self.limited |= sample.prior_in_flight + mss > window;
        let rate = sample.delivery.and_then(|delivery| delivery.rate);
        let rate = rate.map(|rate| {
            let interval = Duration::from_micros(rate.interval_us);
            Rate::from_bytes_over(rate.delivered * mss, interval)
        });
        self.rate = self.rate.max(rate);
    }

    pub(super) fn on_resent(&mut self) {
        self.resent = self.resent.saturating_add(u32::from(self.met.is_some()));
    }

    /// Congestion is met with so much in flight. Answers what came before it, if that met congestion,
    /// too.
    pub(super) fn on_congestion(
        &mut self,
        in_flight: u64,
        (rtt, mss): (&RttEstimator, u64),
    ) -> Option<TransferSample> {
        let before = self.met.is_some().then(|| self.take(rtt, mss));
        self.met = Some(in_flight.max(self.most));
        before
    }

    /// What was noted, to begin anew.
    pub(super) fn take(&mut self, rtt: &RttEstimator, mss: u64) -> TransferSample {
        let Self { most, limited, rate, met, resent } = std::mem::take(self);
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
