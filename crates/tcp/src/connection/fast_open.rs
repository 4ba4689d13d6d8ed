//! Fast Open as a connection sees it (RFC 7413): what its SYN shows or asks for, what the answer
//! gives, and what becomes of data that the peer did not take.

use super::{Connection, State};
use crate::config::Opening;
use crate::fast_open::{FastOpenCookie, Offer, SynExchange, SynVerdict};
use crate::segment::{Flags, Segment, TcpOptions};
use units::Instant;

impl Connection {
    /// Active: what the SYN says. With a cookie it takes data along.
    ///
    /// With `reserve` the SYN leaves room for as many options as there can be, below the segment size that the peer
    /// offered last, if it did (Linux `tcp_send_syn_data`).
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

    /// Bytes of data that our SYN has room for, if it may take any.
    pub(crate) fn early_room(&self, now: Instant) -> u64 {
        if !self.is_early_data_allowed() || self.sender.nxt() > 0 {
            return 0;
        }
        self.syn_room(now)
    }

    /// Bytes of data that our SYN has room for.
    pub(super) fn syn_room(&self, now: Instant) -> u64 {
        let reserved = self.early.exchange().map_or(0, |exchange| exchange.room);
        if reserved > 0 && self.state == State::SynSent {
            return u64::from(reserved);
        }
        let options =
            if self.config.options_count { self.syn_options(now).wire_bytes() } else { 0 };
        u64::from(self.config.mss.saturating_sub(options))
    }

    /// Passive: what the host made of the peer's SYN.
    pub(crate) fn admit_fast_open(&mut self, verdict: SynVerdict) {
        self.early.allow(verdict.admitted);
        self.early.begin_exchange(SynExchange { ours: verdict.grant, ..SynExchange::default() });
    }

    /// The option of our SYN or SYN-ACK. One that goes again goes without: a box on the way may not
    /// like it (RFC 7413 §4.1.3, §7.2).
    pub(super) fn fast_open_option(&self) -> Option<FastOpenCookie> {
        let exchange = self.early.exchange()?;
        exchange.ours.filter(|_| self.sender.counts().timeouts == 0 && !exchange.withdrawn)
    }

    /// Our SYN goes again at once, without data and option.
    pub(super) fn withdraw_fast_open(&mut self) {
        self.early.allow(false);
        if let Some(exchange) = self.early.exchange_mut() {
            exchange.withdrawn = true;
        }
        self.sender.lose_opening();
    }

    /// Our SYN leaves, with data or not, or leaves again.
    pub(super) fn note_fast_open_syn(&mut self, payload: u32) {
        let losses = self.sender.counts().timeouts as u32;
        let is_ours = self.state == State::SynSent;
        if let Some(exchange) = self.early.exchange_mut().filter(|_| is_ours) {
            exchange.data_sent |= payload > 0;
            exchange.syn_losses = losses;
        }
    }

    /// The SYN-ACK has come and acknowledges up to `una`.
    pub(super) fn note_fast_open_answer(&mut self, una: u64, segment: &Segment) {
        if let Some(exchange) = self.early.exchange_mut() {
            // A cookie that nobody asked for is ignored (`tcp_rcv_fastopen_synack`).
            let asked = exchange.ours.is_some();
            let given = segment.options.fast_open.filter(|cookie| !cookie.is_request());
            exchange.granted = given.filter(|_| asked);
            exchange.data_taken = una > 1;
            exchange.peer_mss = segment.options.mss.map(u32::from);
            // All of it, or it counts as refused.
            self.counts.data_in_syn |= una > 1 && una >= self.sender.nxt();
        }
    }

    /// What the host is to learn of an active open, once.
    pub(crate) fn take_fast_open(&mut self) -> Option<SynExchange> {
        self.early.take_exchange()
    }

    /// It was accepted by a cookie, and its handshake has not ended.
    pub(crate) fn is_pending_fast_open(&self) -> bool {
        self.early.exchange().is_some() && self.early.is_allowed() && self.sender.una() == 0
    }

    /// Data in the peer's SYN or SYN-ACK is taken. Our cookie shows that we are who we are, not the peer:
    /// a SYN that crosses ours is anybody's.
    pub(super) fn takes_data_in(&self, syn: &Segment) -> bool {
        let known = self.state == State::SynReceived || syn.has(Flags::ACK);
        self.early.is_allowed() && (known || self.config.opening != Opening::FastOpen)
    }

    /// Segments without ACK may follow the SYN: they know no number to acknowledge yet.
    pub(super) fn takes_data_without_ack(&self) -> bool {
        self.state == State::SynReceived
            && self.early.is_allowed()
            && self.config.opening != Opening::FastOpen
    }
}
