//! The possible gain of a warm start. The module measures the time since the same host or network
//! was last sent to, and the change of the window and the round trip since. It also computes the
//! part of slow start that a remembered window would save.

use crate::distribution::{Counts, CumulativeDistribution};
use crate::network::GATEWAY_WINDOW;
use serde::{Deserialize, Serialize};
use trace::{SenderSnapshot, TimeShare, TransferReport};
use units::{Duration, Instant};

/// Upper ends of classes of the time since the last ACK of the same host or network, seconds. The
/// last class has no end.
const GAPS: [u64; 5] = [1, 10, 60, 300, 3_600];
/// Unit in which ratios are kept.
const THOUSANDTH: f64 = 1e-3;

/// Connections by the time since their client, or its network, was last sent to.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GapRow {
    /// `host` or `network`.
    pub scope: &'static str,
    /// Maximum seconds since its last ACK; `None` for the last class.
    pub up_to_s: Option<u64>,
    /// Number of connections.
    pub connections: u64,
    /// Number of these connections that ended within half and twice the known window.
    pub window_within_2: u64,
    /// Number of these connections that ended within a quarter of the known round trip.
    pub rtt_within_quarter: u64,
    /// Ratio of the congestion window at the end of the transfer to the known one.
    pub window_ratio: CumulativeDistribution,
    /// Ratio of the smoothed round trip at the end of the transfer to the known one.
    pub rtt_ratio: CumulativeDistribution,
}

/// The possible gain of a warm start. One transfer of each connection counts: the first that does
/// not fit into its first window, or else the first of all. Later ones have its window. With TLS
/// the handshake's bytes are the first of all.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WarmFindings {
    /// Number of transfers that count: connections whose start was captured, and that were
    /// answered.
    pub first_transfers: u64,
    /// Their total time, seconds.
    pub seconds: f64,
    /// Number of these transfers that fit into their first window: no transfer of the connection
    /// could gain.
    pub fit_first_window: u64,
    /// Number of the others whose host had a larger window within [`GATEWAY_WINDOW`] before.
    pub host_knew_more: u64,
    /// Number of the rest whose network had one.
    pub network_knew_more: u64,
    /// Upper limit of the slow start that these windows would have saved, seconds: whole round
    /// trips, and no more than the time that the transfers spent in slow start.
    pub sparable_s: f64,
    /// Rows by the time since host and network were last sent to.
    pub by_gap: Vec<GapRow>,
}

/// State of a host or network at its last ACK.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LastSeen {
    pub(crate) at: Instant,
    cwnd: u64,
    srtt: Duration,
}

impl LastSeen {
    pub(crate) const fn of(point: &SenderSnapshot) -> Self {
        Self { at: point.at, cwnd: point.cwnd, srtt: point.srtt }
    }
}

/// Knowledge at the start of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnowledgeAtStart {
    pub(crate) began: Instant,
    pub(crate) host: Option<LastSeen>,
    pub(crate) network: Option<LastSeen>,
    /// The first transfer, if it fits into its first window.
    pub(crate) small: Option<SmallTransfer>,
}

/// The values needed of a transfer that fits into its first window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SmallTransfer {
    cwnd: u64,
    srtt: Duration,
    took: Duration,
}

impl SmallTransfer {
    pub(crate) fn of(report: &TransferReport) -> Self {
        Self { cwnd: report.last_window, srtt: report.srtt, took: report.duration() }
    }
}

impl KnowledgeAtStart {
    fn gap(&self, last: &LastSeen) -> Duration {
        self.began.saturating_since(last.at)
    }

