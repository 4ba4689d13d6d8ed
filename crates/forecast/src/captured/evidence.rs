//! Evidence of a client's path: round trips, the rate of bursts, and the fill of the queue at
//! losses.

use super::median::weighted_median;
use super::recent::RecentTrips;
use super::spaced::SpacedSample;
use super::together::TogetherMeter;
use super::windows::{AckedBytes, DeliveryWindows, RateStep};
use trace::TransferReport;
use units::{Duration, Instant, Rate};

/// Maximum number of connections whose rates are kept.
const MAX_RATES: usize = 256;
/// Size of a segment's headers, bytes: IP and TCP with timestamps.
const HEADERS: u128 = 52;
/// Fastest plausible rate of clients' lines. ACKs of a faster burst were compressed, unless the
/// client is near.
const MAX_RATE: Rate = Rate::from_mbps(10_000);
/// Round trips below this are within a data centre. No radio and no access line is as fast, and
/// these are what compresses ACKs.
const DATA_CENTRE_ROUND_TRIP: Duration = Duration::from_millis(1);
/// Minimum number of losses of a kind; fewer are chance, and show neither the end of a queue nor
/// random loss.
const MIN_LOSSES: usize = 3;
/// Minimum share of losses of a kind, as its inverse. A smaller share shows nothing: a queue that
/// dropped a segment may have drained until the loss is seen, and a random loss may meet a full
/// queue.
const ONE_IN: usize = 5;
/// Percentage of packets whose wait is certainly a queue's. Some of the rest wait for a stalled
/// host: one or two per cent if connections crowd a fast line.
const SURVIVED: usize = 90;
/// Maximum random loss: TCP does not work with more.
const MAX_RANDOM: f64 = 0.2;

/// The evidence of a client's connections about its path.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathEvidence {
    /// Lowest round trip; zero before the first.
    least: Duration,
    /// The last round trips without a delayed ACK, and a sample of all.
    recent: RecentTrips,
    queued: SpacedSample,
    /// Rates of bursts, with the payload of their connections.
    rates: Vec<(Rate, u64)>,
    /// The joint rate of simultaneous connections.
    together: TogetherMeter,
    /// Bytes that the path delivered over time.
    windows: DeliveryWindows,
    /// A sample of the round trips before losses.
    at_loss: SpacedSample,
    /// Payload that was lost, and that was sent, bytes. The unit is bytes, not packets, since a
    /// captured packet may be many segments that the server's network card cut (TSO).
    lost: u64,
    sent: u64,
    /// Payload of a full segment.
    mss: u64,
}

impl PathEvidence {
    pub(crate) fn on_round_trip(&mut self, rtt: Duration) {
        self.least = if self.least.is_zero() { rtt } else { self.least.min(rtt) };
    }

    /// Adds a round trip without a delayed ACK: its excess over the lowest is a wait in the queue.
    pub(crate) fn on_queued(&mut self, at: Instant, rtt: Duration) {
        self.on_round_trip(rtt);
        self.recent.add(at, rtt);
        self.queued.add(rtt);
    }

    /// Adds a repaired loss of `bytes` that were first sent at `sent`. They met the same queue as
    /// the packet that was sent nearest to them on any connection of the client.
    pub(crate) fn on_loss(&mut self, sent: Instant, bytes: u64) {
        self.lost += bytes;
        if let Some(rtt) = self.recent.sent_nearest(sent) {
            self.at_loss.add(rtt);
        }
    }

    pub(crate) fn on_transfer(&mut self, report: &TransferReport) {
        self.mss = self.mss.max(report.mss);
        self.sent += report.bytes;
        if !report.min_rtt.is_zero() {
            self.on_round_trip(report.min_rtt);
        }
    }

    /// Adds a finished connection with its payload in bytes, and the rate of its fastest burst;
    /// zero if it is not known. If [`MAX_RATES`] are kept, or the rate is not credible, it is
    /// dropped.
    pub(crate) fn on_connection(&mut self, rate: Rate, bytes: u64) {
        let is_near = self.lowest_rtt().is_some_and(|least| least < DATA_CENTRE_ROUND_TRIP);
        let rate = if is_near { rate.min(MAX_RATE) } else { rate };
        if rate.as_bps() > 0 && rate <= MAX_RATE && self.rates.len() < MAX_RATES {
            self.rates.push((rate, bytes));
        }
    }

    /// Adds data that a connection got.
    pub(crate) fn on_arrived(&mut self, data: &AckedBytes) {
        let &AckedBytes { connection, since, at, bytes, .. } = data;
        self.together.on_arrived(connection, since, at, bytes);
        self.windows.on_arrived(data, self.least);
    }

