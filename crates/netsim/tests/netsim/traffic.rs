//! Traffic with random numbers: telnet, ON/OFF sources, rounds. Packets follow the distributions,
//! and no component's draws depend on another's presence.

use link::{LinkConfig, QueueLimit};
use netsim::{
    Dumbbell, Duplex, LinkId, Observer, OnOff, OnOffSpec, RoundPair, Rounds, RoundsSpec, SimPacket,
    Simulation, SimulationConfig, Step, Telnet, TelnetSpec,
};
use tcp::Scheme;
use units::{Duration, Instant, Rate};
use workload::Distribution;

fn at_s(s: u64) -> Instant {
    Instant::from_nanos(s * 1_000_000_000)
}

fn bell(pairs: usize, queue: QueueLimit) -> Dumbbell {
    let wire = |bps, ms, queue| {
        LinkConfig::new(Rate::from_bps(bps), Duration::from_millis(ms), queue).unwrap()
    };
    let side = wire(10_000_000, 1, QueueLimit::Unlimited);
    Dumbbell::new(pairs, side, Duplex::symmetric(wire(1_600_000, 50, queue)))
}

fn simulation(bell: &Dumbbell) -> Simulation {
    Simulation::new(bell.topology.clone(), SimulationConfig { seed: 4, ..Default::default() })
}

fn scheme(text: &str) -> Scheme {
    Scheme::parse(text).unwrap()
}

fn fixed(value: f64) -> Distribution {
    Distribution::fixed(value).unwrap()
}

/// Times at which packets of `bytes` or more from the chosen pair entered its first link.
struct Sent {
    link: LinkId,
    bytes: u32,
    at: Vec<Instant>,
}

impl Sent {
    fn of(bell: &Dumbbell, pair: usize, bytes: u32) -> Self {
        Self { link: bell.first_links[pair], bytes, at: Vec::new() }
    }
}

impl Observer for Sent {
    fn on_packet(&mut self, at: Instant, link: LinkId, step: Step, packet: &SimPacket) {
        let enters = matches!(step, Step::Enter { .. });
        if link == self.link && enters && packet.wire_bytes >= self.bytes {
            self.at.push(at);
        }
    }
}

fn telnet(bell: &Dumbbell, pair: usize, name: &str) -> TelnetSpec {
    TelnetSpec {
        name: name.into(),
        from: bell.sources[pair],
        to: bell.sinks[pair],
        gaps: Distribution::telnet(),
        bytes: 100,
        count: None,
        scheme: scheme("newreno").without_nagle(),
        receiver: scheme("newreno"),
    }
}

fn on_off(bell: &Dumbbell, pair: usize, name: &str) -> OnOffSpec {
    OnOffSpec {
        name: name.into(),
        from: bell.sources[pair],
        to: bell.sinks[pair],
        wire_bytes: 210,
        rate: Rate::from_bps(12_000),
        on: Distribution::exponential(1.0).unwrap(),
        off: Distribution::exponential(2.0).unwrap(),
    }
}

fn rounds(bell: &Dumbbell, name: &str, pairs: std::ops::Range<usize>, text: &str) -> RoundsSpec {
    let pair = |n: usize| RoundPair {
        from: bell.sources[n],
        to: bell.sinks[n],
        scheme: scheme(text),
        receiver: scheme(text),
    };
    RoundsSpec {
        first_start: None,
        every: Duration::ZERO,
        name: name.into(),
        pairs: pairs.map(pair).collect(),
        rounds: 4,
        bytes: fixed(30_000.0),
        start: Distribution::uniform(0.0, 2.0).unwrap(),
        idle: Duration::from_secs(5),
    }
}

