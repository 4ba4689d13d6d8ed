//! Handles data: updates the sender that sent it, and the transfer that it is a part of.

use super::{Digesting, Side, TracedConnection};
use crate::half::Late;
use crate::kinds::Retransmission;
use crate::rebuilt::{DataDigest, SeenData};
use crate::sink::TraceSink;
use crate::transfer::{Passage, PassingData};
use crate::vantage::Vantage;
use capture::Observed;
use segment::Flags;
use units::{Duration, Instant};

/// Longest run of missing bytes that is taken for loss, bytes. After a longer one the capture had
/// stopped for a while.
const MAX_MISSED: u64 = 1 << 20;

impl TracedConnection {
    /// Handles a segment that has data or ends the stream.
    pub(super) fn on_data<S: TraceSink>(
        &mut self,
        side: Side,
        segment: &Observed,
        with: &mut Digesting<'_, S>,
    ) {
        let start = self.halves[side].data_start(segment);
        if self.is_blind_to(1 - side) {
            // No ACK of it would be captured.
            return self.on_data_without_answers(side, segment, start, with);
        }
        let end = start + u64::from(segment.payload) + u64::from(segment.has(Flags::FIN));
        if end > self.halves[side].high() + (1 << 30) {
            return;
        }
        if self.halves[side].has_late() {
            // Answers are a little earlier than the lag of the handshake.
            self.deliver(side, segment.at + self.capture_to_host_delay(side) / 8, with);
        }
        if segment.has(Flags::FIN) {
            self.fins[side] = end;
            if side != self.server() {
                self.pass(
                    segment.at + self.capture_to_host_delay(1 - side),
                    Passage::ClientClosed,
                    with,
                );
            }
        }
        let asked = self.meter.request_bytes();
        let little =
            side != self.server() && self.halves[side].send_little(segment.at, start, end, asked);
        let digest = if little {
            DataDigest { fresh: segment.payload.into(), ..DataDigest::default() }
        } else {
            self.digest_data(side, segment, start, with)
        };
        self.halves[side].reach(end);
        self.count_data(side, segment.payload > 0, &digest);
        if side == self.server() && self.place.vantage == Vantage::Client {
            let delay = self.halves[side].delay(segment, self.place.to_server);
            self.meter.on_arrival(segment.at, segment.payload.into(), delay);
        }
        if let Some(retransmission) = digest.retransmission {
            self.on_retransmission(side, &retransmission, with);
        }
        if digest.probe && side == self.server() {
            self.pass(segment.at, Passage::Probed, with);
        }
        if digest.fresh > 0 && !digest.overtaken {
            // The missing bytes before it are a part of the stream, too. If they were lost, only a
            // gap in the sequence numbers shows them; if they were overtaken, they follow later.
            let missed = if digest.unseen < MAX_MISSED { digest.unseen } else { 0 };
            let data_end = end - u64::from(segment.has(Flags::FIN));
            let data = PassingData { bytes: digest.fresh + missed, tls: segment.tls };
            self.on_fresh(side, segment.at, data_end, data, with);
            if side != self.server() {
                self.on_upload(side, segment, data);
            }
        }
    }

    /// Counts a packet of `side` with data, and its payload that was not sent before.
    #[inline]
    fn count_data(&mut self, side: Side, has_payload: bool, digest: &DataDigest) {
        let counters = &mut self.side_counters[side];
        counters.data_packets += u32::from(has_payload);
        counters.bytes += digest.fresh;
        if digest.unseen > 0 || digest.probe || digest.overtaken {
            self.count_rare(side, digest);
        }
    }

    /// Counts what few packets have: bytes before them that the capture lacks, window probes, and
    /// data that later data has overtaken.
    #[cold]
    fn count_rare(&mut self, side: Side, digest: &DataDigest) {
        let counters = &mut self.side_counters[side];
        if digest.unseen > 0 {
            counters.rare_counters().unseen_bytes += digest.unseen;
        }
        if digest.probe {
            counters.rare_counters().probes += 1;
        }
        if digest.overtaken {
            counters.rare_counters().reordered += 1;
            counters.rare_counters().unseen_bytes -=
                digest.fresh.min(counters.rare_counters().unseen_bytes);
        }
    }

