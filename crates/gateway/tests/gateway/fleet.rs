//! Servers of a site compare warm starts together: none of them has enough connections alone.

use crate::bed::{Bed, batch, get, report, send};
use crate::shared::two_over;
use crate::store::Redis;
use canary::comparisons::{Canary, CanaryConnection};
use canary::fleet::FleetFinding;
use canary::part::CanaryPart;
use canary::trial::{CanaryGroup, CanaryOutcome};
use gateway::pki::HolderRole;
use gateway_proto::v1::gateway_client::GatewayClient;
use gateway_proto::v1::{Group, HostComparison, Report};
use serde_json::Value;
use std::net::SocketAddr;
use std::time::Duration;
use tonic::Code;
use tonic::transport::Channel;

const SERVERS: u32 = 20;
/// The default limit of an agent.
const OFF_RATIO: f64 = 2.0;

/// A server whose connections take `seconds`, or up to ten times as long or as short. Chosen ones
/// take one and a half times as long. One of twenty is in the control group.
fn server(number: u32) -> Canary {
    let mut canary = Canary::default();
    let seconds = 0.01 * f64::from(number + 1);
    for n in 0..500_u32 {
        let is_chosen = n % 20 != 0;
        // Both groups have as many connections at each of 25 steps: the control group one, the
        // chosen group nineteen.
        let step = if is_chosen { (n - n / 20 - 1) % 25 } else { n / 20 };
        let spread = 10_f64.powf(f64::from(step) / 12.0 - 1.0);
        let time_s = seconds * spread * if is_chosen { 1.5 } else { 1.0 };
        canary.add(&CanaryConnection {
            group: CanaryGroup { stage: 0, is_chosen },
            remembered: 30,
            network: "192.0.2.0/24".parse().unwrap(),
            carried: 1,
            lost: 0,
            bytes: 30_000,
            outcome: CanaryOutcome { time_s, retransmissions: 0 },
        });
    }
    canary
}

/// A client with the certificate of `web-NUMBER`.
async fn client(bed: &Bed, to: SocketAddr, number: u32) -> GatewayClient<Channel> {
    let issued = bed.issue(HolderRole::Agent, "site", &format!("web-{number}"));
    bed.connect(to, Some(&issued)).await.unwrap()
}

/// Sends the sums of a server, and returns the finding of all hosts and connections.
async fn compare(client: &mut GatewayClient<Channel>, canary: &Canary) -> FleetFinding {
    let reply = client.compare(HostComparison::of(&canary.sums())).await.unwrap();
    let findings = reply.into_inner().to_findings();
    findings.into_iter().find(|found| found.finding.part == CanaryPart::All).unwrap()
}

/// Findings are made once a second.
async fn next_findings() {
    tokio::time::sleep(Duration::from_millis(1100)).await;
}

#[tokio::test]
async fn servers_find_a_harm_together_that_none_of_them_finds_alone() {
    let bed = Bed::new("[[tenant]]\nname = \"other\"\n");
    let running = bed.run().await;
    let mut clients = Vec::new();
    for number in 0..SERVERS {
        let canary = server(number);
        let alone = canary.findings();
        assert!(alone.iter().all(|finding| finding.harm(OFF_RATIO).is_none()), "{number}");
        let mut client = client(&bed, running.grpc, number).await;
        compare(&mut client, &canary).await;
        clients.push(client);
    }
    next_findings().await;
    let found = compare(&mut clients[0], &server(0)).await;
    assert_eq!((found.hosts, found.finding.chosen, found.finding.control), (20, 9500, 500));
    let why = found.finding.harm(OFF_RATIO).expect("harm");
    assert!(why.contains("took 1.50 times") && why.contains("of the control group"), "{why}");
    // Another site knows nothing of it.
    let stranger = bed.issue(HolderRole::Agent, "other", "web-0");
    let mut stranger = bed.connect(running.grpc, Some(&stranger)).await.unwrap();
    assert_eq!(compare(&mut stranger, &Canary::default()).await.hosts, 0);

    let status: Value = serde_json::from_str(&get(running.http, "/api/v1/status").await.1).unwrap();
    let site = &status["tenants"][1];
    assert_eq!(site["comparison"][0]["verdict"], "slower", "{site}");
    // All carried between 16,384 and 65,536 bytes, before and now.
    assert_eq!(site["comparison"][1]["part"], "path carried to 65536");
    assert_eq!(site["gains"][1]["chosen"], 9500);
    let metrics = get(running.http, "/metrics").await.1;
    let slower = "headstart_gateway_warm_starts_slower{tenant=\"site\",part=\"all\"} 1";
    assert!(metrics.contains(slower), "{metrics}");
    assert!(metrics.contains("headstart_gateway_compared_hosts{tenant=\"site\",part=\"all\"} 20"));

    // Armed servers begin with empty sums, and the finding ends.
    for client in &mut clients[1..] {
        compare(client, &Canary::default()).await;
    }
    next_findings().await;
    let found = compare(&mut clients[1], &Canary::default()).await;
    assert_eq!((found.hosts, found.finding.harm(OFF_RATIO)), (1, None));
    running.handle.end().await.unwrap();
}