#[test]
fn telnet_sends_messages_with_the_gaps_it_draws() {
    let bell = bell(1, QueueLimit::Unlimited);
    let mut sim = simulation(&bell);
    sim.observe(Sent::of(&bell, 0, 100));
    let spec = TelnetSpec { count: Some(50), gaps: fixed(0.25), ..telnet(&bell, 0, "t") };
    let id = sim.add(at_s(3), Telnet::new(spec));
    sim.run(at_s(100)).unwrap();
    let session = sim.application::<Telnet>(id).unwrap();
    let [flow] = session.flows() else { panic!() };
    assert_eq!((session.sent(), flow.bytes, flow.is_over()), (50, 5000, true));
    // The first message opens the connection, 250 ms after the start. A handshake takes longer than
    // the 104 ms of delay and less than the gap, so every later message is sent when it is written.
    let sent = &sim.observer::<Sent>().unwrap().at;
    assert_eq!(flow.started_at, at_s(3) + Duration::from_millis(250));
    assert_eq!(sent.len(), 50);
    for (n, at) in sent.iter().enumerate().skip(1) {
        assert_eq!(*at, at_s(3) + Duration::from_millis(250) * (n as u64 + 1));
    }
    // SYN and 50 messages, no retransmissions.
    assert_eq!((flow.segments_sent, flow.segments_retransmitted), (51, 0));
}

#[test]
fn a_telnet_session_has_the_rate_of_its_gaps() {
    let bell = bell(1, QueueLimit::Unlimited);
    let mut sim = simulation(&bell);
    let id = sim.add_background(at_s(0), Telnet::new(telnet(&bell, 0, "t")));
    sim.run_until(at_s(100_000)).unwrap();
    // Gaps are 1.1 s each on average, with a deviation below 17 s. So 90,909 of them take 100,000 s
    // give or take 17 * sqrt(90,909) = 5,100 s: the bound is three of these.
    let sent = sim.application::<Telnet>(id).unwrap().sent();
    assert!((77_000..=105_000).contains(&sent), "{sent}");
}

#[test]
fn bursts_have_the_rate_silences_none() {
    let bell = bell(1, QueueLimit::Unlimited);
    let mut sim = simulation(&bell);
    sim.observe(Sent::of(&bell, 0, 210));
    let spec = OnOffSpec { on: fixed(0.75), off: fixed(2.0), ..on_off(&bell, 0, "u") };
    let id = sim.add_background(at_s(1), OnOff::new(spec));
    sim.run_until(at_s(59)).unwrap();
    // 210 bytes at 12 kbit/s take 140 ms. 0.75 s are 5.36 of them, so 5. That makes 700 ms of
    // burst, 2 s of silence, and a silence first.
    let sent = &sim.observer::<Sent>().unwrap().at;
    for (n, at) in sent.iter().enumerate() {
        let (burst, packet) = (n as u64 / 5, n as u64 % 5);
        let expected = Duration::from_millis(3000 + 2700 * burst + 140 * packet);
        assert_eq!(*at, Instant::ZERO + expected);
    }
    let source = sim.application::<OnOff>(id).unwrap();
    assert_eq!((source.sent(), source.received()), (sent.len() as u64, sent.len() as u64));
    assert!(sent.len() > 100);
}

/// The mean ON time is 1 s of a mean cycle of 3 s, at 12 kbit/s: 4 kbit/s, 2.38 datagrams of 210
/// bytes a second. A burst is at least one datagram. With an exponential mean of 7.14 that adds the
/// chance 0.0676 of rounding to none, 0.95 %.
#[test]
fn an_on_off_source_has_its_mean_rate() {
    let bell = bell(1, QueueLimit::Unlimited);
    let mut sim = simulation(&bell);
    let id = sim.add_background(at_s(0), OnOff::new(on_off(&bell, 0, "u")));
    sim.run_until(at_s(100_000)).unwrap();
    let rate = sim.application::<OnOff>(id).unwrap().sent() as f64 / 100_000.0;
    // The deviation is 1 %: 33,000 cycles, each of burst and silence about as variable as their
    // means.
    assert!((rate / 2.38 - 1.01).abs() < 0.03, "{rate}");
}

