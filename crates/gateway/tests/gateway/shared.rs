//! Several gateways over one Redis server, the one of this machine's package if it is installed.

use crate::bed::{Bed, Running, batch, network, query, report, send};
use crate::store::{Redis, RedisCluster};
use gateway::os::clock::SiteClock;
use gateway::pki::HolderRole;
use gateway_proto::v1::{ForgetRequest, Source, answer};
use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

/// Sets up a gateway's folder beside `first`, over the same Redis server.
pub(crate) fn beside(first: &Bed, redis: u16) -> Bed {
    let bed = first.beside();
    bed.share_over(redis);
    bed
}

/// Runs two gateways of one authority over the same Redis server.
pub(crate) async fn two_over(redis: u16) -> [(Bed, Running); 2] {
    let first = Bed::new("");
    first.share_over(redis);
    let second = beside(&first, redis);
    let (a, b) = (first.run().await, second.run().await);
    [(first, a), (second, b)]
}

/// Waits until `running` answers for a network by samples of the network itself.
pub(crate) async fn learns(bed: &Bed, running: &Running, network: &str) -> bool {
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
    let Some(redis) = Redis::start() else { return };
    let [(first, a), (second, b)] = two_over(redis.port).await;
    let mut client = first.connect(a.grpc, Some(&first.agent())).await.unwrap();
    send(&mut client, vec![batch(1, vec![report("192.0.2.0/24", 100_000); 10])]).await.unwrap();
    assert!(learns(&second, &b, "192.0.2.0/24").await);
    // It has no state of its own on disk.
    let third = beside(&first, redis.port);
    let c = third.run().await;
    assert!(learns(&third, &c, "192.0.2.0/24").await);
    for running in [a, b, c] {
        running.handle.end().await.unwrap();
    }
}

/// The permissions that docs/gateway/operate.md gives a gateway suffice for all of its commands at
/// a store. They give no access to other keys. The server notes each command that it denies
/// (`ACL LOG`).
#[tokio::test]
async fn the_documented_rights_at_a_store_suffice() {
    let first = Bed::new("");
    let docs = include_str!("../../../../docs/gateway/operate.md");
    let users = docs.lines().filter(|line| line.starts_with("user ")).collect::<Vec<_>>();
    assert_eq!(users.len(), 2);
    let acl = first.file("users.acl");
    let admin = "user admin on >admin ~* &* +@all";
    fs::write(&acl, format!("{}\n{admin}\n", users.join("\n"))).unwrap();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let Some(redis) = Redis::start_at(port, &["--aclfile", acl.to_str().unwrap()]) else { return };
    let connect = async |user: &str| {
        let client = redis::Client::open(format!("redis://{user}@127.0.0.1:{}/0", redis.port));
        client.unwrap().get_multiplexed_async_connection().await.unwrap()
    };
    let second = first.beside();
    for bed in [&first, &second] {
        let url = format!("redis://headstart:PASSWORD@127.0.0.1:{}/0", redis.port);
        bed.add_key(&format!("redis = \"{url}\""));
    }
    let (a, b) = (first.run().await, second.run().await);
    let mut client = first.connect(a.grpc, Some(&first.agent())).await.unwrap();
    send(&mut client, vec![batch(1, vec![report("192.0.2.0/24", 100_000); 10])]).await.unwrap();
    assert!(learns(&second, &b, "192.0.2.0/24").await);
    let operator = first.issue(HolderRole::Operator, "site", "operator");
    let mut forgets = first.connect(a.grpc, Some(&operator)).await.unwrap();
    let network = Some(network("192.0.2.0/24"));
    forgets.forget(ForgetRequest { network }).await.unwrap();
    for running in [a, b] {
        running.handle.end().await.unwrap();
    }
    let denied: Vec<redis::Value> =
        redis::cmd("ACL").arg("LOG").query_async(&mut connect("admin:admin").await).await.unwrap();
    assert!(denied.is_empty(), "{denied:?}");
    let others = redis::cmd("HSET").arg("others").arg("field").arg(1).to_owned();
    let mut gateway = connect("headstart:PASSWORD").await;
    let refused = others.query_async::<()>(&mut gateway).await.unwrap_err();
    assert_eq!(refused.code(), Some("NOPERM"));
    let flush = redis::cmd("FLUSHALL").query_async::<()>(&mut gateway).await.unwrap_err();
    assert_eq!(flush.code(), Some("NOPERM"));
}

