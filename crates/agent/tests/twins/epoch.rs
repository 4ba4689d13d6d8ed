//! `bpf/epoch.h` computes the same as `arith::epoch`, to the last bit. The header is compiled for
//! this machine, and both get the same numbers. Without a C compiler it notes that and passes.

use crate::compiled;
use arith::epoch::{MAX_CAPACITY, PathShare, WindowChoice};
use proptest::strategy::{Just, Strategy};

/// Reads rows of capacity, segments an ACK covers, segments of the transfer, and whether to shift.
const MAIN: &str = r#"
int main(void)
{
	uint64_t a, b, c, d;
	while (scanf("%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64, &a, &b, &c, &d) == 4)
		printf("%" PRIu64 "\n", (uint64_t)epoch_window(a, b, c, d));
	return 0;
}
"#;

fn in_rust([capacity, per_ack, segments, shift]: [u64; 4]) -> String {
    let share = PathShare { capacity: capacity as u32, per_ack: per_ack as u32 };
    let choice = WindowChoice { shift: shift == 1, not_below_bottom: false };
    share.initial_window(segments, choice).to_string()
}

#[test]
fn the_twin_in_c_computes_the_same() {
    let edges = [0, 1, 2, 3, MAX_CAPACITY - 1, MAX_CAPACITY, MAX_CAPACITY + 1, u32::MAX];
    let edge = proptest::sample::select(edges.map(u64::from).to_vec());
    let capacity = proptest::prop_oneof![1 => edge, 4 => 0_u64..2000, 1 => 0_u64..1 << 32];
    let bits = (0..64_u32, proptest::num::u64::ANY).prop_map(|(bits, n)| n >> bits);
    let segments = proptest::prop_oneof![4 => bits, 2 => 0_u64..100_000, 1 => Just(u64::MAX)];
    let rows = compiled::rows(
        100_000,
        &[capacity.boxed(), (0_u64..9).boxed(), segments.boxed(), (0_u64..2).boxed()],
    );
    compiled::assert_same(("epoch", MAIN), &rows, in_rust);
}
