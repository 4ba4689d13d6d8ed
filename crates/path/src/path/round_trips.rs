//! Round trips of the path, which all its members measure.

use super::Path;
use policy::ack::RttEstimator;
use units::{Duration, Instant};

impl Path {
    /// Returns the round trips of this path.
    #[inline(always)]
    pub const fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    /// Adds a round-trip sample of data sent once at `sent`.
    #[inline]
    pub fn on_rtt_sample(&mut self, sent: Instant, now: Instant) {
        self.rtt.on_sample(sent, now, self.acked_total, self.sent_total);
    }

    /// Adds a sample from a clock too coarse to measure the lowest round trip.
    pub fn on_coarse_rtt_sample(&mut self, sent: Instant, now: Instant) {
        self.rtt.on_coarse_sample(sent, now, self.acked_total, self.sent_total);
    }

    /// Begins with a round trip that is known from elsewhere ([`RttEstimator::seed`]).
    pub fn seed_rtt(&mut self, srtt: Duration, rttvar: Duration) {
        self.rtt.seed(srtt, rttvar);
    }

    /// Continues with a round trip measured here before ([`RttEstimator::restore`]).
    pub fn restore_rtt(&mut self, srtt: Duration, rttvar: Duration) {
        self.rtt.restore(srtt, rttvar);
    }

    /// The handshake lost segments and gave no sample
    /// ([`RttEstimator::restart_after_handshake_loss`]).
    pub fn restart_rtt_after_handshake_loss(&mut self) {
        self.rtt.restart_after_handshake_loss();
    }

    /// There were several timeouts in a row ([`RttEstimator::distrust`]).
    pub fn distrust_rtt(&mut self) {
        self.rtt.distrust();
    }
}
