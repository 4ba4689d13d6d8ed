//! Translates messages between gateways and agents from and to the kernel programs' forms: an
//! estimate to a remembered path, and the summary of a connection to a report.

use crate::contract::{ConnectionSummary, LearntPath};
use gateway_proto::v1::{Bound, Estimate, Group, Report, Start};
use ipnet::IpNet;

/// Largest number of prefix bits of a network in a report: IPv4, IPv6.
const LONGEST: (u8, u8) = (24, 48);
/// No age is more, nanoseconds: 146 years.
const OLDEST_NS: u64 = u64::MAX >> 2;

/// Returns the network of a path, with as many bits of its prefix as may leave this host.
pub(super) fn reported_network(prefix: IpNet) -> IpNet {
    let most = if prefix.addr().is_ipv4() { LONGEST.0 } else { LONGEST.1 };
    let length = prefix.prefix_len().min(most);
    IpNet::new(prefix.addr(), length).map_or(prefix, |net| net.trunc())
}

/// Converts an estimate to the memory's form, in segments of `mss` bytes. `None` if it lacks a
/// window or a round trip: without a round trip it could not be checked whether the path is the
/// same.
pub(super) fn learnt_from(estimate: &Estimate, mss: u32, now: u64) -> Option<LearntPath> {
    let mss = u64::from(mss);
    let segments = u32::try_from(estimate.window / mss).ok()?;
    let min_rtt_us = u32::try_from(estimate.min_rtt_us).ok()?;
    if segments == 0 || min_rtt_us == 0 {
        return None;
    }
    let rate = estimate.rate / 8;
    // Time in which the window drains at that rate: it is added to the round trip.
    let drained_us = (u64::from(segments) * mss * 1_000_000).checked_div(rate).unwrap_or(0);
    let srtt_us = u64::from(min_rtt_us).max(drained_us).min(u64::from(min_rtt_us) * 4);
    Some(LearntPath {
        // An age from any clock of a gateway is limited: more than half of the counter's range
        // would look like the future.
        learnt_ns: now.wrapping_sub(estimate.age_ms.saturating_mul(1_000_000).min(OLDEST_NS)),
        bytes_acked: 0,
        sent: 0,
        retransmitted: 0,
        rate,
        window: segments,
        ssthresh: 0,
        srtt_us: u32::try_from(srtt_us).unwrap_or(u32::MAX),
        min_rtt_us,
        connections: 0,
        warm: 0,
        fallbacks: 0,
        fallbacks_in_row: 0,
    })
}

/// Returns a connection's report on its network; `None`: it has shown nothing.
pub(super) fn report_of(summary: &ConnectionSummary) -> Option<Report> {
    let window = u64::from(segments_of(summary)) * u64::from(summary.mss);
    if window == 0 || summary.sent == 0 {
        return None;
    }
    let has_lost = summary.has_measured || has_failed_as_it_opened(summary);
    let bound = match (has_lost, summary.is_warm) {
        (true, _) => Bound::Loss,
        (false, true) => Bound::OwnStart,
        (false, false) => Bound::Over,
    };
    let start = match (summary.is_compared, summary.is_warm, summary.in_control_group) {
        (true, _, true) => Start::Control,
        (_, true, _) => Start::Warm,
        _ => Start::Cold,
    };
    Some(Report {
        network: Some(gateway_proto::v1::Network::of(reported_network(summary.path.prefix))),
        window,
        // A remembered rate may come from a gateway: reported back, it would confirm itself.
        rate: if summary.has_shown_rate { summary.rate.saturating_mul(8) } else { 0 },
        min_rtt_us: summary.min_rtt_us.into(),
        sent: summary.sent,
        lost: summary.retransmitted.min(summary.sent),
        bound: bound.into(),
        age_ms: 0,
        start: start.into(),
        transfer_bytes: summary.bytes_acked,
        transfer_us: summary.lasted_ns / 1000,
        // The agent's own comparison counts them, and the gateway receives its sums.
        group: Group::Unspecified.into(),
        stage: 0,
    })
}

/// Returns the number of segments that it had in flight, or showed to fit; 0: it has shown none.
fn segments_of(summary: &ConnectionSummary) -> u32 {
    match summary.flight {
        // It has left nothing in this host's memory. Other hosts need to know the window at which
        // it failed: as much of the flight as there was to send.
        _ if has_failed_as_it_opened(summary) => {
            summary.first_window.min(summary.sent.saturating_sub(summary.retransmitted))
        }
        // The delivered flight; and of the window that it leaves in memory, as much as the path
        // holds at the rate that it showed. A paced flight is wider than both, and proves the rate
        // with it.
        flight if flight > 0 && !summary.has_measured => {
            flight.max(summary.learnt.min(carried_of(summary)))
        }
        // Members of a session know only their common window.
        _ => summary.learnt,
    }
}

/// Returns the number of segments that its path holds without a queue, at the rate that was
/// measured or is remembered; 0: none is known.
fn carried_of(summary: &ConnectionSummary) -> u32 {
    let in_a_round = u128::from(summary.rate) * u128::from(summary.min_rtt_us) / 1_000_000;
    let segments = in_a_round.checked_div(summary.mss.into()).unwrap_or(0);
    u32::try_from(segments).unwrap_or(u32::MAX)
}

