//! Refusals: each kind of certificate that must be refused, and each action that a good one does
//! not permit.

use crate::bed::{Bed, batch, get, query, report, send};
use gateway::config::DaemonConfig;
use gateway::config::init::replace_private;
use gateway::daemon::{Daemon, check};
use gateway::os::clock::{SiteClock, system_time};
use gateway::pki::{Authority, HolderRole, Issued, fingerprint_of_file};
use gateway::site::counters::RefusedConnection;
use gateway_client::{ClientConfig, GatewayState, check_gateways};
use gateway_proto::v1::{Collector, ForgetRequest, NoEstimate, Refusal, answer};
use std::fs;
use std::time::Duration;
use tonic::Code;

/// Checks that a client with `shown` is refused for `why`, and that the counter of this refusal
/// grows.
async fn refused(bed: &Bed, shown: Option<&Issued>, why: RefusedConnection) {
    let running = bed.run().await;
    let refusal = bed.ask(running.grpc, shown).await;
    assert!(refusal.is_err(), "{why:?} was heard");
    assert!(running.site.counts.refused_connections.get(why as usize) > 0, "{why:?}: {refusal:?}");
    // A client with a good certificate is accepted all the same.
    bed.ask(running.grpc, Some(&bed.agent())).await.unwrap();
    running.handle.end().await.unwrap();
}

#[tokio::test]
async fn without_a_certificate_no_certificate_is_accepted() {
    refused(&Bed::new(""), None, RefusedConnection::NoCertificate).await;
}

#[tokio::test]
async fn a_certificate_of_another_authority_is_refused() {
    let bed = Bed::new("");
    let (other, _) = Authority::new(system_time()).unwrap();
    let stranger = other.client(system_time(), 1, HolderRole::Agent, ("site", "agent")).unwrap();
    refused(&bed, Some(&stranger), RefusedConnection::OtherAuthority).await;
}

#[tokio::test]
async fn an_expired_certificate_is_refused() {
    let bed = Bed::new("");
    let expired = bed.expired();
    refused(&bed, Some(&expired), RefusedConnection::Expired).await;
}

#[tokio::test]
async fn a_gateways_own_certificate_reports_nothing() {
    // It is from the right authority, but for servers alone.
    let bed = Bed::new("");
    let server = Issued { certificate: bed.text("server.pem"), key: bed.text("server.key") };
    refused(&bed, Some(&server), RefusedConnection::OtherAuthority).await;
}

#[tokio::test]
async fn a_tenant_of_another_gateway_is_refused() {
    let bed = Bed::new("");
    let stranger = bed.issue(HolderRole::Agent, "shop", "agent");
    refused(&bed, Some(&stranger), RefusedConnection::NotAllowed).await;
}

#[tokio::test]
async fn a_revoked_certificate_is_refused_without_a_restart_and_its_streams_end() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let agent = bed.agent();
    let mut kept = bed.connect(running.grpc, Some(&agent)).await.unwrap();
    send(&mut kept, vec![batch(1, vec![report("192.0.2.0/24", 100_000)])]).await.unwrap();
    let fingerprint = fingerprint_of_file(&bed.file("agent.pem")).unwrap();
    fs::write(bed.file("revoked.txt"), format!("{fingerprint}\n")).unwrap();
    // The list is checked each second.
    let mut patience = 50;
    while kept.ask(query("192.0.2.0/24")).await.is_ok() && patience > 0 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        patience -= 1;
    }
    let status = kept.ask(query("192.0.2.0/24")).await.unwrap_err();
    assert_eq!(status.code(), Code::PermissionDenied);
    assert!(status.message().contains("revoked"), "{status}");
    assert!(bed.ask(running.grpc, Some(&agent)).await.is_err());
    assert!(running.site.counts.refused_connections.get(RefusedConnection::Revoked as usize) > 0);
    running.handle.end().await.unwrap();
}

