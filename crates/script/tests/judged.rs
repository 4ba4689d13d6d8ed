//! No script holds because something in it was not looked at. Each test is a script that is wrong about Linux, or asks
//! for something that is not modelled: it must differ, or be refused by name.

mod common;

use common::{actual, est};

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
