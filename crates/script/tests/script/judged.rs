//! No script holds because something in it was not looked at. Each test is a script that is wrong
//! about Linux, or asks for something that is not modelled: it must differ, or be refused by name.

use crate::common::{LISTENER, OPENING, actual, est, refused, run_text};

/// No quantity here is kept: `tcpi_busy_time`. The window of ten segments (RFC 6928) is not 99.
#[test]
fn the_parts_of_an_assertion_that_can_be_judged_are() {
    let both = "+0 %{ assert tcpi_busy_time > 0 and tcpi_snd_cwnd == 99 }%";
    assert!(actual(both).contains("tcpi_snd_cwnd = 10"), "{}", actual(both));
    let report = est("+0 %{ assert tcpi_busy_time > 0 and tcpi_snd_cwnd == 10 }%").unwrap();
    assert_eq!(report.not_asked, 1);
    // One alternative that holds is enough, whatever the other would say.
    let report = est("+0 %{ assert tcpi_busy_time > 0 or tcpi_snd_cwnd == 10 }%").unwrap();
    assert_eq!(report.not_asked, 0);
}

/// A connection that a reset has ended still has its segment size of 1000 bytes and its window of
/// ten.
#[test]
fn a_connection_that_has_ended_can_be_asked() {
    let reset = "+.1 < R. 1:1(0) ack 1 win 0\n";
    let report =
        est(&format!("{reset}+0 %{{ assert tcpi_snd_cwnd == 10 and tcpi_snd_mss == 1000 }}%"));
    assert_eq!(report.unwrap().not_asked, 0);
    assert!(actual(&format!("{reset}+0 %{{ assert tcpi_snd_cwnd == 11 }}%")).contains("= 10"));
}

/// A connection waits: `accept` returns it, whatever error the script asks for.
#[test]
fn accept_does_not_fail_while_a_connection_waits() {
    let handshake = OPENING.rsplit_once("+0  accept").unwrap().0;
    for outcome in ["-1", "-1 EAGAIN"] {
        let text = format!("{LISTENER}{handshake}+0 accept(3, ..., ...) = {outcome}\n");
        assert!(run_text(&text).unwrap_err().contains("it returns"), "{outcome}");
    }
}

/// `poll` counts descriptors for which something is so. It returns 0 only when its time is over
/// (poll(2)).
#[test]
fn poll_waits_its_time_and_says_what_it_has_found() {
    let poll = |found: &str, timeout: i32, count: u32| {
        format!("poll([{{fd=4, events=POLLIN|POLLOUT, revents={found}}}], 1, {timeout}) = {count}")
    };
    // An open connection can be written to.
    assert!(est(&format!("+0 {}", poll("POLLOUT", 0, 1))).is_ok());
    assert!(est(&format!("+0 {}", poll("POLLIN", 0, 0))).is_err());
    assert!(actual(&format!("+0 {}", poll("POLLIN", 0, 1))).contains("revents is 0x4"));
    let read = |found: &str, timeout: i32, count: u32| {
        poll(found, timeout, count).replace("POLLIN|POLLOUT", "POLLIN")
    };
    assert!(est(&format!("+0 {}", read("0", 0, 0))).is_ok());
    assert!(actual(&format!("+0 {}", read("POLLIN", 0, 0))).contains("revents is 0x0"));
    assert!(actual(&format!("+0 {}", read("0", 50, 0))).contains("waits"));
    // The data comes 30 ms after the call.
    let data = "+.03 < P. 1:11(10) ack 1 win 257";
    assert!(est(&format!("+0....03 {}\n{data}", read("POLLIN", -1, 1))).is_ok());
    assert!(est(&format!("+0....02 {}\n{data}", read("0", 20, 0))).is_ok());
    assert!(est(&format!("+0....03 {}\n{data}", read("POLLIN", 20, 1))).is_err());
    assert!(est(&format!("+0....02 {}\n+1 < P. 1:11(10) ack 1 win 257", read("0", 20, 0))).is_ok());
}

