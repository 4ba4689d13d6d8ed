//! Limits of an endpoint's resources with many clients at once: buffers of all streams together,
//! and half-open connections.

use crate::common::{self, Pair, at, bytes, config, v4};
use emulator::{Port, port_pair};
use endpoint::{Device, EndpointConfig, EndpointStatus, Listener, Stream};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::AsFd;
use std::thread;
use std::time::Duration;
use tcp::{Flags, Segment, TcpOptions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{sleep, timeout};
use units::SeqNum;
use wire::{Marking, TcpPacket, write};

const TEST_TIMEOUT: Duration = Duration::from_secs(20);
/// Size of each client's answer, bytes: more than all buffers on its way hold.
const ANSWER: usize = 2_000_000;
const QUESTION: &[u8] = b"all of it";

async fn ask(pair: &Pair) -> Stream {
    let mut stream = pair.connect().await;
    // A refused client may have got its reset already.
    let _ = stream.write_all(QUESTION).await;
    stream
}

/// Answers every client.
fn serve(mut listener: Listener) {
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                // A reset connection gets no answer.
                stream.read_exact(&mut [0; QUESTION.len()]).await?;
                stream.write_all(&bytes(ANSWER, 1)).await?;
                stream.shutdown().await
            });
        }
    });
}

async fn read_all(stream: &mut Stream) -> std::io::Result<Vec<u8>> {
    let mut all = Vec::new();
    timeout(TEST_TIMEOUT, stream.read_to_end(&mut all)).await.expect("nothing hangs")?;
    Ok(all)
}

async fn status(pair: &Pair) -> EndpointStatus {
    pair.server.status().await.unwrap()
}

/// Waits until the server's status is `wanted`.
async fn until(pair: &Pair, wanted: impl Fn(&EndpointStatus) -> bool) {
    let comes = async {
        while !wanted(&status(pair).await) {
            sleep(Duration::from_millis(1)).await;
        }
    };
    timeout(TEST_TIMEOUT, comes).await.expect("the status never is what is waited for");
}

/// Connections of one client, which does not read, fill the half of a megabyte of buffers that one
/// peer gets. Later ones are reset, show in `buffers_full`, and take nothing. The earlier ones get
/// every byte, and once they have it new ones are accepted again.
#[tokio::test]
async fn who_comes_when_all_buffers_are_taken_is_refused() {
    const LIMIT: usize = 1 << 20;
    const HALF: usize = LIMIT / 2;
    let (a, b) = Device::pair(1500).unwrap();
    let pair = Pair::configured(
        (a, config(1)),
        (b, EndpointConfig { buffers: LIMIT, ..common::config(2) }),
    );
    serve(pair.listen().await);
    let mut early = Vec::new();
    // The last is refused: those before it may still fill their buffers when its SYN arrives.
    while status(&pair).await.counters.buffers_full == 0 {
        assert!(early.len() < 50, "the buffers are never full");
        early.push(ask(&pair).await);
        until(&pair, |status| {
            let counters = &status.counters;
            counters.accepted + counters.buffers_full == early.len() as u64
        })
        .await;
        sleep(Duration::from_millis(50)).await;
    }
    let mut last = early.pop().unwrap();
    assert_eq!(read_all(&mut last).await.unwrap_err().kind(), ErrorKind::ConnectionReset);
    for refused in 2..=30 {
        let mut late = ask(&pair).await;
        assert_eq!(read_all(&mut late).await.unwrap_err().kind(), ErrorKind::ConnectionReset);
        let status = status(&pair).await;
        assert_eq!(status.counters.buffers_full, refused);
        // The last accepted one found less than all taken, and has a first buffer.
        assert!(
            status.buffers <= HALF + EndpointConfig::FIRST_SEND_BUFFER as usize,
            "{}",
            status.buffers
        );
    }
    for stream in &mut early {
        assert!(read_all(stream).await.unwrap() == bytes(ANSWER, 1));
    }
    // The server may be the last to learn that a client has everything.
    until(&pair, |status| status.buffers < HALF).await;
    assert!(read_all(&mut ask(&pair).await).await.unwrap() == bytes(ANSWER, 1));
    assert_eq!(status(&pair).await.counters.accepted, early.len() as u64 + 1);
}

