//! A site: the agent asks a real gateway for a network when the SYN arrives, so even the first
//! connection from there starts warm. Also, connections go on when the gateway is gone.

mod fleet;
mod harm;
mod liar;
mod option;
mod running;
mod sites;
mod wire;

use crate::bed::{Agent, Bed, Server, fastest, until};
use gateway::config::options::CollectorName;
use gateway_client::ClientStatus;
use ipnet::IpNet;
use running::Gateway;
use socket2::Domain;
use std::time::Duration;
use test_support::retry_on_stall;

fn asking(bed: &Bed, gateway: &Gateway) -> Agent {
    let options = [gateway.options(), vec!["--log".to_owned(), "debug".to_owned()]].concat();
    let agent = bed.agent(&options.iter().map(String::as_str).collect::<Vec<_>>());
    until("a gateway answers", || of_gateways(&agent).gateway.is_some());
    agent
}

fn of_gateways(agent: &Agent) -> ClientStatus {
    agent.status().gateway.expect("it has gateways")
}

/// The client's network, as all know it.
fn network(bed: &Bed) -> IpNet {
    IpNet::new(bed.client.addresses().v4.into(), 24).unwrap().trunc()
}

/// A handshake of 80 ms, the request's half round trip and the answer's: 160 ms and, at 20 Mbit/s,
/// 13 ms for 30 kB and headers. A cold start sends 10 of the 21 segments first, and the others a
/// round trip later.
const WARM: Duration = Duration::from_millis(200);

#[test]
fn the_first_connection_of_all_starts_warm_with_what_another_server_knows() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let gateway = Gateway::start();
        gateway.teach(network(&bed), 100 * 1448, Duration::from_millis(80));
        let agent = asking(&bed, &gateway);
        let server = bed.serve(Domain::IPV4, None);
        let took = bed.visit(&server, 30_000);
        agent.wait_for_closed(1);
        let printed = agent.printed();
        let start = printed.lines().find(|line| line.contains(" start to ")).unwrap().to_owned();
        assert!(start.contains("occasion=opening start=warm "), "{start}");
        assert!(took < WARM, "{took:?}: {start}");
        let status = of_gateways(&agent);
        assert_eq!((status.asked, status.in_time, status.late, status.none), (1, 1, 0, 0));
        until("the gateway hears how it went", || of_gateways(&agent).reports_taken >= 1);
    });
}

#[test]
fn what_no_server_knows_starts_cold_and_teaches_the_others() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let gateway = Gateway::start();
        let first = asking(&bed, &gateway);
        let server = bed.serve(Domain::IPV4, None);
        let cold = bed.visit(&server, 30_000);
        first.wait_for_closed(1);
        assert!(cold > WARM, "{cold:?}");
        assert_eq!(of_gateways(&first).none, 1);
        until("the gateway hears of it", || of_gateways(&first).reports_taken >= 1);
        drop(first);
        // Another server: an agent that knows nothing. There is one machine's memory at a time in
        // the kernel, so it comes later.
        let second = asking(&bed, &gateway);
        assert_eq!(second.paths().len(), 0);
        bed.visit(&server, 30_000);
        second.wait_for_closed(1);
        let printed = second.printed();
        assert!(printed.contains("occasion=opening start=warm "), "{printed}");
    });
}

/// A rate that is too low paces first flights, which then keep their spacing, and measure nothing.
/// An agent that reported it back would confirm it for ever.
#[test]
fn what_a_gateway_has_told_is_not_told_back_to_it() {
    retry_on_stall(|| {
        // 20 Mbit/s, where the gateway says 5.
        let Some(bed) = Bed::new() else { return };
        let gateway = Gateway::start();
        gateway.teach_rate(network(&bed), 100 * 1448, Duration::from_millis(80), 5_000_000);
        let agent = asking(&bed, &gateway);
        let server = bed.serve(Domain::IPV4, None);
        let rated = || gateway.rates_of(network(&bed)).iter().filter(|rate| **rate > 0).count();
        assert_eq!(rated(), 8);
        for visit in 1..=4 {
            agent.forget(None);
            bed.visit(&server, 30_000);
            agent.wait_for_closed(visit);
            until("the gateway hears of it", || of_gateways(&agent).reports_taken >= visit);
        }
        assert_eq!(agent.status().connections.warm.closed, 4, "{}", agent.printed());
        // Four samples more, none of which says anything of a rate.
        let rates = gateway.rates_of(network(&bed));
        assert_eq!((rates.len(), rated()), (12, 8), "{rates:?}");
    });
}

