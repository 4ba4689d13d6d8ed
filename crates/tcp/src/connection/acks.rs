//! The ack pipeline: window update, scoreboard, round trip, loss recovery, window growth, timer;
//! one step a function, in the order of RFC 6675 §5.

use super::timers::Deadline;
use super::{Connection, State};
use crate::ack::{AckInfo, AckProgress, AckSample};
use crate::config::RttSampling;
use crate::congestion::CongestionEvent;
use crate::path::{Front, MemberDelivery, Path};
use crate::recovery::{News, Reduction, Report, Stance, TimerAction};
use crate::segment::{Flags, Segment};
use crate::startup::Setback;
use crate::window::Cause;
use units::{Duration, Instant};

/// What recovery, and whoever shares the path, make of an ACK.
#[derive(Clone, Copy, Debug)]
struct AckVerdict {
    /// The window may grow if it acknowledges data.
    grow: bool,
    /// It is for data sent before the window of a shared path fell.
    old: bool,
    timer: TimerAction,
}

impl Connection {
    /// Digests an acceptable acknowledgement: `left` and `una` are the offsets of the segment's
    /// sequence and acknowledgement numbers.
    #[inline(always)]
    pub(super) fn handle_ack(
        &mut self,
        now: Instant,
        path: &mut Path,
        (left, una): (u64, u64),
        segment: &Segment,
    ) {
        self.allow_burst();
        if self.wishes.is_some() {
            self.note_occasion();
        }
        let window_changed = self.update_send_window(segment, left, una);
        // With nothing outstanding, as at a receiver, only the window may have changed; a SACK block
        // could still be a D-SACK for what was sent before.
        if una != self.snd_una || !self.board.is_empty() || !segment.options.sack.is_empty() {
            self.digest_ack(now, path, (una, window_changed), segment);
        }
        self.note_progress(now, path);
    }

    /// The pipeline proper, for an ACK up to `una` that may concern what is outstanding.
    fn digest_ack(
        &mut self,
        now: Instant,
        path: &mut Path,
        (una, window_changed): (u64, bool),
        segment: &Segment,
    ) {
        let una_before = self.snd_una;
        let losses = self.board.losses();
        let prior_in_flight = path.bytes_in_flight();
        self.outstanding_before_ack = self.board.outstanding();
        let mut info = self.ack_info(now, una_before);
        let lowest = self.board.segment(0).filter(|_| path.is_shared()).map(|s| s.order);
        if una > una_before {
            self.timers.retries = 0;
            self.snd_una = una;
            info.una = una;
            self.board.acknowledge(una, &mut info.progress);
        }
        if self.agreed.sack && !segment.options.sack.is_empty() {
            info.dsack = self.digest_sack(segment, una, &mut info.progress);
        }
        info.duplicate = self.is_duplicate(segment, una == una_before && !window_changed, &info);
        info.echoes_original = self.echoes_original(segment);
        let acked = acked_payload(una_before, una, self.written);
        path.on_acked(acked);
        self.sample_rtt(now, path, &info, segment);
        let progress = &info.progress;
        let whole = progress.delivered - progress.partial;
        self.stats.delivered_segments += progress.segments;
        let delivered = whole - u64::from(una_before == 0).min(whole);
        let delivered = match self.config.duplicates_deliver && !self.agreed.sack {
            true => self.less_duplicates(&info, delivered, path.is_shared()),
            false => delivered,
        };
        let mut sample = self.ack_sample(path, &info, (acked, delivered), prior_in_flight);
        path.observe(&mut sample);
        if self.is_partial_ack(&info) && path.on_setback(Setback::PartialAck) {
            return self.retreat(now, path);
        }
        let verdict = if self.is_idle_for(&info) && !path.is_shared() {
            debug_assert!(self.idle_promise_holds(path, &info));
            self.settle_in_flight(path);
            let echoed = self.on_ecn_echo(now, path, None, segment);
            AckVerdict { grow: !echoed, old: false, timer: TimerAction::OnProgress }
        } else {
            self.hear_recovery(path, &info, (&sample, lowest), segment)
        };
        let grow = verdict.grow && acked.max(delivered) > 0;
        if path.is_metered() {
            self.meter(path, &mut sample, &info, losses, verdict.old);
        }
        if (grow || path.is_ruled()) && path.on_ack(&sample) {
            return self.retreat(now, path);
        }
        path.update_pacing_rate();
        path.on_ack_digested(&sample, grow);
        self.update_timer(now, path, &info, verdict.timer);
        if acked > 0 && una >= self.written {
            path.on_transfer_acked();
            self.collect_report(path);
        }
    }

