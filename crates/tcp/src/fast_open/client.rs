//! A client's cookies, by destination, and where data in a SYN got lost.

use super::{FastOpenCookie, SynExchange};
use memory::{DestinationTable, PathKey, Scope};
use std::net::IpAddr;
use units::{Duration, Instant};

/// Destinations remembered (Linux keeps as many as its metrics cache has room for).
const DESTINATIONS: usize = 4096;
/// How long no data goes into SYNs to where one was lost, the first time; twice as long each further
/// time (Linux `tcp_fastopen_blackhole_timeout_sec`).
const FIRST_PAUSE: Duration = Duration::from_secs(3600);
const MOST_DOUBLINGS: u32 = 6;

#[derive(Clone, Copy, Debug, Default)]
struct Known {
    cookie: Option<FastOpenCookie>,
    /// SYNs with data lost in a row.
    losses: u32,
    /// No data in SYNs before this.
    pause_until: Option<Instant>,
}

/// What the next SYN says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offer {
    /// The cookie, and data beside it.
    Cookie(FastOpenCookie),
    /// A request for one.
    Request,
    /// Nothing: the way there has swallowed data in SYNs.
    Nothing,
}

/// A client's cookies.
pub(crate) struct Cookies {
    known: DestinationTable<Known>,
}

impl Default for Cookies {
    fn default() -> Self {
        Self { known: DestinationTable::new(DESTINATIONS) }
    }
}

fn key(remote: IpAddr) -> PathKey {
    PathKey::new(remote, Scope::Host)
}

impl Cookies {
    /// What a SYN to `remote` is to carry.
    pub(crate) fn offer(&mut self, now: Instant, remote: IpAddr) -> Offer {
        let Some(known) = self.known.entry(key(remote)) else { return Offer::Request };
        if known.pause_until.is_some_and(|until| now < until) {
            return Offer::Nothing;
        }
        known.cookie.map_or(Offer::Request, Offer::Cookie)
    }

    /// What the handshake has shown (RFC 7413 §4.1.3, §4.2.1).
    pub(crate) fn learn(&mut self, now: Instant, remote: IpAddr, exchange: &SynExchange) {
        let lost = exchange.data_sent && exchange.syn_lost;
        if !lost && exchange.granted.is_none() && !exchange.data_taken {
            return;
        }
        let known = self.known.entry_or(key(remote), Known::default);
        if exchange.granted.is_some() {
            known.cookie = exchange.granted;
        }
        if lost {
            let pause = FIRST_PAUSE * (1 << known.losses.min(MOST_DOUBLINGS));
            known.losses += 1;
            known.pause_until = Some(now + pause);
        } else if exchange.data_taken {
            (known.losses, known.pause_until) = (0, None);
        }
    }
}
