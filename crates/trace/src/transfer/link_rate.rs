//! The rate of the slowest link, from the deliveries that ACKs report. There are two measurements,
//! the better one first:
//!
//! - *Rounds with a queue.* While each segment waits in a queue, the link is never idle, so the
//!   bytes delivered meanwhile show its rate. A queue stands if even the lowest round trip of a
//!   round is above the lowest of the connection. ACKs that are late, early or in bursts do not
//!   matter: a round is long, and its lowest round trip is that of a segment whose ACK did not
//!   wait.
//! - *Stretched trains.* Segments that are sent closer together than their ACKs return were spread
//!   by the link, at its rate (Keshav 1991's packet pair, with more than two). Their round trips
//!   grow. A train that was sent as slowly as it is acknowledged does not show the link's rate.

use units::{Duration, Instant, Rate};

/// Minimum number of segments of a train.
const TRAIN: u64 = 4;
/// Minimum number of segments of a train, if round trips are known to the millisecond.
const LONG_TRAIN: u64 = 8;
/// A train was stretched if round trips grew by the time of its ACKs divided by this.
const STRETCHED_PART: u64 = 2;
/// A pause of the round trip divided by this ends a train.
const PAUSE_PART: u64 = 4;
/// A queue delays by more than the lowest round trip divided by this.
const QUEUE_PART: u64 = 16;
/// A queue delays by more than this: less is jitter of hosts.
const MIN_QUEUE: Duration = Duration::from_micros(300);
/// A queue delays by more than this if round trips come from timestamps, which count milliseconds.
const MIN_QUEUE_BY_STAMPS: Duration = Duration::from_micros(2_500);
/// Minimum number of round trips that a round measures, and of segments that it delivers.
const MIN_SAMPLES: u32 = 4;
const MIN_SEGMENTS: u64 = 8;

/// The part of an ACK that measures the link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivery {
    pub(super) now: Instant,
    /// Bytes that it newly reports as delivered.
    pub(super) bytes: u64,
    /// The round trip that it measures.
    pub(super) rtt: Option<Duration>,
    pub(super) srtt: Duration,
    pub(super) mss: u64,
    /// True while losses are repaired: the ACK does not show when the bytes were delivered.
    pub(super) repairs: bool,
    /// True if the receiver's window keeps the sender back. Its ACKs follow the client's reads, so
    /// round trips do not show a queue.
    pub(super) by_receiver: bool,
}

/// Estimator of the link's rate.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct LinkRate {
    last: Instant,
    /// True if timestamps measure round trips, in milliseconds.
    by_stamps: bool,
    round: Round,
    /// True if the round before had a queue.
    was_queued: bool,
    train: Flow,
    /// The round trip of the ACK before the current train.
    train_rtt: Duration,
    last_rtt: Duration,
    /// The lowest round trip of data; zero before the first.
    base: Duration,
    /// The latest round, if it had a queue but the one before had none.
    first_queued: Flow,
    /// Duration of that round.
    first_lasted: Duration,
    /// All consecutive rounds with a queue: a single one may be chance.
    queued: Flow,
    /// All stretched trains.
    stretched: Flow,
}

/// The current round.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    began: Instant,
    bytes: u64,
    lowest: Duration,
    samples: u32,
    /// True if losses were repaired in it. ACKs report a repair late, and the round trips are those
    /// of before.
    repairs: bool,
}

/// Bytes delivered, and their time.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    bytes: u64,
    lasted: Duration,
}

impl Flow {
    fn add(&mut self, more: &Self) {
        self.bytes += more.bytes;
        self.lasted += more.lasted;
    }
}

/// Evidence of a link's rate, the better one last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RateEvidence {
    /// There is none.
    #[default]
    None,
    /// Bursts that the link spread over time: accurate to some ten per cent if ACKs are not late.
    Bursts,
    /// Deliveries while a queue stood: accurate to a few per cent, however ACKs are disturbed.
    Queue,
}

impl RateEvidence {
    /// Returns a short name for tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Bursts => "bursts",
            Self::Queue => "queue",
        }
    }
}

impl LinkRate {
    /// Notes that timestamps measure round trips from now on.
    pub(super) const fn measure_by_stamps(&mut self) {
        self.by_stamps = true;
    }

    /// Handles an ACK. Returns the time in which the link was full without a break, once a round
    /// shows it.
    #[inline]
    pub(super) fn on_delivery(&mut self, ack: &Delivery) -> Option<Duration> {
        let gap = ack.now.saturating_since(std::mem::replace(&mut self.last, ack.now));
        if self.queued.bytes == 0 {
            self.follow_train(ack, gap);
        }
        if gap > ack.srtt || ack.by_receiver {
            self.round = Round { began: ack.now, ..Round::default() };
            self.first_queued = Flow::default();
            self.was_queued = false;
        } else {
            self.round.bytes += ack.bytes;
            self.round.repairs |= ack.repairs;
        }
        if let Some(rtt) = ack.rtt {
            self.add_rtt(rtt);
        }
        if ack.now.saturating_since(self.round.began) > ack.srtt {
            return self.end_round(ack);
        }
        None
    }

