//! The rights of an observer's certificate: it may only report the results of packets and announce
//! visitors.

use crate::bed::{Bed, Running, batch, network, query, report, send};
use gateway::config::options::CollectorName;
use gateway::pki::{HolderRole, Issued};
use gateway_proto::v1::gateway_client::GatewayClient;
use gateway_proto::v1::{
    Arrival, Collector, Estimate, ForgetRequest, Refusal, RefusedReports, ReportBatch, Source,
    SubscribeRequest, Update, answer, update,
};
use std::fs;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;
use tonic::{Code, Streaming};

/// A network that the observer of these tests may report, and one that a narrower rule excludes.
const LEFT: &str = "10.1.2.0/24";
const TAKEN: &str = "192.0.2.0/24";
/// Upper bound for every wait here.
const PATIENCE: Duration = Duration::from_secs(8);

async fn connect(bed: &Bed, running: &Running, shown: &Issued) -> GatewayClient<Channel> {
    bed.connect(running.grpc, Some(shown)).await.unwrap()
}

fn eye(bed: &Bed) -> Issued {
    bed.issue(HolderRole::Observer, "site", "eye")
}

/// Returns a batch with its own epoch for each collector, as an observer's two clients draw them.
fn seen(collector: Collector, network: &str) -> ReportBatch {
    let collector = collector as i32;
    let epoch = 10 + collector as u64;
    ReportBatch { epoch, collector, ..batch(1, vec![report(network, 100_000); 4]) }
}

fn arrival(network: &str, server: u8) -> Arrival {
    Arrival { network: Some(self::network(network)), server: vec![192, 0, 2, server] }
}

/// Returns the visitors that a subscriber is notified of, until one goes to a network that ends the
/// test.
async fn arrivals_until(updates: &mut Streaming<Update>, last: &str) -> Vec<String> {
    let mut networks = Vec::new();
    let received = async {
        while networks.last().is_none_or(|network| network != last) {
            let update = updates.message().await.unwrap().unwrap();
            if let Some(update::What::Arrival(Estimate { network, .. })) = update.what {
                networks.push(network.unwrap().to_net().unwrap().to_string());
            }
        }
    };
    timeout(PATIENCE, received).await.expect("arrivals");
    networks
}

#[tokio::test]
async fn an_observer_may_report_and_may_not_ask_subscribe_or_forget() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let mut client = connect(&bed, &running, &eye(&bed)).await;
    let acks = send(&mut client, vec![seen(Collector::Passive, LEFT)]).await.unwrap();
    assert_eq!(acks[0].taken, 4);
    let denied = |code: Option<Code>, call: &str| {
        assert_eq!(code, Some(Code::PermissionDenied), "{call}");
    };
    denied(client.ask(query(LEFT)).await.err().map(|why| why.code()), "Ask");
    let queries = tokio_stream::iter([query(LEFT)]);
    denied(client.ask_stream(queries).await.err().map(|why| why.code()), "AskStream");
    let subscribed = client.subscribe(SubscribeRequest::default()).await;
    denied(subscribed.err().map(|why| why.code()), "Subscribe");
    let forgotten = client.forget(ForgetRequest { network: Some(network(LEFT)) }).await;
    denied(forgotten.err().map(|why| why.code()), "Forget");
    running.handle.end().await.unwrap();
}

#[tokio::test]
async fn only_an_observer_may_announce() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let operator = bed.issue(HolderRole::Operator, "site", "ann");
    for (shown, expected) in [
        (bed.agent(), Some(Code::PermissionDenied)),
        (operator, Some(Code::PermissionDenied)),
        (eye(&bed), None),
    ] {
        let mut client = connect(&bed, &running, &shown).await;
        let announced = client.announce(tokio_stream::iter([arrival(LEFT, 1)])).await;
        assert_eq!(announced.err().map(|why| why.code()), expected);
    }
    let mut client = connect(&bed, &running, &eye(&bed)).await;
    let nowhere = Arrival { server: vec![1, 2, 3], ..arrival(LEFT, 1) };
    let announced = client.announce(tokio_stream::iter([nowhere])).await;
    assert_eq!(announced.unwrap_err().code(), Code::InvalidArgument);
    running.handle.end().await.unwrap();
}

/// An observer may only report the results of packets: it cannot pass for an agent that compares
/// warm starts.
#[tokio::test]
async fn an_observer_has_no_other_way_of_collecting() {
    let bed = Bed::new("");
    bed.add_key("collect = [\"agent\", \"application\", \"option\", \"passive\", \"replay\"]");
    let running = bed.run().await;
    let mut client = connect(&bed, &running, &eye(&bed)).await;
    for (collector, taken) in [
        (Collector::Agent, 0),
        (Collector::Application, 0),
        (Collector::Replay, 0),
        (Collector::Passive, 4),
        (Collector::Option, 4),
    ] {
        let acks = send(&mut client, vec![seen(collector, LEFT)]).await.unwrap();
        assert_eq!(acks[0].taken, taken, "{collector:?}");
        let refused = RefusedReports { why: Refusal::Collector.into(), count: 4 };
        assert_eq!(acks[0].refused, if taken == 0 { vec![refused] } else { vec![] });
    }
    running.handle.end().await.unwrap();
}

