//! One connection: its two directions, its handshake, and the effect of a segment on both of its
//! senders.
//!
//! This module has its lifetime and its ACKs. `opening` has the handshake, `data` the handling of
//! data, `fast_path` the fast path for most segments, and `predicted` the sender whose data is not
//! captured.

mod data;
mod fast_path;
mod numbers;
mod opening;
mod predicted;
mod upload;

use crate::config::EngineConfig;
use crate::counts::Counts;
use crate::fit_error::FitError;
use crate::half::{Half, Late};
use crate::rebuilt::{AckDigest, SenderAck};
use crate::sink::{TraceSink, TracedSender};
use crate::summary::{ConnectionTrace, SenderCounters, TraceEnd};
use crate::transfer::{
    ConnectionEnd, Passage, PassingAck, PassingData, TransferEnd, TransferMeter,
};
use crate::vantage::CapturePosition;
use capture::{Observed, TcpEnd};
use opening::FastOpenTrial;
use segment::Flags;
use units::{Duration, Instant};

/// One end of a connection: the one whose packet was seen first, or the other.
pub(crate) type Side = usize;

/// State that all connections share while a segment is digested.
pub(crate) struct Digesting<'a, S> {
    pub(crate) config: &'a EngineConfig,
    pub(crate) sink: &'a mut S,
}

/// An open connection.
pub(crate) struct TracedConnection {
    pub(crate) number: u64,
    pub(crate) ends: [TcpEnd; 2],
    /// True if the server is the end that did not send the first packet.
    second_serves: bool,
    began: Instant,
    pub(crate) last: Instant,
    /// Time at which an ACK of the SYN-ACK completed the handshake.
    opened: Option<Instant>,
    fast_open: FastOpenTrial,
    /// The first packet, while it alone decides which end is the server's.
    first: Option<Box<Observed>>,
    halves: [Half; 2],
    side_counters: [Counts; 2],
    meter: TransferMeter,
    /// Meter of the time of a large request, until it is answered.
    upload: Option<Box<TransferMeter>>,
    place: CapturePosition,
    copies: u64,
    /// Offsets one past the FIN of each side; 0 before it was sent.
    fins: [u64; 2],
    fins_acked: [bool; 2],
    /// The side that has reset it, and the time of the reset.
    reset: Option<(Side, Instant)>,
    /// True if no more packets are expected.
    pub(crate) is_over: bool,
}

impl TracedConnection {
    /// Creates a connection whose first packet is `segment`; `server`: the server's end, if no
    /// handshake shows it.
    pub(crate) fn new(number: u64, segment: &Observed, server: Option<Side>) -> Self {
        let ends = [segment.source, segment.destination];
        Self {
            number,
            ends,
            second_serves: likely_server(segment, server) == 1,
            began: segment.at,
            last: segment.at,
            opened: None,
            fast_open: FastOpenTrial::default(),
            first: guesses_server(segment, server).then(|| Box::new(*segment)),
            halves: Default::default(),
            side_counters: Default::default(),
            meter: TransferMeter::new(segment.at, segment.has(Flags::SYN)),
            upload: None,
            place: CapturePosition::default(),
            copies: 0,
            fins: [0; 2],
            fins_acked: [false; 2],
            reset: None,
            is_over: false,
        }
    }

    /// Returns true if `segment`, a SYN, opens another connection than this one.
    pub(crate) fn is_replaced_by(&self, side: Side, segment: &Observed) -> bool {
        let is_new = self.halves[side].origin().is_some_and(|origin| origin != segment.seq);
        segment.has(Flags::SYN) && !segment.has(Flags::ACK) && is_new
    }

    /// Returns the server's end. It derives from a bool, so that no index by it has to be checked.
    #[inline]
    fn server(&self) -> Side {
        usize::from(self.second_serves)
    }

    /// Returns the reason of its end, if it ended.
    pub(crate) fn end(&self) -> Option<TraceEnd> {
        let end = match self.reset {
            Some((side, _)) if side == self.server() => TraceEnd::ResetByServer,
            Some(_) => TraceEnd::ResetByClient,
            None => TraceEnd::Closed,
        };
        self.is_over.then_some(end)
    }

    /// Digests a segment from `side`.
    #[inline]
    pub(crate) fn on_segment<S: TraceSink>(
        &mut self,
        side: Side,
        segment: &Observed,
        with: &mut Digesting<'_, S>,
    ) {
        // The mask makes bounds checks unnecessary.
        let side = side & 1;
        if with.config.acks_only && side == self.server() {
            return;
        }
        if self.halves[side].is_copy(segment, &self.place) {
            self.copies += 1;
            return;
        }
        if segment.at.saturating_since(self.last) > with.config.compress_after {
            // The result must not depend on whether packets of other connections have made the
            // engine look for idle ones.
            self.compress(with);
        }
        self.last = segment.at;
        if !self.on_fast_path(side, segment, with) {
            self.on_any(side, segment, with);
        }
    }

