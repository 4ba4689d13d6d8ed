//! One connection: its two directions, its handshake, and what a segment does to both of its senders.

use crate::half::Half;
use crate::kinds::Retransmission;
use crate::profile::SenderModel;
use crate::sender::SeenData;
use crate::sink::{TraceSink, TracedSender, WindowPoint};
use crate::summary::{ConnectionSummary, SenderTally, TraceEnd};
use capture::{Observed, TcpEnd};
use segment::Flags;
use units::Instant;

/// One end of a connection: the one whose packet was seen first, or the other.
pub(crate) type Side = usize;

/// What all connections share while a segment is digested.
pub(crate) struct Digesting<'a, S> {
    pub(crate) model: &'a SenderModel,
    pub(crate) sink: &'a mut S,
}

/// A connection under way.
pub(crate) struct TracedConnection {
    pub(crate) number: u64,
    pub(crate) ends: [TcpEnd; 2],
    server: Side,
    began: Instant,
    pub(crate) last: Instant,
    /// The handshake was completed by an ACK of the SYN-ACK.
    opened: Option<Instant>,
    halves: [Half; 2],
    tallies: [SenderTally; 2],
    copies: u64,
    /// Offsets one past the FIN of each side, once sent.
    fins: [Option<u64>; 2],
    fins_acked: [bool; 2],
    reset: bool,
}

impl TracedConnection {
    /// A connection whose first packet is `segment`.
    pub(crate) fn new(number: u64, segment: &Observed) -> Self {
        let ends = [segment.source, segment.destination];
        Self {
            number,
            ends,
            server: likely_server(segment),
            began: segment.at,
            last: segment.at,
            opened: None,
            halves: Default::default(),
            tallies: Default::default(),
            copies: 0,
            fins: [None; 2],
            fins_acked: [false; 2],
            reset: false,
        }
    }

    /// True if `segment`, a SYN, opens another connection than this one.
    pub(crate) fn is_replaced_by(&self, side: Side, segment: &Observed) -> bool {
        let is_new = self.halves[side].origin().is_some_and(|origin| origin != segment.seq);
        let opens = segment.has(Flags::SYN) && !segment.has(Flags::ACK);
        opens && is_new && (self.is_over() || self.halves[side].syn.is_some() || self.opened.is_some())
    }

    /// Nothing more is to come.
    pub(crate) fn is_over(&self) -> bool {
        self.reset || self.fins_acked == [true; 2]
    }

    /// Digests a segment from `side`.
    pub(crate) fn on_segment<S: TraceSink>(
        &mut self,
        side: Side,
        segment: &Observed,
        with: &mut Digesting<'_, S>,
    ) {
        if self.halves[side].is_copy(segment) {
            self.copies += 1;
            return;
        }
        self.last = segment.at;
        self.tallies[side].packets += 1;
        if segment.has(Flags::RST) {
            self.reset = true;
            return;
        }
        if segment.has(Flags::SYN) {
            self.on_syn(side, segment);
        }
        if segment.has(Flags::ACK) {
            self.on_ack(side, segment, with);
        }
        if segment.payload > 0 || segment.has(Flags::FIN) {
            self.on_data(side, segment, with);
        }
        self.halves[side].note_stamp(segment);
    }

    fn on_syn(&mut self, side: Side, segment: &Observed) {
        if self.halves[side].on_syn(segment) {
            self.tallies[side].control_again += 1;
        }
        self.server = if segment.has(Flags::ACK) { side } else { 1 - side };
    }

    /// The segment acknowledges what the other side sent.
    fn on_ack<S: TraceSink>(&mut self, side: Side, segment: &Observed, with: &mut Digesting<'_, S>) {
        let peer_offer = self.halves[1 - side].syn;
        let una = self.halves[1 - side].offset(segment.ack);
        if una > self.halves[1 - side].high() + (1 << 30) {
            return;
        }
        self.note_opening(side, una, segment.at);
        if self.fins[1 - side].is_some_and(|end| una >= end) {
            self.fins_acked[1 - side] = true;
        }
        let Some(sender) = &self.halves[1 - side].sender else {
            return self.halves[1 - side].reach(una);
        };
        let fresh = una >= sender.una();
        let outstanding = sender.outstanding();
        let window = self.halves[side].window(segment, peer_offer.as_ref(), outstanding);
        let ack = self.halves[1 - side].read_ack(segment, fresh.then_some(window));
        self.halves[1 - side].reach(una);
        let Some(sender) = &mut self.halves[1 - side].sender else { return };
        let (digest, unseen) = sender.on_seen_ack(&ack);
        let point = with.sink.wants_windows().then(|| WindowPoint {
            at: ack.at,
            una: sender.una(),
            nxt: sender.nxt(),
            cwnd: sender.cwnd(),
            ssthresh: sender.ssthresh(),
            in_flight: sender.in_flight(),
            receive_window: sender.receive_window(),
            phase: sender.phase(),
        });
        let tally = &mut self.tallies[1 - side];
        tally.unseen_bytes += unseen;
        tally.spurious += u64::from(digest.dsack.is_some());
        if let Some(point) = point {
            with.sink.on_window(&self.told(1 - side), &point);
        }
    }

