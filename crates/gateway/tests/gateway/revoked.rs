//! An attacker with stolen keys: of a host, or of the authority. All connect by real TLS.

use crate::bed::{Bed, Running, query};
use gateway::config::init::replace_private;
use gateway::os::clock::system_time;
use gateway::pki::{
    Fingerprint, HolderRole, Issued, RevocationEntry, add_revocation, fingerprint_of_file,
    other_signatures,
};
use gateway::site::counters::RefusedConnection;
use gateway_proto::v1::ForgetRequest;
use gateway_proto::v1::gateway_client::GatewayClient;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::time::Duration;
use tonic::transport::Channel;
use tonic::{Code, Status};
use x509_parser::prelude::{FromDer, X509Certificate};

/// Calls until the gateway refuses one; the list is looked at each second.
async fn until_refused(kept: &mut GatewayClient<Channel>) -> Status {
    for _ in 0..60 {
        if let Err(status) = kept.ask(query("192.0.2.0/24")).await {
            return status;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the certificate is still accepted");
}

fn revoke(bed: &Bed, entry: &RevocationEntry) {
    add_revocation(&bed.file("revoked.txt"), entry, "stolen").unwrap();
}

fn der(issued: &Issued) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(issued.certificate.as_bytes()).unwrap()
}

fn refused_as_revoked(running: &Running) -> u64 {
    running.site.counts.refused_connections.get(RefusedConnection::Revoked as usize)
}

async fn forget(client: &mut GatewayClient<Channel>) -> Result<(), Status> {
    let everything = Some(crate::bed::network("0.0.0.0/1"));
    client.forget(ForgetRequest { network: everything }).await.map(drop)
}

/// A thief of `ca.key` mints an operator's certificate, connects and has half the Internet
/// forgotten. Then the operators take all documented steps, but the old authority stays in `ca.pem`
/// for servers that have no new certificate yet. Its revocation ends the thief's open connection
/// and refuses new ones, also of certificates that the thief mints later. The new authority's
/// servers stay connected.
#[tokio::test]
async fn a_stolen_authority_is_refused_as_soon_as_it_is_revoked() {
    let (bed, new) = (Bed::new(""), Bed::new(""));
    let running = bed.run().await;
    let thief = bed.issue(HolderRole::Operator, "site", "thief");
    let mut kept = bed.connect(running.grpc, Some(&thief)).await.unwrap();
    forget(&mut kept).await.unwrap();
    let both = bed.text("ca.pem") + &new.text("ca.pem");
    replace_private(&bed.file("ca.pem"), &both).unwrap();
    for name in ["server.pem", "server.key"] {
        replace_private(&bed.file(name), &new.text(name)).unwrap();
    }
    running.handle.reload();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let mut server = new.connect(running.grpc, Some(&new.agent())).await.unwrap();
    server.ask(query("192.0.2.0/24")).await.unwrap();
    forget(&mut kept).await.unwrap();
    let authority = CertificateDer::from_pem_slice(both.as_bytes()).unwrap();
    revoke(&bed, &RevocationEntry::Certificate(Fingerprint::of_certificate(&authority)));
    let status = until_refused(&mut kept).await;
    assert_eq!(status.code(), Code::PermissionDenied);
    assert!(status.message().contains("revoked"), "{status}");
    let again = bed.authority().client(system_time(), 1, HolderRole::Operator, ("site", "anew"));
    assert!(new.ask(running.grpc, Some(&again.unwrap())).await.is_err());
    assert!(refused_as_revoked(&running) > 0);
    server.ask(query("192.0.2.0/24")).await.unwrap();
    for _ in 0..100 {
        if running.site.counts.connections.get() == 1 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(running.site.counts.connections.get(), 1, "the thief's connection is open");
    running.handle.end().await.unwrap();
}

/// A list that names the only authority refuses everybody, also after a reload.
#[tokio::test]
async fn a_gateway_without_an_authority_accepts_nobody() {
    let bed = Bed::new("");
    let fingerprint = fingerprint_of_file(&bed.file("ca.pem")).unwrap();
    revoke(&bed, &RevocationEntry::Certificate(fingerprint));
    let running = bed.run().await;
    assert!(bed.ask(running.grpc, Some(&bed.agent())).await.is_err());
    running.handle.reload();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(bed.ask(running.grpc, Some(&bed.agent())).await.is_err());
    assert!(refused_as_revoked(&running) > 0);
    running.handle.end().await.unwrap();
}

/// The holder of a revoked certificate writes its signature (r, s) as (r, n - s). The certificate
/// verifies as before, and has another fingerprint.
#[tokio::test]
async fn a_revoked_certificate_with_the_other_form_of_its_signature_is_refused() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let agent = bed.agent();
    let forged: Vec<Issued> = other_signatures(&der(&agent))
        .into_iter()
        .map(|der| Issued { certificate: pem(&der), key: agent.key.clone() })
        .collect();
    let mut accepted = Vec::new();
    for forged in forged {
        if let Ok(mut kept) = bed.connect(running.grpc, Some(&forged)).await
            && kept.ask(query("192.0.2.0/24")).await.is_ok()
        {
            accepted.push((forged, kept));
        }
    }
    let [(forged, kept)] = &mut accepted[..] else { panic!("one form verifies") };
    assert_ne!(der(forged), der(&agent));
    let fingerprint = fingerprint_of_file(&bed.file("agent.pem")).unwrap();
    revoke(&bed, &RevocationEntry::Certificate(fingerprint));
    assert!(until_refused(kept).await.message().contains("revoked"));
    assert!(bed.ask(running.grpc, Some(forged)).await.is_err());
    assert!(refused_as_revoked(&running) > 0);
    running.handle.end().await.unwrap();
}

fn pem(der: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |bytes: &[u8]| {
        let bits = (0..3).fold(0, |bits, at| bits << 8 | u32::from(*bytes.get(at).unwrap_or(&0)));
        let digit = |at: usize| char::from(DIGITS[(bits >> (18 - 6 * at)) as usize & 63]);
        (0..4).map(|at| if at > bytes.len() { '=' } else { digit(at) }).collect::<String>()
    };
    let text: String = der.chunks(3).map(group).collect();
    format!("-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n")
}

/// Only the serial number of a lost certificate is known, from the records of the authority.
#[tokio::test]
async fn a_serial_number_is_refused_and_another_is_not() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let (lost, web) =
        (bed.issue(HolderRole::Agent, "site", "lost"), bed.issue(HolderRole::Agent, "site", "web"));
    let mut kept = bed.connect(running.grpc, Some(&lost)).await.unwrap();
    kept.ask(query("192.0.2.0/24")).await.unwrap();
    let lost_der = der(&lost);
    let (_, read) = X509Certificate::from_der(&lost_der).unwrap();
    let serial = read.raw_serial_as_string().parse().unwrap();
    revoke(&bed, &RevocationEntry::Serial(serial));
    assert!(until_refused(&mut kept).await.message().contains("revoked"));
    assert!(bed.ask(running.grpc, Some(&lost)).await.is_err());
    bed.ask(running.grpc, Some(&web)).await.unwrap();
    running.handle.end().await.unwrap();
}
