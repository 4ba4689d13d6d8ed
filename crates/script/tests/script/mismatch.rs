//! Reports of a run when the host does something else. They have the first event that differs, its
//! file and line, and both sides in the script's notation.

use script::{Mismatch, RunReport, parse, run};

/// A server with round trips of 0.1 s, of which scripts append the rest from line 9 on.
const OPENING: &str = "\
--scheme=newreno+iw=4
--tolerance_usecs=0
0   socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0  listen(3, 1) = 0
+0  < S 0:0(0) win 32792 <mss 1000>
+0  > S. 0:0(0) ack 1 <...>
+.1 < . 1:1(0) ack 1 win 32792
+0  accept(3, ..., ...) = 4
";

fn play(rest: &str) -> Result<RunReport, Mismatch> {
    let script = parse("test.pkt", format!("{OPENING}{rest}")).expect("a good script");
    run(&script, None)
}

fn mismatch(rest: &str) -> Mismatch {
    play(rest).expect_err("a mismatch")
}

#[test]
fn a_segment_that_differs_is_shown_beside_the_one_expected() {
    let mismatch = mismatch("+0 write(4, ..., 500) = 500\n+0 > P. 1:401(400) ack 2\n");
    assert_eq!(
        mismatch.to_string(),
        "test.pkt:10: the segment differs in length, acknowledgement\n  \
           expected: 0.100000 > P. 1:401(400) ack 2\n    \
             actual: 0.100000 > P. 1:501(500) ack 1 win 65535"
    );
}

#[test]
fn flags_numbers_windows_options_and_ecn_are_compared() {
    for (expected, part) in [
        ("S. 1:501(500) ack 1", "flags"),
        (". 1:501(500) ack 1", "flags"),
        ("P. 2:502(500) ack 1", "sequence number"),
        ("P. 1:501(500) ack 1 win 3", "window"),
        ("P. 1:501(500) ack 1 <sack 1:2>", "options"),
        ("[ect0] P. 1:501(500) ack 1", "ECN field"),
    ] {
        let mismatch = mismatch(&format!("+0 write(4, ..., 500) = 500\n+0 > {expected}\n"));
        assert_eq!(mismatch.message, format!("the segment differs in {part}"), "{expected}");
    }
}

#[test]
fn a_segment_that_no_event_asked_for_differs_from_the_next_expected_one() {
    // The write's segment leaves at 0.1 s; the script only knows of the ACK at 0.2 s.
    let mismatch = mismatch(
        "+0 write(4, ..., 500) = 500\n+.1 < F. 1:1(0) ack 1 win 9\n+0 > . 501:501(0) ack 2\n",
    );
    assert_eq!(mismatch.line, 11);
    assert_eq!(mismatch.actual, "0.100000 > P. 1:501(500) ack 1 win 65535");
}

#[test]
fn a_segment_is_early_beyond_the_tolerance_only() {
    let early = mismatch("+0 write(4, ..., 500) = 500\n+.25 > P. 1:501(500) ack 1\n");
    assert_eq!(early.message, "the segment is 250ms early");
    let tolerant =
        format!("--tolerance_usecs=250000\n{}", &OPENING.replace("--tolerance_usecs=0\n", ""));
    let text = format!("{tolerant}+0 write(4, ..., 500) = 500\n+.25 > P. 1:501(500) ack 1\n");
    assert_eq!(run(&parse("test.pkt", text).expect("a good script"), None).map(drop), Ok(()));
    let range = "+0 write(4, ..., 500) = 500\n+0~+.1 > P. 1:501(500) ack 1\n";
    assert_eq!(play(range).map(drop), Ok(()));
}

#[test]
fn silence_says_what_the_host_waits_for() {
    // The one segment was sent at 0.1 s; RTO = 1 s.
    let mismatch = mismatch(
        "+0 write(4, ..., 500) = 500\n+0 > P. 1:501(500) ack 1\n+.9 > P. 1:501(500) ack 1\n",
    );
    assert_eq!(mismatch.message, "the host sends nothing");
    assert_eq!(mismatch.actual, "nothing until 1.000000; the next timer is at 1.100000");
}

#[test]
fn any_time_waits_and_the_next_relative_time_counts_from_there() {
    // The retransmissions come at 0.1 + 1 and 1.1 + 2 s.
    let script = "+0 write(4, ..., 500) = 500\n+0 > P. 1:501(500) ack 1\n\
                  * > P. 1:501(500) ack 1\n+2 > P. 1:501(500) ack 1\n";
    assert_eq!(play(script).map(drop), Ok(()));
}

