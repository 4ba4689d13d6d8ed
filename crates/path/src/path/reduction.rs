//! The effect of losses, ECN marks and loss signals on a path. Congestion control and recovery
//! determine the reduction of the window. The start-up is notified of it, and a spurious reduction
//! is undone.

use super::beginning::Trigger;
use super::{Path, StartUpExit};
use policy::congestion::{CongestionEvent, LoweredWindow};
use policy::recovery::{Reduction, Report};
use policy::startup::{LossEvent, LossSignal, Phase, StartupReason};
use policy::window::Cause;

impl Path {
    /// Asks the start-up for its response to a loss signal; returns true if it takes back what it
    /// sent.
    pub fn on_loss_signal(&mut self, loss_signal: LossSignal) -> bool {
        self.startup.on_loss(&mut self.window, LossEvent::LossSignal(loss_signal))
            == Phase::FallBack
    }

    /// Falls back: the start-up takes back what it sent. The window is the initial one, and slow
    /// start follows.
    pub fn fall_back(&mut self) {
        // A reduction during the start-up was caused by it, so no undo may restore the window.
        self.before_reduction = None;
        self.startup_meter.on_exit(StartUpExit::FallBack);
        if let Some(log) = &mut self.log {
            log.on_timeout(self.segments_sent);
        }
        self.on_shared_fallback();
        self.window.set_cwnd(self.restart_window, Cause::FallBack);
        self.in_startup = self.window.below_ssthresh();
    }

    pub(super) fn enter_startup_if_below(&mut self, reason: StartupReason) {
        self.in_startup = self.falls_to_startup();
        if self.in_startup {
            self.begin_startup(Trigger::of(reason));
        }
    }

    /// Applies the report of recovery: a reduction, an undo, or an imposed window.
    pub fn on_report(&mut self, report: &Report, event: &CongestionEvent) {
        if report.undo {
            self.undo();
        }
        self.note_timeout(event.timeout);
        let gradual = report.congestion == Some(Reduction::Gradual);
        if let Some(cwnd) = report.cwnd.filter(|_| gradual && !self.is_ruled()) {
            self.window.set_cwnd(cwnd, Cause::RecoveryEnd);
        }
        if let Some(reduction) = report.congestion {
            let cause = if event.timeout { Cause::Timeout } else { Cause::Loss };
            self.reduce(reduction, event, cause);
        }
        if let Some(cwnd) = report.cwnd.filter(|_| event.timeout || !(gradual || self.is_ruled())) {
            let cause = if report.ended { Cause::RecoveryEnd } else { Cause::Recovery };
            if cwnd != self.window.cwnd() {
                self.window.set_cwnd(cwnd, cause);
            }
        }
    }

    /// Does the same as [`Path::on_report`], for a report outside of timeouts that only imposes a
    /// window ([`Report::imposes`]).
    #[inline]
    pub fn impose(&mut self, cwnd: u64) {
        if !self.is_ruled() && cwnd != self.window.cwnd() {
            self.window.set_cwnd(cwnd, Cause::Recovery);
        }
    }

