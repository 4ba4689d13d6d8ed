//! The rules by which a Linux receiver acknowledges: quick ACKs at first, delayed ones later, and
//! delayed from the start in an interactive session, one that answers ("pingpong").
//!
//! Modelled on `net/ipv4/tcp_input.c`, `tcp_output.c`, `tcp_timer.c` and `tcp.c` of Linux 6.18;
//! each function names its counterpart there. Times are exact where the kernel's are whole ticks.

use crate::segment::{Flags, Segment, TIMESTAMPS_BYTES};
use units::{Duration, Instant};

/// `TCP_ATO_MIN` and `TCP_DELACK_MIN`: shortest delay of an ACK.
const ATO_MIN: Duration = Duration::from_millis(40);
/// `TCP_DELACK_MAX`: longest.
const DELAY_MAX: Duration = Duration::from_millis(200);
/// `TCP_MAX_QUICKACKS`.
const MAX_QUICK_ACKS: u64 = 16;
/// `TCP_MSS_DEFAULT`: payload that segments are assumed to carry before any has been received.
pub(super) const MSS_DEFAULT: u64 = 536;
/// `TCP_MIN_MSS`.
const MSS_MIN: u64 = 88;

/// The sending half's knowledge of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderTiming {
    /// Smoothed round trip; zero before the first sample.
    pub srtt: Duration,
    /// Retransmission timeout.
    pub rto: Duration,
}

/// The ACK owed to the peer since the last ACK was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum OwedAck {
    Nothing,
    /// `ICSK_ACK_SCHED`: data has come.
    Data,
    /// `ICSK_ACK_PUSHED`: it ended what the peer wrote, or was less than a full segment.
    Pushed,
    /// `ICSK_ACK_PUSHED2`: more than once.
    PushedTwice,
}

/// `struct icsk_ack`.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinuxAcks {
    owed: OwedAck,
    /// The session is interactive: this end has answered soon after data came.
    pingpong: bool,
    /// ACKs that are not to be delayed.
    quick: u64,
    /// Delay of an ACK; zero before the first data.
    ato: Duration,
    last_data: Instant,
    /// Data sent before this time counts as an answer: `last_data + ato`.
    answers_until: Instant,
    /// `rcv_mss`: payload of a full segment of the peer, as estimated so far.
    segment: u64,
    /// Size of the last segment, if it was short.
    last_short: u64,
}

impl LinuxAcks {
    pub(super) const fn new() -> Self {
        Self {
            owed: OwedAck::Nothing,
            pingpong: false,
            quick: 0,
            ato: Duration::ZERO,
            last_data: Instant::ZERO,
            answers_until: Instant::ZERO,
            segment: MSS_DEFAULT,
            last_short: 0,
        }
    }

    /// Payload of a full segment of the peer: an ACK for more is not delayed.
    pub(super) const fn full_segment(&self) -> u64 {
        self.segment
    }

    /// `tcp_in_quickack_mode`.
    pub(super) const fn is_quick(&self) -> bool {
        self.quick > 0 && !self.pingpong
    }

    /// Processes data received in order; `window` is the offered window, bytes
    /// (`tcp_event_data_recv`).
    pub(super) fn on_data(
        &mut self,
        now: Instant,
        segment: &Segment,
        window: u64,
        rtt: SenderTiming,
    ) {
        self.on_arrival();
        self.measure(segment);
        let gap = now.saturating_since(self.last_data);
        self.last_data = now;
        let ato = if self.ato.is_zero() {
            self.add_quick(window);
            ATO_MIN
        } else if gap <= ATO_MIN / 2 {
            self.ato / 2 + ATO_MIN / 2
        } else if gap < self.ato {
            (self.ato / 2 + gap).min(rtt.rto)
        } else {
            if gap > rtt.rto {
                // The peer was idle, and may not have restarted its window.
                self.add_quick(window);
            }
            self.ato
        };
        self.set_ato(ato);
    }

    /// Processes data received, in order or not (`inet_csk_schedule_ack`).
    pub(super) fn on_arrival(&mut self) {
        self.owed = self.owed.max(OwedAck::Data);
    }

    /// The window was opened further, which the next ACK reports at once (`tcp_grow_window`).
    pub(super) fn on_window_growth(&mut self) {
        self.quick |= 1;
    }