    /// What of `delivered` bytes duplicate ACKs have not told of already (`tcp_add_reno_sack`,
    /// `tcp_remove_reno_sacks`).
    #[cold]
    fn less_duplicates(&mut self, info: &AckInfo, delivered: u64, shared: bool) -> u64 {
        if shared || self.recovering() {
            return delivered;
        }
        if !info.advanced() {
            let most = self.board.len().saturating_sub(1) as u32;
            self.duplicates = (self.duplicates + u32::from(info.duplicate)).min(most);
            return delivered;
        }
        let segments = info.progress.segments;
        let fresh = segments.saturating_sub(self.duplicates.into()).max(1);
        self.duplicates =
            u64::from(self.duplicates).saturating_sub(segments.saturating_sub(1)) as u32;
        delivered.min(fresh * self.agreed.mss)
    }

    /// Tells a shared path which segment this ACK acknowledges, by its place in the order of sending.
    ///
    /// A cumulative or selective acknowledgement tells by itself. RFC 7323 echoes an old timestamp on
    /// duplicates, so without SACK these are taken by the order of sending (Balakrishnan et al. 1998,
    /// note 2): the n-th is for the n-th segment after the hole, or a later one.
    #[cold]
    fn note_arrival(&mut self, path: &mut Path, info: &AckInfo) -> Option<u64> {
        if info.advanced() {
            self.duplicates = 0;
        }
        let arrived = match info.progress.newest {
            Some(newest) => Some((newest.order, newest.sent_at)),
            None if info.duplicate => {
                self.duplicates += 1;
                let n = (self.duplicates as usize).min(self.board.len() - 1);
                // A segment that went again for nothing makes a duplicate too: what has not had
                // the time for a round trip has not arrived.
                let arrived = self.board.segment(n).map(|s| (s.order, s.sent_at));
                let least = path.rtt.min_rtt();
                arrived.filter(|(_, sent_at)| info.now.saturating_since(*sent_at) >= least)
            }
            None => None,
        };
        let (order, sent_at) = arrived?;
        if let Some(log) = path.log() {
            log.note_arrival(order, sent_at);
        }
        Some(order)
    }

    /// What the path's members may know of this one's oldest outstanding segments.
    pub(crate) fn front(&self) -> Front {
        let Some(lowest) = self.board.segment(0) else { return Front::EMPTY };
        let waiting = lowest.is_lost() && !lowest.is_retransmission_in_flight();
        let busy = self.recovery.is_busy() || waiting || lowest.is_sacked();
        let mut front = Front { busy, sent_at: lowest.sent_at, ..Front::EMPTY };
        for (slot, segment) in front.orders.iter_mut().zip(self.board.iter()) {
            *slot = segment.order;
        }
        if let Some(next) = self.board.segment(1) {
            let two = u64::from(lowest.len) + u64::from(next.len);
            front.ack_due = two >= 2 * self.agreed.mss || next.is_sacked();
        }
        front
    }

    /// Digests what the ACKs of other members say of this one's segments.
    pub(crate) fn on_later_acks(&mut self, now: Instant, path: &mut Path, news: News) {
        self.allow_burst();
        self.outstanding_before_ack = self.board.outstanding() + path.left_by_ack();
        let (recovery, mut cx) = self.recovery_parts(path);
        let report = recovery.on_later_acks(&mut cx, news);
        self.settle_in_flight(path);
        self.apply_report(now, path, &report, false);
        if report.timer == TimerAction::Restart {
            self.restart_retransmission_timer(now, path);
        }
    }

    /// Tells the path's meter, and through it the policy that models the path, what the ACK delivered.
    /// `losses_before`: on the scoreboard before it; `old`: it is for data sent before the window of a shared
    /// path fell.
    #[cold]
    fn meter(
        &mut self,
        path: &mut Path,
        sample: &mut AckSample,
        info: &AckInfo,
        losses_before: u64,
        old: bool,
    ) {
        let recovering = if path.is_shared() { old } else { self.recovery.recovering() };
        let marks = self.marks.get_or_insert_default();
        let losses = self.board.losses();
        path.meter(sample, info, MemberDelivery { marks, losses_before, losses, recovering });
        match self.board.segment(0) {
            None => marks.clear(),
            // What goes again leaves later than what follows it.
            Some(head) if !head.was_retransmitted() => marks.forget_before(head.order),
            Some(_) => {}
        }
    }

