//! The ACKs of a Linux receiver, segment by segment, and the windows in them. The rules are those
//! of `net/ipv4` in Linux 6.18, named by their functions; the times follow from its constants:
//! `TCP_ATO_MIN` 40 ms, `TCP_PINGPONG_THRESH` 1, `TCP_MSS_DEFAULT` 536 bytes.

use std::net::{IpAddr, Ipv4Addr};
use tcp::{ConnId, Flags, FourTuple, Host, HostConfig, Scheme, Segment, TcpOptions};
use units::{Duration, Instant, SeqNum};

/// Payload of a full segment here.
const FULL: u32 = 1448;
const PUSHED: bool = true;

/// A Linux host that has accepted a connection, seen by its peer.
struct Peer {
    host: Host,
    id: ConnId,
    now: Instant,
    next: SeqNum,
    received: SeqNum,
    /// Window that the last ACK offered, bytes.
    window: u32,
    /// SACK blocks of the last ACK, by their distance from `base`, full segments.
    blocks: Vec<(i32, i32)>,
    base: SeqNum,
}

const TUPLE: FourTuple =
    FourTuple { local_port: 80, remote: IpAddr::V4(Ipv4Addr::new(10, 0, 0, 9)), remote_port: 4000 };

impl Peer {
    fn new() -> Self {
        Self::of(true)
    }

    /// One that knows SACK, or not.
    fn of(sack_permitted: bool) -> Self {
        Self::meets("linux", sack_permitted)
    }

    fn meets(scheme: &str, sack_permitted: bool) -> Self {
        let mut host = Host::new(HostConfig::default());
        host.listen(80, Scheme::parse(scheme).unwrap());
        let options = TcpOptions {
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted,
            ..TcpOptions::default()
        };
        let syn = Segment {
            seq: SeqNum(100),
            flags: Flags::SYN,
            window: 65_535,
            options,
            ..Segment::default()
        };
        let now = Instant::ZERO + Duration::from_secs(1);
        host.handle_segment(now, &TUPLE, &syn);
        let answer = host.poll_transmit(now).unwrap().segment;
        let mut peer = Self {
            host,
            id: ConnId(0),
            now,
            next: SeqNum(101),
            received: answer.seq + 1,
            window: 0,
            blocks: Vec::new(),
            base: SeqNum(101),
        };
        peer.send(0, false);
        peer.id = peer.host.poll_event().unwrap().conn;
        peer
    }

    /// Delivers a segment of `len` bytes, in order, `PUSHED` or not. Returns the number of ACKs
    /// that it causes at once.
    fn send(&mut self, len: u32, pushed: bool) -> usize {
        let count = self.send_at(self.next, len, pushed);
        self.next = self.next + len;
        count
    }

    fn send_at(&mut self, seq: SeqNum, len: u32, pushed: bool) -> usize {
        let flags = if pushed { Flags::ACK.with(Flags::PSH) } else { Flags::ACK };
        let segment =
            Segment { seq, ack: self.received, flags, len, window: 1000, ..Segment::default() };
        self.host.handle_segment(self.now, &TUPLE, &segment);
        self.sent()
    }

    /// Returns the number of bare ACKs that the host sends now; its data is received.
    fn sent(&mut self) -> usize {
        let mut acks = 0;
        while let Some(sent) = self.host.poll_transmit(self.now) {
            acks += usize::from(sent.segment.len == 0);
            // tcp_select_initial_window: 32 MiB take a shift of 10.
            let behind = |seq: SeqNum| seq.distance_from(self.base) / FULL as i32;
            let blocks = sent.segment.options.sack.as_slice().iter();
            self.blocks = blocks.map(|(left, right)| (behind(*left), behind(*right))).collect();
            self.window = u32::from(sent.segment.window) << 10;
            self.received = self.received.max_of(sent.segment.seq + sent.segment.len);
        }
        acks
    }

    /// The host's application writes; the answer is received, and acknowledged with the next
    /// segment.
    fn answer(&mut self, bytes: u64) {
        self.host.write(self.now, self.id, bytes);
        assert_eq!(self.sent(), 0, "data carries the ACK");
    }

