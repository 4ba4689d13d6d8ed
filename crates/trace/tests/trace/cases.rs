//! Captures with known answers, by construction or by the kernel's counters: the causes of the
//! time, and the limits of the evidence. The link's share is the time of its bytes at its rate, and
//! a round trip. The README beside the captures describes how each was made.

use crate::common::collect::{Collected, found_in};
use crate::common::segments_of;
use trace::{
    ConnectionTrace, FastOpenOutcome, RetransmissionKind, TimeShare, TraceEnd, TransferEnd,
    TransferReport, Vantage,
};

/// Headers of IPv4 and TCP with timestamps.
const HEADERS: u64 = 52;

/// The engine's findings in a capture.
struct Found(Collected);

impl Found {
    fn of(name: &str) -> Self {
        Self(found_in(&segments_of(name)))
    }

    fn transfers(&self) -> Vec<&TransferReport> {
        self.0.transfers.iter().map(|(_, report)| report).collect()
    }

    fn connections(&self) -> &[ConnectionTrace] {
        &self.0.connections
    }

    /// Returns the share in percent of all time.
    fn percent(&self, share: TimeShare) -> f64 {
        let of = |report: &&TransferReport| report.shares.of(share).as_secs_f64();
        let total: f64 =
            self.transfers().iter().map(|report| report.duration().as_secs_f64()).sum();
        100.0 * self.transfers().iter().map(of).sum::<f64>() / total
    }

    fn millis(&self, share: TimeShare) -> f64 {
        let of = |report: &&TransferReport| report.shares.of(share).as_secs_f64() * 1e3;
        self.transfers().iter().map(of).sum()
    }

    fn retransmissions(&self) -> u64 {
        self.connections().iter().map(|one| one.server_sent.retransmission_count()).sum()
    }

    fn first(&self) -> TimeShare {
        let all = TimeShare::ALL.into_iter();
        all.max_by(|a, b| self.percent(*a).total_cmp(&self.percent(*b))).unwrap()
    }
}

#[track_caller]
fn near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} for {expected} ± {tolerance}");
}

/// Percent of the time that the link and a round trip take, retransmissions by the kernel, and the
/// link's rate in Mbit/s of IP packets.
#[test]
fn a_full_link_is_the_cause_whatever_happens_to_acks() {
    for (name, path, again, mbps, tolerance) in [
        ("full-link", 91.1, 7, 20.0, 5.0),
        ("full-link-jitter", 90.6, 190, 20.0, 10.0),
        ("full-link-aggregated", 87.9, 138, 20.0, 10.0),
        ("full-link-50mbit", 88.2, 7, 50.0, 5.0),
    ] {
        let found = Found::of(name);
        near(found.percent(TimeShare::Path), path, tolerance);
        assert!(found.percent(TimeShare::Application) < 1.0, "{name}");
        assert_eq!(found.retransmissions(), again, "{name}");
        let report = found.transfers()[0];
        let packets = report.delivery_rate.as_bps() * (report.mss + HEADERS) / report.mss;
        near(packets as f64 / 1e6, mbps, mbps * 0.07);
        assert!(report.link_full > report.duration() / 2, "{name}: {report:?}");
    }
}

/// Four connections share the link: each sees its part of the rate, and the queue of all.
#[test]
fn a_link_that_others_fill_is_full() {
    let found = Found::of("full-link-four");
    assert_eq!((found.connections().len(), found.first()), (4, TimeShare::Path));
    assert!(found.percent(TimeShare::Application) < 1.0);
    assert!(found.transfers().iter().all(|report| !report.link_full.is_zero()));
    assert!(found.transfers().iter().all(|report| !report.is_complete()));
}

/// 0.4 s from the middle: no handshake, and the lowest round trip has a queue in it.
#[test]
fn a_full_link_is_known_amid_a_connection() {
    let found = Found::of("middle");
    assert_eq!((found.first(), found.retransmissions()), (TimeShare::Path, 7));
    assert!(found.percent(TimeShare::Path) > 90.0 && found.percent(TimeShare::Application) < 1.0);
}

