//! Whose the window is, and how fast it is paced; paths with a policy that models them (BBR): deliveries are metered, every ACK is shown to the
//! policy, also during recovery, and what it makes of losses is its own affair.

use super::{Path, pacer};
use policy::ack::{AckInfo, AckSample, Delivered, DeliveryMarks};
use policy::config::PacingGain;
use units::{Instant, Rate};

/// What the connection that received an ACK tells the path's delivery meter.
#[derive(Debug)]
pub struct MemberDelivery<'a> {
    /// What its segments took along.
    pub marks: &'a mut DeliveryMarks,
    /// Losses on its scoreboard before the ACK.
    pub losses_before: u64,
    /// Losses on its scoreboard now.
    pub losses: u64,
    /// It repairs losses, after the ACK.
    pub recovering: bool,
}

/// More full segments than an interface takes as one.
const UNBOUNDED_BATCH: u64 = 64;

impl Path {
    /// Deliveries are metered.
    #[inline]
    pub const fn is_metered(&self) -> bool {
        self.meter.is_some()
    }

    /// The policy that owns the window answers losses itself, and is asked at every ACK.
    #[inline]
    pub fn is_ruled(&self) -> bool {
        match self.in_startup {
            true => self.is_ruled_by_startup(),
            false => self.capabilities.controller.rules_recovery,
        }
    }

    /// The start-up answers losses itself, as long as it owns the window.
    #[inline]
    fn is_ruled_by_startup(&self) -> bool {
        self.capabilities.startup.rules_recovery && self.startup.capabilities().rules_recovery
    }

    /// Seeds what policies draw at random.
    pub fn set_seed(&mut self, seed: u64) {
        self.congestion.set_seed(seed);
    }

    /// The next segment sent takes along what was delivered until now; `idle`: its connection has
    /// nothing outstanding.
    #[cold]
    pub fn mark_sent(&mut self, now: Instant, idle: bool, marks: &mut DeliveryMarks) {
        let idle = idle && self.in_flight == 0;
        if let Some(meter) = &mut self.meter {
            marks.push(self.segments_sent, meter.on_sent(now, idle));
        }
    }

    /// The application writes while less than a segment waits, and neither the window nor a repair
    /// keeps anything back.
    pub fn limit_by_application(&mut self) {
        let in_flight = self.in_flight.div_ceil(self.window.mss());
        if self.in_flight < self.usable_cwnd()
            && let Some(meter) = &mut self.meter
        {
            meter.limit(in_flight);
        }
    }

    /// Meters an ACK that `member` received.
    #[cold]
    pub fn meter(&mut self, sample: &mut AckSample, info: &AckInfo, member: MemberDelivery<'_>) {
        let MemberDelivery { marks, losses_before, losses, recovering } = member;
        let mss = self.window.mss();
        let next_release = self.pacer.as_ref().map(|p| p.next_release(info.now));
        let Some(meter) = &mut self.meter else { return };
        meter.on_lost(losses - marks.lost_told);
        marks.lost_told = losses;
        let fresh = sample.delivered.div_ceil(mss);
        let newest = info.progress.newest.filter(|_| fresh > 0);
        let newest = newest.and_then(|n| Some((n.sent_at, marks.of(n.order)?)));
        let min_rtt = self.rtt.min_rtt();
        let rate = meter.on_ack(&Delivered { now: info.now, fresh, newest, min_rtt });
        let mut delivery = meter.delivery(fresh, rate);
        delivery.lost = losses - losses_before;
        delivery.episode = meter.episode(recovering);
        delivery.delayed = fresh == 1
            && info.progress.sacked == 0
            && sample.acked < mss
            && rate.is_some_and(|rate| rate.delivered == 1);
        delivery.next_release = next_release.unwrap_or(Instant::ZERO);
        sample.in_flight = self.in_flight;
        sample.delivery = Some(delivery);
    }

    /// A timeout begins repairing, or repairs what an earlier one did not.
    pub(super) fn note_timeout(&mut self, timeout: bool) {
        if let Some(meter) = self.meter.as_mut().filter(|_| timeout) {
            meter.on_reduced(true);
        }
    }

    /// The window falls, by a timeout or not.
    pub(super) fn note_reduction(&mut self, timeout: bool) {
        if let Some(meter) = &mut self.meter {
            meter.on_reduced(timeout);
        }
    }

    /// The start-up has ended: what it knows of the path is the controller's.
    pub(super) fn hand_over(&mut self) {
        if let Some(model) = self.startup.hand_over()
            && let Some(controller) = self.congestion.modelling()
        {
            controller.take_over(model);
        }
    }

    /// Carries out what policies have ordered of the meter.
    pub(super) fn obey(&mut self) {
        if self.window.take_ignore_rates() {
            let in_flight = self.in_flight.div_ceil(self.window.mss());
            if let Some(meter) = &mut self.meter {
                meter.limit(in_flight);
            }
        }
    }

    /// True if the start-up owns the window from now on: below the threshold, unless a controller rules
    /// that does without; a start-up that rules itself stays until it is done.
    pub(super) fn falls_to_startup(&self) -> bool {
        if self.in_startup && self.is_ruled_by_startup() {
            return true;
        }
        !self.capabilities.controller.rules_recovery && self.window.below_ssthresh()
    }

    /// Sets the pacing rate from window and round trip, by the gain of the configuration.
    #[inline]
    pub fn update_pacing_rate(&mut self) {
        if self.pacer.is_none() || self.is_ruled() || !self.rtt.has_sample() {
            return;
        }
        self.window.set_pacing_rate(Some(self.rate_of_window()));
    }

    fn rate_of_window(&self) -> Rate {
        let window = self.window.cwnd().max(self.in_flight);
        let fast = self.window.cwnd() < self.window.ssthresh() / 2;
        let PacingGain { slow_start_percent, later_percent } = self.pacing_gain;
        let percent = if fast { slow_start_percent } else { later_percent };
        Rate::from_bytes_over(window.saturating_mul(percent) / 100, self.rtt.srtt())
    }

    /// Full segments that segmentation offload takes as one: those of about a millisecond, and two at least, unless a
    /// controller rules that has fewer (Linux `tcp_tso_autosize`). It goes by the rate that would be paced at.
    pub fn offload_batch(&self) -> u64 {
        if !self.rtt.has_sample() {
            // No rate is known yet, and none bounds it (`sk_pacing_rate` is ~0).
            return UNBOUNDED_BATCH;
        }
        let rate = self.window.pacing_rate().unwrap_or_else(|| self.rate_of_window());
        let batch = pacer::batch(Some(rate), self.window.mss(), self.rtt.min_rtt());
        if self.is_ruled() { batch } else { batch.max(2) }
    }
}
