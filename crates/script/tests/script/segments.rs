//! Every part of a segment that a script writes is compared, or refused by name.

use crate::common::{LISTENER, OPENING, actual, est, refused, run_text};
use script::{RefusalKind, parse};
use tcp::{Ecn, Flags};

/// RFC 3168 §5 has two codepoints, of which hosts here send ECT(0).
#[test]
fn the_two_codepoints_of_ecn_differ() {
    let opening = "+0 < SEW 0:0(0) win 32792 <mss 1000>\n+0 > SE. 0:0(0) ack 1 <...>\n\
                   +.02 < . 1:1(0) ack 1 win 257\n+0 accept(3, ..., ...) = 4\n+0 write(4, ..., 10) = 10\n";
    let sent = |field: &str| {
        let on = "`sysctl -q net.ipv4.tcp_ecn=1`\n";
        run_text(&format!("{on}{LISTENER}{opening}+0 > {field} P. 1:11(10) ack 1\n")).map(drop)
    };
    assert_eq!(sent("[ect0]"), Ok(()));
    assert_eq!(sent("[ect01]"), Ok(()));
    assert_eq!(sent("(ect0, ttl 64)"), Ok(()));
    assert_eq!(sent("[tos 0x2]"), Ok(()));
    for field in ["[ect1]", "[noecn]", "[ce]", "[tos 0x0]"] {
        assert!(sent(field).unwrap_err().contains("differs in ECN field"), "{field}");
    }
    for field in ["[ttl 63]", "[tos 0x10]"] {
        let (kind, _) = refused(&format!("0 > {field} . 1:1(0) ack 1"));
        assert_eq!(kind, RefusalKind::NotModelled, "{field}");
    }
    assert!(parse("a.pkt", "0 < [ttl 3, tos 0x10] . 1:1(0) ack 1 win 9").is_ok());
    assert!(refused("0 < [ect01] . 1:1(0) ack 1 win 9").1.contains("not either"));
}

/// A cookie has 4 to 16 bytes (RFC 7413 §4.1.1), and no host sends an option twice. Received
/// segments may have any options.
#[test]
fn options_that_no_host_sends_are_refused_where_they_leave() {
    let syn_ack = |options: &str| format!("0 > S. 0:0(0) ack 1 <mss 1460,{options}>");
    assert!(refused(&syn_ack("FO abcdef")).1.contains("4 to 16 bytes"));
    assert!(refused(&syn_ack("mss 1000")).1.contains("each option once"));
    assert!(refused(&syn_ack("FO abcd1234,FOEXP abcd1234")).1.contains("each option once"));
    assert!(parse("a.pkt", syn_ack("nop,nop,FO abcd1234")).is_ok());
    assert!(parse("a.pkt", "0 < S 0:0(0) win 9 <mss 1,mss 2,FO abcdef>").is_ok());
}

/// `A` is a flag, and a digit is the number of the flags A, W and E (RFC 9768 §3.2.2), also behind
/// the point that means ACK. The word ACK has no flag C.
#[test]
fn a_digit_is_three_flags() {
    let flags = |text: &str| {
        let script = parse("a.pkt", format!("0 > {text} 1:1(0) ack 1")).expect(text);
        let script::model::ScriptAction::Outbound(expected) = &script.events[0].action else {
            panic!("{text}")
        };
        (expected.segment.flags.ace(), expected.segment.has(Flags::PSH))
    };
    assert_eq!(flags("EA."), (5, false));
    assert_eq!(flags(".5"), (5, false));
    assert_eq!(flags("P.6"), (6, true));
    assert_eq!(flags("P3."), (3, true));
    assert_eq!(flags("."), (0, false));
    for text in ["ACK", "P.8", ".55", "P9."] {
        let (kind, why) = refused(&format!("0 < {text} 1:1(0) ack 1 win 9"));
        let is_said = why.contains("letters of S F R");
        assert_eq!((kind, is_said), (RefusalKind::Wrong, true), "{text}: {why}");
    }
}

/// The option has one of two orders (RFC 9768 §3.2.3), and may be short.
#[test]
fn counters_of_ecn_have_two_orders() {
    let first = |text: &str| {
        let script = parse("a.pkt", format!("0 > . 1:1(0) ack 1 <{text}>")).expect(text);
        let script::model::ScriptAction::Outbound(expected) = &script.events[0].action else {
            panic!("{text}")
        };
        expected.segment.options.ecn.expect(text).iter().collect::<Vec<_>>()
    };
    assert_eq!(first("ECN e0b 7 ceb 8,nop"), [(Ecn::Ect0, 7), (Ecn::Ce, 8)]);
    assert_eq!(first("ECN e1b 9"), [(Ecn::Ect1, 9)]);
    assert_eq!(first("ECN"), []);
    refused("0 > . 1:1(0) ack 1 <ECN ceb 8>");
    refused("0 > . 1:1(0) ack 1 <ECN e0b 16777216>");
}

/// A packet of 1300 bytes has 1240 behind the headers of IPv6 and TCP, and 1260 behind those of
/// IPv4.
#[test]
fn a_packet_over_ipv6_has_more_headers() {
    let mss = |name: &str, settings: &str| {
        let script = parse(name, format!("--mtu=1300\n{settings}{LISTENER}")).expect("a script");
        script.settings.mss()
    };
    assert_eq!(mss("a.pkt", ""), Some(1260));
    assert_eq!(mss("a.pkt", "--ip_version=ipv6\n"), Some(1240));
    assert_eq!(mss("a-v6.pkt", ""), Some(1240));
    // The script's setting has priority over its name.
    assert_eq!(mss("a-v6.pkt", "--ip_version=ipv4\n"), Some(1260));
    assert!(refused(&format!("--mtu=110\n--ip_version=ipv6\n{LISTENER}")).1.contains("--mtu"));
}

#[test]
fn what_has_no_effect_is_noted() {
    let set = "`sysctl -q net.ipv4.tcp_wmem=\"4096 4096 4096\"`\n";
    let option = "+0 setsockopt(4, SOL_SOCKET, SO_KEEPALIVE, [1], 4) = 0\n";
    let script = parse("a.pkt", format!("{set}{LISTENER}{OPENING}{option}")).expect("a script");
    assert_eq!(
        script.notes,
        ["line 1: tcp_wmem has no effect here", "line 10: SO_KEEPALIVE has no effect here"]
    );
}

/// Ten bytes came, of which four were read (tcp(7)).
#[test]
fn unread_bytes_are_counted() {
    let unread = |n: u32| {
        format!(
            "+0 < P. 1:11(10) ack 1 win 257\n+0 read(4, ..., 4) = 4\n+0 ioctl(4, SIOCINQ, [{n}]) = 0\n"
        )
    };
    assert!(est(&unread(6)).is_ok());
    assert_eq!(actual(&unread(10)), "the value is 6");
    assert_eq!(
        refused(&format!("{LISTENER}+0 ioctl(3, SIOCATMARK, [0]) = 0")).0,
        RefusalKind::NotOfTcp
    );
    // A file without a sendfile is no reason.
    assert_eq!(refused(&format!("`rm -rf x`\n{LISTENER}")).0, RefusalKind::Wrong);
    assert_eq!(
        refused(&format!("`rm -rf x`\n{LISTENER}+0 sendfile(4, 5, [0], 9) = 9")).0,
        RefusalKind::NotOfTcp
    );
}
