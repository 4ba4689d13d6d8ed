//! Starts and ends of transfers: answers that are cut off or missing, preceding TLS, and cases that
//! only look like these.

use crate::common::collect::{Collected, found_in};
use capture::{Observed, TlsContent, TlsHead};
use segment::Flags;
use trace::testing::wire::{CapturedWire, ISN, MSS, ack_of, at, stamped};
use trace::{
    EngineConfig, ProfileSurvey, RateEvidence, TimeShare, TransferEnd, TransferReport, Vantage,
};
use units::{Duration, SeqNum};

fn only_transfer(wire: &CapturedWire) -> TransferReport {
    let found = found_in(&wire.segments);
    assert_eq!(found.transfers.len(), 1, "{:?}", found.transfers);
    found.transfers[0].1
}

/// Returns a handshake of 100 ms, and a request.
fn asked() -> CapturedWire {
    let mut wire = CapturedWire::new();
    wire.open(0, true);
    wire.ask(110, 0, 300, 0);
    wire
}

/// Returns a segment of the server that is pushed and not full: the end of an answer of `n` full
/// segments before it.
fn last(n: u32) -> Observed {
    let (seq, ack) = (SeqNum(ISN) + 1 + n * MSS, SeqNum(ISN) + 301);
    Observed { seq, ack, payload: 500, flags: Flags::ACK.with(Flags::PSH), ..Observed::default() }
}

fn reset(from_server: bool) -> Observed {
    let seq = SeqNum(ISN) + if from_server { 1 + 3 * MSS } else { 301 };
    Observed { seq, flags: Flags::RST, ..Observed::default() }
}

/// The client closes its side after its request, as simple clients do, and still accepts the
/// answer.
#[test]
fn a_client_that_closes_its_side_may_still_wait() {
    let mut wire = asked();
    let seq = SeqNum(ISN) + 301;
    wire.other(111, false, Observed { seq, flags: Flags::ACK.with(Flags::FIN), ..ack_of(1) });
    wire.send(310, 0..2);
    wire.other(310, true, last(2));
    wire.ack(410, 2).ack = SeqNum(ISN) + 1 + 2 * MSS + 500;
    let report = only_transfer(&wire);
    assert_eq!((report.bytes, report.outcome), (2_500, TransferEnd::Complete));
    assert_eq!(report.shares.of(TimeShare::Think).as_millis(), 200);
}

/// The same client resets the connection when the answer arrives: it was not waiting.
#[test]
fn a_client_that_has_gone_did_not_wait() {
    let mut wire = asked();
    let seq = SeqNum(ISN) + 301;
    wire.other(2_110, false, Observed { seq, flags: Flags::ACK.with(Flags::FIN), ..ack_of(1) });
    wire.send(3_110, 0..2);
    wire.other(3_210, false, reset(false));
    let report = only_transfer(&wire);
    assert_eq!((report.bytes, report.outcome), (0, TransferEnd::Unanswered));
    assert_eq!(report.shares.of(TimeShare::Think).as_millis(), 2_000);
}

/// The window is shut with the last ACK. Without a probe nothing shows that the server has more.
#[test]
fn a_window_that_is_shut_at_the_end_keeps_nobody() {
    let mut wire = asked();
    wire.send(110, 0..3);
    wire.ack(210, 3).window = 0;
    assert_eq!(only_transfer(&wire).outcome, TransferEnd::Complete);
}

/// A reset cuts an answer off if more was due: not after a segment that is pushed and not full.
#[test]
fn a_reset_behind_an_answer_cuts_nothing_off() {
    for (is_last, by_server, outcome) in [
        (true, false, TransferEnd::Complete),
        (true, true, TransferEnd::Complete),
        (false, false, TransferEnd::CutByClient),
        (false, true, TransferEnd::CutByServer),
    ] {
        let mut wire = asked();
        wire.send(110, 0..2);
        if is_last {
            wire.other(110, true, last(2));
        } else {
            wire.send(110, [2]);
        }
        wire.ack(210, 2).ack = SeqNum(ISN) + 1 + 2 * MSS + if is_last { 500 } else { MSS };
        wire.other(220, by_server, reset(by_server));
        assert_eq!(only_transfer(&wire).outcome, outcome, "{is_last} {by_server}");
    }
}

/// The capture has SYNs, but of the client no pure ACK: ten segments are never acknowledged alone.
#[test]
fn ten_segments_without_an_ack_are_a_filtered_capture() {
    for (n, has_acks) in [(3, true), (4, false)] {
        let mut wire = CapturedWire::new();
        wire.open(0, true);
        wire.segments.pop();
        wire.ask(110, 0, 300, 0);
        wire.send(110, 0..n);
        wire.ask(410, 300, 300, n);
        let found = found_in(&wire.segments);
        assert_eq!(found.transfers[0].1.has_acks, has_acks, "{n}");
    }
}

