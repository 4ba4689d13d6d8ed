//! Calls return what the kernel's return: errors by their names, flags that are applied, sockets in
//! every state.

use crate::common::{LISTENER, OPENING, actual, est, refused, run_text};
use script::RefusalKind;

const CLIENT: &str = "\
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0
+0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)
+0 > S 0:0(0) <...>
";

/// Peeked bytes stay (recv(2)), and flags may be numbers, too: 0x2 is `MSG_PEEK`, 0x8000
/// `MSG_MORE`.
#[test]
fn flags_are_looked_at() {
    let data = "+0 < P. 1:11(10) ack 1 win 257\n+0 > . 1:1(0) ack 11\n";
    let peek =
        |flags: &str| format!("{data}+0 recv(4, ..., 100, {flags}) = 10\n+0 read(4, ..., 4) = 4\n");
    assert!(est(&peek("MSG_PEEK")).is_ok() && est(&peek("0x2")).is_ok());
    assert_eq!(actual(&peek("0")), "it returns -1 EAGAIN");
    let more = |flags: &str| format!("+0 send(4, ..., 10, {flags}) = 10\n+0 > P. 1:11(10) ack 1\n");
    assert!(est(&more("0")).is_ok());
    assert!(est(&more("0x8000")).unwrap_err().contains("sends nothing"));
    for line in [
        "recv(4, ..., 10, MSG_TRUNC) = 0",
        "send(4, ..., 10, MSG_OOB) = 10",
        "send(4, ..., 10, 0x1) = 10",
    ] {
        let (_, why) = refused(&format!("{LISTENER}{OPENING}+0 {line}"));
        assert!(why.contains("unknown flag"), "{line}: {why}");
    }
}

/// Several buffers are one write: 600 and 400 bytes leave as 1000.
#[test]
fn vectors_are_their_sums() {
    let written = "+0 writev(4, [{..., 600}, {..., 400}], 2) = 1000\n+0 > P. 1:1001(1000) ack 1\n";
    assert_eq!(est(written).map(drop), Ok(()));
    let read = "+0 < P. 1:11(10) ack 1 win 257\n+0 > . 1:1(0) ack 11\n+0 readv(4, [{..., 6}, {..., 9}], 2) = 10\n";
    assert_eq!(est(read).map(drop), Ok(()));
}

/// Errors by routers' messages in Linux (`icmp_err_convert`).
#[test]
fn each_message_of_a_router_has_its_error() {
    for (code, errno) in [
        ("net_prohibited", "ENETUNREACH"),
        ("host_prohibited", "EHOSTUNREACH"),
        ("protocol_unreachable", "ENOPROTOOPT"),
        ("port_unreachable", "ECONNREFUSED"),
    ] {
        let message = |errno: &str| {
            run_text(&format!(
                "{CLIENT}+.1 < icmp unreachable {code} [0:0(0)]\n+0 write(3, ..., 10) = -1 {errno}\n"
            ))
        };
        assert_eq!(message(errno).map(drop), Ok(()), "{code}");
        assert!(message("ETIMEDOUT").is_err(), "{code}");
    }
    let (_, why) =
        refused(&format!("{CLIENT}+.1 < icmp unreachable host_unreachable mtu 800 [0:0(0)]"));
    assert!(why.contains("expected a time"), "{why}");
}

/// `SO_ERROR` is the error's number, 104 of `ECONNRESET`, and clears it (socket(7)).
#[test]
fn the_error_of_a_socket_is_read_once() {
    let reset = "+.1 < R. 1:1(0) ack 1 win 0\n";
    let ask = |value: &str| format!("+0 getsockopt(4, SOL_SOCKET, SO_ERROR, [{value}], [4]) = 0\n");
    let rest = "+0 read(4, ..., 10) = 0\n";
    assert_eq!(est(&format!("{reset}{}{}{rest}", ask("104"), ask("0"))).map(drop), Ok(()));
    assert_eq!(est(&format!("{reset}{}{}", ask("ECONNRESET"), ask("0"))).map(drop), Ok(()));
    assert_eq!(actual(&format!("{reset}{}", ask("1"))), "the value is 104");
    let fails = format!("{reset}{}", ask("104").replace("= 0", "= -1 EINVAL"));
    assert_eq!(actual(&fails), "it returns 0");
}

