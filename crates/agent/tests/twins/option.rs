//! `bpf/option.h` writes the same as `gateway_observe::path_option`, byte for byte. The header is
//! compiled for this machine, and both get the same numbers. Without a C compiler it notes that and
//! passes.

use crate::compiled;
use gateway_observe::path_option::{ID, PathOption};
use gateway_proto::v1::Bound;
use proptest::strategy::Strategy;

/// Reads rows of six numbers, prints the option's bytes for each.
const MAIN: &str = r#"
int main(void)
{
	uint64_t a, b, c, d, e, f;
	u8 bytes[OPTION_BYTES];
	while (scanf("%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64, &a, &b, &c, &d, &e, &f) == 6) {
		struct path_report report = {a, b, c, d, e, f};
		option_write(bytes, &report);
		for (int i = 0; i < OPTION_BYTES; i++)
			printf("%02x", bytes[i]);
		printf("\n");
	}
	return 0;
}
"#;

fn in_rust([window, rate, min_rtt_us, sent, lost, bound]: [u64; 6]) -> String {
    let bound = Bound::try_from(bound as i32).unwrap();
    let [min_rtt_us, sent, lost] = [min_rtt_us, sent, lost].map(|number| number & 0xffff_ffff);
    let option = PathOption { bound, window, rate, min_rtt_us, sent, lost };
    let head = [254, 16, (ID >> 8) as u8, ID as u8];
    let bytes = head.into_iter().chain(option.write());
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

fn number() -> impl Strategy<Value = u64> {
    let edges = [0, 1, 1023, 1024, 2047, 2048, 4095, 4096, u32::MAX.into(), 1 << 42, u64::MAX];
    let edge = proptest::sample::select(edges.to_vec());
    let bits = (0..64_u32, proptest::num::u64::ANY).prop_map(|(bits, n)| n >> bits);
    proptest::prop_oneof![1 => edge, 3 => bits]
}

#[test]
fn the_twin_in_c_writes_the_same() {
    let bound = proptest::sample::select(vec![1_u64, 4, 5]);
    let row = ([number(), number(), number(), number(), number()], bound);
    let row = row.prop_map(|([a, b, c, d, e], f)| [a, b, c, d, e, f]);
    compiled::assert_same(("option", MAIN), &compiled::rows(100_000, &row), in_rust);
}
