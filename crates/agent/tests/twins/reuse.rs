//! `bpf/arith.h` computes the same as `arith::reuse`, `arith::parts` and `arith::probe`, to the
//! last bit. The header is compiled for this machine, and both get the same numbers. Without a C
//! compiler it notes that and passes.

use crate::compiled;
use arith::{parts, probe, reuse};
use proptest::strategy::{Just, Strategy};

/// Reads rows of four numbers, prints a row of 26 results for each.
const MAIN: &str = r#"
int main(void)
{
	uint64_t a, b, c, d;
	while (scanf("%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64, &a, &b, &c, &d) == 4)
		printf("%" PRIu64 " %" PRIu64 " %d %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu64 " %d %d %d %d %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu32 " %" PRIu32 " %" PRIu64 "\n",
		       (uint64_t)decayed(a, b, c), (uint64_t)first_window(a, b, c),
		       same_round_trip(a, b), window_at_loss(a, b & 1), proven(a, d & 1, b, c, d),
		       (uint64_t)pacing_rate(a, b, c), (uint64_t)unexpired_part(a, b, c),
		       (uint64_t)first_rate(a, b, c, d), part_beside(a, b, c, d),
		       handshake_wait(a, b), doublings_to_second(a),
		       wide_cold_window(a, b), (uint64_t)half_life_ns(a, b),
		       has_queue(a, b), has_standing_queue(a, b), may_double(a, b),
		       is_slower(a, b, c, d), carried_in_lowest(a, b, c), bdp(a, b, c),
		       (uint64_t)rate_of(a, b, c), reach(a, b), without_queue(a, b, c, d),
		       (uint64_t)probed_rate(a, b, c), probed_window(a, b, c, d),
		       part_of_full(a, b, (uint32_t)c | 1), (uint64_t)part_of_rate(a, b, c, d));
	return 0;
}
"#;

fn in_rust([a, b, c, d]: [u64; 4]) -> String {
    let [a32, b32, c32, d32] = [a, b, c, d].map(|n| n as u32);
    format!(
        "{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}",
        reuse::decayed(a, b, c),
        reuse::first_window(a, b, c),
        u8::from(reuse::same_round_trip(a32, b32)),
        reuse::window_at_loss(a32, b & 1 == 1),
        reuse::proven(a32, d & 1 == 1, b32, c32, d32),
        reuse::pacing_rate(a32, b32, c32),
        reuse::unexpired_part(a, b, c),
        reuse::first_rate(a, b, c32, d32),
        parts::part_beside(a32, b32, c32, d32),
        reuse::handshake_wait(a32, b32),
        reuse::doublings_to_second(a32),
        reuse::wide_cold_window(a32, b32),
        reuse::half_life_ns(a32, b32),
        u8::from(reuse::has_queue(a32, b32)),
        u8::from(reuse::has_standing_queue(a32, b32)),
        u8::from(reuse::may_double(a32, b32)),
        u8::from(reuse::is_slower(a32, b, c32, d32)),
        reuse::carried_in_lowest(a32, b32, c32),
        reuse::bdp(a, b32, c32),
        reuse::rate_of(a32, b32, c32),
        reuse::reach(a32, b32),
        reuse::without_queue(a32, b32, c32, d32),
        probe::rate(a32, b32, c32),
        probe::window(a, b32, c32, d32),
        parts::part_of_full(a32, b32, c32 | 1),
        parts::part_of_rate(a, b32, c32, d32),
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

#[test]
fn the_twin_in_c_computes_the_same() {
    let rows = compiled::rows(100_000, &[number(), number(), number(), number()]);
    compiled::assert_same(("arith", MAIN), &rows, in_rust);
}
