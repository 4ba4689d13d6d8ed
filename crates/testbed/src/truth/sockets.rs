//! Socket options of both ends, and the kernel's counters of a connection.

use emulator::TcpInfo;
use nix::libc;
use nix::sys::socket::{getsockopt, setsockopt};
use nix::{getsockopt_impl, setsockopt_impl, sockopt_impl};
use serde::Serialize;
use socket2::{SockRef, Socket};
use std::io;
use std::net::TcpStream;
use units::{Duration, Rate};

/// Options of a socket; the default is that of a web server or a browser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TruthSocket {
    /// Congestion control of the kernel; `None`: `cubic`.
    pub control: Option<&'static str>,
    /// Nagle's algorithm is on.
    pub nagle: bool,
    /// `SO_SNDBUF`, bytes; the kernel doubles it.
    pub send_buffer: Option<usize>,
    /// `SO_RCVBUF`, bytes; the kernel doubles it.
    pub receive_buffer: Option<usize>,
    /// `TCP_NOTSENT_LOWAT`, bytes.
    pub unsent_low: Option<u32>,
    /// `TCP_WINDOW_CLAMP`, bytes: the largest window that is advertised.
    pub window_clamp: Option<u32>,
    /// `SO_MAX_PACING_RATE`, bits per second.
    pub pacing_bps: Option<u64>,
}

sockopt_impl!(
    /// `SO_MAX_PACING_RATE`, bytes per second.
    MaxPacingRate,
    SetOnly,
    libc::SOL_SOCKET,
    libc::SO_MAX_PACING_RATE,
    u32
);
sockopt_impl!(
    /// `TCP_WINDOW_CLAMP`, bytes.
    WindowClamp,
    SetOnly,
    libc::IPPROTO_TCP,
    libc::TCP_WINDOW_CLAMP,
    u32
);
sockopt_impl!(
    /// `SO_MEMINFO`, in the order of `SK_MEMINFO_*` (include/uapi/linux/sock_diag.h).
    MemoryInfo,
    GetOnly,
    libc::SOL_SOCKET,
    libc::SO_MEMINFO,
    [u32; 9]
);

impl TruthSocket {
    /// Sets the options before the socket connects or listens.
    ///
    /// # Errors
    /// If the kernel refuses one; [`io::ErrorKind::NotFound`] for an unknown congestion control.
    pub(super) fn apply(&self, socket: &Socket) -> io::Result<()> {
        socket.set_tcp_congestion(self.control.unwrap_or("cubic").as_bytes())?;
        socket.set_tcp_nodelay(!self.nagle)?;
        if let Some(bytes) = self.send_buffer {
            socket.set_send_buffer_size(bytes)?;
        }
        if let Some(bytes) = self.receive_buffer {
            socket.set_recv_buffer_size(bytes)?;
        }
        if let Some(bytes) = self.unsent_low {
            socket.set_tcp_notsent_lowat(bytes)?;
        }
        if let Some(bytes) = self.window_clamp {
            setsockopt(socket, WindowClamp, &bytes)?;
        }
        if let Some(bps) = self.pacing_bps {
            setsockopt(socket, MaxPacingRate, &u32::try_from(bps / 8).unwrap_or(u32::MAX))?;
        }
        Ok(())
    }

    /// The rate that the sender's pacing is capped at, if it is.
    pub(super) fn pacing(&self) -> Option<Rate> {
        self.pacing_bps.map(Rate::from_bps)
    }
}

/// `TCP_CLOSE` (include/net/tcp_states.h).
const CLOSED: u8 = 7;

/// The kernel's counters of a connection at one of its ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KernelCounters {
    /// Time with data that was not acknowledged, microseconds (`tcpi_busy_time`).
    pub busy_us: u64,
    /// Part of this that was limited by the receiver's window, microseconds.
    pub rwnd_limited_us: u64,
    /// Part of this that was limited by the send buffer, microseconds.
    pub sndbuf_limited_us: u64,
    /// Retransmitted segments.
    pub total_retrans: u32,
    /// State of the connection, as include/net/tcp_states.h numbers it.
    pub state: u8,
    /// State of congestion control (`tcpi_ca_state`): 0 open, 1 disorder, 2 CWR, 3 recovery,
    /// 4 loss.
    pub ca_state: u8,
    /// Slow-start threshold, segments.
    pub ssthresh: u32,
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Smoothed round trip, microseconds.
    pub srtt_us: u32,
    /// Lowest round trip, microseconds.
    pub min_rtt_us: u32,
    /// Segments sent and not acknowledged.
    pub unacked: u32,
    /// Bytes in the send buffer that were never sent.
    pub notsent: u32,
    /// Memory of the send buffer in use, bytes: payload and overhead (`sk_wmem_queued`).
    pub buffered: u32,
    /// Memory that the send buffer may use, bytes (`sk_sndbuf`).
    pub send_buffer: u32,
}

impl KernelCounters {
    /// Reads the counters.
    ///
    /// # Errors
    /// Errors of getsockopt(2).
    pub(super) fn of(stream: &TcpStream) -> io::Result<Self> {
        let info = TcpInfo::of(stream)?;
        let memory = getsockopt(stream, MemoryInfo)?;
        let narrow = |at: usize| info.narrow(at) as u32;
        Ok(Self {
            send_buffer: memory[3],
            buffered: memory[5],
            state: info.state() as u8,
            ca_state: info.byte(1) as u8,
            ssthresh: narrow(76),
            unacked: narrow(24),
            srtt_us: narrow(68),
            cwnd: narrow(80),
            total_retrans: narrow(100),
            notsent: narrow(144),
            min_rtt_us: narrow(148),
            busy_us: info.wide(168),
            rwnd_limited_us: info.wide(176),
            sndbuf_limited_us: info.wide(184),
        })
    }

    /// Whether all written data is acknowledged, or never will be.
    pub(super) const fn is_drained(&self) -> bool {
        (self.unacked == 0 && self.notsent == 0) || self.state == CLOSED
    }

    /// Whether all written data is sent and not yet acknowledged, and the window has room.
    pub(super) const fn has_sent_all(&self) -> bool {
        self.notsent == 0 && 0 < self.unacked && self.unacked < self.cwnd
    }
}

/// Lets no call on this socket wait for longer than this.
///
/// # Errors
/// Errors of setsockopt(2).
pub(super) fn limit_waits(socket: SockRef<'_>, most: Duration) -> io::Result<()> {
    let most = Some(std::time::Duration::from_nanos(most.as_nanos()));
    socket.set_read_timeout(most)?;
    socket.set_write_timeout(most)
}
