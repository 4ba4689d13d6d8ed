//! The survey of senders: the profile that servers run explains their packets best.

mod common;

use common::{Exchange, Pipe, run};
use tcp::Scheme;
use trace::{EngineConfig, ProfileSurvey, SenderProfile};
use units::{Duration, Instant};

/// The profile that a survey of 20 connections takes.
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
    for (misfit, candidate) in hosts[0].misfits.iter().zip(SenderProfile::ALL) {
        println!("{profile}: {candidate} {misfit:?}");
    }
    hosts[0].profile
}

#[test]
fn servers_are_found_to_run_what_they_run() {
    for profile in SenderProfile::ALL {
        assert_eq!(surveyed(profile), profile);
    }
}