    /// Without SACK, in fast recovery: new data is acknowledged, but not all that was outstanding when
    /// it began.
    #[inline]
    fn is_partial_ack(&self, info: &AckInfo) -> bool {
        info.advanced()
            && !self.agreed.sack
            && self.recovery.recovery_point().is_some_and(|point| info.una < point)
    }

    /// An ACK of which nothing is known yet.
    #[inline]
    fn ack_info(&self, now: Instant, una: u64) -> AckInfo {
        AckInfo {
            now,
            una_before: una,
            una,
            snd_nxt: self.snd_nxt,
            duplicate: false,
            progress: AckProgress::default(),
            dsack: None,
            echoes_original: false,
        }
    }

    /// RFC 9293 §3.10.7.4: a newer segment's window replaces the old. True if it changed.
    #[inline]
    fn update_send_window(&mut self, segment: &Segment, left: u64, una: u64) -> bool {
        let (wl1, wl2) = self.window_update;
        let newer = wl1 < left || (wl1 == left && wl2 <= una) || una > self.snd_una;
        if !newer {
            return false;
        }
        let shift = if segment.has(Flags::SYN) { 0 } else { self.agreed.peer_shift };
        let window = u64::from(segment.window) << shift;
        self.window_update = (left, una);
        if window == 0 {
            // The peer answers, it only has no room (RFC 9293 §3.8.6.1).
            self.timers.retries = 0;
        }
        if window == self.snd_wnd {
            return false;
        }
        self.snd_wnd = window;
        self.max_snd_wnd = self.max_snd_wnd.max(window);
        true
    }

    /// Books SACK blocks; answers a D-SACK block (RFC 2883 §4: the first block, below the
    /// cumulative acknowledgement or inside the second).
    fn digest_sack(
        &mut self,
        segment: &Segment,
        una: u64,
        progress: &mut AckProgress,
    ) -> Option<(u64, u64)> {
        let blocks = segment.options.sack.as_slice();
        let offsets = |&(left, right): &(_, _)| {
            let left = self.ack_offset(left)?;
            let right = self.ack_offset(right)?;
            (left < right && right <= self.snd_nxt).then_some((left, right))
        };
        let first = blocks.first().and_then(offsets);
        let second = blocks.get(1).and_then(offsets);
        let inside =
            |inner: (u64, u64), outer: (u64, u64)| inner.0 >= outer.0 && inner.1 <= outer.1;
        let dsack = first.filter(|&f| f.0 < una || second.is_some_and(|s| inside(f, s)));
        let skip = usize::from(dsack.is_some());
        let mut ranges = [None; crate::SackBlocks::MAX];
        let mut lies = 0;
        for (slot, block) in ranges.iter_mut().zip(&blocks[skip..]) {
            *slot = offsets(block);
            lies += u64::from(slot.is_none());
        }
        self.stats.sack_discarded += lies;
        for (left, right) in ranges.into_iter().flatten() {
            if right > una {
                self.board.sack(left, right, progress);
            }
        }
        dsack
    }

    /// A duplicate ACK: with SACK one that brings news (RFC 6675 §2), else one that repeats the
    /// last in all respects while data is outstanding (RFC 5681 §2); `repeats`: in number and window.
    fn is_duplicate(&self, segment: &Segment, repeats: bool, info: &AckInfo) -> bool {
        if self.agreed.sack {
            return info.progress.sacked > 0;
        }
        repeats && segment.sequence_len() == 0 && !self.board.is_empty()
    }

    /// Eifel (RFC 3522): the echoed timestamp is older than the first retransmission.
    fn echoes_original(&self, segment: &Segment) -> bool {
        let Some(stamp) = self.retransmit_stamp.filter(|_| self.agreed.timestamps) else {
            return false;
        };
        segment.options.timestamps.is_some_and(|ts| (ts.echo.wrapping_sub(stamp) as i32) < 0)
    }

    /// Takes a round-trip sample if this ACK allows one (Karn's rule; RFC 7323 §4.1).
    #[inline]
    fn sample_rtt(&mut self, now: Instant, path: &mut Path, info: &AckInfo, segment: &Segment) {
        let sent = match self.config.rtt_sampling {
            RttSampling::EveryAck => {
                info.progress.earliest_sent.filter(|_| !self.was_held(path, info))
            }
            RttSampling::OnePerRoundTrip => self.take_timed(info.una),
            RttSampling::Echo => info
                .progress
                .newest
                .filter(|newest| info.advanced() && !newest.retransmitted)
                .map(|newest| newest.sent_at),
        };
        if let Some(sent) = sent {
            path.on_rtt_sample(sent, now);
            self.timers.backoff = 0;
        } else if self.config.rtt_sampling != RttSampling::OnePerRoundTrip && info.advanced() {
            self.sample_echo(now, path, segment);
        }
    }

