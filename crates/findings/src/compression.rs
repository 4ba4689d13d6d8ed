//! ACK compression, and whether loss follows it (Balakrishnan et al. 1998 §3.1.3).
//!
//! *Method 1* (Mogul 1992): the ACK bandwidth from an ACK on is the data outstanding then, over the
//! time until all of it was acknowledged. It is compared with the median of its connection. *Method
//! 2*: the ACK bandwidth of a flight over its data bandwidth. A flight ends with the ACK of its
//! start. [`AckWatch`] follows one connection, [`CompressionCounters`] adds up.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use trace::{Retransmission, SenderSnapshot, SentData};
use units::{Duration, Instant};

/// Maximum number of windows of a connection that share a median; the next ones have their own.
const MAX_SAMPLES: usize = 1024;
/// Flights of method 2 are larger than this, bytes, as in the paper.
const MIN_BYTES: u64 = 5_000;
/// Number of steps for each doubling of a ratio.
const PER_DOUBLING: i32 = 2;
/// Number of doublings above one, and below.
const DOUBLINGS: i32 = 12;
const STEPS: usize = (2 * DOUBLINGS * PER_DOUBLING) as usize + 1;

/// The number of windows with approximately this ratio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RatioStep {
    /// The ratio in the middle of the step; its bounds are 2^(1/4) times less and more.
    pub ratio: f64,
    /// Number of windows.
    pub windows: u64,
    /// Number of these windows with a next one that was completely acknowledged.
    pub followed: u64,
    /// Number of those windows with a loss in the next one.
    pub lost_next: u64,
}

impl RatioStep {
    /// Returns the probability of a loss in the next window; `None` if no window had a next one.
    pub fn loss(&self) -> Option<f64> {
        (self.followed > 0).then(|| self.lost_next as f64 / self.followed as f64)
    }
}

/// Results about ACK compression.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CompressionFindings {
    /// Method 1: by ACK bandwidth over the connection's median (Figures 3 and 4). Steps without
    /// windows are left out.
    pub by_median: Vec<RatioStep>,
    /// Method 2: by ACK bandwidth over data bandwidth of the same flight (Figure 5).
    pub by_flight: Vec<RatioStep>,
}

/// Counters by ratio.
#[derive(Clone, Debug)]
struct Ratios([RatioStep; STEPS]);

impl Default for Ratios {
    fn default() -> Self {
        let ratio = |step: usize| {
            let doublings = (step as i32 - DOUBLINGS * PER_DOUBLING) as f64;
            (doublings / f64::from(PER_DOUBLING)).exp2()
        };
        Self(std::array::from_fn(|step| RatioStep { ratio: ratio(step), ..RatioStep::default() }))
    }
}

/// The counters of each step, from the least ratio on.
impl Serialize for Ratios {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let counters = |step: &RatioStep| [step.windows, step.followed, step.lost_next];
        serializer.collect_seq(self.0.iter().map(counters))
    }
}

impl<'de> Deserialize<'de> for Ratios {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let counters = Vec::<[u64; 3]>::deserialize(deserializer)?;
        let mut ratios = Self::default();
        for (step, [windows, followed, lost_next]) in ratios.0.iter_mut().zip(counters) {
            *step = RatioStep { windows, followed, lost_next, ..*step };
        }
        Ok(ratios)
    }
}

impl Ratios {
    /// Adds a ratio of two windows, in steps of a logarithmic scale. Ratios outside of the scale
    /// count at its ends. `lost_next`: whether the next window lost a segment; `None` if there is
    /// none.
    fn add(&mut self, ratio: f64, lost_next: Option<bool>) {
        if !(ratio.is_finite() && ratio > 0.0) {
            return;
        }
        let middle = DOUBLINGS * PER_DOUBLING;
        let step = (ratio.log2() * f64::from(PER_DOUBLING)).round() as i32 + middle;
        let step = &mut self.0[step.clamp(0, 2 * middle) as usize];
        step.windows += 1;
        step.followed += u64::from(lost_next.is_some());
        step.lost_next += u64::from(lost_next == Some(true));
    }

