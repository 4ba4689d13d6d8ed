//! A client's cookies, by destination, and where data in a SYN got lost.

use super::{FastOpenClient, FastOpenCookie, SynExchange};
use memory::{DestinationTable, PathKey, Scope};
use std::net::IpAddr;
use units::Instant;

/// Destinations remembered (Linux keeps as many as its metrics cache has room for).
const DESTINATIONS: usize = 4096;
const MAX_DOUBLINGS: u32 = 6;

#[derive(Clone, Copy, Debug, Default)]
struct KnownDestinations {
    cookie: Option<FastOpenCookie>,
    /// Segment size that the peer offered with it, bytes.
    mss: Option<u32>,
    /// Requests that the peer has answered without a cookie. After the first, one request has the
    /// experimental form.
    ignored: u32,
    /// SYNs with data lost in a row.
    losses: u32,
    /// Time before which SYNs carry no data.
    pause_until: Option<Instant>,
}

/// The Fast Open option and data of the next SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offer {
    /// The cookie, and data beside it.
    Cookie(FastOpenCookie),
    /// Data without a cookie.
    Bare,
    /// A request for a cookie, in the experimental form or not.
    Request(FastOpenCookie),
    /// No option: SYNs with data were lost on the path.
    Nothing,
}

/// A client's cookies.
pub(crate) struct Cookies {
    known: DestinationTable<KnownDestinations>,
    config: FastOpenClient,
}

impl Default for Cookies {
    fn default() -> Self {
        Self { known: DestinationTable::new(DESTINATIONS), config: FastOpenClient::default() }
    }
}

fn key(remote: IpAddr) -> PathKey {
    PathKey::new(remote, Scope::Host)
}

impl Cookies {
    /// Returns the Fast Open option and data for a SYN to `remote`.
    pub(crate) fn option_for_syn(&mut self, now: Instant, remote: IpAddr) -> Offer {
        let known = self.known.entry(key(remote)).copied().unwrap_or_default();
        if known.pause_until.is_some_and(|until| now < until) {
            return Offer::Nothing;
        }
        if !self.config.demands_cookie {
            return Offer::Bare;
        }
        let request = match known.ignored {
            1 => FastOpenCookie::REQUEST.as_experiment(),
            _ => FastOpenCookie::REQUEST,
        };
        known.cookie.map_or(Offer::Request(request), Offer::Cookie)
    }

    /// Sets the configuration of later SYNs.
    pub(crate) fn set(&mut self, config: FastOpenClient) {
        self.config = config;
    }

    /// Returns the configuration of SYNs.
    pub(crate) const fn config(&self) -> &FastOpenClient {
        &self.config
    }

    /// Nothing is known of anybody.
    pub(crate) fn forget(&mut self) {
        self.known = DestinationTable::new(DESTINATIONS);
    }

    /// Segment size that `remote` offered with its cookie, bytes.
    pub(crate) fn mss(&mut self, remote: IpAddr) -> Option<u32> {
        self.known.entry(key(remote))?.mss
    }

    /// Records the results of a handshake (RFC 7413 §4.1.3, §4.2.1).
    pub(crate) fn record_handshake(
        &mut self,
        now: Instant,
        remote: IpAddr,
        exchange: &SynExchange,
    ) {
        let pauses = self.config.first_pause > units::Duration::ZERO;
        let lost =
            pauses && exchange.data_sent && exchange.syn_losses > self.config.timeouts_tolerated;
        let ignored = exchange.is_ignored_request();
        let known = self.known.entry_or(key(remote), KnownDestinations::default);
        if exchange.granted.is_some() {
            known.cookie = exchange.granted;
        }
        known.mss = exchange.peer_mss.or(known.mss);
        if ignored && known.cookie.is_none() {
            known.ignored += 1;
        }
        if lost {
            let pause = self.config.first_pause * (1 << known.losses.min(MAX_DOUBLINGS));
            known.losses += 1;
            known.pause_until = Some(now + pause);
        } else if exchange.data_taken {
            (known.losses, known.pause_until) = (0, None);
        }
    }
}
