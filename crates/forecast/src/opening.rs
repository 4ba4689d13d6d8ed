//! The times at which a client's connections open: after an earlier event, or at their captured
//! time.
//!
//! A browser opens connections for objects that an answer has named. A program that loads one file
//! after another opens the next connection when the one before is done. Both happen sooner if the
//! answer is sooner. A person reads first.
//!
//! A program that loads several files side by side, each over a connection of its own, opens the
//! next connection when any of them is done. Another TCP may change which one is first, so these
//! openings use free slots, in the order of the capture.

use crate::captured::CapturedConnection;
use units::{Duration, Instant};

/// Longest gap after an answer at which an opening follows from it. People take longer, programs
/// rarely do.
const MAX_FOLLOWING_GAP: Duration = Duration::from_millis(100);

/// Maximum number of ends before an opening that are examined.
const MAX_LOOKED_AT: usize = 256;

/// The time at which a connection opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpeningTime {
    /// The connection opens at an instant of the capture.
    At(Instant),
    /// The connection opens `gap` after the end of a transfer: the connection's number within its
    /// client, and the transfer's within that.
    After { connection: usize, transfer: usize, gap: Duration },
    /// The connection opens `gap` after a slot has become free. In the capture it was the slot of
    /// this connection, which ended with this transfer.
    Place { connection: usize, transfer: usize, gap: Duration },
}

impl OpeningTime {
    /// Returns the opening time of each connection of a client; they are in the order of their
    /// starts.
    pub(crate) fn of_client(connections: &[CapturedConnection]) -> Vec<Self> {
        let mut ends: Vec<(Instant, usize, usize)> = Vec::new();
        for (number, connection) in connections.iter().enumerate() {
            let transfers = connection.transfers.iter().enumerate();
            ends.extend(transfers.map(|(transfer, of)| (of.ended, number, transfer)));
        }
        ends.sort_unstable();
        let mut is_followed = vec![false; ends.len()];
        let mut opening = |(number, of): (usize, &CapturedConnection)| {
            let behind = ends.partition_point(|(ended, ..)| *ended <= of.began);
            let is_before = |end: &usize| {
                let (ended, connection, _) = ends[*end];
                connection < number && of.began.saturating_since(ended) <= MAX_FOLLOWING_GAP
            };
            let mut before = (0..behind).rev().take(MAX_LOOKED_AT).filter(is_before);
            let latest = before.clone().next();
            // Several parallel programs each follow their own ends.
            let Some(end) = before.find(|end| !is_followed[*end]).or(latest) else {
                return Self::At(of.began);
            };
            let is_first = !std::mem::replace(&mut is_followed[end], true);
            let (ended, connection, transfer) = ends[end];
            let gap = of.began.saturating_since(ended);
            let before = &connections[connection];
            // A connection that stays open frees no slot.
            let is_over =
                transfer + 1 == before.transfers.len() && before.rest <= MAX_FOLLOWING_GAP;
            if is_first && is_over {
                Self::Place { connection, transfer, gap }
            } else {
                Self::After { connection, transfer, gap }
            }
        };
        connections.iter().enumerate().map(&mut opening).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::captured::CapturedTransfer;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn connection(began: u64, ended: &[u64]) -> CapturedConnection {
        let transfer = |ended: &u64| CapturedTransfer { ended: at(*ended), ..Default::default() };
        CapturedConnection {
            server: [192, 0, 2, 1].into(),
            began: at(began),
            window: 0,
            transfers: ended.iter().map(transfer).collect(),
            rest: Duration::ZERO,
        }
    }

    fn after(connection: usize, gap: u64) -> OpeningTime {
        OpeningTime::After { connection, transfer: 0, gap: Duration::from_millis(gap) }
    }

    fn place(connection: usize, gap: u64) -> OpeningTime {
        OpeningTime::Place { connection, transfer: 0, gap: Duration::from_millis(gap) }
    }

    /// Two programs load one file after another: each opens after an end that no other has
    /// followed. If two open after one end, both follow it, the first in its slot.
    #[test]
    fn each_end_is_followed_once_if_there_are_enough() {
        let ends = [
            connection(0, &[50]),
            connection(0, &[52]),
            connection(55, &[90]),
            connection(56, &[95]),
        ];
        let begins = OpeningTime::At(at(0));
        assert_eq!(OpeningTime::of_client(&ends), [begins, begins, place(1, 3), place(0, 6)]);
        let page = [connection(0, &[50]), connection(60, &[90]), connection(61, &[95])];
        assert_eq!(OpeningTime::of_client(&page), [begins, place(0, 10), after(0, 11)]);
        let mut kept = page;
        kept[0].rest = Duration::from_secs(1);
        assert_eq!(OpeningTime::of_client(&kept), [begins, after(0, 10), after(0, 11)]);
    }

    /// The second opens 30 ms after the first transfer of the first, the third 400 ms after the
    /// second one's end: later than any program. The fourth opens 10 ms after the third one's,
    /// though the first has a transfer that ends later.
    #[test]
    fn what_opens_soon_follows_the_latest_end() {
        let client = [
            connection(0, &[50, 2_000]),
            connection(80, &[600]),
            connection(1_000, &[1_100]),
            connection(1_110, &[1_200]),
        ];
        let openings = OpeningTime::of_client(&client);
        assert_eq!(
            openings,
            [OpeningTime::At(at(0)), after(0, 30), OpeningTime::At(at(1_000)), place(2, 10)]
        );
    }
}
