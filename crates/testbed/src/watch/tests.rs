//! Compares the account of a load with the kernel's own of its sender (`struct tcp_info`). Needs
//! root and TUN devices; says so and passes without them.

use super::EndedSegments;
use emulator::{
    Addresses, Clock, Emulation, EmulationOptions, EmulationRecording, Files, Interface,
    InterfaceConfig, Namespace,
};
use link::path::PathSpec;
use nix::sys::socket::getsockopt;
use nix::{getsockopt_impl, libc, sockopt_impl};
use race::{Bound, BoundShares, MeasuredLoad, TransferRecord};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;
use test_support::retry_on_any_stall;
use units::{Duration, Instant};
use workload::{ConnectionRecord, HostId, LoadConnId, Milestones, Page};

/// 50 Mbit/s, 104 ms: a flight of 64 kB keeps the link busy for a tenth of a round trip.
const PATH: &str = "50mbit,104ms,inf";
const BYTES: u64 = 300_000;

sockopt_impl!(
    /// Limits that bounded a sender.
    Limits,
    GetOnly,
    libc::IPPROTO_TCP,
    libc::TCP_INFO,
    SenderLimits
);

/// The beginning of the kernel's `struct tcp_info`, up to the times by limit of the sender (since
/// Linux 4.10).
#[repr(C)]
#[derive(Clone, Copy)]
#[expect(
    unreachable_pub,
    reason = "the macro above makes its option public, and so asks it of this"
)]
pub struct SenderLimits {
    _before: [u8; 168],
    /// `tcpi_busy_time`: microseconds with data outstanding or waiting.
    busy_us: u64,
    /// `tcpi_rwnd_limited`: of these, microseconds in which the peer's window was full.
    rwnd_us: u64,
}

/// A load, and the account of the server's kernel.
struct Loaded {
    total: Duration,
    shares: BoundShares,
    limits: SenderLimits,
}

/// The client's observations of its connection.
struct Fetched {
    start: Instant,
    connected: Instant,
    first_byte: Instant,
    done: Instant,
    port: u16,
}

/// A sender that paces is limited by the window only for moments, and the kernel counts only these.
/// So the test uses CUBIC.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_tcp_congestion(b"cubic")?;
    socket.bind(&address.into())?;
    socket.listen(1)?;
    Ok(socket.into())
}

/// Sends the bytes for any request. When the client has closed, returns the limits that bounded the
/// sending.
fn serve(listener: &TcpListener) -> io::Result<SenderLimits> {
    let (mut stream, _) = listener.accept()?;
    stream.set_nodelay(true)?;
    let mut request = [0; 4096];
    let _ = stream.read(&mut request)?;
    stream.write_all(&vec![7; BYTES as usize])?;
    while stream.read(&mut request)? > 0 {}
    Ok(getsockopt(&stream, Limits)?)
}

/// Asks and reads all. `buffer`: the receive buffer that bounds the window; `None`: as Linux comes.
fn fetch(socket: Socket, server: SocketAddr, clock: Clock) -> io::Result<Fetched> {
    let start = clock.now();
    socket.connect(&server.into())?;
    let connected = clock.now();
    let mut stream = TcpStream::from(socket);
    let port = stream.local_addr()?.port();
    stream.write_all(&[1; 100])?;
    let (mut buffer, mut left, mut first_byte) = (vec![0; 1 << 16], BYTES, None);
    while left > 0 {
        let count = stream.read(&mut buffer)?;
        first_byte = first_byte.or_else(|| Some(clock.now()));
        left -= (count as u64).min(left);
    }
    let done = clock.now();
    Ok(Fetched { start, connected, first_byte: first_byte.unwrap_or(done), done, port })
}

