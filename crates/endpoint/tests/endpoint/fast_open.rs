//! TCP Fast Open (RFC 7413) between the endpoint and the kernel, in both roles. The tests need root
//! and TUN devices; they report a skip and pass without them.

use crate::common;
use crate::common::world::{KERNEL, OURS, World, config};
use emulator::Namespace;
use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, SockaddrIn, connect, setsockopt, socket, sockopt,
};
use std::io::{Read, Write};
use std::net::{SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::time::Duration;
use tcp::Scheme;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const REQUEST: &[u8; 100] = &[b'q'; 100];
const ANSWER: &[u8; 2000] = &[b'a'; 2000];

fn scheme() -> Scheme {
    Scheme::parse("linux+tfo=on").unwrap()
}

/// Returns one of the kernel's counters, of this namespace (`nstat`).
fn kernel_counter(namespace: &Namespace, name: &str) -> u64 {
    let text = namespace.run(|| std::fs::read_to_string("/proc/thread-self/net/netstat"));
    let text = text.unwrap().unwrap();
    let mut lines = text.lines().filter(|line| line.starts_with("TcpExt:"));
    let (names, values) = (lines.next().unwrap(), lines.next().unwrap());
    let mut pairs = names.split_whitespace().zip(values.split_whitespace());
    pairs.find(|(known, _)| *known == name).unwrap().1.parse().unwrap()
}

/// Asks by `TCP_FASTOPEN_CONNECT`: the request is sent with the SYN if there is a cookie.
fn ask(server: SocketAddrV4) {
    let flags = SockFlag::SOCK_CLOEXEC;
    let socket = socket(AddressFamily::Inet, SockType::Stream, flags, None).unwrap();
    setsockopt(&socket, sockopt::TcpFastOpenConnect, &true).unwrap();
    connect(socket.as_raw_fd(), &SockaddrIn::from(server)).unwrap();
    let mut stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(REQUEST).unwrap();
    let mut answer = vec![];
    stream.read_to_end(&mut answer).unwrap();
    assert!(answer == ANSWER);
}

/// The first visit asks for a cookie, the second and the third send it, and their data with it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kernel_client_brings_its_cookie() {
    let Some(world) = World::new(true, config()) else { return };
    world.namespace.set_sysctl("net.ipv4.tcp_fastopen", "1").unwrap();
    let mut listener = world.endpoint.listen(common::PORT, &scheme()).await.unwrap();
    let server = tokio::spawn(async move {
        for _ in 0..3 {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.read_exact(&mut [0; REQUEST.len()]).await.unwrap();
            stream.write_all(ANSWER).await.unwrap();
            stream.shutdown().await.unwrap();
        }
    });
    let namespace = world.namespace.clone();
    let visits = tokio::task::spawn_blocking(move || {
        let to = SocketAddrV4::new(OURS.0, common::PORT);
        namespace.run(|| (0..3).for_each(|_| ask(to))).unwrap();
    });
    visits.await.unwrap();
    server.await.unwrap();
    let counters = world.endpoint.status().await.unwrap().tcp;
    assert_eq!((counters.fast_open_cookie_requests, counters.fast_open_passive), (1, 2));
    assert_eq!(counters.fast_open_passive_fail, 0);
    // The kernel agrees that its data was accepted.
    assert_eq!(kernel_counter(&world.namespace, "TCPFastOpenActive"), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kernel_server_takes_our_cookie() {
    let Some(world) = World::new(true, config()) else { return };
    // Servers give cookies (2), also to clients that do not ask for one (0x400).
    world.namespace.set_sysctl("net.ipv4.tcp_fastopen", "1026").unwrap();
    let to = SocketAddr::new(KERNEL.0.into(), common::PORT);
    let listener = world.namespace.run(|| TcpListener::bind(to)).unwrap().unwrap();
    let server = tokio::task::spawn_blocking(move || {
        for _ in 0..3 {
            let (mut stream, _) = listener.accept().unwrap();
            stream.read_exact(&mut [0; REQUEST.len()]).unwrap();
            stream.write_all(ANSWER).unwrap();
        }
    });
    for _ in 0..3 {
        let mut stream =
            world.endpoint.connect_with(to, &scheme(), REQUEST.to_vec()).await.unwrap();
        let mut answer = vec![];
        let read = stream.read_to_end(&mut answer);
        tokio::time::timeout(Duration::from_secs(20), read).await.unwrap().unwrap();
        assert!(answer == ANSWER);
    }
    server.await.unwrap();
    let counters = world.endpoint.status().await.unwrap().tcp;
    assert_eq!((counters.fast_open_active, counters.fast_open_active_fail), (2, 0));
    assert_eq!(kernel_counter(&world.namespace, "TCPFastOpenPassive"), 2);
}
