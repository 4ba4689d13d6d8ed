//! The source and sink of packets: any descriptor that returns one IP packet for each read and
//! takes one for each write. A TUN device does so, and so does a socket that preserves message
//! boundaries.

mod frame;
mod tun;

pub(crate) use frame::{Frame, OFFLOAD_HEADER, Offload};
pub use tun::TunConfig;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, setsockopt, socketpair, sockopt};
use nix::sys::uio::writev;
use std::fmt;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd};

/// A device.
pub struct Device {
    descriptor: Box<dyn AsFd + Send>,
    mtu: u16,
    offload: bool,
    name: Option<String>,
}

/// Socket buffers of an in-memory device, bytes: some 2000 packets of full size.
const MEMORY: usize = 4 << 20;

/// The result of sending a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SendOutcome {
    Done,
    /// The device has no room for it now.
    Blocked,
    /// The device refused it, like a network that drops a packet.
    Refused,
}

impl Device {
    /// Creates a device from `descriptor`, for packets of at most `mtu` bytes on the wire. With
    /// offload a packet may hold several segments, and be longer. The descriptor becomes
    /// non-blocking.
    ///
    /// # Errors
    /// If the system refuses that.
    pub fn new(descriptor: impl AsFd + Send + 'static, mtu: u16) -> io::Result<Self> {
        let flags = OFlag::from_bits_retain(fcntl(&descriptor, FcntlArg::F_GETFL)?);
        fcntl(&descriptor, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
        Ok(Self { descriptor: Box::new(descriptor), mtu, offload: false, name: None })
    }

    /// Enables virtio headers: each packet of the descriptor has one of 10 bytes, with the work
    /// left for checksums and segmentation (`IFF_VNET_HDR`, with at least `TUN_F_CSUM`).
    #[must_use]
    pub fn with_offload(self) -> Self {
        Self { offload: true, ..self }
    }

    /// Creates two devices back to back, within the process: each receives what the other sends.
    ///
    /// # Errors
    /// If there are no more descriptors.
    pub fn pair(mtu: u16) -> io::Result<(Self, Self)> {
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let (a, b) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, flags)?;
        for end in [&a, &b] {
            // The system may set a smaller buffer if its limit is lower.
            setsockopt(end, sockopt::SndBuf, &MEMORY)?;
        }
        Ok((Self::new(a, mtu)?, Self::new(b, mtu)?))
    }

    /// Returns its name in its namespace, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the longest packet on the wire, bytes.
    pub const fn mtu(&self) -> u16 {
        self.mtu
    }

    /// Returns true if packets have a virtio header.
    pub(crate) const fn offloads(&self) -> bool {
        self.offload
    }

    /// Reads a packet into `buffer`, if there is one.
    pub(crate) fn receive<'a>(&self, buffer: &'a mut [u8]) -> io::Result<Option<Frame<'a>>> {
        match nix::unistd::read(&self.descriptor, buffer) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(len) => Ok(Some(Frame::read(&buffer[..len], self.offload))),
            Err(Errno::EAGAIN | Errno::EINTR) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Sends a packet in two pieces; the first begins with the virtio header if there is to be one.
    pub(crate) fn send(&self, headers: &[u8], payload: &[u8]) -> io::Result<SendOutcome> {
        let pieces = [IoSlice::new(headers), IoSlice::new(payload)];
        let pieces = if payload.is_empty() { &pieces[..1] } else { &pieces };
        match writev(&self.descriptor, pieces) {
            Ok(_) => Ok(SendOutcome::Done),
            Err(Errno::EAGAIN) => Ok(SendOutcome::Blocked),
            // The device is down, the packet too long, memory short, or a signal came: the packet
            // counts as lost, and TCP repairs that.
            Err(Errno::EIO | Errno::EINVAL | Errno::EMSGSIZE | Errno::ENOBUFS | Errno::EINTR) => {
                Ok(SendOutcome::Refused)
            }
            // The other end is closed: reading reports that, after the packets from before.
            Err(Errno::EPIPE) => Ok(SendOutcome::Refused),
            Err(errno) => Err(errno.into()),
        }
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { descriptor, mtu, offload, name } = self;
        let descriptor = descriptor.as_fd();
        f.debug_struct("Device")
            .field("name", name)
            .field("descriptor", &descriptor)
            .field("mtu", mtu)
            .field("offload", offload)
            .finish()
    }
}