    fn add_all(&mut self, other: &Self) {
        for (step, of) in self.0.iter_mut().zip(&other.0) {
            step.windows += of.windows;
            step.followed += of.followed;
            step.lost_next += of.lost_next;
        }
    }

    fn steps(&self) -> Vec<RatioStep> {
        self.0.iter().copied().filter(|step| step.windows > 0).collect()
    }
}

/// Adds up the results of connections.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct CompressionCounters {
    by_median: Ratios,
    by_flight: Ratios,
}

impl CompressionCounters {
    /// Adds the results of other connections.
    pub(crate) fn add(&mut self, other: &Self) {
        self.by_median.add_all(&other.by_median);
        self.by_flight.add_all(&other.by_flight);
    }

    pub(crate) fn findings(&self) -> CompressionFindings {
        CompressionFindings { by_median: self.by_median.steps(), by_flight: self.by_flight.steps() }
    }

    /// Compares windows of one connection with their median.
    fn add_windows(&mut self, windows: &mut [Sample]) {
        windows.sort_by(|a, b| a.bandwidth.total_cmp(&b.bandwidth));
        let Some(median) = windows.get(windows.len() / 2).map(|sample| sample.bandwidth) else {
            return;
        };
        for sample in windows {
            self.by_median.add(f64::from(sample.bandwidth / median), sample.lost_next);
        }
    }
}

/// A window of method 1.
#[derive(Clone, Copy, Debug)]
struct Sample {
    /// ACK bandwidth, bytes per second.
    bandwidth: f32,
    /// True if the next window had a loss; `None` if that is not known.
    lost_next: Option<bool>,
}

/// The open window of method 1: the data outstanding at an ACK.
#[derive(Clone, Copy, Debug)]
struct Outstanding {
    at: Instant,
    bytes: u64,
    lost: bool,
    /// The window before it is the last sample.
    follows: bool,
}

/// A flight of method 2. The fields that most packets read are at the beginning.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Flight {
    lost: bool,
    /// The factor of the flight before it; zero if there is none.
    before: f32,
    start: u64,
    end: u64,
    bytes: u64,
    last_sent: Instant,
    first_sent: Instant,
    /// The first ACK of the flight, once it is being acknowledged.
    first_ack: Instant,
    /// Bytes that this ACK had acknowledged.
    first_acked: u64,
}

/// Follows the ACKs of one connection's server. The fields that most packets read are at the
/// beginning, in one or two cache lines.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct AckWatch {
    /// All of the window is acknowledged from this offset on; data after it is part of the next.
    /// Zero if there is none.
    window_end: u64,
    /// End of the flight that is being acknowledged, in the same way.
    acking_end: u64,
    sending: Option<Flight>,
    acking: Option<Flight>,
    window: Option<Outstanding>,
    samples: Vec<Sample>,
}

impl AckWatch {
    /// Notes new data of the server.
    #[inline(always)]
    pub(crate) fn on_sent(&mut self, sent: &SentData) {
        let start = sent.end.saturating_sub(sent.bytes);
        let fresh = || Flight { start, first_sent: sent.at, ..Flight::default() };
        let flight = self.sending.get_or_insert_with(fresh);
        flight.last_sent = flight.last_sent.max(sent.at);
        flight.end = flight.end.max(sent.end);
        flight.bytes += sent.bytes;
    }

    /// Notes a retransmission of the server.
    pub(crate) fn on_loss(&mut self, again: &Retransmission) {
        if let Some(window) = &mut self.window {
            window.lost |= again.start < self.window_end;
        }
        for flight in [&mut self.sending, &mut self.acking].into_iter().flatten() {
            flight.lost |= (flight.start..flight.end).contains(&again.start);
        }
    }

    /// Notes an ACK; before it, all data below `una_before` was acknowledged.
    #[inline(always)]
    pub(crate) fn on_ack(
        &mut self,
        point: &SenderSnapshot,
        una_before: u64,
        counters: &mut CompressionCounters,
    ) {
        if point.una >= self.window_end {
            self.close_window(point, counters);
        }
        if point.una >= self.acking_end {
            self.close_flight(point, counters);
        }
        if self.begin_acking(point, una_before) {
            // One ACK may acknowledge all of it.
            if point.una >= self.acking_end {
                self.close_flight(point, counters);
            }
        }
    }

