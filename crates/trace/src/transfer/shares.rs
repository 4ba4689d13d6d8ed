//! Shares of a transfer's time.

use units::Duration;

/// The cause on which a part of a transfer's time was spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TimeShare {
    /// The TCP handshake: from the SYN to the ACK of the SYN-ACK.
    Handshake,
    /// The TLS handshake: from the ClientHello until the client may send its request.
    Tls,
    /// The client sent its request.
    Request,
    /// The server had the request and had sent nothing yet.
    Think,
    /// The window was below the threshold and full, and the path could have carried more.
    SlowStart,
    /// The window was full in congestion avoidance, and the path needed no more time.
    Avoidance,
    /// Repairing losses by ACKs, probes, or after a timeout.
    Recovery,
    /// Waiting for the retransmission timer.
    Timeout,
    /// The receiver's window was full, or shut.
    ReceiverWindow,
    /// The sender had more data than it sent, although its windows had room: its send buffer, or
    /// another limit on bytes in flight.
    SendBuffer,
    /// Nagle's algorithm held a small segment back until an ACK came (RFC 9293 §3.7.4).
    Nagle,
    /// The sender spread its segments over time, slower than window and path.
    Pacing,
    /// The window had room, and the server's application sent nothing.
    Application,
    /// Propagation and transmission, which no sender can avoid.
    Path,
    /// No evidence in the capture shows the cause of the time.
    Unexplained,
}

impl TimeShare {
    /// Number of shares.
    pub const COUNT: usize = 15;
    /// All, in the order of tables.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Handshake,
        Self::Tls,
        Self::Request,
        Self::Think,
        Self::SlowStart,
        Self::Avoidance,
        Self::Recovery,
        Self::Timeout,
        Self::ReceiverWindow,
        Self::SendBuffer,
        Self::Nagle,
        Self::Pacing,
        Self::Application,
        Self::Path,
        Self::Unexplained,
    ];

    /// Returns a short name for tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::Tls => "tls",
            Self::Request => "request",
            Self::Think => "think",
            Self::SlowStart => "slow-start",
            Self::Avoidance => "avoidance",
            Self::Recovery => "recovery",
            Self::Timeout => "timeout",
            Self::ReceiverWindow => "receiver-window",
            Self::SendBuffer => "send-buffer",
            Self::Nagle => "nagle",
            Self::Pacing => "pacing",
            Self::Application => "application",
            Self::Path => "path",
            Self::Unexplained => "unexplained",
        }
    }
}

/// The time of a transfer by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeShares([Duration; TimeShare::COUNT]);

impl TimeShares {
    /// Returns the time spent on this cause.
    pub const fn of(&self, share: TimeShare) -> Duration {
        self.0[share as usize]
    }

    /// Returns the sum: the duration of the transfer.
    pub fn total(&self) -> Duration {
        self.0.iter().fold(Duration::ZERO, |sum, &share| sum + share)
    }

    /// Adds time to a share.
    pub fn add(&mut self, share: TimeShare, time: Duration) {
        self.0[share as usize] += time;
    }

    /// Sets the time spent on this cause.
    pub(super) fn set(&mut self, share: TimeShare, time: Duration) {
        self.0[share as usize] = time;
    }

    /// Removes up to `most` from a share.
    pub(super) fn shift_out(&mut self, share: TimeShare, most: Duration) {
        self.set(share, self.of(share).saturating_sub(most));
    }

    /// Returns the same proportions scaled so that they add up to `time`. `None` if all shares are
    /// zero.
    pub(super) fn scaled_to(&self, time: Duration) -> Option<Self> {
        let total = u128::from(self.total().as_nanos());
        let scale = |part: Duration| {
            let nanos = u128::from(part.as_nanos()) * u128::from(time.as_nanos()) / total.max(1);
            Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
        };
        let mut scaled = Self(self.0.map(scale));
        let rest = time.saturating_sub(scaled.total());
        scaled.add(TimeShare::Path, rest);
        (total > 0).then_some(scaled)
    }

    /// Adds the shares of others, and sets theirs to zero.
    pub(super) fn take_all(&mut self, others: &mut Self) {
        for (share, other) in self.0.iter_mut().zip(&mut others.0) {
            *share += std::mem::take(other);
        }
    }

    /// Moves up to `most` from one share to another; returns the time moved.
    pub(super) fn move_time(&mut self, from: TimeShare, to: TimeShare, most: Duration) -> Duration {
        let moved = self.of(from).min(most);
        self.0[from as usize] = self.of(from).saturating_sub(moved);
        self.add(to, moved);
        moved
    }
}
