//! Where packets enter and leave an emulation.

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// A descriptor that gives one IP packet for each read and takes one for each write: a TUN device
/// without packet information, or one end of a [`port_pair`]. Cheap to clone.
#[derive(Clone)]
pub struct Port(Arc<dyn AsFd + Send + Sync>);

impl Port {
    /// Packets of `descriptor`, which becomes non-blocking.
    ///
    /// # Errors
    /// If the system refuses that.
    pub fn new(descriptor: impl AsFd + Send + Sync + 'static) -> io::Result<Self> {
        let flags = OFlag::from_bits_retain(fcntl(&descriptor, FcntlArg::F_GETFL)?);
        fcntl(&descriptor, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
        Ok(Self(Arc::new(descriptor)))
    }

    /// The next packet, if there is one; its length.
    ///
    /// # Errors
    /// As read(2); `WouldBlock` if there is none.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(nix::unistd::read(&self.0, buffer)?)
    }

    /// Hands over a packet.
    ///
    /// # Errors
    /// As write(2); `WouldBlock` if there is no room for it.
    pub fn write(&self, packet: &[u8]) -> io::Result<()> {
        nix::unistd::write(&self.0, packet)?;
        Ok(())
    }
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl fmt::Debug for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Port({:?})", self.0.as_fd())
    }
}

/// Two ends between which packets pass within the process, for whoever brings a network stack
/// of its own: one is for the emulation, the other is handed out as a descriptor that keeps packets
/// apart (a Unix socket of type `SOCK_SEQPACKET`, non-blocking).
///
/// # Errors
/// If there are no more descriptors.
pub fn port_pair() -> io::Result<(Port, OwnedFd)> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let (ours, theirs) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, flags)?;
    Ok((Port::new(ours)?, theirs))
}
