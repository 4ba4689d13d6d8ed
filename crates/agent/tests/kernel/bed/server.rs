//! Servers that send the name of their congestion control, and then the requested number of bytes.

use nix::{libc, setsockopt_impl, sockopt_impl};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;

/// Asks a server for `bytes`.
pub(crate) fn request(stream: &mut TcpStream, bytes: u64) {
    stream.write_all(&bytes.to_be_bytes()).unwrap();
}

/// Reads as many bytes as were asked for; the name of the server's congestion control.
pub(crate) fn finish(stream: &mut TcpStream, bytes: u64) -> String {
    let control = control_of(stream);
    read(stream, bytes);
    control
}

/// The first thing that the server says: the name of its congestion control.
pub(crate) fn control_of(stream: &mut TcpStream) -> String {
    let mut name = [0; NAME as usize];
    stream.read_exact(&mut name).unwrap();
    String::from_utf8(name.to_vec()).unwrap().trim_end_matches('\0').to_owned()
}

/// Whether this is the name of `hs_cubic`, or of the congestion control for its start.
pub(crate) fn is_upon_cubic(name: &str) -> bool {
    ["hs_cubic", "hs_cubic_start"].contains(&name)
}

/// Reads `bytes`.
pub(crate) fn read(stream: &mut TcpStream, bytes: u64) {
    let got = io::copy(&mut stream.take(bytes), &mut io::sink()).unwrap();
    assert_eq!(got, bytes);
}

sockopt_impl!(
    /// Bytes a second; connections that are accepted inherit it.
    MaxPacingRate,
    SetOnly,
    libc::SOL_SOCKET,
    libc::SO_MAX_PACING_RATE,
    u32
);

sockopt_impl!(
    /// Connections with data in their SYN that may wait to be acknowledged.
    FastOpen,
    SetOnly,
    libc::IPPROTO_TCP,
    libc::TCP_FASTOPEN,
    i32
);

sockopt_impl!(
    /// The first write goes with the SYN.
    FastOpenConnect,
    SetOnly,
    libc::IPPROTO_TCP,
    libc::TCP_FASTOPEN_CONNECT,
    i32
);

/// Sends the first write to it with the SYN.
pub(super) fn connects_fast(socket: &Socket) -> io::Result<()> {
    Ok(nix::sys::socket::setsockopt(socket, FastOpenConnect, &1)?)
}

/// Bytes of a congestion control's name (`TCP_CA_NAME_MAX`).
pub(crate) const NAME: u64 = 16;

pub(crate) struct Server {
    address: SocketAddr,
    listener: Socket,
}

impl Server {
    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes data with a SYN, if the kernel does.
    pub(super) fn takes_fast_open(&self) -> bool {
        nix::sys::socket::setsockopt(&self.listener, FastOpen, &64).is_ok()
    }

    /// Accepts no more; connections that it has go on.
    pub(crate) fn stop_listening(self) {
        self.listener.shutdown(Shutdown::Read).unwrap();
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }
}

pub(super) fn accept(listener: TcpListener) -> Server {
    accept_in_pieces(listener, usize::MAX)
}

/// A server that writes the first `head` bytes of an answer, and then the rest.
pub(super) fn accept_in_pieces(listener: TcpListener, head: usize) -> Server {
    let address = listener.local_addr().unwrap();
    let same = listener.try_clone().unwrap().into();
    thread::spawn(move || {
        // Serves until the socket is shut down.
        for stream in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || answer(stream, head));
        }
    });
    Server { address, listener: same }
}

/// One request after the other, until the client has enough.
fn answer(mut stream: TcpStream, head: usize) {
    stream.set_nodelay(true).unwrap();
    let mut request = [0; 8];
    while stream.read_exact(&mut request).is_ok() {
        let mut answer = socket2::SockRef::from(&stream).tcp_congestion().unwrap();
        answer.resize(NAME as usize, 0);
        answer.resize((NAME + u64::from_be_bytes(request)) as usize, b'x');
        let (head, body) = answer.split_at(head.min(answer.len()));
        if stream.write_all(head).and_then(|()| stream.write_all(body)).is_err() {
            // A client that has gone is one that the test has done with.
            return;
        }
    }
}

/// A socket that listens; others may listen at the same address.
/// `control`: a congestion control that it chooses for itself.
pub(super) fn listen(
    address: SocketAddr,
    control: Option<&str>,
    backlog: i32,
) -> io::Result<TcpListener> {
    listen_by(Protocol::TCP, address, control, backlog)
}

/// A listening socket of another protocol that applications use like TCP.
pub(super) fn listen_by(
    protocol: Protocol,
    address: SocketAddr,
    control: Option<&str>,
    backlog: i32,
) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(protocol))?;
    socket.set_reuse_port(true)?;
    if let Some(control) = control {
        socket.set_tcp_congestion(control.as_bytes())?;
    }
    socket.bind(&address.into())?;
    socket.listen(backlog)?;
    Ok(socket.into())
}
