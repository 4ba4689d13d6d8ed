//! When to acknowledge (RFC 5681 §4.2; as Linux does it: `linux_acks`).

use super::config::AckPolicy;
use super::linux_acks::{LinuxAcks, SenderTiming};
use super::sack_compression::{OutOfOrderAck, OutOfOrderArrival, SackCompression};
use crate::segment::Segment;
use units::{Duration, Instant};

/// Decides between an ACK now and a delayed one.
#[derive(Clone, Copy, Debug)]
pub struct AckTimer {
    policy: AckPolicy,
    tick: Duration,
    pending: Pending,
    /// Number of in-order bytes received since the last ACK.
    unacked: u64,
    /// Under [`AckPolicy::Adaptive`]; otherwise as it was made.
    linux: LinuxAcks,
    compression: SackCompression,
    /// The ACK that is due does not report the last segment; the time is when another ACK must
    /// report it.
    then: Option<Instant>,
}

/// Data in order.
#[derive(Clone, Copy, Debug)]
pub struct InOrder<'a> {
    /// The segment that carried the data.
    pub segment: &'a Segment,
    /// Number of new bytes in order.
    pub bytes: u64,
    /// It filled a gap, or something still waits behind one.
    pub fills_gap: bool,
    /// Next offset expected, if ranges still wait behind a gap.
    pub gap: Option<u64>,
    /// The window may be opened further because of it.
    pub opens: bool,
    /// The peer's FIN is in order now.
    pub ends: bool,
    /// It came with a SYN.
    pub with_syn: bool,
    /// A window as large as the last one can be offered beside what waits to be read.
    pub keeps_window: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pending {
    Nothing,
    Until(Instant),
    /// An ACK held back while more data out of order may follow.
    Held(Instant),
    Now,
}

impl AckTimer {
    /// Creates a timer with nothing to acknowledge.
    pub const fn new(policy: AckPolicy, tick: Duration) -> Self {
        Self {
            policy,
            tick,
            pending: Pending::Nothing,
            unacked: 0,
            linux: LinuxAcks::new(),
            compression: SackCompression::new(),
            then: None,
        }
    }

    /// Makes an ACK due at once.
    pub fn demand(&mut self) {
        self.pending = Pending::Now;
    }

    /// Drops the ACK that is owed, if any. Its bytes still count towards the next ACK.
    pub fn waive(&mut self) {
        self.then = None;
        self.pending = Pending::Nothing;
    }

