//! Files sent from one Linux to another through a lossy bottleneck, with samples of the kernel's
//! own counters.

use emulator::{
    Addresses, Clock, Emulation, EmulationOptions, EmulationRecording, Files, Interface,
    InterfaceConfig, Namespace, Sink,
};
use link::{Duplex, LinkConfig, QueueLimit};
use nix::sys::socket::getsockopt;
use nix::{getsockopt_impl, libc, sockopt_impl};
use socket2::{Domain, Protocol, Socket, Type};
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;
use units::{Duration, Instant, Rate};

/// Returns 20 Mbit/s, a round trip of 80 ms, a queue of 60 packets, and 1.5 % random loss.
fn bottleneck() -> LinkConfig {
    let delay = Duration::from_millis(40);
    let link = LinkConfig::new(Rate::from_mbps(20), delay, QueueLimit::Packets(60));
    link.expect("a possible link").with_loss(0.015).expect("a probability")
}

/// Number of files, each sent over a connection of its own.
const FILES: u64 = 24;
/// Number of connections at once.
const PARALLEL: u64 = 2;
/// Time between two samples of the kernel's counters.
const LOOK_EVERY: std::time::Duration = std::time::Duration::from_millis(3);

/// Returns the size of a file: 20 kB to 1 MB.
const fn size(file: u64) -> u64 {
    20_000 + file * 43_000
}

/// The kernel's counters of a sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelCounts {
    pub(crate) at: Instant,
    /// Congestion window, segments.
    pub(crate) cwnd: u32,
    pub(crate) mss: u32,
    pub(crate) srtt_us: u32,
    pub(crate) total_retrans: u32,
}

/// A connection of the server, by the client's port; the last sample is from its end.
#[derive(Clone, Debug)]
pub(crate) struct Served {
    pub(crate) port: u16,
    pub(crate) samples: Vec<KernelCounts>,
}

sockopt_impl!(
    /// A sample of the sender's state.
    SenderState,
    GetOnly,
    libc::IPPROTO_TCP,
    libc::TCP_INFO,
    KernelSender
);

/// The first 104 bytes of `struct tcp_info` (`include/uapi/linux/tcp.h`).
#[repr(C)]
#[derive(Clone, Copy)]
#[expect(
    unreachable_pub,
    reason = "the macro above makes its option public, and so asks it of this"
)]
pub struct KernelSender {
    _before: [u32; 4],
    snd_mss: u32,
    _between: [u32; 12],
    rtt: u32,
    _thresholds: [u32; 2],
    snd_cwnd: u32,
    _after: [u32; 4],
    total_retrans: u32,
}

fn look(stream: &TcpStream, at: Instant) -> io::Result<KernelCounts> {
    let sender = getsockopt(stream, SenderState)?;
    Ok(KernelCounts {
        at,
        cwnd: sender.snd_cwnd,
        mss: sender.snd_mss,
        srtt_us: sender.rtt,
        total_retrans: sender.total_retrans,
    })
}

/// Sends all `FILES` under this congestion control, and captures at the server's end of the link.
pub(crate) fn serve(control: &str, capture: &Path) -> io::Result<Vec<Served>> {
    let clock = Clock::start();
    let [near, far] = Addresses::numbered(11);
    let (client, server) = (Namespace::new()?, Namespace::new()?);
    let client_end = Interface::open(&client, &InterfaceConfig::new(near).with_default_route())?;
    let server_end = Interface::open(&server, &InterfaceConfig::new(far))?;
    let sinks: [Sink; 2] = [Box::new(io::sink()), Box::new(BufWriter::new(File::create(capture)?))];
    let files = Files { captures: Some(sinks), ..Files::default() };
    let (recording, recorders) = EmulationRecording::begin(files)?;
    let links = Duplex::symmetric(bottleneck());
    let recorders = Some(recorders);
    let options = EmulationOptions { clock, recorders, ..EmulationOptions::new(links) };
    let emulation = Emulation::start(client_end.port(), server_end.port(), options)?;
    let address = SocketAddr::new(far.v4.into(), 8000);
    let listener = server.run(|| listen(address, control))??;
    let (sender, served) = channel();
    let serving = thread::spawn(move || {
        for _ in 0..FILES {
            let (stream, peer) = listener.accept()?;
            let sender = sender.clone();
            thread::spawn(move || sender.send(serve_one(stream, peer.port(), clock)));
        }
        io::Result::Ok(())
    });
    let clients = (0..PARALLEL).map(|first| {
        client.spawn(move || {
            (first..FILES)
                .step_by(PARALLEL as usize)
                .try_for_each(|file| fetch(address, size(file)))
        })
    });
    for client in clients.collect::<Vec<_>>() {
        client?.join().expect("no panic")?;
    }
    serving.join().expect("no panic")?;
    let served = served.iter().collect();
    emulation.stop();
    assert_eq!(recording.finish()?, 0, "packets are missing from the capture");
    served
}

fn listen(address: SocketAddr, control: &str) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_tcp_congestion(control.as_bytes())?;
    socket.bind(&address.into())?;
    socket.listen(64)?;
    Ok(socket.into())
}

/// Sends the requested number of bytes, and samples the kernel's counters until the client has
/// closed, and once more then.
fn serve_one(stream: TcpStream, port: u16, clock: Clock) -> io::Result<Served> {
    stream.set_nodelay(true)?;
    let mut request = [0; 8];
    (&stream).read_exact(&mut request)?;
    let bytes = u64::from_be_bytes(request) as usize;
    let mut samples = Vec::new();
    thread::scope(|scope| {
        let sending = scope.spawn(|| -> io::Result<()> {
            (&stream).write_all(&vec![7; bytes])?;
            // The client closes once it has all data.
            (&stream).read(&mut [0; 8]).map(|_| ())
        });
        while !sending.is_finished() {
            // The clock is read first, so the kernel's values are never older than their time.
            samples.push(look(&stream, clock.now())?);
            thread::sleep(LOOK_EVERY);
        }
        sending.join().expect("no panic")
    })?;
    samples.push(look(&stream, clock.now())?);
    Ok(Served { port, samples })
}

fn fetch(server: SocketAddr, bytes: u64) -> io::Result<()> {
    let mut stream = TcpStream::connect(server)?;
    stream.write_all(&bytes.to_be_bytes())?;
    let (mut buffer, mut left) = (vec![0; 1 << 16], bytes);
    while left > 0 {
        let count = stream.read(&mut buffer)? as u64;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        left -= count;
    }
    Ok(())
}
