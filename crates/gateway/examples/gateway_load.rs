//! Measures a gateway's throughput and latency over mutual TLS on loopback.
//!
//! - Reports per second, in batches.
//! - Answer times at steady rates of questions, with a call for each question and on kept streams.
//! - Updates of changed networks for many subscribers.
//! - The nearest equivalent of Redis in the same run, if `redis-server` is installed.
//! - A restart with very many networks; with 0 networks there is none.
//!
//! The gateway and Redis are separate processes, so the results per second of processor time do not
//! depend on other load of the machine.
//!
//! ```text
//! cargo run --release -p headstart-gateway --example gateway_load -- \
//!     [SECONDS] [QUESTIONS A SECOND,...] [NETWORKS]
//! ```

#[path = "gateway_load/ask.rs"]
mod ask;
#[path = "gateway_load/calls.rs"]
mod calls;
#[path = "gateway_load/frames.rs"]
mod frames;
#[path = "gateway_load/process.rs"]
mod process;
#[path = "gateway_load/pushes.rs"]
mod pushes;
#[path = "gateway_load/redis.rs"]
mod redis_beside;
#[path = "gateway_load/restart.rs"]
mod restart;
#[path = "gateway_load/streams.rs"]
mod streams;
#[path = "gateway_load/wire.rs"]
mod wire;

use ask::{Load, Way};
use gateway::config::init::FirstGateway;
use gateway::os::clock::system_time;
use gateway::replay::site_load::{SiteLoad, report_of};
use gateway_client::network_of;
use gateway_proto::v1::gateway_client::GatewayClient;
use gateway_proto::v1::{Collector, Network, ReportBatch};
use process::Measured;
use std::error::Error;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, fs};
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use units::Instant as Moment;

/// Number of reports in a batch.
const BATCH: usize = 4096;
/// Number of streams that report at once.
const STREAMS: u64 = 2;

/// A gateway's files and addresses.
struct Place {
    folder: PathBuf,
    config: PathBuf,
    grpc: SocketAddr,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1).peekable();
    if arguments.next_if_eq("serve").is_some() {
        return process::serve(arguments.next().ok_or("which configuration?")?.as_ref()).await;
    }
    let seconds = arguments.next().map_or(Ok(5), |text| text.parse())?;
    let rates = arguments.next().unwrap_or_else(|| "1000,5000,10000,20000,40000,50000".to_owned());
    let rates: Vec<u64> = rates.split(',').map(str::parse).collect::<Result<_, _>>()?;
    let many = arguments.next().map_or(Ok(10_000_000), |text| text.parse())?;
    let place = Place::new()?;
    let span = Duration::from_secs(seconds);
    let requests: Vec<_> = SiteLoad::new(1, Moment::ZERO, 10.0).take(BATCH * 64).collect();
    let networks: Vec<Network> =
        requests.iter().map(|request| Network::of(network_of(request.client))).collect();

    let gateway = Measured::gateway(&place.config, place.grpc)?;
    let taken = report(&place.folder, place.grpc, &networks, span).await?;
    let used = gateway.processor_s();
    println!(
        "reports, {STREAMS} streams, batches of {BATCH}: {:.0} a second, {:.0} a second of processor",
        taken as f64 / span.as_secs_f64(),
        taken as f64 / used,
    );
    let load = Load { folder: &place.folder, address: place.grpc, networks: &networks, span };
    ask::head();
    for way in [Way::Calls, Way::Stream] {
        for rate in &rates {
            load.ask(&gateway, way, *rate).await?;
        }
    }
    gateway.end()?;
    let gateway = Measured::gateway(&place.config, place.grpc)?;
    pushes::run(&load, &gateway).await?;
    gateway.end()?;
    redis_beside::run(&place.folder, &networks, span).await?;
    if many > 0 {
        restart::run(&place, many)?;
    }
    Ok(fs::remove_dir_all(&place.folder)?)
}

impl Place {
    fn new() -> Result<Self, Box<dyn Error>> {
        let folder = env::temp_dir().join(format!("gateway-load-{}", std::process::id()));
        let first = FirstGateway {
            hosts: vec!["127.0.0.1".to_owned()],
            agent: "agent".to_owned(),
            observe: Vec::new(),
            user: None,
            force: true,
        };
        let config = first.write(&folder, system_time())?.gateway;
        let free = || std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
        let grpc = free()?;
        let text = fs::read_to_string(&config)?;
        let text = text.replace("127.0.0.1:9466", &grpc.to_string()).replace(":9465", ":0");
        let more = "reports-per-second = 100000000\nmax-networks = 12000000\nretention";
        fs::write(&config, text.replace("retention", more))?;
        Ok(Self { folder, config, grpc })
    }
}

async fn client(
    folder: &Path,
    address: SocketAddr,
) -> Result<GatewayClient<Channel>, Box<dyn Error>> {
    let read = |name: &str| fs::read_to_string(folder.join(name));
    let tls = ClientTlsConfig::new()
        .ca_certificate(Certificate::from_pem(read("ca.pem")?))
        .identity(Identity::from_pem(read("agent.pem")?, read("agent.key")?));
    let endpoint = Endpoint::from_shared(format!("https://{address}"))?.tls_config(tls)?;
    Ok(GatewayClient::new(endpoint.connect().await?))
}

/// Returns the number of reports that were acknowledged within `span`.
async fn report(
    folder: &Path,
    address: SocketAddr,
    networks: &[Network],
    span: Duration,
) -> Result<u64, Box<dyn Error>> {
    let mut tasks = Vec::new();
    for stream in 0..STREAMS {
        let mut client = client(folder, address).await?;
        let batches: Vec<Vec<_>> = networks
            .chunks(BATCH)
            .map(|some| some.iter().copied().map(report_of).collect())
            .collect();
        tasks.push(tokio::spawn(async move {
            let until = now() + span;
            let (sender, receiver) = tokio::sync::mpsc::channel(4);
            tokio::spawn(async move {
                for sequence in 1.. {
                    let reports = batches[sequence as usize % batches.len()].clone();
                    let collector = Collector::Agent.into();
                    let batch = ReportBatch {
                        epoch: stream + 1,
                        sequence,
                        collector,
                        reports,
                        status: None,
                    };
                    if now() > until || sender.send(batch).await.is_err() {
                        return;
                    }
                }
            });
            let stream = tokio_stream::wrappers::ReceiverStream::new(receiver);
            let mut acks = client.report(stream).await?.into_inner();
            let mut taken = 0;
            while let Some(ack) = acks.message().await? {
                taken += u64::from(ack.taken);
            }
            Ok::<u64, tonic::Status>(taken)
        }));
    }
    let mut taken = 0;
    for task in tasks {
        taken += task.await??;
    }
    Ok(taken)
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
