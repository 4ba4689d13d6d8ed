//! Fast Open of a connection (RFC 7413): the cookie that its SYN carries or requests, the cookie in
//! the answer, and data that the peer did not accept.

use super::{Connection, State};
use crate::config::Opening;
use crate::fast_open::{FastOpenCookie, Offer, SynExchange, SynVerdict};
use crate::segment::{Flags, Segment, TcpOptions};
use units::Instant;

impl Connection {
    /// Sets the Fast Open option of the SYN of an active open. With a cookie, the SYN carries data.
    ///
    /// With `reserve` the SYN leaves room for the longest options, below the segment size that the
    /// peer offered last, if it did (Linux `tcp_send_syn_data`).
    pub(crate) fn offer_fast_open(&mut self, offer: Offer, reserve: Option<Option<u32>>) {
        let ours = match offer {
            Offer::Cookie(cookie) | Offer::Request(cookie) => Some(cookie),
            Offer::Bare | Offer::Nothing => None,
        };
        self.early.allow(matches!(offer, Offer::Cookie(_) | Offer::Bare));
        let room = reserve.map_or(0, |known| {
            let most = self.config.mss.min(known.unwrap_or(u32::MAX));
            most.saturating_sub(TcpOptions::ROOM).max(1)
        });
        self.early.begin_exchange(SynExchange { ours, room, ..SynExchange::default() });
    }

    /// Returns the bytes of data that our SYN has room for, if it may carry any.
    pub(crate) fn early_room(&self, now: Instant) -> u64 {
        if !self.is_early_data_allowed() || self.sender.nxt() > 0 {
            return 0;
        }
        self.syn_room(now)
    }

    /// Returns the bytes of data that our SYN has room for.
    pub(super) fn syn_room(&self, now: Instant) -> u64 {
        let reserved = self.early.exchange().map_or(0, |exchange| exchange.room);
        if reserved > 0 && self.state == State::SynSent {
            return u64::from(reserved);
        }
        let options =
            if self.config.options_count { self.syn_options(now).wire_bytes() } else { 0 };
        u64::from(self.config.mss.saturating_sub(options))
    }

    /// Takes the host's decision about the peer's SYN, for a passive open.
    pub(crate) fn admit_fast_open(&mut self, verdict: SynVerdict) {
        self.early.allow(verdict.admitted);
        self.early.begin_exchange(SynExchange { ours: verdict.grant, ..SynExchange::default() });
    }

    /// Returns the option of our SYN or SYN-ACK. A retransmission has none, because a middlebox may
    /// drop SYNs with it (RFC 7413 §4.1.3, §7.2).
    pub(super) fn fast_open_option(&self) -> Option<FastOpenCookie> {
        let exchange = self.early.exchange()?;
        exchange.ours.filter(|_| self.sender.counts().timeouts == 0 && !exchange.withdrawn)
    }

    /// Retransmits our SYN at once, without data and option.
    pub(super) fn withdraw_fast_open(&mut self) {
        self.early.allow(false);
        if let Some(exchange) = self.early.exchange_mut() {
            exchange.withdrawn = true;
        }
        self.sender.lose_opening();
    }

    /// Records that our SYN is sent, with data or without, the first time or again.
    pub(super) fn note_fast_open_syn(&mut self, payload: u32) {
        let losses = self.sender.counts().timeouts as u32;
        let is_ours = self.state == State::SynSent;
        if let Some(exchange) = self.early.exchange_mut().filter(|_| is_ours) {
            exchange.data_sent |= payload > 0;
            exchange.syn_losses = losses;
        }
    }

    /// Records the SYN-ACK, which acknowledges up to `una`.
    pub(super) fn note_fast_open_answer(&mut self, una: u64, segment: &Segment) {
        if let Some(exchange) = self.early.exchange_mut() {
            // A cookie that was not requested is ignored (`tcp_rcv_fastopen_synack`).
            let asked = exchange.ours.is_some();
            let given = segment.options.fast_open.filter(|cookie| !cookie.is_request());
            exchange.granted = given.filter(|_| asked);
            exchange.data_taken = una > 1;
            exchange.peer_mss = segment.options.mss.map(u32::from);
            // Data counts as refused unless all of it was accepted.
            self.counts.data_in_syn |= una > 1 && una >= self.sender.nxt();
        }
    }

    /// Returns the result of an active open for the host, once.
    pub(crate) fn take_fast_open(&mut self) -> Option<SynExchange> {
        self.early.take_exchange()
    }

    /// True if the connection was accepted by a cookie and its handshake has not ended.
    pub(crate) fn is_pending_fast_open(&self) -> bool {
        self.early.exchange().is_some() && self.early.is_allowed() && self.sender.una() == 0
    }

    /// True if data in the peer's SYN or SYN-ACK is accepted. Our cookie proves our address, not
    /// the peer's: a SYN that crosses ours may come from any host.
    pub(super) fn takes_data_in(&self, syn: &Segment) -> bool {
        let known = self.state == State::SynReceived || syn.has(Flags::ACK);
        self.early.is_allowed() && (known || self.config.opening != Opening::FastOpen)
    }

    /// True if segments without ACK may follow the SYN, because their sender has no number to
    /// acknowledge yet.
    pub(super) fn takes_data_without_ack(&self) -> bool {
        self.state == State::SynReceived
            && self.early.is_allowed()
            && self.config.opening != Opening::FastOpen
    }
}