/// Both authorities have the same name, so TLS itself says `BadSignature`. The gateway of the other
/// folder runs nowhere.
#[tokio::test]
async fn a_wrong_authority_is_named_as_such_on_both_sides() {
    let (bed, other) = (Bed::new(""), Bed::new(""));
    let running = bed.run().await;
    let good = ClientConfig {
        gateways: vec![running.grpc.to_string()],
        ca: bed.file("ca.pem"),
        certificate: bed.file("agent.pem"),
        key: bed.file("agent.key"),
        collector: Collector::Agent,
        version: String::new(),
        addresses: Vec::new,
        names: gateway_client::SystemNames::shared(),
    };
    let check = async |config: &ClientConfig| {
        let config = config.clone();
        tokio::task::spawn_blocking(move || check_gateways(&config)).await.unwrap()
    };
    let answers = (good.gateways[0].clone(), GatewayState::Answers);
    assert_eq!(check(&good).await, Ok(vec![answers]));
    let why = check(&ClientConfig { ca: other.file("ca.pem"), ..good.clone() }).await.unwrap_err();
    let expected = format!("not of the authority in {}", other.file("ca.pem").display());
    assert!(why.contains(&expected), "{why}");
    let foreign = ClientConfig {
        certificate: other.file("agent.pem"),
        key: other.file("agent.key"),
        ..good.clone()
    };
    let why = check(&foreign).await.unwrap_err();
    let expected = format!("refuses {}", other.file("agent.pem").display());
    assert!(why.contains(&expected) && why.contains("not of the authority"), "{why}");
    let key = ClientConfig { key: other.file("agent.key"), ..good.clone() };
    let why = check(&key).await.unwrap_err();
    assert!(why.contains("agent.key (gateway-key) is not the key of"), "{why}");
    let fingerprint = fingerprint_of_file(&bed.file("agent.pem")).unwrap();
    fs::write(bed.file("revoked.txt"), format!("{fingerprint}\n")).unwrap();
    running.site.reread_revocations().unwrap();
    let why = check(&good).await.unwrap_err();
    assert!(why.contains("it is revoked"), "{why}");
    running.handle.end().await.unwrap();
    let states = check(&good).await.unwrap();
    assert!(
        matches!(&states[0].1, GatewayState::Silent(why) if why.contains("refused")),
        "{states:?}"
    );
}