    /// Digests a segment from `side` that was not captured before, on the slow path.
    #[inline(never)]
    fn on_any<S: TraceSink>(
        &mut self,
        side: Side,
        segment: &Observed,
        with: &mut Digesting<'_, S>,
    ) {
        let side = side & 1;
        // The second packet never takes the fast path, since the server has sent nothing yet.
        if self.first.is_some() && self.side_counters[0].packets > 0 {
            self.reconsider_server(side, segment, with);
        }
        if self.side_counters[side].packets == 0 && self.halves[side].predictor.is_some() {
            // The sender is captured after all.
            self.run_predictor(side, true, with);
            self.halves[side].predictor = None;
        }
        self.side_counters[side].packets += 1;
        if segment.has(Flags::RST) {
            self.reset = self.reset.or(Some((side, segment.at)));
            self.is_over = true;
            return;
        }
        for side in [0, 1] {
            if self.halves[side].has_late() {
                self.deliver(side, segment.at, with);
            }
        }
        if segment.has(Flags::SYN) {
            self.on_syn(side, segment, with);
        }
        if segment.has(Flags::ACK) {
            if side != self.server() && segment.sequence_len() == 0 {
                self.meter.note_pure_ack();
            }
            self.on_ack(side, segment, with);
        }
        if segment.has(Flags::SYN) && side != self.server() {
            // Data of a SYN counts once the server has accepted it.
        } else if segment.payload > 0 || segment.has(Flags::FIN) {
            self.on_data(side, segment, with);
        } else if self.halves[side].is_before_next(segment) && self.fins[side] == 0 {
            // Linux sends keep-alives and probes of a shut window like this: without payload, one
            // byte behind.
            self.side_counters[side].rare_counters().probes += 1;
            if side == self.server() {
                self.pass(segment.at, Passage::Probed, with);
            }
        }
        self.halves[side].note_stamp(segment);
    }

    /// Handles an acknowledgement of the other side's data.
    fn on_ack<S: TraceSink>(
        &mut self,
        side: Side,
        segment: &Observed,
        with: &mut Digesting<'_, S>,
    ) {
        if self.repeats(side, segment) {
            return;
        }
        self.halves[side].forget_fields();
        let una = self.halves[1 - side].offset(segment.ack);
        if una > self.halves[1 - side].high() + (1 << 30) {
            return;
        }
        if side == self.server() && !self.place.to_server.is_zero() {
            self.shorten_lag(una, segment.at);
        }
        if self.opened.is_none() {
            self.note_opening(side, una, segment.at, with.config.vantage);
        }
        if self.is_blind_to(1 - side) && self.is_evidently_blind(side, una, with.config.acks_only) {
            self.predict(side, segment, with);
        }
        let fin = self.fins[1 - side];
        if fin > 0 && una >= fin {
            self.fins_acked[1 - side] = true;
            self.is_over |= self.fins_acked[side];
        }
        let Some(sender) = &self.halves[1 - side].sender else {
            return self.on_quiet_ack(side, segment, una);
        };
        let fresh = una >= sender.una();
        let settled = una == sender.nxt() && sender.outstanding() == 0;
        let predicted = self.halves[1 - side].predictor.is_some();
        if settled && !predicted && segment.options.sack().is_empty() {
            return self.on_settled_ack(side, segment, with);
        }
        let ack = self.read_ack(side, segment, una, fresh);
        if self.halves[1 - side].predictor.is_some() {
            return self.on_predicted_ack(side, segment, &ack, with);
        }
        let lag = self.capture_to_host_delay(1 - side);
        if lag.is_zero() {
            return self.on_arrived_ack(1 - side, &ack, with);
        }
        let at = segment.at + lag;
        let ack = Some(SenderAck { at, ..ack });
        self.halves[1 - side].push_late(Late { at, ack, request: PassingData::default() });
    }

    /// Handles an ACK that shows a sender nothing but a window: all is acknowledged.
    fn on_settled_ack<S: TraceSink>(
        &mut self,
        side: Side,
        segment: &Observed,
        with: &mut Digesting<'_, S>,
    ) {
        let window = self.offered_window(side, segment);
        let Some(sender) = &mut self.halves[1 - side].sender else { return };
        let was_shut = sender.is_shut_out();
        sender.set_window(window);
        if was_shut && !sender.is_shut_out() && 1 - side == self.server() {
            self.pass(segment.at + self.place.to_server, Passage::WindowOpened, with);
        }
    }

