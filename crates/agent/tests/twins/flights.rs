//! `bpf/flights.h` and `bpf/measure.h` do the same as `arith::flights` and `arith::measure`, to the
//! last bit. The headers are compiled for this machine, without the maps around them, and both get
//! the same ACKs. Without a C compiler it notes that and passes.

use crate::compiled;
use arith::flights::{FlightAck, Flights};
use arith::measure::{TrainAck, TrainMeasure, TrainSays};
use proptest::strategy::Strategy;

/// Definitions of `kernel.h` and `paths.h` that the headers need.
const AROUND: &str = r#"
#define HEADSTART_KERNEL_H
#define HEADSTART_PATHS_H
#define NS_PER_US 1000ULL
typedef int32_t s32;
struct tcp_sock {
	u32 packets_out, snd_una, snd_nxt, delivered, mss_cache;
	u64 tcp_mstamp, tcp_wstamp_ns;
};
"#;

/// Reads an event and an ACK; prints what came of it.
const MAIN: &str = r#"
int main(void)
{
	static struct flights f;
	static struct measure m;
	static struct tcp_sock tp = { .mss_cache = 1448 };
	uint64_t event, us, una, next, acked, sent, says, larger;
	while (scanf("%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64, &event, &us, &una, &next, &acked, &sent) == 6) {
		says = larger = 0;
		tp.tcp_mstamp = us;
		tp.snd_una = una;
		tp.snd_nxt = next;
		tp.packets_out = (next - una) / 1448;
		tp.delivered += acked;
		tp.tcp_wstamp_ns = sent * NS_PER_US;
		if (event == 0) {
			forget_flights(&f, &tp);
			skip_trains(&tp, &m);
		} else if (event == 1) {
			begin_first_train(&tp, &m);
		} else if (event == 2) {
			end_trains(&tp, &m);
		} else if (event == 3) {
			assume_rate(&m, 1448, sent);
		} else {
			larger = count_flight(&f, &tp, acked);
			says = measure_ack(&tp, &m);
		}
		printf("%" PRIu64 " %" PRIu64 " %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %d\n", says, larger, proven_flight(&f, &tp), m.best,
		       measured_rate(&tp, &m), shown_rate(&tp, &m), has_measured_enough(&m));
	}
	return 0;
}
"#;

type Row = [u64; 6];
const MSS: u64 = 1448;

#[derive(Default)]
struct Twin {
    flights: Flights,
    measure: TrainMeasure,
    delivered: u32,
}

impl Twin {
    fn step(&mut self, &[event, us, una, next, acked, sent]: &Row) -> String {
        self.delivered = self.delivered.wrapping_add(acked as u32);
        let outstanding = ((next - una) / MSS) as u32;
        let (at_us, sent_us, delivered) = (us as u32, sent as u32, self.delivered);
        let ack = TrainAck { at_us, delivered, una, next, sent_us };
        let (mut says, mut larger) = (TrainSays::Nothing, false);
        match event {
            0 => {
                self.flights = Flights::beginning_at(next);
                self.measure.skip(&ack);
            }
            1 => self.measure.begin_first_train(at_us),
            2 => self.measure.end(next),
            3 => self.measure.assume_rate(MSS as u32, sent),
            _ => {
                larger =
                    self.flights.count(&FlightAck { una, next, outstanding, acked: acked as u32 });
                says = self.measure.on_ack(&ack);
            }
        }
        let says = match says {
            TrainSays::Nothing => 0,
            TrainSays::Rate => 1,
            TrainSays::Faster => 2,
        };
        format!(
            "{says} {} {} {} {} {} {}",
            u8::from(larger),
            self.flights.proven(outstanding),
            self.measure.best(),
            self.measure.measured_rate(MSS as u32),
            self.measure.shown_rate(MSS as u32),
            u8::from(self.measure.has_measured_enough())
        )
    }
}

/// Events, mostly ACKs: microseconds since the one before, segments acknowledged and sent, and how
/// long ago the last one left.
fn event() -> impl Strategy<Value = [u64; 5]> {
    let gap = proptest::prop_oneof![30 => 550..650_u64, 1 => 0..9000_u64];
    (0..900_u64, gap, 1..4_u64, 0..7_u64, 0..60_000_u64).prop_map(|(n, us, acked, more, ago)| {
        // Four of 900 events are other ones: trains are long, and two in a row often agree.
        let event = if n < 4 { n } else { 4 };
        [event, us, acked, more, ago]
    })
}

#[test]
fn the_twins_in_c_follow_the_same_acks_to_the_same_end() {
    // Offsets pass 2^32, and so do the kernel's clock and sequence numbers.
    let (mut us, mut una, mut next) =
        (u64::from(u32::MAX) - 4_000_000, 4_200_000_000, 4_200_014_480_u64);
    // Both begin where the connection does.
    let begins = [[0, 0, 0, 0, 0]];
    let rows: Vec<Row> = begins
        .into_iter()
        .chain(compiled::rows(30_000, &event()))
        .map(|[event, gap, acked, more, ago]| {
            us += gap;
            let acked = if event == 4 { acked } else { 0 };
            una = (una + acked * MSS).min(next);
            next = (next + more * MSS).min(una + 400 * MSS);
            let sent = if event == 3 { 100_000 + ago * 1000 } else { us - ago };
            [event, us, una, next, acked, sent]
        })
        .collect();
    let program = format!(
        "{AROUND}#include \"arith.h\"\n#include \"flights.h\"\n#include \"measure.h\"\n{MAIN}"
    );
    let Some(answers) = compiled::answers("flights", &program, &rows) else { return };
    let mut twin = Twin::default();
    let mut rates = 0;
    for (n, (row, in_c)) in rows.iter().zip(answers).enumerate() {
        assert_eq!(in_c, twin.step(row), "row {n}: {row:?}");
        rates += u32::from(in_c.starts_with('1'));
    }
    // Gaps that agree occur, or nothing was compared.
    assert!(rates > 0);
}
