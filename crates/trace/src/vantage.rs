//! Where a capture was made, seen from one connection, and what that means for its times.
//!
//! What a sender gets, it gets later than the capture shows it, and what it sends was sent earlier. Seen by
//! the times at which its data passes the capture, an ACK reaches the sender one *lag* after the capture saw
//! it: the round trip between the capture and the sender.

use units::Duration;

/// Where a capture was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Vantage {
    /// At the server, or next to it.
    Server,
    /// At the client, or next to it.
    Client,
    /// Between them.
    Middle,
    /// The handshake does not tell; taken for the server.
    #[default]
    Unknown,
}

impl Vantage {
    /// A short name for tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Client => "client",
            Self::Middle => "middle",
            Self::Unknown => "unknown",
        }
    }
}

/// An end is next to the capture if no more than this part of the round trip lies between them.
const NEXT_TO: u64 = 10;
/// Hosts answer no faster than that, so less says nothing.
const LEAST: Duration = Duration::from_micros(200);

/// What the handshake tells of the place of the capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) vantage: Vantage,
    /// Round trip between the capture and the client; zero where that is next to it.
    pub(crate) to_client: Duration,
    /// The same of the server.
    pub(crate) to_server: Duration,
}

impl Place {
    /// By the round trips of the handshake between the capture and each end.
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

    /// The round trip between both ends; `None` where the handshake did not tell.
    pub(crate) fn round_trip(&self) -> Option<Duration> {
        let rtt = self.to_client + self.to_server;
        (!rtt.is_zero()).then_some(rtt)
    }

    /// The same where it is known where the capture was made.
    pub(crate) fn given(self, vantage: Option<Vantage>) -> Self {
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
        let vantage = |client, server| Place::of(client, server).vantage;
        assert_eq!(vantage(ms(50), ms(1)), Vantage::Server);
        assert_eq!(vantage(ms(1), ms(50)), Vantage::Client);
        assert_eq!(vantage(ms(30), ms(20)), Vantage::Middle);
        assert_eq!(vantage(ms(30), None), Vantage::Unknown);
        // On one machine both answer at once: nothing lags.
        let both = Place::of(Some(Duration::from_micros(40)), Some(Duration::from_micros(30)));
        assert_eq!((both.vantage, both.to_server), (Vantage::Server, Duration::ZERO));
    }
}
