//! The receiving half of a connection: reassembly, SACK blocks, offered window, when to ACK, ECN
//! echo, timestamps to echo.
//!
//! Offsets are 64-bit positions in the peer's sequence space; 0 is its SYN.

mod ack_policy;
mod config;
mod echo_of_marks;
mod linux_acks;
mod reassembly;
mod recent_timestamp;
mod right_sizing;
mod sack_compression;
mod sack_report;
mod window;

use crate::ecn::Ecn;
use crate::segment::{Flags, SackBlocks, Segment, Timestamps};
pub use ack_policy::{AckTimer, InOrder};
pub use config::{AckPolicy, ReceiveConfig};
use echo_of_marks::EchoOfMarks;
pub use linux_acks::SenderTiming;
pub use reassembly::{Arrival, MAX_REPORTED_BY_LINUX, Reassembly};
use recent_timestamp::RecentTimestamp;
pub use right_sizing::{Backlog, RightSizing};
use sack_compression::OutOfOrderArrival;
pub use sack_compression::SackHold;
use sack_report::{SackReport, blocks_of};
use units::{Duration, Instant, SeqNum};
pub use window::{OfferedWindow, Room};

/// Smaller segments do not open the window further (Linux `tcp_event_data_recv`).
const SIZEABLE: u64 = 128;

/// Memory that a range behind a gap takes beside its data, bytes.
const RANGE_BYTES: u64 = 32;

/// The receiving half.
#[derive(Clone, Debug)]
pub struct Receiver {
    config: ReceiveConfig,
    irs: SeqNum,
    rcv_nxt: u64,
    read: u64,
    fin: Option<u64>,
    reassembly: Reassembly,
    report: SackReport,
    /// This end has shut down sending, and answers the peer's FIN at once.
    has_shut_down: bool,
    sizing: RightSizing,
    window: OfferedWindow,
    ack: AckTimer,
    last_ack_sent: u64,
    timestamp: RecentTimestamp,
    echo_of_marks: EchoOfMarks,
    /// Largest segment seen, bytes: the unit of "every second segment".
    largest: u64,
    /// SACK is agreed on: data out of order also opens the window, and its ACKs may be held back.
    /// Without SACK it must do neither: an ACK that changes the window is no duplicate (RFC 5681
    /// §2), and the sender would not see a loss (Linux `tcp_data_queue_ofo`).
    reports_gaps: bool,
    /// The handshake is complete, or does not matter.
    is_open: bool,
}

impl Receiver {
    /// A receiver that has not yet seen the peer's SYN; `scaling`: its connection offers window
    /// scaling.
    pub fn new(config: &ReceiveConfig, scaling: bool) -> Self {
        Self {
            config: *config,
            irs: SeqNum(0),
            rcv_nxt: 0,
            read: 1,
            fin: None,
            reassembly: match config.autotune {
                true => Reassembly::with_reports(MAX_REPORTED_BY_LINUX),
                false => Reassembly::default(),
            },
            report: SackReport::default(),
            has_shut_down: false,
            sizing: RightSizing::new(config, OfferedWindow::max(config, scaling)),
            window: OfferedWindow::new(config, scaling),
            ack: AckTimer::new(config.ack, config.ack_tick),
            last_ack_sent: 0,
            timestamp: RecentTimestamp::default(),
            echo_of_marks: EchoOfMarks::default(),
            largest: 1,
            reports_gaps: true,
            is_open: !config.autotune,
        }
    }

    /// Takes the peer's initial sequence number from its SYN.
    pub fn on_syn(&mut self, irs: SeqNum) {
        self.irs = irs;
        self.rcv_nxt = 1;
        self.window.open(1, self.sizing.capacity());
        self.ack.demand();
    }

    /// The handshake is complete.
    pub fn on_established(&mut self, now: Instant) {
        self.is_open = true;
        self.sizing.begin(now, self.read);
        self.window.begin();
    }

    /// Data is about to leave that answers the peer, though none was received from it: an
    /// interactive session begins.
    pub fn expect_answer(&mut self, now: Instant) {
        self.ack.expect_answer(now, self.sizing.capacity());
    }

    /// A segment of `len` bytes echoed a timestamp of ours; `age` returns the time since that was
    /// made.
    #[inline]
    pub fn on_echo(&mut self, echo: u32, len: u64, age: impl FnOnce() -> Duration) {
        if self.sizing.is_news(echo) {
            let unread = self.backlog().unread;
            self.sizing.on_echo(echo, age(), len, self.largest, unread);
        }
    }

