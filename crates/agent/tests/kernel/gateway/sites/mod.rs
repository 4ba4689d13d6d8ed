//! A fleet of three sites with two servers each. Six agents in this machine's kernel have a server
//! and a path each, and a gateway has a tenant for each site. The visitor has the same two networks
//! at all sites.
//!
//! Several agents run on one machine because they set first windows alone: the kernel has one
//! congestion control of a name.

mod control_network;
mod fleet;

use crate::bed::sites::{NETWORKS, SERVERS, SITES};
use crate::bed::{timed, until};
use fleet::{BYTES, Fleet, GATEWAYS, certify, gateway_names, refused, status, taken};
use gateway::os::clock::system_time;
use gateway::pki::Authority;
use gateway_proto::v1::Source;
use std::time::Duration;
use test_support::retry_on_stall;

/// Documented bound of a move (docs/gateway/operate.md): the old gateway may stop after it.
const MOVED_WITHIN: Duration = Duration::from_secs(20);
/// Days for which a certificate in a test is valid.
const DAYS: u32 = 1;

/// The estimator keeps round trips in steps of 6.5 %, so half a step is the error; the rest is
/// scheduling delay.
#[test]
fn each_site_knows_its_own_paths_and_a_server_that_is_added_starts_warm() {
    retry_on_stall(|| {
        let Some(mut fleet) = Fleet::new() else { return };
        (0..SITES.len()).for_each(|site| fleet.join(site * SERVERS));
        for (site, member) in SITES.iter().zip(&fleet.members) {
            for network in 0..NETWORKS.len() {
                // Other sites have reported this network by now.
                assert_eq!(fleet.ask(site.name, network), None, "{}", site.name);
                fleet.visit(member, network, 200_000);
            }
            fleet.wait_for_reports();
        }
        for (site, network) in SITES.iter().flat_map(|site| [(site, 0), (site, 1)]) {
            let estimate = fleet.ask(site.name, network).expect("the site's own estimate");
            let rtt_us = site.rtt_ms * 1000;
            eprintln!("{}, {}: {estimate:?}", site.name, NETWORKS[network]);
            assert_eq!((estimate.source(), estimate.samples), (Source::Network, 1));
            let expected = rtt_us * 96 / 100..rtt_us * 115 / 100;
            assert!(expected.contains(&estimate.min_rtt_us), "{}: {estimate:?}", site.name);
            // The answer is at most twice the largest delivered flight, and windows are kept in
            // steps of 4.4 %. 200 kB are flights of 10, 20 and 40 segments, and of the rest. Where
            // the path holds less than that, segments are lost.
            let flight = (200_000 - (10 + 20 + 40) * 1448).min(site.capacity());
            assert!(estimate.window <= 2 * flight * 104 / 100, "{flight}: {estimate:?}");
        }
        for site in 0..SITES.len() {
            fleet.join(site * SERVERS + 1);
            let added = fleet.members.last().unwrap();
            (0..NETWORKS.len()).for_each(|network| fleet.visit(added, network, BYTES));
            let sums = added.agent.status().connections;
            assert_eq!((sums.warm.closed, sums.cold.closed), (2, 0), "{}", added.agent.printed());
            let asked = status(&added.agent);
            assert_eq!((asked.asked, asked.in_time), (2, 2), "{asked:?}");
        }
    });
}

