//! Ports at which packets enter and leave an emulation: one device, or several hosts behind one end
//! of a path.

use etherparse::{LaxNetSlice, LaxSlicedPacket};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};
use nix::sys::socket::sockopt::{SndBuf, SndBufForce};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, setsockopt, socketpair};
use std::fmt;
use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A descriptor that gives one IP packet for each read and takes one for each write: a TUN device
/// without packet information, or one end of a [`port_pair`]. Or [several](Self::of_several) of
/// these. Cheap to clone.
#[derive(Clone)]
pub struct Port(Arc<Kind>);

enum Kind {
    One(Box<dyn AsFd + Send + Sync>),
    Several(SeveralPorts),
}

/// The ports of several hosts.
struct SeveralPorts {
    hosts: Vec<(Vec<IpAddr>, Port)>,
    /// Readable while one of them is.
    readable: Epoll,
    /// Index of the port that is read first the next time.
    turn: AtomicUsize,
}

impl Port {
    /// Packets of `descriptor`, which becomes non-blocking.
    ///
    /// # Errors
    /// If the system refuses that.
    pub fn new(descriptor: impl AsFd + Send + Sync + 'static) -> io::Result<Self> {
        let flags = OFlag::from_bits_retain(fcntl(&descriptor, FcntlArg::F_GETFL)?);
        fcntl(&descriptor, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
        Ok(Self(Arc::new(Kind::One(Box::new(descriptor)))))
    }

    /// Creates the port of hosts behind one end of a path, each with its addresses: their packets
    /// come in turn, and each gets its own.
    ///
    /// # Errors
    /// If there are no more descriptors.
    pub fn of_several(hosts: Vec<(Vec<IpAddr>, Self)>) -> io::Result<Self> {
        let readable = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        for (_, port) in &hosts {
            readable.add(port, EpollEvent::new(EpollFlags::EPOLLIN, 0))?;
        }
        let several = SeveralPorts { hosts, readable, turn: AtomicUsize::new(0) };
        Ok(Self(Arc::new(Kind::Several(several))))
    }

    /// The next packet, if there is one; its length.
    ///
    /// # Errors
    /// Fails like read(2); `WouldBlock` if there is none.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match &*self.0 {
            Kind::One(descriptor) => Ok(nix::unistd::read(descriptor, buffer)?),
            Kind::Several(several) => several.read(buffer),
        }
    }

    /// Hands over a packet.
    ///
    /// # Errors
    /// Fails like write(2); `WouldBlock` if there is no room for it, `AddrNotAvailable` if no host
    /// has its destination.
    pub fn write(&self, packet: &[u8]) -> io::Result<()> {
        match &*self.0 {
            Kind::One(descriptor) => {
                nix::unistd::write(descriptor, packet)?;
                Ok(())
            }
            Kind::Several(several) => several.write(packet),
        }
    }
}

impl SeveralPorts {
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let first = self.turn.load(Ordering::Relaxed);
        for n in 0..self.hosts.len() {
            let host = (first + n) % self.hosts.len();
            match self.hosts[host].1.read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                read => {
                    self.turn.store(host + 1, Ordering::Relaxed);
                    return read;
                }
            }
        }
        Err(ErrorKind::WouldBlock.into())
    }

    fn write(&self, packet: &[u8]) -> io::Result<()> {
        let to = destination(packet);
        let host = self.hosts.iter().find(|(own, _)| to.is_some_and(|to| own.contains(&to)));
        host.ok_or(ErrorKind::AddrNotAvailable)?.1.write(packet)
    }
}

/// Destination of an IP packet; `None` if it is none.
fn destination(packet: &[u8]) -> Option<IpAddr> {
    match LaxSlicedPacket::from_ip(packet).ok()?.net? {
        LaxNetSlice::Ipv4(ip) => Some(ip.header().destination_addr().into()),
        LaxNetSlice::Ipv6(ip) => Some(ip.header().destination_addr().into()),
        LaxNetSlice::Arp(_) => None,
    }
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &*self.0 {
            Kind::One(descriptor) => descriptor.as_fd(),
            Kind::Several(several) => several.readable.0.as_fd(),
        }
    }
}

impl fmt::Debug for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Port({:?})", self.as_fd())
    }
}

/// Two ends between which packets pass within the process, for a program with a network stack of
/// its own. One is for the emulation. The other is a descriptor that preserves packet boundaries (a
/// Unix socket of type `SOCK_SEQPACKET`, non-blocking). Either end holds some 3,600 full packets
/// that the other has not read yet; without privileges fewer, by the system's limit
/// (`net.core.wmem_max`).
///
/// # Errors
/// If there are no more descriptors.
pub fn port_pair() -> io::Result<(Port, OwnedFd)> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let (ours, theirs) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, flags)?;
    hold_much(&ours)?;
    hold_much(&theirs)?;
    Ok((Port::new(ours)?, theirs))
}

/// Enlarges the buffer of sent packets that wait for their reader. The system's default is 93
/// packets, which come within 11 ms over 100 Mbit/s. A busy machine lets a reader wait longer, and
/// its packets would be lost.
fn hold_much(socket: &OwnedFd) -> io::Result<()> {
    const BYTES: usize = 4 << 20;
    if setsockopt(socket, SndBufForce, &BYTES).is_err() {
        setsockopt(socket, SndBuf, &BYTES)?;
    }
    Ok(())
}