/// packetdrill knows no strings in `'`. Behind a note, the events up to the next `'` were gone.
#[test]
fn an_apostrophe_hides_no_event() {
    let text = format!(
        "{LISTENER}{OPENING}+0 write(4, ..., 10) = 10 (it isn't much)\n\
         +0 > P. 1:10(9) ack 1\n+0 shutdown(4, SHUT_WR) = 0 (that's it)\n"
    );
    assert!(run_text(&text).unwrap_err().contains("differs in length"));
    let (_, why) = refused("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 bind(3, 'a', ...) = 0");
    assert!(why.contains("means nothing"), "{why}");
    let (_, why) =
        refused("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3 (words\n+0 close(3) = 0 (a)");
    assert!(why.contains("after the words"), "{why}");
}

/// Python 3: 7 / 2 is 3.5, 7 // 2 is 3, and nothing is divided by zero.
#[test]
fn arithmetic_is_python_s() {
    let holds = |condition: &str| est(&format!("+0 %{{\nassert {condition}\n}}%")).is_ok();
    assert!(holds("7 / 2 == 3.5") && !holds("7 / 2 == 3"));
    assert!(holds("7 // 2 == 3") && !holds("7 // 2 == 4"));
    assert!(holds("tcpi_snd_cwnd * 0.25 == 2.5, 'a message'"));
    assert!(!holds("1 / 0 == 0") && !holds("1 // 0 == 0") && !holds("0.5 | 1 == 1"));
    assert!(actual("+0 %{ assert 1 / 0 == 0 }%").contains("no number"));
}

/// The tree of a sum is as deep as it has operators, and the stack has to hold it.
#[test]
fn a_long_sum_is_refused() {
    let sum = |n: usize| format!("{LISTENER}+0 %{{ assert 0{} == {n} }}%", "+1".repeat(n));
    assert_eq!(run_text(&sum(200)).map(drop), Ok(()));
    let (_, why) = refused(&sum(100_000));
    assert!(why.contains("at most 256 operators"), "{why}");
}
/// A reset ends the connection, and a SYN from the same ports starts another one: ten bytes come
/// over it, which is not yet accepted. The first one was read to its end.
#[test]
fn a_second_connection_of_the_same_ports_is_another_one() {
    let both = "\
+0 < P. 1:1001(1000) ack 1 win 257
+0 > . 1:1(0) ack 1001
+0 read(4, ..., 2000) = 1000
+0 < R. 1001:1001(0) ack 1 win 0
+1 < S 0:0(0) win 32792 <mss 1000>
+0 > S. 0:0(0) ack 1 <mss 1460>
+0 < . 1:1(0) ack 1 win 257
+0 < P. 1:11(10) ack 1 win 257
+0 > . 1:1(0) ack 11
";
    let message = "+0 read(4, ..., 777) = -1 ECONNRESET\n+0 read(4, ..., 777) = 0\n";
    let next =
        "+0 accept(3, ..., ...) = 5\n+0 read(5, ..., 777) = 10\n+0 %{ assert tcpi_unacked == 0 }%";
    assert_eq!(est(&format!("{both}{message}{next}")).map(drop), Ok(()));
    assert_eq!(actual(&format!("{both}+0 read(4, ..., 777) = 777")), "it returns -1 ECONNRESET");
}

/// A retransmitted SYN-ACK keeps its number.
#[test]
fn a_retransmitted_syn_ack_keeps_its_number() {
    let syn = "+0 < S 0:0(0) win 32792 <mss 1000>\n+0 > S. 100:100(0) ack 1 <...>\n";
    let again = |number: u32| format!("+1 > S. {number}:{number}(0) ack 1 <...>\n");
    assert_eq!(run_text(&format!("{LISTENER}{syn}{}", again(100))).map(drop), Ok(()));
    let error = run_text(&format!("{LISTENER}{syn}{}", again(55))).unwrap_err();
    assert!(error.contains("differs in sequence number"), "{error}");
}

/// The window of ten segments (RFC 6928) is two from twelve, as from eight. Rates are not kept.
#[test]
fn absolute_differences_are_judged_and_rates_are_not() {
    for (other, distance) in [(12, 2), (8, 2)] {
        let assertion =
            |distance: u32| format!("+0 %{{ assert abs(tcpi_snd_cwnd - {other}) == {distance} }}%");
        assert!(est(&assertion(distance)).is_ok());
        assert!(actual(&assertion(distance + 1)).contains("tcpi_snd_cwnd = 10"));
    }
    let rates = "+0 %{ assert tcpi_pacing_rate > 0 and tcpi_delivery_rate > 0 }%";
    assert_eq!(est(rates).unwrap().not_asked, 1);
}
