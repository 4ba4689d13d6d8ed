//! The size of the receive buffer. With autotuning it follows the application's reading (dynamic
//! right-sizing, Fisk & Feng 2001, as Linux 6.18 does it: `tcp_rcv_space_adjust`,
//! `tcp_rcvbuf_grow`).
//!
//! Once in a round trip, the bytes read are compared with the largest round before; if there are
//! more, the buffer grows. It also grows by the data behind a gap, which would otherwise take the
//! room of the data that fills it. The round trip is the receiver's own: of timestamps that are
//! echoed with data, and of windows that fill.

use super::config::ReceiveConfig;
use super::linux_acks::MSS_DEFAULT;
use units::{Duration, Instant};

/// Segments that a sender is expected to send in its first round trip.
const INITIAL_SEGMENTS: u64 = 10;
/// A first window is the part of half a buffer that whole segments fill
/// (`tcp_select_initial_window`); the buffer has whole pages.
const PAGE_BYTES: u64 = 4096;
/// Memory that a full segment of Ethernet takes: 2048 bytes of data and headers and 256 of
/// `struct sk_buff`.
const TRUE_SIZE_BYTES: u64 = 2304;
/// Payload of a full segment of Ethernet without options.
const ETHERNET_PAYLOAD_BYTES: u64 = 1460;

/// Data received that the application has not consumed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Data in order and not read, bytes.
    pub unread: u64,
    /// Data behind gaps, bytes.
    pub waiting: u64,
    /// Distance from the first gap to the end of the data behind gaps, bytes.
    pub extent: u64,
}

/// The payload of a buffer that has not grown, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstBuffer {
    /// Bytes expected before segments came: half of the memory.
    pub offered: u64,
    /// Bytes that the size of segments shows.
    pub holds: u64,
}

/// The size of the receive buffer.
#[derive(Clone, Copy, Debug)]
pub struct RightSizing {
    is_on: bool,
    max: u64,
    /// Memory of the first buffer, bytes.
    buffer: u64,
    capacity: u64,
    /// Most that was read in a round, bytes; 0: nothing counts yet.
    space: u64,
    round_start: Instant,
    read_at_start: u64,
    /// Zero: unknown.
    rtt: Duration,
    /// The end of the window that is being filled, and since when.
    window: Option<(u64, Instant)>,
    /// Timestamp that was echoed last (0: none). Only the first segment with an echo is a
    /// measurement, and a bare ACK with the same echo before it prevents that.
    last_echo: u32,
}

impl RightSizing {
    /// The buffer of a new connection, at most `max` bytes.
    pub fn new(config: &ReceiveConfig, max: u64) -> Self {
        let first = u64::from(config.initial_window).min(max);
        let given = u64::from(config.first_buffer);
        Self {
            is_on: config.autotune,
            max,
            buffer: if given > 0 { given } else { first.next_multiple_of(PAGE_BYTES) * 2 },
            capacity: match config.autotune {
                true => first.max(given / 2).min(max),
                false => max,
            },
            space: 0,
            round_start: Instant::ZERO,
            read_at_start: 0,
            rtt: Duration::ZERO,
            window: None,
            last_echo: 0,
        }
    }

    /// Returns the bytes that may be buffered now.
    #[inline]
    pub const fn capacity(&self) -> u64 {
        self.capacity
    }

    /// A segment of `len` bytes is larger than all before. It shows how much of the first buffer is
    /// payload (`tcp_measure_rcv_mss`, in parts of 256). Before, half was assumed.
    #[inline]
    pub fn on_larger(&mut self, len: u64) {
        if self.is_on {
            self.grow_to(self.buffer * share_of_payload(len) / 256);
        }
    }

    /// Returns the payload that the first buffer offered and holds, in segments of `len` bytes. It
    /// holds less where segments carry less than half of their memory. `None` once reading has let
    /// it grow, and before a segment is larger than `TCP_MSS_DEFAULT`.
    #[inline]
    pub const fn first_buffer(&self, len: u64) -> Option<FirstBuffer> {
        if !self.is_on || self.space > 0 || len <= MSS_DEFAULT {
            return None;
        }
        let holds = self.buffer * share_of_payload(len) / 256;
        Some(FirstBuffer { offered: self.buffer / 2, holds })
    }

    /// Limits the buffer to `max` bytes.
    pub fn limit_to(&mut self, max: u64) {
        self.max = self.max.min(max);
        self.capacity = self.capacity.min(self.max);
    }

