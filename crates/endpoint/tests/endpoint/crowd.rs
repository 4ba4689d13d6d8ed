//! Many connections of kernel clients that speak HTTP/1.1. They are like curl's, one after the
//! other, and curl's own, and like wrk's, all at once; none may fail. The tests need root and TUN
//! devices; they report a skip and pass without them. The long form: `make test-slow`.
#![expect(clippy::disallowed_methods, reason = "how long it took is told")]

use crate::common;
use crate::common::world::{OURS, World, config};
use axum::Router;
use axum::routing::get;
use std::io;
use std::net::SocketAddr;
use std::process::Command;
use std::time::Instant;
use test_support::Need;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Size of a body, bytes. A part of it is above the first window.
const BODY: usize = 30_000;

/// The number of connections.
#[derive(Clone, Copy)]
struct Crowd {
    connections: usize,
    /// Number of these connections at once.
    at_once: usize,
    /// Number of requests on each connection, of which the last closes it.
    requests: usize,
}

/// A connection with its requests, as curl and wrk make them, and their answers.
async fn visit(server: SocketAddr, requests: usize) -> io::Result<()> {
    let mut stream = TcpStream::connect(server).await?;
    for left in (0..requests).rev() {
        let kept = if left == 0 { "close" } else { "keep-alive" };
        let request = format!(
            "GET /page HTTP/1.1\r\nHost: {server}\r\nUser-Agent: curl/8\r\nAccept: */*\r\nConnection: {kept}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await?;
        answer(&mut stream).await?;
    }
    match stream.read(&mut [0]).await? {
        0 => Ok(()),
        _ => Err(io::Error::other("more than was asked for")),
    }
}

/// Reads one answer: 200, its length, and the right bytes.
async fn answer(stream: &mut TcpStream) -> io::Result<()> {
    let (mut read, mut buffer) = (Vec::new(), vec![0; 1 << 16]);
    loop {
        let head = read.windows(4).position(|end| end == b"\r\n\r\n");
        if let Some(head) = head.filter(|head| read.len() >= head + 4 + BODY) {
            let printed = String::from_utf8_lossy(&read[..head]).to_lowercase();
            let is_right = printed.starts_with("http/1.1 200")
                && printed.contains(&format!("content-length: {BODY}"))
                && read[head + 4..] == common::bytes(BODY, 5);
            return is_right.then_some(()).ok_or_else(|| io::Error::other(printed));
        }
        match stream.read(&mut buffer).await? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => read.extend_from_slice(&buffer[..n]),
        }
    }
}

/// Returns a world with a server of one page.
async fn serving() -> Option<World> {
    let world = World::new(true, config())?;
    let listener = world.endpoint.listen(common::PORT, &common::linux()).await.unwrap();
    let body = axum::body::Bytes::from(common::bytes(BODY, 5));
    let app = Router::new().route("/page", get(move || async move { body }));
    tokio::spawn(async move { axum::serve(listener, app).await });
    Some(world)
}

/// Asserts that this many were accepted, and none failed.
async fn assert_all_served(world: &World, connections: usize) {
    let status = world.endpoint.status().await.unwrap();
    assert_eq!(status.counters.accepted, connections as u64);
    assert_eq!((status.counters.failed, status.counters.backlog_full), (0, 0), "{status:?}");
}

/// Runs curl's own, one after the other: the server ends each.
async fn curls(connections: usize) {
    if !test_support::has(&[Need::Program("curl")]) {
        return;
    }
    let Some(world) = serving().await else { return };
    let url =
        format!("http://{}/page?[1-{connections}]", SocketAddr::new(OURS.0.into(), common::PORT));
    let write_out = "%{http_code} %{size_download} %{num_connects}\n";
    let started = Instant::now();
    let (world, printed) = tokio::task::spawn_blocking(move || {
        let arguments =
            ["-sS", "-o", "/dev/null", "-H", "Connection: close", "-w", write_out, &url];
        let printed = world.output(Command::new("curl").args(arguments));
        (world, printed)
    })
    .await
    .unwrap();
    println!("{connections} connections of curl: {:?}", started.elapsed());
    assert_eq!(printed, format!("200 {BODY} 1\n").repeat(connections));
    assert_all_served(&world, connections).await;
}

async fn come(crowd: Crowd) {
    let Crowd { connections, at_once, requests } = crowd;
    let Some(world) = serving().await else { return };
    let started = Instant::now();
    let namespace = world.namespace.clone();
    let clients = tokio::task::spawn_blocking(move || {
        let server = SocketAddr::new(OURS.0.into(), common::PORT);
        namespace.run(|| {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let client = |n: usize| async move {
                    for _ in 0..n {
                        visit(server, requests).await?;
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
    println!("{connections} connections with {requests} requests on each: {:?}", started.elapsed());
    assert_all_served(&world, connections).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn some_hundred_come_one_after_the_other() {
    come(Crowd { connections: 300, at_once: 1, requests: 1 }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn some_hundred_come_at_once() {
    come(Crowd { connections: 300, at_once: 300, requests: 3 }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn some_hundred_of_curl_come() {
    curls(300).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "for a quiet machine: make test-slow"]
async fn ten_thousand_of_curl_come() {
    curls(10_000).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "for a quiet machine: make test-slow"]
async fn ten_thousand_come_one_after_the_other() {
    come(Crowd { connections: 10_000, at_once: 1, requests: 1 }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "for a quiet machine, more than a thousand descriptors: make test-slow"]
async fn a_thousand_come_at_once() {
    come(Crowd { connections: 1000, at_once: 1000, requests: 10 }).await;
}
