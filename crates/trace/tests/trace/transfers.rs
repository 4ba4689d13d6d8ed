//! Transfers of simulated connections: their sizes, and the shares of their time.

use crate::common::collect::{collect, found_in};
use crate::common::{Exchange, Pipe, Scenario, run};
use capture::Observed;
use tcp::{Flags, Scheme};
use trace::testing::wire::{CapturedWire, ISN, MSS, ack_of, at};
use trace::{EngineConfig, SenderModel, SenderModels, TimeShare, TransferReport};
use units::{Duration, Instant, SeqNum};

const SIZES: [u64; 4] = [3_000, 200_000, 14_000, 60_000];
const THINK: Duration = Duration::from_millis(120);

fn scenario(scheme: &str, pipe: Pipe, seed: u64) -> Scenario {
    let scheme = Scheme::parse(scheme).unwrap().without_nagle();
    run(&Exchange {
        server: &scheme,
        client: &scheme,
        pipe,
        sizes: &SIZES,
        think: THINK,
        seed,
        port: 40_000,
        begin: Instant::ZERO + Duration::from_secs(10),
    })
}

fn transfers(scheme: &str, scenario: &Scenario, acks_only: bool) -> Vec<TransferReport> {
    let model = SenderModel::of_scheme(scheme).unwrap().without_nagle();
    let (found, _) = collect(
        EngineConfig { models: SenderModels::all(model), acks_only, ..EngineConfig::default() },
        scenario,
    );
    found.transfers.iter().map(|(_, report)| *report).collect()
}

fn transfers_of(wire: &CapturedWire) -> Vec<TransferReport> {
    found_in(&wire.segments).transfers.into_iter().map(|(_, found)| found).collect()
}

/// For any loss rate, shares add up to the duration, and transfers have their sizes and follow each
/// other.
#[test]
fn shares_add_up_to_the_duration() {
    for scheme in ["newreno", "linux"] {
        for (n, loss) in [0, 10, 50, 150].into_iter().enumerate() {
            for seed in 0..20 {
                let pipe = Pipe::new(10, 20, 25, loss);
                let scenario = scenario(scheme, pipe, seed * 10 + n as u64);
                for acks_only in [false, true] {
                    let found = transfers(scheme, &scenario, acks_only);
                    let mut sizes: Vec<_> = found.iter().map(|t| t.bytes).collect();
                    if acks_only && sizes.last() == Some(&(SIZES[3] + 1)) {
                        // The ACK of the last byte was lost. The next one acknowledges the FIN as
                        // well, and an ACK does not distinguish a FIN from data.
                        sizes[3] -= 1;
                    }
                    if scenario.finished {
                        assert_eq!(sizes, SIZES, "{scheme} {loss} {seed} {acks_only}");
                    }
                    for (index, transfer) in found.iter().enumerate() {
                        assert_eq!(transfer.shares.total(), transfer.duration(), "{transfer:?}");
                        assert_eq!(transfer.index as usize, index);
                        // This also holds for a request that is retransmitted because its whole
                        // answer was lost.
                        assert_eq!(transfer.request_bytes, 300, "{transfer:?}");
                    }
                    for pair in found.windows(2) {
                        assert!(pair[0].ended <= pair[1].began, "{pair:?}");
                    }
                }
            }
        }
    }
}

/// A transfer of 14 KB fits into the initial window of ten segments, so it takes only the time of
/// the path. That is a round trip of 40 ms, and ten packets at 10 Mbit/s. The 120 ms between
/// transfers are part of none.
#[test]
fn a_transfer_within_the_first_window_waits_for_the_path_alone() {
    let found = transfers("linux", &scenario("linux", Pipe::new(10, 20, 1000, 0), 1), false);
    let small = found[2];
    assert_eq!(small.bytes, 14_000);
    let path = small.shares.of(TimeShare::Path);
    assert!(path.as_millis() >= 40 && path.as_millis() <= 55, "{path:?}");
    assert!(small.shares.of(TimeShare::Path) * 100 >= small.duration() * 95, "{small:?}");
    // The first transfer begins with the SYN: a round trip of 40 ms is the handshake.
    let handshake = found[0].shares.of(TimeShare::Handshake);
    assert!((40..42).contains(&handshake.as_millis()), "{handshake:?}");
    assert!(found[1..].iter().all(|t| t.shares.of(TimeShare::Handshake).is_zero()));
}