    /// The handshake is complete, `read` bytes into the stream: the first round begins.
    pub fn begin(&mut self, now: Instant, read: u64) {
        (self.round_start, self.read_at_start) = (now, read);
    }

    /// True if this echoed timestamp is not the last one again.
    #[inline]
    pub fn is_news(&self, echo: u32) -> bool {
        self.is_on && self.last_echo != echo
    }

    /// A segment of `len` bytes echoed a new timestamp of ours, made `age` ago. `full` is the size
    /// of the largest segment so far.
    pub fn on_echo(&mut self, echo: u32, age: Duration, len: u64, full: u64, unread: u64) {
        self.last_echo = echo;
        // Only full segments are measured, and which size these have is not known at first.
        if len < full.max(MSS_DEFAULT) || age.is_zero() {
            return;
        }
        if self.rtt.is_zero() || age < self.rtt {
            self.rtt = age;
        } else if unread == 0 {
            // A reader that is late would make it longer than it is.
            self.rtt = Duration::from_nanos(self.rtt.as_nanos() / 8 * 7 + age.as_nanos() / 8);
        }
    }

    /// Processes data in order up to `rcv_nxt`; the last ACK offered a window of `offered` bytes.
    /// Filling that window took a round trip or more (`tcp_rcv_rtt_measure`, which starts here, not
    /// at that ACK).
    #[inline]
    pub fn on_in_order(&mut self, now: Instant, rcv_nxt: u64, offered: u64) {
        if !self.is_on {
            return;
        }
        match self.window {
            Some((end, _)) if rcv_nxt < end => return,
            Some((_, since)) => {
                let sample = now.saturating_since(since);
                self.rtt = if self.rtt.is_zero() { sample } else { self.rtt.min(sample) };
            }
            None => {}
        }
        self.window = Some((rcv_nxt + offered, now));
    }

    /// Data was received behind a gap: makes room for it beside the data in order.
    #[inline]
    pub fn on_gap(&mut self, extent: u64, mss: u64) {
        if self.is_on {
            self.grow_to(2 * self.known_window(mss) + extent);
        }
    }

    /// Returns the receiver's estimate of the round trip; zero if it has none.
    pub const fn round_trip(&self) -> Duration {
        self.rtt
    }

    /// True if a round trip is over, so that the bytes read are to be compared
    /// ([`RightSizing::on_read`]).
    #[inline]
    pub fn round_is_over(&self, now: Instant) -> bool {
        self.is_on && !self.rtt.is_zero() && now.saturating_since(self.round_start) >= self.rtt
    }

    /// A round is over after `read` bytes of the stream were read: grows the buffer if more was
    /// read in it than in any before.
    pub fn on_read(&mut self, now: Instant, read: u64, backlog: Backlog, mss: u64) {
        // Bytes that are not read were limited by the reader, not by the sender.
        let copied = (read - self.read_at_start).saturating_sub(backlog.unread);
        let known = self.known_window(mss);
        if copied > known {
            // Twice because the measure is a round trip old, and as much more as it has grown,
            // twice, because a sender in slow start will go on growing.
            let base = 2 * copied;
            let growth = 2 * (base * (copied - known) / known);
            self.space = copied;
            self.grow_to(base + growth + backlog.extent);
        }
        self.begin(now, read);
    }

    fn known_window(&self, mss: u64) -> u64 {
        self.space.max(INITIAL_SEGMENTS * mss)
    }

    fn grow_to(&mut self, window: u64) {
        self.capacity = self.capacity.max(window.min(self.max));
    }
}

