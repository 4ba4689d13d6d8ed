//! No memory, whatever its answers are and whenever it is asked, gives a first window above the cap
//! or below the cold one.

use memory::{
    CacheConfig, Cold, Gateway, GatewayConfig, GatewayReport, HalfLife, HostCache, PathMemory,
    PathState, Remembered, ReuseGate, Sample,
};
use proptest::prelude::*;
use std::net::IpAddr;
use units::{Duration, Instant};

const COLD: Cold = Cold { window: 14_600, mss: 1460 };

fn remote(low: u8) -> IpAddr {
    IpAddr::from([192, 0, 2, low])
}

fn believable() -> Remembered {
    Remembered {
        cwnd: 50_000,
        ssthresh: Some(25_000),
        srtt: Duration::from_millis(80),
        rttvar: Duration::from_millis(5),
        age: Duration::from_secs(60),
        ..Remembered::default()
    }
}

#[test]
fn a_believable_memory_passes_as_it_is() {
    assert_eq!(ReuseGate::default().admit(&believable(), &COLD), Some(believable()));
}

#[test]
fn absurd_memories_are_refused_or_bounded() {
    let gate = ReuseGate::default();
    let admitted = |change: fn(&mut Remembered)| {
        let mut remembered = believable();
        change(&mut remembered);
        gate.admit(&remembered, &COLD)
    };
    // No pacing divides by a round trip of zero, and nothing on Earth takes a minute.
    assert_eq!(admitted(|r| r.srtt = Duration::ZERO), None);
    assert_eq!(admitted(|r| r.srtt = Duration::from_secs(61)), None);
    assert_eq!(admitted(|r| r.age = Duration::from_secs(601)), None);
    // 10^9 segments of 1460 bytes end at the cap of 4 MiB, a window of nothing at the cold one.
    assert_eq!(admitted(|r| r.cwnd = 1_460_000_000_000).unwrap().cwnd, 4_194_304);
    assert_eq!(admitted(|r| r.cwnd = 0).unwrap().cwnd, 14_600);
    assert_eq!(admitted(|r| r.ssthresh = Some(0)).unwrap().ssthresh, Some(2920));
    assert_eq!(admitted(|r| r.share = Some(u64::MAX)).unwrap().share, Some(4_194_304));
    assert_eq!(admitted(|r| r.share = Some(0)).unwrap().share, Some(1460));
}

/// Numbers of every size: uniform ones are nearly all enormous.
fn any_size() -> impl Strategy<Value = u64> {
    (0..64_u32, any::<u64>()).prop_map(|(shift, bits)| bits >> shift)
}

fn sample() -> impl Strategy<Value = Sample> {
    let report = (any_size(), prop::option::of(any_size())).prop_map(|(share, rtt)| {
        Sample::Report(GatewayReport { share, rtt: rtt.map(Duration::from_nanos) })
    });
    let ended = (any_size(), prop::option::of(any_size()), any_size(), any_size(), any_size());
    let ended = ended.prop_map(|(cwnd, ssthresh, srtt, rttvar, mss)| {
        let (srtt, rttvar) = (Duration::from_nanos(srtt), Duration::from_nanos(rttvar));
        Sample::Ended(PathState { cwnd, ssthresh, srtt, rttvar, mss, ..PathState::default() })
    });
    prop_oneof![report, ended]
}

/// At an instant a destination is asked for; if there is a sample, it is recorded before.
#[derive(Clone, Debug)]
struct Step {
    nanos: u64,
    low: u8,
    sample: Option<Sample>,
}

fn step() -> impl Strategy<Value = Step> {
    (any_size(), 0..4_u8, prop::option::of(sample())).prop_map(|(nanos, low, sample)| Step {
        nanos,
        low,
        sample,
    })
}

/// Asks and records at instants that jump about, and checks the start of a sender.
fn keeps_the_bounds(
    memory: &mut dyn PathMemory,
    steps: &[Step],
    gate: &ReuseGate,
    cold: &Cold,
) -> Result<(), TestCaseError> {
    for Step { nanos, low, sample } in steps {
        let now = Instant::from_nanos(*nanos);
        if let Some(sample) = sample {
            memory.record(now, remote(*low), sample);
        }
        let recalled = memory.recall(now, remote(*low));
        let admitted = recalled.and_then(|remembered| gate.admit(&remembered, cold));
        let first = admitted.map_or(cold.window, |remembered| remembered.cwnd);
        prop_assert!(first >= cold.window);
        prop_assert!(first <= gate.cap.max(cold.window));
        if let Some(Remembered { share, srtt, age, .. }) = admitted {
            prop_assert!(share.is_none_or(|share| share <= gate.cap.max(cold.mss)));
            prop_assert!(!srtt.is_zero());
            prop_assert!(age <= gate.max_age);
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn every_memory_keeps_the_bounds_through_the_gate(
        steps in prop::collection::vec(step(), 1..60),
        (cap, max_age) in (any_size(), any_size()),
        (window, mss) in (any_size(), 1..65_536_u64),
        (n, enough, decay) in (any_size(), 0..5_usize, prop::option::of(any_size())),
    ) {
        let gate = ReuseGate { cap, max_age: Duration::from_nanos(max_age) };
        let cold = Cold { window, mss };
        let half_life = HalfLife::RoundTrips(n);
        let mut cache = HostCache::new(CacheConfig { half_life, ..CacheConfig::default() });
        keeps_the_bounds(&mut cache, &steps, &gate, &cold)?;
        let decay = decay.map(Duration::from_nanos);
        let mut gateway = Gateway::new(GatewayConfig { enough, decay, ..GatewayConfig::default() });
        keeps_the_bounds(&mut gateway, &steps, &gate, &cold)?;
    }

    #[test]
    fn anything_at_all_keeps_the_bounds(
        cwnd: u64, ssthresh: Option<u64>, srtt: u64, rttvar: u64, age: u64, share: Option<u64>,
        cap: u64, window: u64,
    ) {
        let [srtt, rttvar, age] = [srtt, rttvar, age].map(Duration::from_nanos);
        let remembered =
            Remembered { cwnd, ssthresh, srtt, rttvar, age, share, ..Remembered::default() };
        let gate = ReuseGate { cap, ..ReuseGate::default() };
        if let Some(admitted) = gate.admit(&remembered, &Cold { window, mss: 1460 }) {
            prop_assert!(admitted.cwnd >= window && admitted.cwnd <= cap.max(window));
        }
    }
}