    /// Returns the window of a gateway that remembers the host, or else its network; and whether it
    /// is the host's.
    fn window(&self) -> Option<(u64, bool)> {
        let fresh = |last: &LastSeen| self.gap(last) <= GATEWAY_WINDOW;
        let host = self.host.filter(fresh).map(|last| (last.cwnd, true));
        host.or_else(|| self.network.filter(fresh).map(|last| (last.cwnd, false)))
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct GapCounters {
    connections: u64,
    window_within_2: u64,
    rtt_within_quarter: u64,
    window_ratio: Counts,
    rtt_ratio: Counts,
}

impl GapCounters {
    fn add_all(&mut self, other: &Self) {
        self.connections += other.connections;
        self.window_within_2 += other.window_within_2;
        self.rtt_within_quarter += other.rtt_within_quarter;
        self.window_ratio.add_all(&other.window_ratio);
        self.rtt_ratio.add_all(&other.rtt_ratio);
    }

    /// Adds a connection with the last one of the same host or network, if both measured a window
    /// and a round trip.
    fn add(&mut self, last: &LastSeen, now: &SmallTransfer) {
        if last.cwnd == 0 || last.srtt.is_zero() || now.srtt.is_zero() {
            return;
        }
        let window = now.cwnd as f64 / last.cwnd as f64;
        let rtt = now.srtt.as_secs_f64() / last.srtt.as_secs_f64();
        self.connections += 1;
        self.window_within_2 += u64::from((0.5..=2.0).contains(&window));
        self.rtt_within_quarter += u64::from((0.75..=1.25).contains(&rtt));
        self.window_ratio.add((window / THOUSANDTH).round() as u64);
        self.rtt_ratio.add((rtt / THOUSANDTH).round() as u64);
    }
}

/// Adds up connections. Times are whole nanoseconds, so sums do not depend on their order.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct WarmCounters {
    first_transfers: u64,
    nanos: u128,
    fit_first_window: u64,
    host_knew_more: u64,
    network_knew_more: u64,
    sparable_nanos: u128,
    host: [GapCounters; GAPS.len() + 1],
    network: [GapCounters; GAPS.len() + 1],
}

impl WarmCounters {
    /// Adds a finished connection whose transfers all fit into the first window.
    pub(crate) fn add_small(&mut self, known: &KnowledgeAtStart, transfer: &SmallTransfer) {
        self.fit_first_window += 1;
        self.count(known, transfer);
    }

    /// Counts a first transfer, by the gap since the host and its network were last seen.
    fn count(&mut self, known: &KnowledgeAtStart, transfer: &SmallTransfer) {
        self.first_transfers += 1;
        self.nanos += u128::from(transfer.took.as_nanos());
        for (class_counters, last) in
            [(&mut self.host, known.host), (&mut self.network, known.network)]
        {
            if let Some(last) = last {
                let gap = known.gap(&last);
                let class = GAPS.partition_point(|&end| gap > Duration::from_secs(end));
                class_counters[class].add(&last, transfer);
            }
        }
    }

    /// Adds the first transfer of a connection that exceeded its first window.
    pub(crate) fn add(&mut self, known: &KnowledgeAtStart, report: &TransferReport) {
        self.count(known, &SmallTransfer::of(report));
        if let Some((window, of_host)) =
            known.window().filter(|(window, _)| *window > report.first_window)
        {
            self.host_knew_more += u64::from(of_host);
            self.network_knew_more += u64::from(!of_host);
            self.sparable_nanos += u128::from(sparable(report, window).as_nanos());
        }
    }

    /// Adds other connections.
    pub(crate) fn add_all(&mut self, other: &Self) {
        self.first_transfers += other.first_transfers;
        self.nanos += other.nanos;
        self.fit_first_window += other.fit_first_window;
        self.host_knew_more += other.host_knew_more;
        self.network_knew_more += other.network_knew_more;
        self.sparable_nanos += other.sparable_nanos;
        let class_counters = self.host.iter_mut().chain(&mut self.network);
        for (counters, more) in class_counters.zip(other.host.iter().chain(&other.network)) {
            counters.add_all(more);
        }
    }