    fn wait(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
    }

    /// Lets the timers run; how many ACKs they bring.
    fn on_timers(&mut self) -> usize {
        self.host.handle_timeout(self.now);
        self.sent()
    }

    /// A request of 300 bytes has come and has been answered at once.
    fn interactive() -> Self {
        Self::interactive_with("linux")
    }

    fn interactive_with(scheme: &str) -> Self {
        let mut peer = Self::meets(scheme, true);
        assert_eq!(peer.send(300, PUSHED), 1);
        peer.answer(100);
        peer.wait(10);
        peer
    }
}

trait Later {
    fn max_of(self, other: Self) -> Self;
}

impl Later for SeqNum {
    fn max_of(self, other: Self) -> Self {
        if other.distance_from(self) > 0 { other } else { self }
    }
}

#[test]
fn at_first_every_segment_is_acknowledged_at_once() {
    // tcp_event_data_recv: the first data brings quick ACKs, at most TCP_MAX_QUICKACKS = 16.
    let mut peer = Peer::new();
    for _ in 0..10 {
        assert_eq!(peer.send(FULL, false), 1);
        peer.wait(1);
    }
}

#[test]
fn who_answers_within_the_delay_is_interactive_and_delays_acks_from_then_on() {
    // tcp_event_data_sent: an answer 0 < 40 ms after data begins pingpong, in which
    // tcp_in_quickack_mode is false. The next short segment therefore waits 40 ms for data to
    // travel with.
    let mut peer = Peer::interactive();
    assert_eq!(peer.send(58, PUSHED), 0);
    peer.wait(39);
    assert_eq!(peer.on_timers(), 0);
    peer.wait(1);
    assert_eq!(peer.on_timers(), 1);
}

#[test]
fn a_delay_that_nothing_ended_ends_the_interactive_mode() {
    // tcp_delack_timer_handler: inet_csk_exit_pingpong_mode; the quick ACKs left over go on.
    let mut peer = Peer::interactive();
    assert_eq!(peer.send(58, PUSHED), 0);
    peer.wait(40);
    assert_eq!(peer.on_timers(), 1);
    assert_eq!(peer.send(FULL, false), 1);
    assert_eq!(peer.send(FULL, false), 1);
}

#[test]
fn an_answer_after_the_delay_is_none() {
    // 40 ms are not less than ato = 40 ms.
    let mut peer = Peer::new();
    assert_eq!(peer.send(300, PUSHED), 1);
    peer.wait(40);
    peer.answer(100);
    assert_eq!(peer.send(58, PUSHED), 1);
}

#[test]
fn an_interactive_receiver_acknowledges_every_second_full_segment() {
    // __tcp_ack_snd_check: an ACK at once when more than rcv_mss bytes wait. The first full segment
    // after one of 300 bytes makes rcv_mss 1448. 1448 bytes wait then, which is not more; after the
    // second, 2896.
    let mut peer = Peer::interactive();
    let acks: Vec<_> = (0..6).map(|_| peer.send(FULL, false)).collect();
    assert_eq!(acks, [0, 1, 0, 1, 0, 1]);
}

#[test]
fn what_a_full_segment_is_is_learnt_from_the_longest() {
    // tcp_measure_rcv_mss: rcv_mss begins at 536 and becomes 600 with the first segment of that
    // size, although the peer could send 1460. The second makes 1200 bytes wait, more than 600.
    let mut peer = Peer::interactive();
    let acks: Vec<_> = (0..4).map(|_| peer.send(600, false)).collect();
    assert_eq!(acks, [0, 1, 0, 1]);
}

#[test]
fn the_second_short_segment_is_acknowledged_once_it_is_read() {
    // __tcp_cleanup_rbuf: ICSK_ACK_PUSHED2 brings an ACK even in an interactive session.
    let mut peer = Peer::interactive();
    assert_eq!(peer.send(58, PUSHED), 0);
    assert_eq!(peer.send(211, PUSHED), 1);
    assert_eq!(peer.send(211, PUSHED), 0);
}

