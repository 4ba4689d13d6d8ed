//! When to acknowledge (RFC 5681 §4.2; Linux's quick ACKs).

use crate::config::AckPolicy;
use units::{Duration, Instant};

/// Linux `TCP_ATO_MIN`: shortest delay of an ACK.
const ATO_MIN: Duration = Duration::from_millis(40);
/// Linux `TCP_DELACK_MAX`.
const ATO_MAX: Duration = Duration::from_millis(200);
/// Linux `TCP_MAX_QUICKACKS`.
const MAX_QUICK_ACKS: u64 = 16;

/// Decides between an ACK now and a delayed one.
#[derive(Clone, Copy, Debug)]
pub struct AckTimer {
    policy: AckPolicy,
    pending: Pending,
    /// In-order bytes received since the last ACK.
    unacked: u64,
    quick: u64,
    ato: Duration,
    last_data: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pending {
    Nothing,
    Until(Instant),
    Now,
}

impl AckTimer {
    /// Nothing to acknowledge yet.
    pub const fn new(policy: AckPolicy) -> Self {
        Self {
            policy,
            pending: Pending::Nothing,
            unacked: 0,
            quick: 0,
            ato: ATO_MIN,
            last_data: None,
        }
    }

    /// An ACK must go out at once.
    pub fn demand(&mut self) {
        self.pending = Pending::Now;
    }

    /// No ACK is owed any more.
    pub fn waive(&mut self) {
        self.pending = Pending::Nothing;
    }

    /// True if an ACK must go out now.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.pending == Pending::Now
    }

    /// When a delayed ACK must go out.
    #[inline]
    pub fn deadline(&self) -> Option<Instant> {
        match self.pending {
            Pending::Until(at) => Some(at),
            _ => None,
        }
    }

    /// The delay is over if its time has come.
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.deadline().is_some_and(|at| at <= now) {
            self.pending = Pending::Now;
            // The peer was not waiting for this: be slower next time (Linux "pingpong").
            self.ato = (self.ato * 2).min(ATO_MAX);
        }
    }

    /// The window was opened further: worth telling at once (Linux `tcp_grow_window`), which
    /// prolongs the quick ACKs rather than using them up.
    pub fn on_window_growth(&mut self) {
        self.quick |= 1;
    }

    /// In-order data arrived: `bytes` of it, in segments of up to `mss`; `gap_filled` if it filled
    /// a gap or something still waits behind one; `window` is the receive window, bytes.
    #[inline]
    pub fn on_data(&mut self, now: Instant, bytes: u64, gap_filled: bool, mss: u64, window: u64) {
        self.unacked += bytes;
        self.adapt(now, mss, window);
        if gap_filled || self.is_due() {
            self.demand();
            return;
        }
        match self.policy {
            AckPolicy::Immediate => self.demand(),
            AckPolicy::Delayed { timeout } => self.delay(now, timeout, 2 * mss),
            AckPolicy::Adaptive if self.quick > 0 => {
                self.quick -= 1;
                self.demand();
            }
            AckPolicy::Adaptive => self.delay(now, self.ato, mss + 1),
        }
    }

    /// Delays until `timeout` has passed since the first unacknowledged segment, or `enough` bytes
    /// have come.
    fn delay(&mut self, now: Instant, timeout: Duration, enough: u64) {
        if self.unacked >= enough {
            self.demand();
        } else if self.pending == Pending::Nothing {
            self.pending = Pending::Until(now + timeout);
        }
    }

    /// Linux: at the first data, and after a gap longer than the RTO, as many quick ACKs as half a
    /// window holds segments of two (`tcp_incr_quickack`); else the timeout follows the gaps.
    #[inline]
    fn adapt(&mut self, now: Instant, mss: u64, window: u64) {
        if self.policy != AckPolicy::Adaptive {
            return;
        }
        let gap = self.last_data.map(|last| now.saturating_since(last));
        self.last_data = Some(now);
        match gap {
            Some(gap) if gap <= ATO_MIN / 2 => self.ato = self.ato / 2 + ATO_MIN / 2,
            Some(gap) if gap < self.ato => self.ato = (self.ato / 2 + gap).min(ATO_MAX),
            Some(gap) if gap < Duration::from_secs(1) => {}
            _ => {
                self.quick = (window / (2 * mss.max(1))).clamp(2, MAX_QUICK_ACKS);
                self.ato = ATO_MIN;
            }
        }
    }

    /// An ACK left, on its own or with data.
    #[inline]
    pub fn on_ack_sent(&mut self) {
        self.pending = Pending::Nothing;
        self.unacked = 0;
    }
}
