//! Bytes are delivered as written though the network loses, reorders and duplicates packets. The
//! network is the emulator's, between two sockets: no root.

use crate::common::order::Overtaken;
use crate::common::{self, Pair, at, linux, v4};
use emulator::{Emulation, EmulationOptions, EmulationRecording, Files, LogFormat, port_pair};
use endpoint::{Device, Stream};
use link::{Duplex, LinkConfig, QueueLimit, Reordering};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use sha2::{Digest, Sha256};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use units::{Duration, Rate};

/// A network that loses one packet in 100, delays one in 100, so that others overtake it, and
/// duplicates one in 100.
struct Rough {
    pair: Pair,
    emulation: Emulation,
    recording: EmulationRecording,
    overtaken: Overtaken,
    /// Number of packets that were duplicated, either way.
    repeated: Arc<AtomicU64>,
}

/// The number of packets of either way with each effect.
#[derive(Debug)]
struct Done {
    packets: u64,
    lost: u64,
    /// Number of packets overtaken by any other, and by more than the three of a reordering
    /// threshold (RFC 5681 §3.2).
    overtaken: [u64; 2],
    repeated: u64,
}

/// Creates the network; `extra` is the additional delay of a delayed packet.
fn rough(rate: Rate, delay: Duration, extra: Duration) -> Rough {
    let link = LinkConfig::new(rate, delay, QueueLimit::Packets(200)).unwrap();
    let link = link.with_loss(0.01).unwrap();
    let link = link.with_reordering(Reordering::HoldBack { probability: 0.01, extra }).unwrap();
    let (near, client) = port_pair().unwrap();
    let (far, server) = port_pair().unwrap();
    let overtaken = Overtaken::default();
    let log = Some((LogFormat::Csv, Box::new(overtaken.clone()) as emulator::Sink));
    let (recording, recorders) =
        EmulationRecording::begin(Files { log, ..Files::default() }).unwrap();
    let options = EmulationOptions {
        recorders: Some(recorders),
        ..EmulationOptions::new(Duplex::symmetric(link))
    };
    let emulation = Emulation::start(near, far, options).unwrap();
    let repeated = Arc::default();
    let [client, server] =
        [client, server].map(|end| Device::new(repeating(end, &repeated), 1500).unwrap());
    Rough { pair: Pair::on(client, server), emulation, recording, overtaken, repeated }
}

impl Rough {
    /// Stops the network; returns its effects.
    fn stop(self) -> Done {
        let report = self.emulation.stop();
        // Some notes may have been missed on a busy machine: then the count is below the number
        // overtaken.
        self.recording.finish().unwrap();
        let both = [&report.down.totals.link, &report.up.totals.link];
        Done {
            packets: both.map(|link| link.taken_packets).iter().sum(),
            lost: both.map(|link| link.lost_packets).iter().sum(),
            overtaken: [1, 4].map(|least| self.overtaken.by(least)),
            repeated: self.repeated.load(Ordering::Relaxed),
        }
    }
}

/// Puts threads before a descriptor of packets. They duplicate every hundredth packet, each way,
/// and count that. They end when either side does.
fn repeating(inner: OwnedFd, repeated: &Arc<AtomicU64>) -> OwnedFd {
    let (outer, end) = port_pair().unwrap();
    let inner = emulator::Port::new(inner).unwrap();
    for (from, to) in [(outer.clone(), inner.clone()), (inner, outer)] {
        let repeated = Arc::clone(repeated);
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
                // A packet without room is lost, as on any network.
                let arrived = to.write(&buffer[..len]).is_ok();
                if n % 100 == 99 && to.write(&buffer[..len]).is_ok() && arrived {
                    repeated.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
    }
    end
}

/// Writes `blocks` of 64 KiB that differ from each other while reading as many; returns the hashes
/// of both.
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

async fn both_ways(rate: Rate, delay: Duration, extra: Duration, blocks: u64) {
    let rough = rough(rate, delay, extra);
    let mut listener = rough.pair.listen().await;
    let client = rough.pair.client.connect(at(v4(2).into()), &linux()).await.unwrap();
    let (server, _) = listener.accept().await.unwrap();
    let client = tokio::spawn(exchange(client, blocks, 1));
    let server = tokio::spawn(exchange(server, blocks, 2));
    let ((client_wrote, client_read), (server_wrote, server_read)) =
        (client.await.unwrap(), server.await.unwrap());
    assert_eq!(client_wrote, server_read);
    assert_eq!(server_wrote, client_read);
    assert_ne!(client_wrote, server_wrote);
    // The network had an effect.
    for end in [&rough.pair.client, &rough.pair.server] {
        println!("{:?}", end.status().await.unwrap().counters);
    }
    let done = rough.stop();
    println!("{done:?}");
    let Done { packets, lost, overtaken: [_, beyond], repeated } = done;
    // There is data in segments of 1448 bytes both ways, at least.
    assert!(packets > 2 * blocks * ((1 << 16) / 1448), "{packets}");
    // One in 100 is lost each way, and one is duplicated at either end of the link: among thousands
    // the count is neither half nor twice as many. The number of delayed packets that are overtaken
    // depends on how much there is to send meanwhile.
    let hundredth = packets / 100;
    for (what, n, asked) in [("lost", lost, hundredth), ("repeated", repeated, 2 * hundredth)] {
        assert!((asked / 2..=2 * asked).contains(&n), "{what}: {n} of {packets}");
    }
    assert!((hundredth / 10..=2 * hundredth).contains(&beyond), "overtaken: {beyond} of {packets}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rough_network_changes_no_byte() {
    // 4 MiB are sent each way, and a millisecond is eight full packets.
    let millisecond = Duration::from_millis(1);
    both_ways(Rate::from_mbps(100), millisecond, millisecond, 64).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "moves 1 GiB each way: make test-slow"]
async fn a_gibibyte_each_way() {
    let blocks = std::env::var("BLOCKS").map_or(16_384, |blocks| blocks.parse().unwrap());
    // 300 us are ten full packets.
    let (delay, extra) = (Duration::from_micros(50), Duration::from_micros(300));
    both_ways(Rate::from_mbps(400), delay, extra, blocks).await;
}
