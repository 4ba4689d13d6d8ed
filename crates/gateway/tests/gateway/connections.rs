//! Idle connections: those without a certificate keep no other out, and those whose certificate is
//! no longer accepted end.

use crate::bed::{Bed, Running, batch, get, query, report, send};
use gateway::os::clock::system_time;
use gateway::pki::{HolderRole, Issued, fingerprint_of_file};
use gateway::site::counters::RefusedConnection;
use gateway_proto::v1::gateway_client::GatewayClient;
use gateway_proto::v1::{Answer, Query, ReportAck, ReportBatch, SubscribeRequest, Update};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use std::fs;
use std::sync::{Arc, mpsc};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;
use tonic::{Code, Status, Streaming};

/// Number of silent connections: more than the gateway's permits and slots, and no more than it
/// accepts from one address.
const SILENT: usize = 100;

/// Opens this many connections that send `bytes` and nothing more.
async fn silent(running: &Running, bytes: &[u8]) -> Vec<TcpStream> {
    let mut all = Vec::new();
    for _ in 0..SILENT {
        let mut stream = TcpStream::connect(running.grpc).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        all.push(stream);
    }
    all
}

/// Returns the ClientHello of a client without a certificate.
fn client_hello(bed: &Bed) -> Vec<u8> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(bed.file("ca.pem")).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let mut client =
        ClientConnection::new(Arc::new(config), "127.0.0.1".try_into().unwrap()).unwrap();
    let mut bytes = Vec::new();
    client.write_tls(&mut bytes).unwrap();
    bytes
}

