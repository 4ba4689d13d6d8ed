//! A script's settings take effect when they do in the kernel, or are refused by name.

use crate::common::{LISTENER, OPENING, est, refused, run_text};
use script::RefusalKind;

/// Linux reads `tcp_sack` when the SYN comes, and not when the socket begins to listen.
#[test]
fn a_listener_takes_a_connection_by_the_settings_of_its_time() {
    let with = |answer: &str| {
        format!(
            "{LISTENER}+0 `sysctl -q net.ipv4.tcp_sack=0`\n\
             +0 < S 0:0(0) win 32792 <mss 1000,sackOK>\n+0 > S. 0:0(0) ack 1 <{answer}>\n"
        )
    };
    assert_eq!(run_text(&with("mss 1460")).map(drop), Ok(()));
    assert!(run_text(&with("mss 1460,sackOK")).unwrap_err().contains("differs in options"));
}

/// The kernel asks `tcp_slow_start_after_idle` of an open connection, and a scheme has it from its
/// beginning.
#[test]
fn what_cannot_change_while_a_connection_is_open_is_refused() {
    let change = "+0 `sysctl -q net.ipv4.tcp_slow_start_after_idle=0`\n";
    let (kind, why) = refused(&format!("{LISTENER}{OPENING}{change}+0 write(4, ..., 10) = 10\n"));
    assert_eq!(kind, RefusalKind::NotModelled);
    assert!(why.contains("idle=keep") && why.contains("while a connection is open"), "{why}");
    // At the end of a script nothing follows that it could change.
    assert!(est(&format!("+0 close(4) = 0\n{change}")).is_ok());
}

/// A route keeps the link's segment size of 1040 - 40 bytes if it names none; its own MTU of 640
/// leaves 600.
#[test]
fn a_route_bounds_the_segment_size_and_forgets_the_link_s_not() {
    let with = |route: &str, mss: u32| {
        let opening = "+0 < S 0:0(0) win 32792 <mss 1460>\n";
        run_text(&format!(
            "--mtu=1040\n`ip route change 192.0.2.1 dev tun0 {route}`\n{LISTENER}{opening}\
             +0 > S. 0:0(0) ack 1 <mss {mss}>\n"
        ))
        .map(drop)
    };
    assert_eq!(with("initcwnd 2", 1000), Ok(()));
    assert_eq!(with("mtu lock 640", 600), Ok(()));
    assert_eq!(with("advmss 500 mtu lock 640", 500), Ok(()));
    let (_, why) = refused("`tc qdisc replace dev tun0 root pfifo limit 1`\n0 close(3) = 0");
    assert!(why.contains("limits 0 alone"), "{why}");
}

/// Two invalid segments at one instant: by `tcp_invalid_ratelimit=0` both are answered, by 500 ms
/// one is.
#[test]
fn limits_do_not_stay_when_the_setting_goes_back() {
    let limit = |n: u32| format!("`sysctl -q net.ipv4.tcp_invalid_ratelimit={n}`\n");
    let invalid = "+0 < . 900000:900000(0) ack 1 win 257\n";
    let answer = "+0 > . 1:1(0) ack 1\n";
    let rest = format!("{OPENING}+1 {}+0 {}", &invalid[3..], &invalid[3..]);
    let both = format!("{answer}{answer}");
    assert_eq!(run_text(&format!("{}{LISTENER}{rest}{both}", limit(0))).map(drop), Ok(()));
    let back = format!("{}{}{LISTENER}{rest}", limit(0), limit(500));
    assert_eq!(run_text(&format!("{back}{answer}")).map(|report| report.left_over.len()), Ok(0));
    assert!(run_text(&format!("{back}{both}")).is_err());
}

/// Bits that other kernels ignore are known; 0x800 is no bit of Linux 6.18.
#[test]
fn unknown_bits_and_probes_are_refused() {
    let with = |sysctl: &str| format!("`sysctl -q net.ipv4.{sysctl}`\n{LISTENER}");
    assert!(run_text(&with("tcp_fastopen=0x70403")).is_ok());
    assert!(refused(&with("tcp_fastopen=0x803")).1.contains("0x800"));
    let (kind, why) = refused(&with("tcp_mtu_probing=2"));
    assert_eq!(kind, RefusalKind::NotModelled);
    assert!(why.contains("probes"), "{why}");
}