#[test]
fn the_delay_runs_from_the_first_segment_that_waits() {
    // tcp_send_delayed_ack: a later segment does not put off a timer that runs, here for want of a
    // reader.
    let mut peer = Peer::interactive();
    peer.host.set_auto_read(false);
    assert_eq!(peer.send(58, PUSHED), 0);
    peer.wait(20);
    assert_eq!(peer.send(58, PUSHED), 0);
    peer.wait(20);
    assert_eq!(peer.on_timers(), 1);
}

#[test]
fn a_delay_ends_on_the_second_tick_after_as_many_as_it_has() {
    // mod_timer counts ten ticks of 4 ms from the last one, and calc_index adds one, so that the
    // delay is never too short: 40 to 44 ms. The time is 1010 ms, 252 ticks and a half: the delay
    // is over at the 263rd, 1052 ms.
    let mut peer = Peer::interactive_with("linux+ack_tick=4ms");
    assert_eq!(peer.send(58, PUSHED), 0);
    peer.wait(41);
    assert_eq!(peer.on_timers(), 0);
    peer.wait(1);
    assert_eq!(peer.on_timers(), 1);
    // From a tick, the 253rd: at the 264th.
    let mut peer = Peer::interactive_with("linux+ack_tick=4ms");
    peer.wait(2);
    assert_eq!(peer.send(58, PUSHED), 0);
    peer.wait(43);
    assert_eq!(peer.on_timers(), 0);
    peer.wait(1);
    assert_eq!(peer.on_timers(), 1);
}

#[test]
fn a_delay_that_is_nearly_over_is_not_waited_for() {
    // tcp_send_delayed_ack: 10 ms are left, not more than a quarter of ato = 40 ms.
    let mut peer = Peer::interactive();
    peer.host.set_auto_read(false);
    assert_eq!(peer.send(58, PUSHED), 0);
    peer.wait(30);
    assert_eq!(peer.send(58, PUSHED), 1);
}

#[test]
fn a_repetition_ends_the_interactive_mode() {
    // tcp_send_dupack: tcp_enter_quickack_mode; the peer may lack ACKs.
    let mut peer = Peer::interactive();
    let first = peer.next;
    assert_eq!(peer.send(FULL, false), 0);
    assert_eq!(peer.send_at(first, FULL, false), 1);
    assert_eq!(peer.send(58, PUSHED), 1);
}

#[test]
fn quick_acks_are_used_up_and_then_an_odd_segment_waits() {
    // tcp_event_ack_sent uses one up for each ACK, and tcp_grow_window adds one only as long as the
    // window grows: 64 KB hold 45 of these segments, and 16 are quick.
    let mut peer = Peer::new();
    let mut quick = 0;
    while peer.send(FULL, false) == 1 {
        peer.wait(1);
        quick += 1;
        assert!(quick < 45 + 16, "quick ACKs end");
    }
    assert!(quick >= 16, "{quick}");
    peer.wait(40);
    assert_eq!(peer.on_timers(), 1);
    let acks: Vec<_> = (0..4).map(|_| peer.send(FULL, false)).collect();
    assert_eq!(acks, [0, 1, 0, 1]);
}

#[test]
fn a_window_opens_by_two_segments_for_each_until_half_and_more_of_the_buffer_is_offered() {
    // tcp_grow_window adds 2·1448 a segment, from 44·1460 = 64,240 in whole units of 1024, which
    // makes 63. __tcp_select_window rounds up, too: 66, 69, 72, 75, 78. The sixth stops at the end
    // of the room. A segment takes 2304 bytes of memory, so 1448·256/2304 = 160 of 256 parts of
    // 131,072 bytes are payload: 81,920. Without the one that has not been read, 80,472 are left,
    // rounded up to 79 units. A 6.18 kernel's capture has these values.
    let mut peer = Peer::new();
    let mut offered = Vec::new();
    for _ in 0..7 {
        assert_eq!(peer.send(FULL, false), 1);
        peer.wait(1);
        offered.push(peer.window / 1024);
    }
    assert_eq!(offered, [66, 69, 72, 75, 78, 79, 79]);
}