/// With slots for two connections, an agent is accepted at once beside a hundred that send `bytes`
/// and stop.
async fn heard_beside(bed: &Bed, bytes: &[u8]) {
    bed.add_key("max-connections = 2");
    let running = bed.run().await;
    let silent = silent(&running, bytes).await;
    let newest_at =
        timeout(Duration::from_secs(1), bed.ask(running.grpc, Some(&bed.agent()))).await;
    newest_at.expect("an agent waits for somebody who says nothing").unwrap();
    assert_eq!(running.site.counts.refused_connections.get(RefusedConnection::TooMany as usize), 0);
    drop(silent);
    running.handle.end().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_say_nothing_keep_nobody_out() {
    heard_beside(&Bed::new(""), b"").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_only_say_hello_keep_nobody_out() {
    let bed = Bed::new("");
    let hello = client_hello(&bed);
    heard_beside(&bed, &hello).await;
}

/// Waits until the gateway counts this many connections without a certificate.
async fn until_unproven(running: &Running, count: usize) {
    let expected = format!("headstart_gateway_unproven_connections {count}");
    let said = async {
        while !get(running.http, "/metrics").await.1.lines().any(|line| line == expected) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(Duration::from_secs(1), said).await.expect(&expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_say_nothing_end_after_a_second_and_are_counted() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let mut all = silent(&running, b"").await;
    until_unproven(&running, SILENT).await;
    let ended = async {
        for stream in &mut all {
            // The result is the end of the stream, or a reset.
            assert_eq!(stream.read(&mut [0; 8]).await.unwrap_or(0), 0);
        }
    };
    timeout(Duration::from_secs(3), ended).await.expect("a second and a little more");
    until_unproven(&running, 0).await;
    let counts = &running.site.counts;
    let refused = counts.refused_connections.get(RefusedConnection::Handshake as usize);
    assert_eq!((refused, counts.connections.get()), (SILENT as u64, 0));
    running.handle.end().await.unwrap();
}

#[tokio::test]
async fn places_are_for_connections_that_have_shown_a_certificate() {
    let bed = Bed::new("");
    bed.add_key("max-connections = 1");
    let running = bed.run().await;
    let agent = bed.agent();
    let mut kept = bed.connect(running.grpc, Some(&agent)).await.unwrap();
    kept.ask(query("192.0.2.0/24")).await.unwrap();
    assert!(bed.ask(running.grpc, Some(&agent)).await.is_err());
    assert!(running.site.counts.refused_connections.get(RefusedConnection::TooMany as usize) > 0);
    kept.ask(query("192.0.2.0/24")).await.unwrap();
    running.handle.end().await.unwrap();
}

/// A stream of each kind, without messages; the peer's sending side stays open.
struct Idle {
    _queries: tokio::sync::mpsc::Sender<Query>,
    _batches: tokio::sync::mpsc::Sender<ReportBatch>,
    answers: Streaming<Answer>,
    acks: Streaming<ReportAck>,
    updates: Streaming<Update>,
}

impl Idle {
    async fn open(client: &mut GatewayClient<Channel>) -> Self {
        let (queries, asked) = tokio::sync::mpsc::channel(1);
        let (batches, sent) = tokio::sync::mpsc::channel(1);
        let answers = client.ask_stream(ReceiverStream::new(asked)).await.unwrap().into_inner();
        let acks = client.report(ReceiverStream::new(sent)).await.unwrap().into_inner();
        let updates = client.subscribe(SubscribeRequest::default()).await.unwrap().into_inner();
        Self { _queries: queries, _batches: batches, answers, acks, updates }
    }

    /// Returns the status with which each of them ends.
    async fn ends(&mut self) -> [Status; 3] {
        let (answers, acks, updates) =
            tokio::join!(self.answers.message(), self.acks.message(), self.updates.message());
        [answers.unwrap_err(), acks.unwrap_err(), updates.unwrap_err()]
    }
}

/// Checks that each stream ends within `patience` for `why`, and then the connection.
async fn ends(running: &Running, idle: &mut Idle, patience: Duration, why: &str) {
    let ends = timeout(patience, idle.ends()).await.expect("idle streams end");
    for status in ends {
        assert_eq!(status.code(), Code::PermissionDenied, "{status}");
        assert!(status.message().contains(why), "{status}");
    }
    assert_eq!(running.site.counts.ended_streams.get(), 3);
    let closed = async {
        while running.site.counts.connections.get() > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(Duration::from_secs(1), closed).await.expect("the connection ends after its streams");
}

fn revoke(bed: &Bed) {
    let fingerprint = fingerprint_of_file(&bed.file("agent.pem")).unwrap();
    fs::write(bed.file("revoked.txt"), format!("{fingerprint}\n")).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_streams_and_their_connection_end_when_the_certificate_is_revoked() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    let mut idle = Idle::open(&mut client).await;
    revoke(&bed);
    ends(&running, &mut idle, Duration::from_secs(2), "revoked").await;
    running.handle.end().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_streams_and_their_connection_end_when_the_certificate_expires() {
    let bed = Bed::new("");
    let running = bed.run().await;
    // The certificate is valid for a day, of which three seconds are left.
    let then = system_time() + Duration::from_secs(3) - Duration::from_secs(86_400);
    let short: Issued =
        bed.authority().client(then, 1, HolderRole::Agent, ("site", "agent")).unwrap();
    let mut client = bed.connect(running.grpc, Some(&short)).await.unwrap();
    let mut idle = Idle::open(&mut client).await;
    // Times in certificates are whole seconds, and so is the clock that they are compared with.
    ends(&running, &mut idle, Duration::from_secs(6), "expired").await;
    running.handle.end().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_is_looked_at_while_a_snapshot_is_written() {
    let bed = Bed::new("");
    bed.add_key("save-every = 1");
    let running = bed.run().await;
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    let mut idle = Idle::open(&mut client).await;
    // A change that does not end delays the snapshot, as a slow disk does.
    let (hold, release) = mpsc::channel::<()>();
    let tenant = running.site.tenant("site").unwrap();
    let holding = std::thread::spawn(move || {
        let _memory = tenant.memory_mut();
        // The wait has a limit, in case a thread of the test waits for it.
        let _ = release.recv_timeout(Duration::from_secs(20));
    });
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(running.site.counts.snapshots.get(), 0, "nothing is held up");
    revoke(&bed);
    ends(&running, &mut idle, Duration::from_secs(2), "revoked").await;
    assert_eq!(running.site.counts.snapshots.get(), 0);
    drop(hold);
    holding.join().unwrap();
    running.handle.end().await.unwrap();
    assert_eq!(running.site.counts.failed_snapshots.get(), 0);
}

/// While the whole memory is read, as for a snapshot, batches wait and questions do not.
#[tokio::test(flavor = "multi_thread")]
async fn questions_are_answered_while_reports_and_an_operator_wait_for_a_snapshot() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    send(&mut client, vec![batch(1, vec![report("192.0.2.0/24", 100_000)])]).await.unwrap();
    let (hold, reading) = hold_whole(&running);
    let mut reporter = client.clone();
    let reports = vec![report("192.0.2.0/24", 100_000); 300];
    let reported = tokio::spawn(async move { send(&mut reporter, vec![batch(2, reports)]).await });
    let (tenant, now) = (running.site.tenant("site").unwrap(), running.site.clock.now());
    let forgotten =
        tokio::spawn(async move { tenant.forget(now, "198.51.100.0/24".parse().unwrap()).await });
    tokio::time::sleep(Duration::from_millis(50)).await;
    let asked = timeout(Duration::from_secs(1), client.ask(query("192.0.2.0/24"))).await;
    asked.expect("a question waits for a snapshot").unwrap();
    assert!(!reading.is_finished(), "the question has waited until the snapshot was over");
    assert!(!reported.is_finished() && !forgotten.is_finished());
    drop(hold);
    reading.join().unwrap();
    assert_eq!(reported.await.unwrap().unwrap()[0].taken, 300);
    assert_eq!(forgotten.await.unwrap(), 0);
    running.handle.end().await.unwrap();
}

/// A batch that has started when the gateway is ordered to end is taken whole, though its reporter
/// disconnects, and it outlives the gateway.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_that_has_begun_is_taken_whole_before_the_gateway_ends() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    let (hold, reading) = hold_whole(&running);
    let reports = vec![report("192.0.2.0/24", 100_000); 300];
    let reported = tokio::spawn(async move { send(&mut client, vec![batch(1, reports)]).await });
    let tenant = running.site.tenant("site").unwrap();
    let has_begun = || tenant.known().reporters.iter().next().is_some();
    while !has_begun() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let counts = Arc::clone(&running.site);
    let ending = tokio::spawn(running.handle.end());
    tokio::time::sleep(Duration::from_millis(200)).await;
    // The agent drops its stream, as it does when it sees that the gateway ends.
    reported.abort();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!ending.is_finished(), "it ends without the batch");
    drop(hold);
    reading.join().unwrap();
    ending.await.unwrap().unwrap();
    assert_eq!(counts.counts.taken.get(0), 300);
    let again = bed.run().await;
    let mut client = bed.connect(again.grpc, Some(&bed.agent())).await.unwrap();
    let answer = client.ask(query("192.0.2.0/24")).await.unwrap().into_inner();
    assert!(matches!(
        answer.result,
        Some(gateway_proto::v1::answer::Result::Estimate(estimate)) if estimate.samples > 0
    ));
    again.handle.end().await.unwrap();
}

/// A thread reads the whole memory until the sender is dropped.
fn hold_whole(running: &Running) -> (mpsc::Sender<()>, std::thread::JoinHandle<()>) {
    let (hold, release) = mpsc::channel::<()>();
    let (begun, has_begun) = mpsc::channel();
    let tenant = running.site.tenant("site").unwrap();
    let reading = std::thread::spawn(move || {
        tenant.read_whole(|_| {
            begun.send(()).unwrap();
            // The wait has a limit, in case a thread of the test waits for it.
            let _ = release.recv_timeout(Duration::from_secs(20));
        });
    });
    has_begun.recv().unwrap();
    (hold, reading)
}