/// Unacknowledged data ends a connection 3 s after it was sent (tcp(7)), whether that was set
/// before the connection opened or after. The listener's connection has it from the listener.
#[test]
fn the_user_timeout_of_a_listener_is_its_connection_s() {
    let user_timeout = "+0 setsockopt(3, SOL_TCP, TCP_USER_TIMEOUT, [3000], 4) = 0\n";
    let written = "+0 write(4, ..., 10) = 10\n+0 > P. 1:11(10) ack 1\n";
    let ended = "+20 write(4, ..., 10) = -1 ETIMEDOUT\n";
    let with = |set: &str| run_text(&format!("{LISTENER}{set}{OPENING}{written}{ended}")).map(drop);
    assert_eq!(with(user_timeout), Ok(()));
    assert!(with("").is_err());
}

/// A listener's `TCP_NODELAY` is its connections': the second small segment does not wait for the
/// first one's ACK.
#[test]
fn options_of_a_listener_are_its_connections() {
    let option = "+0 setsockopt(3, SOL_TCP, TCP_NODELAY, [2], 4) = 0\n";
    let second = "+0 write(4, ..., 10) = 10\n+0 > P. 11:21(10) ack 1\n";
    let first = "+0 write(4, ..., 10) = 10\n+0 > P. 1:11(10) ack 1\n";
    assert!(run_text(&format!("{LISTENER}{option}{OPENING}{first}{second}")).is_ok());
    assert!(run_text(&format!("{LISTENER}{OPENING}{first}{second}")).is_err());
    // TCP_CORK of a client, before it connects: the small segment waits.
    let client = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n";
    let opens = "+0...0.1 connect(3, ..., ...) = 0\n+0 > S 0:0(0) <...>\n\
                 +.1 < S. 0:0(0) ack 1 win 32792 <mss 1000>\n+0 > . 1:1(0) ack 1\n";
    let written = "+0 write(3, ..., 10) = 10\n+0 > P. 1:11(10) ack 1\n";
    let cork = "+0 setsockopt(3, SOL_TCP, TCP_CORK, [1], 4) = 0\n";
    assert!(run_text(&format!("{client}{opens}{written}")).is_ok());
    assert!(run_text(&format!("{client}{cork}{opens}{written}")).unwrap_err().contains("nothing"));
}

#[test]
fn options_that_would_do_nothing_are_refused() {
    for (line, why) in [
        ("+0 setsockopt(4, SOL_IP, IP_MTU_DISCOVER, [IP_PMTUDISC_PROBE], 4) = 0", "IP_PMTUDISC_DO"),
        ("+0 fcntl(4, F_SETFL, O_APPEND) = 0", "O_APPEND"),
        ("+0 fcntl(4, F_DUPFD, 0) = 5", "F_GETFL"),
    ] {
        let (_, message) = refused(&format!("{LISTENER}{OPENING}{line}"));
        assert!(message.contains(why), "{line}: {message}");
    }
    let buffer = "+0 setsockopt(4, SOL_SOCKET, SO_RCVBUF, [9000], 4) = 0";
    let (kind, why) = refused(&format!("{LISTENER}{OPENING}{buffer}"));
    assert_eq!((kind, why.contains("receive buffer")), (RefusalKind::NotModelled, true));
    let (kind, why) = refused("0 socket(..., SOCK_STREAM, IPPROTO_MPTCP) = 3");
    assert_eq!((kind, why.contains("Multipath")), (RefusalKind::NotModelled, true));
    assert!(
        refused("0 socket(..., SOCK_STREAM|SOCK_DGRAM, IPPROTO_TCP) = 3").1.contains("only TCP")
    );
}

