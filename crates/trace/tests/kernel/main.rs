//! The engine compared with the Linux kernel. A server sends files through a lossy bottleneck, and
//! the kernel counts. The engine sees only the capture at the server's end of the link. The test
//! needs root and TUN devices; it reports a skip and passes without them.

#[path = "../trace/common/mod.rs"]
mod common;
mod transfers;

use capture::{CaptureFiles, SegmentSource};
use common::collect::Collected;
use std::collections::BTreeMap;
use std::path::Path;
use test_support::{Need, retry_on_any_stall};
use trace::{EngineConfig, ProfileSurvey, SenderProfile, SenderSnapshot, TraceEngine};
use transfers::{KernelCounts, Served};
use units::Instant;

/// Analyses a capture, and finds the servers' TCP itself.
fn analysed(capture: &Path) -> (Collected, SenderProfile) {
    let mut source = CaptureFiles::new([capture]);
    let (mut batch, mut segments) = (Vec::new(), Vec::new());
    while source.next_batch(&mut batch).expect("a whole capture") {
        segments.extend_from_slice(&batch);
    }
    let ProfileSurvey { hosts, models } = ProfileSurvey::of(&EngineConfig::default(), &segments, 2);
    let config = EngineConfig { models, ..EngineConfig::default() };
    let mut engine = TraceEngine::new(config, Collected::default());
    segments.iter().for_each(|segment| engine.on_segment(segment));
    (engine.finish_all().0, hosts[0].profile)
}

/// Distance between the engine's and the kernel's values, over all samples of all connections.
#[derive(Default)]
struct Distance {
    /// Differences of the windows, segments.
    windows: Vec<f64>,
    /// Relative differences of the smoothed round trips.
    round_trips: Vec<f64>,
    /// Number of retransmissions that the engine found, and the kernel's.
    again: (u64, u64),
    /// Number of connections for which both numbers are equal.
    same: usize,
    unforeseen: u64,
}

fn median(of: &mut [f64]) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}

/// Returns the window after the last ACK before `at`.
fn last_before(windows: &[SenderSnapshot], at: Instant) -> Option<&SenderSnapshot> {
    windows.partition_point(|point| point.at <= at).checked_sub(1).map(|index| &windows[index])
}

impl Distance {
    fn add(&mut self, windows: &[SenderSnapshot], samples: &[KernelCounts]) {
        for sample in samples {
            // The estimate of the handshake alone depends on the kernel's clock, not on data.
            let Some(point) = last_before(windows, sample.at).filter(|point| point.una > 1) else {
                continue;
            };
            let segments = point.cwnd as f64 / sample.mss as f64;
            self.windows.push((segments - sample.cwnd as f64).abs());
            let rtt = point.srtt.as_micros() as f64;
            self.round_trips.push((rtt / sample.srtt_us as f64 - 1.0).abs());
        }
    }

    fn of(found: &Collected, served: &[Served]) -> Self {
        let mut by_port: BTreeMap<u16, Vec<SenderSnapshot>> = BTreeMap::new();
        for (sender, point) in found.windows.iter().filter(|(sender, _)| sender.is_server) {
            by_port.entry(sender.client.port).or_default().push(*point);
        }
        let mut distance = Self::default();
        for Served { port, samples } in served {
            distance.add(&by_port[port], samples);
            let of_port = found.connections.iter().find(|summary| summary.client.port == *port);
            let counters = of_port.expect("every connection is in the capture").server_sent;
            // The kernel also counts SYN-ACKs and FINs.
            let ours = counters.retransmission_count() + counters.control_again;
            let last = samples.last().expect("at least one sample");
            let theirs = u64::from(last.total_retrans);
            distance.again.0 += ours;
            distance.again.1 += theirs;
            distance.same += usize::from(ours == theirs);
            distance.unforeseen += counters.unexpected.iter().sum::<u64>();
        }
        distance
    }
}

/// Requires retransmissions within 1 %, and as medians smoothed round trips within 2 % and windows
/// within 2 segments.
fn check(control: &str, profile: SenderProfile) {
    let needs = [Need::Namespaces, Need::Tun, Need::CongestionControl(control)];
    if !test_support::has(&needs) {
        return;
    }
    retry_on_any_stall(|| {
        let folder = std::env::temp_dir().join(format!("trace-{control}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for the capture");
        let capture = folder.join("host.pcap");
        let served = transfers::serve(control, &capture).unwrap_or_else(|error| panic!("{error}"));
        let (found, surveyed) = analysed(&capture);
        std::fs::remove_dir_all(&folder).expect("the capture goes");
        let mut distance = Distance::of(&found, &served);
        let (window, srtt) = (median(&mut distance.windows), median(&mut distance.round_trips));
        let within_two = distance.windows.iter().filter(|apart| **apart <= 2.0).count();
        let Distance { windows, again: (ours, theirs), same, unforeseen, .. } = distance;
        println!(
            "{control}: retransmissions {ours}, kernel {theirs}; {same} of {} connections the same; {unforeseen} \
             unforeseen; cwnd apart {window:.2} in median, {within_two} of {} within 2; srtt apart {:.2} %",
            served.len(),
            windows.len(),
            srtt * 100.0
        );
        assert_eq!(surveyed, profile, "found from the packets");
        assert!(theirs >= 60 && windows.len() >= 500, "too little to judge by");
        assert!(ours.abs_diff(theirs) * 100 <= theirs, "{ours} retransmissions, kernel {theirs}");
        assert!(srtt <= 0.02, "srtt apart by {srtt} in median");
        assert!(window <= 2.0, "windows apart by {window} segments in median");
    });
}

#[test]
fn cubic_is_rebuilt_as_the_kernel_runs_it() {
    check("cubic", SenderProfile::Linux);
}

#[test]
fn bbr_is_rebuilt_as_the_kernel_runs_it() {
    check("bbr", SenderProfile::Bbr);
}
