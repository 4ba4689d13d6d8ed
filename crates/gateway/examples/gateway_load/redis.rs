//! The nearest that Redis can do: a hash of each network, of which a report sets three fields and a question reads them. It estimates nothing,
//! and speaks without TLS.

use super::process::Measured;
use super::{now, paced, tell};
use gateway_proto::v1::Network;
use redis::{AsyncCommands, AsyncConnectionConfig};
use std::error::Error;
use std::process::Command;
use std::time::Duration;

const BATCH: usize = 4096;

pub(super) async fn run(
    networks: &[Network],
    span: Duration,
    rate: u64,
) -> Result<(), Box<dyn Error>> {
    let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let port = address.port();
    let arguments =
        ["--port", &port.to_string(), "--save", "", "--appendonly", "no", "--bind", "127.0.0.1"];
    let Ok(server) = Measured::start(Command::new("redis-server").args(arguments), address) else {
        println!("redis-server is not installed: nothing to compare with");
        return Ok(());
    };
    let client = redis::Client::open(format!("redis://127.0.0.1:{port}/0"))?;
    // A busy machine takes longer than the client's own patience of half a second.
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
        "redis, hashes set, pipelines of {BATCH}: {:.0} a second, {:.0} a second of processor",
        taken as f64 / begin.elapsed().as_secs_f64(),
        taken as f64 / server.processor_s(),
    );
    let used = server.processor_s();
    let times = paced(span, rate, |number| {
        let (mut connection, key) =
            (connection.clone(), keys[number as usize % keys.len()].clone());
        async move {
            let read: redis::RedisResult<Vec<u64>> = connection.hmget(key, &["w", "r", "t"]).await;
            read.is_ok()
        }
    })
    .await;
    let used = server.processor_s() - used;
    tell("redis, hashes read, one call each, no TLS", &times, span, used);
    Ok(())
}
