//! Connections that open after answers of a replay.

use super::ReplaySpec;
use crate::opening::OpeningTime;
use netsim::HostId;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use units::Duration;

/// A connection by its number, and its gap after an answer.
type FollowingOpening = (usize, Duration);

/// Connections that have not opened yet, except those that open at an instant.
#[derive(Debug, Default)]
pub(super) struct Openings {
    /// Connections by the transfer that they follow: number of its connection, and of the transfer.
    followers: FxHashMap<(usize, usize), Vec<FollowingOpening>>,
    /// Transfers whose end frees a slot of their client.
    freeing: FxHashMap<(usize, usize), HostId>,
    /// Connections that wait for a slot of a client, in the order of the capture.
    waiting: FxHashMap<HostId, VecDeque<FollowingOpening>>,
}

impl Openings {
    /// Creates the openings of these connections, which are in the order of the capture within each
    /// client.
    pub(super) fn of(specs: &[ReplaySpec]) -> Self {
        let mut all = Self::default();
        for (number, spec) in specs.iter().enumerate() {
            match spec.opens {
                OpeningTime::At(_) => {}
                OpeningTime::After { connection, transfer, gap } => {
                    let followers = all.followers.entry((connection, transfer)).or_default();
                    followers.push((number, gap));
                }
                OpeningTime::Place { connection, transfer, gap } => {
                    all.freeing.insert((connection, transfer), spec.client);
                    all.waiting.entry(spec.client).or_default().push_back((number, gap));
                }
            }
        }
        all
    }

    /// Returns the connections that open after this transfer, which is delivered, or never will be.
    ///
    /// The number of transfers that free a slot equals the number of connections that wait for one.
    /// In the capture, the number of freed slots before each of these openings was at least the
    /// number of openings up to it. So no connection waits for ever.
    pub(super) fn connections_after(
        &mut self,
        connection: usize,
        transfer: usize,
    ) -> Vec<FollowingOpening> {
        let mut followers = self.followers.remove(&(connection, transfer)).unwrap_or_default();
        let freed = self.freeing.remove(&(connection, transfer));
        let waiting = freed.and_then(|client| self.waiting.get_mut(&client));
        followers.extend(waiting.and_then(VecDeque::pop_front));
        followers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::captured::CapturedConnection;
    use netsim::Topology;
    use tcp::Scheme;
    use units::Instant;

    fn specs(opens: &[OpeningTime]) -> Vec<ReplaySpec> {
        let mut topology = Topology::new();
        let (client, server) = (topology.add_host("client"), topology.add_host("server"));
        let spec = |opens: &OpeningTime| ReplaySpec {
            plan: CapturedConnection {
                server: [192, 0, 2, 1].into(),
                began: Instant::ZERO,
                window: 0,
                transfers: Vec::new(),
                rest: Duration::ZERO,
            },
            opens: *opens,
            client,
            server,
            scheme: Scheme::parse("linux").unwrap(),
            half_trip: Duration::ZERO,
        };
        opens.iter().map(spec).collect()
    }

    /// In the capture the third connection opened 1 ms after the first one's end, the fourth 2 ms
    /// after the second's, and a fifth 3 ms after the first's, too. In a replay the second ends
    /// first: the third takes its slot.
    #[test]
    fn whoever_waits_longest_takes_the_place() {
        let ms = Duration::from_millis;
        let begins = OpeningTime::At(Instant::ZERO);
        let place = |connection, gap| OpeningTime::Place { connection, transfer: 0, gap: ms(gap) };
        let after = OpeningTime::After { connection: 0, transfer: 0, gap: ms(3) };
        let opens = [begins, begins, place(0, 1), place(1, 2), after];
        let mut openings = Openings::of(&specs(&opens));
        assert_eq!(openings.connections_after(1, 0), [(2, ms(1))]);
        assert_eq!(openings.connections_after(0, 0), [(4, ms(3)), (3, ms(2))]);
        assert_eq!(openings.connections_after(0, 0), [], "only once");
    }
}
