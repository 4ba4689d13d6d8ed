//! Processing delay: within its bounds, in order, on one host and not on another.

use link::{LinkConfig, QueueLimit};
use netsim::{
    AppId, Body, Cbr, CbrSpec, Dumbbell, Duplex, ProcessingDelay, Simulation, SimulationConfig,
    Step, StepRecord, StepRecorder,
};
use units::{Duration, Instant, Rate};

const LONGEST: Duration = Duration::from_millis(1);
const COUNT: u64 = 5000;

fn bell() -> Dumbbell {
    let wire = |mbit| {
        LinkConfig::new(Rate::from_mbps(mbit), Duration::from_millis(1), QueueLimit::Unlimited)
            .unwrap()
    };
    Dumbbell::new(2, wire(1000), Duplex::symmetric(wire(1000)))
}

fn source(sim: &mut Simulation, bell: &Dumbbell, pair: usize, interval: Duration) -> AppId {
    let spec = CbrSpec {
        from: bell.sources[pair],
        to: bell.sinks[pair],
        wire_bytes: 100,
        interval,
        count: Some(COUNT),
    };
    sim.add(Instant::ZERO, Cbr::new(spec))
}

/// Returns when the packets of a pair entered its first link; asserts the order in which they were
/// sent.
fn entered(bell: &Dumbbell, pair: usize, interval: Duration, seed: u64) -> Vec<Instant> {
    let config = SimulationConfig { seed, ..Default::default() };
    let mut sim = Simulation::new(bell.topology.clone(), config);
    sim.observe(StepRecorder::of([bell.first_links[pair]]));
    let ids = [0, 1].map(|pair| source(&mut sim, bell, pair, interval));
    let end = sim.run(Instant::from_nanos(1 << 60)).unwrap();
    sim.run_until(end + Duration::from_secs(1)).unwrap();
    for id in ids {
        assert_eq!(sim.application::<Cbr>(id).unwrap().received(), COUNT, "none is lost");
    }
    let records = sim.observer::<StepRecorder>().unwrap().records().iter();
    let enters = records.filter(|record| matches!(record.step, Step::Enter { .. }));
    let enter = |(n, record): (usize, &StepRecord)| {
        let Body::Datagram(datagram) = record.packet.body else { panic!() };
        assert_eq!(datagram.tag, n as u64);
        record.at
    };
    enters.enumerate().map(enter).collect()
}

/// Returns each packet's delay for a pair, nanoseconds, when the one before it was long gone.
fn delays(bell: &Dumbbell, pair: usize, seed: u64) -> Vec<u64> {
    let at = entered(bell, pair, Duration::from_millis(10), seed);
    at.iter().enumerate().map(|(n, at)| at.as_nanos() - 10_000_000 * n as u64).collect()
}

#[test]
fn delays_are_uniform_and_drawn_per_host() {
    let mut bell = bell();
    bell.topology.set_processing(bell.sources[0], LONGEST);
    let delay = |pair, seed| delays(&bell, pair, seed);
    let delays = delay(0, 1);
    assert!(delays.iter().all(|delay| *delay <= LONGEST.as_nanos()));
    // The mean is 0.5 ms; a draw deviates by 1 ms / sqrt(12) = 0.289 ms, and 5000 of them by 4.1
    // us: the tolerance is five of these.
    let mean = delays.iter().sum::<u64>() / COUNT;
    assert!(mean.abs_diff(500_000) < 5 * 4_100, "{mean}");
    assert_ne!(delays, delay(0, 2), "another seed");
    assert!(delay(1, 1).iter().all(|delay| *delay == 0), "a host that has none");
}

#[test]
fn delays_fill_what_is_between_their_bounds() {
    let (least, most) = (Duration::from_micros(100), Duration::from_micros(200));
    let mut bell = bell();
    bell.topology.set_processing_delay(
        bell.sources[0],
        ProcessingDelay { least, most, ..ProcessingDelay::NONE },
    );
    let drawn = delays(&bell, 0, 1);
    let (shortest, longest) = (*drawn.iter().min().unwrap(), *drawn.iter().max().unwrap());
    // The probability that none of 5000 draws is within a hundredth of the range from one end is
    // 0.99^5000 < 10^-21.
    assert!((100_000..=101_000).contains(&shortest), "{shortest}");
    assert!((199_000..=200_000).contains(&longest), "{longest}");
    assert_eq!(drawn, delays(&bell, 0, 1), "the same seed");
    assert_ne!(drawn, delays(&bell, 0, 2), "another seed");
}

/// Without a range all delays are the same, though the upper bound is below the lower.
#[test]
fn bounds_that_leave_no_choice_delay_all_alike() {
    let mut bell = bell();
    let delay = ProcessingDelay { least: LONGEST, ..ProcessingDelay::NONE };
    bell.topology.set_processing_delay(bell.sources[0], delay);
    assert!(delays(&bell, 0, 1).iter().all(|delay| *delay == LONGEST.as_nanos()));
}

/// Ten packets are sent in the longest delay of one: each leaves after its own delay or with the
/// one before it.
#[test]
fn order_is_kept() {
    let mut bell = bell();
    bell.topology.set_processing(bell.sources[0], LONGEST);
    let interval = Duration::from_micros(100);
    let at = entered(&bell, 0, interval, 1);
    assert_eq!(at.len(), COUNT as usize);
    for (n, pair) in at.windows(2).enumerate() {
        assert!(pair[0] <= pair[1], "{n}");
        let sent = Instant::ZERO + interval * (n as u64 + 1);
        assert!(pair[1] >= sent && pair[1] <= sent + LONGEST, "{n}: {}", pair[1]);
    }
}
