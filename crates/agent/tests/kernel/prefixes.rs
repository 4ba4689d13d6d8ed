//! Nested prefixes: the longest one that contains the peer determines the cap, and which
//! destinations are remembered together. Also congestion controls that a route sets.

use crate::bed::{Agent, Bed, Server, finish, is_upon_cubic};
use crate::cable::ip;
use crate::peers::Peers;
use socket2::Domain;
use std::net::{IpAddr, SocketAddr};
use std::process::Command;
use test_support::retry_on_stall;

/// Proves a window above all caps of these tests.
const BYTES: u64 = 200_000;

/// Arguments for these prefixes, with caps.
fn prefixes<'a>(rules: &[&'a str]) -> Vec<&'a str> {
    rules.iter().flat_map(|prefix| ["--prefix", prefix]).collect()
}

/// First window, segments, of a warm visit after one that has taught its path.
fn second_window(agent: &Agent, mut visit: impl FnMut()) -> u64 {
    let before = agent.status().connections;
    for closed in 1..=2 {
        visit();
        agent.wait_for_closed(before.closed() + closed);
    }
    let warm = agent.status().connections.warm;
    assert_eq!(warm.closed, before.warm.closed + 1, "{warm:?}");
    warm.first_windows - before.warm.first_windows
}

#[test]
fn of_nested_prefixes_the_longest_that_holds_the_peer_decides() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        // The order is neither from the shortest to the longest nor the reverse.
        let rules = ["10.1.0.0/16=25", "10.0.0.0/8=30", "10.1.2.0/24=20", "10.1.2.128/25=0"];
        let agent = bed.agent(&prefixes(&rules));
        let server = bed.serve(Domain::IPV4, None);
        let peers = Peers::of(&bed, server.address());
        for (host, cap, path) in [
            ("10.1.2.9", 20, "10.1.2.0/24"),
            ("10.1.3.9", 25, "10.1.0.0/16"),
            ("10.2.2.9", 30, "10.0.0.0/8"),
            ("10.1.1.255", 25, "10.1.0.0/16"),
        ] {
            agent.forget(None);
            let from = SocketAddr::new(host.parse().unwrap(), 40_000);
            let mut port = from.port();
            let window = second_window(&agent, || {
                port += 1;
                peers.visit(SocketAddr::new(from.ip(), port), BYTES);
            });
            assert_eq!(window, cap, "{host}");
            let paths: Vec<_> = agent.paths().iter().map(|path| path.prefix.to_string()).collect();
            assert_eq!(paths, [path], "{host}");
        }
        // A prefix that is left alone within one that is not.
        let closed = agent.closed();
        peers.visit("10.1.2.200:40000".parse().unwrap(), BYTES);
        peers.visit("10.1.1.255:50000".parse().unwrap(), BYTES);
        agent.wait_for_closed(closed + 1);
        assert_eq!((agent.closed(), agent.paths().len()), (closed + 1, 1));
    });
}

/// Visits to an address of the server's from clients of the bed: returns the second window and the
/// path.
fn of_bed(bed: &Bed, rules: &[&str], address: IpAddr) -> (u64, String) {
    let agent = bed.agent(&prefixes(rules));
    let server: Server = bed.serve_at(SocketAddr::new(address, 0), None);
    let window = second_window(&agent, || {
        bed.visit(&server, BYTES);
    });
    (window, agent.paths()[0].prefix.to_string())
}

#[test]
fn nested_prefixes_of_ipv6_and_of_v4_mapped_addresses_are_as_those_of_ipv4() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let addresses = bed.server.addresses();
        // 198.18.0.46 and 2001:2:0:b::2 are the client's. The longest of each do not hold it.
        let rules = [
            "198.18.0.0/16=25",
            "198.0.0.0/8=30",
            "198.18.0.0/23=20",
            "198.18.1.0/24=35",
            "2001:2::/48=26",
            "2001::/16=31",
            "2001:2:0:b::/64=21",
            "2001:2:0:c::/64=36",
        ];
        let v6 = of_bed(&bed, &rules, addresses.v6.into());
        assert_eq!(v6, (21, "2001:2:0:b::/64".to_owned()));
        // Both ends are sockets of IPv6.
        let mapped = addresses.v4.to_ipv6_mapped();
        assert_eq!(of_bed(&bed, &rules, mapped.into()), (20, "198.18.0.0/23".to_owned()));
        assert_eq!(of_bed(&bed, &rules, addresses.v4.into()), (20, "198.18.0.0/23".to_owned()));
        // Without the longest, the next ones.
        let less = ["198.0.0.0/8=30", "198.18.0.0/16=25", "2001::/16=31", "2001:2::/48=26"];
        assert_eq!(of_bed(&bed, &less, addresses.v6.into()), (26, "2001:2::/48".to_owned()));
        assert_eq!(of_bed(&bed, &less, mapped.into()), (25, "198.18.0.0/16".to_owned()));
        // All of IPv6 is nothing of IPv4: that has the usual path, and the usual cap.
        let (window, path) = of_bed(&bed, &["::/0=12"], addresses.v4.into());
        assert!(window > 12 && path == "198.18.0.0/24", "{window} {path}");
        assert_eq!(of_bed(&bed, &["::/0=12"], addresses.v6.into()), (12, "::/0".to_owned()));
    });
}

#[test]
fn a_route_gives_a_congestion_control_of_ours_to_whom_the_agent_does_not_attend() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let server = bed.serve(Domain::IPV4, None);
        let port = server.port().to_string();
        let agent = bed.agent(&["--except-local-port", &port]);
        let given = || finish(&mut bed.open(&server, 1000), 1000);
        let default = given();
        assert!(!is_upon_cubic(&default), "{default}");

        let client = bed.client.addresses().v4.to_string();
        if Command::new("ip").arg("-V").output().is_err() {
            test_support::skipped("no routes without `ip`");
            return;
        }
        let route = ["route", "add", &client, "dev", bed.server.name(), "congctl", "hs_cubic"];
        assert!(ip(&bed.server, &route));
        // It has no search of a cold start, and begins from memory as others do.
        assert_eq!(given(), "hs_cubic");
        agent.wait_for_closed(1);
        bed.visit(&server, 60_000);
        agent.wait_for_closed(2);
        bed.visit(&server, 60_000);
        agent.wait_for_closed(3);
        let warm = agent.status().connections.warm;
        assert!(warm.closed >= 1 && warm.first_windows > 10 * warm.closed, "{warm:?}");

        assert!(ip(&bed.server, &["route", "del", &client]));
        assert_eq!(given(), default);
        assert_eq!(agent.closed(), 3);
    });
}