    /// The peer's FIN is in order: its ACK may wait for what this end has left to say (`tcp_fin`).
    pub(super) fn on_end(&mut self) {
        self.on_arrival();
        self.pingpong = true;
    }

    /// The peer repeats itself, so that it may lack ACKs (`tcp_enter_quickack_mode`).
    pub(super) fn on_repetition(&mut self, window: u64) {
        self.add_quick(window);
        self.pingpong = false;
        self.set_ato(ATO_MIN);
    }

    /// The application is about to send, so that the next data counts as an answer
    /// (`tcp_rcv_synsent_state_process`).
    pub(super) fn expect_answer(&mut self, now: Instant, window: u64) {
        self.add_quick(window);
        self.last_data = now;
        self.set_ato(ATO_MIN);
    }

    /// Returns how long an ACK waits for data to travel with (`tcp_send_delayed_ack`).
    pub(super) fn delay(&self, rtt: SenderTiming) -> Duration {
        if self.ato <= ATO_MIN {
            return self.ato;
        }
        let known = if rtt.srtt.is_zero() { DELAY_MAX } else { rtt.srtt.max(ATO_MIN) };
        self.ato.min(known).min(DELAY_MAX)
    }

    /// The delay ended with nothing to send (`tcp_delack_timer_handler`).
    pub(super) fn on_missed(&mut self, rto: Duration) {
        let ato = if self.pingpong { ATO_MIN } else { (self.ato * 2).min(rto) };
        self.pingpong = false;
        self.set_ato(ato);
    }

    /// Data leaves, of which there is an answer if it leaves soon after data came
    /// (`tcp_event_data_sent`).
    #[inline]
    pub(super) fn on_data_sent(&mut self, now: Instant) {
        if now < self.answers_until {
            self.pingpong = true;
        }
    }

    /// An ACK leaves, on its own or with data (`tcp_event_ack_sent`).
    #[inline]
    pub(super) fn on_ack_sent(&mut self) {
        if self.owed == OwedAck::Nothing {
            return;
        }
        self.owed = OwedAck::Nothing;
        if self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.set_ato(ATO_MIN);
            }
        }
    }

    /// Data came since the last ACK (`inet_csk_ack_scheduled`).
    #[inline]
    pub(super) fn is_ack_owed(&self) -> bool {
        self.owed != OwedAck::Nothing
    }

    /// The application has read everything. Returns true if an ACK is worth sending because the
    /// peer may be waiting for it (`__tcp_cleanup_rbuf`).
    #[inline]
    pub(super) fn wants_ack_once_read(&self) -> bool {
        match self.owed {
            OwedAck::Nothing | OwedAck::Data => false,
            OwedAck::Pushed => !self.pingpong,
            OwedAck::PushedTwice => true,
        }
    }

    /// `tcp_measure_rcv_mss`.
    fn measure(&mut self, segment: &Segment) {
        let len = u64::from(segment.len);
        let pushed = segment.has(Flags::PSH);
        let before = std::mem::take(&mut self.last_short);
        if len >= self.segment {
            self.segment = len;
            if pushed {
                self.owed = self.owed.max(OwedAck::Pushed);
            }
            return;
        }
        let options = u64::from(segment.options.wire_bytes());
        let carried = len + options;
        let ends = pushed || segment.has(Flags::FIN);
        if carried >= MSS_DEFAULT || (carried >= MSS_MIN && !ends) {
            let usual =
                if segment.options.timestamps.is_some() { TIMESTAMPS_BYTES.into() } else { 0 };
            let size = carried - usual;
            self.last_short = size;
            if size == before {
                self.segment = size;
                return;
            }
        }
        self.owed =
            if self.owed >= OwedAck::Pushed { OwedAck::PushedTwice } else { OwedAck::Pushed };
    }

    /// `tcp_incr_quickack`: as many as half a window holds segments of two.
    fn add_quick(&mut self, window: u64) {
        let fits = window / (2 * self.segment);
        let quick = if fits == 0 { 2 } else { fits.min(MAX_QUICK_ACKS) };
        self.quick = self.quick.max(quick);
    }

    fn set_ato(&mut self, ato: Duration) {
        self.ato = ato;
        self.answers_until = self.last_data + ato;
    }
}
