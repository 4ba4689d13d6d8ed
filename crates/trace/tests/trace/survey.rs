//! The survey of senders: the profile that servers run explains their packets best.

use crate::common::{Exchange, Pipe, run};
use capture::{CaptureFiles, SegmentSource};
use std::path::Path;
use tcp::Scheme;
use trace::{EngineConfig, ProfileSurvey, SenderProfile};
use units::{Duration, Instant};

/// Returns the profile that a survey of 20 connections finds.
fn surveyed(profile: SenderProfile) -> SenderProfile {
    let scheme = Scheme::parse(profile.scheme()).unwrap().without_nagle();
    let mut segments = Vec::new();
    for n in 0..20_u16 {
        let scenario = run(&Exchange {
            server: &scheme,
            client: &scheme,
            pipe: Pipe::new(20, 20, 40, 10),
            sizes: &[30_000, 300_000, 80_000],
            think: Duration::from_millis(40),
            seed: n.into(),
            port: 40_000 + n,
            begin: Instant::ZERO + Duration::from_secs(100 * (1 + u64::from(n))),
        });
        segments.extend(scenario.segments);
    }
    let ProfileSurvey { hosts, .. } = ProfileSurvey::of(&EngineConfig::default(), &segments, 1);
    let beside = ProfileSurvey::of(&EngineConfig::default(), &segments, 2);
    assert_eq!(beside.hosts, hosts, "threads change nothing");
    for (fit_error, candidate) in hosts[0].fit_errors.iter().zip(SenderProfile::ALL) {
        println!("{profile}: {candidate} {fit_error:?}");
    }
    hosts[0].profile
}

#[test]
fn servers_are_found_to_run_what_they_run() {
    for profile in SenderProfile::ALL {
        assert_eq!(surveyed(profile), profile);
    }
}

/// Returns the profile that a survey finds for the server in a capture of the Linux kernel.
fn surveyed_in(name: &str) -> SenderProfile {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures").join(name);
    let (mut source, mut batch, mut segments) = (CaptureFiles::new([file]), Vec::new(), Vec::new());
    while source.next_batch(&mut batch).expect("a whole capture") {
        segments.extend_from_slice(&batch);
    }
    ProfileSurvey::of(&EngineConfig::default(), &segments, 1).hosts[0].profile
}

/// Four connections share a queue of 40 packets, and lose every eighth packet under BBR. Packets
/// that the kernel sends as one batch have different times in the capture, a microsecond apart.
#[test]
fn the_kernel_is_told_from_itself_where_much_is_lost() {
    assert_eq!(surveyed_in("bbr-parallel.pcap.zst"), SenderProfile::Bbr);
    assert_eq!(surveyed_in("cubic-parallel.pcap.zst"), SenderProfile::Linux);
}
