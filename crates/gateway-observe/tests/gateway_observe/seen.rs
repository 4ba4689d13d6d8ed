//! Packets that an observer sees: transfers of a capture count as its reports, and servers learn of
//! visitors at their SYNs. The gateway itself reads no packet.

use crate::bed::{Bed, Running, batch, get, network, query, report, send};
use gateway::config::options::CollectorName;
use gateway::pki::{HolderRole, Issued};
use gateway_observe::{ObserveConfig, SiteObserver};
use gateway_proto::v1::{Network, Refusal, SubscribeRequest, answer, update};
use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::Duration;
use test_support::Need;

/// A public capture of one connection whose server, port 80, serves three responses
/// (crates/capture/tests/tcprs).
const CAPTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../capture/tests/tcprs/fast001.pcap");

/// Waits until a condition holds, for at most ten seconds.
async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..1000 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("not within ten seconds: {what}");
}

/// Starts an observer of this gateway, with `keys` in its configuration.
fn observe(bed: &Bed, running: &Running, keys: &str) -> SiteObserver {
    let Issued { certificate, key } = bed.issue(HolderRole::Observer, "site", "eye");
    fs::write(bed.file("eye.pem"), certificate).unwrap();
    fs::write(bed.file("eye.key"), key).unwrap();
    let gateway = format!(
        "gateway = [\"{}\"]\ngateway-ca = \"ca.pem\"\ngateway-certificate = \"eye.pem\"\ngateway-key = \"eye.key\"\n",
        running.grpc
    );
    fs::write(bed.file("observe.toml"), gateway + keys).unwrap();
    SiteObserver::start(&ObserveConfig::read(&bed.file("observe.toml")).unwrap()).unwrap()
}

/// Writes the capture beside the configuration, with its last packet two seconds ago.
fn write_fresh(bed: &Bed) {
    fs::write(bed.file("fresh.pcap"), of_now(&fs::read(CAPTURE).unwrap())).unwrap();
}

async fn end(observer: SiteObserver, running: Running) {
    tokio::task::spawn_blocking(|| observer.end()).await.unwrap().unwrap();
    running.handle.end().await.unwrap();
}

/// The capture is from about 1998: older than the longest retention, so all three transfers are
/// refused for that reason only.
#[tokio::test(flavor = "multi_thread")]
async fn transfers_of_a_file_are_reports_as_old_as_they_are() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let observer = observe(&bed, &running, &format!("file = {CAPTURE:?}\nports = [80]"));
    let counts = &running.site.counts;
    until("it is read", || observer.counts().segments.get() >= 36).await;
    let passive = || counts.taken.get(CollectorName::Passive as usize);
    let too_old = || counts.refused.get(Refusal::TooOld as usize);
    until("it is taken in", || passive() + too_old() >= 3).await;
    assert_eq!((passive(), too_old()), (0, 3));
    end(observer, running).await;
}

/// An observer that only announces visitors makes no reports: the gateway refuses none.
#[tokio::test(flavor = "multi_thread")]
async fn without_passive_nothing_is_reported_and_nothing_refused() {
    let bed = Bed::new("");
    write_fresh(&bed);
    let running = bed.run().await;
    let keys = "file = \"fresh.pcap\"\nports = [80]\npassive = false";
    let observer = observe(&bed, &running, keys);
    until("it is read", || observer.counts().segments.get() >= 36).await;
    let (handle, site) = (running.handle, running.site);
    // It waits until the gateway has acknowledged everything.
    tokio::task::spawn_blocking(|| observer.end()).await.unwrap().unwrap();
    assert_eq!(site.counts.taken.get(CollectorName::Passive as usize), 0);
    assert_eq!(site.counts.refused.get(Refusal::Collector as usize), 0);
    handle.end().await.unwrap();
}

/// A server on the loopback device and a visitor there, whose packets the observer sees. The test
/// reports a skip without the right.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_hears_of_a_visitor_whose_syn_an_observer_sees() {
    if !test_support::has(&[Need::PacketSockets]) {
        return;
    }
    let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = server.local_addr().unwrap().port();
    let bed = Bed::new("");
    let running = bed.run().await;
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    // The gateway knows the visitor's network.
    let known = vec![report("127.0.0.0/24", 100_000); 8];
    assert_eq!(send(&mut client, vec![batch(1, known)]).await.unwrap()[0].taken, 8);
    let observer = observe(&bed, &running, &format!("interfaces = [\"lo\"]\nports = [{port}]"));
    // The subscriber names no address: it is connected from 127.0.0.1, where the server listens.
    let mut updates = client.subscribe(SubscribeRequest::default()).await.unwrap().into_inner();
    until("the observer is connected", || observer.is_connected()).await;
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
    end(observer, running).await;
}

