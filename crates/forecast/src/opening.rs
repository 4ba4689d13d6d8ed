//! When the connections of a client open: after what came before, or when they did.
//!
//! A browser opens connections for what an answer has named, and a program that loads one file after another opens the next
//! connection when the one before has done its work. Both come sooner if the answer does. A person reads first.
//!
//! A program that loads several files side by side, each over a connection of its own, opens the next connection when any of them is done. Which
//! one that is, another TCP may change: such openings take places, in the order of the capture.

use crate::captured::CapturedConnection;
use units::{Duration, Instant};

/// What opens so soon after an answer follows from it. People take longer, programs seldom do.
const SOON: Duration = Duration::from_millis(100);

/// Ends before an opening that are looked at.
const MOST_LOOKED_AT: usize = 256;

/// When a connection opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpeningTime {
    /// At an instant of the capture.
    At(Instant),
    /// So long after the end of a transfer: the connection's number within its client, and the transfer's within that.
    After { connection: usize, transfer: usize, gap: Duration },
    /// So long after a place has become free. In the capture it was that of this connection, which ended with this transfer.
    Place { connection: usize, transfer: usize, gap: Duration },
}

impl OpeningTime {
    /// Of each connection of a client; they are in the order in which they began.
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
                connection < number && of.began.saturating_since(ended) <= SOON
            };
            let mut before = (0..behind).rev().take(MOST_LOOKED_AT).filter(is_before);
            let latest = before.clone().next();
            // Several programs side by side each go on by themselves.
            let Some(end) = before.find(|end| !is_followed[*end]).or(latest) else {
                return Self::At(of.began);
            };
            let is_first = !std::mem::replace(&mut is_followed[end], true);
            let (ended, connection, transfer) = ends[end];
            let gap = of.began.saturating_since(ended);
            let before = &connections[connection];
            // A connection that stays open frees no place.
            let is_over = transfer + 1 == before.transfers.len() && before.rest <= SOON;
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

    /// Two programs load one file after another: each opens behind an end that no other has followed. What two open behind one
    /// end follows that one: the first in its place.
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

    /// The second opens 30 ms after the first transfer of the first, the third 400 ms after the second one's end: later than
    /// any program. The fourth opens 10 ms after the third one's, though the first has a transfer that ends later.
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