/// An agent of an earlier version does not call `Compare`. It reports the group of each connection,
/// and these are compared beside the sums of others.
#[tokio::test]
async fn an_agent_of_an_earlier_version_takes_part_by_its_reports() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let mut old = client(&bed, running.grpc, 1).await;
    let of_group = |n: u64| {
        let group = if n.is_multiple_of(2) { Group::Chosen } else { Group::Control };
        let (transfer_bytes, transfer_us) = (30_000, 90_000 + n * 100);
        let one = Report {
            group: group.into(),
            transfer_bytes,
            transfer_us,
            ..report("192.0.2.0/24", 9000)
        };
        Report { sent: 9, lost: 0, ..one }
    };
    let acks = send(&mut old, vec![batch(1, (0..200).map(of_group).collect())]).await.unwrap();
    assert_eq!(acks[0].taken, 200);
    let mut new = client(&bed, running.grpc, 2).await;
    let found = compare(&mut new, &server(2)).await;
    assert_eq!((found.hosts, found.finding.chosen), (2, 575));
    // After its upgrade it sends sums, in which these connections are.
    let sums = HostComparison::of(&server(1).sums());
    old.compare(sums.clone()).await.unwrap();
    next_findings().await;
    let found = compare(&mut new, &server(2)).await;
    assert_eq!((found.hosts, found.finding.chosen), (2, 950));

    // Sums of a later method, or that no connections have, change nothing.
    let later = HostComparison { method: 2, ..sums.clone() };
    assert!(old.compare(later).await.unwrap().into_inner().parts.is_empty());
    let mut bad = sums;
    bad.parts[0].chosen = 1;
    assert_eq!(old.compare(bad.clone()).await.unwrap_err().code(), Code::InvalidArgument);
    let observer = bed.issue(HolderRole::Observer, "site", "eye-1");
    let mut observer = bed.connect(running.grpc, Some(&observer)).await.unwrap();
    assert_eq!(observer.compare(bad).await.unwrap_err().code(), Code::PermissionDenied);
    next_findings().await;
    let found = compare(&mut new, &server(2)).await;
    assert_eq!((found.hosts, found.finding.chosen), (2, 950));
    running.handle.end().await.unwrap();
}

/// The servers are connected to two gateways, which share a store. Each gateway finds the harm.
#[tokio::test]
async fn gateways_of_a_store_have_one_finding() {
    let Some(redis) = Redis::start() else { return };
    let [(bed, a), (_second, b)] = two_over(redis.port).await;
    let mut clients = Vec::new();
    for number in 0..SERVERS {
        let running = if number.is_multiple_of(2) { &a } else { &b };
        let mut client = client(&bed, running.grpc, number).await;
        compare(&mut client, &server(number)).await;
        clients.push(client);
    }
    for number in 0..2 {
        let mut patience = 30;
        loop {
            let found = compare(&mut clients[number as usize], &server(number)).await;
            if found.hosts == SERVERS {
                assert!(found.finding.harm(OFF_RATIO).is_some());
                break;
            }
            patience -= 1;
            assert!(patience > 0, "{found:?}");
            next_findings().await;
        }
    }
    // A server that moves to the other gateway counts once.
    let mut moved = client(&bed, b.grpc, 0).await;
    compare(&mut moved, &server(0)).await;
    next_findings().await;
    assert_eq!(compare(&mut moved, &server(0)).await.hosts, SERVERS);
    for running in [a, b] {
        running.handle.end().await.unwrap();
    }
}