    /// Follows a train of ACKs. Trains count only while no round with a queue shows the rate.
    #[inline]
    fn follow_train(&mut self, ack: &Delivery, gap: Duration) {
        if let Some(rtt) = ack.rtt {
            self.last_rtt = rtt;
        }
        // A reader that opens its window in steps spreads data as a link does.
        let is_other = ack.repairs || ack.by_receiver;
        if is_other || gap > ack.srtt / PAUSE_PART || ack.srtt.is_zero() {
            (self.train, self.train_rtt) = (Flow::default(), self.last_rtt);
        } else {
            self.train.add(&Flow { bytes: ack.bytes, lasted: gap });
            let segments = if self.by_stamps { LONG_TRAIN } else { TRAIN };
            if self.train.bytes >= segments * ack.mss {
                self.end_train();
            }
        }
    }

    /// Adds a round trip to the round, and to the lowest one so far.
    #[inline]
    fn add_rtt(&mut self, rtt: Duration) {
        if rtt < self.base || self.base.is_zero() {
            self.base = rtt;
        }
        if rtt < self.round.lowest || self.round.samples == 0 {
            self.round.lowest = rtt;
        }
        self.round.samples += 1;
    }

    /// Ends a train of ACKs. It counts if the round trips have grown by about the time that it
    /// took, since then a queue has spaced it.
    #[inline]
    fn end_train(&mut self) {
        let train = std::mem::take(&mut self.train);
        let grown =
            self.last_rtt.saturating_sub(std::mem::replace(&mut self.train_rtt, self.last_rtt));
        // If they grew by more than that, other delays were the cause.
        let most = train.lasted + train.lasted / STRETCHED_PART;
        if grown * STRETCHED_PART >= train.lasted && grown <= most && !train.lasted.is_zero() {
            self.stretched.add(&train);
        }
    }

    /// Ends a round. Rounds show the rate of the link if they had a queue and at least two of them
    /// follow each other. Returns the time of the rounds that count from now on.
    #[inline(never)]
    fn end_round(&mut self, ack: &Delivery) -> Option<Duration> {
        let Round { began, bytes, lowest, samples, repairs } =
            std::mem::replace(&mut self.round, Round { began: ack.now, ..Round::default() });
        let lasted = ack.now.saturating_since(began);
        let queue = (self.base / QUEUE_PART).max(if self.by_stamps {
            MIN_QUEUE_BY_STAMPS
        } else {
            MIN_QUEUE
        });
        let is_measured = samples >= MIN_SAMPLES && bytes >= MIN_SEGMENTS * ack.mss;
        if !is_measured || lowest <= self.base + queue {
            (self.first_queued, self.was_queued) = (Flow::default(), false);
            return None;
        }
        let round = if repairs { Flow::default() } else { Flow { bytes, lasted } };
        if !std::mem::replace(&mut self.was_queued, true) {
            (self.first_queued, self.first_lasted) = (round, lasted);
            return None;
        }
        let first = std::mem::take(&mut self.first_queued);
        self.queued.add(&first);
        self.queued.add(&round);
        Some(std::mem::take(&mut self.first_lasted) + lasted)
    }

    /// Returns the best measurement of the rate; no bytes while there is none.
    fn best_measurement(&self) -> Flow {
        if self.queued.bytes > 0 { self.queued } else { self.stretched }
    }

    /// Returns the evidence of the rate.
    pub(super) const fn rate_evidence(&self) -> RateEvidence {
        match (self.queued.bytes, self.stretched.bytes) {
            (1.., _) => RateEvidence::Queue,
            (0, 1..) => RateEvidence::Bursts,
            (0, 0) => RateEvidence::None,
        }
    }

    /// Returns the rate, of payload; zero while none is known.
    pub(super) fn rate(&self) -> Rate {
        let Flow { bytes, lasted } = self.best_measurement();
        Rate::from_bytes_over(bytes, lasted)
    }