/// If at most 18 bits of a network may be reported, the observer reports no more.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_seen_is_told_of_networks_as_short_as_the_operator_wants() {
    let bed = Bed::new("");
    write_fresh(&bed);
    bed.add_key("longest-v4 = 18");
    let running = bed.run().await;
    let keys = "file = \"fresh.pcap\"\nports = [80]\nlongest-v4 = 18";
    let observer = observe(&bed, &running, keys);
    let counts = &running.site.counts;
    let taken = || counts.taken.get(CollectorName::Passive as usize);
    let too_long = || counts.refused.get(Refusal::TooLong as usize);
    until("it is taken in", || taken() + too_long() >= 3).await;
    assert_eq!((taken(), too_long()), (3, 0));
    // The visitor is in 10.1.96.0/24: two bits are left of 96, 0110 0000.
    let (_, networks) = get(running.http, "/api/v1/networks").await;
    assert!(networks.contains("\"network\":\"10.1.64.0/18\",\"reports\":3"), "{networks}");
    end(observer, running).await;
}

/// The transfers are from a current capture: the same file with its times moved.
#[tokio::test(flavor = "multi_thread")]
async fn transfers_of_now_count_as_what_the_observer_has_seen() {
    let bed = Bed::new("");
    write_fresh(&bed);
    let running = bed.run().await;
    let observer = observe(&bed, &running, "file = \"fresh.pcap\"\nports = [80]");
    let counts = &running.site.counts;
    until("all three transfers count", || counts.taken.get(CollectorName::Passive as usize) == 3)
        .await;
    // Two of them met a loss: the network is known.
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    let asked = client.ask(query("10.1.96.0/24")).await.unwrap().into_inner();
    assert!(matches!(
        asked.result,
        Some(answer::Result::Estimate(estimate))
            if estimate.network == Some(Network::of("10.1.96.0/24".parse().unwrap()))
    ));
    let (_, status) = get(running.http, "/api/v1/status").await;
    assert!(status.contains("{\"name\":\"eye\",\"role\":\"observer\","), "{status}");
    end(observer, running).await;
}

/// Returns a current capture with a FIN of 192.0.2.1:443 to each of `count` ports of 198.51.100.7.
/// Each FIN has an agent's option: a loss at 144,768 bytes (`gateway_observe::path_option`).
fn fins_with_options(count: u32) -> Vec<u8> {
    const OPTION: [u8; 16] =
        [254, 16, 0x48, 0x53, 0x11, 0, 0x20, 0x6b, 0x30, 0xc4, 0x1c, 0xe2, 0, 139, 0, 2];
    let now = gateway::os::clock::SiteClock::wall_seconds() as u32;
    // A classic capture of raw packets (link type 101).
    let mut file = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 101].map(u32::to_le_bytes).concat();
    for number in 0..count {
        file.extend([now, 0, 56, 56].map(u32::to_le_bytes).concat());
        file.extend([0x45, 0, 0, 56, 0, 0, 0x40, 0, 64, 6, 0, 0]);
        file.extend([192, 0, 2, 1, 198, 51, 100, 7, 1, 187]);
        file.extend((1024 + number as u16).to_be_bytes());
        file.extend([0, 0, 0, 1, 0, 0, 0, 2, 9 << 4, 0x11, 0, 0, 0, 0, 0, 0]);
        file.extend(OPTION);
    }
    file
}

/// The file has more options than the client has room for, and is read at once. The observer waits
/// for the gateway and loses none. The gateway counts them as options.
#[tokio::test(flavor = "multi_thread")]
async fn options_of_a_large_file_all_count_as_options() {
    const COUNT: u32 = 40_000;
    let bed = Bed::new("");
    fs::write(bed.file("fins.pcap"), fins_with_options(COUNT)).unwrap();
    bed.add_key("collect = [\"option\"]");
    let running = bed.run().await;
    let keys = "file = \"fins.pcap\"\npassive = false\noption-servers = [\"192.0.2.0/28\"]";
    let observer = observe(&bed, &running, keys);
    let counts = &running.site.counts;
    let taken = || counts.taken.get(CollectorName::Option as usize);
    until("all count", || taken() == u64::from(COUNT)).await;
    assert_eq!(counts.taken.get(CollectorName::Passive as usize), 0);
    assert_eq!(observer.counts().foreign_options.get(), 0);
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    let asked = client.ask(query("198.51.100.0/24")).await.unwrap().into_inner().result;
    let Some(answer::Result::Estimate(estimate)) = asked else { panic!("{asked:?}") };
    assert!((100_000..200_000).contains(&estimate.window), "{estimate:?}");
    end(observer, running).await;
}

/// Returns a classic capture whose last packet was two seconds ago.
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
