//! Holders with certificates of other ways: for a request, or of an authority that writes SPIFFE
//! IDs of its own.

use crate::bed::{Bed, batch, query, report, send};
use gateway::os::clock::system_time;
use gateway::pki::{CertificateContent, CertificateRequest, Holder, HolderRole, Issued, request};
use gateway::site::counters::RefusedConnection;
use gateway_proto::v1::ForgetRequest;
use rcgen::{CertificateParams, ExtendedKeyUsagePurpose, Issuer, KeyPair, SanType};
use std::fs;
use tonic::Code;

/// Agents of Paris and Rome, and operators of Paris alone.
const RULES: &str = "\
[[holder]]
uri = \"spiffe://trust.example/site/{tenant}/host/{name}\"
[[holder]]
uri = \"spiffe://trust.example/people/{name}\"
tenant = \"paris\"
role = \"operator\"
[[tenant]]
name = \"paris\"
";

/// Issues a certificate with these URIs, signed by the site's authority.
fn issue(bed: &Bed, uris: &[&str]) -> Issued {
    let key = KeyPair::from_pem(&bed.text("authority/ca.key")).unwrap();
    let authority = Issuer::from_ca_cert_pem(&bed.text("ca.pem"), key).unwrap();
    let mut params = CertificateParams::new(["web1.example".to_owned()]).unwrap();
    // Authorities of services sign for both sides.
    params.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    let uris = uris.iter().map(|uri| SanType::URI((*uri).try_into().unwrap()));
    params.subject_alt_names.extend(uris);
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, &authority).unwrap().pem();
    Issued { certificate, key: key.serialize_pem() }
}

/// The key of a request has the rights that were stated when it was signed.
#[tokio::test]
async fn a_signed_request_is_a_holder() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let (key, asked) = request("web-2", None).unwrap();
    let asked = CertificateRequest::of_pem(asked.as_bytes()).unwrap();
    let holder = Holder { tenant: "site", role: HolderRole::Agent, name: "web-2" };
    let content = CertificateContent::client(system_time(), 1, holder);
    let certificate = bed.authority().sign(content.unwrap(), &asked).unwrap();
    let issued = Issued { certificate, key };
    let mut client = bed.connect(running.grpc, Some(&issued)).await.unwrap();
    let reports = vec![batch(1, vec![report("192.0.2.0/24", 100_000)])];
    assert_eq!(send(&mut client, reports).await.unwrap()[0].taken, 1);
    let names: Vec<_> = {
        let site = running.site.tenant("site").unwrap();
        site.known().reporters.iter().map(|(name, _)| name.to_owned()).collect()
    };
    assert_eq!(names, ["web-2"]);
    running.handle.end().await.unwrap();
}

/// An agent and an operator of another trust domain may do what their rules say, and no more.
#[tokio::test]
async fn a_spiffe_id_has_the_role_of_its_rule() {
    let bed = Bed::new(RULES);
    let running = bed.run().await;
    let agent = issue(&bed, &["spiffe://trust.example/site/paris/host/web1"]);
    let operator = issue(&bed, &["spiffe://trust.example/people/ann"]);
    bed.ask(running.grpc, Some(&agent)).await.unwrap();
    for (shown, expected) in [(&agent, Some(Code::PermissionDenied)), (&operator, None)] {
        let mut client = bed.connect(running.grpc, Some(shown)).await.unwrap();
        let network = query("192.0.2.0/24").network;
        let forgotten = client.forget(ForgetRequest { network }).await;
        assert_eq!(forgotten.err().map(|status| status.code()), expected);
    }
    running.handle.end().await.unwrap();
}

/// Other URIs of the same authority are refused in the handshake, also the URIs of a site without
/// rules.
#[tokio::test]
async fn a_spiffe_id_without_a_rule_is_refused() {
    let bed = Bed::new(RULES);
    let running = bed.run().await;
    let good = "spiffe://trust.example/site/paris/host/web1";
    for uris in [
        &[][..],
        &["spiffe://headstart/tenant/paris/operator/ann"],
        &["spiffe://other.example/site/paris/host/web1"],
        &["spiffe://trust.example/site/oslo/host/web1"],
        &["spiffe://trust.example/site/paris/host/web%31"],
        &[good, "spiffe://trust.example/people/ann"],
        &[good, "spiffe://other.example/web1"],
    ] {
        let count = || {
            let why = RefusedConnection::NotAllowed as usize;
            running.site.counts.refused_connections.get(why)
        };
        let before = count();
        assert!(bed.ask(running.grpc, Some(&issue(&bed, uris))).await.is_err(), "{uris:?}");
        assert!(count() > before, "{uris:?}");
    }
    bed.ask(running.grpc, Some(&issue(&bed, &[good]))).await.unwrap();
    running.handle.end().await.unwrap();
}

/// Rules wait for a restart: a reload changes no open connection's rights by accident.
#[tokio::test]
async fn a_reload_leaves_the_rules_of_holders() {
    let bed = Bed::new(RULES);
    let running = bed.run().await;
    let text = bed.text("gateway.toml").replace("trust.example", "other.example");
    fs::write(bed.file("gateway.toml"), text.replace("retention = 3600", "retention = 60"))
        .unwrap();
    running.handle.reload();
    while running.site.rules().retention.as_secs() != 60 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let [old, new] = ["trust", "other"].map(|of| {
        let uri = format!("spiffe://{of}.example/site/paris/host/web1");
        issue(&bed, &[&uri])
    });
    bed.ask(running.grpc, Some(&old)).await.unwrap();
    assert!(bed.ask(running.grpc, Some(&new)).await.is_err());
    running.handle.end().await.unwrap();
}