#[test]
fn a_gateway_that_is_gone_costs_the_gain_and_nothing_else() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let mut gateway = Gateway::start();
        let agent = asking(&bed, &gateway);
        let server = bed.serve(Domain::IPV4, None);
        gateway.stop();
        until("it is missed", || of_gateways(&agent).gateway.is_none());
        let cold = bed.visit(&server, 30_000);
        agent.wait_for_closed(1);
        // Two round trips for the data, one for the handshake, and room for a busy machine.
        assert!(cold < Duration::from_millis(400), "{cold:?}");
        let warm = fastest((0..3).map(|_| bed.visit(&server, 30_000)));
        assert!(warm < WARM, "{warm:?}: what the agent knows itself it goes on to use");
        let status = of_gateways(&agent);
        assert_eq!((status.in_time, status.reports_taken), (0, 0), "{status:?}");
        assert!(status.trouble.is_some());
    });
}

#[test]
fn what_a_gateway_is_to_forget_its_agents_forget_in_memory_and_on_disk() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let gateway = Gateway::start();
        let state = gateway.file("agent.redb");
        let options = [gateway.options(), vec!["--state".to_owned(), state]].concat();
        let mut agent = bed.agent(&options.iter().map(String::as_str).collect::<Vec<_>>());
        until("a gateway answers", || of_gateways(&agent).gateway.is_some());
        let server = bed.serve(Domain::IPV4, None);
        bed.visit(&server, 30_000);
        agent.wait_for_closed(1);
        until("the gateway hears of it", || of_gateways(&agent).reports_taken >= 1);
        assert_eq!(agent.paths().len(), 1);
        assert_eq!(gateway.forget(network(&bed)), 1);
        until("it is forgotten", || agent.printed().contains("ordered to forget"));
        assert_eq!(agent.paths().len(), 0);
        agent.kill();
        agent.start_again();
        assert_eq!(agent.paths().len(), 0);
    });
}

/// On the server's host: a gateway that has observed a transfer to the visitor, which no agent
/// hooked, and an agent that it answers.
fn beside_a_seeing_gateway(bed: &Bed) -> (Server, Gateway, Agent) {
    let server = bed.serve(Domain::IPV4, None);
    let gateway = Gateway::seeing(bed.server.namespace(), server.address().port());
    bed.visit(&server, 200_000);
    let seen = || gateway.site.counts.taken.get(CollectorName::Passive as usize);
    until("the gateway has seen the transfer", || seen() >= 1);
    let agent =
        bed.agent_at_server(&gateway.options().iter().map(String::as_str).collect::<Vec<_>>());
    until("a gateway answers", || of_gateways(&agent).gateway.is_some());
    (server, gateway, agent)
}

/// On the server's host: a gateway that observes its packets, and the agent. Nothing else has
/// reported on the visitor.
#[test]
fn a_gateway_that_sees_packets_collects_without_reports_and_tells_of_visitors_as_they_come() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let (server, gateway, agent) = beside_a_seeing_gateway(&bed);
        let took = bed.visit(&server, 30_000);
        agent.wait_for_closed(1);
        let status = of_gateways(&agent);
        assert_eq!((status.arrivals, gateway.site.counts.arrivals.get()), (1, 1), "{status:?}");
        assert_eq!(agent.status().connections.warm.closed, 1, "{took:?}");
        assert!(took < WARM, "{took:?}");
    });
}

/// Notifications also come for an open connection, whose window the server's kernel resets after a
/// silence.
#[test]
fn a_gateway_that_sees_packets_tells_of_visitors_who_ask_again_after_a_silence() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let (server, _gateway, agent) = beside_a_seeing_gateway(&bed);
        let mut stream = bed.open(&server, 1000);
        crate::bed::finish(&mut stream, 1000);
        until("the SYN is told of", || of_gateways(&agent).arrivals == 1);
        // A second request at once is not reported.
        Bed::again(&mut stream, 1000);
        agent.forget(None);
        std::thread::sleep(Duration::from_millis(800));
        assert_eq!((of_gateways(&agent).arrivals, agent.paths().len()), (1, 0));
        Bed::again(&mut stream, 1000);
        until("the request is told of", || of_gateways(&agent).arrivals == 2);
        // The connection is open and has taught no agent: the path in memory comes from the
        // gateway.
        assert_eq!(agent.paths().len(), 1);
    });
}