    /// Returns true if the segment repeats the acknowledgement of the one before, to a side without
    /// a sender. Most segments of a response do.
    #[inline]
    fn repeats(&self, side: Side, segment: &Observed) -> bool {
        self.halves[side].says_the_same(segment)
            && self.halves[1 - side].sender.is_none()
            && self.fins[1 - side] == 0
    }

    /// Handles an ACK for a side without a sender.
    fn on_quiet_ack(&mut self, side: Side, segment: &Observed, una: u64) {
        let window = self.offered_window(side, segment);
        self.halves[1 - side].set_quiet_window(window);
        self.halves[1 - side].note_acked(una);
        let is_open = self.opened.is_some() || side == self.server();
        if is_open && !self.is_blind_to(1 - side) {
            self.halves[side].note_fields(segment);
        }
    }

    /// Returns the window that a segment of `side` offers.
    fn offered_window(&self, side: Side, segment: &Observed) -> u64 {
        let peer = self.halves[1 - side].syn.as_ref().filter(|_| !self.is_blind_to(1 - side));
        self.halves[side].window(segment, peer)
    }

    /// Returns the time from the capture of a packet to its arrival at the host of `side`.
    fn capture_to_host_delay(&self, side: Side) -> Duration {
        if side == self.server() { self.place.to_server } else { self.place.to_client }
    }

    /// Shortens the lag if the server acknowledges sooner than its handshake did. Another host may
    /// have answered that, but its data comes from nearer.
    fn shorten_lag(&mut self, una: u64, now: Instant) {
        let client = &self.halves[1 - self.server()];
        if let Some(took) = client.sent_before_ack(una, now)
            && took < self.place.to_server / 2
        {
            self.place.to_server = took;
        }
    }

    /// Delivers the packets that have got to the host of `side` by `now`, or are about to.
    fn deliver<S: TraceSink>(&mut self, side: Side, now: Instant, with: &mut Digesting<'_, S>) {
        while let Some(late) = self.halves[side].pop_late(now) {
            if let Some(ack) = late.ack {
                self.on_arrived_ack(side, &ack, with);
            }
            if late.request.bytes > 0 {
                self.pass_request(late.at, late.request, with);
            }
        }
    }

    /// Passes an ACK to the sender of `side`.
    fn on_arrived_ack<S: TraceSink>(
        &mut self,
        side: Side,
        ack: &SenderAck,
        with: &mut Digesting<'_, S>,
    ) {
        let side = side & 1;
        let Some(sender) = &mut self.halves[side].sender else { return };
        let (digest, unseen) = sender.on_seen_ack(ack.read(), ack.window);
        let point = with.sink.wants_windows().then(|| sender.snapshot(ack.at));
        if let Some(rtt) = digest.rtt
            && with.sink.wants_round_trips()
        {
            with.sink.on_round_trip(&self.traced_sender(side), ack.at, rtt);
        }
        self.side_counters[side].count_reported(unseen, digest.has_dsack);
        if let Some(point) = point {
            with.sink.on_window(&self.traced_sender(side), &point);
        }
        let AckDigest { acked, delivered, rtt, .. } = digest;
        let passage = Passage::Acked(PassingAck { acked, delivered, rtt });
        if side == self.server() {
            self.pass(ack.at, passage, with);
        } else {
            self.pass_upload(side, ack.at, passage);
        }
    }

    #[inline]
    fn read_ack(&mut self, side: Side, segment: &Observed, una: u64, fresh: bool) -> SenderAck {
        let window = self.offered_window(side, segment);
        let ack = self.halves[1 - side].read_ack(segment, una, fresh.then_some(window));
        self.halves[1 - side].reach(ack.una);
        ack
    }

    /// Handles an event that concerns the server's sender.
    #[inline(always)]
    fn pass<S: TraceSink>(&mut self, at: Instant, passage: Passage, with: &mut Digesting<'_, S>) {
        let half = &mut self.halves[self.server()];
        if half.predictor.is_some() {
            return;
        }
        let state = half.sender.as_deref_mut().map(|sender| sender.state(at));
        if let Some(report) = self.meter.on_passage(at, passage, state) {
            with.sink.on_transfer(&self.traced_sender(self.server()), &report);
        }
    }