/// A router asks for packets of 800 bytes. A socket that lets packets be fragmented goes on with
/// 1000 (ip(7)).
#[test]
fn packets_that_may_be_fragmented_stay_as_they_are() {
    let option = "+0 setsockopt(3, SOL_IP, IP_MTU_DISCOVER, [IP_PMTUDISC_DONT], 4) = 0\n";
    let rest = "+0 write(4, ..., 1000) = 1000\n+0 > P. 1:1001(1000) ack 1\n\
                +.01 < icmp unreachable frag_needed mtu 800 [1:1001(1000)]\n\
                +0 %{ assert tcpi_snd_mss == 1000 }%\n";
    assert_eq!(run_text(&format!("{LISTENER}{option}{OPENING}{rest}")).map(drop), Ok(()));
    // 800 less 40 bytes of headers.
    let error = run_text(&format!("{LISTENER}{OPENING}{rest}")).unwrap_err();
    assert!(error.contains("tcpi_snd_mss = 760"), "{error}");
}

#[test]
fn a_socket_that_does_not_block_says_so() {
    let text = "0 socket(..., SOCK_STREAM|SOCK_NONBLOCK, IPPROTO_TCP) = 3\n";
    assert!(run_text(&format!("{text}+0 fcntl(3, F_GETFL) = 0x802 (flags)\n")).is_ok());
    assert!(run_text(&format!("{text}+0 fcntl(3, F_GETFL) = 0x2\n")).is_err());
    assert!(run_text(&format!("{LISTENER}+0 fcntl(3, F_GETFL) = 0x802\n")).is_err());
    for line in [
        "bind(3, ..., ...) = -1 EINVAL",
        "setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = -1 EINVAL",
    ] {
        let error = run_text(&format!("{text}+0 {line}\n")).unwrap_err();
        assert!(error.contains("it returns 0"), "{error}");
    }
}

/// A listener's own key makes its cookies, also behind a command that says nothing of keys.
#[test]
fn a_listener_keeps_its_fast_open_key() {
    let set = "`sysctl -q net.ipv4.tcp_fastopen=0x3`\n";
    let key = "+0 setsockopt(3, SOL_TCP, TCP_FASTOPEN_KEY, \"\\x01\\x02\\x03\\x04\\x05\\x06\\x07\\x08\\x09\\x0a\\x0b\\x0c\\x0d\\x0e\\x0f\\x10\", 16) = 0\n";
    let queue = "+0 setsockopt(3, SOL_TCP, TCP_FASTOPEN, [5], 4) = 0\n";
    let command = "+0 `sysctl -q net.ipv4.tcp_syn_retries=3`\n";
    // The SYN-ACK differs from one without options, and the difference shows its cookie.
    let asked = "+0 < S 0:0(0) win 32792 <mss 1000,FO>\n+0 > S. 0:0(0) ack 1\n";
    let cookie = |between: &str| {
        run_text(&format!("{set}{LISTENER}{queue}{between}{asked}"))
            .unwrap_err()
            .rsplit("actual")
            .next()
            .unwrap()
            .to_owned()
    };
    assert!(cookie(key).contains("FO "), "{}", cookie(key));
    assert_eq!(cookie(&format!("{key}{command}")), cookie(key));
    assert_ne!(cookie(""), cookie(key));
}

/// A timeout of 0.2 s and a bit doubles eleven times in 400 s, up to the longest one.
#[test]
fn the_longest_timeout_is_the_one_that_is_set() {
    let with = |ms: u32, micros: u32| {
        run_text(&format!(
            "`sysctl -q net.ipv4.tcp_rto_max_ms={ms}`\n{LISTENER}{OPENING}+0 write(4, ..., 10) = 10\n\
             +0 > P. 1:11(10) ack 1\n+400 %{{ assert tcpi_rto == {micros} }}%\n"
        ))
        .map(drop)
    };
    assert_eq!(with(120_000, 120_000_000), Ok(()));
    assert_eq!(with(60_000, 60_000_000), Ok(()));
    assert!(
        refused("`sysctl -q net.ipv4.tcp_rto_max_ms=120001`\n0 close(3) = 0").1.contains("120000")
    );
}