/// Returns true if the path's very first flight met a loss, and nothing has been measured since.
/// The width of a later flight is not known.
const fn has_failed_as_it_opened(summary: &ConnectionSummary) -> bool {
    summary.has_fallen_back && !summary.has_measured && summary.restarts == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::PrefixKey;
    use crate::os::clock::since;

    fn key(prefix: &str) -> PrefixKey {
        PrefixKey { namespace: 1, prefix: prefix.parse().unwrap() }
    }

    fn summary() -> ConnectionSummary {
        ConnectionSummary {
            path: key("192.0.2.0/24"),
            mss: 1000,
            sent: 30,
            bytes_acked: 30_000,
            first_window: 10,
            min_rtt_us: 80_000,
            ..ConnectionSummary::from_bytes(&[0; ConnectionSummary::SIZE]).unwrap()
        }
    }

    #[test]
    fn an_estimate_without_a_round_trip_or_a_whole_segment_is_none() {
        let good = Estimate { window: 144_800, min_rtt_us: 80_000, ..Estimate::default() };
        assert_eq!(learnt_from(&good, 1448, 0).map(|path| path.window), Some(100));
        // With another segment size: 144,800 = 16 * 8948 + 1632.
        assert_eq!(learnt_from(&good, 8948, 0).map(|path| path.window), Some(16));
        assert_eq!(learnt_from(&Estimate { min_rtt_us: 0, ..good }, 1448, 0), None);
        assert_eq!(learnt_from(&Estimate { window: 1447, ..good }, 1448, 0), None);
        assert_eq!(learnt_from(&Estimate { window: u64::MAX, ..good }, 1448, 0), None);
        assert_eq!(learnt_from(&Estimate { min_rtt_us: u64::MAX, ..good }, 1448, 0), None);
    }

    #[test]
    fn a_window_that_fills_the_queue_takes_longer_than_the_path() {
        // 144,800 bytes at 1,448,000 bytes a second take 100 ms.
        let estimate = Estimate {
            window: 144_800,
            rate: 8 * 1_448_000,
            min_rtt_us: 80_000,
            age_ms: 3,
            ..Estimate::default()
        };
        let path = learnt_from(&estimate, 1448, 5_000_000).unwrap();
        assert_eq!((path.srtt_us, path.min_rtt_us, path.rate), (100_000, 80_000, 1_448_000));
        assert_eq!(path.learnt_ns, 2_000_000);
    }

    #[test]
    fn nothing_is_young_by_a_wrong_clock() {
        for age_ms in [u64::MAX, u64::MAX / 1_000_000, 10 * 365 * 86_400_000] {
            let old =
                Estimate { window: 144_800, min_rtt_us: 80_000, age_ms, ..Estimate::default() };
            let path = learnt_from(&old, 1448, 5_000_000).unwrap();
            // Ten years at least.
            assert!(since(path.learnt_ns, 5_000_000) >= 10 * 365 * 86_400_000_000_000, "{age_ms}");
        }
    }

    #[test]
    fn what_bounded_a_window_is_told() {
        let bound = |summary| report_of(&summary).map(|report| (report.window, report.bound()));
        let cold = ConnectionSummary { learnt: 25, flight: 20, ..summary() };
        assert_eq!(bound(cold), Some((20_000, Bound::Over)));
        // The remembered window exceeds the segments that were outstanding at a time: it was paced
        // at the path's rate.
        let warm = ConnectionSummary { is_warm: true, ..cold };
        assert_eq!(bound(warm), Some((20_000, Bound::OwnStart)));
        let measured = ConnectionSummary { has_measured: true, retransmitted: 2, ..cold };
        assert_eq!(bound(measured), Some((25_000, Bound::Loss)));
        // No flight was delivered since the loss, and it has left no window.
        assert_eq!(bound(ConnectionSummary { retransmitted: 1, ..summary() }), None);
        // 1 MB/s over 80 ms are 80 segments of 1000 bytes; 300 kB/s are 24.
        let fast = ConnectionSummary { rate: 1_000_000, ..cold };
        assert_eq!(bound(fast), Some((25_000, Bound::Over)));
        let slower = ConnectionSummary { rate: 300_000, ..cold };
        assert_eq!(bound(slower), Some((24_000, Bound::Over)));
        // A flight of 197 was proposed and there were 139 segments to send, of which 21 went again.
        let failed = ConnectionSummary {
            is_warm: true,
            has_fallen_back: true,
            first_window: 197,
            sent: 160,
            retransmitted: 21,
            ..summary()
        };
        assert_eq!(bound(failed), Some((139_000, Bound::Loss)));
        assert_eq!(bound(ConnectionSummary { restarts: 1, ..failed }), None);
        let member = ConnectionSummary { learnt: 25, ..summary() };
        assert_eq!(bound(member), Some((25_000, Bound::Over)));
        assert_eq!(bound(ConnectionSummary { sent: 0, bytes_acked: 0, ..summary() }), None);
    }

    /// 1,000,000 bytes a second are 8 Mbit/s. A rate that is only remembered bounds the window, and
    /// is not reported.
    #[test]
    fn a_rate_that_was_not_measured_is_not_told() {
        let known = ConnectionSummary { learnt: 25, flight: 20, rate: 1_000_000, ..summary() };
        let told = |has_shown_rate| {
            let report = report_of(&ConnectionSummary { has_shown_rate, ..known }).unwrap();
            (report.window, report.rate)
        };
        assert_eq!(told(true), (25_000, 8_000_000));
        assert_eq!(told(false), (25_000, 0));
    }

    #[test]
    fn no_address_of_a_host_leaves() {
        assert_eq!(reported_network("192.0.2.7/32".parse().unwrap()).to_string(), "192.0.2.0/24");
        assert_eq!(reported_network("10.0.0.0/8".parse().unwrap()).to_string(), "10.0.0.0/8");
        assert_eq!(
            reported_network("2001:db8:1:2::3/128".parse().unwrap()).to_string(),
            "2001:db8:1::/48"
        );
    }
}
