//! Random scripts in the model, and one in the kernel.

use kernel_fuzz::{FuzzKind, FuzzVerdict, Unplayable, compose, play_in_kernel, record};
use test_support::{EMULATION, has};

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

/// An input that is moved onto a timer could be played in either order.
#[test]
fn inputs_keep_away_from_timers() {
    let mut case = compose(FuzzKind::Timeout, 1).expect("a case");
    let races = (0..400_u64).any(|ms| {
        let at = units::Duration::from_millis(ms);
        if let Some(last) = case.steps.last_mut() {
            last.at = at.max(last.at);
        }
        record(&case) == Err(Unplayable::Race)
    });
    assert!(races);
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
