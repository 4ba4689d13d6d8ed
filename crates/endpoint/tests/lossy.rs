//! Bytes arrive as they were written though the network loses, overtakes and repeats packets. The network
//! is the emulator's, between two sockets: no root.

mod common;

use common::{Pair, at, linux, v4};
use emulator::{Emulation, Options, port_pair};
use endpoint::{Device, Stream};
use link::{LinkConfig, QueueLimit, Reordering};
use netsim::Duplex;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use sha2::{Digest, Sha256};
use std::os::fd::{AsFd, OwnedFd};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use units::{Duration, Rate};

/// A network that loses one packet in 100, keeps one in 100 twice as long, so that others overtake it,
/// and repeats one in 100.
struct Rough {
    pair: Pair,
    _emulation: Emulation,
}

fn rough(rate: Rate, delay: Duration) -> Rough {
    let link = LinkConfig::new(rate, delay, QueueLimit::Packets(200)).unwrap();
    let link = link.with_loss(0.01).unwrap();
    let link =
        link.with_reordering(Reordering::HoldBack { probability: 0.01, extra: delay }).unwrap();
    let (near, client) = port_pair().unwrap();
    let (far, server) = port_pair().unwrap();
    let emulation = Emulation::start(near, far, Options::new(Duplex::symmetric(link))).unwrap();
    let [client, server] = [client, server].map(|end| Device::new(repeating(end), 1500).unwrap());
    Rough { pair: Pair::on(client, server), _emulation: emulation }
}

/// Puts threads before a descriptor of packets that repeat every hundredth, each way. They end when
/// either side does.
fn repeating(inner: OwnedFd) -> OwnedFd {
    let (outer, end) = port_pair().unwrap();
    let inner = emulator::Port::new(inner).unwrap();
    for (from, to) in [(outer.clone(), inner.clone()), (inner, outer)] {
        std::thread::spawn(move || {
            let mut buffer = [0; 2048];
            for n in 0_u64.. {
                let mut ready = [PollFd::new(from.as_fd(), PollFlags::POLLIN)];
                poll(&mut ready, PollTimeout::NONE).unwrap();
                let len = match from.read(&mut buffer) {
                    Ok(0) => return,
                    Ok(len) => len,
                    Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => continue,
                    Err(_) => return,
                };
                for _ in 0..=u8::from(n % 100 == 99) {
                    // What finds no room is lost, as on any network.
                    let _ = to.write(&buffer[..len]);
                }
            }
        });
    }
    end
}

/// Writes `blocks` of 64 KiB that differ from each other while reading as many; the hashes of both.
async fn exchange(stream: Stream, blocks: u64, seed: u64) -> ([u8; 32], [u8; 32]) {
    let (mut reader, mut writer) = tokio::io::split(stream);
    let write = tokio::spawn(async move {
        let mut hash = Sha256::new();
        let mut block = common::bytes(1 << 16, seed);
        for n in 0..blocks {
            block[..8].copy_from_slice(&n.to_le_bytes());
            hash.update(&block);
            writer.write_all(&block).await.unwrap();
        }
        writer.shutdown().await.unwrap();
        hash.finalize().into()
    });
    let mut hash = Sha256::new();
    let mut block = vec![0; 1 << 16];
    loop {
        match reader.read(&mut block).await.unwrap() {
            0 => break,
            n => hash.update(&block[..n]),
        }
    }
    (write.await.unwrap(), hash.finalize().into())
}

async fn both_ways((rate, delay): (Rate, Duration), blocks: u64) {
    let rough = rough(rate, delay);
    let mut listener = rough.pair.listen().await;
    let client = rough.pair.client.connect(at(v4(2).into()), &linux()).await.unwrap();
    let (server, _) = listener.accept().await.unwrap();
    let handle = server.handle();
    let client = tokio::spawn(exchange(client, blocks, 1));
    let server = tokio::spawn(exchange(server, blocks, 2));
    let ((client_wrote, client_read), (server_wrote, server_read)) =
        (client.await.unwrap(), server.await.unwrap());
    assert_eq!(client_wrote, server_read);
    assert_eq!(server_wrote, client_read);
    assert_ne!(client_wrote, server_wrote);
    // It was not a network that does nothing.
    let stats = rough.pair.client.status().await.unwrap();
    println!("{:?}", stats.counters);
    if let Some(info) = handle.info().await {
        println!("{info:?}");
        assert!(info.stats.retransmitted_segments > 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rough_network_changes_no_byte() {
    // 4 MiB each way.
    both_ways((Rate::from_mbps(100), Duration::from_millis(1)), 64).await;
}

/// `cargo test -p headstart-endpoint --release --test lossy -- --ignored`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "moves 1 GiB each way"]
async fn a_gibibyte_each_way() {
    let blocks = std::env::var("BLOCKS").map_or(16_384, |blocks| blocks.parse().unwrap());
    both_ways((Rate::from_mbps(400), Duration::from_micros(50)), blocks).await;
}
