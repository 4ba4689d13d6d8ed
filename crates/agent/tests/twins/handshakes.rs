//! `bpf/pending_handshakes.h` computes the same as `arith::pending_handshakes`, to the last bit.
//! The header is compiled for this machine, and both get the same numbers. Without a C compiler it
//! notes that and passes.

use crate::compiled;
use arith::pending_handshakes;
use proptest::strategy::{Just, Strategy};

/// Reads rows of two numbers, prints a row of five results for each.
const MAIN: &str = r#"
int main(void)
{
	uint64_t a, b;
	while (scanf("%" SCNu64 "%" SCNu64, &a, &b) == 2)
		printf("%" PRIu64 " %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu32 "\n",
		       pending_at(a, b), pending_count(a), pending_one_more(a), pending_one_less(a),
		       pending_span(a, b));
	return 0;
}
"#;

fn in_rust([a, b]: [u64; 2]) -> String {
    format!(
        "{} {} {} {} {}",
        pending_handshakes::at(a, b as u32),
        pending_handshakes::count(a),
        pending_handshakes::one_more(a),
        pending_handshakes::one_less(a),
        pending_handshakes::span(a, b),
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
    compiled::assert_same(("pending_handshakes", MAIN), &compiled::rows(100_000, &row()), in_rust);
}