/// `rwnd_limited` is 1,784 of 2,569 ms, 69.4 %. A window of 96 bytes is shut.
#[test]
fn a_client_that_does_not_read_is_the_cause() {
    let found = Found::of("reader-stops");
    // The link needs a part of that anyway.
    near(found.percent(TimeShare::ReceiverWindow), 66.4, 3.0);
    near(found.percent(TimeShare::Application), 0.0, 0.5);
    // Segments that fill its window are small for that reason, and none waits for the ACK of
    // another.
    near(found.percent(TimeShare::Nagle), 0.0, 0.1);
    let found = Found::of("slow-reader-steps");
    // 1,436 of 1,620 ms, of which the link of 20 Mbit/s needs 371 ms anyway. Each ACK follows a
    // read of 10 kB, as with a link of 4 Mbit/s, and makes room for seven segments.
    let receiver = found.millis(TimeShare::ReceiverWindow);
    assert!((1_065.0..1_440.0).contains(&receiver), "{receiver}");
    let found = Found::of("reader-dies");
    // From 0.49 s on, of 9.33 s: the window is shut until the client resets the connection.
    assert!(found.millis(TimeShare::ReceiverWindow) > 8_800.0);
    let report = found.transfers()[0];
    assert_eq!((report.bytes, report.outcome), (131_512, TransferEnd::CutByClient));
    assert_eq!((report.retransmissions, report.timeouts, found.retransmissions()), (0, 0, 0));
    assert_eq!(found.connections()[0].end, TraceEnd::ResetByClient);
}

/// The window is shut for 3.0 s, at the client two times for 0.5 s. Probes are no retransmissions.
#[test]
fn probes_of_a_shut_window_are_no_losses() {
    for (name, shut) in [
        ("zero-window-probes", 3_000.0),
        ("zero-window-probe-taken", 3_000.0),
        ("zero-window-probes-near.client", 1_000.0),
    ] {
        let found = Found::of(name);
        near(found.millis(TimeShare::ReceiverWindow), shut, 60.0);
        assert_eq!(found.retransmissions(), 0, "{name}");
        assert_eq!(found.millis(TimeShare::Timeout), 0.0, "{name}");
    }
}

/// Twenty answers of two writes: the second is sent 62 ms later, within 0.1 ms of the ACK of the
/// first.
#[test]
fn nagle_is_no_pause_of_the_application() {
    let found = Found::of("nagle");
    assert_eq!((found.first(), found.transfers().len()), (TimeShare::Nagle, 20));
    near(found.millis(TimeShare::Nagle) / 20.0, 62.0, 2.0);
    near(found.millis(TimeShare::Application), 0.0, 0.5);
}

/// Eleven segments in flight for 21 round trips of 80 ms: a window that doubles would need five.
#[test]
fn a_send_buffer_is_no_pause_of_the_application() {
    let found = Found::of("small-send-buffer");
    assert_eq!(found.first(), TimeShare::SendBuffer);
    assert!(found.percent(TimeShare::SendBuffer) > 75.0);
    near(found.millis(TimeShare::Application), 0.0, 0.5);
}

/// Two pauses of 3.9 s, of which 0.1 s still waits for ACKs.
#[test]
fn a_pause_of_seconds_is_time_that_somebody_waited() {
    let found = Found::of("long-pauses");
    assert_eq!(found.first(), TimeShare::Application);
    near(found.millis(TimeShare::Application), 2.0 * 3_850.0, 100.0);
}

#[test]
fn a_request_without_an_answer_is_time_that_its_client_waited() {
    let found = Found::of("never-answered");
    assert_eq!(found.transfers().len(), 2);
    for report in found.transfers() {
        assert_eq!((report.outcome, report.bytes), (TransferEnd::Unanswered, 0));
        near(report.shares.of(TimeShare::Think).as_secs_f64(), 6.0, 0.01);
    }
}