/// `TCP_NODELAY` and its like are read as they were set; an accepted connection has the listener's
/// (`sk_clone`).
#[test]
fn options_are_read_as_they_were_set() {
    for (option, set, other) in
        [("TCP_NODELAY", 1, 0), ("TCP_CORK", 1, 0), ("TCP_USER_TIMEOUT", 5000, 0)]
    {
        let set = format!("+0 setsockopt(4, SOL_TCP, {option}, [{set}], 4) = 0\n");
        let get = |value: u32| format!("+0 getsockopt(4, SOL_TCP, {option}, [{value}], [4]) = 0\n");
        assert!(est(&get(0)).is_ok(), "{option} is 0 at first");
        assert!(est(&format!("{set}{}", get(other))).is_err(), "{option}");
    }
    let set = "+0 setsockopt(4, SOL_TCP, TCP_USER_TIMEOUT, [5000], 4) = 0\n";
    let get = "+0 getsockopt(4, SOL_TCP, TCP_USER_TIMEOUT, [5000], [4]) = 0\n";
    assert!(est(&format!("{set}{get}")).is_ok());
}

/// The largest receive window of 6 MiB needs a window scale of 7 (6 MiB / 65,535 < 2^7), and 32 MiB
/// need 10: they are more than 2^9 times 65,535. Settings of the machine leave the version, and the
/// scheme's own version is the stronger one.
#[test]
fn a_version_of_linux_holds_beside_settings_of_the_machine() {
    let with = |settings: &str, shift: u32| {
        let opening = "+0 < S 0:0(0) win 32792 <mss 1000,wscale 7>\n";
        run_text(&format!(
            "{settings}`sysctl -q net.ipv4.tcp_timestamps=0`\n{LISTENER}{opening}\
             +0 > S. 0:0(0) ack 1 <mss 1460,wscale {shift}>\n"
        ))
        .map(drop)
    };
    assert_eq!(with("", 10), Ok(()));
    assert_eq!(with("--linux=6.12\n", 7), Ok(()));
    assert_eq!(with("--scheme=linux+linux=7.0\n--linux=6.12\n", 10), Ok(()));
}

/// A good script about another mechanism is not one with a mistake.
#[test]
fn mechanisms_that_no_socket_has_are_not_modelled_by_name() {
    for (line, word) in [
        ("+0 setsockopt(4, SOL_TCP, TCP_QUICKACK, [1], 4) = 0", "TCP_QUICKACK"),
        ("+0 setsockopt(4, SOL_TCP, TCP_LINGER2, [5], 4) = 0", "TCP_LINGER2"),
        ("+0 setsockopt(4, SOL_TCP, TCP_CONGESTION, \"reno\", 4) = 0", "TCP_CONGESTION reno"),
        ("+0 `sysctl -q net.ipv4.tcp_window_scaling=0`", "window scale"),
        ("+0 `sysctl -q net.ipv4.tcp_fin_timeout=5`", "FIN-WAIT-2"),
        ("+0 `sysctl -q net.ipv4.tcp_retries2=3`", "timeouts"),
        ("+0 `ip route change 192.0.2.0/24 dev tun0 rto_min 50`", "rto_min 50"),
    ] {
        let (kind, why) = refused(&format!("{LISTENER}{OPENING}{line}\n"));
        assert!(kind == RefusalKind::NotModelled && why.contains(word), "{line}: {why}");
    }
    let cubic = "+0 setsockopt(4, SOL_TCP, TCP_CONGESTION, \"cubic\", 5) = 0";
    assert!(est(cubic).is_ok());
}

/// The message about an unknown option names the options that are parsed, congestion control among
/// them.
#[test]
fn an_unknown_option_is_answered_with_the_known_ones() {
    let set = |option: &str, value: &str| {
        run_text(&format!("{LISTENER}+0 setsockopt(3, SOL_TCP, {option}, {value}, 4) = 0\n"))
    };
    let error = set("TCP_NO_SUCH", "[1]").unwrap_err();
    assert!(error.contains("unknown socket option TCP_NO_SUCH"), "{error}");
    assert!(error.contains("TCP_CONGESTION"), "{error}");
    assert_eq!(set("TCP_CONGESTION", "\"cubic\"").map(drop), Ok(()));
}
