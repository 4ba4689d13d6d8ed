//! Transfers of simulated connections: their sizes, and where their time went.

mod common;

use common::collect::collect;
use common::{Exchange, Pipe, Scenario, run};
use tcp::Scheme;
use trace::{EngineConfig, SenderModel, SenderModels, TimeShare, TransferReport};
use units::{Duration, Instant};

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

/// Whatever is lost, shares add up to the duration, and transfers have their sizes and follow each other.
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
                        // The ACK of the last byte was lost: the next one acknowledges the FIN, too, and an
                        // ACK does not say what is a FIN.
                        sizes[3] -= 1;
                    }
                    if scenario.finished {
                        assert_eq!(sizes, SIZES, "{scheme} {loss} {seed} {acks_only}");
                    }
                    for (index, transfer) in found.iter().enumerate() {
                        assert_eq!(transfer.shares.total(), transfer.duration(), "{transfer:?}");
                        assert_eq!(transfer.index as usize, index);
                        assert_eq!(transfer.request_bytes, 300);
                    }
                    for pair in found.windows(2) {
                        assert!(pair[0].ended <= pair[1].began, "{pair:?}");
                    }
                }
            }
        }
    }
}

/// A transfer of 14 KB within the initial window of ten segments needs no more than the path does: a round
/// trip of 40 ms, and its ten packets at 10 Mbit/s. 120 ms lie between transfers and belong to none.
#[test]
fn a_transfer_within_the_first_window_waits_for_the_path_alone() {
    let found = transfers("linux", &scenario("linux", Pipe::new(10, 20, 1000, 0), 1), false);
    let small = found[2];
    assert_eq!(small.bytes, 14_000);
    let path = small.shares.of(TimeShare::Path);
    assert!(path.as_millis() >= 40 && path.as_millis() <= 55, "{path:?}");
    assert!(small.shares.of(TimeShare::Path) * 100 >= small.duration() * 95, "{small:?}");
    // The first begins with the SYN: a round trip of 40 ms is the handshake.
    let handshake = found[0].shares.of(TimeShare::Handshake);
    assert!((40..42).contains(&handshake.as_millis()), "{handshake:?}");
    assert!(found[1..].iter().all(|t| t.shares.of(TimeShare::Handshake).is_zero()));
}

/// 200 KB over 100 Mbit/s and 100 ms: 138 segments; windows of 10, 20, 40, 80: three round trips more than
/// the path needs, which carries a bandwidth-delay product of 860 segments.
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
            // The timer's least is a second.
            assert!(waited >= Duration::from_millis(900) * u64::from(transfer.timeouts.min(1)));
            timeouts += transfer.timeouts;
        }
    }
    assert!(timeouts > 20, "{timeouts}");
}
