//! Accurate ECN (RFC 9768): the agreement of the SYNs, the ACE field and the option of what is
//! sent, and the counters of what is received. `received` has the counters, `room` says which
//! counters fit into a header. The sender reads what the peer reports (`sender`).
//!
//! The model is Linux 7.0 (`include/net/tcp_ecn.h`), down to when it gives a feature up.

mod received;
mod room;

use super::{Connection, State};
use crate::config::{EcnMode, EcnOptionUse};
use crate::path::Path;
use crate::segment::{
    Ecn, EcnCounters, Flags, Performance, SackBlocks, Segment, TIMESTAMPS_BYTES, TcpOptions,
};
use received::ReceivedMarks;
use room::CountersFit;
use sender::{AccurateFeedback, MarkCounts};
use units::{Duration, Instant, SeqNum};

/// Bytes sent after which counters of the peer may have wrapped, so that a first option comes too
/// late (`tcp_accecn_process_option`).
const MAX_SENT_BEFORE_OPTION_BYTES: u64 = (1 << 23) - 1;
/// Options for each round trip, at least (`tcp_ecn_option_beacon`).
const OPTIONS_PER_ROUND_TRIP: u64 = 3;
/// Marked packets after which an ACK is sent at once: the ACE field must not wrap (RFC 9768
/// §3.2.2.5.1).
const MAX_UNREPORTED: u32 = 6;
/// Options that report a change of the ECN field (`accecn_opt_demand`).
const OPTIONS_PER_CHANGE: u8 = 2;

/// Options that the peer has sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum PeerOption {
    /// None.
    #[default]
    Unseen,
    /// An option without counters.
    Empty,
    /// Counters.
    Counters,
}

/// State of Accurate ECN of a connection that has agreed on it.
#[derive(Clone, Debug)]
pub(super) struct AccurateEcn {
    received: ReceivedMarks,
    /// ECN field of the peer's last SYN.
    syn_field: Ecn,
    /// The next segment, if it is a pure ACK, reflects this field (RFC 9768 §3.2.2.1).
    reflects: bool,
    /// The path alters the ACE field or the ECN field: data is sent as Not-ECT (RFC 9768 §3.2.2.3).
    is_mangled: bool,
    peer_option: PeerOption,
    /// Options are not read: the first one had counters of zero, which the path must have altered
    /// (RFC 9768 §3.2.3.2.4), or came too late.
    ignores_options: bool,
    /// The path drops segments with the option (RFC 9768 §3.2.3.2.2).
    option_is_dropped: bool,
    /// Time of the last option.
    option_at: Instant,
    /// Left edge of the D-SACK block that the last segment had beside an option.
    dsack_with_option: Option<SeqNum>,
}

impl AccurateEcn {
    fn new(now: Instant, syn_field: Ecn) -> Self {
        Self {
            received: ReceivedMarks::default(),
            syn_field,
            reflects: false,
            is_mangled: false,
            peer_option: PeerOption::Unseen,
            ignores_options: false,
            option_is_dropped: false,
            option_at: now,
            dsack_with_option: None,
        }
    }

    /// Takes the first option with counters: those of ECT(0) and ECT(1) begin with 1.
    fn note_option(&mut self, option: &EcnCounters, sent: u64) -> bool {
        if self.peer_option == PeerOption::Counters {
            return false;
        }
        let is_zero = |at| option.iter().nth(at).is_some_and(|(_, counter)| counter == 0);
        let is_late =
            self.peer_option == PeerOption::Unseen && sent >= MAX_SENT_BEFORE_OPTION_BYTES;
        self.ignores_options |= is_late || is_zero(0) || is_zero(2);
        self.peer_option = if option.is_empty() { PeerOption::Empty } else { PeerOption::Counters };
        true
    }

