//! One connection's packets at the access link: both streams, the offered window, the losses.

use super::gaps::Gaps;
use super::seen::{LinkStep, SeenAtLink, Way};
use super::{Offer, SequenceEvent, SequenceStep, TransferRecord};
use std::ops::Range;
use tcp::segment::receiver::Reassembly;
use tcp::{Flags, Framing, SackBlocks, Segment};
use units::{Instant, SeqNum};

/// A connection, both ways.
#[derive(Clone, Debug)]
pub(super) struct FlowRecord {
    /// Time at which its first segment was seen.
    pub(super) began: Instant,
    server: Stream,
    client: Stream,
    events: Vec<SequenceEvent>,
    offers: Vec<Offer>,
    /// In-order bytes of the server's stream at the client.
    delivered: Delivered,
    requests: Vec<RequestData>,
    /// Requests are streams of their own, as QUIC has them: none waits for the bytes of another.
    has_streams: bool,
    /// Time at which the handshake's last segment, or data instead of it, was at the server.
    accepted: Option<Instant>,
}

/// Data that one end sends.
#[derive(Clone, Debug, Default)]
struct Stream {
    /// Sequence number of the first byte, once a SYN or data has shown it.
    first: Option<SeqNum>,
    /// Offset of the first byte never sent.
    sent: u64,
    /// Offset up to which all is acknowledged.
    acked: u64,
    /// The shift of its window, if its SYN says one (RFC 7323 §2).
    scale: Option<u8>,
    /// Gaps in sequence space, which begins with the SYN.
    gaps: Gaps,
}

/// Data of the client's stream that was sent for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestData {
    /// Offset of its first byte.
    pub(crate) from: u64,
    /// Time at which it was sent.
    pub(crate) sent: Instant,
    /// When it, or a later copy, was at the server.
    pub(crate) arrived: Option<Instant>,
}

/// Progress of a stream: how many bytes were delivered in order, and when.
#[derive(Clone, Debug, Default)]
struct Delivered {
    steps: Vec<(Instant, u64)>,
    reassembly: Reassembly,
    next: u64,
}

/// Data of a connection that a load's account needs and figures do not show.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Trace {
    /// Time at which the handshake's last segment, or data instead of it, was at the server.
    pub(crate) accepted: Option<Instant>,
    /// Times at which these numbers of bytes of the server's stream were at the client in order.
    pub(crate) delivered: Vec<(Instant, u64)>,
    /// Requests that the client sent.
    pub(crate) requests: Vec<RequestData>,
    /// Times from which bytes of either stream were lost and not retransmitted (+1), and until
    /// which (−1).
    pub(crate) gaps: Vec<(Instant, i64)>,
}

impl FlowRecord {
    pub(super) fn beginning_at(began: Instant) -> Self {
        Self {
            began,
            server: Stream::default(),
            client: Stream::default(),
            events: Vec::new(),
            offers: Vec::new(),
            delivered: Delivered::default(),
            requests: Vec::new(),
            has_streams: false,
            accepted: None,
        }
    }

    /// The client opens another connection from the same port: a SYN of its own has another initial
    /// sequence number (RFC 9293 §3.4.1).
    pub(super) fn is_followed(&self, way: Way, segment: &Segment) -> bool {
        let opens = way == Way::Up && segment.has(Flags::SYN);
        opens && self.client.first.is_some_and(|first| first != segment.seq + 1)
    }

    pub(super) fn on_segment(&mut self, seen: SeenAtLink, segment: &Segment) {
        self.has_streams = segment.framing == Framing::Quic;
        let sender = self.sender(seen.way);
        sender.note_start(segment);
        let range = sender.range(segment);
        match seen.step {
            LinkStep::Enter | LinkStep::Drop => self.on_sent(seen, segment, &range),
            LinkStep::Arrive => self.on_arrived(seen, segment, &range),
            LinkStep::Discard | LinkStep::Lose => self.on_lost(seen, segment, &range),
            LinkStep::Leave => {} // No end notices it.
        }
    }

