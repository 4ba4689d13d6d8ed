//! `bpf/trains.h` computes what `arith::trains` does, to the last bit: the header is compiled for this machine
//! and run on the same numbers. Needs a C compiler; says so and passes without one.

mod compiler;

use arith::trains;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, TestRng, TestRunner};

/// Reads rows of two numbers of 32 bits and two gaps, prints a row of results for each.
const PROGRAM: &str = r#"
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
typedef uint64_t u64;
typedef uint32_t u32;
#include "trains.h"
int main(void)
{
	uint64_t a, b, g, h;
	while (scanf("%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64, &a, &b, &g, &h) == 4)
		printf("%" PRIu64 " %d %" PRIu64 " %d %" PRIu64 " %" PRIu64 "\n", train_gap(a, b), train_held_up(a, b), train_shorter(g, h),
		       trains_agree(g, h), train_window(a, g), train_rate(b, g));
	return 0;
}
"#;

type Row = (u32, u32, u64, u64);

/// Any number of so many bits, small ones as often as large ones.
fn number(bits: u32) -> impl Strategy<Value = u64> {
    (0..=bits, proptest::num::u64::ANY).prop_map(|(bits, n)| n.checked_shr(64 - bits).unwrap_or(0))
}

/// Gaps by themselves, and pairs that nearly agree.
fn row() -> impl Strategy<Value = Row> {
    let near = (number(31), 0..=300_u64)
        .prop_map(|(gap, thousandths)| (gap, gap - gap * thousandths / 1000));
    let gaps = proptest::prop_oneof![(number(32), number(32)), near];
    (number(32), number(32), gaps).prop_map(|(a, b, (g, h))| (a as u32, b as u32, g, h))
}

fn rows(count: usize) -> Vec<Row> {
    let algorithm = Config::default().rng_algorithm;
    let mut runner =
        TestRunner::new_with_rng(Config::default(), TestRng::deterministic_rng(algorithm));
    let strategy = row();
    (0..count).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

#[test]
fn the_trains_in_c_tell_the_same() {
    let rows = rows(100_000);
    let text: String = rows.iter().map(|(a, b, g, h)| format!("{a} {b} {g} {h}\n")).collect();
    let Some(output) = compiler::run("trains", PROGRAM, text) else { return };
    assert_eq!(output.lines().count(), rows.len());
    for ((a, b, g, h), in_c) in rows.into_iter().zip(output.lines()) {
        let in_rust = format!(
            "{} {} {} {} {} {}",
            trains::gap(a, b),
            u8::from(trains::held_up(a, b)),
            trains::shorter(g, h),
            u8::from(trains::agree(g, h)),
            trains::window(a, g),
            trains::rate(b, g),
        );
        assert_eq!(in_c, in_rust, "{a} {b} {g} {h}");
    }
}
