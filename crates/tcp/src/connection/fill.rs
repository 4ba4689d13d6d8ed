//! The fields of every segment, whatever its purpose: numbers, window, options, and reports for
//! gateways on the path.

use super::output::Departure;
use super::{Connection, PendingReset};
use crate::path::Path;
use crate::segment::{Ecn, Flags, Performance, Segment, Timestamps};
use units::{Instant, SeqNum};

impl Connection {
    pub(super) fn reset_segment(
        &mut self,
        now: Instant,
        reset: PendingReset,
        out: &mut Segment,
    ) -> Departure {
        match reset {
            PendingReset::Abort => {
                self.fill_without_data(now, Flags::RST.with(Flags::ACK), self.sender.nxt(), out)
            }
            PendingReset::Refuse(seq) => {
                self.counts.segments_sent += 1;
                *out = Segment { seq, flags: Flags::RST, ..Segment::default() };
                Departure::without_data(0)
            }
        }
    }

    /// A segment without data.
    #[inline]
    pub(super) fn fill_without_data(
        &mut self,
        now: Instant,
        flags: Flags,
        start: u64,
        out: &mut Segment,
    ) -> Departure {
        self.counts.segments_sent += 1;
        out.ecn = Ecn::NotEct;
        out.low_priority = false;
        out.len = 0;
        self.fill_header(now, flags, start, out);
        Departure::without_data(start)
    }

    /// Numbers, window, options: what every segment carries, whose payload is known already.
    #[inline(always)]
    pub(super) fn fill_header(
        &mut self,
        now: Instant,
        flags: Flags,
        start: u64,
        out: &mut Segment,
    ) {
        out.flags = flags;
        out.framing = self.config.framing;
        out.seq = self.isn + start as u32;
        if flags.0 & Flags::SYN.with(Flags::RST).0 != 0 || !flags.contains(Flags::ACK) {
            return self.fill_special(now, out);
        }
        out.ack = self.receiver.ack_number();
        if self.receiver.echoes_congestion() {
            out.flags = flags.with(Flags::ECE);
        }
        out.window = self.receiver.on_ack_sent(false);
        self.fill_options(now, true, out);
        if self.accurate.is_some() {
            self.fill_accurate(now, out);
        }
    }

    /// As [`Connection::fill`], for a SYN, a reset, or data that follows a SYN without waiting.
    #[cold]
    fn fill_special(&mut self, now: Instant, out: &mut Segment) {
        let (syn, ack) = (out.has(Flags::SYN), out.has(Flags::ACK));
        let acks = ack && !out.has(Flags::RST);
        out.ack = if ack { self.receiver.ack_number() } else { SeqNum::default() };
        if ack && !syn && self.receiver.echoes_congestion() {
            out.flags = out.flags.with(Flags::ECE);
        }
        out.window = if acks || syn { self.receiver.on_ack_sent(syn) } else { 0 };
        if syn {
            self.note_fast_open_syn(out.len);
            out.options = self.syn_options(now);
        } else {
            self.fill_options(now, acks, out);
        }
    }

    /// Sets the options of a segment other than a SYN. A retransmission keeps its size, unless
    /// it was cut before: SACK blocks wait for a segment that has room.
    #[inline(always)]
    fn fill_options(&mut self, now: Instant, acks: bool, out: &mut Segment) {
        let options = &mut out.options;
        (options.mss, options.window_scale, options.sack_permitted) = (None, None, false);
        options.timestamps = self
            .sender
            .terms()
            .timestamps
            .then(|| Timestamps { value: self.timestamp(now), echo: self.receiver.echo() });
        options.sack.clear();
        (options.performance, options.fast_open, options.ecn) = (None, None, None);
        let reports = self.sender.terms().sack && acks && self.receiver.has_sack_blocks();
        if reports && u64::from(out.len) <= self.current_mss() {
            self.receiver.sack_blocks(self.sack_room(), &mut options.sack);
        }
        if self.gateway_option.is_waiting() && acks {
            self.attach_report(out);
        }
    }

    /// A report rides on the next segment that has room: one that was cut for it, or needs not be.
    #[cold]
    fn attach_report(&mut self, out: &mut Segment) {
        if u64::from(out.len) <= self.current_mss() {
            out.options.performance = self.gateway_option.take();
        }
    }

    /// Takes a report that the path has for a gateway on the way.
    #[cold]
    pub(super) fn collect_report(&mut self, path: &mut Path) {
        let report = path.take_report();
        if let Some(report) = report.and_then(|report| Performance::new(report.share, report.rtt)) {
            self.gateway_option.set_pending(report, self.config.options_count);
        }
    }
}
