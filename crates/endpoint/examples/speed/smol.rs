//! smoltcp as a server, driven as its own examples drive it.

use crate::{BULK, PORTS, REQUESTS, addresses, answer};
use emulator::Namespace;
use smoltcp::iface::{Config, Interface, PollResult, SocketHandle, SocketSet};
use smoltcp::phy::{Medium, TunTapInterface, wait};
use smoltcp::socket::tcp::{Socket, SocketBuffer};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpCidr};
use std::error::Error;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::AsRawFd;
use std::process::Command;
use std::sync::mpsc;

const NAME: &str = "hs-smol";
/// Number of sockets that wait for requests or answer them: twice the number of clients, because
/// some are closing.
const SOCKETS: usize = 512;

/// Serves on a thread of its own; returns its address.
pub(crate) fn serve(namespace: &Namespace, n: u8) -> Result<SocketAddr, Box<dyn Error>> {
    let (kernel, server) = addresses(n);
    let (ready, started) = mpsc::channel();
    // The device stays on the thread that has opened it.
    namespace.spawn(move || {
        let device = TunTapInterface::new(NAME, Medium::Ip)?;
        // The receiver waits for this signal.
        let _ = ready.send(());
        run(device, server)
    })?;
    started.recv()?;
    for command in [format!("address add {kernel}/24 dev {NAME}"), format!("link set {NAME} up")] {
        let status = namespace.command(Command::new("ip").args(command.split(' ')))?.wait()?;
        if !status.success() {
            return Err(format!("ip {command}: {status}").into());
        }
    }
    Ok(SocketAddr::new(server.into(), 0))
}

fn run(mut device: TunTapInterface, server: Ipv4Addr) -> io::Result<()> {
    let mut interface =
        Interface::new(Config::new(HardwareAddress::Ip), &mut device, Instant::now());
    interface.update_ip_addrs(|addresses| {
        // The list has room for one.
        let _ = addresses.push(IpCidr::new(server.into(), 24));
    });
    let mut sockets = SocketSet::new(Vec::new());
    let bulk = sockets.add(socket(256 << 10));
    let ports = || (REQUESTS..REQUESTS + PORTS).cycle();
    let requests: Vec<_> = (0..SOCKETS).map(|_| sockets.add(socket(16 << 10))).collect();
    let (block, answer) = (vec![b'x'; 256 << 10], answer());
    let descriptor = device.as_raw_fd();
    loop {
        interface.poll(Instant::now(), &mut device, &mut sockets);
        let bulk = open(&mut sockets, bulk, BULK);
        while bulk.can_send() && bulk.send_slice(&block).is_ok_and(|sent| sent > 0) {}
        for (handle, port) in requests.iter().zip(ports()) {
            respond(open(&mut sockets, *handle, port), &answer);
        }
        // Packets received meanwhile may leave a socket with work to do, and no further packet will
        // signal that.
        if interface.poll(Instant::now(), &mut device, &mut sockets)
            == PollResult::SocketStateChanged
        {
            continue;
        }
        wait(descriptor, interface.poll_delay(Instant::now(), &sockets))?;
    }
}

fn socket(buffer: usize) -> Socket<'static> {
    let mut socket =
        Socket::new(SocketBuffer::new(vec![0; 16 << 10]), SocketBuffer::new(vec![0; buffer]));
    socket.set_nagle_enabled(false);
    socket.set_ack_delay(None);
    socket
}

/// Returns the socket, which listens again once it is closed.
fn open<'a>(
    sockets: &'a mut SocketSet<'static>,
    handle: SocketHandle,
    port: u16,
) -> &'a mut Socket<'static> {
    let socket = sockets.get_mut::<Socket<'static>>(handle);
    if !socket.is_open() || socket.state() == smoltcp::socket::tcp::State::TimeWait {
        socket.abort();
        // Listening cannot fail: the socket is closed, and the port is not 0.
        let _ = socket.listen(port);
    } else if !socket.may_recv() && socket.may_send() {
        socket.close();
    }
    socket
}

fn respond(socket: &mut Socket<'_>, answer: &[u8]) {
    // A request arrives whole: it is shorter than a segment, and the next waits for its answer.
    if socket.can_recv() && socket.recv(|bytes| (bytes.len(), ())).is_ok() {
        let _ = socket.send_slice(answer);
    }
}