    /// True if an ACK must go out now.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.pending == Pending::Now
    }

    /// Returns the time at which a delayed ACK must go out.
    #[inline]
    pub fn deadline(&self) -> Option<Instant> {
        match self.pending {
            Pending::Until(at) | Pending::Held(at) => Some(at),
            Pending::Nothing | Pending::Now => None,
        }
    }

    /// The application is about to send: data that leaves within the shortest delay counts as an
    /// answer, and until then ACKs are quick. Only [`AckPolicy::Adaptive`] uses it
    /// (`LinuxAcks::expect_answer`).
    pub(super) fn expect_answer(&mut self, now: Instant, window: u64) {
        if self.policy == AckPolicy::Adaptive {
            self.linux.expect_answer(now, window);
        }
    }

    /// The delay is over if its time has come; `rto` is the sending half's timeout.
    pub fn handle_timeout(&mut self, now: Instant, rto: Duration) {
        if self.deadline().is_some_and(|at| at <= now) {
            if !matches!(self.pending, Pending::Held(_)) {
                self.linux.on_missed(rto);
            }
            self.pending = Pending::Now;
        }
    }

    /// Processes data received in order. Full segments carry up to `mss` bytes; `window` is the
    /// receive window, bytes; `rtt` returns what the sending half knows of the path, and is called
    /// only if it matters.
    #[inline]
    pub fn on_data(
        &mut self,
        now: Instant,
        data: InOrder<'_>,
        mss: u64,
        window: u64,
        rtt: impl FnOnce() -> SenderTiming,
    ) {
        self.unacked += data.bytes;
        self.then = None;
        match self.policy {
            AckPolicy::Immediate => self.demand(),
            AckPolicy::Adaptive => self.on_data_as_linux(now, data, window, rtt()),
            _ if data.fills_gap => self.demand(),
            AckPolicy::Delayed { timeout } => self.delay(now + timeout, 2 * mss),
        }
    }

    /// Linux `tcp_event_data_recv`, `__tcp_ack_snd_check` and `tcp_send_delayed_ack`.
    fn on_data_as_linux(
        &mut self,
        now: Instant,
        data: InOrder<'_>,
        window: u64,
        rtt: SenderTiming,
    ) {
        // Data that comes with a SYN does not count (`tcp_fastopen_add_skb`).
        if data.segment.len > 0 && !data.with_syn {
            self.linux.on_data(now, data.segment, window, rtt);
        }
        if data.opens {
            self.linux.on_window_growth();
        }
        if data.ends {
            self.linux.on_end();
        }
        if data.fills_gap || self.linux.is_quick() {
            if let Some(next) = data.gap
                && !self.linux.is_quick()
                && self.unacked <= self.linux.full_segment()
            {
                self.compression.on_fill(next);
            }
            return self.demand();
        }
        let ato = self.linux.delay(rtt);
        if self.is_hardly_worth_waiting(now, ato) {
            return self.demand();
        }
        match self.pending {
            Pending::Until(at) if at > self.delay_end(now, ato) => self.pending = Pending::Nothing,
            _ => {}
        }
        // An ACK that would offer less waits for the reader (`__tcp_ack_snd_check`).
        let enough = if data.keeps_window { self.linux.full_segment() + 1 } else { u64::MAX };
        self.delay(self.delay_end(now, ato), enough);
    }

    /// The delay of an ACK ends within a quarter of the usual one (`tcp_send_delayed_ack`).
    fn is_hardly_worth_waiting(&self, now: Instant, ato: Duration) -> bool {
        matches!(self.pending, Pending::Until(at) if at <= self.delay_end(now, ato / 4))
    }

    /// Makes our delayed ACK due now if it is due within a quarter of its usual delay: a bare ACK
    /// of the peer's arrives (`tcp_ack_snd_check`).
    pub(super) fn on_bare_ack(&mut self, now: Instant, rtt: SenderTiming) {
        let adaptive = self.policy == AckPolicy::Adaptive;
        if adaptive && self.is_hardly_worth_waiting(now, self.linux.delay(rtt)) {
            self.demand();
        }
    }

    /// The peer's FIN is in order. It is acknowledged at once, because nothing more will come to
    /// share the ACK with. A Linux receiver has already decided, as for any data.
    pub(super) fn on_end(&mut self) {
        if self.policy != AckPolicy::Adaptive {
            self.demand();
        }
    }

    /// Processes data received out of order; `opens` as in [`InOrder`]. `gap`, given where SACK was
    /// agreed on, has the gap and the time until which an ACK may be held back. True if the ACK
    /// that is due then must not report this segment.
    pub(super) fn on_gap(
        &mut self,
        opens: bool,
        gap: Option<(OutOfOrderArrival, Instant)>,
    ) -> bool {
        self.then = None;
        if self.policy == AckPolicy::Adaptive {
            self.linux.on_arrival();
            if opens {
                self.linux.on_window_growth();
            }
            if let Some((gap, until)) = gap
                && !self.linux.is_quick()
            {
                return self.compress(gap, until);
            }
        }
        self.demand();
        false
    }

    /// Linux `__tcp_ack_snd_check`, for data out of order.
    fn compress(&mut self, arrival: OutOfOrderArrival, until: Instant) -> bool {
        let verdict = self.compression.on_out_of_order(arrival);
        match verdict {
            OutOfOrderAck::Now => self.demand(),
            OutOfOrderAck::Hold if self.pending == Pending::Nothing => {
                self.pending = Pending::Held(until);
            }
            OutOfOrderAck::Hold => {}
            OutOfOrderAck::HeldThenHold => {
                self.demand();
                self.then = Some(until);
            }
        }
        verdict == OutOfOrderAck::HeldThenHold
    }

    /// Processes data that was received before; `window` is the receive window, bytes.
    pub fn on_repetition(&mut self, window: u64) {
        if self.policy == AckPolicy::Adaptive {
            self.linux.on_arrival();
            self.linux.on_repetition(window);
        }
        self.demand();
    }

    /// The application has read; `all`: nothing in order is left. Under [`AckPolicy::Adaptive`] an
    /// ACK becomes due if more than a full segment is unacknowledged. With `all`, it also does if
    /// pushed data waits for one (`__tcp_cleanup_rbuf`).
    #[inline]
    pub fn on_read(&mut self, all: bool) {
        let is_enough = self.linux.is_ack_owed() && self.unacked > self.linux.full_segment();
        if is_enough || all && self.linux.wants_ack_once_read() {
            self.demand();
        }
    }

    /// Data leaves.
    #[inline]
    pub fn on_data_sent(&mut self, now: Instant) {
        self.linux.on_data_sent(now);
    }

    /// Delays until `at`, as the first unacknowledged segment had it, or `enough` bytes have come.
    fn delay(&mut self, at: Instant, enough: u64) {
        if self.unacked >= enough {
            self.demand();
        } else if self.pending == Pending::Nothing {
            self.pending = Pending::Until(at);
        }
    }

    /// Returns when a delay that begins now is over. A kernel counts it in ticks from the last
    /// tick, and looks one tick later, so that no delay is too short (`mod_timer`, `calc_index`).
    fn delay_end(&self, now: Instant, delay: Duration) -> Instant {
        let tick = self.tick.as_nanos();
        if tick == 0 {
            return now + delay;
        }
        let since = now.saturating_since(Instant::ZERO).as_nanos();
        let ticks = since / tick + delay.as_nanos() / tick + 1;
        Instant::ZERO + Duration::from_nanos(ticks * tick)
    }

    /// An ACK left, on its own or with data.
    #[inline]
    pub fn on_ack_sent(&mut self) {
        self.unacked = 0;
        self.linux.on_ack_sent();
        match self.then.take() {
            Some(until) => self.pending = Pending::Held(until),
            None => {
                self.pending = Pending::Nothing;
                self.compression.on_ack_sent();
            }
        }
    }
}