    /// Closes the window, if there is one, once all of it is acknowledged: the next begins.
    #[inline(never)]
    fn close_window(&mut self, point: &SenderSnapshot, counters: &mut CompressionCounters) {
        let mut follows = false;
        if let Some(window) = self.window {
            if let Some(last) = self.samples.last_mut().filter(|_| window.follows) {
                last.lost_next = Some(window.lost);
            }
            let took = point.at.saturating_since(window.at).as_secs_f64();
            if took > 0.0 {
                self.record_sample(
                    Sample { bandwidth: (window.bytes as f64 / took) as f32, lost_next: None },
                    counters,
                );
                follows = true;
            }
        }
        let bytes = point.nxt.saturating_sub(point.una);
        let fresh = Outstanding { at: point.at, bytes, lost: false, follows };
        self.window = (bytes > 0).then_some(fresh);
        self.window_end = if bytes > 0 { point.nxt } else { 0 };
    }

    /// Keeps a window's sample. If [`MAX_SAMPLES`] are kept, they go into the counters first.
    fn record_sample(&mut self, sample: Sample, counters: &mut CompressionCounters) {
        if self.samples.len() >= MAX_SAMPLES {
            counters.add_windows(&mut self.samples);
            self.samples.clear();
        }
        self.samples.push(sample);
    }

    /// Closes the flight that is being acknowledged, if there is one, once all of it is.
    #[inline(never)]
    fn close_flight(&mut self, point: &SenderSnapshot, counters: &mut CompressionCounters) {
        self.acking_end = 0;
        if let Some(flight) = self.acking.take() {
            self.count_flight(&flight, point, counters);
        }
    }

    /// Counts the flight before with its loss, once its factor and that of `flight` are known.
    fn count_flight(
        &mut self,
        flight: &Flight,
        point: &SenderSnapshot,
        counters: &mut CompressionCounters,
    ) {
        if flight.before > 0.0 {
            counters.by_flight.add(flight.before.into(), Some(flight.lost));
        }
        let Some(factor) = flight.factor(point) else { return };
        match &mut self.sending {
            Some(next) => next.before = factor as f32,
            None => counters.by_flight.add(factor, None),
        }
    }

    /// Ends the flight that is being sent, at the ACK of its start; returns true if there is one.
    #[inline]
    fn begin_acking(&mut self, point: &SenderSnapshot, una_before: u64) -> bool {
        let flight = self.sending.take_if(|flight| point.una > flight.start);
        if let Some(flight) = flight {
            let (first_ack, first_acked) = (point.at, una_before.max(flight.start));
            self.acking = Some(Flight { first_ack, first_acked, ..flight });
            self.acking_end = flight.end;
        }
        flight.is_some()
    }

    /// Ends the connection: no more packets follow.
    pub(crate) fn finish(mut self, counters: &mut CompressionCounters) {
        counters.add_windows(&mut self.samples);
        for flight in [self.sending, self.acking].into_iter().flatten() {
            if flight.before > 0.0 {
                counters.by_flight.add(flight.before.into(), None);
            }
        }
    }
}

impl Flight {
    /// Returns its ACK bandwidth over its data bandwidth, now that all of it is acknowledged.
    /// `None` for flights that are small, or were sent or acknowledged at one instant.
    fn factor(&self, point: &SenderSnapshot) -> Option<f64> {
        let sending = self.last_sent.saturating_since(self.first_sent);
        let acking = point.at.saturating_since(self.first_ack);
        let acked = self.end.saturating_sub(self.first_acked);
        let large = self.bytes > MIN_BYTES && acked > MIN_BYTES;
        if !large || sending.is_zero() || acking.is_zero() {
            return None;
        }
        Some(bandwidth(acked, acking) / bandwidth(self.bytes, sending))
    }
}

