//! A network that an operator made the site forget stays forgotten: at other gateways, over
//! restarts, and if a gateway writes old samples afterwards.

use crate::bed::{Bed, Running, batch, query, report, send};
use crate::shared::{beside, learns, two_over};
use crate::store::Redis;
use crate::swept::{OTHER, other, tell_by_hand};
use gateway::pki::HolderRole;
use gateway_proto::v1::{ForgetReply, ForgetRequest, SubscribeRequest, update};
use std::fs;
use std::time::Duration;

const NETWORK: &str = "192.0.2.0/24";
/// A network that was not forgotten.
const KEPT: &str = "198.51.100.0/24";

/// Makes `running` take ten reports of each network, as batch `number`.
async fn learn(bed: &Bed, running: &Running, number: u64, networks: &[&str]) {
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    let reports = networks.iter().flat_map(|network| vec![report(network, 100_000); 10]);
    send(&mut client, vec![batch(number, reports.collect())]).await.unwrap();
}

/// Makes `running` forget the network, as an operator.
async fn forget(bed: &Bed, running: &Running) -> ForgetReply {
    let operator = bed.issue(HolderRole::Operator, "site", "ann");
    let mut operator = bed.connect(running.grpc, Some(&operator)).await.unwrap();
    let network = query(NETWORK).network;
    let reply = operator.forget(ForgetRequest { network }).await.unwrap().into_inner();
    assert!(reply.forgotten > 0);
    reply
}

fn knows(running: &Running, network: &str) -> bool {
    let tenant = running.site.tenant("site").unwrap();
    tenant.memory().networks().any(|known| known.network.to_string() == network)
}

