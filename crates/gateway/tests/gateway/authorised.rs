//! Permissions of certificates' holders, while rules and the list of revoked certificates change
//! under open streams.

use crate::bed::{Bed, Running, batch, network, query, report, send};
use gateway::config::DaemonConfig;
use gateway::os::clock::SiteClock;
use gateway::pki::{Fingerprint, HolderRole, Identity, fingerprint_of_file};
use gateway::site::counters::RefusedConnection;
use gateway::site::{ReporterSession, Silenced};
use gateway_proto::v1::{NoEstimate, Refusal, ReportAck, SubscribeRequest, Update, answer, update};
use std::fs;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Streaming};

/// Longest time of any step. After ten seconds a subscriber gets a message in any case.
const PATIENCE: Duration = Duration::from_secs(8);
/// A network that a narrower rule permits, and one that it excludes.
const LEFT: &str = "10.1.2.0/24";
const TAKEN: &str = "192.0.2.0/24";
/// `agent` may report of and ask for a part of its tenant's networks.
const ONLY_AGENT: &str =
    "[[tenant.only]]\nname = \"agent\"\nreport = [\"10.1.0.0/16\"]\nask = [\"10.1.0.0/16\"]\n";

fn holder(name: &str) -> Identity {
    Identity {
        tenant: "site".to_owned(),
        name: name.to_owned(),
        role: HolderRole::Agent,
        fingerprint: Fingerprint::of_certificate(name.as_bytes()),
        not_after: i64::MAX,
    }
}

/// Applies the rules of the file as `change` rewrites it.
fn set_rules(bed: &Bed, running: &Running, change: impl Fn(String) -> String) {
    let text = bed.text("gateway.toml");
    fs::write(bed.file("gateway.toml"), change(text)).unwrap();
    running.site.set_rules(DaemonConfig::read(&bed.file("gateway.toml")).unwrap().rules);
}

/// Receives updates until one is for `LEFT`; returns their networks.
async fn networks_until_left(updates: &mut Streaming<Update>) -> Vec<String> {
    let mut networks = Vec::new();
    let received = async {
        while networks.last().is_none_or(|last| last != LEFT) {
            let update = updates.message().await.unwrap().unwrap();
            if let Some(update::What::Estimate(estimate)) = update.what {
                let network = estimate.network.unwrap().to_net().unwrap();
                networks.push(network.to_string());
            }
        }
    };
    timeout(PATIENCE, received).await.expect("updates");
    networks
}

/// Another host reports both networks, `TAKEN` first. Subscribers receive updates in this order.
async fn report_both(bed: &Bed, running: &Running, number: u64) {
    let web = bed.issue(HolderRole::Agent, "site", "web");
    let mut web = bed.connect(running.grpc, Some(&web)).await.unwrap();
    let reports = [TAKEN, LEFT].map(|network| report(network, 100_000)).to_vec();
    assert_eq!(send(&mut web, vec![batch(number, reports)]).await.unwrap()[0].taken, 2);
}

/// `agent` wants both networks and may ask for one. `shop` may ask for both and wants one. Each
/// receives only that one, both in the initial estimates and in the changes.
#[tokio::test]
async fn a_subscriber_receives_only_networks_that_it_wants_and_may_ask_for() {
    let bed = Bed::new(ONLY_AGENT);
    let running = bed.run().await;
    report_both(&bed, &running, 1).await;
    let shop = bed.issue(HolderRole::Agent, "site", "shop");
    // A subscriber that wants a network wants all networks within.
    let subscribers =
        [(bed.agent(), vec!["10.0.0.0/8", "192.0.0.0/16"]), (shop, vec!["10.0.0.0/8"])];
    for (first, (shown, wanted)) in [2, 5].into_iter().zip(subscribers) {
        let mut client = bed.connect(running.grpc, Some(&shown)).await.unwrap();
        let networks = wanted.into_iter().map(network).collect();
        let request = SubscribeRequest { networks, known: 10, addresses: Vec::new() };
        let mut updates = client.subscribe(request).await.unwrap().into_inner();
        assert_eq!(networks_until_left(&mut updates).await, [LEFT]);
        for number in first..first + 3 {
            report_both(&bed, &running, number).await;
            assert_eq!(networks_until_left(&mut updates).await, [LEFT]);
        }
    }
    running.handle.end().await.unwrap();
}

/// Each update searches a subscriber's list of networks, so its length is bounded.
#[tokio::test]
async fn a_subscriber_names_at_most_1024_networks() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let mut agent = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    for (count, expected) in [(1024, None), (1025, Some(Code::InvalidArgument))] {
        let networks = vec![network(LEFT); count];
        let request = SubscribeRequest { networks, ..SubscribeRequest::default() };
        let subscribed = agent.subscribe(request).await;
        assert_eq!(subscribed.err().map(|status| status.code()), expected, "{count}");
    }
    running.handle.end().await.unwrap();
}