fn bandwidth(bytes: u64, time: Duration) -> f64 {
    bytes as f64 / time.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::{RetransmissionKind, SenderPhase};

    fn at(micros: u64) -> Instant {
        Instant::from_nanos(micros * 1_000)
    }

    fn ack(micros: u64, una: u64, nxt: u64) -> SenderSnapshot {
        SenderSnapshot {
            at: at(micros),
            una,
            nxt,
            cwnd: 100_000,
            ssthresh: u64::MAX,
            in_flight: nxt - una,
            receive_window: Some(100_000),
            srtt: Duration::from_millis(50),
            rto: Duration::from_secs(1),
            phase: SenderPhase::SlowStart,
        }
    }

    fn sent(micros: u64, end: u64) -> SentData {
        let phase = SenderPhase::SlowStart;
        SentData { at: at(micros), end, bytes: 1_000, segments: 1, phase }
    }

    fn again(start: u64) -> Retransmission {
        Retransmission {
            at: at(0),
            last_sent: None,
            start,
            seq: 0,
            len: 1_000,
            kind: RetransmissionKind::Fast,
            phase: SenderPhase::SlowStart,
            spared_by: None,
            outstanding: 0,
            expected: true,
            predicted: false,
        }
    }

    fn counts(steps: &[RatioStep]) -> Vec<(f64, u64, u64, u64)> {
        steps.iter().map(|s| (s.ratio, s.windows, s.followed, s.lost_next)).collect()
    }

    /// 10 kB outstanding at 0, 100 and 150 ms, acknowledged by 100, 150 and 250 ms: 100, 200 and
    /// 100 kB/s, a median of 100. The second of them loses a segment, which follows the first; the
    /// third loses none; nothing follows that.
    #[test]
    fn windows_are_compared_with_their_median() {
        let (mut watch, mut counters) = (AckWatch::default(), CompressionCounters::default());
        watch.on_ack(&ack(0, 1, 10_001), 1, &mut counters);
        watch.on_ack(&ack(50_000, 5_001, 15_001), 1, &mut counters);
        watch.on_ack(&ack(100_000, 10_001, 20_001), 5_001, &mut counters);
        watch.on_loss(&again(15_001));
        watch.on_ack(&ack(150_000, 20_001, 30_001), 10_001, &mut counters);
        watch.on_ack(&ack(250_000, 30_001, 30_001), 20_001, &mut counters);
        watch.finish(&mut counters);
        let found = counters.findings();
        assert_eq!(counts(&found.by_median), [(1.0, 2, 1, 1), (2.0, 1, 1, 0)]);
    }

    /// Ten segments are sent in 9 ms, and acknowledged within 4.5 ms: a factor of two. Its ACKs
    /// release ten more, of which one is lost.
    #[test]
    fn a_flight_is_compared_with_its_own_sending() {
        let (mut watch, mut counters) = (AckWatch::default(), CompressionCounters::default());
        (0..10).for_each(|n| watch.on_sent(&sent(n * 1_000, 1_001 + n * 1_000)));
        for n in 0..10 {
            let (now, una) = (50_000 + n * 500, 1_001 + n * 1_000);
            watch.on_ack(&ack(now, una, 10_001 + n * 1_000), una - 1_000, &mut counters);
            watch.on_sent(&sent(now, 11_001 + n * 1_000));
        }
        watch.on_loss(&again(12_001));
        watch.on_ack(&ack(150_000, 20_001, 20_001), 10_001, &mut counters);
        watch.finish(&mut counters);
        // The second flight was acknowledged at one instant, and has no factor.
        assert_eq!(counts(&counters.findings().by_flight), [(2.0, 1, 1, 1)]);
    }

    /// Five segments are 5,000 bytes, which is not more than the limit.
    #[test]
    fn small_flights_do_not_count() {
        let (mut watch, mut counters) = (AckWatch::default(), CompressionCounters::default());
        (0..5).for_each(|n| watch.on_sent(&sent(n * 1_000, 1_001 + n * 1_000)));
        for n in 0..5 {
            let una = 1_001 + n * 1_000;
            watch.on_ack(&ack(50_000 + n * 500, una, 5_001), una - 1_000, &mut counters);
        }
        watch.finish(&mut counters);
        assert_eq!(counters.findings().by_flight, []);
    }
}