/// A late SYN-ACK with another number, after data: the connection stays open.
#[test]
fn a_stray_syn_ack_opens_nothing_anew() {
    let mut wire = asked();
    wire.send(110, 0..2);
    let flags = Flags::SYN.with(Flags::ACK);
    wire.other(
        150,
        true,
        Observed { seq: SeqNum(77), ack: SeqNum(ISN) + 1, flags, ..Observed::default() },
    );
    wire.other(150, true, last(2));
    wire.ack(210, 2).ack = SeqNum(ISN) + 1 + 2 * MSS + 500;
    let report = only_transfer(&wire);
    assert_eq!((report.bytes, report.outcome), (2_500, TransferEnd::Complete));
    assert_eq!(report.shares.of(TimeShare::Handshake).as_millis(), 100);
}

/// Returns a first TLS record, of this content type and handshake message.
fn record(content: u8, message: u8) -> TlsHead {
    TlsHead::of(&[content, 3, 3, 0, 250, message, 0, 0, 246], 255)
}

/// TLS 1.3: the client's last flight has a request, too. The server sends a ticket at once, and an
/// answer 100 ms later, or none.
#[test]
fn a_ticket_is_no_answer_unless_it_is_all() {
    assert_eq!(record(22, 1).content(), TlsContent::ClientHello);
    for (answers, bytes, think) in [(true, 2_500, 100), (false, 255, 0)] {
        let mut wire = CapturedWire::new();
        wire.open(0, true);
        wire.ask(100, 0, 300, 0);
        wire.segments.last_mut().unwrap().tls = record(22, 1);
        wire.send(100, [0]);
        wire.segments.last_mut().unwrap().tls = record(22, 2);
        wire.ask(200, 300, 400, 1);
        wire.segments.last_mut().unwrap().tls = record(23, 0);
        let (seq, ack) = (SeqNum(ISN) + 1 + MSS, SeqNum(ISN) + 701);
        let flags = Flags::ACK.with(Flags::PSH);
        let ticket = Observed { seq, ack, payload: 255, flags, ..Observed::default() };
        wire.other(200, true, Observed { tls: record(23, 0), ..ticket });
        wire.other(300, false, Observed { seq: SeqNum(ISN) + 701, ..ack_of(1_256) });
        if answers {
            for n in 0..2 {
                let seq = seq + 255 + n * MSS;
                wire.other(
                    300,
                    true,
                    Observed { seq, ack, payload: MSS, flags: Flags::ACK, ..ticket },
                );
            }
            wire.other(300, true, Observed { seq: seq + 255 + 2 * MSS, payload: 500, ..ticket });
            wire.other(400, false, Observed { seq: SeqNum(ISN) + 701, ..ack_of(3_756) });
        }
        let report = only_transfer(&wire);
        assert_eq!((report.bytes, report.request_bytes), (bytes, 400));
        assert_eq!(report.shares.of(TimeShare::Tls).as_millis(), 100);
        if answers {
            assert_eq!(report.shares.of(TimeShare::Think).as_millis(), think);
        }
    }
}

/// Returns a transfer captured at the client, 100 ms from the server: data arrives for a second,
/// 1,000 bytes every four milliseconds. The server's timestamps count milliseconds, or four of them
/// each: only then would they seem to be delayed.
fn arriving(tick: u32, delay: u64) -> TransferReport {
    let mut wire = CapturedWire::new();
    let syn = Observed { seq: SeqNum(ISN), flags: Flags::SYN, ..Observed::default() };
    wire.other(0, false, Observed { options: (&stamped(1, 0)).into(), ..syn });
    let flags = Flags::SYN.with(Flags::ACK);
    let answer = Observed { flags, ack: SeqNum(ISN) + 1, ..syn };
    wire.other(100, true, Observed { options: (&stamped(1_000, 1)).into(), ..answer });
    wire.other(100, false, ack_of(1));
    wire.ask(100, 0, 300, 0);
    for n in 0..250_u32 {
        let at = 200 + 4 * u64::from(n);
        let queued = if n > 50 { delay } else { 0 };
        let stamp = 1_000 + (at - 100 - queued) as u32 / tick;
        let (seq, ack) = (SeqNum(ISN) + 1 + n * MSS, SeqNum(ISN) + 301);
        let options = (&stamped(stamp, 1)).into();
        let data = Observed { seq, ack, payload: MSS, flags: Flags::ACK, options, ..syn };
        wire.other(at, true, data);
        wire.other(at, false, ack_of(1 + (n + 1) * MSS)).seq = SeqNum(ISN) + 301;
    }
    let found = found_in(&wire.segments);
    assert_eq!(found.connections[0].vantage, Vantage::Client);
    found.transfers[0].1
}

#[test]
fn at_the_client_timestamps_show_a_queue() {
    let full = arriving(1, 40);
    assert!(full.link_full > Duration::from_millis(500), "{full:?}");
    let mbps = full.delivery_rate.as_bps() as f64 / 1e6;
    assert!((mbps - 2.0).abs() < 0.1, "{mbps}");
    assert!(arriving(1, 0).link_full.is_zero());
    assert_eq!(arriving(4, 0).rate_evidence, RateEvidence::None, "a clock of 4 ms");
}

