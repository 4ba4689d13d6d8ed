//! A gateway in its own folder, and clients with certificates of any kind.

use gateway::config::init::FirstGateway;
use gateway::daemon::{Daemon, DaemonHandle};
use gateway::os::clock::system_time;
use gateway::pki::{Authority, HolderRole, Issued};
use gateway::replay::site_load::report_of;
use gateway::site::GatewaySite;
use gateway_proto::v1::gateway_client::GatewayClient;
use gateway_proto::v1::{Collector, Network, Query, Report, ReportAck, ReportBatch};
use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};
use tonic::Status;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};

/// Files that gateways of one site share.
const SHARED_FILES: [&str; 8] = [
    "ca.pem",
    "authority/ca.key",
    "server.pem",
    "server.key",
    "agent.pem",
    "agent.key",
    "authority/operator.pem",
    "authority/operator.key",
];

/// A gateway's folder; removed at the end.
pub(crate) struct Bed {
    pub(crate) folder: PathBuf,
}

/// A running gateway.
pub(crate) struct Running {
    pub(crate) handle: DaemonHandle,
    pub(crate) site: Arc<GatewaySite>,
    pub(crate) grpc: SocketAddr,
    pub(crate) http: SocketAddr,
}

impl Drop for Bed {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Bed {
    /// Sets up a first gateway with `more` after its configuration, on free ports.
    pub(crate) fn new(more: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "headstart-gateway-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let folder = std::env::temp_dir().join(name);
        let hosts = vec!["127.0.0.1".to_owned()];
        let (agent, observe) = ("agent".to_owned(), Vec::new());
        let first = FirstGateway { hosts, agent, observe, user: None, force: false };
        first.write(&folder, system_time()).unwrap();
        let bed = Self { folder };
        let text = fs::read_to_string(bed.file("gateway.toml")).unwrap();
        let text =
            text.replace("127.0.0.1:9466", "127.0.0.1:0").replace("127.0.0.1:9465", "127.0.0.1:0");
        fs::write(bed.file("gateway.toml"), format!("{text}{more}")).unwrap();
        bed
    }

    /// Sets up another gateway's folder with the same certificates, so that agents may ask either.
    pub(crate) fn beside(&self) -> Self {
        let bed = Self::new("");
        for name in SHARED_FILES {
            fs::copy(self.file(name), bed.file(name)).unwrap();
        }
        bed
    }

    /// Makes the gateway share over a Redis server of this machine.
    pub(crate) fn share_over(&self, redis: u16) {
        self.add_key(&format!("redis = \"redis://127.0.0.1:{redis}/0\""));
    }

    /// Adds a line to its configuration, before the first table.
    pub(crate) fn add_key(&self, line: &str) {
        let text = self.text("gateway.toml").replace("retention", &format!("{line}\nretention"));
        fs::write(self.file("gateway.toml"), text).unwrap();
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap()
    }

    pub(crate) async fn run(&self) -> Running {
        let daemon = Daemon::open(&self.file("gateway.toml")).await.unwrap();
        let (grpc, http) = (daemon.grpc_address().unwrap(), daemon.http_address().unwrap());
        let site = Arc::clone(daemon.site());
        Running { handle: daemon.spawn(false), site, grpc, http }
    }

    pub(crate) fn authority(&self) -> Authority {
        Authority::of_pem(&self.text("ca.pem"), &self.text("authority/ca.key")).unwrap()
    }

    /// Issues a certificate of the site's authority.
    pub(crate) fn issue(&self, role: HolderRole, tenant: &str, name: &str) -> Issued {
        self.authority().client(system_time(), 1, role, (tenant, name)).unwrap()
    }

    /// Issues a certificate that ended about an hour ago.
    pub(crate) fn expired(&self) -> Issued {
        let then: SystemTime = system_time() - Duration::from_secs(2 * 86_400);
        self.authority().client(then, 1, HolderRole::Agent, ("site", "old")).unwrap()
    }

    pub(crate) fn agent(&self) -> Issued {
        Issued { certificate: self.text("agent.pem"), key: self.text("agent.key") }
    }

    pub(crate) fn operator(&self) -> Issued {
        let text = |name: &str| self.text(&format!("authority/operator.{name}"));
        Issued { certificate: text("pem"), key: text("key") }
    }

    /// Connects a client with a certificate, or without any.
    pub(crate) async fn connect(
        &self,
        to: SocketAddr,
        shown: Option<&Issued>,
    ) -> Result<GatewayClient<Channel>, String> {
        self.channel(to, shown).await.map(GatewayClient::new)
    }

    /// Opens a connection with a certificate, or without any.
    pub(crate) async fn channel(
        &self,
        to: SocketAddr,
        shown: Option<&Issued>,
    ) -> Result<Channel, String> {
        let mut tls =
            ClientTlsConfig::new().ca_certificate(Certificate::from_pem(self.text("ca.pem")));
        if let Some(issued) = shown {
            tls = tls.identity(Identity::from_pem(&issued.certificate, &issued.key));
        }
        let endpoint =
            Endpoint::from_shared(format!("https://{to}")).unwrap().tls_config(tls).unwrap();
        endpoint.connect().await.map_err(|error| format!("{error:?}"))
    }

    /// Asks once; returns the error of connecting or of the call.
    pub(crate) async fn ask(&self, to: SocketAddr, shown: Option<&Issued>) -> Result<(), String> {
        let mut client = self.connect(to, shown).await?;
        let asked = client.ask(query("192.0.2.0/24")).await;
        asked.map(drop).map_err(|status| format!("{status:?}"))
    }
}

pub(crate) fn network(text: &str) -> Network {
    Network::of(text.parse().unwrap())
}

pub(crate) fn query(text: &str) -> Query {
    Query { id: 7, network: Some(network(text)), size: 0 }
}

/// Returns the report of a connection to `text` whose window met a loss at `window` bytes.
pub(crate) fn report(text: &str, window: u64) -> Report {
    Report { window, ..report_of(network(text)) }
}

pub(crate) fn batch(sequence: u64, reports: Vec<Report>) -> ReportBatch {
    ReportBatch { epoch: 1, sequence, collector: Collector::Agent.into(), reports, status: None }
}

/// Sends batches and returns all acknowledgements until the end.
pub(crate) async fn send(
    client: &mut GatewayClient<Channel>,
    batches: Vec<ReportBatch>,
) -> Result<Vec<ReportAck>, Status> {
    let mut acks = client.report(tokio_stream::iter(batches)).await?.into_inner();
    let mut all = Vec::new();
    while let Some(ack) = acks.message().await? {
        all.push(ack);
    }
    Ok(all)
}

/// Returns the answer of HTTP: the status code, and the body.
pub(crate) async fn get(to: SocketAddr, path: &str) -> (u16, String) {
    let (head, body) = get_as(to, path, &to.to_string()).await;
    let code = head.split(' ').nth(1).unwrap().parse().unwrap();
    (code, body)
}

/// Returns the answer of HTTP under the name `host`: its head, and the body.
pub(crate) async fn get_as(to: SocketAddr, path: &str, host: &str) -> (String, String) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(to).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}
