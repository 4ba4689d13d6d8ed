//! The nearest that Redis can do: a hash of each network, of which a report sets three fields and a question reads them. It estimates nothing,
//! and speaks without TLS.

use super::{now, paced, tell};
use gateway_proto::v1::Network;
use redis::{AsyncCommands, AsyncConnectionConfig};
use std::error::Error;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const BATCH: usize = 4096;

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(super) async fn run(
    networks: &[Network],
    span: Duration,
    rate: u64,
) -> Result<(), Box<dyn Error>> {
    let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let arguments =
        ["--port", &port.to_string(), "--save", "", "--appendonly", "no", "--bind", "127.0.0.1"];
    let Ok(child) = Command::new("redis-server").args(arguments).stdout(Stdio::null()).spawn()
    else {
        println!("redis-server is not installed: nothing to compare with");
        return Ok(());
    };
    let _server = Server(child);
    tokio::time::sleep(Duration::from_millis(500)).await;
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
        "redis, hashes set a second, pipelines of {BATCH}: {:.0}",
        taken as f64 / begin.elapsed().as_secs_f64()
    );
    let times = paced(span, rate, |number| {
        let (mut connection, key) =
            (connection.clone(), keys[number as usize % keys.len()].clone());
        async move {
            let read: redis::RedisResult<Vec<u64>> = connection.hmget(key, &["w", "r", "t"]).await;
            read.is_ok()
        }
    })
    .await;
    tell("redis, hashes read, one call each, no TLS", &times, span);
    Ok(())
}