    /// On a shared path without SACK: a hole, filled by a retransmission, has held this ACK back, so
    /// what it acknowledges beside arrived who knows when. The others would wait by this one's clock.
    fn was_held(&self, path: &Path, info: &AckInfo) -> bool {
        path.is_shared()
            && !self.agreed.sack
            && info.progress.newest.is_some_and(|newest| newest.retransmitted)
    }

    /// The timed segment, if it is now acknowledged. Its sample is void during fast recovery:
    /// the hole before it held the ACK back.
    fn take_timed(&mut self, una: u64) -> Option<Instant> {
        let (_, sent) = self.timers.timed.filter(|&(end, _)| una >= end)?;
        self.timers.timed = None;
        if self.recovery.recovery_point().is_some_and(|point| una < point) {
            self.timers.backoff = 0;
            return None;
        }
        Some(sent)
    }

    /// Only retransmitted data was acknowledged: the echoed timestamp still tells the round trip,
    /// in its own coarse ticks.
    #[cold]
    fn sample_echo(&mut self, now: Instant, path: &mut Path, segment: &Segment) {
        let Some(ts) = segment.options.timestamps.filter(|_| self.agreed.timestamps) else {
            return;
        };
        let age = self.timestamp(now).wrapping_sub(ts.echo) as i32;
        if age > 0 && ts.echo != 0 {
            let sent = now - Duration::from_millis(age as u64);
            path.on_coarse_rtt_sample(sent, now);
            self.timers.backoff = 0;
        }
    }

    /// Asks recovery, and on a shared path the other members, what this ACK means. `lowest`: the place of
    /// the connection's lowest segment before it.
    fn hear_recovery(
        &mut self,
        path: &mut Path,
        info: &AckInfo,
        (sample, lowest): (&AckSample, Option<u64>),
        segment: &Segment,
    ) -> AckVerdict {
        let now = info.now;
        let arrived = if path.is_shared() { self.note_arrival(path, info) } else { None };
        let old = arrived.is_some_and(|order| path.is_before_reduction(self.client(), order));
        let report = self.ask_recovery(path, info);
        self.settle_in_flight(path);
        self.apply_report(now, path, &report, false);
        if path.is_shared() {
            path.on_member_ack(sample, arrived, info.advanced());
        }
        let echoed = self.on_ecn_echo(now, path, arrived, segment);
        let held = arrived.is_some_and(|order| path.withholds_growth(order, lowest));
        let grow = report.grow && !echoed && !old && !held;
        AckVerdict { grow, old, timer: report.timer }
    }

    #[inline]
    fn ask_recovery(&mut self, path: &Path, info: &AckInfo) -> Report {
        if self.is_idle_for(info) {
            debug_assert!(self.idle_promise_holds(path, info));
            return Report::PROGRESS;
        }
        let (recovery, mut cx) = self.recovery_parts(path);
        let report = recovery.on_ack(&mut cx, info);
        self.recovery.stance = report.stance;
        report
    }

    /// The recovery policy has promised that this ACK is none of its business ([`Stance::Idle`]).
    #[inline]
    fn is_idle_for(&self, info: &AckInfo) -> bool {
        self.recovery.stance == Stance::Idle
            && info.advanced()
            && self.board.is_clean()
            && info.dsack.is_none()
            && !info.duplicate
            && !info.echoes_original
    }

    /// Carries a recovery report to the path and the counters.
    #[inline(always)]
    pub(super) fn apply_report(
        &mut self,
        now: Instant,
        path: &mut Path,
        report: &Report,
        timeout: bool,
    ) {
        if !report.is_quiet() {
            self.apply_news(now, path, report, timeout);
        }
    }

