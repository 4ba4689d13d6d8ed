//! The endpoint in real time: beside the kernel's TCP, over a TUN device in a namespace of its own;
//! and with the scenario scripts. Tests beside the kernel need root and TUN devices: they report a
//! skip and pass without them.
#![expect(clippy::disallowed_methods, reason = "real time is what is tested")]

#[path = "../endpoint/common/mod.rs"]
mod common;
mod scripted;
mod scripts;

use axum::Router;
use axum::extract::Path;
use axum::routing::get;
use common::world::{KERNEL, OURS, World, config};
use common::{bytes, linux};
use endpoint::{Endpoint, Stream};
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use test_support::Need;

/// Serves pages: `/N` has N bytes.
async fn serve_pages(endpoint: &Endpoint) {
    let listener = endpoint.listen(common::PORT, &linux()).await.unwrap();
    let page = |Path(len): Path<usize>| async move { bytes(len, 1) };
    let app = Router::new().route("/{len}", get(page));
    tokio::spawn(async move { axum::serve(listener, app).await });
}

fn addresses() -> [IpAddr; 2] {
    [OURS.0.into(), OURS.1.into()]
}

fn get_page(stream: &mut TcpStream, len: usize) -> Vec<u8> {
    write!(stream, "GET /{len} HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    assert!(head.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&head));
    let mut body = vec![0; len];
    stream.read_exact(&mut body).unwrap();
    body
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn axum_serves_unmodified_clients() {
    for offload in [true, false] {
        let Some(world) = World::new(offload, config()) else { return };
        serve_pages(&world.endpoint).await;
        let world = tokio::task::spawn_blocking(move || {
            for address in addresses() {
                let mut kept = world.connect(address);
                for len in [1, 1000, 100_000, 3_000_000, 17] {
                    assert!(get_page(&mut kept, len) == bytes(len, 1), "{len} from {address}");
                }
                for _ in 0..50 {
                    assert!(get_page(&mut world.connect(address), 5000) == bytes(5000, 1));
                }
            }
            thread::scope(|scope| {
                for n in 0..100 {
                    let world = &world;
                    scope.spawn(move || {
                        let len = 1000 * n;
                        let page = get_page(&mut world.connect(addresses()[n % 2]), len);
                        assert!(page == bytes(len, 1), "{len}");
                    });
                }
            });
            world
        });
        let world = world.await.unwrap();
        let status = world.endpoint.status().await.unwrap();
        assert_eq!(status.counters.accepted, 2 * 51 + 100);
        assert_eq!(status.counters.bytes_missing + status.counters.device_refused, 0);
        // Only the kernel's own messages (multicast listeners) are refused.
        let bad: Vec<_> = status
            .counters
            .iter()
            .filter(|(name, n)| {
                let harmless = ["malformed_address", "malformed_icmp_kind", "malformed_protocol"];
                name.starts_with("malformed") && *n > 0 && !harmless.contains(&name.as_str())
            })
            .collect();
        assert!(bad.is_empty(), "{bad:?}");
    }
}

/// The programs are those that people try first, if they are installed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curl_and_ping_are_answered() {
    let Some(world) = World::new(true, config()) else { return };
    serve_pages(&world.endpoint).await;
    let [ping, curl] = ["ping", "curl"].map(|name| test_support::has(&[Need::Program(name)]));
    let talk = tokio::task::spawn_blocking(move || {
        for address in addresses() {
            if ping {
                let arguments = ["-c", "2", "-i", "0.1", "-W", "5", &address.to_string()];
                let printed = world.output(Command::new("ping").args(arguments));
                assert!(printed.contains("2 received"), "{printed}");
            }
            if curl {
                let url = format!("http://{}/200000", SocketAddr::new(address, common::PORT));
                let format = "%{http_code} %{size_download}";
                let arguments = ["-s", "-o", "/dev/null", "-w", format, &url];
                assert_eq!(world.output(Command::new("curl").args(arguments)), "200 200000");
            }
        }
    });
    talk.await.unwrap();
}

/// Uploads: data that the kernel sends in super-packets is delivered as written.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn megabytes_go_both_ways_at_once() {
    for offload in [true, false] {
        let Some(world) = World::new(offload, config()) else { return };
        let mut listener = world.endpoint.listen(common::PORT, &linux()).await.unwrap();
        let echo = tokio::spawn(async move {
            answer_all(listener.accept().await.unwrap().0).await;
        });
        let read = tokio::task::spawn_blocking(move || {
            let mut stream = world.connect(OURS.0.into());
            let mut writer = stream.try_clone().unwrap();
            let write = thread::spawn(move || {
                writer.write_all(&bytes(10_000_000, 3)).unwrap();
                writer.shutdown(Shutdown::Write).unwrap();
            });
            let mut all = Vec::new();
            stream.read_to_end(&mut all).unwrap();
            write.join().unwrap();
            all
        });
        assert!(read.await.unwrap() == bytes(10_000_000, 3));
        echo.await.unwrap();
    }
}

/// The machine of a client is gone: the connection ends by its timers, and others are not affected.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_vanished_client_is_given_up() {
    let mut config = config();
    // With doubling from 200 ms, 3 timeouts take at most some seconds.
    config.limits.lifetimes.data_retries = 3;
    let Some(world) = World::new(true, config) else { return };
    let mut listener = world.endpoint.listen(common::PORT, &linux()).await.unwrap();
    let client = world.connect(OURS.0.into());
    let (mut stream, _) = listener.accept().await.unwrap();
    let other = world.connect(OURS.1.into());
    let echo = tokio::spawn(answer_all(listener.accept().await.unwrap().0));
    // From now on the kernel drops all packets for that address.
    world.output(Command::new("ip").args(["address", "del", "198.18.9.1/24", "dev", "tun0"]));
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let other = tokio::task::spawn_blocking(move || go_on(other, &stopped));
    let write = async {
        loop {
            if let Err(error) = tokio::io::AsyncWriteExt::write_all(&mut stream, &[7; 1000]).await {
                return error.kind();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let kind = tokio::time::timeout(Duration::from_secs(30), write).await.unwrap();
    assert_eq!(kind, ErrorKind::TimedOut);
    let status = world.endpoint.status().await.unwrap();
    let peers: Vec<_> = status.connections.iter().map(|info| info.peer.ip()).collect();
    assert_eq!(peers, [IpAddr::from(KERNEL.1)], "the other's connection alone is left");
    stop.store(true, Ordering::Relaxed);
    assert!(other.await.unwrap() > 10);
    echo.await.unwrap();
    drop(client);
}

/// Echoes all data, until there is no more.
async fn answer_all(stream: Stream) {
    let (mut reader, mut writer) = tokio::io::split(stream);
    tokio::io::copy(&mut reader, &mut writer).await.unwrap();
    tokio::io::AsyncWriteExt::shutdown(&mut writer).await.unwrap();
}

/// Sends 50 kB and reads them back, repeatedly until the stop flag; returns the number of rounds.
/// None takes long.
fn go_on(mut stream: TcpStream, stop: &AtomicBool) -> usize {
    for round in 1.. {
        let (sent, started) = (bytes(50_000, round as u64), Instant::now());
        stream.write_all(&sent).unwrap();
        let mut back = vec![0; sent.len()];
        stream.read_exact(&mut back).unwrap();
        assert!(back == sent);
        // The expected time is a hundredth of that; the rest is for a busy machine.
        assert!(started.elapsed() < Duration::from_millis(500), "{:?}", started.elapsed());
        if stop.load(Ordering::Relaxed) {
            return round;
        }
        thread::sleep(Duration::from_millis(20));
    }
    unreachable!("it is told to stop")
}
