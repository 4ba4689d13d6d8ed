//! The sender whose data is not captured: it is inferred from the ACKs of its peer.

use super::{Digesting, Side, TracedConnection};
use crate::rebuilt::{PredictedEvent, Predicting, SenderAck};
use crate::sink::TraceSink;
use capture::Observed;
use segment::{Flags, TIMESTAMPS_BYTES};

/// Payload of a full segment without options in a packet of 1500 bytes, for connections whose SYN
/// was not captured.
const LIKELY_MSS: u64 = 1460;

impl TracedConnection {
    /// Returns true if the capture shows no packet of this side.
    pub(super) fn is_blind_to(&self, side: Side) -> bool {
        side == self.server() && self.side_counters[side].packets == 0
    }

    /// Returns true if the peer of `side` sends but is not captured: it has answered the SYN, or
    /// `side` acknowledges its data.
    pub(super) fn is_evidently_blind(&self, side: Side, una: u64, acks_only: bool) -> bool {
        let answered = self.halves[side].syn.is_some() && self.opened.is_some();
        let high = self.halves[1 - side].high();
        acks_only || answered || high > 0 && una > high
    }

    /// Starts to infer the data of the peer of `side`, once the handshake is over.
    pub(super) fn predict<S: TraceSink>(
        &mut self,
        side: Side,
        segment: &Observed,
        with: &Digesting<'_, S>,
    ) {
        if self.halves[1 - side].has_sender() || segment.has(Flags::SYN) {
            return;
        }
        let syn = self.halves[side].syn;
        let stamps_bytes = u64::from(TIMESTAMPS_BYTES);
        let likely = LIKELY_MSS - stamps_bytes;
        let mut terms = self.halves[1 - side].terms(&self.halves[side], likely as u32);
        let model = with.config.models.of(self.ends[self.server()].ip);
        let config = model.config();
        let stamps = segment.options.timestamps();
        let known = syn.is_some_and(|syn| syn.mss.is_some());
        let stamped = |timestamps: bool| if timestamps { stamps_bytes } else { 0 };
        let full = if known { terms.mss + stamped(terms.timestamps) } else { LIKELY_MSS };
        terms.timestamps = stamps.is_some();
        terms.mss = full.min(u64::from(config.mss)) - stamped(terms.timestamps);
        terms.sack &= config.sack;
        let opened = (self.opened.unwrap_or(segment.at), stamps.map(|stamps| stamps.echo));
        let una = self.halves[1 - side].offset(segment.ack);
        self.halves[1 - side].reach(una);
        self.halves[1 - side].predict(model, terms, syn.as_ref(), opened);
        self.halves[1 - side].host = self.server() as u8;
    }

    /// Handles an ACK for an inferred sender, and the request in the same segment.
    pub(super) fn on_predicted_ack<S: TraceSink>(
        &mut self,
        side: Side,
        segment: &Observed,
        ack: &SenderAck,
        with: &mut Digesting<'_, S>,
    ) {
        let start = self.halves[side].data_start(segment);
        // A retransmitted request asks for nothing more: the client repeats it if its whole answer
        // was lost. Its time still shows when the server may have started to answer.
        let asked = self.halves[side].fresh_payload(start, segment);
        if let Some(predictor) = &mut self.halves[1 - side].predictor {
            predictor.on_ack(ack);
            if segment.payload > 0 {
                predictor.on_request(segment.at, asked);
            }
        }
        self.run_predictor(1 - side, false, with);
    }

    /// Lets the inferred sender of `side` go on; `over`: to its end.
    pub(super) fn run_predictor<S: TraceSink>(
        &mut self,
        side: Side,
        over: bool,
        with: &mut Digesting<'_, S>,
    ) {
        let traced_sender = self.traced_sender(side);
        let half = &mut self.halves[side];
        let (Some(predictor), Some(sender)) = (&mut half.predictor, &mut half.sender) else {
            return;
        };
        let counters = &mut self.side_counters[side];
        let sink = &mut *with.sink;
        let wants_windows = sink.wants_windows();
        let emit = |event| match event {
            PredictedEvent::Again(retransmission) => {
                counters.count_retransmission(&retransmission);
                sink.on_retransmission(&traced_sender, &retransmission);
            }
            PredictedEvent::Window(point) if wants_windows => {
                sink.on_window(&traced_sender, &point)
            }
            PredictedEvent::Window(_) => {}
            PredictedEvent::Sent(sent) => sink.on_sent(&traced_sender, &sent),
            PredictedEvent::Unforeseen(bytes) => counters.rare_counters().unseen_bytes += bytes,
            PredictedEvent::Transfer(report) => sink.on_transfer(&traced_sender, &report),
            PredictedEvent::RoundTrip(at, rtt) => sink.on_round_trip(&traced_sender, at, rtt),
        };
        predictor.run(&mut Predicting { sender, meter: &mut self.meter, emit }, over);
    }
}
