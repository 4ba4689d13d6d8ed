//! The effect of idle time on a path: its restart rule, applied when data waits again with nothing
//! in flight.

use super::Path;
use super::beginning::Trigger;
use policy::config::IdleRestart;
use policy::startup::{Beginning, PendingData, StartupReason};
use policy::window::Cause;
use units::{Duration, Instant};

/// A path with nothing in flight, compressed to a few numbers, for senders rebuilt from a capture.
#[derive(Clone, Copy, Debug, Default)]
pub struct IdlePath {
    cwnd: u64,
    ssthresh: u64,
    last_sent: Option<Instant>,
}

impl Path {
    /// Compresses the path to a few numbers.
    pub const fn compress(&self) -> IdlePath {
        let (cwnd, ssthresh) = (self.window.cwnd(), self.window.ssthresh());
        IdlePath { cwnd, ssthresh, last_sent: self.last_sent }
    }

    /// Restores a compressed path: the next data follows an idle time.
    pub fn restore(&mut self, idle: &IdlePath) {
        self.started = idle.last_sent.is_some();
        self.last_sent = idle.last_sent;
        if idle.ssthresh != u64::MAX {
            self.window.set_ssthresh(idle.ssthresh, Cause::Seed);
        }
        self.window.set_cwnd(idle.cwnd, Cause::Seed);
        self.in_startup = self.falls_to_startup();
    }

    /// Applies the restart rule before the first data after an idle time. `rto` is the timeout that
    /// a sender would have armed at the last ACK. Returns when a timer that keeps running while
    /// nothing is outstanding first ran out, if it has.
    pub fn on_sending_resumed(
        &mut self,
        now: Instant,
        rto: Duration,
        transfer: PendingData,
    ) -> Option<Instant> {
        if self.begin(transfer) {
            self.on_start_of_sending(transfer);
            return None;
        }
        let last = self.last_sent.filter(|_| !self.resumed)?;
        self.resumed = true;
        let idle = now.saturating_since(last);
        let models = self.capabilities.may_rule_recovery();
        let metered = self.meter.as_mut().filter(|_| models);
        if metered.is_none_or(|meter| meter.on_resumed(now)) {
            self.congestion.on_restart(&mut self.window, now, idle);
        }
        if matches!(self.idle, IdleRestart::TimerSlowStart | IdleRestart::TimerKeep) {
            // Every ACK of new data restarts the timer.
            return self.last_acked.map(|armed| armed + rto).filter(|&ran_out| ran_out <= now);
        }
        if idle > self.rtt.rto(0) {
            self.restart_after(idle, transfer);
        } else if self.beginning == Beginning::AwaitsTransfer {
            self.begin_transfer(transfer);
        }
        self.on_start_of_sending(transfer);
        None
    }

    /// Applies the restart rule of a timer that ran out while nothing was outstanding. Repeated
    /// expiries change nothing more.
    pub fn restart_by_timer(&mut self) {
        if self.idle == IdleRestart::TimerSlowStart {
            self.window.set_cwnd(self.window.mss(), Cause::Idle);
            self.enter_startup_if_below(StartupReason::Idle);
        }
    }

    fn restart_after(&mut self, idle: Duration, transfer: PendingData) {
        match self.idle {
            IdleRestart::Keep | IdleRestart::TimerSlowStart | IdleRestart::TimerKeep => return,
            IdleRestart::StartUp => {
                self.in_startup = true;
                let seed = self.recall(true);
                let transfer = Some(transfer);
                self.begin_startup(Trigger {
                    seed,
                    transfer,
                    idle,
                    ..Trigger::of(StartupReason::Idle)
                });
                return;
            }
            IdleRestart::SlowStart => {
                self.window.set_cwnd(self.restart_window.min(self.window.cwnd()), Cause::Idle);
            }
            IdleRestart::Decay => {
                self.on_idle_end();
                self.decay_after(idle);
            }
        }
        self.enter_startup_if_below(StartupReason::Idle);
    }

    /// Halves the window once per RTO of idle time down to the restart window; `ssthresh` keeps
    /// three quarters of the old one (RFC 2861 §3.1).
    fn decay_after(&mut self, idle: Duration) {
        let cwnd = self.window.cwnd();
        let floor = self.restart_window.min(cwnd);
        let rto = self.rtt.rto(0).as_nanos().max(1);
        let halvings = (idle.as_nanos() / rto).min(63);
        let kept = (cwnd / 4 * 3).max(self.window.ssthresh());
        self.window.set_ssthresh(kept, Cause::Idle);
        self.window.set_cwnd((cwnd >> halvings).max(floor), Cause::Idle);
    }
}

#[cfg(test)]
mod tests;