/// Each shows both, itself first, even if it has nothing to share.
#[tokio::test]
async fn gateways_of_a_store_see_each_other() {
    let Some(redis) = Redis::start() else { return };
    let [(_first, a), (_second, b)] = two_over(redis.port).await;
    for (running, other) in [(&a, &b), (&b, &a)] {
        let mut patience = 300;
        let origins = loop {
            let all = running.site.gateways.all();
            let origins: Vec<u32> = all.iter().map(|one| one.origin).collect();
            if origins.len() == 2 {
                assert!(all.iter().all(|one| one.wrote.is_some()), "{all:?}");
                break origins;
            }
            patience -= 1;
            assert!(patience > 0, "{all:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        };
        assert_eq!(origins, [running.site.origin, other.site.origin]);
    }
    for running in [a, b] {
        running.handle.end().await.unwrap();
    }
}

/// A gateway without a state draws a number at each start, so its old number is never used again.
/// It removes its row when it ends. If it is killed, the next run on its host does that, once the
/// row has been silent for a minute.
#[tokio::test]
async fn a_gateway_without_a_state_leaves_no_row_behind() {
    let Some(redis) = Redis::start() else { return };
    let (first, kept) = (Bed::new(""), Bed::new(""));
    let second = first.beside();
    [&first, &second].iter().for_each(|bed| bed.add_key("state = \"none\""));
    [&first, &kept, &second].iter().for_each(|bed| bed.share_over(redis.port));
    let (a, b) = (first.run().await, kept.run().await);
    let sees = async |running: &Running, all: [u32; 2]| {
        let mut patience = 300;
        loop {
            let mut origins: Vec<u32> =
                running.site.gateways.all().iter().map(|one| one.origin).collect();
            origins.sort_unstable();
            if origins == BTreeSet::from(all).into_iter().collect::<Vec<_>>() {
                return;
            }
            patience -= 1;
            assert!(patience > 0, "{origins:?} instead of {all:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let (of_a, of_b) = (a.site.origin, b.site.origin);
    sees(&b, [of_a, of_b]).await;
    a.handle.end().await.unwrap();
    sees(&b, [of_b, of_b]).await;
    // A row like that of a killed run on this host, two minutes ago, with a number that the other
    // two do not have.
    let (dead, now) = (of_a ^ of_b ^ 1, SiteClock::wall_seconds());
    let member = format!("{dead} {}", b.site.gateways.own().name);
    redis.command(&["ZADD", "headstart:2:gateways", &(now - 120).to_string(), &member]);
    sees(&b, [dead, of_b]).await;
    b.handle.end().await.unwrap();
    let c = second.run().await;
    sees(&c, [c.site.origin, of_b]).await;
    c.handle.end().await.unwrap();
}

#[tokio::test]
async fn a_batch_that_one_gateway_has_counted_another_does_not_count_again() {
    let Some(redis) = Redis::start() else { return };
    let [(first, a), (second, b)] = two_over(redis.port).await;
    let one = batch(1, vec![report("192.0.2.0/24", 100_000); 10]);
    let mut client = first.connect(a.grpc, Some(&first.agent())).await.unwrap();
    send(&mut client, vec![one.clone()]).await.unwrap();
    // This happens at once: no record of it has been shared yet.
    let mut client = second.connect(b.grpc, Some(&second.agent())).await.unwrap();
    let acks = send(&mut client, vec![one, batch(2, vec![report("192.0.2.0/24", 100_000)])])
        .await
        .unwrap();
    assert!(acks[0].repeated && acks[0].taken == 0, "{acks:?}");
    assert_eq!(acks[1].taken, 1);
    // The client is back at the first one, which does not know of the second batch.
    let mut client = first.connect(a.grpc, Some(&first.agent())).await.unwrap();
    let acks = send(&mut client, vec![batch(2, vec![report("192.0.2.0/24", 100_000)])]).await;
    assert!(acks.unwrap()[0].repeated);
    for running in [a, b] {
        running.handle.end().await.unwrap();
    }
}

#[tokio::test]
async fn what_is_forgotten_at_one_gateway_is_forgotten_at_all() {
    let Some(redis) = Redis::start() else { return };
    let [(first, a), (second, b)] = two_over(redis.port).await;
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
    // A gateway that starts now does not get it either.
    let third = beside(&first, redis.port);
    let c = third.run().await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(c.site.tenant("site").unwrap().memory().networks().count(), 0);
    for running in [a, b, c] {
        running.handle.end().await.unwrap();
    }
}

/// Returns the number of reports of `network` in the store, as a newly started gateway sees it.
async fn reports_in_store(first: &Bed, redis: u16, network: &str) -> u32 {
    let bed = beside(first, redis);
    let running = bed.run().await;
    let tenant = running.site.tenant("site").unwrap();
    let mut patience = 100;
    while tenant.memory().is_empty() && patience > 0 {
        patience -= 1;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let reports = tenant
        .memory()
        .records()
        .filter(|record| record.network.to_string() == network)
        .map(|record| record.sequence)
        .sum();
    running.handle.end().await.unwrap();
    reports
}

/// Waits until a gateway has written an entry.
async fn shares(running: &Running) {
    let mut patience = 100;
    while running.site.counts.shared.get() == 0 {
        patience -= 1;
        assert!(patience > 0, "nothing was shared");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Its snapshot is older than its reports, so the store alone has its ten reports. One more makes
/// eleven.
#[tokio::test]
async fn a_gateway_that_was_killed_replaces_nothing_that_it_had_shared() {
    let Some(redis) = Redis::start() else { return };
    let bed = Bed::new("");
    bed.share_over(redis.port);
    bed.run().await.handle.end().await.unwrap();
    fs::copy(bed.file("gateway.redb"), bed.file("before")).unwrap();
    for (number, reports) in [(1, 10), (2, 1)] {
        fs::copy(bed.file("before"), bed.file("gateway.redb")).unwrap();
        let running = bed.run().await;
        let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
        let reports = vec![report("192.0.2.0/24", 100_000); reports];
        send(&mut client, vec![batch(number, reports)]).await.unwrap();
        shares(&running).await;
        running.handle.end().await.unwrap();
    }
    assert_eq!(reports_in_store(&bed, redis.port, "192.0.2.0/24").await, 11);
}

#[tokio::test]
async fn without_the_store_a_gateway_goes_on_alone_and_shares_later() {
    let Some(mut redis) = Redis::start() else { return };
    let [(first, a), (second, b)] = two_over(redis.port).await;
    let port = redis.port;
    redis.kill();
    let mut client = first.connect(a.grpc, Some(&first.agent())).await.unwrap();
    let acks =
        send(&mut client, vec![batch(1, vec![report("192.0.2.0/24", 100_000); 10])]).await.unwrap();
    assert_eq!(acks[0].taken, 10);
    assert!(learns(&first, &a, "192.0.2.0/24").await);
    let _again = Redis::start_at(port, &[]).unwrap();
    assert!(
        learns(&second, &b, "192.0.2.0/24").await,
        "nothing was shared after the store came back"
    );
    for running in [a, b] {
        running.handle.end().await.unwrap();
    }
}

#[tokio::test]
async fn the_way_to_the_store_is_encrypted_where_the_operator_wants_it() {
    let bed = Bed::new("");
    // The gateway's own authority and certificate serve for the store as well: it is at 127.0.0.1.
    let file = |name: &str| bed.file(name).display().to_string();
    let (ca, certificate, key) = (file("ca.pem"), file("server.pem"), file("server.key"));
    let tls = ["--tls-ca-cert-file", &ca, "--tls-cert-file", &certificate, "--tls-key-file", &key];
    let Some(store) = Redis::start_with_tls(&tls) else { return };
    let shown = format!(
        "redis = \"rediss://127.0.0.1:{}/0\"\nredis-ca = \"ca.pem\"\nredis-certificate = \"agent.pem\"\n\
         redis-key = \"agent.key\"\nretention",
        store.port
    );
    let text = bed.text("gateway.toml").replace("retention", &shown);
    fs::write(bed.file("gateway.toml"), text).unwrap();
    let running = bed.run().await;
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    send(&mut client, vec![batch(1, vec![report("192.0.2.0/24", 100_000); 10])]).await.unwrap();
    shares(&running).await;
    running.handle.end().await.unwrap();
}

/// Two gateways know one node each of a cluster of three: whichever node has the tenant's keys,
/// both find it.
#[tokio::test]
async fn a_cluster_serves_as_one_store() {
    let Some(cluster) = RedisCluster::start() else { return };
    let first = Bed::new("");
    let url = |node: &Redis| format!("redis-cluster = [\"redis://127.0.0.1:{}\"]", node.port);
    let second = first.beside();
    first.add_key(&url(&cluster.nodes[0]));
    second.add_key(&url(&cluster.nodes[2]));
    let (a, b) = (first.run().await, second.run().await);
    let one = batch(1, vec![report("192.0.2.0/24", 100_000); 10]);
    let mut client = first.connect(a.grpc, Some(&first.agent())).await.unwrap();
    send(&mut client, vec![one.clone()]).await.unwrap();
    assert!(learns(&second, &b, "192.0.2.0/24").await);
    // It was claimed at the first one.
    let mut client = second.connect(b.grpc, Some(&second.agent())).await.unwrap();
    let acks = send(&mut client, vec![one]).await.unwrap();
    assert!(acks[0].repeated && acks[0].taken == 0, "{acks:?}");
    for running in [a, b] {
        running.handle.end().await.unwrap();
    }
}
