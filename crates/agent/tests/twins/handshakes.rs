//! `bpf/coming.h` computes the same as `arith::coming`, to the last bit. The header is compiled for
//! this machine, and both get the same numbers. Without a C compiler it notes that and passes.

use crate::compiled;
use arith::coming;
use proptest::strategy::{Just, Strategy};

/// Reads rows of two numbers, prints a row of five results for each.
const MAIN: &str = r#"
int main(void)
{
	uint64_t a, b;
	while (scanf("%" SCNu64 "%" SCNu64, &a, &b) == 2)
		printf("%" PRIu64 " %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu32 "\n",
		       coming_at(a, b), coming_count(a), coming_one_more(a), coming_one_less(a),
		       coming_span(a, b));
	return 0;
}
"#;

fn in_rust([a, b]: [u64; 2]) -> String {
    format!(
        "{} {} {} {} {}",
        coming::at(a, b as u32),
        coming::count(a),
        coming::one_more(a),
        coming::one_less(a),
        coming::span(a, b),
    )
}

/// Counts of none, some and as many as there may be, and the span itself, those around it, and any
/// other.
fn row() -> impl Strategy<Value = [u64; 2]> {
    let counts = || proptest::prop_oneof![Just(0), Just(0xffff), 0..0x1_0000_u64];
    let later = proptest::prop_oneof![0..4_u32, Just(u32::MAX), proptest::num::u32::ANY];
    (proptest::num::u32::ANY, counts(), counts(), later).prop_map(|(span, before, this, later)| {
        [u64::from(span) << 32 | before << 16 | this, u64::from(span.wrapping_add(later))]
    })
}

#[test]
fn the_twin_in_c_counts_the_same() {
    compiled::assert_same(("coming", MAIN), &compiled::rows(100_000, &row()), in_rust);
}
