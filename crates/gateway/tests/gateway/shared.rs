//! Several gateways over one Redis server, a real one of this machine's package where there is one.

use crate::bed::{Bed, Running, batch, query, report, send};
use gateway::pki::HolderRole;
use gateway_proto::v1::{ForgetRequest, Source, answer};
use std::fs;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A server of its own; ends with the test.
struct Redis {
    child: Child,
    port: u16,
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Redis {
    /// `None` where it is not installed.
    fn start(port: Option<u16>) -> Option<Self> {
        let free = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let port = port.unwrap_or_else(free);
        let arguments = [
            "--port",
            &port.to_string(),
            "--save",
            "",
            "--appendonly",
            "no",
            "--bind",
            "127.0.0.1",
        ];
        let child = Command::new("redis-server").args(arguments).stdout(Stdio::null()).spawn();
        let Ok(child) = child else {
            calm::skipped("redis-server is not installed");
            return None;
        };
        for _ in 0..200 {
            if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(Self { child, port })
    }
}

/// A gateway's folder with the certificates of `first`, so that agents may ask either.
fn beside(first: &Bed, redis: u16) -> Bed {
    let bed = Bed::new("");
    for name in [
        "ca.pem",
        "ca.key",
        "server.pem",
        "server.key",
        "agent.pem",
        "agent.key",
        "operator.pem",
        "operator.key",
    ] {
        fs::copy(first.file(name), bed.file(name)).unwrap();
    }
    over(&bed, redis);
    bed
}

fn over(bed: &Bed, redis: u16) {
    let text = bed.text("gateway.toml");
    let text =
        text.replace("retention", &format!("redis = \"redis://127.0.0.1:{redis}/0\"\nretention"));
    fs::write(bed.file("gateway.toml"), text).unwrap();
}

/// What `running` answers of a network, once it is by samples of the network itself.
async fn learns(bed: &Bed, running: &Running, network: &str) -> bool {
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    for _ in 0..100 {
        let answer = client.ask(query(network)).await.unwrap().into_inner().result;
        if matches!(answer, Some(answer::Result::Estimate(estimate)) if estimate.source() == Source::Network)
        {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    false
}

#[tokio::test]
async fn what_one_gateway_learns_another_answers_also_one_that_begins_later() {
    let Some(redis) = Redis::start(None) else { return };
    let first = Bed::new("");
    over(&first, redis.port);
    let second = beside(&first, redis.port);
    let (a, b) = (first.run().await, second.run().await);
    let mut client = first.connect(a.grpc, Some(&first.agent())).await.unwrap();
    send(&mut client, vec![batch(1, vec![report("192.0.2.0/24", 100_000); 10])]).await.unwrap();
    assert!(learns(&second, &b, "192.0.2.0/24").await);
    // Nothing of its own on disk.
    let third = beside(&first, redis.port);
    let c = third.run().await;
    assert!(learns(&third, &c, "192.0.2.0/24").await);
    for running in [a, b, c] {
        running.handle.end().await.unwrap();
    }
}

#[tokio::test]
async fn a_batch_that_one_gateway_has_counted_another_does_not_count_again() {
    let Some(redis) = Redis::start(None) else { return };
    let first = Bed::new("");
    over(&first, redis.port);
    let second = beside(&first, redis.port);
    let (a, b) = (first.run().await, second.run().await);
    let one = batch(1, vec![report("192.0.2.0/24", 100_000); 10]);
    let mut client = first.connect(a.grpc, Some(&first.agent())).await.unwrap();
    send(&mut client, vec![one.clone()]).await.unwrap();
    // Once its records are there, so are its claims: one transaction.
    assert!(learns(&second, &b, "192.0.2.0/24").await);
    let mut client = second.connect(b.grpc, Some(&second.agent())).await.unwrap();
    let acks = send(&mut client, vec![one, batch(2, vec![report("192.0.2.0/24", 100_000)])])
        .await
        .unwrap();
    assert!(acks[0].repeated && acks[0].taken == 0, "{acks:?}");
    assert_eq!(acks[1].taken, 1);
    for running in [a, b] {
        running.handle.end().await.unwrap();
    }
}

#[tokio::test]
async fn what_is_forgotten_at_one_gateway_is_forgotten_at_all() {
    let Some(redis) = Redis::start(None) else { return };
    let first = Bed::new("");
    over(&first, redis.port);
    let second = beside(&first, redis.port);
    let (a, b) = (first.run().await, second.run().await);
    let mut client = first.connect(a.grpc, Some(&first.agent())).await.unwrap();
    send(&mut client, vec![batch(1, vec![report("192.0.2.0/24", 100_000); 10])]).await.unwrap();
    assert!(learns(&second, &b, "192.0.2.0/24").await);
    let operator = first.issue(HolderRole::Operator, "site", "ann");
    let mut operator = first.connect(a.grpc, Some(&operator)).await.unwrap();
    operator.forget(ForgetRequest { network: query("192.0.2.0/24").network }).await.unwrap();
    let mut client = second.connect(b.grpc, Some(&second.agent())).await.unwrap();
    let mut patience = 100;
    loop {
        let answer = client.ask(query("192.0.2.0/24")).await.unwrap().into_inner().result;
        let knows = matches!(answer, Some(answer::Result::Estimate(estimate)) if estimate.source() == Source::Network);
        if !knows {
            break;
        }
        patience -= 1;
        assert!(patience > 0, "still known at the second gateway");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // A gateway that begins now does not hear of it either.
    let third = beside(&first, redis.port);
    let c = third.run().await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(c.site.tenant("site").unwrap().memory().networks().count(), 0);
    for running in [a, b, c] {
        running.handle.end().await.unwrap();
    }
}

#[tokio::test]
async fn without_the_store_a_gateway_goes_on_alone_and_shares_later() {
    let Some(mut redis) = Redis::start(None) else { return };
    let first = Bed::new("");
    over(&first, redis.port);
    let second = beside(&first, redis.port);
    let (a, b) = (first.run().await, second.run().await);
    let port = redis.port;
    redis.child.kill().unwrap();
    redis.child.wait().unwrap();
    let mut client = first.connect(a.grpc, Some(&first.agent())).await.unwrap();
    let acks =
        send(&mut client, vec![batch(1, vec![report("192.0.2.0/24", 100_000); 10])]).await.unwrap();
    assert_eq!(acks[0].taken, 10);
    assert!(learns(&first, &a, "192.0.2.0/24").await);
    let _again = Redis::start(Some(port)).unwrap();
    assert!(
        learns(&second, &b, "192.0.2.0/24").await,
        "nothing was shared after the store came back"
    );
    for running in [a, b] {
        running.handle.end().await.unwrap();
    }
}