    fn sender(&mut self, way: Way) -> &mut Stream {
        match way {
            Way::Down => &mut self.server,
            Way::Up => &mut self.client,
        }
    }

    /// Sequence space of a segment that its receiver waits for: a SYN is at 0, the first byte at 1,
    /// and a FIN takes nothing. Until the server has accepted the connection, each segment of the
    /// client has the SYN's function.
    fn sequence_space(&self, way: Way, segment: &Segment, bytes: &Range<u64>) -> Range<u64> {
        let opens = segment.has(Flags::SYN) || (way == Way::Up && self.accepted.is_none());
        (if opens { 0 } else { bytes.start + 1 })..bytes.end + 1
    }

    fn on_sent(&mut self, seen: SeenAtLink, segment: &Segment, range: &Range<u64>) {
        let SeenAtLink { at, way, step } = seen;
        let sender = self.sender(way);
        let is_new = range.end > sender.sent;
        let is_again = range.start < sender.sent;
        sender.sent = sender.sent.max(range.end);
        let space = self.sequence_space(way, segment, range);
        self.sender(way).gaps.close(at, space);
        if segment.len > 0 {
            match way {
                Way::Down if is_again => self.push(at, range, SequenceStep::Retransmitted),
                Way::Down => self.push(at, range, SequenceStep::Sent),
                Way::Up if is_new => {
                    self.requests.push(RequestData { from: range.start, sent: at, arrived: None });
                }
                Way::Up => {}
            }
        }
        if step == LinkStep::Drop {
            self.on_lost(seen, segment, range);
        }
    }

    fn on_lost(&mut self, seen: SeenAtLink, segment: &Segment, range: &Range<u64>) {
        let space = self.sequence_space(seen.way, segment, range);
        let sender = self.sender(seen.way);
        // Delivered data is not missed.
        if space.end > sender.acked + 1 || space.start == 0 {
            sender.gaps.open(seen.at, space);
        }
        if seen.way == Way::Down && segment.len > 0 {
            self.push(seen.at, range, SequenceStep::Dropped);
        }
    }

    fn on_arrived(&mut self, seen: SeenAtLink, segment: &Segment, range: &Range<u64>) {
        let at = seen.at;
        match seen.way {
            Way::Down => {
                if segment.len > 0 {
                    self.delivered.on_range_arrival(at, range);
                }
                if segment.has(Flags::ACK)
                    && let Some(acked) = self.client.offset(segment.ack)
                {
                    self.client.on_acked(at, acked);
                }
            }
            Way::Up => {
                let under_way =
                    self.requests.iter_mut().rev().take_while(|r| r.from >= range.start);
                for request in under_way.filter(|request| request.from < range.end) {
                    request.arrived = request.arrived.or(Some(at));
                }
                if !segment.has(Flags::SYN) {
                    self.accepted = self.accepted.or(Some(at));
                }
                self.on_client_segment(at, segment);
            }
        }
    }

    /// The server receives an ACK of its own stream.
    fn on_client_segment(&mut self, at: Instant, segment: &Segment) {
        let acked = if segment.has(Flags::ACK) { self.server.offset(segment.ack) } else { Some(0) };
        let Some(acked) = acked else { return };
        let before = self.server.acked;
        if acked > before {
            self.server.on_acked(at, acked);
            self.push(at, &(before..acked), SequenceStep::Acked);
        }
        self.on_offered(at, segment);
        if segment.has(Flags::ACK) {
            self.on_sacked(at, &segment.options.sack);
        }
    }

    /// Windows of SYNs are not scaled; other windows are if both SYNs had the option (RFC 7323
    /// §2.2).
    fn on_offered(&mut self, at: Instant, segment: &Segment) {
        let shift = match (segment.has(Flags::SYN), self.server.scale, self.client.scale) {
            (false, Some(_), Some(shift)) => shift,
            _ => 0,
        };
        let window = u64::from(segment.window) << shift;
        let offer = Offer { at, acked: self.server.acked, window };
        let says_more = |last: &Offer| (last.acked, last.window) != (offer.acked, offer.window);
        if self.offers.last().is_none_or(says_more) {
            self.offers.push(offer);
        }
    }

