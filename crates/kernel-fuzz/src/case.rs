//! The inputs of a script: the handshake, segments that reach the host, calls of its application.

use serde::Serialize;
use tcp::{Segment, TcpOptions, Timestamps};
use units::Duration;

/// The subject of a random script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FuzzKind {
    /// Segments are lost, with SACKs in any order, lost ACKs and partial ACKs.
    Loss,
    /// Requests and responses of a kept connection, with pauses.
    Application,
    /// Nothing is delivered for a while, or everything is late.
    Timeout,
    /// Segments are late or duplicated, and the peer reports them by D-SACK.
    DuplicateSack,
    /// The peer's window is small, closes and opens; the host reads late.
    Window,
    /// Either side ends the connection, with and without data.
    Fin,
}

impl FuzzKind {
    /// All kinds with their names on the command line.
    pub const ALL: [(&'static str, Self); 6] = [
        ("loss", Self::Loss),
        ("application", Self::Application),
        ("timeout", Self::Timeout),
        ("dsack", Self::DuplicateSack),
        ("window", Self::Window),
        ("fin", Self::Fin),
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    /// The kind of a name.
    ///
    /// # Errors
    /// If no kind has the name; the message lists all names.
    pub fn named(name: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|(known, _)| *known == name);
        found.map(|(_, kind)| *kind).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|(name, _)| *name).collect();
            format!("no kind of script is named {name:?}: take one of {}", names.join(", "))
        })
    }
}

/// The peer's opening of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FuzzHandshake {
    /// The round trip of the handshake, whole milliseconds.
    pub round_trip: Duration,
    /// The segment size that the peer offers, bytes.
    pub mss: u16,
    /// The peer offers SACK.
    pub sack: bool,
    /// The peer offers timestamps.
    pub timestamps: bool,
    /// The peer's window scale, if it offers one.
    pub window_scale: Option<u8>,
    /// The window field of the peer's first two segments.
    pub window: u16,
    /// The host's application sets `TCP_NODELAY`.
    pub no_delay: bool,
}

impl FuzzHandshake {
    /// Bytes of a full segment of the host.
    pub(crate) fn payload(&self) -> u64 {
        // The host offers 1460 bytes, and a timestamp takes 12 (RFC 7323 appendix A).
        u64::from(self.mss.min(1460)) - if self.timestamps { 12 } else { 0 }
    }

    /// The options of the peer's SYN.
    pub(crate) fn syn_options(&self) -> TcpOptions {
        TcpOptions {
            mss: Some(self.mss),
            sack_permitted: self.sack,
            timestamps: self.timestamps.then_some(Timestamps { value: 1, echo: 0 }),
            window_scale: self.window_scale,
            ..TcpOptions::default()
        }
    }
}

/// One thing that happens to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stimulus {
    /// This segment reaches the host. Its numbers are a script's: 1 is the first byte of a side.
    Segment(Segment),
    /// The application writes this number of bytes.
    Write(u64),
    /// The application reads at most this number of bytes; without data nothing happens.
    Read(u64),
    /// The application calls `shutdown(SHUT_WR)`.
    Shutdown,
}

/// A stimulus and its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FuzzStep {
    /// Since the script began, whole microseconds.
    pub at: Duration,
    /// The input.
    pub stimulus: Stimulus,
}

/// The inputs of a host, without what the host does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FuzzCase {
    /// The opening of the connection.
    pub handshake: FuzzHandshake,
    /// The inputs behind the opening, in the order of time.
    pub steps: Vec<FuzzStep>,
    /// When the script ends, since it began.
    pub end: Duration,
}
