//! Causes of a transfer's duration, by the names of the analyser's classes.

use serde::Serialize;

/// A cause of a transfer's duration. Names are those of the analyser, which may lack some of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TruthCause {
    /// Opening the connection.
    Handshake,
    /// The TLS handshake.
    Tls,
    /// The client sent its request.
    Request,
    /// The server had the request and sent nothing.
    Think,
    /// The window was still growing, and the path could have carried more.
    SlowStart,
    /// The window was full in congestion avoidance, and the path could have carried more.
    Avoidance,
    /// Repairing losses.
    Recovery,
    /// Waiting for the retransmission timer.
    Timeout,
    /// The receiver's window was full.
    ReceiverWindow,
    /// The server's application paused within a response.
    Application,
    /// Nagle's algorithm held a small segment until an ACK.
    Nagle,
    /// The sender's socket buffer was full.
    SendBuffer,
    /// The sender paced below the rate of the path.
    Pacing,
    /// Propagation and transmission.
    Path,
}

impl TruthCause {
    /// Its name in the analyser's tables and files.
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
            Self::Application => "application",
            Self::Nagle => "nagle",
            Self::SendBuffer => "send-buffer",
            Self::Pacing => "pacing",
            Self::Path => "path",
        }
    }
}
