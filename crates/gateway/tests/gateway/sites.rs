//! Sites are tenants: each has its own estimates, also in a store that they share, and neighbours
//! may answer for what it does not know.

use crate::bed::{Bed, Running, batch, query, report, send};
use crate::store::Redis;
use gateway::pki::HolderRole;
use gateway_proto::v1::gateway_client::GatewayClient;
use gateway_proto::v1::{Estimate, Source, answer};
use std::time::Duration;
use tonic::transport::Channel;

const NETWORK: &str = "192.0.2.0/24";
/// Paris and Frankfurt are neighbours, and Tokyo has none.
const SITES: &str = "[[tenant]]\nname = \"paris\"\nneighbours = [\"frankfurt\"]\n\
    [[tenant]]\nname = \"frankfurt\"\nneighbours = [\"paris\"]\n[[tenant]]\nname = \"tokyo\"\n";

async fn client(bed: &Bed, running: &Running, site: &str) -> GatewayClient<Channel> {
    let issued = bed.issue(HolderRole::Agent, site, "web-1");
    bed.connect(running.grpc, Some(&issued)).await.unwrap()
}

async fn ask(client: &mut GatewayClient<Channel>) -> Option<Estimate> {
    match client.ask(query(NETWORK)).await.unwrap().into_inner().result {
        Some(answer::Result::Estimate(estimate)) => Some(estimate),
        _ => None,
    }
}

/// Reports of Frankfurt carry 100,000 bytes in 80 ms. One site allows 14,600 · 5/4 = 18,250.
#[tokio::test]
async fn a_new_site_begins_with_its_neighbours_until_it_has_a_sample() {
    let bed = Bed::new(SITES);
    let running = bed.run().await;
    let mut frankfurt = client(&bed, &running, "frankfurt").await;
    let mut paris = client(&bed, &running, "paris").await;
    let mut tokyo = client(&bed, &running, "tokyo").await;
    assert_eq!(ask(&mut paris).await, None);
    send(&mut frankfurt, vec![batch(1, vec![report(NETWORK, 100_000); 10])]).await.unwrap();
    let prior = ask(&mut paris).await.expect("an answer of Frankfurt");
    assert_eq!((prior.source(), prior.window, prior.rate), (Source::OtherSites, 18_250, 0));
    assert_eq!(prior.network, query(NETWORK).network);
    // The round trip is that of Frankfurt, in steps of a sixteenth of an octave.
    assert!(prior.min_rtt_us.abs_diff(80_000) < 5_000, "{prior:?}");
    assert_eq!(ask(&mut tokyo).await, None);
    let own = ask(&mut frankfurt).await.unwrap();
    assert_eq!(own.source(), Source::Network);
    // With one sample of Paris, others answer no more.
    send(&mut paris, vec![batch(1, vec![report(NETWORK, 9_000)])]).await.unwrap();
    let own = ask(&mut paris).await.unwrap();
    assert_eq!((own.source(), own.samples), (Source::Network, 1));
    assert!(own.window < 18_250, "{own:?}");
    // A prior is no sample: Frankfurt still answers by its own.
    assert_eq!(ask(&mut frankfurt).await.unwrap().samples, 10);
    running.handle.end().await.unwrap();
}

/// A snapshot keeps sites apart.
#[tokio::test]
async fn sites_have_memories_of_their_own_after_a_restart() {
    let bed = Bed::new("[[tenant]]\nname = \"paris\"\n[[tenant]]\nname = \"tokyo\"\n");
    let running = bed.run().await;
    let mut paris = client(&bed, &running, "paris").await;
    send(&mut paris, vec![batch(1, vec![report(NETWORK, 100_000); 10])]).await.unwrap();
    running.handle.end().await.unwrap();
    let running = bed.run().await;
    assert!(ask(&mut client(&bed, &running, "paris").await).await.is_some());
    assert_eq!(ask(&mut client(&bed, &running, "tokyo").await).await, None);
    running.handle.end().await.unwrap();
}

/// Each gateway serves one site, and both use one store. The gateway of Paris also names Frankfurt,
/// as a neighbour.
#[tokio::test]
async fn gateways_of_several_sites_share_a_store_without_mixing() {
    let Some(redis) = Redis::start() else { return };
    let frankfurt = Bed::new("[[tenant]]\nname = \"frankfurt\"\n");
    let paris = frankfurt.beside();
    for bed in [&frankfurt, &paris] {
        bed.share_over(redis.port);
    }
    let text = paris.text("gateway.toml");
    std::fs::write(paris.file("gateway.toml"), format!("{text}{SITES}")).unwrap();
    let (a, b) = (frankfurt.run().await, paris.run().await);
    let mut reporter = client(&frankfurt, &a, "frankfurt").await;
    send(&mut reporter, vec![batch(1, vec![report(NETWORK, 100_000); 10])]).await.unwrap();
    let mut asker = client(&paris, &b, "paris").await;
    let mut answer = None;
    for _ in 0..100 {
        answer = ask(&mut asker).await;
        if answer.is_some() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(answer.expect("an answer of Frankfurt").source(), Source::OtherSites);
    assert_eq!(ask(&mut client(&paris, &b, "tokyo").await).await, None);
    assert_eq!(ask(&mut client(&paris, &b, "site").await).await, None);
    for running in [a, b] {
        running.handle.end().await.unwrap();
    }
}