    fn on_sacked(&mut self, at: Instant, blocks: &SackBlocks) {
        for (left, right) in blocks.as_slice() {
            let (Some(from), Some(to)) = (self.server.offset(*left), self.server.offset(*right))
            else {
                return;
            };
            // A block below the cumulative point reports a duplicate (RFC 2883).
            if from >= self.server.acked && from < to {
                self.server.gaps.close(at, from + 1..to + 1);
                self.push(at, &(from..to), SequenceStep::Sacked);
            }
        }
    }

    fn push(&mut self, at: Instant, range: &Range<u64>, step: SequenceStep) {
        let Range { start: from, end: to } = *range;
        self.events.push(SequenceEvent { at, from, to, step });
    }

    /// The requests, each with the time at which its server could use it. TCP delivers in order:
    /// data behind a gap waits until the gap is filled.
    fn usable_requests(&self) -> Vec<RequestData> {
        let mut requests = self.requests.clone();
        let mut latest = Instant::ZERO;
        let arrivals = requests.iter_mut().filter_map(|request| request.arrived.as_mut());
        for arrived in arrivals.filter(|_| !self.has_streams) {
            latest = latest.max(*arrived);
            *arrived = latest;
        }
        requests
    }

    /// Fills in the events from `start` on, and before `next`.
    pub(super) fn complete(
        &self,
        transfer: &mut TransferRecord,
        start: Instant,
        next: Option<Instant>,
    ) {
        let during = |at: Instant| at >= start && next.is_none_or(|next| at < next);
        transfer.sequence = self.events.iter().filter(|event| during(event.at)).copied().collect();
        // The last offer before the load is the offer at its start.
        let before = self.offers.partition_point(|offer| offer.at < start).saturating_sub(1);
        let offers = self.offers[before..].iter();
        transfer.offers = offers.filter(|o| next.is_none_or(|next| o.at < next)).copied().collect();
        let gaps = self.server.gaps.edges().iter().chain(self.client.gaps.edges());
        transfer.trace = Trace {
            accepted: self.accepted,
            delivered: self.delivered.steps.clone(),
            requests: self.usable_requests(),
            gaps: gaps.filter(|(at, _)| during(*at)).copied().collect(),
        };
    }
}

impl Stream {
    fn note_start(&mut self, segment: &Segment) {
        if segment.has(Flags::SYN) {
            self.first = Some(segment.seq + 1);
            self.scale = segment.options.window_scale;
        } else if segment.len > 0 {
            self.first = self.first.or(Some(segment.seq));
        }
    }

    /// The bytes that a segment of this stream carries.
    fn range(&self, segment: &Segment) -> Range<u64> {
        let start = segment.seq + u32::from(segment.has(Flags::SYN));
        let from = self.offset(start).unwrap_or(0);
        from..from + u64::from(segment.len)
    }

    /// The stream offset of a sequence number within 2^31 of the acknowledged offset; `None` before
    /// the first is known.
    fn offset(&self, seq: SeqNum) -> Option<u64> {
        let known = self.first? + self.acked as u32;
        let distance = i64::from(seq.distance_from(known));
        Some(self.acked.saturating_add_signed(distance))
    }

    fn on_acked(&mut self, at: Instant, acked: u64) {
        self.acked = self.acked.max(acked);
        self.gaps.close(at, 0..acked + 1);
    }
}

impl Delivered {
    fn on_range_arrival(&mut self, at: Instant, range: &Range<u64>) {
        let before = self.next;
        self.reassembly.arrive(&mut self.next, range.start, range.end);
        if self.next > before {
            self.steps.push((at, self.next));
        }
    }
}
