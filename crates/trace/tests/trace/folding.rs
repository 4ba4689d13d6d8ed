//! Folding changes nothing: an engine that folds every connection after each of its packets tells what one tells that
//! never folds, word for word.

use crate::common::told::told;
use crate::common::{Exchange, Pipe, Scenario, run};
use capture::Observed;
use proptest::prelude::*;
use segment::Flags;
use tcp::Scheme;
use trace::testing::segments_of;
use trace::testing::wire::{CLIENT, CapturedWire};
use trace::{EngineConfig, SenderModel, SenderModels, SenderProfile};
use units::{Duration, Instant};

/// Checks that folding everything, or all but two connections, changes nothing, and that all of it could be folded.
fn check(config: &EngineConfig, segments: &[Observed], what: &str) {
    let never = told(&EngineConfig { max_unfolded: usize::MAX, ..config.clone() }, segments);
    for max_unfolded in [0, 2] {
        let folded = told(&EngineConfig { max_unfolded, ..config.clone() }, segments);
        let differs = never.0.iter().zip(&folded.0).find(|(never, folded)| never != folded);
        assert!(differs.is_none(), "{what}, {max_unfolded} unfolded: {differs:#?}");
        assert!(folded.0 == never.0, "{what}");
    }
}

fn scenario(scheme: &Scheme, client: &Scheme, pipe: Pipe, n: u16) -> Scenario {
    run(&Exchange {
        server: scheme,
        client,
        pipe,
        sizes: &[30_000, 120_000, 9_000],
        // Some pause for long enough to be parked.
        think: Duration::from_millis(u64::from(n % 4) * 900),
        seed: n.into(),
        port: 40_000 + n,
        begin: Instant::ZERO + Duration::from_millis(1_000 + u64::from(n) * 20),
    })
}

const PIPES: [Pipe; 4] = [
    Pipe::new(10, 20, 20, 10),
    Pipe::new(50, 5, 1000, 30),
    Pipe::new(5, 40, 1000, 60),
    Pipe::new(2, 100, 10, 0),
];

/// A server of this profile, and its clients over four paths, as seen next to the server, next to the clients, and by ACKs
/// alone.
fn check_profile(profile: SenderProfile, client: &str) {
    let scheme = Scheme::parse(profile.scheme()).expect("profiles are schemes");
    let client = Scheme::parse(client).expect("a scheme");
    let models = SenderModels::all(SenderModel::of(profile));
    let scenarios = (0..8_u16).zip(PIPES.into_iter().cycle());
    let scenarios: Vec<_> =
        scenarios.map(|(n, pipe)| scenario(&scheme, &client, pipe, n)).collect();
    let mut segments: Vec<_> = scenarios.iter().flat_map(|s| s.segments.clone()).collect();
    let mut at_client: Vec<_> = scenarios.iter().flat_map(|s| s.at_client.clone()).collect();
    segments.sort_by_key(|segment| segment.at);
    at_client.sort_by_key(|segment| segment.at);
    assert!(scenarios.iter().map(|s| s.again.len()).sum::<usize>() > 20, "too few losses");
    let observed = EngineConfig { models, ..EngineConfig::default() };
    let acks_only = EngineConfig { acks_only: true, ..observed.clone() };
    check(&observed, &segments, "at the server");
    check(&observed, &at_client, "at the client");
    check(&acks_only, &segments, "by ACKs alone");
}

#[test]
fn reno_folds() {
    check_profile(SenderProfile::Reno, "reno");
}

#[test]
fn newreno_folds() {
    check_profile(SenderProfile::NewReno, "newreno");
}

#[test]
fn linux_folds() {
    check_profile(SenderProfile::Linux, "linux");
}

#[test]
fn linux_without_rack_folds() {
    check_profile(SenderProfile::LinuxSack, "linux");
}

#[test]
fn bbr_folds() {
    check_profile(SenderProfile::Bbr, "linux");
}