/// A stream of each kind is open when its holder's rule becomes narrower. Later messages on it are
/// judged by the new rule.
#[tokio::test]
async fn a_narrower_rule_is_in_force_on_streams_that_are_open() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let mut agent = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    let (ask, asked) = mpsc::channel(4);
    let (batches, sent) = mpsc::channel(4);
    let mut answers = agent.ask_stream(ReceiverStream::new(asked)).await.unwrap().into_inner();
    let mut acks = agent.report(ReceiverStream::new(sent)).await.unwrap().into_inner();
    let mut updates = agent.subscribe(SubscribeRequest::default()).await.unwrap().into_inner();
    let both = || [TAKEN, LEFT].map(|network| report(network, 100_000)).to_vec();
    batches.send(batch(1, both())).await.unwrap();
    assert_eq!(next_ack(&mut acks).await.taken, 2);
    assert_eq!(networks_until_left(&mut updates).await, [TAKEN, LEFT]);
    set_rules(&bed, &running, |text| text + ONLY_AGENT);
    batches.send(batch(2, both())).await.unwrap();
    let ack = next_ack(&mut acks).await;
    let refused: Vec<_> = ack.refused.iter().map(|one| (one.why(), one.count)).collect();
    assert_eq!((ack.taken, refused), (1, vec![(Refusal::NotAllowed, 1)]));
    ask.send(query(TAKEN)).await.unwrap();
    let answer = timeout(PATIENCE, answers.message()).await.unwrap().unwrap().unwrap();
    assert_eq!(answer.result, Some(answer::Result::None(NoEstimate::NotAllowed.into())));
    for number in 1..4 {
        report_both(&bed, &running, number).await;
        assert_eq!(networks_until_left(&mut updates).await, [LEFT]);
    }
    running.handle.end().await.unwrap();
}

async fn next_ack(acks: &mut Streaming<ReportAck>) -> ReportAck {
    timeout(PATIENCE, acks.message()).await.unwrap().unwrap().unwrap()
}

/// An older session goes on by the rules in force: with the current tenant, or not at all.
#[tokio::test]
async fn a_session_goes_on_by_the_rules_in_force() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let begin = || ReporterSession::begin(Arc::clone(&running.site), Arc::new(holder("agent")));
    let mut session = begin().unwrap();
    assert!(session.is_current() && session.speaker().allowed.may_ask(&TAKEN.parse().unwrap()));
    set_rules(&bed, &running, |text| text + ONLY_AGENT);
    assert!(!session.is_current());
    session.renew().unwrap();
    assert!(session.is_current() && !session.speaker().allowed.may_ask(&TAKEN.parse().unwrap()));
    // The tenant is removed and added again between two messages: its memory is empty.
    let (site, shop) = ("name = \"site\"", "name = \"shop\"");
    set_rules(&bed, &running, |text| text.replace(site, shop));
    let mut meanwhile = session.clone();
    assert_eq!(meanwhile.renew(), Err(Silenced::NotAllowed));
    set_rules(&bed, &running, |text| text.replace(shop, site));
    session.renew().unwrap();
    assert!(Arc::ptr_eq(session.tenant(), &running.site.tenant("site").unwrap()));
    // Its certificate is revoked.
    let fingerprint = holder("agent").fingerprint;
    fs::write(bed.file("revoked.txt"), format!("{fingerprint}\n")).unwrap();
    running.site.reread_revocations().unwrap();
    assert_eq!(session.renew(), Err(Silenced::Revoked));
    assert_eq!(begin().err(), Some(Silenced::Revoked));
    running.handle.end().await.unwrap();
}

/// A certificate is valid until its `notAfter`, that second included (RFC 5280 §4.1.2.5).
#[tokio::test]
async fn a_certificate_is_good_in_its_last_second() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let check = |before_s: i64| loop {
        let now = SiteClock::wall_seconds();
        let identity = Identity { not_after: now - before_s, ..holder("agent") };
        let checked = running.site.check_certificate(&identity);
        // The comparison is valid only if the second is the same before and after.
        if SiteClock::wall_seconds() == now {
            return checked;
        }
    };
    assert_eq!([check(0), check(1)], [Ok(()), Err(Silenced::Expired)]);
    running.handle.end().await.unwrap();
}

/// An idle stream ends as soon as the list names its certificate, also if another line of the list
/// has a fault, and as soon as its tenant is gone. Otherwise it would be checked once a minute.
#[tokio::test]
async fn an_idle_stream_ends_when_its_holder_loses_its_right() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let mut agent = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    let mut updates = agent.subscribe(SubscribeRequest::default()).await.unwrap().into_inner();
    let fingerprint = fingerprint_of_file(&bed.file("agent.pem")).unwrap();
    fs::write(bed.file("revoked.txt"), format!("{fingerprint}\nnonsense\n")).unwrap();
    let end = timeout(PATIENCE, updates.message()).await.expect("the stream ends").unwrap_err();
    assert!(end.message().contains("revoked"), "{end}");
    let web = bed.issue(HolderRole::Agent, "site", "web");
    let mut web = bed.connect(running.grpc, Some(&web)).await.unwrap();
    let mut updates = web.subscribe(SubscribeRequest::default()).await.unwrap().into_inner();
    set_rules(&bed, &running, |text| text.replace("name = \"site\"", "name = \"shop\""));
    let end = timeout(PATIENCE, updates.message()).await.expect("the stream ends").unwrap_err();
    assert_eq!(end.code(), Code::PermissionDenied);
    running.handle.end().await.unwrap();
}

/// A reload removes a tenant. Its agents are refused in the handshake from then on, so that they
/// learn the reason.
#[tokio::test]
async fn after_a_reload_a_handshake_asks_for_the_tenants_of_the_new_rules() {
    let bed = Bed::new("[[tenant]]\nname = \"shop\"\n");
    let running = bed.run().await;
    let shop = bed.issue(HolderRole::Agent, "shop", "agent");
    bed.ask(running.grpc, Some(&shop)).await.unwrap();
    let text = bed.text("gateway.toml").replace("[[tenant]]\nname = \"shop\"\n", "");
    fs::write(bed.file("gateway.toml"), text).unwrap();
    running.handle.reload();
    let refused =
        || running.site.counts.refused_connections.get(RefusedConnection::NotAllowed as usize);
    let is_refused = async {
        while refused() == 0 {
            let _ = bed.ask(running.grpc, Some(&shop)).await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, is_refused).await.expect("a handshake is refused");
    bed.ask(running.grpc, Some(&bed.agent())).await.unwrap();
    running.handle.end().await.unwrap();
}
