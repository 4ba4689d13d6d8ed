//! The position of a capture, seen from one connection, and its effect on times.
//!
//! A sender receives packets later than the capture shows them, and has sent its own earlier. On
//! the time axis of the capture, an ACK gets to the sender one *lag* after the capture saw it. The
//! lag is the round trip between the capture and the sender.

use units::Duration;

/// The position of a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Vantage {
    /// At the server, or next to it.
    Server,
    /// At the client, or next to it.
    Client,
    /// The capture is between server and client.
    Middle,
    /// The handshake does not show the position; treated as the server.
    #[default]
    Unknown,
}

impl Vantage {
    /// Returns a short name for tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Client => "client",
            Self::Middle => "middle",
            Self::Unknown => "unknown",
        }
    }
}

/// An end is next to the capture if the round trip between them is at most the whole round trip
/// divided by this.
const NEXT_TO: u64 = 10;
/// Round trips below this are inconclusive: hosts answer no faster.
const LEAST: Duration = Duration::from_micros(200);

/// The position of the capture, as far as the handshake shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CapturePosition {
    pub(crate) vantage: Vantage,
    /// Round trip between the capture and the client; zero if the capture is next to it.
    pub(crate) to_client: Duration,
    /// Round trip between the capture and the server; zero if the capture is next to it.
    pub(crate) to_server: Duration,
}

impl CapturePosition {
    /// Derives the position from the handshake's round trips between the capture and each end.
    pub(crate) fn of(client_rtt: Option<Duration>, server_rtt: Option<Duration>) -> Self {
        let (Some(to_client), Some(to_server)) = (client_rtt, server_rtt) else {
            return Self::default();
        };
        let near = ((to_client + to_server) / NEXT_TO).max(LEAST);
        match (to_client <= near, to_server <= near) {
            (_, true) => Self { vantage: Vantage::Server, to_client, to_server: Duration::ZERO },
            (true, false) => {
                Self { vantage: Vantage::Client, to_client: Duration::ZERO, to_server }
            }
            (false, false) => Self { vantage: Vantage::Middle, to_client, to_server },
        }
    }

    /// Returns the round trip between both ends; `None` if the handshake did not show it.
    pub(crate) fn round_trip(&self) -> Option<Duration> {
        let rtt = self.to_client + self.to_server;
        (!rtt.is_zero()).then_some(rtt)
    }

    /// Overrides the position if it is known.
    pub(crate) fn overridden_by(self, vantage: Option<Vantage>) -> Self {
        match vantage {
            Some(Vantage::Server) => {
                Self { vantage: Vantage::Server, to_server: Duration::ZERO, ..self }
            }
            Some(Vantage::Client) => {
                Self { vantage: Vantage::Client, to_client: Duration::ZERO, ..self }
            }
            Some(Vantage::Middle) => Self { vantage: Vantage::Middle, ..self },
            Some(Vantage::Unknown) | None => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_that_answers_at_once_is_next_to_the_capture() {
        let ms = |n| Some(Duration::from_millis(n));
        let vantage = |client, server| CapturePosition::of(client, server).vantage;
        assert_eq!(vantage(ms(50), ms(1)), Vantage::Server);
        assert_eq!(vantage(ms(1), ms(50)), Vantage::Client);
        assert_eq!(vantage(ms(30), ms(20)), Vantage::Middle);
        assert_eq!(vantage(ms(30), None), Vantage::Unknown);
        // On one machine both ends answer at once: nothing lags.
        let both =
            CapturePosition::of(Some(Duration::from_micros(40)), Some(Duration::from_micros(30)));
        assert_eq!((both.vantage, both.to_server), (Vantage::Server, Duration::ZERO));
    }
}