/// Forwards packets, until either side is gone.
fn hand_on(from: Port, to: Port) {
    thread::spawn(move || {
        let mut buffer = [0; 2048];
        loop {
            let mut ready = [PollFd::new(from.as_fd(), PollFlags::POLLIN)];
            poll(&mut ready, PollTimeout::NONE).unwrap();
            match from.read(&mut buffer) {
                Ok(0) => return,
                // A packet without room is lost, as on any network.
                Ok(len) => drop(to.write(&buffer[..len])),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => return,
            }
        }
    });
}

/// Returns the SYN of the `n`-th stranger.
fn syn(n: u32) -> Vec<u8> {
    // Knuth's multiplier spreads them over 11.0.0.0/8.
    let scattered = n.wrapping_mul(2_654_435_761);
    let source = Ipv4Addr::from(0x0b00_0000 | scattered >> 8);
    let source = SocketAddr::new(source.into(), 1024 + (n % 60_000) as u16);
    let options = TcpOptions { mss: Some(1460), ..TcpOptions::default() };
    let segment = Segment {
        seq: SeqNum(scattered),
        flags: Flags::SYN,
        window: 65_535,
        options,
        ..Segment::default()
    };
    let packet = TcpPacket::new(source, at(v4(2).into()), segment, &Marking::default());
    let mut bytes = Vec::new();
    write(&packet, &[], &mut bytes).unwrap();
    bytes
}

/// Strangers open connections and never answer: a hundred are remembered and the rest get cookies,
/// which take no memory. A client between them is served by a cookie, too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_strangers_keeps_no_client_out() {
    const HALF_OPEN: u64 = 100;
    const STRANGERS: u32 = 20_000;
    let (near, client) = port_pair().unwrap();
    let (far, server) = port_pair().unwrap();
    let mut of_server = config(2);
    of_server.limits.half_open = HALF_OPEN as usize;
    let [client, server] = [client, server].map(|end| Device::new(end, 1500).unwrap());
    let pair = Pair::configured((client, config(1)), (server, of_server));
    hand_on(near.clone(), far.clone());
    hand_on(far.clone(), near);
    serve(pair.listen().await);
    let (wait, waited) = tokio::sync::oneshot::channel();
    let flood = tokio::task::spawn_blocking(move || {
        let mut wait = Some(wait);
        for n in 0..STRANGERS {
            // The sender waits for a full queue, so that all of them arrive.
            while far.write(&syn(n)).is_err() {
                thread::sleep(Duration::from_micros(200));
            }
            if n == STRANGERS / 4 {
                wait.take().unwrap().send(()).unwrap();
            }
            if n % 10 == 0 {
                // The pause lets others find room now and then.
                thread::sleep(Duration::from_micros(200));
            }
        }
    });
    waited.await.unwrap();
    let answer = read_all(&mut ask(&pair).await).await.unwrap();
    flood.await.unwrap();
    assert!(answer == bytes(ANSWER, 1));
    // All but a hundred found no slot; some of these got no cookie either, because too many cookies
    // waited to be sent.
    let all_have_come = async {
        while status(&pair).await.tcp.backlog_full_cookies < u64::from(STRANGERS) - HALF_OPEN {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(TEST_TIMEOUT, all_have_come).await.expect("no more than a hundred are remembered");
    let status = status(&pair).await;
    assert!(status.tcp.cookies_received >= 1, "{:?}", status.tcp);
    assert!(status.tcp.cookies_sent > u64::from(STRANGERS / 2), "{:?}", status.tcp);
    assert_eq!(status.counters.accepted, 1);
    assert!(status.connections.len() <= 1, "{:?}", status.connections);
    let source = at(v4(1).into());
    assert!(status.connections.iter().all(|info| info.peer.ip() == source.ip()));
}