    /// Lowers `ssthresh` by the rule of congestion control, and `cwnd` by that of recovery.
    pub fn reduce(&mut self, reduction: Reduction, event: &CongestionEvent, cause: Cause) {
        if let Some(log) = &mut self.log
            && event.timeout
        {
            log.on_timeout(self.segments_sent);
        }
        self.on_shared_reduction(event.timeout);
        if reduction == Reduction::Again {
            self.window.set_cwnd(self.window.mss(), cause);
            self.enter_startup_if_below(StartupReason::Loss);
            return;
        }
        self.learn_of_congestion();
        self.on_loss_met();
        self.before_reduction = Some((self.window.cwnd(), self.window.ssthresh()));
        self.note_reduction(event.timeout);
        let ruled = self.is_ruled();
        let mut lowered = match self.in_startup && ruled {
            true => LoweredWindow::to(self.window.ssthresh()),
            false => self.congestion.on_congestion(&self.window, event),
        };
        self.window.set_ssthresh(lowered.ssthresh, cause);
        let controllers = self.window.ssthresh();
        self.startup.on_loss(&mut self.window, LossEvent::Reduced);
        if self.window.ssthresh() != controllers {
            // The start-up has lowered it further, so the controller's exact value is obsolete.
            lowered.exact = None;
        }
        self.obey_pacing();
        self.startup_meter.on_exit(match cause {
            Cause::Timeout => StartUpExit::Timeout,
            Cause::Ecn => StartUpExit::Ecn,
            _ => StartUpExit::Loss,
        });
        if cause == Cause::Ecn {
            // A mark is never spurious: no later undo restores an earlier window.
            self.before_reduction = None;
        }
        match reduction {
            Reduction::ToSsthresh if ruled => {}
            Reduction::ToSsthresh => {
                let exact = lowered.exact.unwrap_or(0);
                self.window.set_cwnd(exact.max(self.window.ssthresh()), cause);
            }
            Reduction::ToOneSegment => self.window.set_cwnd(self.window.mss(), cause),
            Reduction::Gradual | Reduction::Again => {}
        }
        self.enter_startup_if_below(StartupReason::Loss);
    }

    /// Notes the start of a repair without congestion: the threshold is at least three quarters of
    /// the window (Linux `tcp_current_ssthresh`).
    pub fn keep_threshold(&mut self) {
        let (cwnd, mss) = (self.window.cwnd() / self.window.mss(), self.window.mss());
        let least = (cwnd / 2 + cwnd / 4) * mss;
        if self.window.ssthresh() < least {
            self.window.set_ssthresh(least, Cause::Recovery);
        }
    }

    /// Sets the window to its observed value, for a path rebuilt from a capture.
    pub fn correct_window(&mut self, cwnd: u64) {
        self.window.set_cwnd(cwnd, Cause::Seed);
    }

    pub(super) fn undo(&mut self) {
        if let Some((cwnd, ssthresh)) = self.before_reduction.take() {
            self.window.set_ssthresh(ssthresh.max(self.window.ssthresh()), Cause::Undo);
            self.window.set_cwnd(cwnd.max(self.window.cwnd()), Cause::Undo);
            self.congestion.on_undo(&self.window);
            self.unlearn_congestion();
            self.startup.on_loss(&mut self.window, LossEvent::Undone);
            self.in_startup = self.falls_to_startup();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use policy::ack::AckSample;
    use policy::config::ConnectionConfig;
    use policy::congestion::reno::{Halve, Reno};
    use policy::startup::StartUp;
    use policy::window::Window;
    use units::Instant;

    /// Lowers the threshold to this many bytes.
    struct LoweringControl(u64);

    impl StartUp for LoweringControl {
        fn on_ack(&mut self, _: &mut Window, _: &AckSample) -> Phase {
            Phase::Done
        }
        fn on_loss(&mut self, window: &mut Window, _: LossEvent) -> Phase {
            window.set_ssthresh(window.ssthresh().min(self.0), Cause::FallBack);
            Phase::Continue
        }
    }

    /// Half of a flight of 15 segments is 7.5: the threshold is seven whole ones, and the window
    /// exact. If the start-up lowers the threshold to four, that is the window.
    #[test]
    fn a_threshold_that_the_start_up_has_lowered_is_the_window() {
        let window_after = |lowered: u64| {
            let config =
                ConnectionConfig { mss: 1000, initial_window: 15, ..ConnectionConfig::default() };
            let reno = Reno { halve: Halve::FlightSize, whole_segments: true };
            let mut path = Path::new(&config, Box::new(LoweringControl(lowered)), Box::new(reno));
            let event = CongestionEvent {
                now: Instant::ZERO,
                flight_size: 15_000,
                usable_window: 15_000,
                timeout: false,
                repeated: false,
                losing_clients: 1,
            };
            path.reduce(Reduction::ToSsthresh, &event, Cause::Loss);
            (path.window.cwnd(), path.window.ssthresh())
        };
        assert_eq!(window_after(u64::MAX), (7500, 7000));
        assert_eq!(window_after(4000), (4000, 4000));
    }
}