    /// Handles new data of the client at the server. The meter knows whether a request begins with
    /// it. It does not see the requests of an inferred sender.
    fn pass_request<S: TraceSink>(
        &mut self,
        at: Instant,
        data: PassingData,
        with: &mut Digesting<'_, S>,
    ) {
        let before = self.meter.request_time();
        self.pass(at, Passage::Request(data), with);
        let is_predicted = self.halves[self.server()].predictor.is_some();
        let begins = self.meter.request_time() != before && !self.meter.may_be_control();
        if is_predicted || begins {
            with.sink.on_request(&self.traced_sender(1 - self.server()), at, data.bytes);
        }
    }

    /// Notes that the server answers now. If the client's data might have been control frames, the
    /// answer shows that it was a request.
    pub(super) fn begin_small_request<S: TraceSink>(&self, with: &mut Digesting<'_, S>) {
        if self.meter.may_be_control()
            && let Some(asked) = self.meter.request_time()
        {
            let client = self.traced_sender(1 - self.server());
            with.sink.on_request(&client, asked, self.meter.request_bytes());
        }
    }

    /// Digests all queued packets.
    pub(crate) fn finish<S: TraceSink>(&mut self, with: &mut Digesting<'_, S>) {
        self.run_predictor(self.server(), true, with);
        for side in [1 - self.server(), self.server()] {
            self.deliver(side, Instant::FAR_FUTURE, with);
        }
        let end =
            ConnectionEnd { at: self.reset.map_or(self.last, |(_, at)| at), cut: self.cut_by() };
        self.end_upload();
        if let Some(report) = self.meter.finish(&end) {
            with.sink.on_transfer(&self.traced_sender(self.server()), &report);
        }
    }

    /// Returns the outcome of a transfer that the end of the connection cuts off.
    fn cut_by(&self) -> TransferEnd {
        match self.reset {
            Some((side, _)) if side == self.server() => TransferEnd::CutByServer,
            Some(_) => TransferEnd::CutByClient,
            None => TransferEnd::Unfinished,
        }
    }

    /// Returns the server, as results name it.
    pub(crate) fn traced_server(&self) -> TracedSender {
        self.traced_sender(self.server())
    }

    fn traced_sender(&self, side: Side) -> TracedSender {
        TracedSender {
            connection: self.number,
            client: self.ends[1 - self.server()],
            server: self.ends[self.server()],
            is_server: side == self.server(),
        }
    }

    fn counters(&self, side: Side) -> SenderCounters {
        let sender = self.halves[side].sender.as_ref();
        self.side_counters[side]
            .counters(sender.map_or_else(FitError::default, |sender| *sender.fit_error()))
    }

    /// Compresses an idle connection. An answer that pauses for so long is over.
    pub(crate) fn compress<S: TraceSink>(&mut self, with: &mut Digesting<'_, S>) {
        // If the capture is not at the server, its last ACKs are still on their way: they end the
        // transfer.
        for side in [0, 1] {
            if self.halves[side].has_late() {
                self.deliver(side, self.last + with.config.compress_after, with);
            }
        }
        let predicted = self.halves[self.server()].predictor.is_some();
        if !predicted && let Some(report) = self.meter.finish_answered() {
            with.sink.on_transfer(&self.traced_sender(self.server()), &report);
        }
        for (half, counts) in self.halves.iter_mut().zip(&mut self.side_counters) {
            if let Some(fit_error) = half.compress()
                && fit_error != FitError::default()
            {
                counts.rare_counters().fit_error.add(&fit_error);
            }
        }
    }

    /// Returns the report of the connection.
    pub(crate) fn summary(&self, end: TraceEnd) -> ConnectionTrace {
        let (client, server) = (1 - self.server(), self.server());
        ConnectionTrace {
            connection: self.number,
            client: self.ends[client],
            server: self.ends[server],
            began: self.began,
            ended: self.last,
            end,
            handshake_seen: self.opened.is_some() && self.halves[client].syn.is_some(),
            client_rtt: self.client_rtt(),
            server_rtt: self.server_rtt(),
            vantage: self.place.vantage,
            fast_open: self.fast_open.outcome(),
            client_sent: self.counters(client),
            server_sent: self.counters(server),
            copies: self.copies,
        }
    }
}

/// Returns the server's end by the first packet: the end that gets a SYN or sends a SYN-ACK, else
/// the end with the lower port.
fn likely_server(segment: &Observed, named: Option<Side>) -> Side {
    if segment.has(Flags::SYN) {
        usize::from(!segment.has(Flags::ACK))
    } else {
        named.unwrap_or(usize::from(segment.destination.port < segment.source.port))
    }
}

/// Returns true if the first packet has data from the end with the higher port, and only the ports
/// show which end is the server's.
fn guesses_server(segment: &Observed, named: Option<Side>) -> bool {
    let is_known = segment.has(Flags::SYN) || named.is_some() || segment.payload == 0;
    !is_known && likely_server(segment, named) == 1
}