    /// Returns the time of `bytes`; zero while no rate is known.
    pub(super) fn time_of(&self, bytes: u64) -> Duration {
        let Flow { bytes: known, lasted } = self.best_measurement();
        let nanos = u128::from(bytes) * u128::from(lasted.as_nanos()) / u128::from(known.max(1));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(40);

    fn at(us: u64) -> Instant {
        Instant::from_nanos((1_000_000 + us) * 1_000)
    }

    /// Returns an ACK of two segments of 1000 bytes that measures `rtt`.
    fn ack(us: u64, rtt: Duration) -> Delivery {
        Delivery {
            now: at(us),
            bytes: 2_000,
            rtt: Some(rtt),
            srtt: RTT,
            mss: 1_000,
            repairs: false,
            by_receiver: false,
        }
    }

    /// Feeds ACKs that are a millisecond apart, or several at once every `burst`. Returns how long
    /// the link was full.
    fn feed(
        link: &mut LinkRate,
        millis: std::ops::Range<u64>,
        burst: u64,
        rtt: Duration,
    ) -> Duration {
        let mut full = Duration::ZERO;
        for ms in millis {
            full += link.on_delivery(&ack(ms / burst * burst * 1_000, rtt)).unwrap_or_default();
        }
        full
    }

    /// A reader takes 1,000 bytes a millisecond. Round trips grow as with a link of that rate.
    #[test]
    fn a_reader_shows_no_rate_of_a_link() {
        let rate_of = |by_receiver| {
            let mut link = LinkRate::default();
            for n in 0..30 {
                let rtt = RTT + Duration::from_micros(n * 1_000);
                let delivery = Delivery { by_receiver, ..ack(n * 2_000, rtt) };
                link.on_delivery(&delivery);
            }
            link.rate().as_bps()
        };
        assert_eq!(rate_of(true), 0);
        assert!(rate_of(false) > 0);
    }

    /// 2000 bytes a millisecond are 16 Mbit/s, whether ACKs arrive one by one or ten at once. The
    /// first round has the lowest round trip.
    #[test]
    fn a_queue_that_stands_tells_the_rate() {
        for burst in [1, 10] {
            let mut link = LinkRate::default();
            assert!(feed(&mut link, 0..60, burst, RTT).is_zero());
            let full = feed(&mut link, 60..400, burst, RTT + RTT / 4);
            let mbps = link.rate().as_bps() as f64 / 1e6;
            assert!((mbps - 16.0).abs() < 0.4, "{burst}: {mbps}");
            assert_eq!(link.rate_evidence(), RateEvidence::Queue);
            assert!((200..=340).contains(&full.as_millis()), "{burst}: {full:?}");
            assert_eq!(link.time_of(16_000_000 / 8).as_millis() / 100, 10);
        }
    }

    /// A delay by a sixteenth or less is no queue. One round alone is none, and neither is data
    /// that a receiver's window keeps back.
    #[test]
    fn without_a_queue_the_link_is_not_full() {
        let mut link = LinkRate::default();
        feed(&mut link, 0..60, 1, RTT);
        assert!(feed(&mut link, 60..400, 1, RTT + RTT / QUEUE_PART).is_zero());
        let mut link = LinkRate::default();
        feed(&mut link, 0..41, 1, RTT);
        feed(&mut link, 41..82, 1, RTT * 2);
        assert!(feed(&mut link, 82..400, 1, RTT).is_zero());
        let mut link = LinkRate::default();
        feed(&mut link, 0..60, 1, RTT);
        for ms in 60..400 {
            let by_receiver = Delivery { by_receiver: true, ..ack(ms * 1_000, RTT * 2) };
            assert_eq!(link.on_delivery(&by_receiver), None);
        }
        assert_eq!(link.rate(), Rate::default());
    }

    /// While losses are repaired the link may be full, but ACKs do not show how fast it is.
    #[test]
    fn rounds_with_repairs_tell_no_rate() {
        let mut link = LinkRate::default();
        feed(&mut link, 0..60, 1, RTT);
        let mut full = Duration::ZERO;
        for ms in 60..400 {
            let repairs = Delivery { repairs: true, ..ack(ms * 1_000, RTT * 2) };
            full += link.on_delivery(&repairs).unwrap_or_default();
        }
        assert!(!full.is_zero());
        assert_eq!(link.rate(), Rate::default());
    }

    /// The ACKs of ten segments sent at once return two every 2 ms: 8 Mbit/s. The same ACKs, of
    /// segments sent as far apart, show no rate.
    #[test]
    fn a_train_that_the_link_stretched_tells_the_rate() {
        let mut link = LinkRate::default();
        for n in 0..5 {
            link.on_delivery(&ack(n * 2_000, RTT + Duration::from_millis(2) * n));
        }
        assert_eq!((link.rate(), link.rate_evidence()), (Rate::from_mbps(8), RateEvidence::Bursts));
        let mut link = LinkRate::default();
        for n in 0..5 {
            link.on_delivery(&ack(n * 2_000, RTT));
        }
        assert_eq!(link.rate(), Rate::default());
    }

    /// A pause of more than a quarter of the round trip is between two trains, and not in one.
    #[test]
    fn a_pause_ends_a_train() {
        let mut link = LinkRate::default();
        for n in 0..5 {
            link.on_delivery(&ack(n * 10_001, RTT + Duration::from_millis(10) * n));
        }
        assert_eq!(link.rate(), Rate::default());
    }
}