    /// Handles that `side` has sent `data` for the first time, up to `end`: a part of a response,
    /// or of a request, which the server has a lag later.
    fn on_fresh<S: TraceSink>(
        &mut self,
        side: Side,
        at: Instant,
        end: u64,
        data: PassingData,
        with: &mut Digesting<'_, S>,
    ) {
        if side == self.server() {
            self.report_sent(at, end, data.bytes, with);
            self.begin_small_request(with);
            if self.upload.is_some() {
                self.end_upload();
            }
            return self.pass(at, Passage::Response(data), with);
        }
        let lag = self.place.to_server;
        if lag.is_zero() {
            return self.pass_request(at, data, with);
        }
        let late = Late { at: at + lag, ack: None, request: data };
        self.halves[self.server()].push_late(late);
    }

    /// Reports new data of the server that ends at `end`.
    fn report_sent<S: TraceSink>(
        &self,
        at: Instant,
        end: u64,
        bytes: u64,
        with: &mut Digesting<'_, S>,
    ) {
        if let Some(sender) = &self.halves[self.server()].sender
            && with.sink.wants_packets()
        {
            with.sink.on_sent(&self.traced_server(), &sender.sent(at, end, bytes));
        }
    }

    /// Lets the sender of `side` digest its data.
    fn digest_data<S: TraceSink>(
        &mut self,
        side: Side,
        segment: &Observed,
        start: u64,
        with: &Digesting<'_, S>,
    ) -> DataDigest {
        if self.halves[side].sender.is_none() {
            let terms = self.halves[side].terms(&self.halves[1 - side], segment.payload);
            let lag = if side == self.server() { self.place.to_server } else { Duration::ZERO };
            let opened = self.opened.map(|opened| opened + lag);
            let model = with.config.models.of(self.ends[self.server()].ip);
            self.halves[side].make_sender(model, terms, opened);
            self.halves[side].host = self.server() as u8;
        }
        let Some(sender) = &mut self.halves[side].sender else { return DataDigest::default() };
        sender.on_data(&SeenData {
            at: segment.at,
            start,
            seq: segment.seq.0,
            payload: segment.payload,
            fin: segment.has(Flags::FIN),
            push: segment.has(Flags::PSH),
            stamp: segment.options.timestamps().map(|timestamps| timestamps.value),
        })
    }

    /// Handles data of the client while no packet of the server is captured. Counts it, and reports
    /// new payload to the sink as a request. Only if the capture lacks the connection's beginning,
    /// the transfer gets it, too.
    fn on_data_without_answers<S: TraceSink>(
        &mut self,
        side: Side,
        segment: &Observed,
        start: u64,
        with: &mut Digesting<'_, S>,
    ) {
        let end = start + u64::from(segment.payload) + u64::from(segment.has(Flags::FIN));
        let bytes = self.halves[side].fresh_payload(start, segment);
        let counters = &mut self.side_counters[side];
        counters.data_packets += u32::from(segment.payload > 0);
        counters.bytes += bytes;
        let is_amid = self.halves[side].syn.is_none() && !with.config.acks_only;
        self.halves[side].reach(end);
        if bytes > 0 {
            with.sink.on_request(&self.traced_sender(side), segment.at, bytes);
            if is_amid {
                // It is the first packet of a connection that was open before, so its server has
                // not had the time to answer.
                let data = PassingData { bytes, tls: segment.tls };
                self.pass(segment.at, Passage::Request(data), with);
            }
        }
    }

    /// Handles a retransmission of `side`: counts it, and passes it to the sink and to the transfer
    /// that it is a part of.
    pub(super) fn on_retransmission<S: TraceSink>(
        &mut self,
        side: Side,
        retransmission: &Retransmission,
        with: &mut Digesting<'_, S>,
    ) {
        self.side_counters[side].count_retransmission(retransmission);
        with.sink.on_retransmission(&self.traced_sender(side), retransmission);
        if side == self.server() && retransmission.len > 0 {
            self.pass(retransmission.at, Passage::of_retransmission(retransmission), with);
        }
        if side != self.server() && retransmission.len > 0 {
            self.pass_upload(side, retransmission.at, Passage::of_retransmission(retransmission));
        }
        // If the capture is not at the server, it does not show whether a request got there.
        let lag = self.place.to_server;
        if side != self.server() && retransmission.len > 0 && !lag.is_zero() {
            self.pass(retransmission.at + lag, Passage::AskedAgain, with);
        }
    }
}
