//! The kernel's information on a connection.

use nix::{getsockopt_impl, libc, sockopt_impl};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::time::Duration;

/// Information that every kernel gives on a connection: the first 104 bytes of `struct tcp_info`
/// (include/uapi/linux/tcp.h).
#[repr(C)]
#[derive(Clone, Copy)]
#[expect(unreachable_pub, reason = "the macro below asks for it")]
pub struct Info {
    _states: [u32; 2],
    rto_us: u32,
    _before: [u32; 17],
    snd_cwnd: u32,
    _behind: [u32; 5],
}

sockopt_impl!(
    /// The same.
    TcpInfo,
    GetOnly,
    libc::IPPROTO_TCP,
    libc::TCP_INFO,
    Info
);

/// The window of this end, segments.
pub(crate) fn window_of(stream: &TcpStream) -> u32 {
    nix::sys::socket::getsockopt(stream, TcpInfo).unwrap().snd_cwnd
}

/// The retransmission timeout of this end.
pub(crate) fn timeout_of(stream: &impl AsFd) -> Duration {
    let info = nix::sys::socket::getsockopt(stream, TcpInfo).unwrap();
    Duration::from_micros(info.rto_us.into())
}