    /// True if the next segment is to have an option.
    fn wants_option(&self, option: EcnOptionUse) -> bool {
        self.peer_option != PeerOption::Unseen
            && (option == EcnOptionUse::Persist || !self.option_is_dropped)
            && match option {
                EcnOptionUse::Never => false,
                EcnOptionUse::Minimum => self.received.is_option_due(),
                EcnOptionUse::Full | EcnOptionUse::Persist => true,
            }
    }

    /// Takes data that was received before. If its D-SACK had an option, that ACK was lost, and so
    /// was the one before it.
    fn note_repetition(&mut self, segment: &Segment) {
        let is_again = segment.len > 0 && self.dsack_with_option == Some(segment.seq);
        self.option_is_dropped |= is_again;
    }

    /// Records an option that is sent beside a D-SACK block, or without one.
    fn note_option_sent(&mut self, now: Instant, dsack: Option<SeqNum>) {
        self.received.on_option_sent();
        self.option_at = now;
        self.dsack_with_option = dsack;
    }
}

impl Connection {
    /// Returns the variant of ECN on which the SYN of the peer agrees with ours, and begins
    /// Accurate ECN.
    pub(super) fn agree_ecn(&mut self, now: Instant, syn: &Segment) -> EcnMode {
        let (ace, answers) = (syn.flags.ace(), syn.has(Flags::ACK));
        let own = self.config.ecn;
        let agreed = if answers { own.answered(ace) } else { own.accepted(ace) };
        self.receiver.set_echoes_marks(agreed == EcnMode::Classic);
        self.accurate = (agreed == EcnMode::Accurate).then(|| {
            let mut accurate = Box::new(AccurateEcn::new(now, syn.ecn));
            if answers {
                accurate.reflects = true;
                accurate.take_syn_ack(syn, self.config.ecn_fallback);
            } else {
                accurate.received.start(syn.ecn);
            }
            accurate
        });
        agreed
    }

    /// Returns the ACE field of our SYN or SYN-ACK. Two are sent with it; if both are lost, the
    /// path may drop them for it (RFC 9768 §3.1.4).
    pub(super) fn syn_ace(&self) -> u8 {
        let timeouts = self.sender.counts().timeouts;
        let gives_up = self.config.ecn_fallback;
        match (self.state, self.config.ecn, &self.accurate) {
            (State::SynReceived, _, Some(accurate)) if timeouts <= 1 => {
                accurate.syn_field.handshake_ace()
            }
            (State::SynReceived, ..) => match self.sender.terms().ecn {
                EcnMode::Classic => 1,
                EcnMode::Off | EcnMode::Accurate => 0,
            },
            (_, EcnMode::Classic, _) if timeouts == 0 || !gives_up => 3,
            (_, EcnMode::Accurate, _) if timeouts <= 1 || !gives_up => 7,
            _ => 0,
        }
    }

    /// Returns the option of a SYN-ACK that is sent for the first time (RFC 9768 §3.2.3.2.1), with
    /// as many counters as fit beside its `others`.
    pub(super) fn syn_ack_counters(&self, others: &TcpOptions) -> Option<EcnCounters> {
        let is_first = self.state == State::SynReceived && self.sender.nxt() == 0;
        let wanted = is_first && self.config.ecn_option != EcnOptionUse::Never;
        self.accurate.as_ref().filter(|_| wanted)?;
        let count = room::counters_of_syn_ack(others)?;
        Some(EcnCounters::new(true, &EcnCounters::INITIAL[..count]))
    }

