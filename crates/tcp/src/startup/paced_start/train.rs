//! What the ACKs of a train of segments tell: how far apart its segments left, how far apart they
//! arrived.
//!
//! A receiver that delays its ACKs answers every second segment at once and a lone one when its
//! timer runs out, which says nothing of arrivals (Hu & Steenkiste 2003 §3.3). So a gap counts
//! between two ACKs of several segments each, or, where the receiver answers every segment, between
//! two of one segment each; which of the two kinds covers more segments is what the receiver does.

use crate::ack::AckSample;
use units::{Duration, Instant};

/// Mean times per segment of a train.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MeanGap {
    /// Between departures.
    pub(super) sent: Duration,
    /// Between arrivals, as their ACKs tell.
    pub(super) acked: Duration,
}

/// The ACKs of one train.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Train {
    segments: u64,
    last: Option<Ack>,
    single: Gaps,
    several: Gaps,
}

#[derive(Clone, Copy, Debug)]
struct Ack {
    at: Instant,
    /// When the last segment that it acknowledges had left.
    sent_at: Instant,
    /// It acknowledges one segment.
    is_single: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Gaps {
    segments: u64,
    sent: Duration,
    acked: Duration,
}

impl Train {
    /// Segments acknowledged so far.
    pub(super) const fn segments(&self) -> u64 {
        self.segments
    }

    /// Takes an ACK on a path with segments of `mss` bytes.
    pub(super) fn on_ack(&mut self, sample: &AckSample, mss: u64) {
        if sample.acked == 0 {
            return;
        }
        let segments = sample.acked.div_ceil(mss);
        self.segments += segments;
        let ack = sample.rtt.map(|rtt| Ack {
            at: sample.now,
            sent_at: sample.now - rtt,
            is_single: segments == 1,
        });
        if let (Some(last), Some(ack)) = (self.last, ack)
            && last.is_single == ack.is_single
        {
            let gaps = if ack.is_single { &mut self.single } else { &mut self.several };
            gaps.segments += segments;
            gaps.sent += ack.sent_at.saturating_since(last.sent_at);
            gaps.acked += ack.at.saturating_since(last.at);
        }
        // What was sent again tells neither when it left nor when it arrived.
        self.last = ack;
    }

    /// The mean gaps; `None` if no two ACKs told one.
    pub(super) fn mean(&self) -> Option<MeanGap> {
        let Self { single, several, .. } = self;
        let gaps = if several.segments >= single.segments { several } else { single };
        (gaps.segments > 0)
            .then(|| MeanGap { sent: gaps.sent / gaps.segments, acked: gaps.acked / gaps.segments })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    /// Feeds ACKs, each of so many segments at so many ms, the last of them sent at so many ms.
    fn train(acks: &[(u64, u64, u64)]) -> Train {
        let mut train = Train::default();
        for &(segments, at, sent) in acks {
            let mut sample = AckSample::of(Instant::from_nanos(at * 1_000_000), segments * MSS);
            sample.rtt = Some(Duration::from_millis(at - sent));
            train.on_ack(&sample, MSS);
        }
        train
    }

    fn gaps(sent: u64, acked: u64) -> Option<MeanGap> {
        Some(MeanGap { sent: Duration::from_millis(sent), acked: Duration::from_millis(acked) })
    }

    #[test]
    fn a_receiver_that_acknowledges_every_segment() {
        // Four segments sent 2 ms apart arrive 3, 4 and 5 ms apart: 4 on average.
        let train = train(&[(1, 100, 0), (1, 103, 2), (1, 107, 4), (1, 112, 6)]);
        assert_eq!((train.segments(), train.mean()), (4, gaps(2, 4)));
    }

    #[test]
    fn a_receiver_that_acknowledges_every_second_and_one_more_in_the_end() {
        // Seven segments 2 ms apart, arriving 3 ms apart; the seventh is acknowledged by the timer,
        // 200 ms late. Two gaps of two segments each, 6 ms long.
        let train = train(&[(2, 103, 2), (2, 109, 6), (2, 115, 10), (1, 318, 12)]);
        assert_eq!((train.segments(), train.mean()), (7, gaps(2, 3)));
    }

    #[test]
    fn a_lost_ack_spoils_nothing() {
        // Every segment is acknowledged, one ACK is lost: the gaps around it do not count.
        let train = train(&[(1, 100, 0), (1, 103, 2), (2, 130, 6), (1, 133, 8), (1, 136, 10)]);
        assert_eq!(train.mean(), gaps(2, 3));
    }

    #[test]
    fn one_ack_tells_no_gap() {
        assert_eq!(train(&[(2, 100, 0)]).mean(), None);
        assert_eq!(train(&[(2, 100, 0), (1, 300, 1)]).mean(), None);
    }

    #[test]
    fn what_was_sent_again_tells_no_gap() {
        let mut train = train(&[(1, 100, 0)]);
        let again = AckSample::of(Instant::from_nanos(400_000_000), MSS);
        train.on_ack(&AckSample { rtt: None, ..again }, MSS);
        train.on_ack(&again, MSS);
        assert_eq!((train.segments(), train.mean()), (3, None));
    }
}
