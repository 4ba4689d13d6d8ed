//! Control of the window and of its pacing rate. Paths with a policy that models them (BBR) meter
//! deliveries. They show every ACK to the policy, also during recovery, and leave the response to
//! losses to it.

use super::{Path, pacer};
use policy::ack::{AckInfo, AckSample, Delivered, DeliveryMarks};
use policy::config::PacingGain;
use units::{Instant, Rate};

/// The state of a connection that received an ACK, for the path's delivery meter.
#[derive(Debug)]
pub struct MemberDelivery<'a> {
    /// Delivery marks of its segments.
    pub marks: &'a mut DeliveryMarks,
    /// Number of losses on its scoreboard before the ACK.
    pub losses_before: u64,
    /// Number of losses on its scoreboard now.
    pub losses: u64,
    /// True if it repairs losses after the ACK.
    pub recovering: bool,
}

/// A number of full segments larger than any batch of segmentation offload.
const UNBOUNDED_BATCH: u64 = 64;

impl Path {
    /// Returns true if deliveries are metered.
    #[inline]
    pub const fn is_metered(&self) -> bool {
        self.meter.is_some()
    }

    /// Returns true if the policy that owns the window responds to losses itself, and is asked at
    /// every ACK.
    #[inline]
    pub fn is_ruled(&self) -> bool {
        match self.in_startup {
            true => self.is_ruled_by_startup(),
            false => self.capabilities.controller.rules_recovery,
        }
    }

    /// Returns true if the start-up owns the window and responds to losses itself.
    #[inline]
    fn is_ruled_by_startup(&self) -> bool {
        self.capabilities.startup.rules_recovery && self.startup.capabilities().rules_recovery
    }

    /// Seeds the policies' random numbers.
    pub fn set_seed(&mut self, seed: u64) {
        self.congestion.set_seed(seed);
    }

    /// Marks the next segment with the delivered amount so far; `idle`: its connection has nothing
    /// outstanding.
    #[cold]
    pub fn mark_sent(&mut self, now: Instant, idle: bool, marks: &mut DeliveryMarks) {
        let idle = idle && self.in_flight == 0;
        if let Some(meter) = &mut self.meter {
            marks.push(self.segments_sent, meter.on_sent(now, idle));
        }
    }

    /// Notes that the application limits sending: it writes while less than a segment waits, and
    /// neither the window nor a repair keeps anything back.
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
        meter.on_lost(losses - marks.lost_reported);
        marks.lost_reported = losses;
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

    /// Notes a timeout; `timeout` is true if it starts repairs, or repairs what an earlier one did
    /// not.
    pub(super) fn note_timeout(&mut self, timeout: bool) {
        if let Some(meter) = self.meter.as_mut().filter(|_| timeout) {
            meter.on_reduced(true);
        }
    }

    /// Notes that the window is reduced, by a timeout or not.
    pub(super) fn note_reduction(&mut self, timeout: bool) {
        if let Some(meter) = &mut self.meter {
            meter.on_reduced(timeout);
        }
    }

    /// Passes the start-up's knowledge of the path to the controller, at its end.
    pub(super) fn hand_over(&mut self) {
        if let Some(model) = self.startup.hand_over()
            && let Some(controller) = self.congestion.modelling()
        {
            controller.take_over(model);
        }
    }

    /// Carries out the policies' orders for the meter.
    pub(super) fn apply_meter_orders(&mut self) {
        if self.window.take_ignore_rates() {
            let in_flight = self.in_flight.div_ceil(self.window.mss());
            if let Some(meter) = &mut self.meter {
                meter.limit(in_flight);
            }
        }
    }

    /// Returns true if the start-up owns the window from now on: below the threshold, unless the
    /// ruling controller needs no start-up. A start-up that rules itself stays until it is done.
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

    /// Returns the number of full segments in one batch of segmentation offload: those of about a
    /// millisecond at the pacing rate. There are two at least, unless the ruling controller has
    /// fewer (Linux `tcp_tso_autosize`).
    pub fn offload_batch(&self) -> u64 {
        if !self.rtt.has_sample() {
            // No rate is known yet, so it is unlimited (`sk_pacing_rate` is ~0).
            return UNBOUNDED_BATCH;
        }
        let rate = self.window.pacing_rate().unwrap_or_else(|| self.rate_of_window());
        let batch = pacer::batch(Some(rate), self.window.mss(), self.rtt.min_rtt());
        if self.is_ruled() { batch } else { batch.max(2) }
    }
}
