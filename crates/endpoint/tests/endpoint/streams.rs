//! Streams between two endpoints back to back. Nothing is lost on the way, so the tests show the
//! guarantees of streams, not TCP's repairs.

use crate::common::{self, Pair, at, bytes, linux, v4, v6};
use endpoint::Device;
use std::io::ErrorKind;
use std::time::Duration;
use tcp::{Scheme, State};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

const TEST_TIMEOUT: Duration = Duration::from_secs(10);

async fn read_all(stream: &mut (impl AsyncReadExt + Unpin)) -> std::io::Result<Vec<u8>> {
    let mut all = Vec::new();
    timeout(TEST_TIMEOUT, stream.read_to_end(&mut all)).await.expect("nothing hangs")?;
    Ok(all)
}

#[tokio::test]
async fn bytes_arrive_as_they_were_written_both_ways_at_once() {
    let pair = Pair::new();
    let (client, server) = pair.connected().await;
    let (up, down) = (bytes(3_000_017, 1), bytes(2_000_003, 2));
    let exchange = |stream, ours: Vec<u8>| async move {
        let (mut reader, mut writer) = tokio::io::split(stream);
        let write = async {
            writer.write_all(&ours).await.unwrap();
            writer.shutdown().await.unwrap();
        };
        let (read, ()) = tokio::join!(read_all(&mut reader), write);
        read.unwrap()
    };
    let (from_server, from_client) =
        tokio::join!(exchange(client, up.clone()), exchange(server, down.clone()));
    assert!(from_server == down, "{} bytes of {}", from_server.len(), down.len());
    assert!(from_client == up, "{} bytes of {}", from_client.len(), up.len());
}

#[tokio::test]
async fn ipv6_is_like_ipv4() {
    let pair = Pair::new();
    let mut listener = pair.listen().await;
    let mut client = pair.client.connect(at(v6(2).into()), &linux()).await.unwrap();
    let (mut server, peer) = listener.accept().await.unwrap();
    assert_eq!((peer.ip(), server.local_addr()), (v6(1).into(), at(v6(2).into())));
    let sent = bytes(200_000, 3);
    server.write_all(&sent).await.unwrap();
    drop(server);
    assert!(read_all(&mut client).await.unwrap() == sent);
    // The size is 1500 - 40 - 20, and 12 of timestamps: the device's limit, not the scheme's.
    let info = client.handle().info().await.unwrap();
    assert!(info.mss <= 1440, "{}", info.mss);
}

#[tokio::test]
async fn the_other_half_goes_on_when_one_has_closed() {
    let pair = Pair::new();
    let (mut client, mut server) = pair.connected().await;
    client.write_all(b"question").await.unwrap();
    client.shutdown().await.unwrap();
    assert_eq!(read_all(&mut server).await.unwrap(), b"question");
    let answer = bytes(100_000, 4);
    server.write_all(&answer).await.unwrap();
    server.shutdown().await.unwrap();
    assert!(read_all(&mut client).await.unwrap() == answer);
    let refused = client.write_all(b"more").await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::BrokenPipe);
}

#[tokio::test]
async fn an_abort_resets() {
    let pair = Pair::new();
    let (client, mut server) = pair.connected().await;
    client.handle().abort();
    let error = read_all(&mut server).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    let error = server.write_all(b"too late").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
}