/// 200 KB over 100 Mbit/s and 100 ms are 138 segments, sent in windows of 10, 20, 40 and 80. That
/// takes three round trips more than the path needs, which carries a bandwidth-delay product of 860
/// segments.
#[test]
fn slow_start_is_what_a_long_fat_path_waits_for() {
    let found = transfers("newreno", &scenario("newreno", Pipe::new(100, 50, 2000, 0), 1), false);
    // NewReno's window begins with 3, and its receiver delays every second ACK: it grows by half.
    let large = found[1];
    let slow_start = large.shares.of(TimeShare::SlowStart);
    assert!(slow_start > large.duration() / 2, "{large:?}");
    assert!(large.shares.of(TimeShare::Recovery).is_zero());
    assert!(large.shares.of(TimeShare::Timeout).is_zero());
}

/// With losses of 15 % some transfers wait for the timer, and these count timeouts.
#[test]
fn waiting_for_the_timer_is_counted_where_there_are_timeouts() {
    let mut timeouts = 0;
    for seed in 0..20 {
        let scenario = scenario("newreno", Pipe::new(10, 20, 1000, 150), seed);
        for transfer in transfers("newreno", &scenario, false) {
            let waited = transfer.shares.of(TimeShare::Timeout);
            assert_eq!(transfer.timeouts > 0, !waited.is_zero(), "{transfer:?}");
            // The timer's minimum is a second.
            assert!(waited >= Duration::from_millis(900) * u64::from(transfer.timeouts.min(1)));
            timeouts += transfer.timeouts;
        }
    }
    assert!(timeouts > 20, "{timeouts}");
}

/// The capture is at the client, 100 ms away from its server, which says good-bye after five
/// seconds of silence (TLS does). The ACK of the answer gets to the server 100 ms after the capture
/// saw it and ends the transfer. The silence is part of no transfer.
#[test]
fn silence_after_an_answer_is_no_pause_of_it_at_the_client_either() {
    let mut wire = CapturedWire::new();
    wire.open_at_client(0);
    wire.ask(100, 0, 300, 0);
    wire.send(200, 0..3);
    wire.ack(200, 3);
    let seq = SeqNum(ISN) + 1 + 3 * MSS;
    wire.other(5_300, true, Observed { seq, payload: 24, ..ack_of(301) });
    let found = transfers_of(&wire);
    assert_eq!(found.iter().map(|found| found.bytes).collect::<Vec<_>>(), [3_000, 24]);
    assert!(found[0].is_complete());
    // By the server's times, the SYN and the last ACK are 100 ms later.
    assert_eq!((found[0].began, found[0].ended), (at(100), at(300)));
    assert!(found[0].shares.of(TimeShare::Application).is_zero(), "{found:?}");
}

/// In the response of five segments, the second was lost before the capture, and the third and
/// fourth are swapped. Its bytes count once, also those that the capture shows only as a
/// retransmission.
#[test]
fn bytes_that_were_lost_or_overtaken_before_the_capture_count_once() {
    let mut wire = CapturedWire::new();
    wire.open(0, true);
    wire.ask(110, 0, 300, 0);
    wire.send(110, [0, 3, 2, 4]);
    wire.ack(210, 1);
    for n in 3..=5 {
        wire.sack(208 + u64::from(n), 1, &[(2, n)]);
    }
    wire.send(214, [1]);
    wire.ack(314, 5);
    let found = found_in(&wire.segments);
    assert_eq!(found.transfers.len(), 1);
    assert_eq!(found.transfers[0].1.bytes, 5_000);
    let sent = found.connections[0].server_sent;
    assert_eq!((sent.reordered, sent.retransmission_count()), (1, 1));
}

