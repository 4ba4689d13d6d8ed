//! Round trips of a path, one after another: the duration of each and the bytes sent in it.
//!
//! A round ends when a byte is acknowledged that was not yet sent when it began; the next begins
//! there. Only policies that judge a path by its rate (Vegas) ask for this.

use super::{AckSample, RoundTrip};
use units::{Duration, Instant};

/// Watches the rounds of a path.
#[derive(Clone, Copy, Debug)]
pub struct RoundMeter {
    /// End of the current round, as an offset of the path's sent bytes.
    end: u64,
    started_at: Option<Instant>,
    sum: Duration,
    samples: u32,
    base: Duration,
}

impl Default for RoundMeter {
    fn default() -> Self {
        Self { end: 0, started_at: None, sum: Duration::ZERO, samples: 0, base: Duration::MAX }
    }
}

impl RoundMeter {
    /// Processes an ACK on a path with segments of `mss` bytes; returns the round that ended with
    /// it.
    pub fn on_ack(&mut self, sample: &AckSample, mss: u64) -> Option<RoundTrip> {
        if sample.acked == 0 {
            return None;
        }
        let ended = sample.acked_total > self.end;
        let round = if ended { self.end_round(sample, mss) } else { None };
        if let Some(rtt) = sample.rtt {
            self.sum += rtt;
            self.samples += 1;
            self.base = self.base.min(rtt);
        }
        round
    }

    /// Ends the round. The ending ACK's own sample is one of the next round.
    fn end_round(&mut self, sample: &AckSample, mss: u64) -> Option<RoundTrip> {
        let next = sample.acked_total + sample.in_flight;
        let sent = next - self.end.min(next);
        let lasted = self.started_at.map(|started| sample.now.saturating_since(started));
        let mean = (self.samples > 0).then(|| self.sum / u64::from(self.samples));
        let rtt = mean.or(lasted).or(sample.rtt).filter(|rtt| !rtt.is_zero());
        self.end = next;
        self.started_at = Some(sample.now);
        self.sum = Duration::ZERO;
        self.samples = 0;
        let rtt = rtt?;
        if rtt < self.base || sent <= mss {
            self.base = rtt;
        }
        Some(RoundTrip { rtt, base: self.base, sent, window: sample.in_flight + mss })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    fn ack(ms: u64, acked_total: u64, in_flight: u64, rtt_ms: u64) -> AckSample {
        AckSample {
            now: Instant::from_nanos(ms * 1_000_000),
            acked: MSS,
            delivered: MSS,
            rtt: Some(Duration::from_millis(rtt_ms)),
            srtt: Duration::from_millis(rtt_ms),
            min_rtt: Duration::from_millis(rtt_ms),
            prior_in_flight: in_flight + MSS,
            in_flight,
            cwnd_limited: true,
            sent_total: acked_total + in_flight,
            acked_total,
            round: None,
            delivery: None,
        }
    }

    #[test]
    fn a_round_is_from_the_next_segment_sent_to_its_acknowledgement() {
        let mut meter = RoundMeter::default();
        // The first ACK ends the first round: one segment, 100 ms, nothing queued.
        let first = meter.on_ack(&ack(100, 1000, 0, 100), MSS).unwrap();
        let ms = Duration::from_millis;
        assert_eq!(first, RoundTrip { rtt: ms(100), base: ms(100), sent: 1000, window: 1000 });
        assert_eq!(first.queued(), 0);
        // Segments 1 to 4 leave; their ACKs come at 200, 210, 220, 230 ms. The first of them ends
        // the second round; 5 to 8 leave one by one and end the third at 310 ms.
        let second = meter.on_ack(&ack(200, 2000, 3000, 100), MSS).unwrap();
        assert_eq!((second.rtt, second.sent, second.window), (ms(100), 4000, 4000));
        for (n, at) in [(3, 210), (4, 220), (5, 230)] {
            assert_eq!(meter.on_ack(&ack(at, n * 1000, 3000, at - 100), MSS), None);
        }
        let third = meter.on_ack(&ack(310, 6000, 3000, 110), MSS).unwrap();
        // Mean of 100, 110, 120, 130: 115 ms. Four sent: 4000 - 4000 * 100 / 115 = 521.7 queued.
        assert_eq!((third.rtt, third.base, third.sent), (ms(115), ms(100), 4000));
        assert_eq!(third.queued(), 521);
    }

    #[test]
    fn a_round_of_one_segment_finds_the_path_grown_longer() {
        let mut meter = RoundMeter::default();
        meter.on_ack(&ack(100, 1000, 0, 100), MSS);
        meter.on_ack(&ack(200, 2000, 0, 100), MSS);
        // From now on the round trip is 150 ms: the mean of the round is still that of the old
        // sample.
        meter.on_ack(&ack(350, 3000, 0, 150), MSS);
        let round = meter.on_ack(&ack(500, 4000, 0, 150), MSS).unwrap();
        assert_eq!(round.base, Duration::from_millis(150));
    }
}
