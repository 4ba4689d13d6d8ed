//! Distinguishes the data of a TLS handshake from requests and answers.

use super::TransferMeter;
use crate::transfer::passage::PassingData;
use crate::transfer::tls::{ClientFlight, TlsHandshake};
use crate::transfer::wait::WaitCause;
use units::Instant;

impl TransferMeter {
    /// Returns true if the client's data is part of the TLS handshake that precedes the first
    /// request.
    pub(super) fn is_tls_request(&mut self, now: Instant, data: &PassingData) -> bool {
        if self.wait == WaitCause::Request && self.next_index == 0 {
            return self.begins_tls(now, data);
        }
        if self.wait != WaitCause::Tls {
            return false;
        }
        let Some(tls) = self.open.as_mut().and_then(|open| open.tls.as_deref_mut()) else {
            return false;
        };
        let flight = tls.on_client(now, data.tls, data.bytes);
        if flight != ClientFlight::Handshake {
            self.wait = WaitCause::Request;
        }
        flight != ClientFlight::Request
    }

    /// Returns true if `data` begins a TLS handshake, which the transfer then follows.
    fn begins_tls(&mut self, now: Instant, data: &PassingData) -> bool {
        let Some(open) = self.open.as_mut().filter(|open| open.tls.is_none()) else { return false };
        open.tls = TlsHandshake::begin(now, data.tls).map(Box::new);
        if open.tls.is_some() {
            self.wait = WaitCause::Tls;
        }
        open.tls.is_some()
    }

    /// Returns true if the server's data is part of the TLS handshake, or may be a ticket after it.
    pub(super) fn is_tls_response(&mut self, now: Instant, data: &PassingData) -> bool {
        let Some(open) = self.open.as_mut().filter(|open| !open.answering) else { return false };
        let Some(tls) = open.tls.as_deref_mut() else { return false };
        if self.wait == WaitCause::Tls {
            tls.on_server(now, data.tls, data.bytes, self.min_rtt);
            return true;
        }
        let is_ticket = tls.may_be_ticket(now, data.tls, data.bytes);
        if is_ticket {
            let (_, bytes) = open.ticket.get_or_insert((now, 0));
            *bytes += data.bytes;
        }
        is_ticket
    }
}
