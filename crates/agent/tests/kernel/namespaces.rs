//! Use of one network namespace's memory in another: containers on one machine.

use crate::bed::{Agent, Bed};
use socket2::Domain;
use test_support::retry_on_stall;

/// Both ends of the link are of it, so that the same prefix is seen from both.
const BOTH: &str = "198.0.0.0/8";

/// Visits to a server in either namespace, each in the agent's cgroup; the agent.
fn visited_both_ways(bed: &Bed, namespaces: &str) -> Agent {
    let agent = bed.agent(&["--prefix", BOTH, "--namespaces", namespaces]);
    bed.visit(&bed.serve(Domain::IPV4, None), 200_000);
    agent.wait_for_closed(1);
    bed.visit_from_server(&bed.serve_from_client(), 200_000);
    agent.wait_for_closed(2);
    agent
}

#[test]
fn they_keep_apart_what_they_learn() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = visited_both_ways(&bed, "apart");
        let sums = agent.status().connections;
        assert_eq!((sums.cold.closed, sums.warm.closed), (2, 0), "{sums:?}");
        let paths = agent.paths();
        assert_eq!(paths.len(), 2, "{paths:?}");
        assert_eq!(paths[0].prefix, paths[1].prefix);
        assert_ne!(paths[0].namespace, paths[1].namespace);
    });
}

#[test]
fn they_share_it_if_they_are_to() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = visited_both_ways(&bed, "share");
        let sums = agent.status().connections;
        assert_eq!((sums.cold.closed, sums.warm.closed), (1, 1), "{sums:?}");
        let paths = agent.paths();
        assert_eq!((paths.len(), paths[0].namespace, paths[0].connections), (1, 0, 2), "{paths:?}");
    });
}
