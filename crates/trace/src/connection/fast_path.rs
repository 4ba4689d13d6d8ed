//! The fast path, for most segments: the next data of a response, and ACKs of it.
//!
//! It does for them exactly what [`TracedConnection::on_any`] does. It leaves any segment that may
//! be something else to the slow path.

use super::{Digesting, Side, TracedConnection};
use crate::half::seen_ack;
use crate::rebuilt::AckDigest;
use crate::sink::TraceSink;
use crate::transfer::{PassingAck, PassingData};
use capture::Observed;
use segment::Flags;
use sender::{Acknowledgement, SackOffsets};

impl TracedConnection {
    /// Digests the segment, which `side` has sent, if it is eligible for the fast path. Returns
    /// false, with nothing changed, if it may be something else.
    #[inline]
    pub(super) fn on_fast_path<S: TraceSink>(
        &mut self,
        side: Side,
        segment: &Observed,
        with: &mut Digesting<'_, S>,
    ) -> bool {
        let is_plain = segment.flags.0 & !Flags::PSH.0 == Flags::ACK.0;
        let is_late = self.halves[0].has_late() || self.halves[1].has_late();
        if !is_plain
            || is_late
            || self.side_counters[self.server()].packets == 0
            || !is_fast_path_enabled()
        {
            return false;
        }
        note_fast_path(match (side == self.server(), segment.payload > 0) {
            (true, true) => self.on_next_data(side, segment, with),
            (false, false) => self.on_client_ack(side, segment, with),
            _ => false,
        })
    }

    /// Handles the next data of a response, from the server.
    #[inline]
    fn on_next_data<S: TraceSink>(
        &mut self,
        side: Side,
        segment: &Observed,
        with: &mut Digesting<'_, S>,
    ) -> bool {
        if !self.repeats(side, segment) || !self.halves[side].is_next(segment) {
            return false;
        }
        let (at, bytes) = (segment.at, u64::from(segment.payload));
        let start = self.halves[side].high();
        let Some((sender, _)) = self.halves[side].observed_sender() else { return false };
        if !sender.on_next_data(at, start, bytes, segment.has(Flags::PSH)) {
            return false;
        }
        let sent = with.sink.wants_packets().then(|| sender.sent(at, start + bytes, bytes));
        self.halves[side].reach(start + bytes);
        self.halves[side].note_stamp(segment);
        let counters = &mut self.side_counters[side];
        counters.packets += 1;
        counters.data_packets += 1;
        counters.bytes += bytes;
        if let Some(sent) = sent {
            with.sink.on_sent(&self.traced_server(), &sent);
        }
        if let Some((sender, _)) = self.halves[side].observed_sender() {
            let data = PassingData { bytes, tls: segment.tls };
            if sender.is_paced() || !self.meter.on_next_data(at, &data, &sender.flight()) {
                let state = sender.state(at);
                self.begin_small_request(with);
                self.meter.take_response(at, &data, &state);
            }
        }
        true
    }

    /// Handles an ACK of a response from the client: more data acknowledged, or SACK blocks behind
    /// a hole.
    #[inline]
    fn on_client_ack<S: TraceSink>(
        &mut self,
        side: Side,
        segment: &Observed,
        with: &mut Digesting<'_, S>,
    ) -> bool {
        let Some(digest) = self.digest_client_ack(side, segment) else { return false };
        let AckDigest { acked, delivered, rtt, .. } = digest;
        let Some((sender, _)) = self.halves[1 - side].observed_sender() else { return true };
        let at = segment.at;
        let state = if sender.is_paced() { sender.state(at) } else { sender.unpaced_state() };
        let point = with.sink.wants_windows().then(|| sender.snapshot(at));
        self.halves[side].forget_fields();
        self.halves[side].note_stamp(segment);
        self.side_counters[side].packets += 1;
        if let Some(rtt) = rtt
            && with.sink.wants_round_trips()
        {
            with.sink.on_round_trip(&self.traced_server(), at, rtt);
        }
        if let Some(point) = point {
            with.sink.on_window(&self.traced_server(), &point);
        }
        self.meter.note_pure_ack();
        self.meter.on_ack(at, &PassingAck { acked, delivered, rtt }, &state);
        true
    }

    /// Lets the server's sender digest an ACK of `side`, the client. Returns `None`, with nothing
    /// changed, if the ACK is left to the slow path. These are probes, ACKs of a FIN or of data
    /// that the capture lacks, and ACKs that find nothing outstanding.
    #[inline(always)]
    fn digest_client_ack(&mut self, side: Side, segment: &Observed) -> Option<AckDigest> {
        let server = 1 - side;
        let is_probe = self.fins[side] == 0 && self.halves[side].is_before_next(segment);
        if self.opened.is_none() || is_probe || !self.place.to_server.is_zero() {
            return None;
        }
        let una = self.halves[server].offset(segment.ack);
        let fin = self.fins[server];
        if una > self.halves[server].high() || fin > 0 && una >= fin {
            return None;
        }
        // A plain segment echoes no congestion mark.
        debug_assert!(!segment.has(Flags::ECE));
        let window = self.offered_window(side, segment);
        let (sender, clock) = self.halves[server].observed_sender()?;
        if sender.outstanding() == 0 {
            // If everything is acknowledged, an ACK may report nothing but a window.
            return None;
        }
        let window = (una >= sender.una()).then_some(window);
        if segment.options.sack().is_empty() {
            let ack = seen_ack(segment, una, clock, &SackOffsets::NONE);
            let (digest, unseen) = sender.on_seen_ack(ack, window);
            self.side_counters[server].count_reported(unseen, digest.has_dsack);
            return Some(digest);
        }
        let sack = self.halves[server].sack_offsets(segment);
        self.digest_sacking_ack(server, seen_ack(segment, una, clock, &sack), window)
    }

    /// Digests an ACK with SACK blocks that [`TracedConnection::digest_client_ack`] has accepted.
    /// `window`: bytes that it offers; `None` if it is too old to show that. Returns `None` only if
    /// the server has no sender.
    #[inline(never)]
    fn digest_sacking_ack(
        &mut self,
        server: Side,
        ack: Acknowledgement<'_>,
        window: Option<u64>,
    ) -> Option<AckDigest> {
        let (digest, unseen) = self.halves[server].sender.as_mut()?.on_seen_ack(ack, window);
        self.side_counters[server].count_reported(unseen, digest.has_dsack);
        Some(digest)
    }
}

/// Returns true: the fast path is always enabled, except in tests that compare it with the slow
/// path.
#[cfg(not(feature = "testing"))]
#[inline(always)]
const fn is_fast_path_enabled() -> bool {
    true
}

/// Returns its argument. With the feature `testing` it also counts the segments of the fast path.
#[cfg(not(feature = "testing"))]
#[inline(always)]
const fn note_fast_path(is_fast_path: bool) -> bool {
    is_fast_path
}

#[cfg(feature = "testing")]
use crate::slow_path::{is_fast_path_enabled, note_fast_path};
