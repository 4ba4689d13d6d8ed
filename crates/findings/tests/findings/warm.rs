//! The transfer of a connection that a warm start could help, in captures written packet by packet.

use findings::{FindingsSink, WarmFindings};
use trace::testing::wire::CapturedWire;
use trace::{EngineConfig, SenderModel, SenderModels, TraceEngine};

fn warm(wire: &CapturedWire) -> WarmFindings {
    let models = SenderModels::all(SenderModel::of_scheme("linux").unwrap());
    let config = EngineConfig { models, ..EngineConfig::default() };
    let mut engine = TraceEngine::new(config, FindingsSink::default());
    wire.segments.iter().for_each(|segment| engine.on_segment(segment));
    engine.finish_all().0.finish().warm
}

/// The server answers: from segment `first` on it sends as many as its first window holds, ten, and
/// then two for each ACK, in all thirty. Round trips take 100 ms.
fn answer(wire: &mut CapturedWire, ms: u64, first: u32) {
    wire.send(ms, first..first + 10);
    for n in 0..10 {
        wire.ack(ms + 100 + u64::from(n), first + n + 1);
        wire.send(ms + 100 + u64::from(n), [first + 10 + 2 * n, first + 11 + 2 * n]);
    }
    wire.ack(ms + 210, first + 30);
}

/// Opens a connection of another port at `ms`, with a request 110 ms later.
fn connect(wire: &mut CapturedWire, ms: u64) {
    wire.port += 1;
    wire.open(ms, true);
    wire.ask(ms + 110, 0, 300, 0);
}

/// With TLS the first transfer is the handshake's three segments. A larger window helps the next
/// one: its host had 30 segments five seconds before.
#[test]
fn behind_a_tls_handshake_the_first_response_counts() {
    let mut wire = CapturedWire::new();
    connect(&mut wire, 0);
    answer(&mut wire, 110, 0);
    connect(&mut wire, 5_000);
    wire.send(5_110, 0..3);
    wire.ask(5_210, 300, 300, 3);
    answer(&mut wire, 5_210, 3);
    let found = warm(&wire);
    assert_eq!((found.first_transfers, found.fit_first_window), (2, 0));
    assert_eq!((found.host_knew_more, found.network_knew_more), (1, 0));
    // 30 segments take two rounds of windows from ten on, 10 and 20. With a window of 30 they take
    // one. The difference is a round trip of 100 ms, as far as slow start took it.
    assert!(found.sparable_s > 0.05 && found.sparable_s <= 0.1, "{found:?}");
}

/// A connection whose transfers are all small counts once, with the first of them.
#[test]
fn a_connection_of_small_transfers_cannot_gain() {
    let mut wire = CapturedWire::new();
    connect(&mut wire, 0);
    wire.send(110, 0..3);
    wire.ask(210, 300, 300, 3);
    wire.send(210, 3..5);
    wire.ack(310, 5);
    let found = warm(&wire);
    assert_eq!((found.first_transfers, found.fit_first_window), (1, 1));
    // The time is from the SYN until the request at 210 ms acknowledges the first response.
    assert!((found.seconds - 0.21).abs() < 1e-9, "{found:?}");
}

/// If a capture begins in the middle of a connection, its window comes from earlier transfers.
#[test]
fn a_connection_met_in_its_midst_has_no_first_transfer() {
    let mut wire = CapturedWire::new();
    wire.ask(0, 0, 300, 0);
    answer(&mut wire, 0, 0);
    assert_eq!(warm(&wire).first_transfers, 0);
}