/// A client without SACK: NewReno repairs in the place of RACK.
#[test]
fn a_sender_that_does_without_sack_folds() {
    check_profile(SenderProfile::Linux, "newreno");
}

/// The first segment that a server has sent is data, so it counts as the client, and a model is chosen for the other host.
/// Then a SYN comes, and the roles change: the sender keeps its model.
#[test]
fn a_sender_keeps_the_model_that_it_was_made_with() {
    let mut models = SenderModels::all(SenderModel::of(SenderProfile::Linux));
    models.set(CLIENT.into(), SenderModel::of(SenderProfile::Reno));
    let mut wire = CapturedWire::new();
    wire.send(0, 0..1);
    let from_high = wire.segments[0].destination.port;
    wire.segments[0].source.port = from_high + 1;
    wire.segments[0].destination.port = from_high;
    let (source, destination) = (wire.segments[0].source, wire.segments[0].destination);
    let mut segments = wire.segments.clone();
    for ms in 1..40_u64 {
        let mut next = segments[0];
        next.at += Duration::from_millis(ms * 10);
        next.ip_id += ms as u32;
        match ms % 3 {
            0 => {
                (next.source, next.destination) = (destination, source);
                (next.payload, next.flags) = (0, Flags::ACK);
                next.ack = segments[0].seq + 1000 * (ms as u32 / 3);
            }
            _ => next.seq = segments[0].seq + 1000 * (ms as u32 / 2),
        }
        if ms == 20 {
            next = Observed { payload: 0, flags: Flags::SYN.with(Flags::ACK), ..next };
            (next.source, next.destination) = (source, destination);
        }
        segments.push(next);
    }
    check(&EngineConfig { models, ..EngineConfig::default() }, &segments, "roles change");
}

/// Schemes whose senders remember, share a window, or put a start of their own on top of another: they do not fold.
const REFUSE: [&str; 29] = [
    "rbp",
    "rbp-vegas",
    "spand",
    "past",
    "fs",
    "fs-pdrop",
    "fs-pdrop-noflr",
    "session",
    "session-fs",
    "tcp-int",
    "tcp-int-proxy",
    "etcp-fair",
    "etcp-content",
    "etcp-decay",
    "etcp-html-pre",
    "etcp",
    "careful-resume",
    "jump-start",
    "hs-cubic",
    "hs-bbr",
    "hs-session",
    "headstart",
    "linux-session",
    "linux-session-fs",
    "linux-etcp",
    "stateful-tcp",
    "quicly-jump",
    "picoquic-resume",
    "ewma-iw",
];

/// Senders of all schemes fold, or are counted and stay as they are.
#[test]
fn every_scheme_folds_or_says_that_it_does_not() {
    let client = Scheme::parse("linux").expect("a scheme");
    let mut refuse = Vec::new();
    for named in tcp::scheme::catalogue() {
        let scheme = Scheme::parse(named.name).expect("a scheme of the catalogue");
        let scenario = scenario(&scheme, &client, PIPES[1], 1);
        let models = SenderModels::all(SenderModel::of_scheme(named.name).expect("a scheme"));
        let config = EngineConfig { models, max_unfolded: 0, ..EngineConfig::default() };
        check(&config, &scenario.segments, named.name);
        if told(&config, &scenario.segments).1.unfoldable > 0 {
            refuse.push(named.name);
        }
    }
    assert_eq!(refuse, REFUSE);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Whatever passes.
    #[test]
    fn any_capture_folds(bytes in prop::collection::vec(any::<u8>(), 0..4_000), bbr in any::<bool>()) {
        let segments: Vec<_> = segments_of(&bytes).collect();
        let profile = if bbr { SenderProfile::Bbr } else { SenderProfile::Linux };
        let models = SenderModels::all(SenderModel::of(profile));
        for acks_only in [false, true] {
            let models = models.clone();
            let config = EngineConfig { models, acks_only, max_connections: 3, ..EngineConfig::default() };
            check(&config, &segments, "arbitrary bytes");
        }
    }
}