    /// As [`Connection::apply_report`], for a report that changes something.
    #[cold]
    fn apply_news(&mut self, now: Instant, path: &mut Path, report: &Report, timeout: bool) {
        if report.congestion.is_some() && !timeout {
            self.stats.fast_retransmits += 1;
            self.timers.timed = None;
        }
        if report.undo {
            self.stats.undos += 1;
        }
        if report.congestion.is_some() && self.agreed.ecn {
            // One reaction per window, whether by loss or mark, and the peer is told of either
            // (RFC 3168 §6.1.2).
            self.ecn_recover = self.snd_nxt;
            self.cwr_pending = true;
        }
        let mut event = self.congestion_event(now, path, timeout);
        event.repeated = report.repeated;
        if path.is_shared() {
            let lowest = self.board.segment(0).map_or(u64::MAX, |s| s.order);
            path.on_member_report(report, &event, (self.origin(), lowest));
        } else {
            path.on_report(report, &event);
        }
        if !path.is_shared() && report.congestion == Some(Reduction::Gradual) {
            let (recovery, cx) = self.recovery_parts(path);
            if let Some(cwnd) = recovery.window_after_reduction(&cx) {
                path.on_report(&Report { cwnd: Some(cwnd), ..Report::default() }, &event);
            }
        }
        if report.ended || report.undo {
            self.retransmit_stamp = None;
        }
        self.collect_report(path);
    }

    fn congestion_event(&self, now: Instant, path: &Path, timeout: bool) -> CongestionEvent {
        CongestionEvent {
            now,
            // Limited transmit sent beyond the window; that does not count (RFC 5681 §3.2 step 2).
            flight_size: (self.outstanding_before_ack + self.others_in_flight(path))
                .min(path.usable_cwnd()),
            usable_window: path.usable_cwnd().min(self.max_snd_wnd.max(self.agreed.mss)),
            timeout,
            repeated: false,
        }
    }

    /// RFC 3168 §6.1.2: an echo is answered as a loss would be, once per window, with nothing to
    /// retransmit.
    /// True if the segment carries an echo: the window does not grow then.
    #[inline]
    fn on_ecn_echo(
        &mut self,
        now: Instant,
        path: &mut Path,
        arrived: Option<u64>,
        segment: &Segment,
    ) -> bool {
        let echoed = self.agreed.ecn && segment.has(Flags::ECE) && !segment.has(Flags::SYN);
        if !echoed || self.recovery.recovering() || self.snd_una <= self.ecn_recover {
            return echoed;
        }
        self.ecn_recover = self.snd_nxt;
        self.cwr_pending = true;
        if arrived.is_some_and(|order| path.is_before_reduction(self.client(), order)) {
            return true;
        }
        self.stats.ecn_reductions += 1;
        let event = self.congestion_event(now, path, false);
        path.reduce_for(self.client(), Reduction::ToSsthresh, &event, Cause::Ecn);
        self.collect_report(path);
        true
    }

    /// What start-up and congestion control are told; the path adds its totals.
    #[inline]
    fn ack_sample(
        &self,
        path: &Path,
        info: &AckInfo,
        (acked, delivered): (u64, u64),
        prior_in_flight: u64,
    ) -> AckSample {
        let now = info.now;
        AckSample {
            now,
            acked,
            delivered,
            rtt: info.progress.latest_sent.map(|sent| now.saturating_since(sent)),
            srtt: path.rtt.srtt(),
            min_rtt: path.rtt.min_rtt(),
            prior_in_flight,
            in_flight: path.bytes_in_flight() - self.last_in_flight + self.board.pipe(),
            cwnd_limited: true,
            sent_total: 0,
            acked_total: 0,
            round: None,
            delivery: None,
        }
    }

    /// RFC 6298 §5.2, §5.3, as recovery modifies it.
    #[inline]
    fn update_timer(&mut self, now: Instant, path: &mut Path, info: &AckInfo, action: TimerAction) {
        if self.board.is_empty() {
            self.timers.retransmit = Deadline::NEVER;
            return;
        }
        let restart = match action {
            TimerAction::OnProgress => info.advanced(),
            TimerAction::Restart => true,
            TimerAction::BackOff => {
                self.back_off(path);
                true
            }
            TimerAction::Keep => false,
        };
        if restart {
            self.restart_retransmission_timer(now, path);
        }
    }

    /// State changes that acknowledged control segments bring.
    #[inline(always)]
    fn note_progress(&mut self, now: Instant, path: &mut Path) {
        if self.fin_requested && self.snd_una == self.send_end() {
            self.on_fin_acked(now);
            path.learn_of_end();
        }
        if self.state != State::Closed {
            self.update_persist_timer(now, path);
        }
    }
}

/// Payload bytes between two acknowledgements: SYN and FIN do not open the window.
#[inline]
fn acked_payload(before: u64, after: u64, written: u64) -> u64 {
    if before > 0 && before <= after && after <= written {
        return after - before;
    }
    let payload = |offset: u64| offset.clamp(1, written);
    payload(after).saturating_sub(payload(before))
}
