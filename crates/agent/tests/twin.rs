//! `bpf/arith.h` computes what `arith::reuse` does, to the last bit: the header is compiled for this machine
//! and run on the same numbers. Needs a C compiler; says so and passes without one.

mod compiler;

use arith::reuse;
use proptest::strategy::{Just, Strategy, ValueTree};
use proptest::test_runner::{Config, TestRng, TestRunner};

/// Reads rows of four numbers, prints a row of seven results for each.
const PROGRAM: &str = r#"
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
typedef uint64_t u64;
typedef uint32_t u32;
#include "arith.h"
int main(void)
{
	uint64_t a, b, c, d;
	while (scanf("%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64, &a, &b, &c, &d) == 4)
		printf("%" PRIu64 " %" PRIu64 " %d %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu64 "\n",
		       (uint64_t)decayed(a, b, c), (uint64_t)first_window(a, b, c),
		       same_round_trip(a, b), window_at_loss(a, b & 1), proven(a, b, c, d),
		       (uint64_t)pacing_rate(a, b, c), (uint64_t)still_lent(a, b, c));
	return 0;
}
"#;

type Row = [u64; 4];

fn in_rust([a, b, c, d]: Row) -> String {
    let [a32, b32, c32, d32] = [a, b, c, d].map(|n| n as u32);
    format!(
        "{} {} {} {} {} {} {}",
        reuse::decayed(a, b, c),
        reuse::first_window(a, b, c),
        u8::from(reuse::same_round_trip(a32, b32)),
        reuse::window_at_loss(a32, b & 1 == 1),
        reuse::proven(a32, b32, c32, d32),
        reuse::pacing_rate(a32, b32, c32),
        reuse::still_lent(a, b, c),
    )
}

/// Numbers as they occur, and those at which arithmetic overflows.
fn number() -> impl Strategy<Value = u64> {
    let edges =
        [0, 1, 2, u64::from(u32::MAX) / 2, u32::MAX.into(), 1 << 32, u64::MAX / 1024, u64::MAX];
    let edge = proptest::sample::select(edges.to_vec());
    let bits = (0..64_u32, proptest::num::u64::ANY).prop_map(|(bits, n)| n >> bits);
    proptest::prop_oneof![1 => edge, 4 => bits, 1 => Just(256)]
}

fn rows(count: usize) -> Vec<Row> {
    let algorithm = Config::default().rng_algorithm;
    let mut runner =
        TestRunner::new_with_rng(Config::default(), TestRng::deterministic_rng(algorithm));
    let strategy = [number(), number(), number(), number()];
    (0..count).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

#[test]
fn the_twin_in_c_computes_the_same() {
    let rows = rows(100_000);
    let text: String = rows.iter().map(|[a, b, c, d]| format!("{a} {b} {c} {d}\n")).collect();
    let Some(output) = compiler::run("twin", PROGRAM, text) else { return };
    assert_eq!(output.lines().count(), rows.len());
    for (row, in_c) in rows.iter().zip(output.lines()) {
        assert_eq!(in_c, in_rust(*row), "{row:?}");
    }
}
