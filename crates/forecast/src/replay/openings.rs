//! Which connections open behind which answers of a replay.

use super::ReplaySpec;
use crate::opening::OpeningTime;
use netsim::HostId;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use units::Duration;

/// A connection by its number, and how long after an answer it opens.
type Follower = (usize, Duration);

/// What has not opened yet, but for what opens at an instant.
#[derive(Debug, Default)]
pub(super) struct Openings {
    /// Behind a transfer of a connection.
    followers: FxHashMap<(usize, usize), Vec<Follower>>,
    /// Transfers whose end frees a place of their client.
    freeing: FxHashMap<(usize, usize), HostId>,
    /// What waits for a place of a client, in the order of the capture.
    waiting: FxHashMap<HostId, VecDeque<Follower>>,
}

impl Openings {
    /// Of these connections, which are in the order of the capture within each client.
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

    /// What opens behind this transfer, which has arrived, or never will.
    ///
    /// As many transfers free a place as connections wait for one. In the capture each of these opened behind as many such ends as there are openings
    /// up to it, so none waits for ever.
    pub(super) fn behind(&mut self, connection: usize, transfer: usize) -> Vec<Follower> {
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

    /// In the capture the third connection opened 1 ms behind the first one's end, the fourth 2 ms behind the second's, and a fifth 3 ms
    /// behind the first's, too. In a replay the second ends first: the third takes its place.
    #[test]
    fn whoever_waits_longest_takes_the_place() {
        let ms = Duration::from_millis;
        let begins = OpeningTime::At(Instant::ZERO);
        let place = |connection, gap| OpeningTime::Place { connection, transfer: 0, gap: ms(gap) };
        let after = OpeningTime::After { connection: 0, transfer: 0, gap: ms(3) };
        let opens = [begins, begins, place(0, 1), place(1, 2), after];
        let mut openings = Openings::of(&specs(&opens));
        assert_eq!(openings.behind(1, 0), [(2, ms(1))]);
        assert_eq!(openings.behind(0, 0), [(4, ms(3)), (3, ms(2))]);
        assert_eq!(openings.behind(0, 0), [], "only once");
    }
}