    /// Returns the data received that the application has not consumed.
    #[inline]
    fn backlog(&self) -> Backlog {
        Backlog {
            unread: self.rcv_nxt.saturating_sub(self.read),
            waiting: self.reassembly.waiting(),
            extent: self.reassembly.end().saturating_sub(self.rcv_nxt),
        }
    }

    #[inline]
    fn buffer_room(&self) -> Room {
        Room { capacity: self.sizing.capacity(), backlog: self.backlog() }
    }

    /// Returns the room without counting `bytes` of the data behind gaps.
    #[inline]
    fn room_before(&self, bytes: u64) -> Room {
        let mut room = self.buffer_room();
        room.backlog.waiting = room.backlog.waiting.saturating_sub(bytes);
        room
    }

    /// Next offset expected.
    pub const fn rcv_nxt(&self) -> u64 {
        self.rcv_nxt
    }

    /// Returns the payload bytes received in order, without SYN and FIN.
    #[inline]
    pub fn received(&self) -> u64 {
        let control = 1 + u64::from(self.fin_arrived());
        self.rcv_nxt.saturating_sub(control)
    }

    /// True once everything up to the peer's FIN has been received.
    #[inline]
    pub fn fin_arrived(&self) -> bool {
        self.fin.is_some_and(|fin| self.rcv_nxt > fin)
    }

    /// The offset of sequence number `seq`, read near `rcv_nxt`; `None` if that would lie before
    /// the SYN.
    #[inline]
    pub fn offset_of(&self, seq: SeqNum) -> Option<u64> {
        self.rcv_nxt.checked_add_signed(i64::from(seq.distance_from(self.ack_number())))
    }

    /// True if the next byte in order lies in the window.
    pub const fn has_room(&self) -> bool {
        self.window.edge() > self.rcv_nxt
    }

    /// True if any of the segment lies in the window (RFC 9293 §3.10.7.4, first check).
    #[inline]
    pub fn is_acceptable(&self, left: u64, len: u64) -> bool {
        let edge = self.window.edge().max(self.rcv_nxt);
        match len {
            // The right end itself is acceptable: a bare ACK of a peer that has filled the window
            // has this number.
            0 => (self.rcv_nxt..=edge).contains(&left),
            _ => left < edge && left + len > self.rcv_nxt,
        }
    }

    /// The segment has been received before, and ends no earlier than the last ACK
    /// (`tcp_sequence`). Linux digests its acknowledgement.
    pub const fn is_recent_repetition(&self, left: u64, len: u64) -> bool {
        let end = left + len;
        self.config.autotune && len > 0 && self.last_ack_sent <= end && end <= self.rcv_nxt
    }

    /// Makes an ACK due at once.
    pub fn demand_ack(&mut self) {
        self.ack.demand();
    }

    /// Drops the ACK that is due: it goes with data if any is sent, and otherwise not at all.
    pub fn waive_ack(&mut self) {
        self.ack.waive();
    }

    /// The ACK timer.
    pub const fn ack_timer(&self) -> &AckTimer {
        &self.ack
    }

    /// Processes the payload and FIN of an acceptable segment that starts at offset `left`. Returns
    /// true if new bytes are in order. `rtt` returns what the sending half knows of the path.
    #[inline]
    pub fn on_segment(
        &mut self,
        now: Instant,
        left: u64,
        segment: &Segment,
        rtt: impl FnOnce() -> SenderTiming,
    ) -> bool {
        if self.is_ordinary(left, segment) {
            self.on_ordinary(now, segment, rtt);
            return true;
        }
        self.on_any_segment(now, left, segment, rtt)
    }

    /// True for the fast path: the next segment in order, no larger than those before, inside the
    /// window, with nothing but data, while no range waits behind a gap. The results of
    /// [`Receiver::on_any_segment`] are known then.
    #[inline]
    fn is_ordinary(&self, left: u64, segment: &Segment) -> bool {
        let len = u64::from(segment.len);
        left == self.rcv_nxt
            && (1..=self.largest).contains(&len)
            && left + len <= self.window.edge()
            && segment.flags.0 & Flags::FIN.with(Flags::CWR).0 == 0
            && segment.ecn != Ecn::Ce
            && self.fin.is_none()
            && self.reassembly.is_empty()
    }

    #[inline]
    fn on_ordinary(&mut self, now: Instant, segment: &Segment, rtt: impl FnOnce() -> SenderTiming) {
        let bytes = u64::from(segment.len);
        self.rcv_nxt += bytes;
        self.report.leave_last_out(false);
        let may_open = bytes >= SIZEABLE && self.window.may_open(self.sizing.capacity());
        let opens = may_open && self.window.on_arrival(self.largest, self.buffer_room());
        self.on_in_order(now, InOrder { opens, ..self.in_order(segment, bytes) }, rtt);
    }