#[test]
fn an_answer_that_a_reset_cuts_off_is_not_complete() {
    let found = Found::of("reset-in-transfer");
    let report = found.transfers()[0];
    assert_eq!((report.bytes, report.outcome), (43_440, TransferEnd::CutByServer));
}

/// The handshake of 100 ms counts once at either end.
#[test]
fn slow_start_is_the_cause_at_both_ends() {
    for (name, vantage) in [
        ("slow-start.server", Vantage::Server),
        ("slow-start.client", Vantage::Client),
        ("restart-after-idle.server", Vantage::Server),
        ("restart-after-idle.client", Vantage::Client),
    ] {
        let found = Found::of(name);
        assert_eq!(
            (found.first(), found.connections()[0].vantage),
            (TimeShare::SlowStart, vantage)
        );
        near(found.millis(TimeShare::Handshake), 100.0, 2.0);
        near(found.millis(TimeShare::Application), 0.0, 0.5);
    }
}

/// 692 segments take 415 of 648 ms on the link; the rest is the client's slow start.
#[test]
fn a_large_request_has_causes_of_its_own() {
    let found = Found::of("upload");
    let report = found.transfers()[0];
    near(report.shares.of(TimeShare::Request).as_secs_f64() * 1e3, 648.0, 2.0);
    let upload = report.upload.unwrap();
    assert_eq!(upload.total(), report.shares.of(TimeShare::Request));
    let percent = |share| 100.0 * upload.of(share).as_secs_f64() / upload.total().as_secs_f64();
    near(percent(TimeShare::Path), 64.0, 2.0);
    let others = TimeShare::ALL.into_iter().filter(|share| *share != TimeShare::Path);
    let next = others.max_by(|a, b| percent(*a).total_cmp(&percent(*b)));
    assert_eq!(next, Some(TimeShare::SlowStart));
    assert_eq!(found.connections()[0].client_sent.retransmission_count(), 0);
}

/// The server slept for 20 ms before each of eight answers, and for 200 ms before each of twenty.
#[test]
fn without_acks_nothing_is_said_of_the_path() {
    for (name, answers, bytes, think) in
        [("no-pure-acks", 8, 30_000, 0.020), ("no-pure-acks-http", 20, 300, 0.200)]
    {
        let found = Found::of(name);
        assert_eq!(found.transfers().len(), answers, "{name}");
        for report in found.transfers() {
            assert_eq!((report.bytes, report.has_acks), (bytes, false), "{name}");
            near(report.shares.of(TimeShare::Think).as_secs_f64(), think, 0.001_5);
            assert!(report.duration().as_secs_f64() < 0.3, "{name}: {report:?}");
        }
        near(found.percent(TimeShare::Path), 0.0, 0.0);
    }
}

#[test]
fn of_the_servers_packets_alone_sizes_and_retransmissions_are_known() {
    let found = Found::of("one-direction");
    let report = found.transfers()[0];
    assert_eq!((report.bytes, report.retransmissions, report.has_acks), (300_000, 0, false));
    near(found.percent(TimeShare::ReceiverWindow) + found.percent(TimeShare::Path), 0.0, 0.0);
    let found = Found::of("one-sided");
    let [connection] = found.connections() else { panic!("one connection") };
    assert_eq!(connection.server.to_string(), "192.0.2.10:50100");
    let timeouts = connection.server_sent.retransmissions[RetransmissionKind::Timeout as usize];
    assert_eq!((connection.server_sent.retransmission_count(), timeouts), (5, 5));
    near(found.transfers()[0].duration().as_secs_f64(), 9.4, 0.1);
}

