//! Arbitrary scripts end and cause no panic. They have random segments, in and out of the window,
//! with random flags, blocks, marks and counters of marks, between writes, under many schemes.

use proptest::prelude::*;
use script::{parse, run};

const SCHEMES: [&str; 6] = [
    "tahoe",
    "reno",
    "newreno+timestamps=on",
    "sack+ack=all",
    "linux",
    "linux+open=data+pacing=on",
];

/// Variants of ECN, with the flags of the SYN, of the SYN-ACK, and of the ACK behind it.
const VARIANTS: [(&str, &str, &str, &str); 4] = [
    ("on", "SEW", "SE.", "."),
    ("accurate", "SEWA", "SW.", "W."),
    ("accurate+ecn_option=minimum", "SEWA", "SW.", "W."),
    ("accurate+ecn_option=never", "SEWA", "SW.", "W."),
];

/// The opening of a variant, with its third ACK in the last line but one.
fn opening((ecn, syn, syn_ack, ack): (&str, &str, &str, &str)) -> String {
    let option = if ecn == "on" { "" } else { ",ECN e0b 1 ceb 0 e1b 1" };
    format!(
        "0   socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0  listen(3, 1) = 0
+0  < {syn} 0:0(0) win 9000 <mss 1000,sackOK,TS val 1 ecr 0,wscale 2>
+0  > {syn_ack} 0:0(0) ack 1 <...>
+.1 < {ack} 1:1(0) ack 1 win 9000 <TS val 2 ecr 0{option}>
+0  accept(3, ..., ...) = 4
"
    )
}

fn number() -> impl Strategy<Value = u32> {
    // Mostly around the numbers in use, at segment borders and beside them.
    let near = (0..12_u32, 0..3_u32).prop_map(|(segment, off)| segment * 1000 + off);
    prop_oneof![8 => near, 1 => any::<u32>()]
}

fn inbound() -> impl Strategy<Value = String> {
    let flags = prop_oneof![
        12 => Just("."),
        3 => Just("E."),
        2 => Just("W."),
        3 => proptest::sample::select(vec![".4", ".5", ".6", ".7", "F.5"]),
        1 => proptest::sample::select(vec!["S.", "F.", "R.", "SF.", "FR."]),
    ];
    let len = proptest::sample::select(vec![0_u32, 0, 0, 1, 500, 1000]);
    let blocks = proptest::collection::vec((number(), number()), 0..3);
    let window = proptest::sample::select(vec![0_u16, 1, 700, 9000, 65_535]);
    let ce = proptest::sample::select(vec!["", "[ce] ", "[ect0] ", "[ect1] "]);
    let counter = prop_oneof![0..5000_u32, 0xFF_F000..=0xFF_FFFF_u32];
    let counters = proptest::option::of((any::<bool>(), proptest::collection::vec(counter, 0..=2)));
    (flags, number(), len, number(), window, blocks, (ce, counters)).prop_map(
        |(flags, seq, len, ack, window, blocks, (ce, counters))| {
            let end = seq.wrapping_add(len);
            let blocks: Vec<_> = blocks.iter().map(|(a, b)| format!("{a}:{b}")).collect();
            let sack = match blocks.is_empty() {
                true => String::new(),
                false => format!(",sack {}", blocks.join(" ")),
            };
            let ecn = counters.map_or_else(String::new, |(first, all)| option(first, &all));
            format!(
                "< {ce}{flags} {seq}:{end}({len}) ack {ack} win {window} <TS val 3 ecr 0{sack}{ecn}>"
            )
        },
    )
}

/// An AccECN option in one of its two orders (RFC 9768 §3.2.3). Beside timestamps and two blocks, 8
/// bytes are left: two counters.
fn option(starts_with_ect1: bool, counters: &[u32]) -> String {
    let names = if starts_with_ect1 { ["e1b", "ceb"] } else { ["e0b", "ceb"] };
    let values = names.iter().zip(counters).map(|(name, value)| format!(" {name} {value}"));
    format!(",ECN{}", values.collect::<String>())
}

fn action() -> impl Strategy<Value = String> {
    let call = proptest::sample::select(vec![
        "write(4, ..., 100) = 100",
        "write(4, ..., 30000) = 30000",
        "shutdown(4, SHUT_WR) = 0",
        "%{ assert tcpi_unacked >= 0 }%",
    ]);
    prop_oneof![6 => inbound(), 2 => call.prop_map(str::to_owned)]
}

proptest! {
    #[test]
    fn a_run_ends_and_does_not_panic(
        scheme in proptest::sample::select(SCHEMES.to_vec()),
        variant in proptest::sample::select(VARIANTS.to_vec()),
        events in proptest::collection::vec((0..4000_u32, action()), 1..40),
    ) {
        let mut text = format!("--scheme={scheme}+ecn={}\n{}", variant.0, opening(variant));
        for (millis, action) in events {
            text += &format!("+{}.{:03} {action}\n", millis / 1000, millis % 1000);
        }
        let script = parse("any.pkt", &text).expect("a good script");
        let result = run(&script, None);
        // A mismatch is an answer too: after a reset a write fails. But the opening holds.
        prop_assert!(result.as_ref().map_or_else(|no| no.line > 7, |_| true), "{:?}", result);
        prop_assert_eq!(result, run(&script, None));
    }
}