/// RFC 1122 §4.2.2.13: an end that closes with unread data notifies the peer that its data was
/// lost.
#[tokio::test]
async fn dropping_with_something_unread_resets_and_otherwise_closes() {
    let pair = Pair::new();
    let (client, mut server) = pair.connected().await;
    drop(client);
    assert_eq!(read_all(&mut server).await.unwrap(), b"");
    drop(server);

    let mut listener = pair.server.listen(81, &linux()).await.unwrap();
    let to = (v4(2), 81).into();
    let client = pair.client.connect(to, &linux()).await.unwrap();
    let (mut server, _) = listener.accept().await.unwrap();
    server.write_all(b"unread").await.unwrap();
    let handle = client.handle();
    while handle.info().await.unwrap().bytes_received < 6 {
        tokio::task::yield_now().await;
    }
    drop(client);
    assert_eq!(read_all(&mut server).await.unwrap_err().kind(), ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn what_was_written_arrives_though_its_writer_has_gone() {
    let pair = Pair::new();
    let (mut client, mut server) = pair.connected().await;
    let sent = bytes(200_000, 5);
    client.write_all(&sent).await.unwrap();
    drop(client);
    assert!(read_all(&mut server).await.unwrap() == sent);
}

#[tokio::test]
async fn where_nobody_listens_connections_are_refused() {
    let pair = Pair::new();
    let error = pair.client.connect((v4(2), 7).into(), &linux()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    let error = pair.client.connect((v4(2), 0).into(), &linux()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AddrNotAvailable);
    let listener = pair.listen().await;
    let twice = pair.server.listen(common::PORT, &linux()).await.unwrap_err();
    assert_eq!(twice.kind(), ErrorKind::AddrInUse);
    drop(listener);
    // An answer shows that the driver has noticed it, too.
    pair.server.status().await.unwrap();
    let error = pair.client.connect(at(v4(2).into()), &linux()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
}

/// The receiver's window and the sender's buffer stop a writer whose peer does not read. Nothing is
/// lost, and others are not delayed.
#[tokio::test]
async fn a_reader_who_does_not_read_stops_only_his_writer() {
    let (a, b) = Device::pair(1500).unwrap();
    let small = endpoint::EndpointConfig { send_buffer: 100_000, ..common::config(2) };
    let pair = Pair::configured((a, common::config(1)), (b, small));
    let mut listener = pair.listen().await;
    let (mut slow, mut other) = (pair.connect().await, pair.connect().await);
    let (mut to_slow, _) = listener.accept().await.unwrap();
    let (mut to_other, _) = listener.accept().await.unwrap();
    let sent = bytes(20_000_000, 6);
    let mut left = &sent[..];
    while let Ok(n) = timeout(Duration::from_millis(300), to_slow.write(left)).await {
        left = &left[n.unwrap()..];
    }
    // The window is at most 6 MB, and our buffer 100 kB.
    let taken = sent.len() - left.len();
    assert!((100_000..6_400_000).contains(&taken), "{taken}");
    to_other.write_all(b"still there").await.unwrap();
    let mut read = [0; 11];
    timeout(TEST_TIMEOUT, other.read_exact(&mut read)).await.unwrap().unwrap();
    assert_eq!(&read, b"still there");
    let rest = async {
        to_slow.write_all(left).await.unwrap();
        to_slow.shutdown().await.unwrap();
    };
    let (all, ()) = tokio::join!(read_all(&mut slow), rest);
    assert!(all.unwrap() == sent);
}

#[tokio::test]
async fn hundreds_of_connections_do_not_mix() {
    let pair = Pair::new();
    let mut listener = pair.listen().await;
    let echo = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut reader, mut writer) = tokio::io::split(stream);
                tokio::io::copy(&mut reader, &mut writer).await.unwrap();
                writer.shutdown().await.unwrap();
            });
        }
    });
    let clients = (0..300).map(|n| {
        let client = pair.client.clone();
        tokio::spawn(async move {
            let stream = client.connect(at(v4(2).into()), &linux()).await.unwrap();
            let sent = bytes(5_000 + 31 * n as usize, n);
            let (mut reader, mut writer) = tokio::io::split(stream);
            let write = async {
                writer.write_all(&sent).await.unwrap();
                writer.shutdown().await.unwrap();
            };
            let (read, ()) = tokio::join!(read_all(&mut reader), write);
            assert!(read.unwrap() == sent);
        })
    });
    for client in clients.collect::<Vec<_>>() {
        client.await.unwrap();
    }
    let status = pair.client.status().await.unwrap();
    assert_eq!((status.counters.connected, status.counters.failed), (300, 0));
    assert_eq!(status.counters.malformed.iter().sum::<u64>(), 0);
    echo.abort();
}

#[tokio::test]
async fn who_finds_no_place_in_the_queue_is_reset() {
    let (a, b) = Device::pair(1500).unwrap();
    let server = endpoint::EndpointConfig { backlog: 2, ..common::config(2) };
    let pair = Pair::configured((a, common::config(1)), (b, server));
    let _listener = pair.listen().await;
    let mut streams = Vec::new();
    for _ in 0..3 {
        streams.push(pair.connect().await);
    }
    let error = read_all(&mut streams[2]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    assert_eq!(pair.server.status().await.unwrap().counters.backlog_full, 1);
    assert_eq!(streams[0].handle().info().await.unwrap().state, State::Established);
}

#[tokio::test]
async fn a_handle_tells_how_a_connection_stands() {
    let pair = Pair::new();
    let (mut client, mut server) = pair.connected().await;
    let handle = server.handle();
    handle.set_size(200_000);
    server.write_all(&bytes(200_000, 7)).await.unwrap();
    let mut read = vec![0; 200_000];
    client.read_exact(&mut read).await.unwrap();
    client.write_all(b"thanks").await.unwrap();
    server.read_exact(&mut [0; 6]).await.unwrap();
    let info = handle.info().await.unwrap();
    assert_eq!((info.state, info.scheme.as_str()), (State::Established, "linux"));
    assert_eq!((info.bytes_written, info.bytes_acked, info.bytes_received), (200_000, 200_000, 6));
    assert_eq!((info.bytes_unsent, info.path.bytes_in_flight), (0, 0));
    assert!(info.path.cwnd >= 10 * info.mss && info.mss <= 1460, "{info:?}");
    let path = &info.path;
    assert!(path.min_rtt <= path.srtt && path.srtt < units::Duration::from_secs(1), "{path:?}");
    // A busy machine may cause a probe or a timeout during a pause; ACKs never report a loss.
    assert_eq!(info.stats.fast_retransmits, 0);
    drop((client, server));
    pair.server.close().await;
    assert_eq!(handle.info().await, None);
}

/// A server reads a request and selects the scheme of its answer. Every byte is delivered, the
/// handle shows the scheme, and once data was sent it is too late.
#[tokio::test]
async fn a_handle_changes_the_scheme_until_something_is_sent() {
    let pair = Pair::new();
    let (mut client, mut server) = pair.connected().await;
    let handle = server.handle();
    client.write_all(b"request").await.unwrap();
    server.read_exact(&mut [0; 7]).await.unwrap();
    let wide = Scheme::parse("linux+iw=32").unwrap();
    handle.set_scheme(&wide).await.unwrap();
    let info = handle.info().await.unwrap();
    assert_eq!((info.scheme.as_str(), info.path.cwnd / info.mss), ("linux+iw=32", 32));
    let sent = bytes(300_000, 10);
    // Both run at once: a writer waits for a reader whose window is shut.
    let mut read = vec![0; sent.len()];
    let (written, all) = tokio::join!(
        timeout(TEST_TIMEOUT, server.write_all(&sent)),
        timeout(TEST_TIMEOUT, client.read_exact(&mut read)),
    );
    written.unwrap().unwrap();
    all.unwrap().unwrap();
    assert!(read == sent);
    let late = handle.set_scheme(&linux()).await.unwrap_err();
    assert_eq!(late.kind(), ErrorKind::InvalidInput, "{late}");
    assert_eq!(handle.info().await.unwrap().scheme, "linux+iw=32");
    drop((client, server));
    pair.server.close().await;
    let gone = handle.set_scheme(&linux()).await.unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::NotConnected, "{gone}");
}