    /// Returns the description of `bytes` of a segment in order, with no gap and no FIN.
    #[inline]
    fn in_order<'a>(&self, segment: &'a Segment, bytes: u64) -> InOrder<'a> {
        InOrder {
            segment,
            bytes,
            fills_gap: false,
            gap: None,
            opens: false,
            ends: false,
            with_syn: !self.is_open,
            keeps_window: self.keeps_window(),
        }
    }

    /// Acknowledges and measures data that has extended the bytes in order.
    #[inline]
    fn on_in_order(&mut self, now: Instant, data: InOrder<'_>, rtt: impl FnOnce() -> SenderTiming) {
        self.ack.on_data(now, data, self.largest, self.sizing.capacity(), rtt);
        let offered = self.window.edge().saturating_sub(self.last_ack_sent);
        self.sizing.on_in_order(now, self.rcv_nxt, offered);
    }

    /// True if a window as large as the last ACK's can be offered beside the unread data
    /// (`__tcp_select_window` of `rcv_wnd`, which is not limited to 16 bits).
    #[inline]
    fn keeps_window(&self) -> bool {
        let Some(buffer) = self.sizing.first_buffer(self.largest) else { return true };
        let edge = self.window.edge().max(1 + buffer.offered);
        let unread = self.rcv_nxt.saturating_sub(self.read);
        let room = buffer.holds.saturating_sub(unread);
        room.next_multiple_of(1 << self.window.shift()) >= edge.saturating_sub(self.last_ack_sent)
    }

    fn on_any_segment(
        &mut self,
        now: Instant,
        left: u64,
        segment: &Segment,
        rtt: impl FnOnce() -> SenderTiming,
    ) -> bool {
        if self.echo_of_marks.on_segment(segment) {
            self.ack.demand();
        }
        if u64::from(segment.len) > self.largest {
            self.largest = u64::from(segment.len);
            self.sizing.on_larger(self.largest);
        }
        let edge = self.window.edge().max(self.rcv_nxt);
        let claimed = left + u64::from(segment.len);
        // Bytes after a FIN are not data.
        let end = claimed.min(edge).min(self.fin.unwrap_or(u64::MAX));
        let ends = segment.has(Flags::FIN) && end == claimed && self.may_end_at(end);
        if ends {
            self.fin = Some(end);
        }
        let right = end + u64::from(ends);
        if right <= left {
            return false;
        }
        let before = self.rcv_nxt;
        self.report.leave_last_out(false);
        let (extends, blocks) = (self.reassembly.place(left, right), self.reassembly.len());
        let repeats = self.has_shut_down && self.config.autotune && self.reports_gaps;
        let before_fin =
            (repeats && self.fin.is_some()).then(|| blocks_of(self.irs, &self.reassembly));
        let (arrival, duplicate) = self.reassembly.arrive(&mut self.rcv_nxt, left, right);
        if let Some((left, right)) = duplicate.filter(|_| self.config.dsack) {
            self.report.note_duplicate(left, right);
        }
        let fresh = self.rcv_nxt - before;
        let sizeable = u64::from(segment.len) >= SIZEABLE;
        if arrival == Arrival::OutOfOrder {
            self.sizing.on_gap(self.backlog().extent, self.largest);
        }
        let heeded = arrival != Arrival::OutOfOrder || self.reports_gaps;
        // Linux looks for room before it charges a segment that begins a new range
        // (`tcp_data_queue_ofo`).
        let begins = arrival == Arrival::OutOfOrder && extends.is_none();
        let uncharged = if begins { right - left } else { 0 };
        // Data that comes with a SYN opens no window (`tcp_fastopen_add_skb`).
        let heeded = heeded && self.is_open;
        let may_open = sizeable && heeded && self.window.may_open(self.sizing.capacity());
        let opened = may_open && self.window.on_arrival(self.largest, self.room_before(uncharged));
        match arrival {
            Arrival::InOrder | Arrival::FilledGap => {
                let fills_gap = arrival == Arrival::FilledGap || !self.reassembly.is_empty();
                let gap = (!self.reassembly.is_empty()).then_some(self.rcv_nxt);
                let (opens, ends) = (opened, self.fin_arrived());
                let data = InOrder { fills_gap, gap, opens, ends, ..self.in_order(segment, fresh) };
                self.on_in_order(now, data, rtt);
            }
            Arrival::Duplicate if right <= self.rcv_nxt => {
                self.ack.on_repetition(self.sizing.capacity());
            }
            // Repetitions behind a gap are treated alike (`tcp_data_queue_ofo`).
            Arrival::OutOfOrder | Arrival::Duplicate => {
                let gap = OutOfOrderArrival { next: self.rcv_nxt, extends, blocks };
                let until = now + self.config.sack_hold.time(self.sizing.round_trip(), rtt().srtt);
                let sends_held_first =
                    self.ack.on_gap(opened, self.reports_gaps.then_some((gap, until)));
                self.report.leave_last_out(sends_held_first && extends.is_none());
            }
        }
        if self.fin_arrived() && fresh > 0 {
            self.ack.on_end();
            // Linux forgets the duplicates then (`tcp_fin`: `tcp_sack_reset`).
            self.report.on_fin(before_fin, self.config.autotune);
        }
        fresh > 0
    }

    /// True if a FIN at `end` agrees with an earlier FIN and has no data after it; the first FIN
    /// stands.
    fn may_end_at(&self, end: u64) -> bool {
        match self.fin {
            Some(fin) => fin == end,
            None => end >= self.rcv_nxt.max(self.reassembly.end()),
        }
    }

    /// Takes data of an unacceptable segment, which D-SACK will report as a duplicate.
    pub fn on_duplicate(&mut self, left: u64, segment: &Segment) {
        let right = (left + u64::from(segment.sequence_len())).min(self.rcv_nxt);
        if self.config.dsack && left < right && left > 0 {
            self.report.note_duplicate(left, right);
        }
    }

    /// Takes a repetition of the peer's SYN, which D-SACK will report.
    pub fn on_repeated_syn(&mut self) {
        if self.config.dsack {
            self.report.note_duplicate(0, 1);
        }
    }

    /// Answers an unacceptable segment at once; or, if it repeats the last one in order and the
    /// configuration says so, as if it were new.
    pub fn on_unacceptable(
        &mut self,
        now: Instant,
        left: Option<u64>,
        segment: &Segment,
        rtt: impl FnOnce() -> SenderTiming,
    ) {
        let len = u64::from(segment.len);
        let repeats_last = left.is_some_and(|left| len > 0 && left + len == self.rcv_nxt);
        if repeats_last && self.config.delay_repeated_last && self.reassembly.is_empty() {
            let data = InOrder { keeps_window: true, ..self.in_order(segment, len) };
            self.ack.on_data(now, data, self.largest, self.sizing.capacity(), rtt);
        } else if len > 0 {
            self.ack.on_repetition(self.sizing.capacity());
        } else {
            self.ack.demand();
        }
    }

    /// Sets whether marks are echoed by ECE, as classic ECN does.
    pub const fn set_echoes_marks(&mut self, echoes: bool) {
        self.echo_of_marks.set_agreed(echoes);
    }

    /// True if a timestamp is newer than the one to echo.
    pub fn is_newer(&self, ts: Timestamps) -> bool {
        self.timestamp.is_older_than(ts)
    }

    /// True while ECE is to be set on ACKs.
    pub const fn echoes_congestion(&self) -> bool {
        self.echo_of_marks.is_due()
    }

    /// Processes a bare ACK of the peer; `rtt` is the sending half's estimate.
    pub fn on_bare_ack(&mut self, now: Instant, rtt: SenderTiming) {
        self.ack.on_bare_ack(now, rtt);
    }

    /// The application has consumed `bytes` more. Returns true if the peer should get a window
    /// update.
    #[inline(always)]
    pub fn on_read(&mut self, now: Instant, bytes: u64) -> bool {
        let end = self.read.saturating_add(bytes).min(self.rcv_nxt);
        if self.sizing.round_is_over(now) {
            // Linux reads segment by segment and checks after each (`tcp_recvmsg_locked`): a round
            // is over with the first.
            self.read = end.min(self.read + self.largest);
            self.sizing.on_read(now, self.read, self.backlog(), self.largest);
        }
        self.read = end;
        self.ack.on_read(self.unread() == 0);
        self.window.update_is_due(self.rcv_nxt, self.buffer_room(), self.largest)
    }

    /// Bytes in order that the application has not consumed.
    #[inline]
    pub fn unread(&self) -> u64 {
        (self.received() + 1).saturating_sub(self.read)
    }

    /// Returns the memory that data received and not read takes, bytes. Gaps count, as in a buffer
    /// that reserves their bytes, and so do the ranges themselves.
    pub fn room_held(&self) -> u64 {
        let end = self.reassembly.end().max(self.rcv_nxt);
        end.saturating_sub(self.read) + RANGE_BYTES * self.reassembly.len() as u64
    }

    /// Returns the memory that data up to offset `right` would take in addition, bytes.
    pub fn room_to(&self, right: u64) -> u64 {
        let end = self.reassembly.end().max(self.rcv_nxt);
        right.min(self.window.edge()).saturating_sub(end)
    }

    /// Returns the window field of the last ACK, as on the wire.
    pub fn last_window(&self) -> u16 {
        self.window.field(self.rcv_nxt)
    }

    /// False if everything received was read; a FIN cannot be read.
    pub const fn may_be_unread(&self) -> bool {
        self.rcv_nxt > self.read
    }

    /// Updates the timestamp to echo (RFC 7323 §4.3): only from the segment that the last ACK
    /// expected, and never backwards.
    pub fn on_timestamps(&mut self, now: Instant, left: u64, ts: Timestamps) {
        if !self.is_outdated(now, ts) && left <= self.last_ack_sent.max(1) {
            self.timestamp.record(now, ts);
        }
    }

    /// Protection against wrapped sequence numbers: is this timestamp older than the last
    /// (RFC 7323 §5)?
    pub fn is_outdated(&self, now: Instant, ts: Timestamps) -> bool {
        self.timestamp.is_newer_than(now, ts)
    }

    /// Timestamp to echo.
    #[inline]
    pub fn echo(&self) -> u32 {
        self.timestamp.value()
    }

    /// Returns the end of the data received without a gap from `offset`; `offset` itself if that
    /// byte is missing.
    pub fn arrived_until(&self, offset: u64) -> u64 {
        if offset < self.rcv_nxt {
            return self.rcv_nxt;
        }
        self.reassembly.covering(offset).map_or(offset, |range| range.1)
    }

    /// Returns the first offset from `offset` on that was received out of order.
    pub fn next_arrived(&self, offset: u64) -> Option<u64> {
        self.reassembly.covering_or_after(offset).map(|range| range.0.max(offset))
    }

    /// Returns the bytes behind the first gap that the application may use; 0 if it takes all in
    /// order.
    #[inline]
    pub fn usable_beyond(&self) -> u64 {
        if self.config.by_range { self.reassembly.waiting() } else { 0 }
    }

    /// Returns the ranges received behind the first gap, ascending.
    pub fn beyond(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.reassembly.ranges()
    }

    /// The sequence number that ACKs carry.
    #[inline]
    pub fn ack_number(&self) -> SeqNum {
        self.irs + self.rcv_nxt as u32
    }

    /// The peer does not scale windows.
    pub fn disable_scaling(&mut self) {
        self.window.disable_scaling();
        self.sizing.limit_to(u64::from(u16::MAX));
    }

    /// SACK was not agreed on, so that ACKs cannot report data out of order.
    pub const fn disable_sack(&mut self) {
        self.reports_gaps = false;
    }

    /// Shift to announce in the SYN.
    pub const fn window_shift(&self) -> u8 {
        self.window.shift()
    }

    /// Records an outgoing segment with ACK and returns its window field.
    #[inline(always)]
    pub fn on_ack_sent(&mut self, in_syn: bool) -> u16 {
        self.ack.on_ack_sent();
        self.last_ack_sent = self.rcv_nxt;
        self.window.offer(self.rcv_nxt, self.buffer_room(), in_syn)
    }

    /// Bytes that SACK blocks would take of a segment sent now, with room for `max` of them.
    #[inline]
    pub fn sack_bytes(&self, max: usize) -> u64 {
        if !self.has_sack_blocks() {
            return 0;
        }
        match self.report.len(&self.reassembly).min(max) as u64 {
            0 => 0,
            n => 4 + 8 * n,
        }
    }

    /// This end has shut down sending.
    pub const fn note_shutdown(&mut self) {
        self.has_shut_down = true;
    }

    /// True if an ACK has more to report than the cumulative acknowledgement.
    #[inline]
    pub fn has_sack_blocks(&self) -> bool {
        self.report.is_due(&self.reassembly)
    }

    /// Appends the SACK blocks of an outgoing ACK, `max` at most.
    pub fn sack_blocks(&mut self, max: usize, blocks: &mut SackBlocks) {
        self.report.append_blocks(self.irs, &self.reassembly, max, blocks);
    }

    /// A delayed ACK's time may have come; `rto` is the sending half's timeout.
    pub fn handle_timeout(&mut self, now: Instant, rto: Duration) {
        self.ack.handle_timeout(now, rto);
    }

    /// Data is being sent.
    #[inline]
    pub fn on_data_sent(&mut self, now: Instant) {
        self.ack.on_data_sent(now);
    }
}
