//! The kernel's report on a connection (`TCP_INFO`).

use nix::libc;
use nix::sys::socket::getsockopt;
use nix::{getsockopt_impl, sockopt_impl};
use std::io;
use std::os::fd::AsFd;

sockopt_impl!(
    /// `TCP_INFO`.
    RawInfo,
    GetOnly,
    libc::IPPROTO_TCP,
    libc::TCP_INFO,
    TcpInfo
);

/// The first 224 bytes of `struct tcp_info` (include/uapi/linux/tcp.h). Linux 4.19 has them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TcpInfo([u8; 224]);

impl TcpInfo {
    /// Reads the kernel's report on a socket.
    ///
    /// # Errors
    /// Errors of getsockopt(2).
    pub fn of(socket: &impl AsFd) -> io::Result<Self> {
        Ok(getsockopt(socket, RawInfo)?)
    }

    /// State of the connection, as include/net/tcp_states.h numbers it.
    pub fn state(&self) -> u64 {
        self.byte(0)
    }

    /// The field of one byte at `offset`; 0 if there is none.
    pub fn byte(&self, offset: usize) -> u64 {
        self.0.get(offset).copied().unwrap_or(0).into()
    }

    /// The field of four bytes at `offset`; 0 if there is none.
    pub fn narrow(&self, offset: usize) -> u64 {
        let bytes = self.0.get(offset..offset + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u32::from_ne_bytes).into()
    }

    /// The field of eight bytes at `offset`; 0 if there is none.
    pub fn wide(&self, offset: usize) -> u64 {
        let bytes = self.0.get(offset..offset + 8).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u64::from_ne_bytes)
    }
}
