//! The packet socket: fetches packets, their times, and the number of losses.

use super::SLL2;
use super::filter::{Instruction, accept_all, reject_all};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::sockopt::{RcvBufForce, ReceiveTimestampns, RxqOvfl};
use nix::sys::socket::{
    ControlMessageOwned, LinkAddr, MsgFlags, MultiHeaders, RecvMsg, recvmmsg, setsockopt,
};
use nix::sys::time::TimeSpec;
use socket2::{Domain, Protocol, SockFilter, Socket, Type};
use std::io::{self, IoSliceMut};
use std::net::UdpSocket;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;
use units::Instant;

/// Every protocol (`ETH_P_ALL`), in the byte order of the network.
const ALL: i32 = (0x0003_u16).to_be() as i32;
/// Maximum number of packets in one call.
const AT_ONCE: usize = 64;
/// Size of the kernel's receive buffer, bytes: packets with their metadata of some tenths of a
/// second of a busy gigabit link.
const HELD: usize = 64 << 20;
/// Longest wait for the kernel's report of its last losses.
const SETTLED: Duration = Duration::from_millis(50);

/// The kernel's metadata of a packet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Note {
    pub(super) at: Instant,
    /// Size from the IP header on, bytes.
    pub(super) length: usize,
    pub(super) protocol: u16,
    pub(super) interface: u32,
    pub(super) hardware: u16,
    pub(super) packet_type: u8,
}

/// A cooked packet socket.
pub(super) struct PacketSocket {
    socket: Socket,
    /// Room for packets that are fetched at once, each after room for its header.
    buffer: Vec<u8>,
    stride: usize,
    notes: Vec<Note>,
    /// Number of lost packets, modulo 2³², at the last packet.
    lost: u32,
    dropped: u64,
}

impl PacketSocket {
    /// Opens a socket for packets that the program accepts, with `room` bytes for each.
    pub(super) fn open(program: &[Instruction], room: usize) -> io::Result<Self> {
        let socket = Socket::new(Domain::PACKET, Type::DGRAM, Some(Protocol::from(ALL)))?;
        // Before the filter is attached, the socket receives everything; these packets are
        // discarded.
        attach(&socket, &reject_all())?;
        let stride = SLL2 + room;
        let (buffer, notes) = (vec![0; stride * AT_ONCE], Vec::with_capacity(AT_ONCE));
        let mut new = Self { socket, buffer, stride, notes, lost: 0, dropped: 0 };
        while new.fetch()? > 0 {}
        // The buffer is as large as permitted; only root may exceed the system's limit.
        if setsockopt(&new.socket, RcvBufForce, &HELD).is_err() {
            new.socket.set_recv_buffer_size(HELD)?;
        }
        setsockopt(&new.socket, ReceiveTimestampns, &true)?;
        setsockopt(&new.socket, RxqOvfl, &1)?;
        attach(&new.socket, program)?;
        Ok(new)
    }

    /// Waits for packets, and passes on those that are ready; returns `false` if there are none.
    pub(super) fn receive(
        &mut self,
        wait: Duration,
        mut each: impl FnMut(&Note, &mut [u8]),
    ) -> io::Result<bool> {
        if self.fetch()? == 0 && (!self.wait_for_packets(wait)? || self.fetch()? == 0) {
            return Ok(false);
        }
        for (note, buffer) in self.notes.iter().zip(self.buffer.chunks_exact_mut(self.stride)) {
            each(note, buffer);
        }
        Ok(true)
    }

    /// Returns the number of packets that the kernel has dropped since the beginning.
    pub(super) const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Replaces the filter from now on.
    pub(super) fn filter(&self, program: &[Instruction]) -> io::Result<()> {
        attach(&self.socket, program)
    }

    /// Rejects all further packets; those that have passed can still be received.
    pub(super) fn close(&self) -> io::Result<()> {
        attach(&self.socket, &reject_all())
    }

    /// Reads the latest losses, once all packets have been received. The kernel reports them only
    /// with the next packet, so the call sends a packet of its own over the loopback interface.
    ///
    /// # Errors
    /// If there is no loopback interface: then the number stays as it is.
    pub(super) fn read_losses(&mut self) -> io::Result<()> {
        attach(&self.socket, &accept_all())?;
        let socket = UdpSocket::bind(("127.0.0.1", 0))?;
        socket.send_to(&[0], socket.local_addr()?)?;
        self.wait_for_packets(SETTLED)?;
        self.close()?;
        while self.fetch()? > 0 {}
        Ok(())
    }

    /// Waits; returns true if there are packets.
    fn wait_for_packets(&self, wait: Duration) -> io::Result<bool> {
        let timeout = PollTimeout::try_from(wait).unwrap_or(PollTimeout::MAX);
        match poll(&mut [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)], timeout) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::EINTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Fetches the packets that are ready, and returns their number.
    fn fetch(&mut self) -> io::Result<usize> {
        let space = nix::cmsg_space!(TimeSpec, u32);
        let mut headers = MultiHeaders::<LinkAddr>::preallocate(AT_ONCE, Some(space));
        let slots = self.buffer.chunks_exact_mut(self.stride);
        let mut slots: Vec<_> = slots.map(|slot| [IoSliceMut::new(&mut slot[SLL2..])]).collect();
        let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_TRUNC;
        self.notes.clear();
        match recvmmsg(self.socket.as_raw_fd(), &mut headers, slots.iter_mut(), flags, None) {
            Ok(received) => {
                for message in received {
                    let (note, lost) = packet_metadata(&message);
                    self.notes.push(note);
                    if let Some(lost) = lost {
                        self.dropped += u64::from(lost.wrapping_sub(self.lost));
                        self.lost = lost;
                    }
                }
                Ok(self.notes.len())
            }
            // The interface is down, but may come up again.
            Err(Errno::EAGAIN | Errno::EINTR | Errno::ENETDOWN) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }
}

/// Returns the kernel's metadata of a packet, and the number of losses so far.
fn packet_metadata(message: &RecvMsg<'_, '_, LinkAddr>) -> (Note, Option<u32>) {
    let mut note = Note { length: message.bytes, ..Note::default() };
    if let Some(address) = &message.address {
        note.protocol = u16::from_be(address.protocol());
        note.interface = address.ifindex() as u32;
        note.hardware = address.hatype();
        note.packet_type = address.pkttype();
    }
    let mut lost = None;
    for control in message.cmsgs().into_iter().flatten() {
        match control {
            ControlMessageOwned::ScmTimestampns(time) => {
                let (seconds, nanos) = (time.tv_sec() as u64, time.tv_nsec() as u64);
                note.at = Instant::from_nanos(seconds * 1_000_000_000 + nanos);
            }
            ControlMessageOwned::RxqOvfl(count) => lost = Some(count),
            _ => {}
        }
    }
    (note, lost)
}

fn attach(socket: &Socket, program: &[Instruction]) -> io::Result<()> {
    let program: Vec<SockFilter> = program.iter().map(SockFilter::from).collect();
    socket.attach_filter(&program)
}

#[cfg(test)]
mod tests;
