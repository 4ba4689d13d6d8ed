//! Handmade packets for an endpoint: its answers, its drops, and their counters.

use crate::common::{PORT, config, linux, v4};
use emulator::{Port, port_pair};
use endpoint::{Device, Endpoint, EndpointConfig, EndpointCounters};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use tcp::{Flags, Segment, TcpOptions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use units::SeqNum;
use wire::{
    Echo, Malformed, Marking, Packet, TcpPacket, Trouble, parse, write, write_echo_reply,
    write_icmp_error,
};

/// An endpoint, and the other end of its device.
struct Bench {
    port: Port,
    endpoint: Endpoint,
}

impl Bench {
    fn new() -> Self {
        Self::configured(config(2))
    }

    fn configured(config: EndpointConfig) -> Self {
        let (port, descriptor) = port_pair().unwrap();
        let device = Device::new(descriptor, 1500).unwrap();
        Self { port, endpoint: Endpoint::open(device, config).unwrap() }
    }

    fn send(&self, source: SocketAddr, segment: Segment, payload: &[u8]) {
        let destination = SocketAddr::new(v4(2).into(), PORT);
        let segment = Segment { len: payload.len() as u32, ..segment };
        let packet = TcpPacket::new(source, destination, segment, &Marking::default());
        let mut bytes = vec![];
        write(&packet, payload, &mut bytes).unwrap();
        self.port.write(&bytes).unwrap();
    }

    /// Returns the next packet that the endpoint sends.
    async fn next(&self) -> Vec<u8> {
        let mut buffer = [0; 2048];
        for _ in 0..2000 {
            match self.port.read(&mut buffer) {
                Ok(len) => return buffer[..len].to_vec(),
                Err(_) => tokio::time::sleep(Duration::from_millis(1)).await,
            }
        }
        panic!("nothing was sent");
    }

    async fn next_segment(&self) -> Segment {
        match parse(&self.next().await) {
            Ok(Packet::Tcp(packet, _)) => packet.segment,
            other => panic!("{other:?}"),
        }
    }

    /// Returns the next segment for one of several peers.
    async fn next_segment_to(&self, peer: SocketAddr) -> Segment {
        loop {
            match parse(&self.next().await) {
                Ok(Packet::Tcp(packet, _)) if packet.destination == peer => return packet.segment,
                Ok(Packet::Tcp(..)) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    async fn counters(&self) -> EndpointCounters {
        self.endpoint.status().await.unwrap().counters
    }

    /// Opens a connection by hand; returns the endpoint's initial sequence number.
    async fn open(&self, source: SocketAddr) -> SeqNum {
        self.open_with(source, &[]).await
    }

    /// Opens a connection with data in the segment that ends the handshake.
    async fn open_with(&self, source: SocketAddr, data: &[u8]) -> SeqNum {
        let options = TcpOptions { mss: Some(9000), ..TcpOptions::default() };
        let syn = Segment { flags: Flags::SYN, window: 65_535, options, ..Segment::default() };
        self.send(source, syn, &[]);
        let answer = self.next_segment_to(source).await;
        assert!(answer.has(Flags::SYN.with(Flags::ACK)), "{answer:?}");
        // The device's MTU carries 1500 - 40 of the segment size that its scheme offers.
        assert_eq!((answer.ack, answer.options.mss), (SeqNum(1), Some(1460)));
        let ack = Segment { seq: SeqNum(1), ack: answer.seq + 1, flags: Flags::ACK, ..syn };
        self.send(source, Segment { options: TcpOptions::default(), ..ack }, data);
        answer.seq
    }
}

fn peer() -> SocketAddr {
    SocketAddr::new(v4(1).into(), 40_000)
}

#[tokio::test]
async fn what_is_not_taken_is_counted_by_its_reason() {
    let bench = Bench::new();
    bench.port.write(&[0x45, 0, 0]).unwrap();
    bench.port.write(&[0x00]).unwrap();
    // One packet is for another host, and one is from the endpoint's own address.
    let syn = Segment { flags: Flags::SYN, ..Segment::default() };
    let elsewhere = SocketAddr::new(v4(3).into(), PORT);
    let packet = TcpPacket::new(peer(), elsewhere, syn, &Marking::default());
    let mut bytes = vec![];
    write(&packet, &[], &mut bytes).unwrap();
    bench.port.write(&bytes).unwrap();
    bench.send(SocketAddr::new(v4(2).into(), 1234), syn, &[]);
    // The port has no listener: the reset shows that all packets were handled.
    bench.send(peer(), syn, &[]);
    assert!(bench.next_segment().await.has(Flags::RST));
    let counters = bench.counters().await;
    let of = |why: Malformed| counters.malformed[why.index()];
    assert_eq!((of(Malformed::TruncatedIp), of(Malformed::Version)), (1, 1));
    assert_eq!((of(Malformed::Land), counters.not_ours), (1, 1));
    assert_eq!((counters.packets_received, counters.segments_received), (5, 1));
}

/// RFC 792: the addresses are swapped, type is 0, and the rest is unchanged.
#[tokio::test]
async fn a_ping_is_answered() {
    let bench = Bench::new();
    let body = [0, 7, 0, 1, 1, 2, 3, 4];
    let mut ping = vec![];
    let backwards = Echo { source: v4(2).into(), destination: v4(1).into(), body: &body };
    write_echo_reply(&backwards, &mut ping).unwrap();
    // A reply becomes a request by its type, 8; that takes 0x0800 off the complement of the sum.
    ping[20] = 8;
    let sum = u16::from_be_bytes([ping[22], ping[23]]);
    let (sum, borrow) = sum.overflowing_sub(0x0800);
    ping[22..24].copy_from_slice(&(sum - u16::from(borrow)).to_be_bytes());
    bench.port.write(&ping).unwrap();
    let mut expected = vec![];
    let reply = Echo { source: v4(1).into(), destination: v4(2).into(), body: &body };
    write_echo_reply(&reply, &mut expected).unwrap();
    assert_eq!(bench.next().await, expected);
    assert_eq!(bench.counters().await.echoes, 1);
}

/// A router on the way carries less than the device. Segments become shorter (RFC 1191), but only
/// if its message quotes data in flight (RFC 5927).
#[tokio::test]
async fn a_router_that_carries_less_is_heard() {
    let bench = Bench::new();
    let mut listener = bench.endpoint.listen(PORT, &linux()).await.unwrap();
    bench.open(peer()).await;
    let (mut stream, _) = listener.accept().await.unwrap();
    stream.write_all(&[7; 3000]).await.unwrap();
    let long = bench.next().await;
    assert_eq!(long.len(), 1500);
    let router: IpAddr = v4(254).into();
    let mut error = vec![];
    let mut foreign = long.clone();
    // The changed source address makes it a quote of a packet that was never sent.
    foreign[15] = 77;
    write_icmp_error(router, &foreign, Trouble::TooBig { mtu: 1000 }, &mut error).unwrap();
    bench.port.write(&error).unwrap();
    error.clear();
    write_icmp_error(router, &long, Trouble::TooBig { mtu: 1000 }, &mut error).unwrap();
    bench.port.write(&error).unwrap();
    let mut lengths = vec![];
    while lengths.iter().filter(|len| **len <= 1000).count() < 3 {
        lengths.push(bench.next().await.len());
    }
    assert!(lengths.contains(&1000), "{lengths:?}");
    let counters = bench.counters().await;
    assert_eq!((counters.icmp_errors, counters.icmp_foreign), (1, 1));
}

/// The ACK that ends the handshake is lost, or never sent, and data arrives instead.
#[tokio::test]
async fn data_may_end_the_handshake() {
    let bench = Bench::new();
    let mut listener = bench.endpoint.listen(PORT, &linux()).await.unwrap();
    bench.open_with(peer(), b"at once").await;
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut read = [0; 7];
    let reading = stream.read_exact(&mut read);
    tokio::time::timeout(Duration::from_secs(5), reading).await.unwrap().unwrap();
    assert_eq!(&read, b"at once");
}

/// Bytes that the core refuses must not get into the stream, at any claimed position. They are in a
/// segment outside of the window, one that overlaps others with different content, and one from
/// another host.
#[tokio::test]
async fn forged_bytes_do_not_get_into_the_stream() {
    let bench = Bench::new();
    let mut listener = bench.endpoint.listen(PORT, &linux()).await.unwrap();
    let theirs = bench.open(peer()).await;
    let (mut stream, _) = listener.accept().await.unwrap();
    let data = |at: u32| data_at(at, theirs);
    // "6789" is early. An overlap of it adds nothing new, and data outside of the window has no
    // position.
    bench.send(peer(), data(7), b"6789");
    bench.send(peer(), data(7), b"XXXX");
    bench.send(peer(), data(0x7000_0000), b"YYYY");
    bench.send(SocketAddr::new(v4(1).into(), 40_001), data(1), b"ZZZZ");
    bench.send(peer(), data(1), b"01234");
    // It overlaps the stored data on both sides, with the right byte in its gap only.
    bench.send(peer(), data(4), b"QQ5QQQQ");
    let mut read = [0; 10];
    let reading = stream.read_exact(&mut read);
    tokio::time::timeout(Duration::from_secs(5), reading).await.unwrap().unwrap();
    assert_eq!(&read, b"0123456789");
}

/// Returns data of the peer from number `at` on, which acknowledges the SYN-ACK with the number
/// `theirs`.
fn data_at(at: u32, theirs: SeqNum) -> Segment {
    let (seq, ack) = (SeqNum(at), theirs + 1);
    Segment { seq, ack, flags: Flags::ACK, window: 65_535, ..Segment::default() }
}

/// A byte with the number of the peer's SYN is below the stream. The bytes after it are the stream,
/// whenever the segment arrives, and nothing else is read.
#[tokio::test]
async fn a_byte_with_the_number_of_the_syn_is_not_part_of_the_stream() {
    for comes_early in [None, Some(b"9ab")] {
        let bench = Bench::new();
        let mut listener = bench.endpoint.listen(PORT, &linux()).await.unwrap();
        let theirs = bench.open(peer()).await;
        let data = |at: u32| data_at(at, theirs);
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut expected = b"012345678".to_vec();
        if let Some(early) = comes_early {
            // The SYN has number 0, so the stream's tenth byte has 10.
            bench.send(peer(), data(10), early);
            expected.extend(early);
        }
        bench.send(peer(), data(0), b"!012345678");
        let mut read = vec![0; expected.len()];
        let reading = stream.read_exact(&mut read);
        tokio::time::timeout(Duration::from_secs(5), reading).await.unwrap().unwrap();
        assert_eq!(read, expected, "{comes_early:?}");
    }
}

/// One peer asks on many connections and acknowledges nothing, until one of its connections is
/// reset. Another peer is served: a megabyte has 512 kB for any peer, and half of the rest is a
/// second peer's. A stream begins with 256 kB.
#[tokio::test]
async fn a_peer_that_takes_nothing_keeps_no_other_out() {
    let bench = Bench::configured(EndpointConfig { buffers: 1 << 20, ..config(2) });
    let mut listener = bench.endpoint.listen(PORT, &linux()).await.unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                stream.read_u8().await?;
                stream.write_all(&[7; 1 << 20]).await
            });
        }
    });
    let is_served = async |source: SocketAddr| {
        bench.open_with(source, b"?").await;
        loop {
            match bench.next_segment_to(source).await {
                reset if reset.has(Flags::RST) => return false,
                data if data.len > 0 => return true,
                _ => {}
            }
        }
    };
    let mut taken = 0;
    while is_served(SocketAddr::new(v4(1).into(), 40_000 + taken)).await {
        taken += 1;
        assert!(taken < 20, "the buffers are never full");
    }
    assert!(is_served(SocketAddr::new(v4(3).into(), 40_000)).await);
    let counters = bench.counters().await;
    assert_eq!((counters.accepted, counters.buffers_full), (u64::from(taken) + 1, 1));
}
