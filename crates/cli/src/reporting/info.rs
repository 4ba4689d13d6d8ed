//! Figures of a path from a socket's `struct tcp_info` (include/uapi/linux/tcp.h).

use gateway_client::network_of;
use gateway_proto::v1::{self, Bound, Report};
use nix::sys::socket::{SockaddrStorage, getpeername, getsockopt};
use nix::{getsockopt_impl, libc, sockopt_impl};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
use std::net::IpAddr;
use std::os::fd::AsRawFd;

/// Bytes of it that are read: up to the end of `tcpi_delivered`, which exists since Linux 4.18.
const READ: usize = 200;

sockopt_impl!(
    /// The kernel's word on a connection.
    RawInfo,
    GetOnly,
    libc::IPPROTO_TCP,
    libc::TCP_INFO,
    RawTcpInfo
);

/// Its beginning.
#[repr(C)]
#[derive(Clone, Copy)]
#[expect(
    unreachable_pub,
    reason = "the macro above makes its option public, and so asks it of this"
)]
pub struct RawTcpInfo([u8; READ]);

/// Reports the socket that process `pid` (this one if `None`) has open as `fd`.
///
/// # Errors
/// If there is none, or it is no connection of TCP.
pub(super) fn of_socket(pid: Option<u32>, fd: u32) -> Result<Report, String> {
    let whose = pid.map_or(Some(getpid()), |pid| Pid::from_raw(pid.cast_signed()));
    let whose = whose.ok_or("process 0 has no descriptors")?;
    let opened = pidfd_open(whose, PidfdFlags::empty());
    let process = opened.map_err(|error| format!("process {}: {error}", whose.as_raw_nonzero()))?;
    let socket = pidfd_getfd(&process, fd.cast_signed(), PidfdGetfdFlags::empty());
    let socket = socket.map_err(|error| {
        format!(
            "descriptor {fd}: {error}; `ls -l /proc/{}/fd` shows what there is",
            whose.as_raw_nonzero()
        )
    })?;
    let peer: SockaddrStorage = getpeername(socket.as_raw_fd())
        .map_err(|error| format!("descriptor {fd} is no connected socket: {error}"))?;
    let v4 = peer.as_sockaddr_in().map(|peer| IpAddr::from(peer.ip()));
    let peer = v4.or_else(|| peer.as_sockaddr_in6().map(|peer| IpAddr::from(peer.ip())));
    let peer = peer.ok_or_else(|| format!("descriptor {fd} is no connection of TCP"))?;
    let info = getsockopt(&socket, RawInfo);
    let info = info.map_err(|error| {
        format!("descriptor {fd}: the kernel has no information on it: {error}")
    })?;
    of_info(peer, &info.0)
}