/// TLS 1.3, resumed; TLS 1.2, resumed: the client measured 85, 85, 164 and 85 ms.
#[test]
fn a_tls_handshake_is_no_transfer() {
    for (name, is_cut) in [("tls.server", false), ("tls.client", false), ("tls-snap82", true)] {
        let found = Found::of(name);
        assert_eq!(found.transfers().len(), 4, "{name}");
        let known = [(1, false, 4), (1, true, 4), (2, false, 3), (1, true, 3)];
        for ((report, known), millis) in found.transfers().iter().zip(known).zip([85, 85, 164, 85])
        {
            let tls = report.tls.unwrap();
            near(report.shares.of(TimeShare::Tls).as_secs_f64() * 1e3, millis.into(), 4.0);
            assert_eq!(tls.round_trips, known.0, "{name}: {tls:?}");
            if !is_cut {
                assert_eq!((tls.resumed, tls.version), (Some(known.1), Some(known.2)), "{name}");
            }
            near(report.shares.of(TimeShare::Handshake).as_secs_f64() * 1e3, 80.5, 1.5);
        }
        let certificates = found.transfers()[2].tls.unwrap().certificate_bytes;
        // The certificate of 812 bytes, and two lengths of three bytes (RFC 5246 §7.4.2).
        assert_eq!(certificates, if is_cut { None } else { Some(818) }, "{name}");
        assert_eq!(found.transfers()[0].tls.unwrap().server_bytes, 1_372, "{name}");
    }
}

/// 17,440 bytes do not fit into ten segments.
#[test]
fn a_large_certificate_costs_a_round_trip() {
    let found = Found::of("tls-large-certificate");
    let tls = found.transfers()[0].tls.unwrap();
    assert_eq!((tls.round_trips, tls.server_bytes), (2, 17_440));
    near(found.millis(TimeShare::Tls), 167.0, 3.0);
}

/// Seconds of the handshake.
#[test]
fn syn_acks_of_several_numbers_are_no_data() {
    for (name, handshake) in [
        ("syn-ack-new-number", 1.04),
        ("syn-ack-new-number-no-syn", 3.04),
        ("fast-open-ignored", 3.76),
        ("split-handshake", 0.04),
    ] {
        let found = Found::of(name);
        assert_eq!((found.connections().len(), found.retransmissions()), (1, 0), "{name}");
        assert_eq!(found.connections()[0].server.to_string(), "192.0.2.10:80", "{name}");
        let reports = found.transfers();
        assert_eq!((reports.len(), reports[0].bytes), (1, 5_500), "{name}");
        near(found.millis(TimeShare::Handshake) / 1e3, handshake, 0.005);
    }
}

#[test]
fn fast_open_is_told_by_its_outcome() {
    let outcome = |name| Found::of(name).connections()[0].fast_open;
    assert_eq!(outcome("fast-open-accepted"), Some(FastOpenOutcome::Accepted));
    assert_eq!(outcome("fast-open-ignored"), Some(FastOpenOutcome::Ignored));
    assert_eq!(outcome("fast-open-blackholed.client"), Some(FastOpenOutcome::Blackholed));
    assert_eq!(outcome("slow-start.server"), None);
    let accepted = Found::of("fast-open-accepted");
    near(accepted.millis(TimeShare::Handshake), 0.0, 0.0);
    near(accepted.millis(TimeShare::Think), 5.0, 0.1);
    let blackholed = Found::of("fast-open-blackholed.client");
    assert_eq!(blackholed.connections()[0].vantage, Vantage::Client);
    near(blackholed.millis(TimeShare::Handshake), 3_740.0, 5.0);
}

/// Neither the flights of a TLS handshake nor the segments of an upload are requests of their own.
#[test]
fn each_request_is_counted_once() {
    for (name, requests) in [
        ("tls.server", 4),
        ("tls.client", 4),
        ("upload", 1),
        ("fast-open-accepted", 1),
        ("restart-after-idle.server", 4),
        ("no-pure-acks-http", 20),
    ] {
        assert_eq!(Found::of(name).0.requests.len(), requests, "{name}");
    }
}
