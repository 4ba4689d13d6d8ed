//! The last round trips of a path by the times when their packets were sent. They show what round
//! trip a lost packet would have had.

use std::collections::VecDeque;
use units::{Duration, Instant};

/// Number of round trips that are kept: those of some windows, since a loss is repaired a round
/// trip or more after it.
const MAX_ROUND_TRIPS: usize = 256;
/// A packet sent earlier or later by this time met another queue.
const OTHER_QUEUE_INTERVAL: Duration = Duration::from_secs(1);

/// The last round trips of a path.
#[derive(Clone, Debug, Default)]
pub(super) struct RecentTrips(VecDeque<RecentTrip>);

/// A round trip, and when its packet was sent.
#[derive(Clone, Copy, Debug)]
struct RecentTrip {
    sent: Instant,
    rtt: Duration,
}

impl RecentTrips {
    /// Adds the round trip of an ACK at `at`. If [`MAX_ROUND_TRIPS`] are kept, the oldest is
    /// dropped.
    pub(super) fn add(&mut self, at: Instant, rtt: Duration) {
        if self.0.len() == MAX_ROUND_TRIPS {
            self.0.pop_front();
        }
        let sent = Instant::from_nanos(at.as_nanos().saturating_sub(rtt.as_nanos()));
        self.0.push_back(RecentTrip { sent, rtt });
    }

    /// Returns the round trip of the packet that was sent nearest to `sent`, within a second.
    pub(super) fn sent_nearest(&self, sent: Instant) -> Option<Duration> {
        let apart = |trip: &RecentTrip| {
            trip.sent.saturating_since(sent).max(sent.saturating_since(trip.sent))
        };
        // The latest of equally near ones counts.
        let nearest = self.0.iter().rev().min_by_key(|trip| apart(trip))?;
        (apart(nearest) <= OTHER_QUEUE_INTERVAL).then_some(nearest.rtt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    /// Packets sent at 0, 100 and 200 ms have round trips of 50, 90 and 40 ms. One sent at 110 ms
    /// and lost met the queue of the second, though the loss is seen after the third's ACK, when
    /// the queue is empty.
    #[test]
    fn a_loss_met_the_queue_of_its_neighbour() {
        let mut trips = RecentTrips::default();
        for (sent, rtt) in [(0, 50), (100, 90), (200, 40)] {
            trips.add(at(sent + rtt), Duration::from_millis(rtt));
        }
        let near = |ms| trips.sent_nearest(at(ms)).map(Duration::as_millis);
        assert_eq!([near(110), near(160), near(49)], [Some(90), Some(40), Some(50)]);
        assert_eq!([near(1_200), near(1_201)], [Some(40), None]);
    }

    /// The last 256 of 300 round trips are kept, one each millisecond.
    #[test]
    fn memory_is_bounded() {
        let mut trips = RecentTrips::default();
        (0..300).for_each(|n| trips.add(at(1_000 + n), Duration::from_millis(n)));
        assert_eq!((trips.0.len(), trips.0[0].rtt.as_millis()), (MAX_ROUND_TRIPS, 44));
    }
}