fn ask_with_room_for_two(wire: &mut CapturedWire) {
    wire.ask(110, 0, 300, 0);
    wire.segments.last_mut().unwrap().window = 2_000;
}

/// The client has room for two segments. At 210 ms it acknowledges them and shuts its window. It
/// opens the window again later, and the server goes on at once.
#[test]
fn a_window_that_is_shut_keeps_the_server_waiting_and_not_the_application() {
    // The second case is so long that the connection is compressed.
    for opens in [1_710, 7_210] {
        let mut wire = CapturedWire::new();
        wire.open(0, true);
        ask_with_room_for_two(&mut wire);
        wire.send(110, 0..2);
        wire.ack(210, 2).window = 0;
        wire.ack(opens, 2);
        wire.send(opens, 2..4);
        wire.ack(opens + 100, 4);
        let found = transfers_of(&wire);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].bytes, found[0].is_complete()), (4_000, true));
        assert_eq!((found[0].began, found[0].ended), (at(0), at(opens + 100)));
        // From 110 ms on the window is full, then shut. The path needs one round trip, the last.
        assert_eq!(found[0].shares.of(TimeShare::ReceiverWindow), at(opens) - at(110));
        assert!(found[0].shares.of(TimeShare::Application).is_zero(), "{found:?}");
    }
}

/// In the first case the window opens, and the application has nothing to send for another second.
/// In the second case a shut window is the last event of a response.
#[test]
fn a_window_that_has_opened_or_that_nobody_waits_for_keeps_nobody() {
    let mut wire = CapturedWire::new();
    wire.open(0, true);
    ask_with_room_for_two(&mut wire);
    wire.send(110, 0..2);
    wire.ack(210, 2).window = 0;
    wire.ack(410, 2);
    wire.send(1_410, 2..4);
    wire.ack(1_510, 4).window = 0;
    wire.ack(1_900, 4);
    wire.ask(2_000, 300, 300, 4);
    wire.send(2_000, 4..5);
    wire.ack(2_100, 5);
    let found = transfers_of(&wire);
    assert_eq!(found.iter().map(|found| found.bytes).collect::<Vec<_>>(), [4_000, 1_000]);
    let of = |share| found[0].shares.of(share).as_millis();
    // The window is full from 110 ms on, shut from 210, open from 410.
    assert_eq!((of(TimeShare::ReceiverWindow), of(TimeShare::Application)), (300, 1_000));
    assert_eq!((found[0].ended, found[1].began), (at(1_510), at(2_000)));
}

/// HTTP/2 begins with small frames. Linux counts segments: six of 50 bytes and four full ones fill
/// a first window of ten, although 5,700 bytes are left of it. Six ACKed segments let twelve go.
#[test]
fn small_segments_fill_a_window_that_counts_segments() {
    let mut wire = CapturedWire::new();
    wire.open(0, true);
    wire.ask(110, 0, 300, 0);
    let send = |wire: &mut CapturedWire, ms, start: u32, payload| {
        let segment = Observed {
            seq: SeqNum(ISN) + 1 + start,
            ack: SeqNum(ISN) + 301,
            payload,
            flags: if payload < MSS { Flags::ACK.with(Flags::PSH) } else { Flags::ACK },
            ..Observed::default()
        };
        wire.other(ms, true, segment);
    };
    (0..6).for_each(|n| send(&mut wire, 110, 50 * n, 50));
    (0..4).for_each(|n| send(&mut wire, 110, 300 + MSS * n, MSS));
    let ack = |upto: u32| Observed { seq: SeqNum(ISN) + 301, ..ack_of(1 + upto) };
    wire.other(210, false, ack(300));
    (4..15).for_each(|n| send(&mut wire, 210, 300 + MSS * n, MSS));
    send(&mut wire, 210, 15_300, 500);
    wire.other(310, false, ack(15_800));
    let found = transfers_of(&wire);
    let of = |share| found[0].shares.of(share).as_millis();
    // The path needs one of the two round trips.
    assert_eq!((of(TimeShare::SlowStart), of(TimeShare::Path)), (100, 100), "{found:?}");
}