#[test]
fn a_call_in_the_wrong_state_fails_as_in_the_kernel() {
    assert_eq!(actual("+0 connect(4, ..., ...) = 0"), "it returns -1 EISCONN");
    let closed = "+0 shutdown(4, SHUT_WR) = 0\n+0 > F. 1:1(0) ack 1\n+.1 < F. 1:1(0) ack 2 win 257\n\
                  +0 > . 2:2(0) ack 2\n";
    assert_eq!(actual(&format!("{closed}+0 shutdown(4, SHUT_WR) = 0")), "it returns -1 ENOTCONN");
}

/// A listener may listen again. Its reading side ends it, and the next SYN is reset.
#[test]
fn listeners_listen_again_and_end() {
    let syn = "+0 < S 0:0(0) win 32792 <mss 1000>\n";
    let again = format!("{LISTENER}+0 listen(3, 5) = 0\n{syn}+0 > S. 0:0(0) ack 1 <...>\n");
    assert_eq!(run_text(&again).map(drop), Ok(()));
    let with = |how: &str| {
        format!("{LISTENER}+0 shutdown(3, {how}) = 0\n{syn}+0 > R. 0:0(0) ack 1 win 0\n")
    };
    assert_eq!(run_text(&with("SHUT_RDWR")).map(drop), Ok(()));
    assert!(run_text(&with("SHUT_WR")).is_err());
}

/// `TCP_MAXSEG` of an open connection changes nothing of it (`do_tcp_setsockopt` keeps it for the
/// next opening).
#[test]
fn an_open_connection_keeps_its_segment_size() {
    let set = "+0 setsockopt(4, SOL_TCP, TCP_MAXSEG, [500], 4) = 0\n";
    assert!(
        est(&format!("{set}+0 write(4, ..., 1000) = 1000\n+0 > P. 1:1001(1000) ack 1")).is_ok()
    );
}

/// Data in an ECN-capable packet sets the bit 16 of a connection with ECN.
#[test]
fn ecn_that_was_seen_is_told() {
    let opening = "+0 < SEW 0:0(0) win 32792 <mss 1000>\n+0 > SE. 0:0(0) ack 1 <...>\n\
                   +.02 < . 1:1(0) ack 1 win 257\n+0 accept(3, ..., ...) = 4\n";
    let seen =
        |bits: u32| format!("+0 %{{ assert tcpi_options & TCPI_OPT_ECN_SEEN == {bits} }}%\n");
    let data = "+0 < [ect0] P. 1:11(10) ack 1 win 257\n";
    let text = format!("`sysctl -q net.ipv4.tcp_ecn=1`\n{LISTENER}{opening}");
    assert_eq!(run_text(&format!("{text}{}{data}{}", seen(0), seen(16))).map(drop), Ok(()));
    let unmarked = data.replace("[ect0] ", "");
    assert!(run_text(&format!("{text}{unmarked}{}", seen(16))).is_err());
}

/// A script that cannot be read is looked through for words of other systems and protocols. A
/// comment is no such word.
#[test]
fn scripts_of_others_are_known_by_their_words() {
    for (text, kind, about) in [
        ("0 `sysctl net.inet.tcp.rfc1323=1`\n", RefusalKind::OtherSystem, "FreeBSD"),
        ("0 socket(..., SOCK_STREAM, IPPROTO_SCTP) = 3\n", RefusalKind::NotOfTcp, "SCTP"),
        ("0 < S 0:0(0) win 9 <mp_capable a>\n", RefusalKind::NotModelled, "RFC 8684"),
        ("--psp_udp_port=1000\n", RefusalKind::NotModelled, "PSP"),
    ] {
        let (found, why) = refused(text);
        assert!(found == kind && why.contains(about), "{text}: {why}");
    }
    let (kind, _) = refused("// net.inet.tcp\n0 < S 0:0(0) win 9 <nonsense>\n");
    assert_eq!(kind, RefusalKind::Wrong);
}