/// The authority is replaced by the steps of docs/gateway/operate.md, and with it all certificates,
/// under load. No process starts again.
#[test]
fn certificates_are_renewed_under_load_without_a_refused_call() {
    retry_on_stall(|| {
        let Some(fleet) = Fleet::complete() else { return };
        let before: Vec<_> = fleet.members.iter().map(|member| status(&member.agent)).collect();
        let (took, ()) = timed(|| fleet.under_load(|| renew_all(&fleet)));
        fleet.wait_for_reports();
        eprintln!("renewed in {took:?}, with {} connections", fleet.closed());
        assert_eq!(refused(&fleet.gateway), 0);
        for (member, before) in fleet.members.iter().zip(before) {
            let after = status(&member.agent);
            let asked = after.asked - before.asked;
            eprintln!("{}: {asked} questions, {after:?}", fleet.host(member).site.name);
            assert!(asked > 0);
            // The gateway knows both networks, so a question without an answer was lost.
            assert_eq!(after.none, before.none, "{after:?}");
            assert_eq!(after.in_time + after.late - before.in_time - before.late, asked);
            assert_eq!((after.reports_dropped, after.reports_refused), (0, 0));
            assert_eq!(times(&member.agent.printed(), " answers"), 4);
            assert_eq!(times(&member.agent.printed(), "connections go on"), 0);
        }
    });
}

fn times(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

/// Replaces the authority. After each step, all agents have connected once more.
fn renew_all(fleet: &Fleet) {
    let files = &fleet.gateway.files;
    let wait = |step: usize| {
        until("all agents have connected again", || {
            fleet.members.iter().all(|one| times(&one.agent.printed(), " answers") == 1 + step)
        });
    };
    let (authority, ca) = Authority::new(system_time()).unwrap();
    let all_ca = || (0..fleet.members.len()).map(|number| format!("web-{number}.ca.pem"));
    let both = files.text("ca.pem") + &ca.certificate;
    files.replace("ca.pem", &both);
    fleet.gateway.reload();
    all_ca().for_each(|name| files.replace(&name, &both));
    wait(1);
    let server = authority.server(system_time(), DAYS, &gateway_names()).unwrap();
    files.replace("server.pem", &server.certificate);
    files.replace("server.key", &server.key);
    fleet.gateway.reload();
    for (number, host) in fleet.bed.hosts.iter().enumerate() {
        certify(files, &authority, number, host);
    }
    wait(2);
    all_ca().for_each(|name| files.replace(&name, &ca.certificate));
    files.replace("ca.pem", &ca.certificate);
    fleet.gateway.reload();
    wait(3);
}

/// The second gateway knows nothing at first. It learns from reports, and the old one stops.
#[test]
fn a_gateway_that_moves_is_followed_by_all_sites_within_seconds() {
    retry_on_stall(|| {
        let Some(mut fleet) = Fleet::complete() else { return };
        let new = fleet.second_gateway();
        let is_at_new =
            |gateway: Option<String>| gateway.is_some_and(|at| at.contains("127.0.0.2"));
        let took = fleet.under_load(|| {
            fleet.control_network.name(GATEWAYS[1]);
            let moved = || fleet.members.iter().all(|one| is_at_new(status(&one.agent).gateway));
            let (took, ()) = timed(|| until("all agents have moved", moved));
            until("the new gateway has reports", || taken(&new) >= 20);
            took
        });
        eprintln!("all agents have moved in {took:?}");
        assert!(took < MOVED_WITHIN, "{took:?}");
        let closed = fleet.closed();
        until("all connections are reported", || taken(&fleet.gateway) + taken(&new) >= closed);
        let old = std::mem::replace(&mut fleet.gateway, new);
        let both = taken(&old) + taken(&fleet.gateway);
        eprintln!("{closed} connections, {} reports at the new gateway", taken(&fleet.gateway));
        assert_eq!([refused(&old), refused(&fleet.gateway)], [0, 0]);
        drop(old);
        for member in &fleet.members {
            let after = status(&member.agent);
            assert!(is_at_new(after.gateway.clone()), "{after:?}");
            assert_eq!(after.asked, after.in_time + after.late + after.none, "{after:?}");
            assert_eq!((after.reports_dropped, after.reports_refused), (0, 0));
            assert_eq!(times(&member.agent.printed(), "connections go on"), 0);
        }
        assert_eq!(both, closed, "a batch that both gateways have counts twice");
    });
}