/// Waits until `running` knows the network, or does not.
async fn becomes(running: &Running, network: &str, known: bool) {
    for _ in 0..200 {
        if knows(running, network) == known {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{network}: not {known} in 10 s");
}

/// Waits until the store has the order.
async fn is_told(redis: &Redis) {
    for _ in 0..200 {
        let told: u32 = redis.query(redis::cmd("ZCARD").arg("headstart:2:{site}:forgotten"));
        if told == 1 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the store was not told in 10 s");
}

async fn end(all: Vec<Running>) {
    for running in all {
        running.handle.end().await.unwrap();
    }
}

#[tokio::test]
async fn what_is_forgotten_while_the_store_is_down_is_told_when_it_is_back() {
    let Some(mut redis) = Redis::start() else { return };
    let [(first, a), (second, b)] = two_over(redis.port).await;
    learn(&first, &a, 1, &[NETWORK]).await;
    assert!(learns(&second, &b, NETWORK).await);
    redis.kill();
    assert!(forget(&first, &a).await.store_missed);
    // Some rounds of sharing fail.
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(knows(&b, NETWORK));
    let _again = Redis::start_at(redis.port, &[]).unwrap();
    becomes(&b, NETWORK, false).await;
    end(vec![a, b]).await;
}

/// Another gateway has had reports of a network for half a minute, and one more after it was
/// forgotten here; it writes all of its samples. A busy gateway does that within a fifth of a
/// second.
#[tokio::test]
async fn samples_of_before_do_not_come_back_with_what_another_gateway_writes_later() {
    let Some(redis) = Redis::start() else { return };
    let first = Bed::new("");
    first.share_over(redis.port);
    let a = first.run().await;
    learn(&first, &a, 1, &[NETWORK]).await;
    forget(&first, &a).await;
    is_told(&redis).await;
    let old = other(&a, NETWORK, &[-30, -29, -28]);
    let mixed = other(&a, NETWORK, &[-30, -29, -28, 30]);
    tell_by_hand(&redis, &[old, mixed, other(&a, KEPT, &[-30])]);
    let third = beside(&first, redis.port);
    let c = third.run().await;
    for running in [&a, &c] {
        becomes(running, KEPT, true).await;
        becomes(running, NETWORK, true).await;
        let tenant = running.site.tenant("site").unwrap();
        let records: Vec<_> = tenant.memory().records().collect();
        let of_network = records.iter().filter(|record| record.network.to_string() == NETWORK);
        let samples: Vec<_> = of_network.map(|record| (record.origin, record.len())).collect();
        // Only the later sample is left.
        assert_eq!(samples, [(OTHER, 1)]);
    }
    end(vec![a, c]).await;
}

#[tokio::test]
async fn a_gateway_that_was_down_forgets_when_it_starts() {
    let Some(redis) = Redis::start() else { return };
    let [(first, a), (second, b)] = two_over(redis.port).await;
    learn(&second, &b, 1, &[NETWORK, KEPT]).await;
    assert!(learns(&first, &a, NETWORK).await);
    b.handle.end().await.unwrap();
    assert!(!forget(&first, &a).await.store_missed);
    is_told(&redis).await;
    let b = second.run().await;
    assert!(!knows(&b, NETWORK) && knows(&b, KEPT));
    end(vec![a, b]).await;
}

/// Another gateway reads the file as it is when the first one is killed. It was saved before the
/// network was forgotten, and the next save would be half a minute later.
#[tokio::test]
async fn a_gateway_that_is_killed_does_not_know_again_what_was_forgotten() {
    let bed = Bed::new("");
    let running = bed.run().await;
    learn(&bed, &running, 1, &[NETWORK, KEPT]).await;
    running.handle.end().await.unwrap();
    let running = bed.run().await;
    assert!(knows(&running, NETWORK));
    forget(&bed, &running).await;
    let mut patience = 40;
    loop {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let after = bed.beside();
        fs::copy(bed.file("gateway.redb"), after.file("gateway.redb")).unwrap();
        let again = after.run().await;
        let known = (knows(&again, NETWORK), knows(&again, KEPT));
        again.handle.end().await.unwrap();
        // A copy made during a transaction may be damaged; another copy is not.
        if known == (false, true) {
            break;
        }
        patience -= 1;
        assert!(patience > 0, "{known:?}");
    }
    running.handle.end().await.unwrap();
}

#[tokio::test]
async fn who_subscribes_is_told_what_was_forgotten_lately() {
    let bed = Bed::new("");
    let running = bed.run().await;
    learn(&bed, &running, 1, &[NETWORK, KEPT]).await;
    forget(&bed, &running).await;
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    let request = SubscribeRequest { known: 10, ..SubscribeRequest::default() };
    let mut updates = client.subscribe(request).await.unwrap().into_inner();
    let first = updates.message().await.unwrap().unwrap().what;
    assert_eq!(first, query(NETWORK).network.map(update::What::Forget));
    let next = updates.message().await.unwrap().unwrap().what;
    assert!(
        matches!(next, Some(update::What::Estimate(estimate)) if estimate.network == query(KEPT).network)
    );
    running.handle.end().await.unwrap();
}

/// Two gateways share a store. A network is forgotten at the first one. Neither of them, nor the
/// store, has samples of it any more with the prefixes that cover it, or with the site.
#[tokio::test]
async fn covering_prefixes_in_the_store_lose_the_samples() {
    let Some(redis) = Redis::start() else { return };
    let [(first, a), (second, b)] = two_over(redis.port).await;
    learn(&first, &a, 1, &[NETWORK]).await;
    assert!(learns(&second, &b, NETWORK).await);
    learn(&second, &b, 2, &[NETWORK]).await;
    let in_store = || -> usize {
        let origins = [&a, &b].map(|running| running.site.origin);
        let count = |origin| {
            redis.query::<usize>(
                redis::cmd("HLEN").arg(format!("headstart:2:{{site}}:records:{origin}")),
            )
        };
        origins.into_iter().map(count).sum()
    };
    // The network, its halves of 21 and 17 bits, and the site, of two gateways.
    until(|| in_store() == 8).await;
    forget(&first, &a).await;
    until(|| in_store() == 0).await;
    for running in [&a, &b] {
        let tenant = running.site.tenant("site").unwrap();
        assert_eq!(tenant.memory().records().count(), 0);
    }
    end(vec![a, b]).await;
}

async fn until(is_so: impl Fn() -> bool) {
    for _ in 0..200 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("not in 10 s");
}

/// A host subscribes, disconnects, and comes back after a network was forgotten. It is named as
/// missed meanwhile, and gets the order first when it is back.
#[tokio::test]
async fn a_host_that_is_away_is_named_and_told_when_it_is_back() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let subscribe = async |name: &str| {
        let shown = bed.issue(HolderRole::Agent, "site", name);
        let mut client = bed.connect(running.grpc, Some(&shown)).await.unwrap();
        let updates = client.subscribe(SubscribeRequest::default()).await.unwrap().into_inner();
        (client, updates)
    };
    let _kept = subscribe("web-1").await;
    let away = subscribe("web-2").await;
    drop(away);
    let connections = || running.site.counts.connections.get() == 1;
    until(connections).await;
    learn(&bed, &running, 1, &[NETWORK]).await;
    let reply = forget(&bed, &running).await;
    assert_eq!((reply.notified, reply.missed), (vec!["web-1".into()], vec!["web-2".into()]));
    let (_client, mut updates) = subscribe("web-2").await;
    let first = updates.message().await.unwrap().unwrap().what;
    assert_eq!(first, query(NETWORK).network.map(update::What::Forget));
    learn(&bed, &running, 2, &[NETWORK]).await;
    assert_eq!(forget(&bed, &running).await.missed, Vec::<String>::new());
    running.handle.end().await.unwrap();
}
