//! What the gateway sees by itself: transfers of a capture count as reports, and servers hear of visitors as their SYNs come.

use crate::bed::{Bed, batch, get, network, report, send};
use gateway::config::options::CollectorName;
use gateway_proto::v1::{Network, Refusal, SubscribeRequest, answer, update};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;
use test_support::Need;

/// A public capture of one connection whose server, port 80, serves three responses (crates/capture/tests/tcprs).
const CAPTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../capture/tests/tcprs/fast001.pcap");

/// Until something holds, for ten seconds.
async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..1000 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("not within ten seconds: {what}");
}

fn with_capture(of: &str) -> String {
    format!("\n[capture]\n{of}\n")
}

/// The capture is of 1998 or so: older than anything is kept, so all three transfers are refused for that, and nothing else.
#[tokio::test(flavor = "multi_thread")]
async fn transfers_of_a_file_are_reports_as_old_as_they_are() {
    let file = with_capture(&format!("file = {CAPTURE:?}\nports = [80]"));
    let bed = Bed::new(&file);
    let running = bed.run().await;
    let counts = &running.site.counts;
    until("it is read", || counts.seen_segments.get() >= 36).await;
    let passive = || counts.taken.get(CollectorName::Passive as usize);
    let too_old = || counts.refused.get(Refusal::TooOld as usize);
    until("it is taken in", || passive() + too_old() >= 3).await;
    assert_eq!((passive(), too_old()), (0, 3));
    running.handle.end().await.unwrap();
}

/// Where transfers that were seen do not count, the gateway makes no reports of them: it refuses none.
#[tokio::test(flavor = "multi_thread")]
async fn without_passive_in_collect_nothing_is_reported_and_nothing_refused() {
    let bed = Bed::new("");
    std::fs::write(bed.file("fresh.pcap"), of_now(&std::fs::read(CAPTURE).unwrap())).unwrap();
    let capture = with_capture("file = \"fresh.pcap\"\nports = [80]");
    let text = format!("collect = [\"agent\"]\n{}{capture}", bed.text("gateway.toml"));
    std::fs::write(bed.file("gateway.toml"), text).unwrap();
    let running = bed.run().await;
    let counts = &running.site.counts;
    until("it is read", || counts.seen_segments.get() >= 36).await;
    // Longer than reports would take to be refused.
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(counts.taken.get(CollectorName::Passive as usize), 0);
    assert_eq!(counts.refused.get(Refusal::Collector as usize), 0);
    running.handle.end().await.unwrap();
}

/// A server on the loopback device and a visitor there, whose packets the gateway sees. `None`, having said so, without the right.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_hears_of_a_visitor_whose_syn_the_gateway_sees() {
    if !test_support::has(&[Need::PacketSockets]) {
        return;
    }
    let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = server.local_addr().unwrap().port();
    let bed = Bed::new(&with_capture(&format!("interfaces = [\"lo\"]\nports = [{port}]")));
    let running = bed.run().await;
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    // What is known of the visitor's network.
    let known = vec![report("127.0.0.0/24", 100_000); 8];
    assert_eq!(send(&mut client, vec![batch(1, known)]).await.unwrap()[0].taken, 8);
    // The subscriber names no address: it is connected from 127.0.0.1, where the server listens.
    let mut updates = client.subscribe(SubscribeRequest::default()).await.unwrap().into_inner();
    let visitor = TcpStream::connect(server.local_addr().unwrap()).unwrap();
    let told = async {
        loop {
            if let Some(update::What::Arrival(estimate)) =
                updates.message().await.unwrap().unwrap().what
            {
                return estimate;
            }
        }
    };
    let estimate = tokio::time::timeout(Duration::from_secs(10), told).await.expect("it is told");
    assert_eq!(estimate.network, Some(network("127.0.0.0/24")));
    // Eight windows of 100,000 bytes that met a loss of one segment in a hundred.
    assert!((50_000..=200_000).contains(&estimate.window), "{estimate:?}");
    assert_eq!(running.site.counts.arrivals.get(), 1);
    drop(visitor);
    running.handle.end().await.unwrap();
}