/// Payload in 256 bytes of the memory that segments of `len` bytes take.
const fn share_of_payload(len: u64) -> u64 {
    let len = if len < ETHERNET_PAYLOAD_BYTES { len } else { ETHERNET_PAYLOAD_BYTES };
    len * 256 / TRUE_SIZE_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::receiver::{AckPolicy, SackHold};

    const MSS: u64 = 1448;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// The options of a Linux receiver, whose window grows.
    const LINUX: ReceiveConfig = ReceiveConfig {
        first_buffer: 0,
        initial_window: 44 * 1460,
        max_window: 32 << 20,
        autotune: true,
        ack: AckPolicy::Adaptive,
        ack_tick: Duration::ZERO,
        sack_hold: SackHold::LINUX_6_18,
        dsack: true,
        delay_repeated_last: false,
        by_range: false,
    };

    /// Established at 81 ms with nothing read.
    fn linux() -> RightSizing {
        let mut sizing = RightSizing::new(&LINUX, 6 << 20);
        sizing.begin(at(81), 1);
        sizing.on_larger(MSS);
        sizing
    }

    fn echo(sizing: &mut RightSizing, echo: u32, age: u64, len: u64) {
        if sizing.is_news(echo) {
            sizing.on_echo(echo, Duration::from_millis(age), len, MSS, 0);
        }
    }

    /// The figures of the trace point `tcp_rcvbuf_grow` in a 6.18 client over 5 Mbit/s and 80 ms,
    /// in its order. In the first round 18,038 bytes were read; it is long because requests and
    /// their ACKs hide the round trip. The next had 28,960. Then came a gap, with 95,568 bytes from
    /// it to the end of the data behind it.
    #[test]
    fn the_buffer_grows_as_a_kernel_said_of_its_own() {
        let mut sizing = linux();
        // Before the data of a response comes the bare ACK of its request, with the same echo.
        echo(&mut sizing, 7, 82, 0);
        echo(&mut sizing, 7, 82, MSS);
        assert!(!sizing.round_is_over(at(300)), "no round trip is known");
        echo(&mut sizing, 8, 83, MSS);
        assert!(sizing.round_is_over(at(378)));
        sizing.on_read(at(378), 18_039, Backlog::default(), MSS);
        // 2·18,038 + 2·36,076·3558/14,480 = 53,804 is less than the size so far, 131,072 · 160/256
        // (1448 · 256/2304 is 160.9).
        assert_eq!(sizing.capacity(), 81_920);
        assert!(!sizing.round_is_over(at(460)) && sizing.round_is_over(at(461)));
        sizing.on_read(at(463), 18_039 + 28_960, Backlog::default(), MSS);
        // 2·28,960 + 2·57,920·10,922/18,038 = 57,920 + 70,140.
        assert_eq!(sizing.capacity(), 128_060);
        sizing.on_gap(95_568, MSS);
        assert_eq!(sizing.capacity(), 57_920 + 95_568);
    }

    /// The third round of the same trace: 33,304 bytes were delivered, of which 2896 waited to be
    /// read.
    #[test]
    fn what_waits_to_be_read_is_not_counted() {
        let mut sizing = linux();
        sizing.space = 28_960;
        echo(&mut sizing, 8, 83, MSS);
        let backlog = Backlog { unread: 2_896, waiting: 0, extent: 91_224 };
        sizing.on_read(at(300), 33_305, backlog, MSS);
        // 30,408 counts: 60,816 + 2·3040 (60,816·1448/28,960), and room for the gap.
        assert_eq!(sizing.capacity(), 66_896 + 91_224);
    }

    #[test]
    fn a_shorter_round_trip_counts_at_once_and_a_longer_one_by_an_eighth() {
        let mut sizing = linux();
        echo(&mut sizing, 8, 88, MSS);
        echo(&mut sizing, 9, 80, MSS);
        assert_eq!(sizing.rtt, Duration::from_millis(80));
        echo(&mut sizing, 10, 160, MSS);
        assert_eq!(sizing.rtt, Duration::from_millis(90));
        // Unread data, short segments and repeated echoes do not count.
        sizing.on_echo(11, Duration::from_millis(800), MSS, MSS, 1);
        echo(&mut sizing, 12, 10, MSS - 1);
        echo(&mut sizing, 12, 10, MSS);
        assert_eq!(sizing.rtt, Duration::from_millis(90));
    }

    /// Without timestamps, a window must be filled before a round trip is known. The same trace
    /// point, in a client with segments of 1460 bytes: 67,160 copied, then a clamp of 1,101,423.
    #[test]
    fn a_window_that_fills_tells_the_round_trip() {
        let mut sizing = RightSizing::new(&LINUX, 32 << 20);
        sizing.begin(at(81), 1);
        // The offer, rounded to units of 1024, is 64,512 bytes from the end of the first segment.
        let nth = |n: u64| 1 + n * 1460;
        sizing.on_in_order(at(160), nth(1), 64_512);
        sizing.on_in_order(at(480), nth(45), 81_920);
        assert!(
            !sizing.round_is_over(at(490)),
            "45 segments, 65,700 bytes, do not fill 1460 + 64,512"
        );
        sizing.on_in_order(at(492), nth(46), 81_920);
        assert!(sizing.round_is_over(at(492 + 1)));
        sizing.on_read(at(497), nth(46), Backlog::default(), 1460);
        // 2·67,160 + 2·134,320·(67,160 − 14,600)/14,600 = 134,320 + 967,104.
        assert_eq!(sizing.capacity(), 1_101_424);
    }
}
