//! Arbitrary scripts end and cause no panic. They have random segments, in and out of the window,
//! with random flags, blocks and marks, between writes, under many schemes.

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

const OPENING: &str = "\
0   socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0  listen(3, 1) = 0
+0  < SEW 0:0(0) win 9000 <mss 1000,sackOK,TS val 1 ecr 0,wscale 2>
+0  > SE. 0:0(0) ack 1 <...>
+.1 < . 1:1(0) ack 1 win 9000 <TS val 2 ecr 0>
+0  accept(3, ..., ...) = 4
";

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
        1 => proptest::sample::select(vec!["S.", "F.", "R.", "SF.", "FR."]),
    ];
    let len = proptest::sample::select(vec![0_u32, 0, 0, 1, 500, 1000]);
    let blocks = proptest::collection::vec((number(), number()), 0..3);
    let window = proptest::sample::select(vec![0_u16, 1, 700, 9000, 65_535]);
    let ce = proptest::sample::select(vec!["", "[ce] "]);
    (flags, number(), len, number(), window, blocks, ce).prop_map(
        |(flags, seq, len, ack, window, blocks, ce)| {
            let end = seq.wrapping_add(len);
            let blocks: Vec<_> = blocks.iter().map(|(a, b)| format!("{a}:{b}")).collect();
            let sack = match blocks.is_empty() {
                true => String::new(),
                false => format!(",sack {}", blocks.join(" ")),
            };
            format!(
                "< {ce}{flags} {seq}:{end}({len}) ack {ack} win {window} <TS val 3 ecr 0{sack}>"
            )
        },
    )
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
        events in proptest::collection::vec((0..4000_u32, action()), 1..40),
    ) {
        let mut text = format!("--scheme={scheme}+ecn=on\n{OPENING}");
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