#[test]
fn an_interface_that_goes_away_is_counted_until_it_is_back() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let host = bed.server.namespace();
        let ip = |arguments: &str| {
            let mut command = std::process::Command::new("ip");
            host.command(command.arg("link").args(arguments.split(' '))).unwrap().wait().unwrap();
        };
        ip("add seen type veth peer name other");
        let gateway = Gateway::seeing_interface(host, "seen");
        let gone = || gateway.missing.as_ref().map(|missing| missing.get());
        assert_eq!(gone(), Some(0));
        ip("delete seen");
        until("it is missed", || gone() == Some(1));
        ip("add seen type veth peer name other");
        until("it is captured again", || gone() == Some(0));
    });
}

#[test]
fn an_answer_that_does_not_fit_the_round_trip_is_not_used() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let gateway = Gateway::start();
        // Another path: of 400 ms, where this one has 80, less than half.
        gateway.teach(network(&bed), 100 * 1448, Duration::from_millis(400));
        let agent = asking(&bed, &gateway);
        let server = bed.serve(Domain::IPV4, None);
        bed.visit(&server, 30_000);
        agent.wait_for_closed(1);
        let printed = agent.printed();
        assert!(printed.contains("occasion=opening start=round-trip window=10 "), "{printed}");
    });
}

/// The physical limit of a first visit: the handshake, the way there and back, and all packets,
/// full ones but for the last, on the link one after the other.
fn limit_of(mbps: u64, rtt: Duration, bytes: u64) -> Duration {
    const MSS: u64 = 1448;
    const HEADERS: u64 = 52;
    let on_the_wire = bytes + bytes.div_ceil(MSS) * HEADERS;
    rtt * 2 + Duration::from_micros(on_the_wire * 8 / mbps)
}

/// Gain of a gateway. Each visit to a server that knows nothing of the visitor follows one to
/// another server of the site. It is compared with visits to a server that was visited before, and
/// with cold ones. Prints a table for docs/gateway.
#[test]
#[ignore = "measures, for minutes: `make measure-gateway`"]
fn measured_gain_of_a_site() {
    const VISITS: usize = 20;
    println!(
        "link, ms, bytes: limit; cold; same server, other server (medians over limit); others within 1.05"
    );
    for (mbps, rtt_ms) in [(5, 20), (20, 20), (100, 20), (5, 200), (20, 200), (100, 200), (20, 80)]
    {
        let Some(bed) = Bed::over(crate::bed::link_of(mbps, rtt_ms, 100)) else { return };
        bed.widen_receive_window();
        let server = bed.serve(Domain::IPV4, None);
        for bytes in [30_000, 200_000] {
            // Each size has a gateway of its own: one that has seen the smaller one would answer
            // the first visit of the larger.
            let gateway = Gateway::start();
            let agent = asking(&bed, &gateway);
            let visit = |forgets: bool| {
                if forgets {
                    agent.forget(None);
                }
                let closed = agent.closed();
                let took = bed.visit(&server, bytes);
                agent.wait_for_closed(closed + 1);
                took
            };
            let cold = visit(true);
            let taken = of_gateways(&agent).reports_taken;
            let same: Vec<_> = (0..VISITS).map(|_| visit(false)).collect();
            until("reports have arrived", || of_gateways(&agent).reports_taken > taken);
            let others: Vec<_> = (0..VISITS).map(|_| visit(true)).collect();
            let limit = limit_of(mbps, Duration::from_millis(rtt_ms), bytes);
            let over = |time: Duration| time.as_secs_f64() / limit.as_secs_f64();
            let within = others.iter().filter(|time| over(**time) <= 1.05).count();
            println!(
                "{mbps} Mbit/s, {rtt_ms}, {bytes}: {:.1} ms; {:.3}; {:.3}, {:.3}; {within} of {VISITS}",
                limit.as_secs_f64() * 1e3,
                over(cold),
                over(crate::bed::median(same.into_iter())),
                over(crate::bed::median(others.into_iter())),
            );
            let status = of_gateways(&agent);
            println!(
                "  asked {}, in time {}, late {}, none {}",
                status.asked, status.in_time, status.late, status.none
            );
        }
    }
}
