//! State over a restart: the whole memory, with its age, and nothing of a damaged file.

use crate::bed::{Bed, batch, query, report, send};
use gateway::storage::codec::{decode, encode};
use gateway_proto::v1::{Source, answer};
use memory::site::{Bound, Reporter, SiteConfig, SiteMemory, SiteReport};
use std::fs;
use units::{Duration, Instant, Rate};

async fn learn(bed: &Bed) -> u64 {
    let running = bed.run().await;
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    let reports = vec![report("192.0.2.0/24", 200_000); 10];
    send(&mut client, vec![batch(1, reports)]).await.unwrap();
    let answer = client.ask(query("192.0.2.0/24")).await.unwrap().into_inner();
    running.handle.end().await.unwrap();
    match answer.result {
        Some(answer::Result::Estimate(estimate)) => estimate.window,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_is_known_outlives_a_restart() {
    let bed = Bed::new("");
    let window = learn(&bed).await;
    let running = bed.run().await;
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    let answer = client.ask(query("192.0.2.0/24")).await.unwrap().into_inner();
    let Some(answer::Result::Estimate(estimate)) = answer.result else { panic!("{answer:?}") };
    assert_eq!(estimate.source(), Source::Network);
    // Samples are a moment older, and so weigh a little less beside the site's own distribution.
    assert!(estimate.window.abs_diff(window) < window / 100, "{} and {window}", estimate.window);
    running.handle.end().await.unwrap();
}

#[tokio::test]
async fn a_damaged_snapshot_is_put_aside() {
    let bed = Bed::new("");
    learn(&bed).await;
    // The header of redb (320 bytes) without its first 9, which identify the format.
    let mut bytes = fs::read(bed.file("gateway.redb")).unwrap();
    bytes[9..320].fill(0xff);
    fs::write(bed.file("gateway.redb"), bytes).unwrap();
    let running = bed.run().await;
    assert!(bed.file("gateway.damaged").exists());
    bed.ask(running.grpc, Some(&bed.agent())).await.unwrap();
    running.handle.end().await.unwrap();
}

#[tokio::test]
async fn a_file_of_others_is_no_snapshot_and_stays() {
    let bed = Bed::new("");
    fs::write(bed.file("gateway.redb"), [7; 5000]).unwrap();
    let why = gateway::daemon::Daemon::open(&bed.file("gateway.toml")).await.unwrap_err();
    assert!(
        why.starts_with("state: ") && why.contains("is not a state file of the gateway"),
        "{why}"
    );
    assert_eq!(fs::read(bed.file("gateway.redb")).unwrap(), [7; 5000]);
    assert!(!bed.file("gateway.damaged").exists());
}

#[tokio::test]
async fn two_gateways_do_not_share_a_snapshot() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let second = gateway::daemon::Daemon::open(&bed.file("gateway.toml")).await.unwrap_err();
    assert!(second.contains("another gateway has"), "{second}");
    running.handle.end().await.unwrap();
}

/// One sample of a network is the least possible memory, and must not be lost on the way.
#[test]
fn what_a_memory_knows_is_known_to_the_one_that_reads_it() {
    let config = SiteConfig::default();
    let (mut told, mut read) = (SiteMemory::new(config), SiteMemory::new(config));
    let now = Instant::from_nanos(1_800_000_000_000_000_000);
    let networks =
        ["10.1.0.0/24", "10.2.0.0/24", "192.0.2.0/24", "198.51.100.0/24", "2001:db8::/48"];
    for (network, times) in networks.into_iter().zip([1, 1, 1, 3, 30]) {
        let report = SiteReport {
            network: network.parse().unwrap(),
            reporter: Reporter(1),
            window: 200_000,
            rate: Some(Rate::from_bps(20_000_000)),
            min_rtt: Some(Duration::from_millis(80)),
            sent: 100,
            lost: 1,
            bound: Bound::Loss,
        };
        (0..times).for_each(|_| told.report(now, &report));
    }
    let mut bytes = Vec::new();
    told.records().for_each(|record| encode(&record, &mut bytes));
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        read.merge(&decode(&mut rest).unwrap());
    }
    for address in ["192.0.2.1", "198.51.100.1", "2001:db8::1", "203.0.113.1"] {
        let address = address.parse().unwrap();
        let estimates = [&told, &read].map(|memory| memory.estimate(now, address, None));
        assert!(estimates[0].is_some());
        assert_eq!(estimates[0], estimates[1], "{address}");
    }
}