    /// The ACK of the SYN-ACK opens the connection.
    fn note_opening(&mut self, side: Side, una: u64, at: Instant) {
        let answered = self.halves[1 - side].syn.is_some();
        if self.opened.is_none() && 1 - side == self.server && una >= 1 && answered {
            self.opened = Some(at);
        }
    }

    /// The segment has data, or ends the stream.
    fn on_data<S: TraceSink>(&mut self, side: Side, segment: &Observed, with: &mut Digesting<'_, S>) {
        let start = self.halves[side].offset(segment.seq) + u64::from(segment.has(Flags::SYN));
        let end = start + u64::from(segment.payload) + u64::from(segment.has(Flags::FIN));
        if end > self.halves[side].high() + (1 << 30) {
            return;
        }
        let terms = self.halves[side].terms(&self.halves[1 - side], segment.payload);
        let opened = self.opened;
        let sender = self.halves[side].sender(with.model, terms, opened);
        let fin = segment.has(Flags::FIN);
        let digest = sender.on_data(&SeenData {
            at: segment.at,
            start,
            seq: segment.seq.0,
            payload: segment.payload,
            syn: false,
            fin,
            push: segment.has(Flags::PSH),
            stamp: segment.options.timestamps().map(|timestamps| timestamps.value),
        });
        self.halves[side].reach(end);
        if fin {
            self.fins[side] = Some(end);
        }
        let tally = &mut self.tallies[side];
        tally.data_packets += u64::from(segment.payload > 0);
        tally.bytes += digest.fresh;
        tally.unseen_bytes += digest.unseen;
        tally.probes += u64::from(digest.probe);
        if let Some(again) = digest.again {
            self.on_again(side, &again, with);
        }
    }

    fn on_again<S: TraceSink>(
        &mut self,
        side: Side,
        again: &Retransmission,
        with: &mut Digesting<'_, S>,
    ) {
        let tally = &mut self.tallies[side];
        if again.len == 0 {
            tally.control_again += 1;
        } else {
            let kind = again.kind as usize;
            tally.retransmissions[kind] += 1;
            tally.unexpected[kind] += u64::from(!again.expected);
            if let Some(spared_by) = again.spared_by {
                tally.spared_by[spared_by as usize] += 1;
            }
        }
        with.sink.on_retransmission(&self.told(side), again);
    }

    fn told(&self, side: Side) -> TracedSender {
        TracedSender {
            connection: self.number,
            client: self.ends[1 - self.server],
            server: self.ends[self.server],
            is_server: side == self.server,
        }
    }

    /// What is told of it.
    pub(crate) fn summary(&self, end: TraceEnd) -> ConnectionSummary {
        let (client, server) = (1 - self.server, self.server);
        let syn = self.halves[client].syn.filter(|offer| offer.again == 0);
        let answer = self.halves[server].syn.filter(|offer| offer.again == 0);
        let between = |from: Option<Instant>, to: Option<Instant>| {
            from.zip(to).map(|(from, to)| to.saturating_since(from))
        };
        ConnectionSummary {
            connection: self.number,
            client: self.ends[client],
            server: self.ends[server],
            began: self.began,
            ended: self.last,
            end,
            handshake_seen: self.opened.is_some() && self.halves[client].syn.is_some(),
            client_rtt: between(answer.map(|offer| offer.at), self.opened),
            server_rtt: between(syn.map(|offer| offer.at), answer.map(|offer| offer.at)),
            client_sent: self.tallies[client],
            server_sent: self.tallies[server],
            copies: self.copies,
        }
    }
}

/// Who the server is by its first packet: who gets a SYN or sends a SYN-ACK, else who has the lower port.
fn likely_server(segment: &Observed) -> Side {
    if segment.has(Flags::SYN) {
        usize::from(!segment.has(Flags::ACK))
    } else {
        usize::from(segment.destination.port < segment.source.port)
    }
}
