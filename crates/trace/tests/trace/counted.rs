//! Timeouts of a transfer, and the mechanism that would have avoided them: expected values are
//! worked out by hand.
//!
//! The handshake takes 100 ms, so the round trip is 100 ms. Segments have 1000 bytes.

use crate::common::collect::Collected;
use crate::steps::{nine_sent, run, started};
use trace::{RetransmissionKind, SparedBy, TimeShare, TransferReport};

use RetransmissionKind::{Fast, SlowStart, TailProbe, Timeout};

fn kinds(found: &Collected) -> Vec<RetransmissionKind> {
    found.again.iter().map(|(_, again)| again.kind).collect()
}

/// Retransmissions and timeouts of each transfer.
fn counts(found: &Collected) -> Vec<[u32; 2]> {
    let of = |report: &TransferReport| [report.retransmissions, report.timeouts];
    found.transfers.iter().map(|(_, report)| of(report)).collect()
}

/// NewReno has repaired segment 3 of the nine that it had sent, and knows from the partial ACK that
/// 5 is missing. `duplicates` of that ACK follow, and then the timer runs out.
fn after_a_fast_repair(duplicates: u64) -> Collected {
    let mut wire = nine_sent(false);
    for ms in [311, 312, 313] {
        wire.ack(ms, 3);
    }
    wire.send(313, [3]);
    wire.ack(413, 5);
    (0..duplicates).for_each(|n| {
        wire.ack(414 + n, 5);
    });
    wire.send(1_413, [5]);
    run("reno", &wire.segments).0
}

/// The ACKs that showed the hole at 3 would have shown the one at 5 by SACK, however many
/// duplicates of the partial ACK follow. So SACK precedes right-edge recovery, which one or two
/// duplicates would have started, and a tail-loss probe.
#[test]
fn sack_goes_before_all_else_where_a_fast_repair_left_a_hole() {
    for duplicates in 0..=3 {
        let found = after_a_fast_repair(duplicates);
        assert_eq!(kinds(&found), [Fast, Timeout], "{duplicates}");
        assert_eq!(found.again[1].1.spared_by, Some(SparedBy::Sack), "{duplicates}");
        let counted = found.connections[0].server_sent.spared_by;
        assert_eq!(SparedBy::ALL.map(|by| counted[by as usize]), [1, 0, 0, 0]);
    }
}

/// The first of five segments is lost. A new ACK resets the count of duplicates: the following
/// timeout finds those since then.
#[test]
fn duplicates_count_from_the_last_new_ack() {
    let spared = |before: u64, since: u64| {
        let mut wire = started(false, 5);
        (0..before).for_each(|n| {
            wire.ack(210 + n, 0);
        });
        wire.ack(220, 1);
        (0..since).for_each(|n| {
            wire.ack(221 + n, 1);
        });
        wire.send(1_420, [1]);
        let (_, last) = *run("newreno", &wire.segments).0.again.last().unwrap();
        assert_eq!(last.kind, Timeout);
        last.spared_by.unwrap()
    };
    use SparedBy::{Nothing, RightEdge, TailProbe};
    assert_eq!([spared(2, 0), spared(1, 1), spared(2, 2)], [TailProbe, RightEdge, RightEdge]);
    // Three should have caused a fast retransmission, which this sender did not make.
    assert_eq!([spared(0, 3), spared(1, 3)], [Nothing; 2]);
}

/// Nothing of three segments is delivered. The timer of a second runs out (RFC 6298 §2.4), and
/// again after two more (§5.5). Then 1 and 2 are retransmitted, without a timeout of their own. The
/// next transfer begins with none.
#[test]
fn each_expiry_is_a_timeout_and_what_follows_it_is_none() {
    let mut wire = started(false, 3);
    wire.send(1_110, [0]);
    wire.send(3_110, [0]);
    wire.ack(3_210, 1);
    wire.send(3_210, [1, 2]);
    wire.ack(3_310, 3);
    wire.ask(3_400, 300, 300, 3);
    wire.send(3_400, 3..4);
    wire.ack(3_500, 4);
    let (found, _) = run("newreno", &wire.segments);
    assert_eq!(kinds(&found), [Timeout, Timeout, SlowStart, SlowStart]);
    assert_eq!(counts(&found), [[4, 2], [0, 0]]);
    // The time is from 110 ms, when the last new segment was sent, to the second expiry.
    let waited = found.transfers[0].1.shares.of(TimeShare::Timeout);
    assert_eq!(waited.as_millis(), 3_000);
    let counters = found.connections[0].server_sent;
    assert_eq!(counters.retransmissions[Timeout as usize], 2);
}

/// A loss that ACKs show, and a tail-loss probe, are retransmissions without a timeout.
#[test]
fn repairs_by_acks_and_probes_are_no_timeouts() {
    let found = after_a_fast_repair(0);
    assert_eq!(counts(&found), [[2, 1]]);
    let mut wire = started(true, 4);
    wire.ack(210, 3);
    wire.send(510, [3]);
    wire.ack(610, 4);
    let (found, _) = run("linux", &wire.segments);
    assert_eq!((kinds(&found), counts(&found)), (vec![TailProbe], vec![[1, 0]]));
}
