//! The store holds no more than its gateways: it drops records that they do not keep, and gateways
//! that are gone.

use crate::bed::{Bed, Running, batch, report, send};
use crate::shared::{beside, learns};
use crate::store::Redis;
use gateway::storage::codec::encode;
use memory::site::{Bound, Reporter, SiteConfig, SiteMemory, SiteRecord, SiteReport};
use redis::streams::StreamRangeReply;
use std::time::Duration;

/// Number of the gateway that these tests imitate.
pub(crate) const OTHER: u32 = 4711;
const NETWORK: &str = "192.0.2.0/24";

/// Returns the record of a gateway `origin` with reports of `network` at these times, seconds from
/// now.
fn told(running: &Running, origin: u32, network: &str, seconds: &[i64]) -> SiteRecord {
    let mut memory = SiteMemory::new(SiteConfig { origin, ..SiteConfig::default() });
    let network = network.parse().unwrap();
    for second in seconds {
        let at = running.site.clock.now().as_nanos().saturating_add_signed(second * 1_000_000_000);
        let report = SiteReport {
            network,
            reporter: Reporter(1),
            window: 100_000,
            rate: None,
            min_rtt: None,
            sent: 0,
            lost: 0,
            bound: Bound::Loss,
        };
        memory.report(units::Instant::from_nanos(at), &report);
    }
    memory.records_of(network).remove(0)
}

/// Returns a record of the gateway that these tests imitate.
pub(crate) fn other(running: &Running, network: &str, seconds: &[i64]) -> SiteRecord {
    told(running, OTHER, network, seconds)
}

fn bytes_of(record: &SiteRecord) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(record, &mut bytes);
    bytes
}

fn key(what: &str) -> String {
    format!("headstart:2:{{site}}:{what}")
}

/// Writes records of one gateway, as that gateway would.
pub(crate) fn tell_by_hand(redis: &Redis, records: &[SiteRecord]) {
    let origin = records[0].origin;
    let _: () = redis.query(redis::cmd("SADD").arg(key("origins")).arg(origin));
    for record in records {
        let (records_key, name) = (key(&format!("records:{origin}")), record.network.to_string());
        let _: () =
            redis.query(redis::cmd("HSET").arg(records_key).arg(name).arg(bytes_of(record)));
    }
    let all: Vec<u8> = records.iter().flat_map(bytes_of).collect();
    let mut command = redis::cmd("XADD");
    command.arg(key("changes")).arg("*").arg("origin").arg(origin).arg("records").arg(all);
    let _: String = redis.query(&command);
}

/// Waits until `is_so` returns true.
async fn becomes(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..200 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("not in 10 s: {what}");
}

/// Returns the records of `running` in the store.
fn in_store(redis: &Redis, running: &Running) -> Vec<String> {
    redis.query(redis::cmd("HKEYS").arg(key(&format!("records:{}", running.site.origin))))
}

/// One of three records has a network that the gateway does not keep, and one is older than an
/// hour.
#[tokio::test]
async fn what_a_gateway_does_not_keep_goes_from_the_store() {
    let Some(redis) = Redis::start() else { return };
    let bed = Bed::new("");
    bed.share_over(redis.port);
    let running = bed.run().await;
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    send(&mut client, vec![batch(1, vec![report(NETWORK, 100_000)])]).await.unwrap();
    let has = |network: &str| in_store(&redis, &running).iter().any(|name| name == network);
    becomes("it is shared", || has(NETWORK)).await;
    let records = key(&format!("records:{}", running.site.origin));
    let old = told(&running, running.site.origin, "198.51.100.0/24", &[-4000]);
    let given_up = told(&running, running.site.origin, "203.0.113.0/24", &[-5]);
    for record in [&old, &given_up] {
        let name = record.network.to_string();
        let _: () = redis.query(redis::cmd("HSET").arg(&records).arg(name).arg(bytes_of(record)));
    }
    becomes("others are gone", || !has("198.51.100.0/24") && !has("203.0.113.0/24")).await;
    assert!(has(NETWORK));
    // An operator's order does not wait for its turn.
    let now = running.site.clock.now();
    running.site.tenant("site").unwrap().forget(now, NETWORK.parse().unwrap()).await;
    becomes("it is gone", || !has(NETWORK)).await;
    running.handle.end().await.unwrap();
}