#[test]
fn rounds_transfer_rest_and_use_their_connections_again() {
    let bell = bell(3, QueueLimit::Unlimited);
    let mut sim = simulation(&bell);
    let spec = RoundsSpec { start: fixed(0.5), ..rounds(&bell, "r", 0..3, "newreno-nssr") };
    let id = sim.add(at_s(1), Rounds::new(spec));
    sim.run(at_s(1000)).unwrap();
    let flows = sim.application::<Rounds>(id).unwrap().flows();
    assert_eq!(flows.len(), 3 * 4);
    assert!(flows.iter().all(|flow| flow.is_over() && !flow.reset && flow.bytes == 30_000));
    let mut starts_at = at_s(1) + Duration::from_millis(500);
    for round in flows.chunks(3) {
        assert!(round.iter().all(|flow| flow.started_at == starts_at), "{round:?}");
        let end = round.iter().filter_map(|flow| flow.received_at.max(flow.acked_at)).max();
        starts_at = end.unwrap() + Duration::from_millis(5500);
    }
    // The connection is used again unchanged: the first round takes a handshake more, 104 ms of
    // delay.
    let time = |n: usize| flows[n].time_to_ack().unwrap();
    assert!(time(0) > time(9) + Duration::from_millis(104), "{:?} {:?}", time(0), time(9));
    for host in bell.sources.iter().chain(&bell.sinks) {
        assert_eq!(sim.host(*host).connection_count(), 1);
    }
    // Counters are of one transfer: 21 segments of 1460 bytes; the first has a SYN as well.
    assert!(flows[..3].iter().all(|flow| flow.segments_sent == 22));
    assert!(flows[3..].iter().all(|flow| flow.segments_sent == 21));
}

#[test]
fn a_reset_connection_is_opened_again_in_the_next_round() {
    // Nothing is delivered for an hour and a half of retries: every transfer is given up.
    let wire = LinkConfig::new(Rate::from_mbps(1), Duration::ZERO, QueueLimit::Unlimited).unwrap();
    let bell =
        Dumbbell::new(1, wire.clone(), Duplex::symmetric(wire.with_loss(0.999_999).unwrap()));
    let mut sim = simulation(&bell);
    let spec = RoundsSpec { rounds: 2, ..rounds(&bell, "r", 0..1, "newreno") };
    let id = sim.add(at_s(0), Rounds::new(spec));
    sim.run(at_s(10_000)).unwrap();
    let flows = sim.application::<Rounds>(id).unwrap().flows();
    assert!(flows.len() == 2 && flows.iter().all(|flow| flow.reset && flow.timeouts > 0));
}

/// Send times show a component's draws, with and without other components.
#[test]
fn adding_a_component_shifts_no_other() {
    let starts = |extra: bool, text: &str| {
        let bell = bell(4, QueueLimit::Packets(10));
        let mut sim = simulation(&bell);
        let pairs = if extra { 0..3 } else { 0..2 };
        if extra {
            sim.add_background(at_s(0), Telnet::new(telnet(&bell, 3, "another")));
            sim.add_background(at_s(0), OnOff::new(on_off(&bell, 3, "a third")));
        }
        let source = sim.add_background(at_s(0), OnOff::new(on_off(&bell, 0, "source")));
        let spec = rounds(&bell, "rounds", pairs, text);
        // There is one round only: the start of the next would depend on the end of this one.
        let id = sim.add(at_s(0), Rounds::new(RoundsSpec { rounds: 1, ..spec }));
        sim.run(at_s(1000)).unwrap();
        sim.run_until(at_s(100)).unwrap();
        let flows = sim.application::<Rounds>(id).unwrap().flows();
        let starts: Vec<_> = flows.iter().take(2).map(|flow| flow.started_at).collect();
        (starts, sim.application::<OnOff>(source).unwrap().sent())
    };
    let alone = starts(false, "newreno");
    assert_ne!(alone.0[0], alone.0[1]);
    assert_eq!(alone, starts(true, "newreno"), "with more components");
    assert_eq!(alone, starts(false, "reno"), "under another scheme");
}
