//! Many connections of kernel clients, one after the other and at once: none may fail. Needs root and TUN
//! devices; says so and passes without them. The long form, by hand:
//! `ulimit -n 4096; cargo test --release -p headstart-endpoint --test crowd -- --ignored`.

mod common;

use common::world::{OURS, World, config};
use std::io;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const REQUEST: &[u8; 100] = &[b'q'; 100];
/// Some of it goes beyond the first window.
const ANSWER: usize = 30_000;

async fn visit(server: SocketAddr) -> io::Result<()> {
    let mut stream = TcpStream::connect(server).await?;
    stream.write_all(REQUEST).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    if answer == common::bytes(ANSWER, 5) {
        return Ok(());
    }
    Err(io::Error::other(format!("{} bytes, and not those", answer.len())))
}

/// So many connections in all, so many of them at a time.
async fn come(connections: usize, at_once: usize) {
    let Some(world) = World::new(true, config()) else { return };
    let mut listener = world.endpoint.listen(common::PORT, &common::linux()).await.unwrap();
    let server = tokio::spawn(async move {
        let answer: std::sync::Arc<[u8]> = common::bytes(ANSWER, 5).into();
        while let Ok((mut stream, _)) = listener.accept().await {
            let answer = std::sync::Arc::clone(&answer);
            tokio::spawn(async move {
                stream.read_exact(&mut [0; REQUEST.len()]).await?;
                stream.write_all(&answer).await?;
                stream.shutdown().await
            });
        }
    });
    let namespace = world.namespace.clone();
    let clients = tokio::task::spawn_blocking(move || {
        let server = SocketAddr::new(OURS.0.into(), common::PORT);
        namespace.run(|| {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let client = |n: usize| async move {
                    for _ in 0..n {
                        visit(server).await?;
                    }
                    io::Result::Ok(())
                };
                let clients: Vec<_> =
                    (0..at_once).map(|_| tokio::spawn(client(connections / at_once))).collect();
                for client in clients {
                    client.await.unwrap().unwrap();
                }
            });
        })
    });
    clients.await.unwrap().unwrap();
    let status = world.endpoint.status().await.unwrap();
    assert_eq!(status.counters.accepted, connections as u64);
    assert_eq!((status.counters.failed, status.counters.backlog_full), (0, 0), "{status:?}");
    server.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn some_hundred_come_one_after_the_other() {
    come(300, 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn some_hundred_come_at_once() {
    come(300, 300).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "for a quiet machine"]
async fn ten_thousand_come_one_after_the_other() {
    come(10_000, 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "for a quiet machine; takes more than a thousand descriptors"]
async fn a_thousand_come_at_once() {
    come(1000, 1000).await;
}