#[tokio::test]
async fn gateways_of_which_nothing_is_left_are_not_asked_for_again() {
    let Some(redis) = Redis::start() else { return };
    let first = Bed::new("");
    first.share_over(redis.port);
    let a = first.run().await;
    let mut client = first.connect(a.grpc, Some(&first.agent())).await.unwrap();
    send(&mut client, vec![batch(1, vec![report(NETWORK, 100_000); 10])]).await.unwrap();
    becomes("it is shared", || !in_store(&redis, &a).is_empty()).await;
    let _: () = redis.query(redis::cmd("SADD").arg(key("origins")).arg(OTHER));
    let second = beside(&first, redis.port);
    let b = second.run().await;
    assert!(learns(&second, &b, NETWORK).await);
    let listed = || redis.query::<Vec<u32>>(redis::cmd("SMEMBERS").arg(key("origins")));
    becomes("it is unlisted", || listed() == [a.site.origin]).await;
    for running in [a, b] {
        running.handle.end().await.unwrap();
    }
}

/// Records older than `retention`, an hour, are meaningless: no gateway takes them from the store.
#[tokio::test]
async fn records_that_are_too_old_are_not_taken() {
    let Some(redis) = Redis::start() else { return };
    let bed = Bed::new("");
    bed.share_over(redis.port);
    let running = bed.run().await;
    tell_by_hand(
        &redis,
        &[
            other(&running, "198.51.100.0/24", &[-4000]),
            other(&running, "203.0.113.0/24", &[4000]),
            other(&running, NETWORK, &[-5]),
        ],
    );
    let tenant = running.site.tenant("site").unwrap();
    becomes("it is taken", || !tenant.memory().is_empty()).await;
    let networks: Vec<_> = tenant.memory().networks().map(|one| one.network.to_string()).collect();
    assert_eq!(networks, [NETWORK]);
    running.handle.end().await.unwrap();
}

/// A memory keeps 63 other gateways apart.
#[tokio::test]
async fn records_of_a_gateway_too_many_are_counted() {
    let Some(redis) = Redis::start() else { return };
    let bed = Bed::new("");
    bed.share_over(redis.port);
    let running = bed.run().await;
    let first = running.site.origin.wrapping_add(1);
    for origin in 0..64 {
        tell_by_hand(&redis, &[told(&running, first.wrapping_add(origin), NETWORK, &[-5])]);
    }
    becomes("one is too many", || running.site.counts.unplaced.get() > 0).await;
    let tenant = running.site.tenant("site").unwrap();
    assert_eq!(tenant.memory().networks().count(), 63);
    running.handle.end().await.unwrap();
}

/// 4000 records of at least 26 bytes fill more than three entries of 32 KiB. An entry ends with the
/// record that exceeds the limit.
#[tokio::test]
async fn entries_of_the_stream_are_bounded_in_bytes() {
    let Some(redis) = Redis::start() else { return };
    let bed = Bed::new("");
    bed.share_over(redis.port);
    let running = bed.run().await;
    let networks = (0..4000).map(|n| format!("10.{}.{}.0/24", n / 256, n % 256));
    let reports = networks.map(|network| report(&network, 100_000)).collect();
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    send(&mut client, vec![batch(1, reports)]).await.unwrap();
    becomes("all are shared", || in_store(&redis, &running).len() > 4000).await;
    let all: StreamRangeReply =
        redis.query(redis::cmd("XRANGE").arg(key("changes")).arg("-").arg("+"));
    let bytes = all.ids.iter().filter_map(|entry| entry.get::<Vec<u8>>("records"));
    let bytes: Vec<usize> = bytes.map(|records| records.len()).collect();
    assert!(bytes.iter().sum::<usize>() >= 4000 * 26, "{bytes:?}");
    assert!(bytes.iter().all(|bytes| *bytes < (32 << 10) + 512), "{bytes:?}");
    running.handle.end().await.unwrap();
}