/// After the queue of the link, data shows nothing of the server's TCP: a survey leaves it out.
#[test]
fn a_survey_leaves_captures_at_the_client_out() {
    let mut wire = CapturedWire::new();
    wire.open_at_client(0);
    wire.ask(100, 0, 300, 0);
    wire.send(200, 0..3);
    wire.ack(200, 3);
    let survey = ProfileSurvey::of(&EngineConfig::default(), &wire.segments, 1);
    assert!(survey.hosts.is_empty(), "{:?}", survey.hosts);
    let at_server = asked();
    let survey = ProfileSurvey::of(&EngineConfig::default(), &at_server.segments, 1);
    assert_eq!(survey.hosts.len(), 1);
}

/// A client fills windows of 10, 20 and 40 segments, the last 210 ms after its connection was open.
/// It closes 300 ms later, without an answer. Most of its request's time still has a cause: slow
/// start.
#[test]
fn a_large_request_without_an_answer_has_causes() {
    let mut wire = CapturedWire::new();
    wire.open(0, true);
    let mut sent = 0;
    for (flight, segments) in [10, 20, 40].into_iter().enumerate() {
        let ms = 110 + 100 * flight as u64;
        for _ in 0..segments {
            wire.ask(ms, sent, MSS, 0);
            sent += MSS;
            wire.other(ms, true, ack_of(1 + sent));
        }
    }
    wire.other(610, false, Observed { flags: Flags::RST, ..ack_of(1) });
    let report = only_transfer(&wire);
    assert_eq!(report.outcome, TransferEnd::Unanswered);
    assert_eq!(report.shares.of(TimeShare::Request), Duration::from_millis(210));
    assert_eq!(report.shares.of(TimeShare::Think), Duration::from_millis(300));
    let upload = report.upload.expect("the client's sender is rebuilt");
    assert_eq!(upload.total(), Duration::from_millis(210));
    assert!(upload.of(TimeShare::SlowStart) > Duration::from_millis(105), "{upload:?}");
}

/// Returns a capture in which the client sends `bytes` after an answer, without an answer to them.
/// The next request is 900 ms later, and its answer another 50 ms later. The handshake takes 100
/// ms.
fn between_two_answers(bytes: u32) -> Collected {
    let mut wire = CapturedWire::new();
    wire.open(0, true);
    wire.ask(110, 0, 300, 0);
    wire.send(110, 0..1);
    wire.ask(210, 300, bytes, 1);
    wire.ask(1_110, 300 + bytes, 300, 1);
    wire.send(1_160, 1..2);
    wire.ask(1_260, 600 + bytes, bytes, 2);
    wire.other(9_000, false, Observed { flags: Flags::FIN.with(Flags::ACK), ..closing(bytes) });
    found_in(&wire.segments)
}

/// Returns the last packet of the client.
fn closing(bytes: u32) -> Observed {
    Observed { seq: SeqNum(ISN) + 601 + 2 * bytes, ..ack_of(1 + 2 * MSS) }
}

/// A frame of HTTP/2 for windows has 13 bytes, and 22 more in TLS. It is no request.
#[test]
fn control_frames_behind_an_answer_are_no_request() {
    let found = between_two_answers(35);
    let [first, second] = found.transfers.as_slice() else { panic!("{found:?}") };
    assert_eq!((first.1.began, first.1.ended), (at(0), at(210)));
    assert_eq!((second.1.began, second.1.ended), (at(1_110), at(1_260)));
    assert_eq!(second.1.shares.of(TimeShare::Think), Duration::from_millis(50));
    assert_eq!(found.requests, [at(110), at(1_110)]);
}

/// 65 bytes are a request. Its second part follows later, and the last request gets no answer.
#[test]
fn more_bytes_than_control_frames_have_are_a_request() {
    let found = between_two_answers(65);
    let outcomes: Vec<_> = found.transfers.iter().map(|(_, report)| report.outcome).collect();
    assert_eq!(outcomes, [TransferEnd::Complete, TransferEnd::Complete, TransferEnd::Unanswered]);
    assert_eq!(found.transfers[1].1.shares.of(TimeShare::Request), Duration::from_millis(900));
    assert_eq!(found.transfers[2].1.shares.of(TimeShare::Think), Duration::from_millis(7_740));
    assert_eq!(found.requests.len(), 3);
}

/// A small request is one if it gets an answer.
#[test]
fn small_requests_that_are_answered_are_requests() {
    let mut wire = CapturedWire::new();
    wire.open(0, true);
    wire.ask(110, 0, 300, 0);
    wire.send(150, 0..1);
    wire.ask(250, 300, 20, 1);
    wire.send(350, 1..2);
    wire.ack(450, 2);
    let found = found_in(&wire.segments);
    let think = |n: usize| found.transfers[n].1.shares.of(TimeShare::Think).as_millis();
    assert_eq!((found.transfers.len(), think(0), think(1)), (2, 40, 100));
    assert_eq!(found.requests, [at(110), at(250)]);
}
