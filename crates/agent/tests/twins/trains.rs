//! `bpf/trains.h` computes the same as `arith::trains`, to the last bit. The header is compiled for
//! this machine, and both get the same numbers. Without a C compiler it notes that and passes.

use crate::compiled;
use arith::trains;
use proptest::strategy::Strategy;

/// Reads rows of two numbers of 32 bits and two gaps, prints a row of results for each.
const MAIN: &str = r#"
int main(void)
{
	uint64_t a, b, g, h;
	while (scanf("%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64, &a, &b, &g, &h) == 4)
		printf("%" PRIu64 " %d %" PRIu64 " %d %" PRIu64 " %" PRIu64 " %" PRIu64
		       " %" PRIu64 "\n", train_gap(a, b),
		       train_held_up(a, b), train_shorter(g, h), trains_agree(g, h),
		       train_window(a, g), train_rate(b, g), train_carried(b, g), train_gap_of_rate(b, h));
	return 0;
}
"#;

/// Any number of up to `bits` bits, small ones as often as large ones.
fn number(bits: u32) -> impl Strategy<Value = u64> {
    (0..=bits, proptest::num::u64::ANY).prop_map(|(bits, n)| n.checked_shr(64 - bits).unwrap_or(0))
}

/// Gaps by themselves, and pairs that nearly agree.
fn row() -> impl Strategy<Value = [u64; 4]> {
    let near = (number(31), 0..=300_u64)
        .prop_map(|(gap, thousandths)| (gap, gap - gap * thousandths / 1000));
    let gaps = proptest::prop_oneof![(number(32), number(32)), near];
    (number(32), number(32), gaps).prop_map(|(a, b, (g, h))| [a, b, g, h])
}

fn in_rust([a, b, g, h]: [u64; 4]) -> String {
    let [a, b] = [a, b].map(|n| u32::try_from(n).expect("of 32 bits"));
    format!(
        "{} {} {} {} {} {} {} {}",
        trains::gap(a, b),
        u8::from(trains::held_up(a, b)),
        trains::shorter(g, h),
        u8::from(trains::agree(g, h)),
        trains::window(a, g),
        trains::rate(b, g),
        trains::carried(b, g),
        trains::gap_of_rate(b, h),
    )
}

#[test]
fn the_trains_in_c_tell_the_same() {
    compiled::assert_same(("trains", MAIN), &compiled::rows(100_000, &row()), in_rust);
}
