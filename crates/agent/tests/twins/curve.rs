//! `bpf/curve.h` computes the same as `arith::cubic` and `arith::window::Credit`, to the last bit.
//! The header is compiled for this machine, and both get the same losses and ACKs. Without a C
//! compiler it notes that and passes.

use crate::compiled;
use arith::cubic::{CubicCurve, CurveAck};
use arith::window::Credit;
use proptest::strategy::Strategy;

/// Reads rows of an event, a time since the last row, a window, segments and a round trip; prints
/// what the curve says, and by how much a window grows.
const MAIN: &str = r#"
int main(void)
{
	struct curve curve = {0};
	u32 credit = 0;
	uint64_t event, wait, window, acked, rtt, now = 0;
	while (scanf("%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64, &event, &wait, &window, &acked, &rtt) == 5) {
		now += wait;
		u64 says = event == 0 ? curve_on_congestion(&curve, window) : curve_on_ack(&curve, now, window, acked, rtt);
		credit = event == 0 ? 0 : credit;
		printf("%" PRIu64 " %" PRIu32 "\n", says, event == 0 ? 0 : credit_add(&credit, acked, says));
	}
	return 0;
}
"#;

/// A loss in a hundred rows; waits of an ACK, of a round trip, and of minutes; windows of any size
/// there is.
fn row() -> impl Strategy<Value = [u64; 5]> {
    let wait = proptest::prop_oneof![40 => 0..5_u64, 10 => 0..300_u64, 1 => 0..600_000_u64];
    let window = proptest::prop_oneof![8 => 1..400_u64, 1 => 0..1_u64 << 20];
    (0..100_u64, wait, window, 0..64_u64, 0..1000_u64)
        .prop_map(|(event, wait, window, acked, rtt)| [event, wait, window, acked, rtt])
}

#[test]
fn the_curve_in_c_is_the_same() {
    let (mut cubic, mut credit, mut now_ms) = (CubicCurve::default(), Credit::new(), 0);
    let in_rust = |[event, wait, cwnd, acked, min_rtt_ms]: [u64; 5]| {
        now_ms += wait;
        if event == 0 {
            credit.clear();
            return format!("{} 0", cubic.on_congestion(cwnd));
        }
        let per = cubic.on_ack(&CurveAck { now_ms, cwnd, acked, min_rtt_ms });
        format!("{per} {}", credit.add(acked, per))
    };
    compiled::assert_same(("curve", MAIN), &compiled::rows(200_000, &row()), in_rust);
}