/// A thief of `ca.key` mints certificates. After `ca.pem` is replaced and the gateway reloaded, the
/// open connections of these certificates end, and their calls are refused.
#[tokio::test]
async fn a_reload_ends_connections_of_an_authority_that_is_gone() {
    let (bed, new) = (Bed::new(""), Bed::new(""));
    let running = bed.run().await;
    let stolen = bed.issue(HolderRole::Operator, "site", "thief");
    let mut kept = bed.connect(running.grpc, Some(&stolen)).await.unwrap();
    kept.ask(query("192.0.2.0/24")).await.unwrap();
    for name in ["ca.pem", "server.pem", "server.key"] {
        replace_private(&bed.file(name), &new.text(name)).unwrap();
    }
    running.handle.reload();
    let mut patience = 100;
    let status = loop {
        match kept.ask(query("192.0.2.0/24")).await {
            Err(status) => break status,
            Ok(_) => patience -= 1,
        }
        assert!(patience > 0, "the stolen certificate is still accepted");
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(status.code(), Code::PermissionDenied);
    assert!(status.message().contains("not of the authority"), "{status}");
    let mut patience = 100;
    while running.site.counts.connections.get() > 0 {
        assert!(patience > 0, "the connection is still open");
        patience -= 1;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    new.ask(running.grpc, Some(&new.agent())).await.unwrap();
    running.handle.end().await.unwrap();
}

/// A second after the list has become unreadable (`revoked-grace = 1`) an open
/// connection ends, and a new one is refused. With a list again, agents are accepted again.
#[tokio::test]
async fn without_a_list_of_revoked_certificates_no_certificate_is_accepted() {
    let bed = Bed::new("");
    bed.add_key("revoked-grace = 1");
    let running = bed.run().await;
    let agent = bed.agent();
    let mut kept = bed.connect(running.grpc, Some(&agent)).await.unwrap();
    kept.ask(query("192.0.2.0/24")).await.unwrap();
    fs::write(bed.file("revoked.txt"), [0xff; 8]).unwrap();
    let mut patience = 50;
    while kept.ask(query("192.0.2.0/24")).await.is_ok() && patience > 0 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        patience -= 1;
    }
    assert!(patience > 0 && !running.site.is_ready());
    assert!(bed.ask(running.grpc, Some(&agent)).await.is_err());
    fs::write(bed.file("revoked.txt"), "").unwrap();
    let mut patience = 50;
    while bed.ask(running.grpc, Some(&agent)).await.is_err() {
        patience -= 1;
        assert!(patience > 0, "the list can be read again");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(running.site.is_ready());
    running.handle.end().await.unwrap();
}

/// The gateway's own certificate is renewed by `headstart gateway certificate --gateway` and a
/// reload.
#[tokio::test]
async fn a_gateway_shows_its_new_certificate_after_a_reload_and_tells_when_it_ends() {
    let bed = Bed::new("");
    // An expired certificate is still shown: agents refuse it, and the gateway logs a warning.
    let hosts = ["127.0.0.1".to_owned()];
    let then = system_time() - Duration::from_secs(2 * 86_400);
    let renew = |issued: Issued| {
        replace_private(&bed.file("server.pem"), &issued.certificate).unwrap();
        replace_private(&bed.file("server.key"), &issued.key).unwrap();
    };
    renew(bed.authority().server(then, 1, &hosts).unwrap());
    let why = check(&DaemonConfig::read(&bed.file("gateway.toml")).unwrap()).unwrap_err();
    assert!(why.contains("server.pem: the gateway's certificate has ended"), "{why}");
    let running = bed.run().await;
    assert!(bed.ask(running.grpc, Some(&bed.agent())).await.is_err());
    assert!(running.site.certificate_end() < SiteClock::wall_seconds());
    renew(bed.authority().server(system_time(), 20, &hosts).unwrap());
    let said = check(&DaemonConfig::read(&bed.file("gateway.toml")).unwrap()).unwrap().unwrap();
    assert!(said.contains("the gateway's certificate ends in "), "{said}");
    running.handle.reload();
    let mut patience = 500;
    while bed.ask(running.grpc, Some(&bed.agent())).await.is_err() {
        patience -= 1;
        assert!(patience > 0, "the old certificate is still shown");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let (_, metrics) = get(running.http, "/metrics").await;
    let name = "headstart_gateway_certificate_expiration_timestamp_seconds ";
    let end = metrics.lines().find_map(|line| line.strip_prefix(name)).expect("it is served");
    let left = end.parse::<i64>().unwrap() - SiteClock::wall_seconds();
    // 20 days, less the time of this test.
    assert!((20 * 86_400 - 60..=20 * 86_400).contains(&left), "{left}");
    running.handle.end().await.unwrap();
}

/// The clock of this host is almost a day behind the one that made the certificate. The gateway
/// starts and logs a warning. An agent with a right clock would accept the certificate. The agent
/// of this test, whose clock is behind as well, refuses it itself.
#[tokio::test]
async fn a_gateway_starts_with_a_certificate_that_is_not_valid_yet() {
    let bed = Bed::new("");
    let then = system_time() + Duration::from_secs(86_400);
    let early = bed.authority().server(then, 20, &["127.0.0.1".to_owned()]).unwrap();
    fs::write(bed.file("server.pem"), &early.certificate).unwrap();
    fs::write(bed.file("server.key"), &early.key).unwrap();
    let said = check(&DaemonConfig::read(&bed.file("gateway.toml")).unwrap()).unwrap().unwrap();
    assert!(said.contains("server.pem: the gateway's certificate is not valid before "), "{said}");
    let running = bed.run().await;
    let refused = bed.ask(running.grpc, Some(&bed.agent())).await.unwrap_err();
    assert!(refused.contains("NotValidYet"), "{refused}");
    running.handle.end().await.unwrap();
}

/// A check, a start and a reload each refuse a certificate that no agent would accept.
#[tokio::test]
async fn a_certificate_that_agents_refuse_is_refused_before_them() {
    let (bed, other) = (Bed::new(""), Bed::new(""));
    let running = bed.run().await;
    // One gateway with the same certificates runs, and the other is to start.
    let idle = bed.beside();
    let put = |certificate: &str, key: &str| {
        for bed in [&bed, &idle] {
            fs::write(bed.file("server.pem"), certificate).unwrap();
            fs::write(bed.file("server.key"), key).unwrap();
        }
    };
    let config = bed.file("gateway.toml");
    let checked = || check(&DaemonConfig::read(&config).unwrap());
    for (issued, why) in [
        (bed.agent(), "extended key usage is not server authentication"),
        (
            Issued { certificate: other.text("server.pem"), key: other.text("server.key") },
            "not of the authority in",
        ),
    ] {
        put(&issued.certificate, &issued.key);
        assert!(checked().unwrap_err().contains(why));
        let refused = Daemon::open(&idle.file("gateway.toml")).await.unwrap_err();
        assert!(refused.contains(why), "{refused}");
        running.handle.reload();
        tokio::time::sleep(Duration::from_millis(300)).await;
        // The certificate in force stays.
        bed.ask(running.grpc, Some(&bed.agent())).await.unwrap();
    }
    // A key of the configuration names the authority that agents use.
    fs::copy(other.file("ca.pem"), bed.file("agents.pem")).unwrap();
    bed.add_key("certificate-ca = \"agents.pem\"");
    assert_eq!(checked(), Ok(None));
    running.handle.reload();
    let mut patience = 500;
    while other.ask(running.grpc, Some(&bed.agent())).await.is_err() {
        patience -= 1;
        assert!(patience > 0, "the old certificate is still shown");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    running.handle.end().await.unwrap();
}

/// One authority replaces another without an interval in which a host is refused: for a while both
/// are trusted.
#[tokio::test]
async fn agents_of_two_authorities_are_heard_while_both_are_named() {
    let (bed, next) = (Bed::new(""), Bed::new(""));
    let running = bed.run().await;
    assert!(bed.ask(running.grpc, Some(&next.agent())).await.is_err());
    let both = bed.text("ca.pem") + &next.text("ca.pem");
    fs::write(bed.file("ca.pem"), both).unwrap();
    running.handle.reload();
    let mut patience = 500;
    while bed.ask(running.grpc, Some(&next.agent())).await.is_err() {
        patience -= 1;
        assert!(patience > 0, "the new authority is not believed");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    bed.ask(running.grpc, Some(&bed.agent())).await.unwrap();
    // The gateway's own certificate may be from either, too.
    for name in ["server.pem", "server.key"] {
        replace_private(&bed.file(name), &next.text(name)).unwrap();
    }
    assert!(next.ask(running.grpc, Some(&next.agent())).await.is_err());
    running.handle.reload();
    let mut patience = 500;
    while next.ask(running.grpc, Some(&next.agent())).await.is_err() {
        patience -= 1;
        assert!(patience > 0, "the new certificate is not shown");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    bed.ask(running.grpc, Some(&bed.agent())).await.unwrap();
    running.handle.end().await.unwrap();
}

const NARROW: &str = "report = [\"10.0.0.0/8\"]\nask = [\"10.1.0.0/16\"]\n";

#[tokio::test]
async fn networks_that_a_tenant_may_not_speak_of_are_refused() {
    let bed = Bed::new(NARROW);
    let running = bed.run().await;
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    let reports = vec![report("10.1.2.0/24", 100_000), report("192.0.2.0/24", 100_000)];
    let acks = send(&mut client, vec![batch(1, reports)]).await.unwrap();
    assert_eq!(acks[0].taken, 1);
    let why: Vec<_> =
        acks[0].refused.iter().map(|refused| (refused.why(), refused.count)).collect();
    assert_eq!(why, [(Refusal::NotAllowed, 1)]);
    let none = |text| {
        let mut client = client.clone();
        async move { client.ask(query(text)).await.unwrap().into_inner().result }
    };
    assert!(matches!(none("10.1.2.0/24").await, Some(answer::Result::Estimate(_))));
    let not_allowed = Some(answer::Result::None(NoEstimate::NotAllowed.into()));
    assert_eq!(none("10.2.2.0/24").await, not_allowed);
    running.handle.end().await.unwrap();
}

#[tokio::test]
async fn tenants_know_nothing_of_each_other() {
    let bed = Bed::new("[[tenant]]\nname = \"shop\"\n");
    let running = bed.run().await;
    let mut site = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    send(&mut site, vec![batch(1, vec![report("192.0.2.0/24", 100_000)])]).await.unwrap();
    let shop = bed.issue(HolderRole::Agent, "shop", "agent");
    let mut shop = bed.connect(running.grpc, Some(&shop)).await.unwrap();
    let answer = shop.ask(query("192.0.2.0/24")).await.unwrap().into_inner();
    assert_eq!(answer.result, Some(answer::Result::None(NoEstimate::Unknown.into())));
    running.handle.end().await.unwrap();
}

#[tokio::test]
async fn only_an_operator_has_networks_forgotten() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let mut agent = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    send(&mut agent, vec![batch(1, vec![report("192.0.2.0/24", 100_000)])]).await.unwrap();
    let forget = ForgetRequest { network: query("192.0.0.0/16").network };
    let status = agent.forget(forget).await.unwrap_err();
    assert_eq!(status.code(), Code::PermissionDenied);
    let mut operator = bed.connect(running.grpc, Some(&bed.operator())).await.unwrap();
    assert_eq!(operator.forget(forget).await.unwrap().into_inner().forgotten, 1);
    running.handle.end().await.unwrap();
}

#[tokio::test]
async fn rules_change_without_a_restart_and_a_wrong_file_changes_nothing() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    send(&mut client, vec![batch(1, vec![report("192.0.2.0/24", 100_000)])]).await.unwrap();
    let before = bed.text("gateway.toml");
    fs::write(bed.file("gateway.toml"), format!("{before}{NARROW}")).unwrap();
    running.handle.reload();
    let is_refused = |result| result == Some(answer::Result::None(NoEstimate::NotAllowed.into()));
    let mut patience = 100;
    // The connection from before is still in use.
    while !is_refused(client.ask(query("192.0.2.0/24")).await.unwrap().into_inner().result) {
        patience -= 1;
        assert!(patience > 0, "the old rules are still in force");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    fs::write(bed.file("gateway.toml"), "nonsense = 1").unwrap();
    running.handle.reload();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(is_refused(client.ask(query("192.0.2.0/24")).await.unwrap().into_inner().result));
    running.handle.end().await.unwrap();
}
