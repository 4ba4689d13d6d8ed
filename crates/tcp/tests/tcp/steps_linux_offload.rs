//! The segments that a Linux sender pushes: the last one of each batch of segmentation offload
//! (`__tcp_transmit_skb`: "Force a PSH flag on all (GSO) packets"). At the rates here a batch has
//! two (`tcp_tso_autosize`: a millisecond at twice the window per round trip, `tcp_min_tso_segs` at
//! least).

use crate::common::sender::Sender;

/// 3 segments of 1000 bytes at first, over 100 ms.
fn opened(scheme: &str) -> Sender {
    let mut sender = Sender::silent(scheme);
    sender.write(100);
    sender
}

#[test]
fn every_second_of_a_burst_and_none_that_leaves_alone() {
    let mut sender = opened("linux");
    // Half of a window of three is one segment (`tcp_cwnd_test`): each leaves alone.
    assert_eq!(sender.sent_with_push(), [(0, false), (1, false), (2, false)]);
    sender.wait(100);
    sender.receive_ack(2, &[]);
    // Slow start: 3 + 2 may be under way, one is. 2·5000 bytes in 100 ms are 100 bytes in a
    // millisecond, and half a window is two segments, too.
    assert_eq!(sender.sent_with_push(), [(3, false), (4, true), (5, false), (6, true)]);
    sender.receive_ack(3, &[]);
    assert_eq!(sender.sent_with_push(), [(7, false), (8, true)]);
}

#[test]
fn what_is_sent_again_is_not_pushed() {
    let mut sender = opened("linux");
    assert_eq!(sender.sent(), [0, 1, 2]);
    sender.wait(100);
    sender.receive_ack(1, &[]);
    assert_eq!(sender.sent(), [3, 4]);
    sender.wait(100);
    // 1 is missing; three segments above it were delivered. PRR releases one segment for each of
    // them.
    sender.receive_ack(1, &[(2, 5)]);
    let again = sender.sent_with_push();
    assert_eq!(again.first(), Some(&(1, false)), "{again:?}");
}

#[test]
fn other_senders_push_what_ends_a_write() {
    let mut sender = opened("newreno");
    assert_eq!(sender.sent_with_push(), [(0, false), (1, false), (2, false)]);
    let mut sender = Sender::silent("newreno");
    sender.write(3);
    assert_eq!(sender.sent_with_push(), [(0, false), (1, false), (2, true)]);
    let mut sender = opened("linux+offload=off");
    assert_eq!(sender.sent_with_push(), [(0, false), (1, false), (2, false)]);
}

/// A record of 8,500 bytes ends (`MSG_EOR`), and much more is written after it. Each ACK of slow
/// start releases two segments. The last one of the record has the rest of it, pushed, though a
/// full segment could be sent.
#[test]
fn a_record_ends_its_segment_also_where_more_is_written() {
    let mut sender = Sender::silent("linux+nagle=off+offload=off");
    sender.host.write(sender.now, sender.conn, 8_500);
    sender.host.end_record(sender.now, sender.conn);
    sender.host.write(sender.now, sender.conn, 50_000);
    let lengths = |sender: &mut Sender| {
        let segments = std::iter::from_fn(|| sender.host.poll_transmit(sender.now));
        segments.map(|it| (it.segment.len, it.segment.has(tcp::Flags::PSH))).collect::<Vec<_>>()
    };
    let full = (1_000, false);
    assert_eq!(lengths(&mut sender), [full; 3]);
    sender.wait(100);
    for next in [1, 2] {
        sender.receive_ack(next, &[]);
        assert_eq!(lengths(&mut sender), [full; 2], "{next}");
    }
    sender.receive_ack(3, &[]);
    assert_eq!(lengths(&mut sender), [full, (500, true)]);
}

/// The window is 3,000 bytes. Records of 2,300 and 400 bytes fit into it, and much more is written
/// after them. The rest of the window after the first record is no full segment, and yet the second
/// record leaves. It also leaves if the connection is about to close after all of it.
#[test]
fn a_short_record_takes_what_is_left_of_the_window() {
    for closes in [false, true] {
        let mut sender = Sender::silent("newreno+nagle=off");
        for record in [2_300, 400] {
            sender.host.write(sender.now, sender.conn, record);
            sender.host.end_record(sender.now, sender.conn);
        }
        sender.host.write(sender.now, sender.conn, 50_000);
        if closes {
            sender.host.shutdown(sender.now, sender.conn);
        }
        let segments = std::iter::from_fn(|| sender.host.poll_transmit(sender.now));
        let lengths: Vec<u32> = segments.map(|it| it.segment.len).collect();
        assert_eq!(lengths, [1_000, 1_000, 300, 400], "closes: {closes}");
    }
}