/// Both kinds of evidence count. Each batch is number 1 of its own epoch, and neither counts as a
/// repetition of the other. Together they have the weight of one host: a rogue observer does not
/// count as two hosts.
#[tokio::test]
async fn passive_reports_and_options_of_an_observer_both_count_as_of_one_host() {
    let bed = Bed::new("");
    bed.add_key("collect = [\"option\", \"passive\"]");
    let running = bed.run().await;
    let mut client = connect(&bed, &running, &eye(&bed)).await;
    for collector in [Collector::Passive, Collector::Option] {
        let acks = send(&mut client, vec![seen(collector, LEFT)]).await.unwrap();
        assert_eq!((acks[0].taken, acks[0].repeated), (4, false), "{collector:?}");
    }
    let counts = &running.site.counts;
    let taken = |collector: CollectorName| counts.taken.get(collector as usize);
    assert_eq!((taken(CollectorName::Passive), taken(CollectorName::Option)), (4, 4));
    let mut agent = connect(&bed, &running, &bed.agent()).await;
    let asked = agent.ask(query(LEFT)).await.unwrap().into_inner().result;
    let Some(answer::Result::Estimate(estimate)) = asked else { panic!("{asked:?}") };
    assert_eq!((estimate.samples, estimate.reporters), (8, 1));
    running.handle.end().await.unwrap();
}

/// A subscriber is notified of visitors of the servers whose addresses it names, and of no others.
#[tokio::test]
async fn visitors_of_other_servers_are_no_business_of_a_subscriber() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let mut observer = connect(&bed, &running, &eye(&bed)).await;
    // Enough networks for an answer from the site's other paths, which does not justify a message.
    let others = (0..8).map(|n| format!("203.{n}.113.0/24"));
    let known = others.chain([LEFT, TAKEN].map(str::to_owned));
    let known: Vec<_> = known.map(|network| report(&network, 100_000)).collect();
    let batch = ReportBatch { reports: known, ..seen(Collector::Passive, LEFT) };
    assert_eq!(send(&mut observer, vec![batch]).await.unwrap()[0].taken, 10);
    let mut agent = connect(&bed, &running, &bed.agent()).await;
    let own =
        SubscribeRequest { addresses: vec![vec![192, 0, 2, 7]], ..SubscribeRequest::default() };
    let mut updates = agent.subscribe(own).await.unwrap().into_inner();
    let visitors = [arrival(TAKEN, 8), arrival("198.51.100.0/24", 7), arrival(LEFT, 7)];
    observer.announce(tokio_stream::iter(visitors)).await.unwrap();
    let asked = agent.ask(query("198.51.100.0/24")).await.unwrap().into_inner().result;
    let Some(answer::Result::Estimate(estimate)) = asked else { panic!("{asked:?}") };
    assert_eq!(estimate.source(), Source::Prior);
    assert_eq!(arrivals_until(&mut updates, LEFT).await, [LEFT]);
    // Only arrivals that a subscriber was sent count.
    assert_eq!(running.site.counts.arrivals.get(), 1);
    let bad = SubscribeRequest { addresses: vec![vec![1, 2, 3]], ..SubscribeRequest::default() };
    assert!(agent.subscribe(bad).await.is_err());
    running.handle.end().await.unwrap();
}

/// The rules of a tenant apply to arrivals as to reports. With a prefix that is no network of
/// visitors, subscribers would apply one estimate to all networks within.
#[tokio::test]
async fn an_observer_announces_only_networks_that_it_may_report() {
    let only = "[[tenant.only]]\nname = \"eye\"\nreport = [\"10.0.0.0/8\"]\nask = []\n";
    let bed = Bed::new(only);
    let running = bed.run().await;
    let mut agent = connect(&bed, &running, &bed.agent()).await;
    let known = [LEFT, TAKEN].map(|network| vec![report(network, 100_000); 4]).concat();
    assert_eq!(send(&mut agent, vec![batch(1, known)]).await.unwrap()[0].taken, 8);
    let mut updates = agent
        .subscribe(SubscribeRequest { addresses: vec![vec![192, 0, 2, 7]], ..Default::default() })
        .await
        .unwrap()
        .into_inner();
    let mut observer = connect(&bed, &running, &eye(&bed)).await;
    let nameless = Arrival { network: None, ..arrival(LEFT, 7) };
    let visitors = [arrival(TAKEN, 7), arrival("10.0.0.0/8", 7), nameless, arrival(LEFT, 7)];
    observer.announce(tokio_stream::iter(visitors)).await.unwrap();
    assert_eq!(arrivals_until(&mut updates, LEFT).await, [LEFT]);
    assert_eq!(running.site.counts.refused_arrivals.get(), 3);
    running.handle.end().await.unwrap();
}

/// A silent stream of arrivals ends with its certificate, and when the gateway drains.
#[tokio::test]
async fn a_stream_of_arrivals_ends_with_its_certificate_or_the_gateway() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let revoked = eye(&bed);
    fs::write(bed.file("eye.pem"), &revoked.certificate).unwrap();
    let other = bed.issue(HolderRole::Observer, "site", "other");
    let mut ends = Vec::new();
    let mut silent = Vec::new();
    for shown in [&revoked, &other] {
        let mut client = connect(&bed, &running, shown).await;
        let (arrivals, seen) = mpsc::channel(1);
        silent.push(arrivals);
        let call = async move { client.announce(ReceiverStream::new(seen)).await };
        ends.push(tokio::spawn(call));
    }
    let until_open = async {
        while running.site.counts.connections.get() < 2 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, until_open).await.expect("both are connected");
    let fingerprint = gateway::pki::fingerprint_of_file(&bed.file("eye.pem")).unwrap();
    fs::write(bed.file("revoked.txt"), format!("{fingerprint}\n")).unwrap();
    let end = timeout(PATIENCE, ends.remove(0)).await.expect("it ends").unwrap();
    assert_eq!(end.unwrap_err().code(), Code::PermissionDenied);
    running.handle.end().await.unwrap();
    let end = timeout(PATIENCE, ends.remove(0)).await.expect("it ends").unwrap();
    assert_eq!(end.unwrap_err().code(), Code::Unavailable);
}