/// A mail server greets after five seconds, in which it looks up the client.
#[test]
fn a_server_that_speaks_first_thinks_before_it_does() {
    let mut wire = CapturedWire::new();
    wire.open(0, true);
    wire.send(5_100, 0..1);
    wire.ack(5_200, 1);
    let found = transfers_of(&wire);
    assert_eq!((found.len(), found[0].asked), (1, None));
    let of = |share| found[0].shares.of(share).as_millis();
    assert_eq!((of(TimeShare::Think), of(TimeShare::Request)), (5_000, 0));
}

/// The capture is at the client, 100 ms away from its server. The request at 100 ms is lost. Its
/// client repeats it a second later, and the answer is captured 100 ms after that.
#[test]
fn a_request_that_is_lost_is_no_time_of_the_server() {
    let mut wire = CapturedWire::new();
    wire.open_at_client(0);
    wire.ask(100, 0, 300, 0);
    wire.ask(1_100, 0, 300, 0);
    wire.send(1_200, 0..3);
    wire.ack(1_200, 3);
    let found = transfers_of(&wire);
    let of = |share| found[0].shares.of(share).as_millis();
    assert_eq!((found.len(), found[0].bytes, found[0].request_bytes), (1, 3_000, 300));
    assert_eq!((of(TimeShare::Request), of(TimeShare::Think)), (1_000, 0));
}

/// The capture begins in the middle of a connection. The client's window field is 501, which with
/// Linux' usual scale is 64 kB.
#[test]
fn a_window_whose_scale_nobody_told_bounds_nothing() {
    let mut wire = CapturedWire::new();
    wire.ask(0, 0, 300, 0);
    wire.send(0, 0..10);
    wire.ack(100, 5);
    wire.ack(101, 10);
    wire.segments.iter_mut().for_each(|segment| segment.window = 501);
    let found = found_in(&wire.segments);
    assert!(!found.windows.is_empty());
    assert!(found.windows.iter().all(|(_, point)| point.receive_window.is_none()));
    assert!(found.transfers[0].1.shares.of(TimeShare::ReceiverWindow).is_zero());
}

/// Sends 200 segments of 1,000 bytes through a link that takes 5 ms for each: 1.6 Mbit/s, with a
/// round trip of 100 ms. The client offers 24 segments, and `later` ones after the 60th ACK.
fn limited_by_window(later: u16) -> TransferReport {
    let mut wire = CapturedWire::new();
    wire.open(0, true);
    wire.ask(110, 0, 300, 0);
    wire.segments.last_mut().unwrap().window = 24_000;
    wire.send(110, 0..10);
    let mut sent = vec![110; 10];
    let mut ms = 0;
    for n in 0..200 {
        ms = (ms + 5).max(sent[n] + 100);
        let (acked, window) = (n as u32 + 1, if n < 60 { 24 } else { later });
        wire.ack(ms, acked).window = window * 1_000;
        let until = (10 + 2 * acked).min(acked + u32::from(window)).min(200);
        let next = sent.len() as u32;
        wire.send(ms, next..until);
        sent.resize(sent.len().max(until as usize), ms);
    }
    transfers_of(&wire)[0]
}

/// A window that stays the same releases a segment when the link has delivered one: its ACKs show
/// the rate of the link. A smaller window means a slow reader, whose ACKs show when it read.
#[test]
fn a_full_window_of_a_fast_reader_shows_the_link() {
    let rate = limited_by_window(24).delivery_rate.as_bps();
    assert!((1_550_000..1_650_000).contains(&rate), "{rate}");
    let full = |later| limited_by_window(later).link_full.as_millis();
    assert!(full(24) > 600, "{}", full(24));
    assert_eq!(full(20), 0);
}
