//! Reading scripts: what is accepted means what packetdrill means by it, and what is not is one
//! error at its line and column. No input makes the parser panic.

use proptest::prelude::*;
use script::model::{CallKind, CallOutcome, ExpectedEcn, ScriptAction, When};
use script::{Script, parse};
use std::path::Path;
use tcp::{Ecn, Flags, Timestamps};
use units::{Duration, SeqNum};

const SERVER: &str = "\
--scheme=newreno
--tolerance_usecs=10
// A server is opened, sends one segment and closes.
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+.1 < S 0:0(0) win 32792 <mss 1000,sackOK,TS val 10 ecr 0,nop,wscale 7>
+0 > S. 0:0(0) ack 1 <...>
+0...0.1 accept(3, ..., ...) = 4
0.2~0.3 > [ect0] P. 1:1001(1000) ack 1 win 500 <sack 1:1001 3001:4001>
+0 %{
assert tcpi_snd_cwnd == 10 and (tcpi_lost < 3 or not tcpi_ca_state == TCP_CA_Loss), tcpi_lost
assert 1 <= tcpi_unacked <= 3
}%
* > F. 1001:1001(0) ack 1
+0 close(4) = 0
";

fn good(text: &str) -> Script {
    parse("test.pkt", text).expect("a good script")
}

#[test]
fn every_production_of_a_server_script_is_read() {
    let script = good(SERVER);
    assert_eq!(script.settings.scheme.as_ref().map(|scheme| scheme.name()), Some("newreno"));
    assert_eq!(script.settings.tolerance, Duration::from_micros(10));
    // 4 calls, the SYN and its answer, accept, data, a code block, the FIN, close.
    assert_eq!(script.events.len(), 11);
}

#[test]
fn a_segment_s_parts_are_those_written() {
    let script = good(SERVER);
    let ScriptAction::Inbound(syn) = &script.events[4].action else { panic!("the SYN") };
    assert_eq!(syn.flags, Flags::SYN);
    assert_eq!(syn.window, 32_792);
    assert_eq!(syn.options.mss, Some(1000));
    assert_eq!(syn.options.window_scale, Some(7));
    assert!(syn.options.sack_permitted);
    assert_eq!(syn.options.timestamps, Some(Timestamps { value: 10, echo: 0 }));
    let ScriptAction::Outbound(data) = &script.events[7].action else { panic!("the data") };
    assert_eq!(data.segment.flags, Flags::PSH.with(Flags::ACK));
    assert_eq!((data.segment.seq, data.segment.len), (SeqNum(1), 1000));
    assert_eq!((data.segment.ecn, data.ecn), (Ecn::Ect0, ExpectedEcn::Same));
    let blocks = [(SeqNum(1), SeqNum(1001)), (SeqNum(3001), SeqNum(4001))];
    assert_eq!(data.segment.options.sack.as_slice(), blocks);
}

#[test]
fn what_is_not_written_is_not_checked() {
    let script = good(SERVER);
    let ScriptAction::Outbound(syn_ack) = &script.events[5].action else { panic!("the SYN-ACK") };
    assert!(!syn_ack.check_window && !syn_ack.check_options);
    assert_eq!(syn_ack.ecn, ExpectedEcn::Any);
}

#[test]
fn times_are_absolute_relative_ranges_or_any() {
    let ms = Duration::from_millis;
    let when: Vec<_> = good(SERVER).events.iter().map(|event| event.when).collect();
    assert_eq!(when[0], When::At(ms(0)));
    assert_eq!(when[4], When::After(ms(100)));
    assert_eq!(when[7], When::AtRange(ms(200), ms(300)));
    assert_eq!(when[9], When::Any);
    let relative = good("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0~+1 > . 1:1(0) ack 1");
    assert_eq!(relative.events[1].when, When::AfterRange(ms(0), ms(1000)));
}

#[test]
fn a_call_keeps_its_outcome_and_its_own_words() {
    let script = good(SERVER);
    let ScriptAction::Call(accept) = &script.events[6].action else { panic!("accept") };
    assert_eq!((accept.fd, accept.kind), (3, CallKind::Accept));
    assert_eq!(accept.outcome, CallOutcome::Value(4));
    assert_eq!(accept.returns, Some(Duration::from_millis(100)));
    assert_eq!(accept.text, "accept(3, ..., ...) = 4");
}

#[test]
fn options_of_a_real_network_are_noted_and_have_no_effect() {
    let script =
        good("--gateway_ip=192.168.0.1\n--mtu=1040\n0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3");
    assert_eq!(script.notes, ["line 1: --gateway_ip has no effect here"]);
    // 1040 less 20 bytes of IPv4 and 20 of TCP.
    assert_eq!(script.settings.mss(), Some(1000));
}

#[test]
fn sequence_numbers_wrap() {
    // 4294967290 + 10 = 2^32 + 4.
    let script =
        good("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 < . 4294967290:4(10) ack 1 win 9");
    let ScriptAction::Inbound(data) = &script.events[1].action else { panic!("the data") };
    assert_eq!((data.seq, data.len), (SeqNum(4_294_967_290), 10));
}