    /// Returns the lowest round trip; `None` before the first.
    pub(crate) fn lowest_rtt(&self) -> Option<Duration> {
        Some(self.least).filter(|rtt| !rtt.is_zero())
    }

    /// Returns the rate with headers: the joint rate of simultaneous connections, or the rate of
    /// bursts, whichever is higher.
    ///
    /// The rate of bursts is the median over connections, weighted by their payload. A single burst
    /// may be too fast, if a queue on the way back has compressed its ACKs. If connections share
    /// the line, all bursts are too slow.
    ///
    /// `None` without a burst. Then the joint rate only shows the demand of applications: short
    /// answers fill no line.
    pub(crate) fn rate(&self) -> Option<Rate> {
        let bursts = weighted_median(self.rates.iter().copied())?;
        let payload = self.together.rate().map_or(bursts, |together| bursts.max(together));
        Some(self.with_headers(payload))
    }

    /// Returns the rate over time, with headers, if the capture shows that it varies.
    pub(crate) fn rates_over_time(&self) -> Option<Vec<RateStep>> {
        let steps = self.windows.varying_rate()?;
        let with_headers = |step: RateStep| RateStep { rate: self.with_headers(step.rate), ..step };
        Some(steps.into_iter().map(with_headers).collect())
    }

    /// Adds headers to the rate of payload. Without a transfer the length of segments is unknown.
    fn with_headers(&self, payload: Rate) -> Rate {
        let mss = u128::from(self.mss);
        if mss == 0 {
            return payload;
        }
        let bps = u128::from(payload.as_bps()) * (mss + HEADERS) / mss;
        Rate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX))
    }

    /// Returns the longest wait seen in the queue, without a hundredth of the waits, and without
    /// one at least. If a host stalls, a single packet waits longer than any queue delays it.
    pub(crate) fn seen_wait(&self) -> Duration {
        self.time_without_rtt(self.queued.below_longest().unwrap_or_default())
    }

    /// Returns the wait of a half full queue: half of the longest wait, without a hundredth of the
    /// waits. A loss at a shorter wait met no full queue. A single wait may be longer than any
    /// queue, if a host stalls. In a queue that is rarely full, the losses show the longest wait.
    fn half_full(&self) -> Duration {
        let longest = self.queued.percentile(99).max(self.at_loss.percentile(75));
        self.time_without_rtt(longest.unwrap_or_default()) / 2
    }

    fn time_without_rtt(&self, rtt: Duration) -> Duration {
        rtt - self.least.min(rtt)
    }

    /// Returns the wait in the full queue: the median over losses that met one. Losses with a wait
    /// of less than half of the longest were of another kind. `None` if nearly all were, or if the
    /// others are too few. The result is no less than the wait that a tenth of the packets
    /// survived.
    pub(crate) fn full_wait(&self) -> Option<Duration> {
        let half = self.half_full();
        let at_loss = self.at_loss.kept_values();
        let waits = at_loss.iter().map(|rtt| self.time_without_rtt(*rtt));
        let mut waits: Vec<Duration> =
            waits.filter(|wait| *wait >= half && !wait.is_zero()).collect();
        waits.sort_unstable();
        let is_chance = waits.len() < MIN_LOSSES || waits.len() * ONE_IN < at_loss.len();
        let median = waits.get(waits.len() / 2).filter(|_| !is_chance)?;
        Some(
            (*median)
                .max(self.time_without_rtt(self.queued.percentile(SURVIVED).unwrap_or_default())),
        )
    }

    /// Returns the share of payload that was lost while the queue was less than half full.
    pub(crate) fn random_loss(&self) -> f64 {
        let half = self.half_full();
        let at_loss = self.at_loss.kept_values();
        let random = at_loss.iter().filter(|rtt| self.time_without_rtt(**rtt) < half).count();
        let is_chance = random < MIN_LOSSES || random * ONE_IN < at_loss.len();
        if is_chance || self.sent == 0 {
            return 0.0;
        }
        // The share among losses with a known round trip applies to all losses.
        let share = random as f64 / at_loss.len() as f64;
        (share * self.lost as f64 / self.sent as f64).min(MAX_RANDOM)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::ZERO;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    /// Round trips from 40 to 150 ms, without the longest one: packets survived a wait of 100 ms.
    /// Losses at 140, 150 and 145 ms have a median wait of 105 ms in a full queue, but packets have
    /// survived 110 ms. The losses at 45 ms are of another kind.
    #[test]
    fn losses_tell_the_queue_and_what_is_lost_besides() {
        let mut evidence = PathEvidence::default();
        evidence.on_round_trip(ms(200)); // this ACK was delayed
        for rtt in [40, 140, 150] {
            evidence.on_queued(NOW, ms(rtt));
        }
        assert_eq!((evidence.lowest_rtt(), evidence.seen_wait()), (Some(ms(40)), ms(100)));
        for rtt in [140, 150, 145] {
            evidence.on_queued(NOW, ms(rtt));
            evidence.on_loss(NOW, 10_000);
        }
        // There are two of 150 ms, and one of them counts.
        assert_eq!((evidence.seen_wait(), evidence.full_wait()), (ms(110), Some(ms(110))));
        for rtt in [45; 3] {
            evidence.on_queued(NOW, ms(rtt));
            evidence.on_loss(NOW, 10_000);
        }
        assert_eq!(evidence.full_wait(), Some(ms(110)));
        let report = TransferReport { bytes: 1_000_000, mss: 1000, ..TransferReport::default() };
        evidence.on_transfer(&report);
        // Three of six losses of ten segments each, of 1,000 segments.
        assert_eq!(evidence.random_loss(), 0.03);
    }

    /// Two losses in addition to a full queue's are chance.
    #[test]
    fn chance_is_no_random_loss() {
        let mut evidence = PathEvidence::default();
        for rtt in [40, 140] {
            evidence.on_queued(NOW, ms(rtt));
        }
        for rtt in [45; 2] {
            evidence.on_queued(NOW, ms(rtt));
            evidence.on_loss(NOW, 1_000);
        }
        let report = TransferReport { bytes: 10_000, mss: 1000, ..TransferReport::default() };
        evidence.on_transfer(&report);
        assert_eq!((evidence.lost, evidence.random_loss()), (2_000, 0.0));
    }

    /// Three of fifteen losses that do not meet a full queue are a fifth, and random; of sixteen
    /// they are less.
    #[test]
    fn where_most_losses_are_of_a_full_queue_few_others_are_chance() {
        let mut evidence = PathEvidence::default();
        let report = TransferReport { bytes: 1_500_000, mss: 1000, ..TransferReport::default() };
        evidence.on_transfer(&report);
        evidence.on_round_trip(ms(40));
        for rtt in [[45; 3].as_slice(), &[140; 12]].concat() {
            evidence.on_queued(NOW, ms(rtt));
            evidence.on_loss(NOW, 1_000);
        }
        assert_eq!(evidence.random_loss(), 0.002);
        evidence.on_loss(NOW, 1_000);
        assert_eq!(evidence.random_loss(), 0.0);
    }

    /// There are waits of 10 to 20 ms, and one of 90 ms, when the client stalled. A segment is lost
    /// at each wait of 20 ms: the queue was full then.
    #[test]
    fn one_long_wait_does_not_make_all_losses_random() {
        let mut evidence = PathEvidence::default();
        evidence.on_round_trip(ms(40));
        evidence.on_queued(NOW, ms(130));
        for wait in (10..=20).cycle().take(220) {
            evidence.on_queued(NOW, ms(40 + wait));
            if wait == 20 {
                evidence.on_loss(NOW, 1_000);
            }
        }
        evidence.on_transfer(&TransferReport {
            bytes: 220_000,
            mss: 1000,
            ..TransferReport::default()
        });
        assert_eq!((evidence.full_wait(), evidence.random_loss()), (Some(ms(20)), 0.0));
        assert_eq!(evidence.seen_wait(), ms(20));
    }

    /// One of 1,000 round trips waits for 100 ms, and the others for 2 ms. Ten losses at 100 ms and
    /// fifteen at 2 ms show that the queue holds 100 ms, though it is rarely full. Fifteen of 25
    /// losses are random, of 1,000 segments.
    #[test]
    fn a_queue_that_is_seldom_full_shows_by_its_losses() {
        let mut evidence = PathEvidence::default();
        evidence.on_transfer(&TransferReport {
            bytes: 1_000_000,
            mss: 1000,
            ..TransferReport::default()
        });
        evidence.on_round_trip(ms(40));
        for n in 0..1_000 {
            evidence.on_queued(NOW, ms(if n == 0 { 140 } else { 42 }));
        }
        for (wait, losses) in [(100, 10), (2, 15)] {
            evidence.on_queued(NOW, ms(40 + wait));
            (0..losses).for_each(|_| evidence.on_loss(NOW, 1_000));
        }
        assert_eq!((evidence.full_wait(), evidence.random_loss()), (Some(ms(100)), 0.015));
    }

    /// Twenty losses are at 2 ms of waiting, four at 10 ms: fewer than a fifth, so the end of the
    /// queue is unknown.
    #[test]
    fn where_nearly_all_losses_are_random_the_queue_is_not_known() {
        let mut evidence = PathEvidence::default();
        evidence.on_round_trip(ms(40));
        for (wait, losses) in [(2, 20), (10, 4)] {
            evidence.on_queued(NOW, ms(40 + wait));
            (0..losses).for_each(|_| evidence.on_loss(NOW, 1_000));
        }
        assert_eq!(evidence.full_wait(), None);
        evidence.on_loss(NOW, 1_000);
        assert_eq!(evidence.full_wait(), Some(ms(10)), "five of 25");
    }

    /// The last ACK is an hour old, or a second.
    #[test]
    fn an_old_round_trip_says_nothing_of_a_loss() {
        let mut evidence = PathEvidence::default();
        evidence.on_round_trip(ms(40));
        evidence.on_queued(NOW, ms(140));
        (0..3).for_each(|_| evidence.on_loss(NOW + Duration::from_secs(3600), 1_000));
        assert_eq!(evidence.full_wait(), None);
        (0..3).for_each(|_| evidence.on_loss(NOW + Duration::from_secs(1), 1_000));
        assert_eq!(evidence.full_wait(), Some(ms(100)));
    }

    /// There are waits from 0 to 5 ms, twenty of each, by the server's own bursts. One loss at 4
    /// ms, or two, are chance. Three are not, but packets have survived 5 ms.
    #[test]
    fn few_losses_tell_no_queue_and_none_is_shorter_than_what_packets_survived() {
        let mut evidence = PathEvidence::default();
        for wait in (0..=5).cycle().take(120) {
            evidence.on_queued(NOW, ms(40 + wait));
        }
        evidence.on_queued(NOW, ms(44));
        for _ in 0..2 {
            evidence.on_loss(NOW, 1_000);
            assert_eq!(evidence.full_wait(), None);
        }
        evidence.on_loss(NOW, 1_000);
        assert_eq!(evidence.full_wait(), Some(ms(5)));
    }

    /// Fifty ACKs arrive after waits of up to 10 ms, and one is 2 s late: the queue has held 10 ms.
    #[test]
    fn one_late_ack_is_no_queue() {
        let mut evidence = PathEvidence::default();
        for wait in (0..=10).cycle().take(50) {
            evidence.on_queued(NOW, ms(40 + wait));
        }
        evidence.on_queued(NOW, ms(2_040));
        assert_eq!(evidence.seen_wait(), ms(10));
    }

    /// Each of two connections gets 2,000 bytes per second, acknowledged together: 4,000 bytes per
    /// second were the demand. A burst of 8 Mbit/s shows the line.
    #[test]
    fn what_short_answers_get_side_by_side_is_no_rate() {
        let mut evidence = PathEvidence::default();
        let at = |second: u64| NOW + Duration::from_secs(second);
        for second in 1..=10 {
            for connection in [1, 2] {
                let (since, at) = (at(second - 1), at(second));
                let bytes = 2_000;
                evidence.on_arrived(&AckedBytes { connection, since, at, bytes, rtt: None });
            }
        }
        assert_eq!(evidence.rate(), None);
        evidence.on_connection(Rate::from_mbps(8), 4_000);
        assert_eq!(evidence.rate(), Some(Rate::from_mbps(8)));
    }

    /// No client with a round trip of 20 ms has 12 Gbit/s, but a neighbour at 0.1 ms may.
    #[test]
    fn a_burst_too_fast_for_any_line_counts_as_the_fastest_where_the_client_is_near() {
        let rate_at = |micros| {
            let mut evidence = PathEvidence::default();
            evidence.on_round_trip(Duration::from_micros(micros));
            evidence.on_connection(Rate::from_mbps(12_000), 1_000_000);
            evidence.rate()
        };
        assert_eq!(rate_at(100), Some(Rate::from_mbps(10_000)));
        assert_eq!(rate_at(20_000), None);
    }

    /// 300 bytes at 8 Mbit/s, 100 at 1 and 100 at 90: the weight passes half of 500 at 8.
    #[test]
    fn the_rate_is_a_weighted_median() {
        let mut evidence = PathEvidence::default();
        assert_eq!(evidence.rate(), None);
        for (mbps, bytes) in [(90, 100), (8, 300), (1, 100)] {
            evidence.on_connection(Rate::from_mbps(mbps), bytes);
        }
        assert_eq!(evidence.rate(), Some(Rate::from_mbps(8)));
        // Simultaneous ACKs show nothing.
        evidence.on_connection(Rate::from_mbps(40_000), 10_000);
        assert_eq!(evidence.rate(), Some(Rate::from_mbps(8)));
        // Segments of 1300 bytes have 52 of headers: 4 % more.
        evidence.on_transfer(&TransferReport { mss: 1300, ..TransferReport::default() });
        assert_eq!(evidence.rate(), Some(Rate::from_bps(8_320_000)));
    }
}
