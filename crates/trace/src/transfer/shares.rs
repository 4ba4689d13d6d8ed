//! Shares of a transfer's time.

use units::Duration;

/// What the time of a transfer was spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TimeShare {
    /// Opening the connection: from the SYN to the ACK of the SYN-ACK.
    Handshake,
    /// The client sent its request.
    Request,
    /// The server had the request and sent nothing.
    Think,
    /// The window was below the threshold and full, and the path could have carried more.
    SlowStart,
    /// The window was full in congestion avoidance, beyond what the path needs.
    Avoidance,
    /// Repairing losses by ACKs, probes, or after a timeout.
    Recovery,
    /// Waiting for the retransmission timer.
    Timeout,
    /// The receiver's window was full.
    ReceiverWindow,
    /// The window had room, and the server's application sent nothing.
    Application,
    /// Propagation and transmission, which no sender can spare.
    Path,
}

impl TimeShare {
    /// How many there are.
    pub const COUNT: usize = 10;
    /// All, in the order of tables.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Handshake,
        Self::Request,
        Self::Think,
        Self::SlowStart,
        Self::Avoidance,
        Self::Recovery,
        Self::Timeout,
        Self::ReceiverWindow,
        Self::Application,
        Self::Path,
    ];

    /// A short name for tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::Request => "request",
            Self::Think => "think",
            Self::SlowStart => "slow-start",
            Self::Avoidance => "avoidance",
            Self::Recovery => "recovery",
            Self::Timeout => "timeout",
            Self::ReceiverWindow => "receiver-window",
            Self::Application => "application",
            Self::Path => "path",
        }
    }
}

/// The time of a transfer by what it was spent on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeShares([Duration; TimeShare::COUNT]);

impl TimeShares {
    /// The time spent on this.
    pub const fn of(&self, share: TimeShare) -> Duration {
        self.0[share as usize]
    }

    /// All together: the duration of the transfer.
    pub fn total(&self) -> Duration {
        self.0.iter().fold(Duration::ZERO, |sum, &share| sum + share)
    }

    /// Adds time.
    pub fn add(&mut self, share: TimeShare, time: Duration) {
        self.0[share as usize] += time;
    }

    /// Adds those of others, which have none afterwards.
    pub(super) fn take_all(&mut self, others: &mut Self) {
        for (share, other) in self.0.iter_mut().zip(&mut others.0) {
            *share += std::mem::take(other);
        }
    }

    /// Moves up to `most` from one share to another; answers how much.
    pub(super) fn shift(&mut self, from: TimeShare, to: TimeShare, most: Duration) -> Duration {
        let moved = self.of(from).min(most);
        self.0[from as usize] = self.of(from).saturating_sub(moved);
        self.add(to, moved);
        moved
    }
}