/// Each bad script with where its error is and what it must say.
const BAD: [(&str, u32, u32, &str); 30] = [
    ("", 1, 1, "at least one event"),
    ("--scheme=reno\n", 2, 1, "at least one event"),
    ("--colour=red\n0 x() = 0", 1, 1, "unknown option --colour; known are --scheme=NAME"),
    ("--mtu=0", 1, 1, "--mtu=N with N from 104 to 65535"),
    ("--ip_version=ipv5", 1, 1, "--ip_version=ipv4"),
    ("`sysctl -w net.x=1`\n", 1, 2, "unknown sysctl net.x"),
    ("0 `ls`", 1, 4, "unknown command \"ls\"; known are defaults.sh"),
    ("`sysctl -q \\\n net.ipv4.tcp_sack=2`", 1, 2, "only 0, 1 is possible here"),
    ("x", 1, 1, "expected a time in seconds"),
    ("0", 1, 2, "expected \"<\" and a segment that arrives"),
    ("0.5~0.4 > . 1:1(0)", 1, 1, "ends before it begins"),
    ("+0~0.4 > . 1:1(0)", 1, 4, "before the end of a relative range"),
    ("* < . 1:1(0) win 1", 1, 1, "can only time a segment that leaves"),
    ("0 < . 1:1(0)", 1, 13, "win N"),
    ("0 < . 1:1(0) win 65536", 1, 18, "at most 65535"),
    ("0 < . 1:1(0) win 1 <...>", 1, 5, "needs them written out"),
    ("0 > Q 1:1(0)", 1, 5, "letters of S F R P E W"),
    ("0 > 80 > 81 . 1:1(0)", 1, 5, "no ports"),
    ("0 > . 1:11(9)", 1, 7, "1 + 9 bytes end at 10, not at 11"),
    ("0 > S 0:0(0) ack 1", 1, 14, "ack N needs the flag"),
    ("0 > . 1:1(0) <mss 1,bogus>", 1, 21, "an option: mss, wscale"),
    ("0 > . 1:1(0) <wscale 15>", 1, 22, "at most 14"),
    ("0 > . 1:1(0) <sack 1:2 3:4 5:6 7:8 9:10>", 1, 36, "at most four SACK blocks"),
    ("0 > . 1:1(0) <TS val 1 ecr 1,sack 1:2 3:4 5:6 7:8>", 1, 15, "more than 40 bytes"),
    ("0 dance(3) = 0", 1, 3, "unknown call dance"),
    ("0 write(3, ..., 9) = 9", 1, 1, "no socket yet"),
    ("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 write(3, ..., 9) = 9", 2, 1, "neither"),
    ("0 %{ assert tcpi_cwnd == 1 }%", 1, 13, "one of tcpi_state"),
    ("0 %{ import os }%", 1, 6, "nothing else of Python"),
    ("1 > . 1:1(0)\n0 > . 1:1(0)", 2, 1, "before the one above it"),
];

#[test]
fn each_error_names_file_line_column_and_what_was_expected() {
    for (text, line, column, message) in BAD {
        let error = parse("bad.pkt", text).expect_err(text);
        assert_eq!((error.line, error.column), (line, column), "{text:?}: {error}");
        assert!(error.message.contains(message), "{text:?}: {error}");
        assert!(error.to_string().starts_with(&format!("bad.pkt:{line}:{column}: ")));
    }
}

#[test]
fn text_that_is_not_utf8_is_an_error_where_it_begins() {
    let error = parse("bad.pkt", b"0\n ab\xff").unwrap_err();
    assert_eq!((error.line, error.column), (2, 4));
}

#[test]
fn nesting_is_bounded_so_that_the_stack_is() {
    let deep = format!("0 bind({}", "[".repeat(100_000));
    assert!(parse("deep.pkt", deep).unwrap_err().message.contains("too deeply"));
    let deep = format!("0 %{{ assert {} }}%", "(".repeat(100_000));
    assert!(parse("deep.pkt", deep).unwrap_err().message.contains("too deeply"));
    let deep = format!("0 %{{ assert {} }}%", "not ".repeat(100_000));
    assert!(parse("deep.pkt", deep).unwrap_err().message.contains("too deeply"));
}

#[test]
fn the_fuzz_corpus_is_read_without_a_panic() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz-corpus/script");
    let mut read = 0;
    for entry in std::fs::read_dir(folder).expect("the corpus") {
        let bytes = std::fs::read(entry.expect("an entry").path()).expect("a file");
        let _ = parse("corpus.pkt", bytes);
        read += 1;
    }
    assert!(read >= 10, "the corpus has only {read} files");
}

proptest! {
    #[test]
    fn no_bytes_make_the_parser_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = parse("any.pkt", bytes);
    }

    #[test]
    fn no_damage_to_a_good_script_makes_the_parser_panic(
        at in 0..SERVER.len(),
        cut in 0..20_usize,
        insert in "[-+*~<>.:(),=0-9a-zA-Z%{}\\[\\]`\"/ \n]{0,8}",
    ) {
        let end = (at + cut).min(SERVER.len());
        let damaged = format!("{}{insert}{}", &SERVER[..at], &SERVER[end..]);
        if let Err(error) = parse("damaged.pkt", &damaged) {
            let lines = damaged.split('\n').count() as u32;
            prop_assert!((1..=lines).contains(&error.line), "{}", error);
        }
    }
}
