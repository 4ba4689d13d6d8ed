//! The window that follows from the model (draft §4.2.3), and its changes while losses are
//! repaired. A round of packet conservation comes first, then growth as in slow start up to the
//! model's target. The window before is restored once all is repaired (§4.2.3.3).

use super::{INITIAL_WINDOW, MeteredAck, Model};
use crate::ack::{Delivery, Episode};
use crate::window::{Cause, Window};
use arith::bbr::MIN_WINDOW;

/// The window before it was lowered, and how far repairing is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Repair {
    /// Segments.
    kept: u64,
    episode: Episode,
    /// No more leaves than arrives.
    conserving: bool,
}

impl Repair {
    /// Notes the window as one to go back to; one that is `lowered` only if it is larger.
    pub(super) fn save_window(&mut self, window: &Window, lowered: bool) {
        let cwnd = segments(window);
        let lowered = lowered || self.episode != Episode::None;
        self.kept = if lowered { self.kept.max(cwnd) } else { cwnd };
    }

    /// Goes back to the window before.
    pub(super) fn restore(&self, window: &mut Window) {
        set(window, segments(window).max(self.kept));
    }

    /// Returns that a timeout has started an episode, as soon as an ACK shows it.
    pub(super) fn on_episode(&mut self, episode: Episode) -> Option<Episode> {
        let started = episode == Episode::Timeout && self.episode != Episode::Timeout;
        started.then(|| {
            self.episode = episode;
            episode
        })
    }

    pub(super) fn end_conservation(&mut self) {
        self.conserving = false;
    }
}

impl Model {
    /// Sets the window after an ACK: towards `gain` times what fills the path.
    pub(super) fn set_window(&mut self, window: &mut Window, ack: MeteredAck<'_>, gain: u64) {
        let MeteredAck { sample, delivery } = ack;
        let mut cwnd = segments(window);
        if delivery.fresh > 0 {
            let in_flight = sample.in_flight.div_ceil(window.mss());
            cwnd = self.repaired(cwnd, in_flight, delivery);
            if !self.repair.conserving {
                cwnd = self.towards_target(window, cwnd, delivery, gain);
            }
        }
        if self.is_probing_rtt() {
            cwnd = cwnd.min(MIN_WINDOW);
        }
        set(window, cwnd);
    }

    /// Returns the window during a repair, from one of `cwnd` segments
    /// (`BBRModulateCwndForRecovery`).
    fn repaired(&mut self, cwnd: u64, in_flight: u64, delivery: &Delivery) -> u64 {
        let before = std::mem::replace(&mut self.repair.episode, delivery.episode);
        let mut cwnd = cwnd.saturating_sub(delivery.lost).max(1);
        if delivery.episode == Episode::FastRecovery && before != Episode::FastRecovery {
            self.repair.conserving = true;
            self.begin_round(delivery.total);
            // The unused part of the window must not be used for the repair.
            cwnd = in_flight + delivery.fresh;
        } else if delivery.episode == Episode::None && before != Episode::None {
            cwnd = cwnd.max(self.repair.kept);
            self.repair.conserving = false;
        }
        if self.repair.conserving { cwnd.max(in_flight + delivery.fresh) } else { cwnd }
    }

    fn towards_target(&self, window: &Window, cwnd: u64, delivery: &Delivery, gain: u64) -> u64 {
        let bw = self.bandwidth();
        let excess = if self.full { self.aggregation.extra_segments(bw) } else { 0 };
        let target = self.quantized(window, self.bdp(bw, gain) + excess);
        let cwnd = if self.full {
            (cwnd + delivery.fresh).min(target)
        } else if cwnd < target || delivery.total < INITIAL_WINDOW {
            cwnd + delivery.fresh
        } else {
            cwnd
        };
        cwnd.max(MIN_WINDOW)
    }
}

fn segments(window: &Window) -> u64 {
    window.cwnd() / window.mss()
}

fn set(window: &mut Window, segments: u64) {
    let cwnd = segments.saturating_mul(window.mss());
    if cwnd != window.cwnd() {
        window.set_cwnd(cwnd, Cause::Model);
    }
}
