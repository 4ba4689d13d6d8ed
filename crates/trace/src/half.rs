//! One direction of a connection: its sequence numbers, the offer of its SYN, its duplicate
//! captures, and its sender.

mod copies;
mod offer;
mod stamps;

use crate::fit_error::FitError;
use crate::profile::SenderModel;
use crate::rebuilt::{IdleSender, Predictor, RebuiltSender, SenderAck, Terms, sack_offsets};
use crate::transfer::PassingData;
use crate::vantage::CapturePosition;
use capture::Observed;
use copies::Prints;
pub(crate) use offer::Offer;
use offer::{agreed_terms, window_shift};
use segment::Flags;
use sender::{Acknowledgement, SackOffsets, StampClock};
use stamps::SentStamps;
use std::collections::VecDeque;
use units::{Duration, Instant, SeqNum};

/// Size of a request up to which its sender is not rebuilt, bytes.
const MAX_REQUEST_BYTES: u64 = 4 * 1460;
/// Window shift of an end whose SYN was not captured: the largest that RFC 7323 §2.3 permits. The
/// true scale is unknown, so these windows bound nothing unless they are shut.
const UNKNOWN_SHIFT: u8 = 14;

/// The acknowledgement and window of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct AckFields {
    ack: SeqNum,
    window: u16,
}

impl AckFields {
    const fn of(segment: &Observed) -> Self {
        Self { ack: segment.ack, window: segment.window }
    }
}

/// A packet on its way to the host of a direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Late {
    /// Time of its arrival at the host, by the times at which the host's data passes the capture.
    pub(crate) at: Instant,
    /// The acknowledgement, if there is a sender for it.
    pub(crate) ack: Option<SenderAck>,
    /// Its part of a request.
    pub(crate) request: PassingData,
}

/// Packets in the order of their arrival; boxed, because a capture next to the host has none.
#[derive(Debug, Default)]
struct LateQueue(VecDeque<Late>);

/// One direction of a connection.
pub(crate) struct Half {
    /// The sequence number of offset 0, the SYN's. If the SYN was not captured, it is one below the
    /// first byte seen.
    origin: Option<SeqNum>,
    /// Highest offset sent or acknowledged.
    high: u64,
    /// Bound while no sender is rebuilt: all data below is acknowledged, and data above was sent at
    /// `sent`.
    una: u64,
    sent: Instant,
    /// The window that the peer offers while no sender is rebuilt; 0 if it is not known yet.
    offered: u32,
    pub(crate) syn: Option<Offer>,
    recent: Prints,
    /// The ACK and window of its last segment, as long as repeating them would change nothing.
    fields: Option<AckFields>,
    stamps: SentStamps,
    /// The side whose host's model the sender runs: the server's, as far as the server was known
    /// then.
    pub(crate) host: u8,
    pub(crate) sender: Option<Box<RebuiltSender>>,
    /// The sender, idle and compressed.
    idle: Option<Box<IdleSender>>,
    /// Predictor for a sender whose data is not captured.
    pub(crate) predictor: Option<Box<Predictor>>,
    /// Packets that arrive at its host only after a lag: ACKs, with their payload.
    late: Option<Box<LateQueue>>,
}

impl Default for Half {
    fn default() -> Self {
        Self {
            origin: None,
            high: 0,
            una: 0,
            sent: Instant::ZERO,
            offered: 0,
            syn: None,
            recent: Prints::default(),
            fields: None,
            stamps: SentStamps::default(),
            host: 0,
            sender: None,
            idle: None,
            predictor: None,
            late: None,
        }
    }
}

impl Half {
    /// Returns the offset of a sequence number. The first number seen becomes that of the first
    /// byte.
    pub(crate) fn offset(&mut self, seq: SeqNum) -> u64 {
        let origin = *self.origin.get_or_insert(SeqNum(seq.0.wrapping_sub(1)));
        near(self.high, seq.0.wrapping_sub(origin.0))
    }