/// A caller that waits for low water is not woken while the reader's window is shut, and then as
/// soon as less is left unsent. Data on its way to the reader does not count.
#[tokio::test]
async fn low_water_is_told_when_it_is_reached() {
    const LOW: u64 = 50_000;
    let pair = Pair::new();
    let (mut client, mut server) = pair.connected().await;
    let handle = server.handle();
    assert_eq!(handle.unsent_below(1).await, Some(0), "nothing was written");
    let mut written = 0;
    let chunk = bytes(1 << 16, 9);
    while let Ok(n) = timeout(Duration::from_millis(300), server.write(&chunk)).await {
        written += n.unwrap();
    }
    // The writer waits, so its buffer is full; the reader's window is, too.
    let early = timeout(Duration::from_millis(100), handle.unsent_below(LOW)).await;
    assert!(early.is_err(), "{early:?} of {written}");
    let mut read = vec![0; written];
    let (unsent, all) = tokio::join!(
        timeout(TEST_TIMEOUT, handle.unsent_below(LOW)),
        timeout(TEST_TIMEOUT, client.read_exact(&mut read)),
    );
    assert!(unsent.unwrap().unwrap() < LOW);
    all.unwrap().unwrap();
    let (ended, ()) = tokio::join!(handle.unsent_below(0), async { client.handle().abort() });
    assert_eq!(ended, None, "nobody waits for what is over");
}

#[tokio::test]
async fn an_aborted_endpoint_resets_all_its_connections() {
    let pair = Pair::new();
    let (mut client, mut server) = pair.connected().await;
    server.write_all(&bytes(200_000, 8)).await.unwrap();
    timeout(TEST_TIMEOUT, pair.server.clone().abort()).await.expect("nobody is waited for");
    assert_eq!(read_all(&mut client).await.unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert!(pair.server.status().await.is_err(), "it is gone");
}

#[tokio::test]
async fn a_closed_endpoint_takes_leave() {
    let pair = Pair::new();
    let (mut client, mut server) = pair.connected().await;
    let sent = bytes(200_000, 8);
    server.write_all(&sent).await.unwrap();
    drop(server);
    let close = pair.server.close();
    let (all, ()) = tokio::join!(read_all(&mut client), close);
    assert!(all.unwrap() == sent);
}

/// Three connections to one host, with a scheme that shares a path, are on one path. Its number is
/// the lowest of theirs, also when the first has gone. A connection of a scheme that shares none
/// has a path for itself.
#[tokio::test]
async fn connections_tell_their_path() {
    let pair = Pair::new();
    let shared = Scheme::parse("etcp").unwrap();
    let mut listener = pair.server.listen(common::PORT, &shared).await.unwrap();
    let mut streams = Vec::new();
    for scheme in [&linux(), &shared, &shared, &shared] {
        let client = pair.client.connect(at(v4(2).into()), scheme).await.unwrap();
        streams.push((client, listener.accept().await.unwrap()));
    }
    let paths = async || {
        let status = pair.client.status().await.unwrap();
        let path = |info: &endpoint::ConnectionInfo| (info.path.number, info.path.members);
        status.connections.iter().map(path).collect::<Vec<_>>()
    };
    assert_eq!(paths().await, [(0, 0), (1, 3), (1, 3), (1, 3)]);
    streams[1].0.handle().abort();
    timeout(TEST_TIMEOUT, async { while paths().await.len() > 3 {} }).await.expect("it ends");
    assert_eq!(paths().await, [(0, 0), (2, 2), (2, 2)]);
}
