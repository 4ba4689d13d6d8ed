//! The handshake of a connection: its SYNs, the server's end, Fast Open, and the position of the
//! capture.

use super::{Digesting, Side, TracedConnection};
use crate::fast_open::FastOpenOutcome;
use crate::half::{Half, Offer};
use crate::kinds::{Retransmission, RetransmissionKind, SenderPhase};
use crate::sink::TraceSink;
use crate::transfer::PassingData;
use crate::vantage::{CapturePosition, Vantage};
use capture::Observed;
use segment::Flags;
use units::{Duration, Instant};

/// Data in the client's SYNs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FastOpenTrial {
    /// Payload of the first SYN that has any.
    data: PassingData,
    /// True if the latest SYN has data.
    is_latest: bool,
    answer: Option<FastOpenOutcome>,
}

impl FastOpenTrial {
    fn on_syn(&mut self, segment: &Observed) {
        self.is_latest = segment.payload > 0;
        if self.is_latest && self.data.bytes == 0 {
            self.data = PassingData { bytes: segment.payload.into(), tls: segment.tls };
        }
    }

    /// Notes that the server's SYN acknowledges the client's, and its data if `takes_data`.
    fn on_answer(&mut self, takes_data: bool) {
        if self.data.bytes > 0 && self.answer.is_none() {
            self.answer = Some(match (takes_data, self.is_latest) {
                (true, _) => FastOpenOutcome::Accepted,
                (false, true) => FastOpenOutcome::Ignored,
                (false, false) => FastOpenOutcome::Blackholed,
            });
        }
    }

    /// Returns the outcome; `None` if no SYN had data.
    pub(super) fn outcome(&self) -> Option<FastOpenOutcome> {
        (self.data.bytes > 0).then(|| self.answer.unwrap_or(FastOpenOutcome::Unanswered))
    }
}

impl TracedConnection {
    /// Handles a SYN or SYN-ACK of `side`. It decides which end is the server, as far as that is
    /// not known otherwise.
    pub(super) fn on_syn<S: TraceSink>(
        &mut self,
        side: Side,
        segment: &Observed,
        with: &mut Digesting<'_, S>,
    ) {
        self.halves.iter_mut().for_each(Half::forget_fields);
        let is_answer = segment.has(Flags::ACK);
        // In a split handshake both ends send a SYN, and the client answers the server's (RFC 9293
        // §3.5).
        let is_split = is_answer && self.halves[side].has_plain_syn();
        if is_answer && self.opens_anew(side, segment) {
            self.reopen(side);
        }
        let is_repeat = self.halves[side].on_syn(segment, self.opened.is_none());
        let server = match with.config.servers_that_open().and_then(|named| named.end_of(segment)) {
            Some(0) => side,
            Some(_) => 1 - side,
            None if is_split => self.server(),
            None if is_answer => side,
            None if self.halves[1 - side].syn.is_some() => self.server(),
            None => 1 - side,
        };
        self.second_serves = server == 1;
        if side != server {
            self.fast_open.on_syn(segment);
        } else if is_answer {
            self.on_syn_answer(side, segment, with);
        }
        if is_repeat && self.opened.is_none() {
            let retransmission = syn_retransmission(segment);
            self.side_counters[side].count_retransmission(&retransmission);
            with.sink.on_retransmission(&self.traced_sender(side), &retransmission);
        }
    }

    /// Returns true if a server that keeps no state opens the connection again. It has forgotten
    /// the one that seemed to be open, and has sent nothing on it: its SYN-ACK has another number.
    fn opens_anew(&self, side: Side, segment: &Observed) -> bool {
        let half = &self.halves[side];
        let is_other = half.syn.is_some() && half.origin() != Some(segment.seq);
        is_other && self.opened.is_some() && self.side_counters[side].data_packets == 0
    }

    fn reopen(&mut self, server: Side) {
        self.opened = None;
        self.halves.iter_mut().for_each(Half::restart);
        self.meter.on_reopened();
        self.second_serves = server == 1;
    }

