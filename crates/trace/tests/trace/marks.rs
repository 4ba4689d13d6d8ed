//! Marks that a capture shows: classic and Accurate ECN, and the windows that follow.

use crate::common::collect::Collected;
use crate::steps::run;
use tcp::Flags;
use trace::testing::wire::{CapturedWire, MSS};

/// A handshake with these ACE fields, and a window of 20 that 10 ACKs have opened; these have the
/// field of the last argument.
fn opened(syn: u8, syn_ack: u8, ack: u8) -> CapturedWire {
    let mut wire = CapturedWire::new();
    wire.open(0, true);
    for (segment, ace) in wire.segments.iter_mut().zip([syn, syn_ack]) {
        segment.flags = segment.flags.with_ace(ace);
    }
    wire.ask(110, 0, 300, 0);
    wire.send(110, 0..10);
    for n in 1..=10 {
        let segment = wire.ack(209 + u64::from(n), n);
        segment.flags = segment.flags.with_ace(ack);
        wire.send(209 + u64::from(n), [2 * n + 8, 2 * n + 9]);
    }
    wire
}

/// The window once the first `n` segments are acknowledged, segments.
fn window(found: &Collected, n: u64) -> u64 {
    let una = 1 + n * u64::from(MSS);
    let point = found.windows.iter().find(|(_, point)| point.una == una).unwrap();
    point.1.cwnd / u64::from(MSS)
}

/// Both SYNs have agreed on ECN (RFC 3168 §6.1.1), and a router marks a packet of the second
/// window. CUBIC reduces the window to 0.7 (RFC 9438 §4.6) once, however long the client goes on to
/// echo the mark.
#[test]
fn a_mark_lowers_the_window_once() {
    let mut wire = opened(3, 1, 0);
    for n in 11..=15 {
        let ack = wire.ack(300 + u64::from(n), n);
        ack.flags = ack.flags.with(Flags::ECE);
    }
    let (found, _) = run("linux", &wire.segments);
    assert_eq!([10, 11, 12, 15].map(|n| window(&found, n)), [20, 14, 14, 14]);
    assert_eq!(found.connections[0].server_sent.retransmission_count(), 0);
}

/// The SYNs agree on Accurate ECN (RFC 9768 §3.1.1), so that ECE is the lowest bit of a counter
/// that begins with 5: no mark. One mark makes it 6, which lowers the window to 0.7, and later ACKs
/// repeat it.
#[test]
fn a_counter_of_marks_is_no_echo() {
    let mut wire = opened(7, 2, 5);
    for (n, ace) in [(11, 5), (12, 6), (13, 6), (14, 6), (15, 6)] {
        let ack = wire.ack(300 + u64::from(n), n);
        ack.flags = ack.flags.with_ace(ace);
    }
    let (found, _) = run("linux", &wire.segments);
    // The window of 21 after the eleventh ACK becomes 14.
    assert_eq!([10, 11, 12, 15].map(|n| window(&found, n)), [20, 21, 14, 14]);
}

/// A server without ECN answers with no flag, and a broken one with all (RFC 9768 §3.1.2, table 2).
/// Flags of later segments are no marks then, and AE does not bring Accurate ECN back.
#[test]
fn without_an_agreement_there_is_no_mark() {
    for answer in [0, 7] {
        let mut wire = opened(7, answer, 0);
        for (n, ace) in [(11, 1), (12, 5), (13, 6)] {
            let ack = wire.ack(300 + u64::from(n), n);
            ack.flags = ack.flags.with_ace(ace);
        }
        let (found, _) = run("linux", &wire.segments);
        assert_eq!([11, 12, 13].map(|n| window(&found, n)), [21, 22, 23], "{answer}");
    }
}

/// A client asked for Accurate ECN, and the SYN-ACK is not in the capture. ACKs without flags are
/// of a client whose server had none, not of three marks. AE shows that the server agreed: one mark
/// then makes 5 to 6, and lowers the window of 21 to 14.
#[test]
fn an_unseen_syn_ack_leaves_the_agreement_to_the_flags() {
    for (ace, expected) in [([0, 0], [21, 22]), ([5, 6], [21, 14])] {
        let mut wire = opened(7, 2, ace[0]);
        wire.segments.remove(1);
        for (n, ace) in [11, 12].into_iter().zip(ace) {
            let ack = wire.ack(300 + u64::from(n), n);
            ack.flags = ack.flags.with_ace(ace);
        }
        let (found, _) = run("linux", &wire.segments);
        assert_eq!([11, 12].map(|n| window(&found, n)), expected, "{ace:?}");
    }
}

/// A capture that begins behind the handshake: AE in the first ACK shows Accurate ECN, and the
/// counter goes on from there.
#[test]
fn a_capture_that_joins_knows_accurate_ecn_by_its_flag() {
    let mut wire = opened(0, 0, 5);
    wire.segments.drain(..2);
    for (n, ace) in [(11, 5), (12, 6)] {
        let ack = wire.ack(300 + u64::from(n), n);
        ack.flags = ack.flags.with_ace(ace);
    }
    let (found, _) = run("linux", &wire.segments);
    let [before, marked] = [11, 12].map(|n| window(&found, n));
    assert!(marked < before, "{marked} after {before}");
    assert_eq!(window(&found, 11), window(&found, 10) + 1);
}
