//! The window of a session, step by step. `bpf/shared.h` is compiled for this machine, without the
//! maps and locks around it, and gets events of two members. `arith::session` gets the same events,
//! and has to give the same answers, to the last bit. Expected values follow by hand from its
//! rules. Those are the rules of the kernel's CUBIC and HyStart for the window, and of
//! docs/agent/design.md, "Sessions", for shares. Without a C compiler it notes that and passes.

use crate::compiled;
use arith::session::{Joining, MemberArrival, Session, SessionMember};
use proptest::strategy::Strategy;

/// Definitions of `paths.h` that the header needs.
const AROUND: &str = r#"
#define HEADSTART_KERNEL_H
#define HEADSTART_PATHS_H
#define NS_PER_US 1000ULL
#define NS_PER_MS 1000000ULL
#define MAX_WINDOW (1U << 20)
typedef int32_t s32;
typedef uint32_t __be32;
struct bpf_spin_lock { int held; };
struct tcp_sock { u32 packets_out, snd_una, snd_nxt; };
"#;

/// Reads an event and its arguments; prints its result and the state of the session.
const MAIN: &str = r#"
int main(void)
{
	static struct session s;
	static struct member m[2];
	uint64_t event, a, b, c, d, e, says;
	while (scanf("%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64, &event, &a, &b, &c, &d, &e) == 6) {
		says = 0;
		if (event == 0) {
			start_session(&s, a, b, c, d);
		} else if (event == 1) {
			s.members += 1;
			count_weight(&s, &m[a], b);
		} else if (event == 2) {
			struct joining j = { .among = b, .sends = c };
			says = share_at_once(&s, &m[a], &j);
		} else if (event == 3 || event == 8) {
			struct arrival at = { .now_ns = a * NS_PER_MS, .acked = c, .outstanding = d, .rtt_us = e, .srtt_us = 100000, .may_grow = event == 8 };
			on_arrival(&s, &m[b], &at);
			says = m[b].in_pieces;
		} else if (event == 4) {
			says = reduce(&s, a * NS_PER_MS, 100000);
		} else if (event == 5) {
			take_back_reduction(&s);
		} else if (event == 6) {
			says = depart(&s, &m[a]);
		} else {
			says = share_of(&s, &m[a]);
		}
		printf("%" PRIu64 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", says, s.window, s.ssthresh,
		       s.flight, s.unproven, s.allocated, s.outstanding);
	}
	return 0;
}
"#;

type Row = [u64; 6];
/// `TCP_INFINITE_SSTHRESH`.
const UNLIMITED: u64 = 0x7fff_ffff;
const WARM: u64 = 1;

/// The session starts with `window` segments.
fn start(window: u64, ssthresh: u64, warm: u64) -> Row {
    [0, window, ssthresh, warm, 0, 0]
}

/// A member is active with this weight.
fn weight(member: u64, weight: u64) -> Row {
    [1, member, weight, 0, 0, 0]
}

/// A member joins alone, with `sends` segments to send. The answer is its share.
fn joins(member: u64, sends: u64) -> Row {
    [2, member, 1, sends, 0, 0]
}

/// An ACK of `acked` segments of a member at `ms` milliseconds, with `outstanding` left. The window
/// is not to grow.
fn arrives(ms: u64, member: u64, acked: u64, outstanding: u64, rtt_us: u64) -> Row {
    [3, ms, member, acked, outstanding, rtt_us]
}

/// Something was lost. Says whether the window falls.
fn lost(ms: u64) -> Row {
    [4, ms, 0, 0, 0, 0]
}

/// The share of a member that is sending.
fn share(member: u64) -> Row {
    [7, member, 0, 0, 0, 0]
}

const TAKEN_BACK: Row = [5, 0, 0, 0, 0, 0];

/// The state after a step.
struct After {
    says: u64,
    window: u64,
    ssthresh: u64,
    flight: u64,
    unproven: u64,
    allocated: u64,
    outstanding: u64,
}

fn steps(name: &str, rows: &[Row]) -> Option<Vec<After>> {
    let program = format!(
        "{AROUND}#include \"flights.h\"\n#include \"arith.h\"\n#include \"shared.h\"\n{MAIN}"
    );
    let answers = compiled::answers(&format!("session-{name}"), &program, rows)?;
    let mut twin = Twin::default();
    for (n, (row, in_c)) in rows.iter().zip(&answers).enumerate() {
        assert_eq!(*in_c, twin.step(row), "step {n} of {name}: {row:?}");
    }
    Some(answers.iter().map(|line| after(line)).collect())
}

/// The session in Rust, and its two members.
#[derive(Default)]
struct Twin {
    session: Session,
    members: [SessionMember; 2],
    /// Connections open, which the core counts beside the session.
    open: u32,
}

impl Twin {
    /// Does the same as `main` in C.
    fn step(&mut self, &[event, a, b, c, d, e]: &Row) -> String {
        let s = &mut self.session;
        let [a32, b32, c32, d32, e32] = [a, b, c, d, e].map(|n| n as u32);
        let members = &mut self.members;
        let ns = a.wrapping_mul(1_000_000);
        let says = match event {
            0 => {
                s.start(a32, b32, c != 0, d);
                0
            }
            1 => {
                self.open = self.open.wrapping_add(1);
                s.count_weight(&mut members[a as usize], b32);
                0
            }
            2 => s.share_at_once(&mut members[a as usize], &Joining { among: b32, sends: c32 }),
            3 | 8 => {
                let arrival = MemberArrival {
                    now_ns: ns,
                    acked: c32,
                    outstanding: d32,
                    rtt_us: e32,
                    srtt_us: 100_000,
                    may_grow: event == 8,
                };
                s.on_arrival(&mut members[b as usize], &arrival);
                members[b as usize].in_pieces.into()
            }
            4 => s.reduce(ns, 100_000).into(),
            5 => {
                s.take_back_reduction();
                0
            }
            6 => {
                s.discount(&mut members[a as usize]);
                self.open = self.open.wrapping_sub(1);
                u32::from(self.open == 0)
            }
            _ => s.share_of(&members[a as usize]),
        };
        let (flight, outstanding) = (s.flight(), s.outstanding());
        format!(
            "{says} {} {} {flight} {} {} {outstanding}",
            s.window, s.ssthresh, s.unproven, s.allocated
        )
    }
}

fn after(line: &str) -> After {
    let n: Vec<u64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
    let [says, window, ssthresh, flight, unproven, allocated, outstanding] = n[..] else {
        panic!("{line}");
    };
    After { says, window, ssthresh, flight, unproven, allocated, outstanding }
}

#[test]
fn shares_go_by_weight_and_nobody_is_silenced() {
    let rows = [start(40, UNLIMITED, WARM), weight(0, 1), weight(1, 3), share(0), share(1)];
    let Some(after) = steps("shares", &rows) else { return };
    assert_eq!([after[3].says, after[4].says], [10, 30]);
    let rows = [start(2, UNLIMITED, WARM), weight(0, 1), weight(1, 3), share(0), share(1)];
    let after = steps("shares", &rows).unwrap();
    // 2 · 1/4 is none, and one all the same.
    assert_eq!([after[3].says, after[4].says], [1, 1]);
}

#[test]
fn what_one_was_promised_is_not_promised_again() {
    // Alone it may have all 100. Half would be the second member's, but 100 are allocated: it gets
    // ten, the stock initial window.
    let rows =
        [start(100, UNLIMITED, WARM), weight(0, 1), joins(0, 500), weight(1, 1), joins(1, 500)];
    let Some(after) = steps("promises", &rows) else { return };
    assert_eq!([after[2].says, after[4].says], [100, 10]);
    assert_eq!(after[4].allocated, 110);
    // A member with 11 segments to send takes no more: the second gets half.
    let rows =
        [start(100, UNLIMITED, WARM), weight(0, 1), joins(0, 11), weight(1, 1), joins(1, 500)];
    let after = steps("promises", &rows).unwrap();
    assert_eq!([after[2].says, after[4].says], [100, 50]);
    assert_eq!(after[4].allocated, 61);
    // The first ACK ends the allocation: from then on its outstanding segments count.
    let rows = [rows[0], rows[1], rows[2], arrives(100, 0, 2, 9, 80_000)];
    let after = steps("promises", &rows).unwrap();
    assert_eq!([after[3].allocated, after[3].outstanding, after[3].says], [0, 9, 0]);
    // It has more than twice its allocation outstanding: it has written in pieces.
    let rows = [rows[0], rows[1], rows[2], arrives(100, 0, 2, 21, 80_000)];
    assert_eq!(steps("promises", &rows).unwrap()[3].says, 1);
}

#[test]
fn a_remembered_window_is_proven_by_a_flight_that_arrived() {
    let rows = [
        start(30, 30, WARM),
        weight(0, 1),
        weight(1, 1),
        // 20 and 10 of the two are under way together; a round trip of 100 ms begins.
        arrives(0, 1, 0, 10, 80_000),
        arrives(1, 0, 1, 19, 80_000),
        arrives(50, 0, 10, 9, 80_000),
        // The round that ends here had 30 at most; the next one ends when these are acknowledged.
        arrives(100, 1, 5, 5, 80_000),
        arrives(200, 1, 5, 0, 80_000),
    ];
    let Some(after) = steps("proof", &rows) else { return };
    let unproven: Vec<_> = after.iter().map(|after| after.unproven).collect();
    assert_eq!(unproven, [30, 30, 30, 30, 30, 30, 30, 0]);
    assert_eq!(after[7].flight, 30);
    // One segment less would not do.
    let mut rows = rows;
    rows[4] = arrives(1, 0, 1, 18, 80_000);
    rows[5] = arrives(50, 0, 10, 8, 80_000);
    let after = steps("proof", &rows).unwrap();
    assert_eq!([after[7].unproven, after[7].flight], [30, 29]);
}

#[test]
fn what_arrives_within_the_lowest_round_trip_was_one_flight() {
    // The outstanding segments of a member that has just joined are not known: here each ACK leaves
    // none. 10 at 100, 110 and 150 ms were acknowledged within a round trip of 100, so they were
    // outstanding together.
    let rows = [
        start(10, UNLIMITED, 0),
        weight(0, 1),
        weight(1, 1),
        arrives(0, 0, 1, 0, 100_000),
        arrives(100, 0, 10, 0, 100_000),
        arrives(110, 1, 10, 0, 100_000),
        arrives(150, 0, 10, 0, 100_000),
        arrives(200, 0, 10, 0, 100_000),
        arrives(300, 0, 10, 0, 100_000),
    ];
    let Some(after) = steps("acked", &rows) else { return };
    assert_eq!([after[6].flight, after[7].flight, after[8].flight], [1, 10, 30]);
}

#[test]
fn one_reduction_in_a_round_trip_whoever_loses() {
    let rows = [start(100, 200, WARM), lost(1000), lost(1050), lost(1100), TAKEN_BACK, TAKEN_BACK];
    let Some(after) = steps("losses", &rows) else { return };
    assert_eq!([after[1].says, after[2].says, after[3].says], [1, 0, 1]);
    // CUBIC's 717/1024: 100 · 0.7002 = 70, 70 · 0.7002 = 49.
    let windows: Vec<_> = after.iter().map(|after| after.window).collect();
    assert_eq!(windows, [100, 70, 70, 49, 70, 70]);
    assert_eq!(after[3].ssthresh, 49);
    // Only the last one is taken back, with its threshold; the remembered window needs no proof any
    // more.
    assert_eq!([after[5].ssthresh, after[1].unproven], [70, 0]);
}

#[test]
fn slow_start_ends_by_the_lowest_of_eight_round_trips() {
    // An eighth of 80 ms is 10: more than 90 ms.
    let late = |rtt| {
        let first = [start(20, UNLIMITED, 0), weight(0, 1), arrives(0, 0, 1, 19, 80_000)];
        let rows: Vec<_> =
            first.into_iter().chain((0..8).map(|n| arrives(100 + n, 0, 1, 19, rtt))).collect();
        steps("hystart", &rows)
    };
    let Some(after) = late(90_001) else { return };
    assert_eq!([after[9].ssthresh, after[10].ssthresh], [UNLIMITED, 20]);
    assert_eq!(late(90_000).unwrap()[10].ssthresh, UNLIMITED);
}

#[test]
fn who_leaves_takes_along_what_was_its() {
    let leaves = |member| [6, member, 0, 0, 0, 0];
    let rows = [
        start(40, UNLIMITED, WARM),
        weight(0, 1),
        weight(1, 3),
        joins(0, 5),
        arrives(10, 1, 1, 7, 80_000),
        leaves(1),
        share(0),
        leaves(0),
    ];
    let Some(after) = steps("leaving", &rows) else { return };
    assert_eq!([after[4].allocated, after[4].outstanding], [5, 7]);
    // Not the last one; the other has the whole window now.
    assert_eq!([after[5].says, after[5].outstanding, after[6].says], [0, 0, 40]);
    assert_eq!([after[7].says, after[7].allocated], [1, 0]);
}

/// A member of 0 or 1, and numbers as they occur; times go on.
fn any_event() -> impl Strategy<Value = Row> {
    let small = || 0..400_u64;
    let of = (0..9_u64, 0..2_u64, (small(), 0..200_u64), (0..120_000_u64, 1..5_u64), 0..90_u64);
    of.prop_map(|(event, member, (n, m), (us, weight), ms)| match event {
        0 => [0, n + 1, if us & 1 == 0 { UNLIMITED } else { m + 1 }, us & 2, us * 100, 0],
        1 => [1, member, weight, 0, 0, 0],
        2 => [2, member, weight, n, 0, 0],
        4 => [4, ms, 0, 0, 0, 0],
        5 => TAKEN_BACK,
        6 => [6, member, 0, 0, 0, 0],
        7 => share(member),
        _ => [event, ms, member, m / 8, n, us],
    })
}

#[test]
fn both_languages_lead_a_session_alike_through_whatever_happens() {
    // Windows below 2^20 segments, as `curve.h` has it; the least window is one.
    let mut now = 0;
    let mut rows = compiled::rows(20_000, &any_event());
    rows.insert(0, start(10, UNLIMITED, 0));
    for row in &mut rows {
        if [3, 4, 8].contains(&row[0]) {
            now += row[1];
            row[1] = now;
        }
    }
    steps("any", &rows);
}