#[test]
fn what_begins_a_range_behind_a_gap_opens_the_window_before_it_takes_room() {
    // tcp_data_queue_ofo grows the window before it charges the segment. 64,512 + 6·2896 = 81,888
    // is less than the room of 81,920, and 80 units, where a segment in order stops at 79 (above).
    // A 6.18 client's trace point tcp_rcvbuf_grow showed 81,888 on connections that had had a gap
    // by then, and 80,480 on one that had not. It is offered once all is read.
    let offered_when_read = |gap: bool| {
        let mut peer = Peer::new();
        for _ in 0..5 {
            assert_eq!(peer.send(FULL, false), 1);
            peer.wait(1);
        }
        let hole = peer.next;
        if gap {
            assert_eq!(peer.send_at(hole + FULL, FULL, false), 1);
            assert_eq!(peer.window / 1024, 79, "less what waits");
            peer.send(FULL, false);
            peer.next = peer.next + FULL;
        }
        while peer.send(FULL, false) == 1 {
            peer.wait(1);
        }
        peer.wait(40);
        assert_eq!(peer.on_timers(), 1);
        peer.window / 1024
    };
    assert_eq!(offered_when_read(false), 79);
    assert_eq!(offered_when_read(true), 80);
}

/// Returns the windows in three ACKs for data behind a gap.
fn offered_behind_a_gap(sack: bool) -> [u32; 3] {
    let mut peer = Peer::of(sack);
    assert_eq!(peer.send(FULL, false), 1);
    peer.wait(1);
    peer.next = peer.next + FULL;
    [0; 3].map(|_| {
        peer.send(FULL, false);
        peer.window / 1024
    })
}

#[test]
fn without_sack_what_lies_behind_a_gap_does_not_open_the_window() {
    // tcp_data_queue_ofo: "For non sack flows, do not grow window to force DUPACK and trigger fast
    // retransmit", because an ACK with another window is no duplicate (RFC 5681 §2). With SACK it
    // grows as for the first segment.
    assert_eq!(offered_behind_a_gap(false), [66, 66, 66]);
    assert_eq!(offered_behind_a_gap(true), [69, 72, 75]);
}

#[test]
fn after_three_repetitions_acks_of_what_is_out_of_order_are_held_back() {
    // __tcp_ack_snd_check: three ACKs go out at once, so that fast retransmit is no later. After
    // that one ACK covers all data within min(1 ms, a twentieth of a round trip) and the timer's
    // slack of 0.1 ms. This holds only when ACKs are not quick, as in an interactive session.
    let mut peer = Peer::interactive();
    peer.next = peer.next + FULL;
    let acks: Vec<_> = (0..6).map(|_| peer.send(FULL, false)).collect();
    assert_eq!(acks, [1, 1, 1, 0, 0, 0]);
    peer.wait(2);
    assert_eq!(peer.on_timers(), 1);
    assert_eq!(peer.on_timers(), 0);
    // Without SACK each one says nothing but that it is one more.
    let mut peer = Peer::of(false);
    peer.send(300, PUSHED);
    peer.answer(100);
    peer.next = peer.next + FULL;
    let acks: Vec<_> = (0..6).map(|_| peer.send(FULL, false)).collect();
    assert_eq!(acks, [1; 6]);
}

#[test]
fn what_a_new_block_would_push_back_is_told_of_before_it() {
    // tcp_sack_new_ofo_skb: with TCP_SACK_BLOCKS_EXPECTED = 2 blocks or more and an ACK held back,
    // that ACK goes out before another block begins, whose own ACK is held back then.
    let mut peer = Peer::interactive();
    peer.base = peer.next;
    // Every second segment is lost.
    let acks: Vec<_> = (0..5)
        .map(|_| {
            peer.next = peer.next + FULL;
            peer.send(FULL, false)
        })
        .collect();
    assert_eq!(acks, [1, 1, 1, 0, 1]);
    assert_eq!(peer.blocks, [(7, 8), (5, 6), (3, 4), (1, 2)]);
    peer.wait(2);
    assert_eq!(peer.on_timers(), 1);
    assert_eq!(peer.blocks, [(9, 10), (7, 8), (5, 6), (3, 4)]);
}