    /// Returns the first sequence number, if one was seen.
    pub(crate) const fn origin(&self) -> Option<SeqNum> {
        self.origin
    }

    /// Notes that `offset` was sent, or acknowledged.
    pub(crate) fn reach(&mut self, offset: u64) {
        self.high = self.high.max(offset);
    }

    /// Returns the highest offset sent or acknowledged.
    pub(crate) const fn high(&self) -> u64 {
        self.high
    }

    /// Returns true if the segment has the sequence number before the next new one.
    #[inline]
    pub(crate) fn is_before_next(&self, segment: &Observed) -> bool {
        let next = |origin: SeqNum| origin.0.wrapping_add(self.high as u32);
        self.origin.is_some_and(|origin| segment.seq.0.wrapping_add(1) == next(origin))
            && !segment.has(Flags::SYN)
    }

    /// Returns true if the segment has the next new sequence number.
    #[inline]
    pub(crate) fn is_next(&self, segment: &Observed) -> bool {
        self.origin.is_some_and(|origin| segment.seq.0 == origin.0.wrapping_add(self.high as u32))
    }

    /// Returns the offset at which the data of a segment begins, after a SYN.
    pub(crate) fn data_start(&mut self, segment: &Observed) -> u64 {
        self.offset(segment.seq) + u64::from(segment.has(Flags::SYN))
    }

    /// Returns the number of new payload bytes of a segment whose data begins at `start`.
    pub(crate) fn fresh_payload(&self, start: u64, segment: &Observed) -> u64 {
        let end = start + u64::from(segment.payload);
        end.saturating_sub(self.high.max(start))
    }

    /// Forgets all that it has sent but its SYN.
    pub(crate) fn restart(&mut self) {
        (self.high, self.una, self.fields) = (self.high.min(1), 0, None);
        (self.sender, self.idle, self.late) = (None, None, None);
    }

    /// Returns true if it has sent a SYN that acknowledged nothing.
    pub(crate) fn has_plain_syn(&self) -> bool {
        self.syn.is_some_and(|offer| !offer.answers)
    }

    /// Takes a SYN; returns true if it was seen before. While the connection is `opening`, a server
    /// that keeps no state may choose another sequence number each time, so the latest one counts.
    pub(crate) fn on_syn(&mut self, segment: &Observed, opening: bool) -> bool {
        if let Some(offer) = &mut self.syn {
            let is_repeat = offer.repeat(segment);
            if opening && self.high <= 1 && self.origin != Some(segment.seq) {
                self.origin = Some(segment.seq);
            }
            return is_repeat;
        }
        self.origin = Some(segment.seq);
        self.high = self.high.max(1);
        self.syn = Some(Offer::of(segment));
        false
    }

    /// Returns true if one of the packets before was the same.
    #[inline(always)]
    pub(crate) fn is_copy(&mut self, segment: &Observed, place: &CapturePosition) -> bool {
        self.recent.is_copy(segment, place, self.stamps.last())
    }

    /// Notes the sender's clock.
    pub(crate) fn note_stamp(&mut self, segment: &Observed) {
        self.stamps.note(segment);
    }

    /// Returns how much later than its SYN a segment arrives, by its timestamp. `usual` is added,
    /// so that an earlier arrival stays above zero. `None` unless the sender's clock counts
    /// milliseconds.
    pub(crate) fn delay(&mut self, segment: &Observed, usual: Duration) -> Option<Duration> {
        self.stamps.delay(self.syn.as_ref()?, segment, usual)
    }

    /// Returns true if a segment acknowledges and offers the same as the one before, which has
    /// changed all that it can.
    #[inline]
    pub(crate) fn says_the_same(&self, segment: &Observed) -> bool {
        self.fields == Some(AckFields::of(segment)) && !segment.has(Flags::SYN)
    }

    /// Notes that another segment like this one, the next in this direction, would change nothing.
    pub(crate) fn note_fields(&mut self, segment: &Observed) {
        self.fields = (!segment.has(Flags::SYN)).then(|| AckFields::of(segment));
    }

