//! No script holds because something in it was not looked at. Each test is a script that is wrong about Linux, or asks
//! for something that is not modelled: it must differ, or be refused by name.

mod common;

use common::{LISTENER, OPENING, actual, est, run_text};

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

/// A connection that a reset has ended still has its segment size of 1000 bytes and its window of ten.
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

/// `poll` counts descriptors for which something is so. It returns 0 only when its time is over (poll(2)).
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
