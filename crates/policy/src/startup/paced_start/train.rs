//! Measurement of a train by its ACKs: the spacing of its segments at departure, and at delivery.
//!
//! A receiver that delays its ACKs answers every second segment at once and a lone one when its
//! timer expires, which shows nothing about the delivery (Hu & Steenkiste 2003 §3.3). So a gap
//! counts between two ACKs of several segments each, or, where the receiver answers every segment,
//! between two of one segment each. A first ACK of several segments shows a receiver that delays
//! ACKs; otherwise the kind that covers more segments counts. Segments that are not full do not
//! count at all: a receiver waits for two full ones (RFC 5681 §4.2).

use crate::ack::AckSample;
use units::{Duration, Instant};

/// Mean times per segment of a train.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MeanGap {
    /// Time between departures.
    pub(super) sent: Duration,
    /// Time between deliveries, from their ACKs.
    pub(super) acked: Duration,
}

/// The ACKs of one train.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Train {
    segments: u64,
    last: Option<Ack>,
    single: Gaps,
    several: Gaps,
    /// The first ACK was of several segments.
    opened_late: bool,
}

#[derive(Clone, Copy, Debug)]
struct Ack {
    at: Instant,
    /// Send time of the last segment that it acknowledges.
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

    /// The receiver was seen to delay ACKs.
    pub(super) const fn shows_delayed_acks(&self) -> bool {
        self.opened_late
    }

    /// Takes an ACK on a path with segments of `mss` bytes.
    pub(super) fn on_ack(&mut self, sample: &AckSample, mss: u64) {
        if sample.acked == 0 {
            return;
        }
        let segments = sample.acked / mss;
        let full = sample.acked.is_multiple_of(mss);
        self.opened_late |= self.segments == 0 && segments > 1;
        self.segments += sample.acked.div_ceil(mss);
        let ack = sample.rtt.filter(|_| full).map(|rtt| Ack {
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
        // The ACK of a retransmission shows neither the send time nor the delivery.
        self.last = ack;
    }

    /// Returns the mean gaps, of a receiver that is known to delay ACKs or not; `None` if no two
    /// ACKs showed one.
    pub(super) fn mean(&self, delays_acks: bool) -> Option<MeanGap> {
        let Self { single, several, .. } = self;
        let by_several = delays_acks || several.segments >= single.segments;
        let gaps = if by_several { several } else { single };
        (gaps.segments > 0)
            .then(|| MeanGap { sent: gaps.sent / gaps.segments, acked: gaps.acked / gaps.segments })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    /// Returns an ACK of `segments` at `at` ms, the last of them sent at `sent` ms.
    fn acked(segments: u64, at: u64, sent: u64) -> AckSample {
        let rtt = Some(Duration::from_millis(at - sent));
        AckSample { rtt, ..AckSample::of(Instant::from_nanos(at * 1_000_000), segments * MSS) }
    }

    fn train(acks: &[AckSample]) -> Train {
        let mut train = Train::default();
        for ack in acks {
            train.on_ack(ack, MSS);
        }
        train
    }

    fn gaps(sent: u64, acked: u64) -> Option<MeanGap> {
        Some(MeanGap { sent: Duration::from_millis(sent), acked: Duration::from_millis(acked) })
    }

    #[test]
    fn a_receiver_that_acknowledges_every_segment() {
        // Four segments sent 2 ms apart arrive 3, 4 and 5 ms apart: 4 on average.
        let train =
            train(&[acked(1, 100, 0), acked(1, 103, 2), acked(1, 107, 4), acked(1, 112, 6)]);
        assert_eq!((train.segments(), train.mean(false)), (4, gaps(2, 4)));
    }

    #[test]
    fn a_receiver_that_acknowledges_every_second_and_one_more_in_the_end() {
        // Seven segments 2 ms apart, arriving 3 ms apart; the seventh is acknowledged by the timer,
        // 200 ms late. Two gaps of two segments each, 6 ms long.
        let train =
            train(&[acked(2, 103, 2), acked(2, 109, 6), acked(2, 115, 10), acked(1, 318, 12)]);
        assert_eq!((train.segments(), train.mean(false)), (7, gaps(2, 3)));
    }

    #[test]
    fn a_lost_ack_spoils_nothing() {
        // Every segment is acknowledged, one ACK is lost: the gaps around it do not count.
        let train = train(&[
            acked(1, 100, 0),
            acked(1, 103, 2),
            acked(2, 130, 6),
            acked(1, 133, 8),
            acked(1, 136, 10),
        ]);
        assert_eq!(train.mean(false), gaps(2, 3));
    }

    #[test]
    fn a_receiver_known_to_delay_acks_tells_nothing_by_lone_ones() {
        // Three segments that are acknowledged one by one, by ACKs on data in the other direction
        // and by the timer.
        let train = train(&[acked(1, 100, 0), acked(1, 101, 0), acked(1, 300, 0)]);
        assert!(!train.shows_delayed_acks());
        assert_eq!((train.mean(false), train.mean(true)), (gaps(0, 100), None));
    }

    #[test]
    fn a_first_ack_of_two_segments_shows_delayed_acks() {
        assert!(train(&[acked(2, 100, 0), acked(1, 300, 1)]).shows_delayed_acks());
        assert!(!train(&[acked(1, 100, 0), acked(2, 102, 1)]).shows_delayed_acks());
    }

    #[test]
    fn a_small_segment_in_the_end_is_acknowledged_by_the_timer() {
        // Three and a half segments: the receiver waits 200 ms for the other half of the fourth.
        let mut train = train(&[acked(2, 103, 2)]);
        let rtt = Some(Duration::from_millis(300));
        let last = AckSample::of(Instant::from_nanos(306_000_000), MSS + MSS / 2);
        train.on_ack(&AckSample { rtt, ..last }, MSS);
        assert_eq!((train.segments(), train.mean(false)), (4, None));
    }

    #[test]
    fn one_ack_tells_no_gap() {
        assert_eq!(train(&[acked(2, 100, 0)]).mean(false), None);
        assert_eq!(train(&[acked(2, 100, 0), acked(1, 300, 1)]).mean(false), None);
    }

    #[test]
    fn what_was_sent_again_tells_no_gap() {
        let mut train = train(&[acked(1, 100, 0)]);
        let again = AckSample::of(Instant::from_nanos(400_000_000), MSS);
        train.on_ack(&AckSample { rtt: None, ..again }, MSS);
        train.on_ack(&again, MSS);
        assert_eq!((train.segments(), train.mean(false)), (3, None));
    }
}
