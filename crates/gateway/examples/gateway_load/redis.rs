//! Measures the nearest equivalent of Redis, over TLS with certificates of both sides. It has a
//! hash for each network, of which a report sets three fields; questions are those of its own
//! benchmark, for one value. It estimates nothing.

use super::now;
use super::process::Measured;
use gateway_proto::v1::Network;
use redis::AsyncConnectionConfig;
use std::error::Error;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const BATCH: usize = 4096;
/// Number of connections: the gateway's askers have as many.
const CLIENTS: &str = "8";
/// Number of questions.
const QUESTIONS: u64 = 200_000;

pub(super) async fn run(
    folder: &Path,
    networks: &[Network],
    span: Duration,
) -> Result<(), Box<dyn Error>> {
    let (plain, tls) = (free()?, free()?);
    let mut command = Command::new("redis-server");
    command.args(["--port", &plain.port().to_string(), "--tls-port", &tls.port().to_string()]);
    command.args(["--save", "", "--appendonly", "no", "--bind", "127.0.0.1"]);
    for (option, file) in [
        ("--tls-cert-file", "server.pem"),
        ("--tls-key-file", "server.key"),
        ("--tls-ca-cert-file", "ca.pem"),
    ] {
        command.arg(option).arg(folder.join(file));
    }
    let Ok(server) = Measured::start(&mut command, plain) else {
        println!("redis-server is not installed: nothing to compare with");
        return Ok(());
    };
    set(&server, plain, networks, span).await?;
    get(&server, tls, folder)
}

fn free() -> std::io::Result<SocketAddr> {
    std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr())
}

async fn set(
    server: &Measured,
    address: SocketAddr,
    networks: &[Network],
    span: Duration,
) -> Result<(), Box<dyn Error>> {
    let client = redis::Client::open(format!("redis://{address}/0"))?;
    // A busy machine takes longer than the client's default timeout of half a second.
    let patient = AsyncConnectionConfig::new().set_response_timeout(None);
    let mut connection = client.get_multiplexed_async_connection_with_config(&patient).await?;
    let keys: Vec<String> =
        networks.iter().filter_map(Network::to_net).map(|net| net.to_string()).collect();
    let (begin, mut taken) = (now(), 0);
    while begin.elapsed() < span {
        for some in keys.chunks(BATCH) {
            let mut pipeline = redis::pipe();
            for key in some {
                pipeline
                    .hset_multiple(key, &[("w", 100_000_u64), ("r", 20_000_000), ("t", 80_000)])
                    .ignore();
            }
            let _: () = pipeline.query_async(&mut connection).await?;
            taken += some.len();
        }
    }
    println!(
        "redis, hashes set, pipelines of {BATCH}, no TLS: {:.0} a second, {:.0} a second of processor",
        taken as f64 / begin.elapsed().as_secs_f64(),
        taken as f64 / server.processor_s(),
    );
    Ok(())
}

/// `redis-benchmark` asks for the next value once it has the one before.
fn get(server: &Measured, address: SocketAddr, folder: &Path) -> Result<(), Box<dyn Error>> {
    let used = server.processor_s();
    let mut command = Command::new("redis-benchmark");
    command.args(["-h", "127.0.0.1", "-p", &address.port().to_string(), "--tls", "--csv"]);
    command.args(["-t", "get", "-c", CLIENTS, "-n", &QUESTIONS.to_string()]);
    for (option, file) in [("--cacert", "ca.pem"), ("--cert", "agent.pem"), ("--key", "agent.key")]
    {
        command.arg(option).arg(folder.join(file));
    }
    let out = command.stderr(Stdio::inherit()).output()?;
    let each = (server.processor_s() - used) * 1e6 / QUESTIONS as f64;
    println!("redis, values read by TLS, {CLIENTS} connections: {each:.1} us of processor each");
    print!("{}", String::from_utf8_lossy(&out.stdout));
    Ok(())
}