    /// Forgets the last ACK and window: those of the next segment may matter.
    #[inline]
    pub(crate) const fn forget_fields(&mut self) {
        self.fields = None;
    }

    /// Returns the window that a segment of this direction offers, bytes.
    pub(crate) fn window(&self, segment: &Observed, peer: Option<&Offer>) -> u64 {
        let field = u64::from(segment.window);
        if segment.has(Flags::SYN) {
            return field;
        }
        field << window_shift(self.syn.as_ref(), peer).unwrap_or(UNKNOWN_SHIFT)
    }

    /// Returns the terms that the two SYNs agreed on for this sender; `payload`: of its first
    /// segment.
    pub(crate) fn terms(&self, peer: &Self, payload: u32) -> Terms {
        agreed_terms(self.syn.as_ref(), peer.syn.as_ref(), payload)
    }

    /// Takes new data of a side that sends little, without a sender; returns false if it needs one.
    /// `before`: bytes of its request sent earlier.
    pub(crate) fn send_little(&mut self, at: Instant, start: u64, end: u64, before: u64) -> bool {
        let little = self.sender.is_none()
            && self.idle.is_none()
            && start >= self.high
            && before + (end - start) <= MAX_REQUEST_BYTES;
        if little {
            self.high = end;
            self.sent = at;
        }
        little
    }

    /// Returns the time between its latest data and `now`, if an acknowledgement of `una` answers
    /// that data; `None` if that is not known.
    pub(crate) fn sent_before_ack(&self, una: u64, now: Instant) -> Option<Duration> {
        let answers = !self.has_sender() && una > self.una && una == self.high && una > 1;
        answers.then(|| now.saturating_since(self.sent))
    }

    /// Notes an acknowledgement while no sender is rebuilt.
    pub(crate) fn note_acked(&mut self, una: u64) {
        self.reach(una);
        self.una = self.una.max(una);
    }

    /// Returns true if there is a sender, or was one.
    pub(crate) const fn has_sender(&self) -> bool {
        self.sender.is_some() || self.idle.is_some()
    }

    /// Creates the sender for its first data, and replays the handshake and the data sent before.
    pub(crate) fn make_sender(
        &mut self,
        model: &SenderModel,
        terms: Terms,
        opened: Option<Instant>,
    ) {
        if let Some(idle) = self.idle.take() {
            self.sender = Some(Box::new(idle.restore(model)));
            return;
        }
        let mut sender = Box::new(RebuiltSender::new(model, terms));
        match (self.syn, opened) {
            (Some(syn), Some(opened)) if self.una <= 1 => sender.open(syn.at, syn.repeats, opened),
            _ if self.una > 0 => sender.begin_at(self.una),
            _ => sender.begin_at(self.high.max(1)),
        }
        if self.high > sender.nxt() && self.una > 0 {
            sender.book_before(self.sent, self.high);
        }
        if self.offered > 0 {
            sender.set_window(self.offered.into());
        }
        self.sender = Some(sender);
    }

    /// Sets the window that the peer offers while no sender is rebuilt.
    pub(crate) fn set_quiet_window(&mut self, window: u64) {
        match &mut self.idle {
            Some(idle) => idle.set_window(window),
            None => self.offered = u32::try_from(window).unwrap_or(u32::MAX),
        }
    }

    /// Compresses the sender if it is idle. Returns its fit error.
    pub(crate) fn compress(&mut self) -> Option<FitError> {
        self.forget_fields();
        self.recent.compress();
        if self.predictor.is_some() || self.late.as_ref().is_some_and(|late| !late.0.is_empty()) {
            return None;
        }
        self.late = None;
        let (idle, fit_error) = self.sender.as_ref()?.compress()?;
        self.idle = Some(Box::new(idle));
        self.sender = None;
        Some(fit_error)
    }

    /// Queues a packet that is on its way to the host.
    pub(crate) fn push_late(&mut self, late: Late) {
        self.late.get_or_insert_default().0.push_back(late);
    }

