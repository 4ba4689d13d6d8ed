//! When to acknowledge (RFC 5681 §4.2; as Linux does it: `linux_acks`).

use super::linux_acks::{LinuxAcks, RoundTrip};
use crate::config::AckPolicy;
use crate::segment::Segment;
use units::{Duration, Instant};

/// Decides between an ACK now and a delayed one.
#[derive(Clone, Copy, Debug)]
pub struct AckTimer {
    policy: AckPolicy,
    pending: Pending,
    /// In-order bytes received since the last ACK.
    unacked: u64,
    /// Under [`AckPolicy::Adaptive`]; otherwise as it was made.
    linux: LinuxAcks,
}

/// Data in order.
#[derive(Clone, Copy, Debug)]
pub struct InOrder<'a> {
    /// What brought it.
    pub segment: &'a Segment,
    /// Bytes of it.
    pub bytes: u64,
    /// It filled a gap, or something still waits behind one.
    pub fills_gap: bool,
    /// The window may be opened further because of it.
    pub opens: bool,
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
        Self { policy, pending: Pending::Nothing, unacked: 0, linux: LinuxAcks::new() }
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

    /// The delay is over if its time has come; `rto` is the sending half's timeout.
    pub fn handle_timeout(&mut self, now: Instant, rto: Duration) {
        if self.deadline().is_some_and(|at| at <= now) {
            self.pending = Pending::Now;
            self.linux.on_missed(rto);
        }
    }

    /// In-order data arrived. Full segments carry up to `mss` bytes; `window` is the receive window,
    /// bytes; `rtt` tells what the sending half knows of the path, if that matters.
    #[inline]
    pub fn on_data(
        &mut self,
        now: Instant,
        data: InOrder<'_>,
        (mss, window): (u64, u64),
        rtt: impl FnOnce() -> RoundTrip,
    ) {
        self.unacked += data.bytes;
        match self.policy {
            AckPolicy::Immediate => self.demand(),
            AckPolicy::Adaptive => self.on_data_as_linux(now, data, (window, rtt())),
            _ if data.fills_gap => self.demand(),
            AckPolicy::Delayed { timeout } => self.delay(now, timeout, 2 * mss),
        }
    }

    /// Linux `tcp_event_data_recv`, `__tcp_ack_snd_check` and `tcp_send_delayed_ack`.
    fn on_data_as_linux(
        &mut self,
        now: Instant,
        data: InOrder<'_>,
        (window, rtt): (u64, RoundTrip),
    ) {
        if data.segment.len > 0 {
            self.linux.on_data(now, data.segment, (window, rtt));
        }
        if data.opens {
            self.linux.on_window_growth();
        }
        if data.fills_gap || self.linux.is_quick() {
            return self.demand();
        }
        let ato = self.linux.delay(rtt);
        match self.pending {
            // Not worth waiting for any more.
            Pending::Until(at) if at <= now + ato / 4 => return self.demand(),
            Pending::Until(at) if at > now + ato => self.pending = Pending::Nothing,
            _ => {}
        }
        self.delay(now, ato, self.linux.full_segment() + 1);
    }

    /// Data arrived that is not next in order; `opens` as in [`InOrder`].
    pub fn on_gap(&mut self, opens: bool) {
        if self.policy == AckPolicy::Adaptive {
            self.linux.on_arrival();
            if opens {
                self.linux.on_window_growth();
            }
        }
        self.demand();
    }

    /// Data arrived that had arrived before; `window` is the receive window, bytes.
    pub fn on_repetition(&mut self, window: u64) {
        if self.policy == AckPolicy::Adaptive {
            self.linux.on_arrival();
            self.linux.on_repetition(window);
        }
        self.demand();
    }

    /// The application has read all that is in order.
    #[inline]
    pub fn on_all_read(&mut self) {
        if self.linux.wants_ack_once_read() {
            self.demand();
        }
    }

    /// Data leaves.
    #[inline]
    pub fn on_data_sent(&mut self, now: Instant) {
        self.linux.on_data_sent(now);
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

    /// An ACK left, on its own or with data.
    #[inline]
    pub fn on_ack_sent(&mut self) {
        self.pending = Pending::Nothing;
        self.unacked = 0;
        self.linux.on_ack_sent();
    }
}