/// Loads one object from one Linux to another. The latter's receive buffer has this size, or the
/// default one.
fn load(buffer: Option<usize>) -> io::Result<Loaded> {
    let clock = Clock::start();
    let [near, far] = Addresses::numbered(0);
    let (client, server) = (Namespace::new()?, Namespace::new()?);
    let client_end = Interface::open(&client, &InterfaceConfig::new(near).with_default_route())?;
    let server_end = Interface::open(&server, &InterfaceConfig::new(far))?;
    let (sink, crossed) = EndedSegments::begin();
    let files = Files { segments: Some(sink), ..Files::default() };
    let (recording, recorders) = EmulationRecording::begin(files)?;
    let path: PathSpec = PATH.parse().expect("a path");
    let recorders = Some(recorders);
    let options = EmulationOptions { clock, recorders, ..EmulationOptions::new(path.links()) };
    let emulation = Emulation::start(client_end.port(), server_end.port(), options)?;
    let address = SocketAddr::new(far.v4.into(), 8000);
    let listener = server.run(|| listen(address))??;
    let socket = client.run(|| -> io::Result<Socket> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
        socket.set_tcp_nodelay(true)?;
        buffer.map_or(Ok(()), |bytes| socket.set_recv_buffer_size(bytes))?;
        socket.bind(&SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), 0).into())?;
        Ok(socket)
    })??;
    let (limits, fetched) = thread::scope(|scope| {
        let serving = scope.spawn(|| serve(&listener));
        let fetched = fetch(socket, address, clock);
        (serving.join().expect("no panic"), fetched)
    });
    emulation.stop();
    assert_eq!(recording.finish()?, 0, "notes were missed");
    let fetched = fetched?;
    let total = fetched.done - fetched.start;
    Ok(Loaded { total, shares: settled(&fetched, crossed), limits: limits? })
}

/// The account of a fetch, by the packets on the link.
fn settled(fetched: &Fetched, crossed: EndedSegments) -> BoundShares {
    let Fetched { start, connected, first_byte, done, port } = *fetched;
    let milestones = Milestones {
        discovered: Some(start),
        requested: Some(connected),
        first_byte: Some(first_byte),
        done: Some(done),
        connection: Some(LoadConnId(0)),
        received_bytes: BYTES,
    };
    let connection = ConnectionRecord {
        lookup: None,
        host: HostId(0),
        opened: start,
        connected: Some(connected),
        ready: Some(connected),
        closed: None,
    };
    let recording = race::LoadRecording {
        start,
        milestones: vec![milestones],
        client: workload::ClientModel::Loader,
        transfers: vec![TransferRecord::unwatched(connection, port)],
        busy: Vec::new(),
        servers_think: true,
        queues: Vec::new(),
    };
    let page = Some(done - start);
    let mut load = MeasuredLoad {
        began: Some(start),
        page,
        recording: Some(recording),
        ..MeasuredLoad::default()
    };
    MeasuredLoad::settle_all(
        &mut [&mut load],
        &Page::single(BYTES),
        Some(&crossed.link_watch(false)),
        false,
    );
    load.bounds.expect("an account of a load that has ended")
}

/// The receive buffer has 32 kB, of which the window has about a half. By the kernel's account,
/// nearly all of the sender's time is limited by the receive window; that account includes the
/// link's time. On stock Linux slow start stays below the window, so none of it is.
#[test]
fn the_kernel_says_the_same_of_the_receive_window() {
    if !test_support::has(&test_support::EMULATION) {
        return;
    }
    retry_on_any_stall(|| {
        for buffer in [Some(16_384), None] {
            let loaded = load(buffer).unwrap_or_else(|error| panic!("{error}"));
            let Loaded { total, shares, limits } = loaded;
            let time = |bound| shares.get(bound) * total.as_secs_f64() * 1e3;
            let (rwnd, path) = (time(Bound::ReceiveWindow), time(Bound::Path));
            let kernel = limits.rwnd_us as f64 / 1e3;
            let busy = limits.busy_us as f64 / 1e3;
            let log_line =
                format!("{buffer:?}: {total}, {shares:?}; busy {busy} ms, full {kernel} ms");
            match buffer {
                // The account does not give the part of the path's time that is also limited by the
                // window.
                Some(_) => {
                    assert!(rwnd > 0.5 * total.as_secs_f64() * 1e3, "{log_line}");
                    assert!(kernel > 0.95 * rwnd && kernel < 1.05 * (rwnd + path), "{log_line}");
                }
                None => assert!(rwnd == 0.0 && kernel == 0.0, "{log_line}"),
            }
            // While it was busy by the kernel's account, it was bound by a window, the path, or its
            // own last flight's round trip.
            let bound = rwnd + path + time(Bound::CongestionWindow);
            assert!(busy > 0.95 * bound && busy < 1.05 * bound + 130.0, "{log_line}");
        }
    });
}