/// A subscriber hears of visitors of the servers whose addresses it names, and of no others.
#[tokio::test(flavor = "multi_thread")]
async fn visitors_of_other_servers_are_no_business_of_a_subscriber() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    let other =
        SubscribeRequest { addresses: vec![vec![192, 0, 2, 7]], ..SubscribeRequest::default() };
    let mut updates = client.subscribe(other).await.unwrap().into_inner();
    let tenant = running.site.tenant("site").unwrap();
    until("it has subscribed", || tenant.arrivals.has_subscribers()).await;
    for last in [8, 7] {
        let estimate = gateway_proto::v1::Estimate {
            network: Some(network("198.51.100.0/24")),
            window: last,
            ..Default::default()
        };
        let server = Ipv4Addr::new(192, 0, 2, last as u8).into();
        tenant.arrivals.tell(gateway::site::tenant::arrivals::VisitorArrival { server, estimate });
    }
    let first = updates.message().await.unwrap().unwrap().what;
    assert!(matches!(first, Some(update::What::Arrival(told)) if told.window == 7), "{first:?}");
    // Only arrivals that a subscriber was told of count.
    assert_eq!(running.site.counts.arrivals.get(), 1);
    let bad = SubscribeRequest { addresses: vec![vec![1, 2, 3]], ..SubscribeRequest::default() };
    assert!(client.subscribe(bad).await.is_err());
    running.handle.end().await.unwrap();
}

/// Where no more than 18 bits of a network may be told, the gateway tells no more of what it sees itself.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_seen_is_told_of_networks_as_short_as_the_operator_wants() {
    let bed = Bed::new(&with_capture("file = \"fresh.pcap\"\nports = [80]"));
    std::fs::write(bed.file("fresh.pcap"), of_now(&std::fs::read(CAPTURE).unwrap())).unwrap();
    bed.add_key("longest-v4 = 18");
    let running = bed.run().await;
    let counts = &running.site.counts;
    let taken = || counts.taken.get(CollectorName::Passive as usize);
    let too_long = || counts.refused.get(Refusal::TooLong as usize);
    until("it is taken in", || taken() + too_long() >= 3).await;
    assert_eq!((taken(), too_long()), (3, 0));
    // The visitor is in 10.1.96.0/24: of 96, 0110 0000, two bits are left.
    let (_, networks) = get(running.http, "/api/v1/networks").await;
    assert!(networks.contains("\"network\":\"10.1.64.0/18\",\"reports\":3"), "{networks}");
    running.handle.end().await.unwrap();
}

/// The transfers of a capture of now: the same file with its times moved.
#[tokio::test(flavor = "multi_thread")]
async fn transfers_of_now_count_as_what_the_gateway_has_seen() {
    let bed = Bed::new("");
    let fresh = bed.file("fresh.pcap");
    std::fs::write(&fresh, of_now(&std::fs::read(Path::new(CAPTURE)).unwrap())).unwrap();
    let text = bed.text("gateway.toml") + &with_capture("file = \"fresh.pcap\"\nports = [80]");
    std::fs::write(bed.file("gateway.toml"), text).unwrap();
    let running = bed.run().await;
    let counts = &running.site.counts;
    until("all three transfers count", || counts.taken.get(CollectorName::Passive as usize) == 3)
        .await;
    // Two of them met a loss: the network is known.
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    let asked = client.ask(crate::bed::query("10.1.96.0/24")).await.unwrap().into_inner();
    assert!(matches!(
        asked.result,
        Some(answer::Result::Estimate(estimate))
            if estimate.network == Some(Network::of("10.1.96.0/24".parse().unwrap()))
    ));
    let tenant = running.site.tenant("site").unwrap();
    let reporters: Vec<String> =
        tenant.known().reporters.iter().map(|(name, _)| name.to_owned()).collect();
    assert_eq!(reporters, [gateway::observe::live::CAPTURE]);
    running.handle.end().await.unwrap();
}

/// A classic capture whose last packet was two seconds ago.
fn of_now(capture: &[u8]) -> Vec<u8> {
    let mut all = capture.to_vec();
    let is_swapped = capture[..4] == [0xa1, 0xb2, 0xc3, 0xd4];
    let word = |bytes: &[u8]| {
        let four: [u8; 4] = bytes.try_into().unwrap();
        if is_swapped { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) }
    };
    let (mut places, mut at) = (Vec::new(), 24);
    while at + 16 <= all.len() {
        places.push(at);
        at += 16 + word(&all[at + 8..at + 12]) as usize;
    }
    let last = word(&all[places[places.len() - 1]..][..4]);
    let now = gateway::os::clock::SiteClock::wall_seconds() as u32 - 2;
    for place in places {
        let moved = word(&all[place..place + 4]).wrapping_sub(last).wrapping_add(now);
        let bytes = if is_swapped { moved.to_be_bytes() } else { moved.to_le_bytes() };
        all[place..place + 4].copy_from_slice(&bytes);
    }
    all
}