    /// Returns the findings of the transfers so far, by gap.
    pub(crate) fn findings(self) -> WarmFindings {
        let rows = |scope, class_counters: [GapCounters; GAPS.len() + 1]| {
            let ends = GAPS.iter().map(|&end| Some(end)).chain([None]);
            let rows = ends.zip(class_counters).filter(|(_, counters)| counters.connections > 0);
            rows.map(move |(up_to_s, counters)| GapRow {
                scope,
                up_to_s,
                connections: counters.connections,
                window_within_2: counters.window_within_2,
                rtt_within_quarter: counters.rtt_within_quarter,
                window_ratio: counters.window_ratio.distribution(THOUSANDTH),
                rtt_ratio: counters.rtt_ratio.distribution(THOUSANDTH),
            })
        };
        let by_gap = rows("host", self.host).chain(rows("network", self.network)).collect();
        WarmFindings {
            first_transfers: self.first_transfers,
            seconds: self.nanos as f64 / 1e9,
            fit_first_window: self.fit_first_window,
            host_knew_more: self.host_knew_more,
            network_knew_more: self.network_knew_more,
            sparable_s: self.sparable_nanos as f64 / 1e9,
            by_gap,
        }
    }
}

/// Returns the slow start that a first window of `window` bytes would have saved a transfer.
fn sparable(report: &TransferReport, window: u64) -> Duration {
    let [cold, warm] =
        [report.first_window, window].map(|window| doubling_rounds(report.bytes, window));
    let spared = report.min_rtt.saturating_mul(u64::from(cold.saturating_sub(warm)));
    spared.min(report.shares.of(TimeShare::SlowStart))
}

/// Returns the number of round trips in which doubling windows send `bytes`, starting with
/// `window`.
fn doubling_rounds(bytes: u64, window: u64) -> u32 {
    let windows = bytes.div_ceil(window.max(1));
    // The number of windows sent in r rounds is 2^r - 1.
    u64::BITS - windows.leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_double_each_round() {
        // Ten segments at first, then 20, 40: 70 in three rounds, the 71st needs a fourth.
        let by_ten = |segments: u64| doubling_rounds(segments * 1448, 14_480);
        assert_eq!([1, 10, 11, 30, 31, 70, 71].map(by_ten), [1, 1, 2, 2, 3, 3, 4]);
        assert_eq!(doubling_rounds(0, 14_480), 0);
    }

    fn seen(seconds: u64, cwnd: u64) -> LastSeen {
        let at = Instant::from_nanos(seconds * 1_000_000_000);
        LastSeen { at, cwnd, srtt: Duration::from_millis(40) }
    }

    fn report(bytes: u64) -> TransferReport {
        TransferReport {
            bytes,
            first_window: 10_000,
            last_window: 80_000,
            srtt: Duration::from_millis(50),
            min_rtt: Duration::from_millis(40),
            ..TransferReport::default()
        }
    }

    fn known(host: Option<LastSeen>, network: Option<LastSeen>) -> KnowledgeAtStart {
        KnowledgeAtStart {
            began: Instant::from_nanos(1_000_000_000_000),
            host,
            network,
            small: None,
        }
    }

    /// 70 kB in windows of 10, 20, 40 kB take three rounds. The host had 40 kB 100 s before, its
    /// network 80 kB 5 s before.
    #[test]
    fn the_host_is_asked_before_its_network() {
        let mut counters = WarmCounters::default();
        counters.add(&known(Some(seen(900, 40_000)), Some(seen(995, 80_000))), &report(70_000));
        counters.add(&known(Some(seen(600, 40_000)), Some(seen(995, 80_000))), &report(70_000));
        counters.add_small(&known(None, None), &SmallTransfer::of(&report(10_000)));
        let found = counters.findings();
        assert_eq!((found.first_transfers, found.fit_first_window), (3, 1));
        // 400 s are too long ago for the host's window; then its network's is used.
        assert_eq!((found.host_knew_more, found.network_knew_more), (1, 1));
        let row = |scope, up_to_s| {
            let row = found.by_gap.iter().find(|r| r.scope == scope && r.up_to_s == up_to_s);
            row.map(|r| (r.connections, r.window_within_2, r.rtt_within_quarter))
        };
        // 80 kB after 40 kB are twice the window. 50 ms after 40 ms are a quarter more.
        assert_eq!(row("host", Some(300)), Some((1, 1, 1)));
        assert_eq!(row("host", Some(3_600)), Some((1, 1, 1)));
        assert_eq!(row("network", Some(10)), Some((2, 2, 2)));
        assert_eq!(row("network", None), None);
        // No time was spent in slow start, so none can be saved.
        assert_eq!(found.sparable_s, 0.0);
    }
}