    /// Takes the ECN field, the ACE field and the option of an acceptable segment without SYN.
    #[cold]
    #[inline(never)]
    pub(super) fn note_accurate_ecn(&mut self, left: u64, segment: &Segment) {
        let (sent, timeouts) = (self.sender.nxt(), self.sender.counts().timeouts);
        let fallback = self.config.ecn_fallback;
        let repeats = left + u64::from(segment.len) <= self.receiver.rcv_nxt();
        // `tcp_accecn_third_ack` follows `tcp_ack`: the ACK of another incarnation says nothing.
        let opens = self.state == State::SynReceived
            && segment.has(Flags::ACK)
            && self.ack_offset(segment.ack).is_some_and(|una| (1..=sent).contains(&una));
        let Some(accurate) = self.accurate.as_deref_mut() else { return };
        if opens {
            accurate.is_mangled |= timeouts > 1;
            if accurate.check_third_ack(segment, fallback) {
                self.sender.count_marked_syn_ack();
            }
        }
        if let Some(option) = &segment.options.ecn {
            accurate.note_option(option, sent);
        }
        if repeats {
            accurate.note_repetition(segment);
        }
        let changed = accurate.received.on_segment(segment.ecn, segment.len);
        if changed || accurate.received.unreported() >= MAX_UNREPORTED {
            self.receiver.demand_ack();
        }
    }

    /// The peer repeats data that is not acceptable any more.
    pub(super) fn note_repeated_data(&mut self, segment: &Segment) {
        if let Some(accurate) = self.accurate.as_deref_mut() {
            accurate.note_repetition(segment);
        }
    }

    /// The peer repeats its SYN or SYN-ACK: the answer reflects the ECN field that it has now.
    #[cold]
    pub(super) fn note_repeated_syn(&mut self, segment: &Segment) {
        let is_opening = self.state == State::SynReceived;
        let sent = self.sender.nxt();
        let Some(accurate) = self.accurate.as_deref_mut() else { return };
        accurate.syn_field = segment.ecn;
        if is_opening {
            accurate.is_mangled |= segment.flags.ace() == 0;
        } else {
            accurate.reflects = true;
            if let Some(option) = &segment.options.ecn
                && accurate.note_option(option, sent)
            {
                accurate.received.demand_options(1);
            }
        }
    }

    /// Returns the feedback of a segment for the sender.
    #[cold]
    #[inline(never)]
    pub(super) fn accurate_feedback(
        &mut self,
        now: Instant,
        path: &Path,
        segment: &Segment,
    ) -> AccurateFeedback {
        let advances_clock =
            segment.options.timestamps.is_some_and(|ts| self.receiver.is_newer(ts));
        let interval = path.rtt().srtt() / OPTIONS_PER_ROUND_TRIP;
        let Some(accurate) = self.accurate.as_deref_mut() else {
            return AccurateFeedback::default();
        };
        if now.saturating_since(accurate.option_at) >= interval && interval > Duration::ZERO {
            accurate.received.demand_options(1);
        }
        let counters = segment.options.ecn.filter(|_| !accurate.ignores_options);
        AccurateFeedback { counters, advances_clock }
    }

    /// Returns the number of counters that the next segment has beside `blocks` SACK blocks, and
    /// the blocks that stay; `None` if it has no option. `reports`: it has a report for a gateway.
    fn next_counters(&self, blocks: usize, reports: bool) -> Option<CountersFit> {
        let accurate = self.accurate.as_deref()?;
        if !accurate.wants_option(self.config.ecn_option) {
            return None;
        }
        let timestamps = if self.sender.terms().timestamps { TIMESTAMPS_BYTES } else { 0 };
        let report = if reports { Performance::WIRE_BYTES } else { 0 };
        let room = TcpOptions::ROOM - timestamps - report;
        CountersFit::of(room, accurate.received.needed_counters(), blocks)
    }

    /// Returns the bytes that SACK blocks and the option of the next segment take from its payload.
    #[cold]
    pub(super) fn accurate_option_bytes(&self) -> u64 {
        let sacks = self.sender.terms().sack && self.receiver.has_sack_blocks();
        let bytes = if sacks { self.receiver.sack_bytes(self.sack_room()) } else { 0 };
        let blocks = (bytes / 8) as usize;
        match self.next_counters(blocks, self.gateway_option.is_waiting()) {
            Some(fit) => fit.bytes(),
            None => bytes,
        }
    }

