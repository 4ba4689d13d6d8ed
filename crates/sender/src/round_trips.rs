//! Round trips from an ACK: by a segment sent once (Karn's rule), by the one that is timed, or by
//! the echoed timestamp (RFC 7323 §4.1).

use crate::Sender;
use crate::acknowledgement::Acknowledgement;
use path::Path;
use policy::ack::AckInfo;
use policy::config::RttSampling;
use units::Instant;

impl Sender {
    /// Takes a round-trip sample if this ACK allows one (Karn's rule; RFC 7323 §4.1).
    #[inline]
    pub(crate) fn sample_rtt(
        &mut self,
        path: &mut Path,
        ack: &Acknowledgement<'_>,
        info: &AckInfo,
    ) {
        let now = ack.now;
        let sent = match self.config.rtt_sampling {
            RttSampling::EveryAck => {
                info.progress.earliest_sent.filter(|_| !self.was_held(path, info))
            }
            RttSampling::OnePerRoundTrip => self.take_timed(info.una),
            RttSampling::Echo => info
                .progress
                .newest
                .filter(|newest| info.advanced() && !newest.retransmitted)
                .map(|newest| newest.sent_at),
        };
        if let Some(sent) = sent {
            path.on_rtt_sample(sent, now);
            self.forget_backoff();
        } else if self.config.rtt_sampling != RttSampling::OnePerRoundTrip
            && info.progress.newest.is_some()
            && info.advanced()
        {
            self.sample_echo(path, ack);
        }
    }

    /// Whether a hole, filled by a retransmission, has held this ACK back, on a shared path without
    /// SACK. The time at which the other acknowledged data was delivered is then unknown. A sample
    /// would distort the timers of the path's other members.
    fn was_held(&self, path: &Path, info: &AckInfo) -> bool {
        path.is_shared()
            && !self.terms.sack
            && info.progress.newest.is_some_and(|newest| newest.retransmitted)
    }

    /// The timed segment, if it is now acknowledged. Its sample is void during fast recovery:
    /// the hole before it held the ACK back.
    fn take_timed(&mut self, una: u64) -> Option<Instant> {
        let sent = self.timer.take_timed(una)?;
        if self.recovery_point().is_some_and(|point| una < point) {
            self.forget_backoff();
            return None;
        }
        Some(sent)
    }

    /// Only retransmitted data was acknowledged: the echoed timestamp still gives the round trip,
    /// in its own coarse ticks. Behind a SYN cookie nothing was in flight, and the lowest bits of
    /// its timestamp say something else.
    #[cold]
    fn sample_echo(&mut self, path: &mut Path, ack: &Acknowledgement<'_>) {
        let clock = ack.clock.filter(|_| self.terms.timestamps);
        let age = clock.zip(ack.echo).and_then(|(clock, echo)| clock.age(ack.now, echo));
        if let Some(age) = age {
            path.on_coarse_rtt_sample(ack.now - age, ack.now);
            self.forget_backoff();
        }
    }
}