    /// Handles the server's SYN-ACK, which shows whether it has accepted the data of the client's
    /// SYN: then that is the request.
    fn on_syn_answer<S: TraceSink>(
        &mut self,
        side: Side,
        segment: &Observed,
        with: &mut Digesting<'_, S>,
    ) {
        let data = self.fast_open.data;
        let client = &mut self.halves[1 - side];
        let Some(syn) = client.syn else { return };
        let takes_data = client.offset(segment.ack) > 1;
        let is_first = self.fast_open.answer.is_none();
        self.fast_open.on_answer(takes_data);
        if !takes_data || !is_first || data.bytes == 0 {
            return;
        }
        client.reach(1 + data.bytes);
        self.side_counters[1 - side].data_packets += 1;
        self.side_counters[1 - side].bytes += data.bytes;
        let arrived = syn.at + self.place.to_server;
        self.meter.on_opened(arrived, arrived);
        self.pass_request(arrived, data, with);
    }

    /// Opens the connection with the ACK of the SYN-ACK.
    pub(super) fn note_opening(
        &mut self,
        side: Side,
        una: u64,
        at: Instant,
        vantage: Option<Vantage>,
    ) {
        let blind = self.is_blind_to(1 - side) && self.halves[side].syn.is_some();
        let answered = self.halves[1 - side].syn.is_some() || blind;
        if 1 - side == self.server() && una >= 1 && answered {
            self.opened = Some(at);
            self.place = CapturePosition::of(self.last_client_rtt(), self.last_server_rtt())
                .overridden_by(vantage);
            let lag = self.place.to_server;
            let began = self.halves[side].syn.map_or(self.began, |syn| syn.at);
            self.meter.on_opened(began + lag, at + lag);
        }
    }

    /// Swaps the ends if a second packet with data is from the same end, and acknowledges nothing
    /// more. Then only that end's packets were captured, and the end that sends data is the server.
    pub(super) fn reconsider_server<S: TraceSink>(
        &mut self,
        side: Side,
        segment: &Observed,
        with: &mut Digesting<'_, S>,
    ) {
        let Some(first) = self.first.take() else { return };
        let is_server = side == 0 && segment.payload > 0 && segment.ack == first.ack;
        if !is_server {
            return;
        }
        let (number, copies) = (self.number, self.copies);
        *self = Self::new(number, &first, Some(0));
        self.copies = copies;
        self.on_any(0, &first, with);
        self.last = segment.at;
    }

    /// Returns the round trip of the handshake between the capture and the server.
    pub(super) fn server_rtt(&self) -> Option<Duration> {
        let [client, server] = [1 - self.server(), self.server()].map(|side| self.halves[side].syn);
        let once = |offer: &Offer| offer.repeats == 0;
        let (syn, answer) = client.filter(once).zip(server.filter(once))?;
        Some(answer.at.saturating_since(syn.at))
    }

    /// Returns the round trip between the capture and the server by the latest SYN before the
    /// answer. The server may have answered an earlier SYN: then it is even longer.
    fn last_server_rtt(&self) -> Option<Duration> {
        let [client, server] = [1 - self.server(), self.server()].map(|side| self.halves[side].syn);
        let (syn, answer) = client.zip(server)?;
        (answer.at >= syn.last_at).then(|| answer.at.saturating_since(syn.last_at))
    }

    /// Returns the round trip of the handshake between the capture and the client.
    pub(super) fn client_rtt(&self) -> Option<Duration> {
        let answer = self.halves[self.server()].syn.filter(|offer| offer.repeats == 0)?;
        Some(self.opened?.saturating_since(answer.at))
    }

    /// Returns the round trip between the capture and the client by the latest answer before its
    /// ACK.
    fn last_client_rtt(&self) -> Option<Duration> {
        let answer = self.halves[self.server()].syn?;
        let opened = self.opened?;
        (opened >= answer.last_at).then(|| opened.saturating_since(answer.last_at))
    }
}

/// Returns the retransmission of a SYN.
fn syn_retransmission(segment: &Observed) -> Retransmission {
    Retransmission {
        at: segment.at,
        last_sent: None,
        start: 0,
        seq: segment.seq.0,
        len: 0,
        kind: RetransmissionKind::Timeout,
        phase: SenderPhase::Handshake,
        spared_by: None,
        outstanding: 0,
        expected: true,
        predicted: false,
    }
}
