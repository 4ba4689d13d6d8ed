//! What outlives a gateway: all that was known, with its age, and nothing of a damaged file.

use crate::bed::{Bed, batch, query, report, send};
use gateway_proto::v1::{Source, answer};
use std::fs;

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
    // Samples are a moment older, and so weigh a little less beside what the site knows.
    assert!(estimate.window.abs_diff(window) < window / 100, "{} and {window}", estimate.window);
    running.handle.end().await.unwrap();
}

#[tokio::test]
async fn a_damaged_snapshot_is_put_aside() {
    let bed = Bed::new("");
    learn(&bed).await;
    fs::write(bed.file("gateway.redb"), [7; 5000]).unwrap();
    let running = bed.run().await;
    assert!(bed.file("gateway.damaged").exists());
    bed.ask(running.grpc, Some(&bed.agent())).await.unwrap();
    running.handle.end().await.unwrap();
}

#[tokio::test]
async fn two_gateways_do_not_share_a_snapshot() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let second = gateway::daemon::Daemon::open(&bed.file("gateway.toml")).await.unwrap_err();
    assert!(second.contains("another gateway has"), "{second}");
    running.handle.end().await.unwrap();
}