#[test]
fn one_expected_segment_matches_several_unless_segments_are_strict() {
    let rest = "+0 write(4, ..., 3000) = 3000\n+0 > P. 1:3001(3000) ack 1\n";
    // The SYN-ACK and three.
    assert_eq!(play(rest).map(|report| report.sent), Ok(4));
    let script = parse("test.pkt", format!("--strict_segments\n{OPENING}{rest}"));
    let mismatch = run(&script.expect("a good script"), None).unwrap_err();
    assert!(mismatch.message.contains("length"), "{mismatch}");
    // The third of three is longer than what is left of 2500.
    let mismatch = self::mismatch("+0 write(4, ..., 3000) = 3000\n+0 > P. 1:2501(2500) ack 1\n");
    assert_eq!(mismatch.message, "the segment differs in length");
}

#[test]
fn of_what_is_split_the_last_is_compared_in_full() {
    // The third of three carries PSH; none carries FIN.
    let rest = |expected: &str| {
        format!("0.1 write(4, ..., 3000) = 3000\n+0 > {expected} 1:3001(3000) ack 1\n")
    };
    assert_eq!(play(&rest("P.")).map(drop), Ok(()));
    assert_eq!(mismatch(&rest(".")).message, "the segment differs in flags");
    assert_eq!(mismatch(&rest("FP.")).message, "the segment differs in flags");
    let text = format!("--ignore_push\n{OPENING}{}", rest("."));
    assert_eq!(run(&parse("test.pkt", text).expect("a good script"), None).map(drop), Ok(()));
}

#[test]
fn an_assertion_shows_the_values_it_asked_for() {
    let mismatch = mismatch("+0 %{\nassert tcpi_snd_cwnd == 4\nassert tcpi_unacked > 0, 1 }%\n");
    // The first holds: iw=4. The second, on the block's third line, does not.
    assert_eq!(mismatch.line, 11);
    assert_eq!(mismatch.expected, "tcpi_unacked > 0");
    assert_eq!(mismatch.actual, "tcpi_unacked = 0");
}

#[test]
fn an_assertion_without_a_connection_says_so() {
    let text = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 %{ assert tcpi_rto > 0 }%";
    let mismatch = run(&parse("a.pkt", text).expect("a good script"), None).unwrap_err();
    assert_eq!(mismatch.actual, "there is no connection");
}

#[test]
fn a_call_that_returns_something_else_is_a_mismatch() {
    let mismatch = mismatch("+0 < . 1:101(100) ack 1 win 9\n+0 read(4, ..., 500) = 500\n");
    assert_eq!(mismatch.expected, "read(4, ..., 500) = 500");
    assert_eq!(mismatch.actual, "it returns 100");
}

#[test]
fn a_waiting_call_returns_at_its_time() {
    let with = |end: &str| {
        play(&format!(
            "0.1...{end} read(4, ..., 500) = 100\n0.3 < . 1:101(100) ack 1 win 9\n1 write(4, ..., \
             1) = 1\n"
        ))
    };
    assert_eq!(with("0.3").map(drop), Ok(()));
    for end in ["0.2", "0.4"] {
        let mismatch = with(end).unwrap_err();
        // The line of the call, not of the event during which it failed.
        assert_eq!(mismatch.line, 9, "{mismatch}");
        assert_eq!(mismatch.message, "the call returns at another time");
    }
    let never = play("+0...5 read(4, ..., 500) = 100\n").unwrap_err();
    assert!(never.actual.contains("still waits") || never.actual.contains("never"), "{never}");
}

#[test]
fn the_scheme_given_to_the_run_goes_before_the_script_s_own() {
    let script = parse("test.pkt", OPENING).expect("a good script");
    let tahoe = tcp::Scheme::parse("tahoe").expect("a scheme");
    assert_eq!(run(&script, Some(&tahoe)).map(|report| report.scheme), Ok("tahoe".to_owned()));
    assert_eq!(run(&script, None).map(|report| report.scheme), Ok("newreno+iw=4".to_owned()));
}

#[test]
fn what_is_sent_and_not_asked_for_is_reported() {
    let report = play("+0 write(4, ..., 500) = 500\n").expect("it holds");
    assert_eq!(report.left_over, ["0.100000 > P. 1:501(500) ack 1 win 65535"]);
}

#[test]
fn runs_repeat() {
    let script = parse("test.pkt", format!("{OPENING}+0 write(4, ..., 9000) = 9000\n"));
    let script = script.expect("a good script");
    assert_eq!(run(&script, None), run(&script, None));
}