    /// Sets the ECN field, the ACE field and the option of a segment without SYN whose other
    /// options are set.
    #[cold]
    #[inline(never)]
    pub(super) fn fill_accurate(&mut self, now: Instant, out: &mut Segment) {
        let blocks = out.options.sack.as_slice().len();
        // A connection that has ended has no counters any more (`tcp_timewait_sock`).
        let has_counters = self.state != State::TimeWait;
        let reports = out.options.performance.is_some();
        let fit = self.next_counters(blocks, reports).filter(|_| has_counters);
        let fits = u64::from(out.len) <= self.current_mss();
        let Some(accurate) = self.accurate.as_deref_mut() else { return };
        out.ecn = if accurate.is_mangled { Ecn::NotEct } else { Ecn::Ect0 };
        let reflects = std::mem::take(&mut accurate.reflects) && out.sequence_len() == 0;
        let ace = match reflects {
            _ if !has_counters => 0,
            true => accurate.syn_field.handshake_ace(),
            false => accurate.received.report(),
        };
        out.flags = out.flags.with_ace(ace);
        accurate.dsack_with_option = None;
        if let Some(fit) = fit.filter(|_| fits) {
            out.options.sack.truncate(fit.blocks);
            let counters = accurate.received.counters();
            out.options.ecn = Some(EcnCounters::new(true, &counters[..fit.counters]));
            accurate.note_option_sent(now, dsack_of(out));
        }
    }

    /// Returns the marks that the peer has reported by Accurate ECN; `None` without it.
    pub fn reported_marks(&self) -> Option<MarkCounts> {
        self.sender.reported_marks()
    }
}

impl AccurateEcn {
    /// Takes the SYN-ACK, which says with which ECN field our SYN was received. The SYN was sent as
    /// Not-ECT.
    fn take_syn_ack(&mut self, syn_ack: &Segment, fallback: bool) {
        /// Reserved, so that it says nothing (RFC 9768 §3.1.3).
        const RESERVED: u8 = 5;
        let ace = syn_ack.flags.ace();
        let is_true = ace == Ecn::NotEct.handshake_ace() || ace == RESERVED;
        self.is_mangled = fallback && !is_true;
        if syn_ack.ecn == Ecn::Ce && !self.is_mangled {
            self.received.on_marked_syn_ack();
        }
        if let Some(option) = &syn_ack.options.ecn {
            self.note_option(option, 0);
            self.received.demand_options(OPTIONS_PER_CHANGE);
        }
    }

    /// Checks the ACK of the SYN-ACK, which was sent as Not-ECT (RFC 9768 §3.2.2.3 and §3.2.2.4).
    /// True if it says that the SYN-ACK was marked.
    fn check_third_ack(&mut self, segment: &Segment, fallback: bool) -> bool {
        let ace = segment.flags.ace();
        let reflects = segment.sequence_len() == 0 && segment.options.sack.is_empty();
        let is_altered = [Ecn::Ect1, Ecn::Ect0, Ecn::Ce].map(Ecn::handshake_ace).contains(&ace);
        if ace == 0 && segment.options.sack.is_empty() {
            (self.is_mangled, self.ignores_options) = (true, true);
        }
        self.is_mangled |= reflects && fallback && is_altered;
        reflects && !fallback && ace == Ecn::Ce.handshake_ace()
    }
}

/// Returns the left edge of the D-SACK block, if the segment has one.
fn dsack_of(segment: &Segment) -> Option<SeqNum> {
    let offset = |seq: SeqNum| i64::from(seq.distance_from(segment.ack));
    let blocks = segment.options.sack.as_slice();
    let offsets = |&(left, right): &(SeqNum, SeqNum)| offset(left)..offset(right);
    let first = blocks.first()?;
    let second = blocks.get(1).map(offsets);
    SackBlocks::is_duplicate(&offsets(first), second, 0).then_some(first.0)
}
