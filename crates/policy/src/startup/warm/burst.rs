//! The burst of a warm start. Nothing paces the first ten segments of a connection, so the spacing
//! of their ACKs shows the rate of the path. A path more than twice as fast as remembered is
//! another one: slow start continues and measures it. If the rate is not known, a path that holds
//! less than half of the first window is another one: slow start ends at the window that fills it.
//! Otherwise the burst is the first train of the measurement, because the flight after it is paced,
//! and its ACKs have the spacing of the pacer (`burst.h` of the agent).

use super::search::SearchTools;
use super::wide::{Arrived, LOOKS_AT};
use super::{Warm, WarmPhase, clock_us, segments};
use crate::startup::hooked::Situation;
use crate::window::{Cause, Window};
use arith::trains;
use units::Instant;

/// Ratio of speed or width from which a path counts as another one (`ANOTHER_PATH`). Chosen, not
/// measured.
const ANOTHER_PATH: u64 = 2;

/// State of a connection's burst.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Burst {
    /// There is none, or it was delivered.
    #[default]
    Not,
    /// No segment of it was delivered.
    Sent,
    /// Its delivery began with this ACK.
    Arrives(Arrived),
}

impl Burst {
    /// Processes an ACK with which `outstanding` segments remain under way. Returns the gap of the
    /// delivered burst, nanoseconds a segment; 0: it is not complete, or shows nothing.
    fn on_ack(&mut self, now: Arrived, outstanding: u32) -> u64 {
        let first = match *self {
            Self::Not => return 0,
            Self::Sent => {
                *self = if outstanding < LOOKS_AT { Self::Not } else { Self::Arrives(now) };
                return 0;
            }
            Self::Arrives(first) => first,
        };
        let count = now.delivered.wrapping_sub(first.delivered);
        if count < LOOKS_AT {
            return 0;
        }
        *self = Self::Not;
        trains::gap(now.at_us.wrapping_sub(first.at_us), count)
    }
}

impl Warm {
    /// Processes an ACK of a first flight.
    pub(super) fn judge_burst(&mut self, window: &mut Window, at: &Situation<'_>) {
        let mss = window.mss();
        let arrived = Arrived { at_us: clock_us(at.now), delivered: self.delivered };
        let gap = self.burst.on_ack(arrived, segments(at.outstanding() + mss - 1, mss));
        if !self.in_first_flight() || gap == 0 {
            return;
        }
        if self.measure.best() > 0 {
            if gap * ANOTHER_PATH < self.measure.best() {
                self.search_faster_path(window, at);
            }
            return;
        }
        self.measure.note_burst(gap);
        let full = trains::window(at.min_rtt_us(), gap);
        if full * ANOTHER_PATH < self.flight.window.into() {
            self.end_slow_start_at(window, at.now, full.max(self.cold.into()) * mss);
        }
    }

    /// The path is narrower than its first window, so it is not the one remembered: `full` bytes
    /// fill it.
    fn end_slow_start_at(&mut self, window: &mut Window, now: Instant, full: u64) {
        self.fail_memory(now, true);
        self.end_first_flight(WarmPhase::Stock);
        self.end_search();
        self.leave_stock();
        window.set_ssthresh(full, Cause::HyStart);
        if window.cwnd() > full {
            window.set_cwnd(full, Cause::HyStart);
        }
    }

    /// The path is faster than remembered: slow start goes on, and measures it.
    fn search_faster_path(&mut self, window: &mut Window, at: &Situation<'_>) {
        let may_pace = self.is_paced || !self.pacing.is_on();
        self.end_first_flight(WarmPhase::Stock);
        self.measure.forget_rate();
        if let Some(hooked) = &self.hooked {
            hooked.pool(|pool, to| pool.forget_rate(at.now, to.address));
        }
        window.set_ssthresh(u64::MAX, Cause::HyStart);
        let tools = SearchTools { measure: &mut self.measure, pacing: &mut self.pacing };
        self.search.begin(window, at, tools, may_pace);
    }
}
