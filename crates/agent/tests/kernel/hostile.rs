//! Peers that lie, and very many of them. Their lies may inflate the memory of their own prefix.
//! They gain no window above the cap, and change nothing for other prefixes.

use crate::bed::{Agent, Bed};
use crate::memory::Memory;
use crate::peers::{Peers, Standing};
use agent::contract::PrefixKey;
use socket2::Domain;
use std::net::SocketAddr;
use tcp::Segment;
use test_support::retry_on_stall;
use units::SeqNum;

const CAP: u32 = 20;
/// Segments that the kernel begins with.
const COLD: u64 = 10;
const LIAR: &str = "203.0.113.7:40000";
const HONEST: &str = "198.51.100.7:40000";
/// 2100 segments: an honest peer and a liar have them in a few round trips.
const BYTES: u64 = 3_000_000;

fn address(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

/// Acknowledges everything that was sent, delivered or not, and data that was never sent.
fn optimist(standing: &Standing, _: &[Segment]) -> Vec<Segment> {
    vec![ahead(standing, 0), ahead(standing, 30_000)]
}

/// Acknowledges also the next segments, before they can have been delivered.
fn guesser(standing: &Standing, _: &[Segment]) -> Vec<Segment> {
    [1, 10, 0, 1, 10, 100, 1000].map(|segments| ahead(standing, segments)).to_vec()
}

/// Acknowledges everything before, and `segments` more.
fn ahead(standing: &Standing, segments: u32) -> Segment {
    standing.acknowledges(standing.got + segments * 1460)
}

/// Reports by SACK that all segments but one are delivered, with data that was never sent. Then it
/// reports that nothing had been lost (D-SACK, RFC 2883), so that the reduced window grows back.
fn selective() -> impl FnMut(&Standing, &[Segment]) -> Vec<Segment> {
    let mut una: Option<SeqNum> = None;
    move |standing, came| {
        let Some(first) = came.iter().find(|segment| segment.len > 0) else {
            return vec![standing.agrees()];
        };
        match una.take() {
            // One segment is kept back for a round trip.
            None if came.len() > 3 => {
                una = Some(first.seq);
                let second = first.seq + first.len;
                let beyond = standing.got + 100_000;
                let claims =
                    standing.selects(first.seq, &[(second, standing.got), (beyond, beyond + 1460)]);
                vec![claims; 4]
            }
            None => vec![standing.agrees()],
            Some(una) => {
                let twice = (una, una + first.len);
                vec![standing.selects(standing.got, &[twice]), standing.agrees()]
            }
        }
    }
}

/// Asserts that a peer has no first window above the cap, after it has lied, and lied again from
/// memory. The memory of another prefix is unchanged, and so is the start of a third. Returns the
/// mean of the liar's later first windows.
fn assert_gains_nothing(lie: fn() -> Lie) -> Option<u64> {
    let bed = Bed::new()?;
    let cap = CAP.to_string();
    let agent = bed.agent(&["--cap", &cap, "--off-connections", "1000000"]);
    let server = bed.serve(Domain::IPV4, None);
    let peers = Peers::of(&bed, server.address());
    peers.visit(address(HONEST), 30_000);
    agent.wait_for_closed(1);
    let memory = Memory::new();
    let honest = key(&agent, "198.51.100.0/24");
    let before = memory.get(honest);

    peers.visit_announcing(address(LIAR), BYTES, lie());
    agent.wait_for_closed(2);
    let inflated = memory.get(key(&agent, "203.0.113.0/24"));
    eprintln!("after lies: {inflated:?}");
    // From memory, with another port and another host of the same prefix.
    for (visit, from) in ["203.0.113.7:40001", "203.0.113.99:40000"].into_iter().enumerate() {
        peers.visit_announcing(address(from), BYTES, lie());
        agent.wait_for_closed(3 + visit as u64);
    }
    let sums = agent.status().connections;
    // The first visits of two prefixes began with ten segments each.
    let later = sums.warm.first_windows + sums.cold.first_windows - 2 * COLD;
    assert!((2 * COLD..=2 * u64::from(CAP)).contains(&later), "{sums:?}");

    assert_eq!(memory.get(honest), before);
    peers.visit(address("192.0.2.1:40000"), 30_000);
    agent.wait_for_closed(5);
    let cold = agent.status().connections.cold;
    assert_eq!(cold.first_windows - sums.cold.first_windows, COLD, "{cold:?}");
    Some(later / 2)
}

type Lie = Box<dyn FnMut(&Standing, &[Segment]) -> Vec<Segment>>;

fn key(agent: &Agent, prefix: &str) -> PrefixKey {
    let prefix = prefix.parse().unwrap();
    let path = agent.paths().into_iter().find(|path| path.prefix == prefix).unwrap();
    PrefixKey { prefix, namespace: path.namespace }
}

#[test]
fn acknowledging_what_has_not_arrived_gains_no_more_than_the_cap() {
    retry_on_stall(|| {
        let Some(window) = assert_gains_nothing(|| Box::new(optimist)) else { return };
        assert_eq!(window, u64::from(CAP));
    });
}

#[test]
fn acknowledging_what_cannot_have_arrived_gains_no_more_than_the_cap() {
    retry_on_stall(|| {
        // Less even: a round trip of microseconds that it feigns carries next to nothing.
        assert_gains_nothing(|| Box::new(guesser));
    });
}

#[test]
fn lying_about_what_has_arrived_gains_no_more_than_the_cap() {
    retry_on_stall(|| {
        // The gain is even smaller if the segments that it reports as lost fail its own start.
        assert_gains_nothing(|| Box::new(selective()));
    });
}