/// Reports a connection to `peer` by its `tcp_info`.
///
/// # Errors
/// If it is too short, or nothing is acknowledged yet.
pub(super) fn of_info(peer: IpAddr, info: &[u8]) -> Result<Report, String> {
    if info.len() < READ {
        return Err(format!(
            "tcp_info of {} bytes, and {READ} are needed: Linux 4.18 or newer",
            info.len()
        ));
    }
    let int = |at: usize| u32::from_ne_bytes([info[at], info[at + 1], info[at + 2], info[at + 3]]);
    let long = |at: usize| {
        let bytes: [u8; 8] = std::array::from_fn(|n| info[at + n]);
        u64::from_ne_bytes(bytes)
    };
    let mss = u64::from(int(16));
    let (ssthresh, cwnd, retransmitted) = (int(76), int(80), int(100));
    let (acked, min_rtt, sent) = (long(120), int(148), int(156));
    let (delivery_rate, busy, rwnd_limited) = (long(160), long(168), long(176));
    // The first bit behind both window scales: the last rate was bounded by the application.
    let is_app_limited = info[7] & 1 != 0;
    if acked == 0 || mss == 0 {
        return Err(
            "nothing that was sent has been acknowledged yet, so there is nothing to report"
                .to_owned(),
        );
    }
    let has_lost = retransmitted > 0 && ssthresh < i32::MAX as u32;
    // Slow start doubles a window that was half used (tcp_is_cwnd_limited), so only half of that
    // window is proven.
    let proven = u64::from(if cwnd < ssthresh { cwnd.div_ceil(2) } else { cwnd }) * mss;
    let (window, bound) = match has_lost {
        // The window after the loss: it is less than the flight at the loss, by the congestion
        // control's factor.
        true => (u64::from(ssthresh) * mss, Bound::Loss),
        false if rwnd_limited > busy / 2 => (proven, Bound::ReceiveWindow),
        false if is_app_limited => (proven, Bound::Application),
        false => (proven, Bound::Over),
    };
    Ok(Report {
        network: Some(v1::Network::of(network_of(peer))),
        window: window.min(acked).max(1),
        rate: if is_app_limited { 0 } else { delivery_rate.saturating_mul(8) },
        // A round trip that was not measured is all ones.
        min_rtt_us: if min_rtt == u32::MAX { 0 } else { min_rtt.into() },
        sent,
        lost: retransmitted.min(sent),
        bound: bound.into(),
        ..Report::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    fn info(fields: &[(usize, u32)]) -> Vec<u8> {
        let mut bytes = vec![0; READ];
        for (at, value) in fields {
            bytes[*at..*at + 4].copy_from_slice(&value.to_ne_bytes());
        }
        bytes
    }

    #[test]
    fn a_loss_tells_where_the_path_ends_and_no_loss_a_lower_bound() {
        let peer = "192.0.2.77".parse().unwrap();
        // mss 1000, ssthresh 40, cwnd 30, 2 retransmitted of 300 sent, 290,000 bytes acknowledged,
        // 80 ms.
        let lossy = info(&[
            (16, 1000),
            (76, 40),
            (80, 30),
            (100, 2),
            (120, 290_000),
            (148, 80_000),
            (156, 300),
        ]);
        let report = of_info(peer, &lossy).unwrap();
        assert_eq!(report.network, Some(v1::Network::of("192.0.2.0/24".parse().unwrap())));
        assert_eq!((report.window, report.bound()), (40_000, Bound::Loss));
        assert_eq!((report.sent, report.lost, report.min_rtt_us), (300, 2, 80_000));
        // In slow start, 64 segments: 32 are proven.
        let clean =
            info(&[(16, 1000), (76, i32::MAX as u32), (80, 64), (120, 290_000), (156, 300)]);
        let report = of_info(peer, &clean).unwrap();
        assert_eq!((report.window, report.bound()), (32_000, Bound::Over));
        // No more than was acknowledged.
        let short = info(&[(16, 1000), (76, i32::MAX as u32), (80, 64), (120, 5000)]);
        assert_eq!(of_info(peer, &short).unwrap().window, 5000);
        assert!(of_info(peer, &info(&[(16, 1000)])).is_err());
        assert!(of_info(peer, &clean[1..]).is_err());
    }

    #[test]
    fn the_kernel_tells_of_a_connection_over_loopback() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        server.write_all(&[7; 50_000]).unwrap();
        client.read_exact(&mut [0; 50_000]).unwrap();
        // An answer carries the acknowledgement.
        client.write_all(b"x").unwrap();
        server.read_exact(&mut [0]).unwrap();
        let fd = u32::try_from(server.as_raw_fd()).unwrap();
        match of_socket(None, fd) {
            Ok(report) => {
                assert_eq!(report.network, Some(v1::Network::of("127.0.0.0/24".parse().unwrap())));
                assert!(
                    (1..=50_000).contains(&report.window) && report.min_rtt_us < 1_000_000,
                    "{report:?}"
                );
            }
            Err(why) => panic!("{why}"),
        }
        assert!(of_socket(None, 1_000_000).unwrap_err().contains("ls -l /proc/"));
    }
}
