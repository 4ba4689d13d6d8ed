//! Servers of a site compare together, and a running agent obeys what they find.

use super::running::Gateway;
use super::{asking, network};
use crate::bed::{Bed, until};
use canary::part::CanaryPart;
use canary::trial::{CanaryGroup, CanaryOutcome, Trial, TrialSums};
use gateway_client::SiteClient;
use socket2::Domain;
use std::time::Duration;

/// Sums of 400 connections in each group; those chosen for a warm start take four times as long.
fn harmed() -> TrialSums {
    let mut trial = Trial::default();
    for n in 0..800 {
        let is_chosen = n % 2 == 0;
        let time_s = if n % 4 < 2 { 0.9 } else { 1.1 } * if is_chosen { 4.0 } else { 1.0 };
        trial.add(
            CanaryGroup { stage: 0, is_chosen },
            &CanaryOutcome { time_s, retransmissions: 0 },
            100,
        );
    }
    trial.sums()
}

/// The agent itself has closed no connection. The gateway knows the client's network, and the first
/// connection starts cold all the same.
#[test]
fn harm_that_other_servers_find_stops_an_agent_that_has_met_none() {
    let Some(bed) = Bed::new() else { return };
    let gateway = Gateway::start();
    gateway.teach(network(&bed), 100 * 1448, Duration::from_millis(80));
    let agent = asking(&bed, &gateway);
    let servers = ["web-1", "web-2"].map(|name| gateway.server(name));
    let compare = |server: &SiteClient<()>| server.compare(&[(CanaryPart::All, harmed())]);
    until("the servers are connected", || {
        servers.iter().all(|server| server.status().gateway.is_some())
    });
    compare(&servers[0]);
    until("the agent hears of one server", || {
        agent.status().fleet.is_some_and(|fleet| fleet.hosts == 1)
    });
    assert_eq!(agent.status().off, None);
    compare(&servers[1]);
    until("the agent stops", || agent.status().off.is_some());
    let status = agent.status();
    let why = status.off.unwrap();
    assert!(why.starts_with("on 2 servers of the site warm starts (800) took 4.00 times"), "{why}");
    assert_eq!(status.fleet.unwrap().hosts, 2);
    let server = bed.serve(Domain::IPV4, None);
    bed.visit(&server, 30_000);
    agent.wait_for_closed(1);
    let connections = agent.status().connections;
    assert_eq!((connections.warm.closed, connections.cold.closed), (0, 1));
}
