//! Random scripts in the model, and one in the kernel.

use kernel_fuzz::{
    FuzzCase, FuzzHandshake, FuzzKind, FuzzStep, FuzzVerdict, Stimulus, Unplayable, compose,
    play_in_kernel, record,
};
use test_support::{EMULATION, has};
use units::Duration;

/// A script says what the model does, so it holds there, with all assertions and segments.
#[test]
fn random_scripts_hold_in_the_model() {
    for (name, kind) in FuzzKind::ALL {
        for seed in 1..=40 {
            let text = record(&compose(kind, seed).expect("a case")).expect("a script");
            let script = script::parse(&format!("{name}-{seed}.pkt"), text).expect("our grammar");
            let report = script::run(&script, None).unwrap_or_else(|mismatch| panic!("{mismatch}"));
            assert!(report.left_over.is_empty(), "{name}-{seed}: {:?}", report.left_over);
        }
    }
}

#[test]
fn a_seed_makes_one_script() {
    let text = |seed| record(&compose(FuzzKind::Loss, seed).expect("a case"));
    assert_eq!(text(7), text(7));
    assert_ne!(text(7), text(8));
}

/// The tail-loss probe of three segments is due after two round trips and 2 ms (RFC 8985 §7.2): at
/// 20 + 2 * 20 + 2 = 62 ms. A tick of the kernel is 4 ms, so the probe may leave until 70 ms there.
#[test]
fn inputs_keep_away_from_timers() {
    let ms = Duration::from_millis;
    let handshake = FuzzHandshake {
        round_trip: ms(20),
        mss: 1000,
        sack: true,
        timestamps: false,
        window_scale: None,
        window: 60_000,
        no_delay: true,
    };
    let recorded = |second: u64| {
        let write = |at| FuzzStep { at, stimulus: Stimulus::Write(3000) };
        let steps = vec![write(ms(20)), write(ms(second))];
        record(&FuzzCase { handshake, steps, end: ms(second + 10) })
    };
    assert!(recorded(55).is_ok());
    assert_eq!([59, 62, 70].map(recorded), [const { Err(Unplayable::Race) }; 3]);
    assert!(recorded(76).is_ok());
}

const WINDOW_OF_TEN: &str = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 65535 <mss 1000,sackOK>
+0 > S. 0:0(0) ack 1 <...>
+.02 < . 1:1(0) ack 1 win 65535
+0 accept(3, ..., ...) = 4
+0 write(4, ..., 20000) = 20000
+0 > P. 1:10001(10000) ack 1
";

/// RFC 6928: ten segments leave at first. A script that says eleven differs in its last line.
#[test]
fn the_kernel_is_judged_by_its_segments() {
    if !has(&EMULATION) {
        return;
    }
    let judged = |text: &str| {
        let script = script::parse("window.pkt", text).expect("our grammar");
        play_in_kernel(&script).expect("namespaces and TUN devices")
    };
    assert_eq!(judged(WINDOW_OF_TEN), FuzzVerdict::Agrees);
    let FuzzVerdict::Differs(difference) =
        judged(&WINDOW_OF_TEN.replace("10001(10000)", "11001(11000)"))
    else {
        panic!("eleven segments do not leave");
    };
    assert_eq!((difference.line, difference.message.contains("10000 bytes")), (8, true));
}