    /// Returns true if a packet is, or was, on its way to the host.
    pub(crate) const fn has_late(&self) -> bool {
        self.late.is_some()
    }

    /// Returns the next packet that has got to the host by `now`.
    pub(crate) fn pop_late(&mut self, now: Instant) -> Option<Late> {
        let queue = &mut self.late.as_mut()?.0;
        if queue.front()?.at > now { None } else { queue.pop_front() }
    }

    /// Infers the sender from here on. The peer's SYN was `syn`, acknowledged at `opened`, with
    /// this echo.
    pub(crate) fn predict(
        &mut self,
        model: &SenderModel,
        terms: Terms,
        syn: Option<&Offer>,
        opened: (Instant, Option<u32>),
    ) {
        let clock = syn.zip(opened.1).map(|(syn, value)| StampClock { value, at: syn.at });
        if let Some(clock) = clock {
            self.stamps.set(clock);
        }
        let mut sender = Box::new(RebuiltSender::new(model, terms));
        match syn {
            Some(syn) => sender.open_unseen(syn.at, syn.repeats, opened.0),
            None => sender.begin_at(self.high.max(1)),
        }
        let origin = self.origin.map_or(0, |origin| origin.0);
        self.predictor = Some(Box::new(Predictor::new(origin, sender.una(), clock)));
        self.sender = Some(sender);
    }

    /// Reads an acknowledgement of this direction's data up to `una` from a segment of the other
    /// direction.
    #[inline]
    pub(crate) fn read_ack(
        &mut self,
        segment: &Observed,
        una: u64,
        window: Option<u64>,
    ) -> SenderAck {
        let clock = self.stamps.clock();
        let sack = self.sack_offsets(segment);
        let ack = seen_ack(segment, una, clock, &sack);
        SenderAck {
            at: ack.now,
            una,
            window,
            bare: ack.is_bare,
            sack,
            echo: ack.echo,
            clock,
            ace: ack.ace,
        }
    }

    /// Returns the sender, unless it is inferred, and the clock of its timestamps.
    #[inline]
    pub(crate) fn observed_sender(&mut self) -> Option<(&mut RebuiltSender, Option<StampClock>)> {
        let clock = self.stamps.clock();
        let sender = self.sender.as_deref_mut()?;
        self.predictor.is_none().then_some((sender, clock))
    }

    /// Returns the SACK blocks of a segment of the other direction, as offsets.
    #[inline]
    pub(crate) fn sack_offsets(&self, segment: &Observed) -> SackOffsets {
        let Some(origin) = self.origin.filter(|_| !segment.options.sack().is_empty()) else {
            return SackOffsets::NONE;
        };
        let offset = |seq: SeqNum| near(self.high, seq.0.wrapping_sub(origin.0));
        sack_offsets(segment.options.sack(), offset)
    }
}

/// Reads an acknowledgement with these SACK blocks from a segment. `clock`: the sender's.
#[inline(always)]
pub(crate) fn seen_ack<'a>(
    segment: &Observed,
    una: u64,
    clock: Option<StampClock>,
    sack: &'a SackOffsets,
) -> Acknowledgement<'a> {
    Acknowledgement {
        now: segment.at,
        una,
        changes_window: false,
        is_bare: segment.sequence_len() == 0,
        sack,
        echo: segment.options.timestamps().map(|timestamps| timestamps.echo),
        clock,
        ace: (!segment.has(Flags::SYN) && una > 1).then(|| segment.flags.ace()),
        feedback: None,
        may_send: una > 0,
    }
}

/// Returns the offset near `known` whose low 32 bits are `low`; 0 if it would be negative. No
/// stream has 2^63 bytes.
const fn near(known: u64, low: u32) -> u64 {
    let ahead = low.wrapping_sub(known as u32) as i32;
    let offset = (known as i64).wrapping_add(ahead as i64);
    if offset < 0 { 0 } else { offset as u64 }
}
