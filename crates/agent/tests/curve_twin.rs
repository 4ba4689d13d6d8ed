//! `bpf/curve.h` computes what `arith::cubic` does, to the last bit: the header is compiled for this machine and led
//! through the same losses and arrivals. Needs a C compiler; says so and passes without one.

mod compiler;

use arith::cubic::{Ack, Cubic};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, TestRng, TestRunner};

/// Reads rows of an event, a time since the last row, a window, segments and a round trip; prints a number for each.
const PROGRAM: &str = r#"
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
typedef uint64_t u64;
#include "curve.h"
int main(void)
{
	struct curve curve = {0};
	uint64_t event, wait, window, acked, rtt, now = 0;
	while (scanf("%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64, &event, &wait, &window, &acked, &rtt) == 5) {
		now += wait;
		printf("%" PRIu64 "\n", event == 0 ? curve_on_congestion(&curve, window)
						   : curve_on_ack(&curve, now, window, acked, rtt));
	}
	return 0;
}
"#;

type Row = [u64; 5];

/// A loss in a hundred rows; waits of an ACK, of a round trip, and of minutes; windows of any size there is.
fn row() -> impl Strategy<Value = Row> {
    let wait = proptest::prop_oneof![40 => 0..5_u64, 10 => 0..300_u64, 1 => 0..600_000_u64];
    let window = proptest::prop_oneof![8 => 1..400_u64, 1 => 0..1_u64 << 20];
    (0..100_u64, wait, window, 0..64_u64, 0..1000_u64)
        .prop_map(|(event, wait, window, acked, rtt)| [event, wait, window, acked, rtt])
}

fn rows(count: usize) -> Vec<Row> {
    let algorithm = Config::default().rng_algorithm;
    let mut runner =
        TestRunner::new_with_rng(Config::default(), TestRng::deterministic_rng(algorithm));
    let strategy = row();
    (0..count).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

#[test]
fn the_curve_in_c_is_the_same() {
    let rows = rows(200_000);
    let text: String =
        rows.iter().map(|[a, b, c, d, e]| format!("{a} {b} {c} {d} {e}\n")).collect();
    let Some(output) = compiler::run("curve", PROGRAM, text) else { return };
    assert_eq!(output.lines().count(), rows.len());
    let (mut cubic, mut now_ms) = (Cubic::default(), 0);
    for (n, ([event, wait, cwnd, acked, min_rtt_ms], in_c)) in
        rows.into_iter().zip(output.lines()).enumerate()
    {
        now_ms += wait;
        let in_rust = match event {
            0 => cubic.on_congestion(cwnd),
            _ => cubic.on_ack(&Ack { now_ms, cwnd, acked, min_rtt_ms }),
        };
        assert_eq!(in_c, in_rust.to_string(), "row {n}");
    }
}
