//! Tests of the queries and reports of a host's paths to their memory, and of the effects of its
//! answers.

use memory::{
    EarlyLoss, GatewayReport, PathMemory, QuietShare, Remembered, ReuseGate, Sample, ShareRule,
    SoleUse,
};
use proptest::prelude::*;
use std::cell::RefCell;
use std::net::{IpAddr, Ipv4Addr};
use std::rc::Rc;
use tcp::{
    Cause, ConnId, EcnCounters, Flags, FourTuple, Host, HostConfig, MemoryKind, Path, Reporting,
    Scheme, Segment, TcpOptions, Timestamps,
};
use units::{Duration, Instant, SeqNum};

const REMOTE: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 9));

/// A memory with a fixed answer, which keeps the reports that it gets.
#[derive(Default)]
struct Spy {
    answer: Option<Remembered>,
    asked: usize,
    received: Vec<(Instant, Sample)>,
    sole_use: Option<SoleUse>,
}

impl PathMemory for Spy {
    fn recall(&mut self, _: Instant, remote: IpAddr) -> Option<Remembered> {
        assert_eq!(remote, REMOTE);
        self.asked += 1;
        self.answer
    }
    fn sole_use(&mut self, _: IpAddr) -> Option<SoleUse> {
        self.sole_use.clone()
    }
    fn record(&mut self, now: Instant, remote: IpAddr, sample: &Sample) {
        assert_eq!(remote, REMOTE);
        self.received.push((now, *sample));
    }
}

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

/// A sender of segments of 1000 bytes whose ACKs a test writes itself.
struct Sender {
    host: Host,
    spy: Rc<RefCell<Spy>>,
    conn: ConnId,
    tuple: FourTuple,
    isn: SeqNum,
    now: Instant,
}

impl Sender {
    /// Opens with a round trip of 100 ms, and writes `bytes` then.
    fn new(scheme: &str, spy: Spy, gate: ReuseGate, bytes: u64) -> Self {
        Self::reporting(ShareRule::default(), (scheme, spy, gate), bytes)
    }

    /// Creates a sender that reports its share to a gateway by `rule`.
    fn reporting(rule: ShareRule, set_up: (&str, Spy, ReuseGate), bytes: u64) -> Self {
        Self::opening(0, rule, set_up, bytes)
    }

    /// The same, once the first `lost` SYNs are lost.
    fn opening(
        lost: usize,
        rule: ShareRule,
        (scheme, spy, gate): (&str, Spy, ReuseGate),
        bytes: u64,
    ) -> Self {
        let spy = Rc::new(RefCell::new(spy));
        let mut host = Host::new(HostConfig::default());
        for kind in [MemoryKind::Temporal, MemoryKind::Gateway] {
            host.set_memory(kind, spy.clone());
        }
        host.set_reuse_gate(gate);
        host.set_share_rule(rule);
        let scheme = Scheme::parse(&format!("{scheme}+mss=1000+window=100000")).unwrap();
        let tuple = FourTuple { local_port: 5000, remote: REMOTE, remote_port: 80 };
        let conn = host.connect(Instant::ZERO, tuple, &scheme).unwrap();
        let isn = host.poll_transmit(Instant::ZERO).unwrap().segment.seq;
        let mut sent = Instant::ZERO;
        for _ in 0..lost {
            while host.poll_transmit(sent).is_none() {
                sent = host.poll_timeout().unwrap();
                host.handle_timeout(sent);
            }
        }
        let now = sent + Duration::from_millis(100);
        let mut sender = Self { host, spy, conn, tuple, isn, now };
        let options =
            TcpOptions { mss: Some(1000), window_scale: Some(14), ..TcpOptions::default() };
        let flags = Flags::SYN.with(Flags::ACK);
        sender.receive(Segment {
            flags,
            ack: isn + 1,
            window: 65_535,
            options,
            ..sender.answer(0)
        });
        // The next segment's window is scaled: 1 GB.
        sender.receive(sender.answer(0));
        sender.host.write(sender.now, conn, bytes);
        sender
    }

    /// An ACK of `bytes`.
    fn answer(&self, bytes: u32) -> Segment {
        let seq = SeqNum(1);
        Segment {
            seq,
            ack: self.isn + (1 + bytes),
            flags: Flags::ACK,
            window: 65_535,
            ..Segment::default()
        }
    }

    fn receive(&mut self, segment: Segment) {
        let seq = if segment.has(Flags::SYN) { SeqNum(0) } else { segment.seq };
        self.host.handle_segment(self.now, &self.tuple, &Segment { seq, ..segment });
    }

    /// Returns the segments that leave now: payload and the report in each, if any.
    fn sent(&mut self) -> Vec<(u32, Option<GatewayReport>)> {
        let transmits = std::iter::from_fn(|| self.host.poll_transmit(self.now));
        let reported = |segment: Segment| {
            segment
                .options
                .performance
                .map(|reported| GatewayReport { share: reported.share(), rtt: reported.rtt() })
        };
        transmits
            .map(|t| (t.segment.len, reported(t.segment)))
            .filter(|(len, _)| *len > 0)
            .collect()
    }

    fn path(&self) -> &Path {
        self.host.path_of(self.conn).unwrap()
    }

    fn received(&self) -> Vec<Sample> {
        self.spy.borrow().received.iter().map(|(_, sample)| *sample).collect()
    }
}

fn knowing(answer: Remembered) -> Spy {
    Spy { answer: Some(answer), ..Spy::default() }
}

fn share(bytes: u64) -> Remembered {
    Remembered {
        cwnd: bytes,
        share: Some(bytes),
        srtt: Duration::from_millis(100),
        rttvar: Duration::from_millis(10),
        ..Remembered::default()
    }
}

#[test]
fn who_does_not_remember_does_not_ask() {
    let mut sender = Sender::new("newreno", knowing(share(50_000)), ReuseGate::default(), 5_000);
    sender.sent();
    sender.now = at(200);
    sender.receive(sender.answer(3_000));
    sender.sent();
    assert_eq!(sender.spy.borrow().asked, 0);
    assert_eq!(sender.received(), []);
}

#[test]
fn a_round_trip_that_is_remembered_times_the_syn() {
    // 100 ms and a deviation of 100: a timeout of 500 ms, where the first is 1 s without memory.
    let mut remembered = share(50_000);
    remembered.rttvar = Duration::from_millis(100);
    for (scheme, timeout) in [("newreno+memory=gateway+rto_min=200ms", 500), ("newreno", 1000)] {
        let spy = Rc::new(RefCell::new(knowing(remembered)));
        let mut host = Host::new(HostConfig::default());
        host.set_memory(MemoryKind::Gateway, spy);
        let tuple = FourTuple { local_port: 5000, remote: REMOTE, remote_port: 80 };
        host.connect(Instant::ZERO, tuple, &Scheme::parse(scheme).unwrap()).unwrap();
        host.poll_transmit(Instant::ZERO).unwrap();
        while host.poll_transmit(Instant::ZERO).is_some() {}
        assert_eq!(host.poll_timeout(), Some(at(timeout)), "{scheme}");
    }
}

#[test]
fn a_transfer_without_loss_tells_its_last_window() {
    // 3 segments, acknowledged one by one from an initial window of 3: slow start takes it to 6.
    let scheme = "newreno+memory=gateway";
    let mut sender = Sender::new(scheme, Spy::default(), ReuseGate::default(), 3_000);
    assert_eq!(sender.sent().len(), 3);
    for (ms, bytes) in [(200, 1_000), (201, 2_000)] {
        sender.now = at(ms);
        sender.receive(sender.answer(bytes));
        assert_eq!(sender.received(), []);
    }
    sender.now = at(202);
    sender.receive(sender.answer(3_000));
    // RTT: 100 by the handshake, then 100, 101, 102: 8 * srtt = 800, 800, 801, 803 ms.
    let rtt = Some(sender.path().rtt().srtt());
    assert_eq!(sender.received(), [Sample::Report(GatewayReport { share: 6_000, rtt })]);
    assert_eq!(sender.spy.borrow().received[0].0, at(202));
}

#[test]
fn a_loss_in_avoidance_tells_a_segment_less_than_the_window() {
    // ssthresh 3 = initial window: avoidance from the start. The first of 3 segments is lost. Two
    // duplicates release two more (RFC 3042), the third shows the loss at a window of 3: Wc = 2.
    let scheme = "newreno+memory=gateway+ssthresh=3";
    let mut sender = Sender::new(scheme, Spy::default(), ReuseGate::default(), 20_000);
    assert_eq!(sender.sent().len(), 3);
    sender.now = at(200);
    for _ in 0..3 {
        assert_eq!(sender.received(), []);
        sender.receive(sender.answer(0));
        sender.sent();
    }
    let rtt = Some(Duration::from_millis(100));
    assert_eq!(sender.received(), [Sample::Report(GatewayReport { share: 2_000, rtt })]);
    // The transfer has met a loss: its end reports nothing more.
    sender.now = at(300);
    sender.receive(sender.answer(5_000));
    let mut acked = 5_000;
    while acked < 20_000 {
        acked += sender.sent().iter().map(|(len, _)| len).sum::<u32>();
        sender.now += Duration::from_millis(100);
        sender.receive(sender.answer(acked));
    }
    assert_eq!(sender.received().len(), 1);
}

/// Returns the shares, bytes, reported by this rule for 3 segments from an initial window of 3,
/// with an ACK for each.
fn shares_of_three(rule: ShareRule) -> Vec<u64> {
    let set_up = ("newreno+memory=gateway", Spy::default(), ReuseGate::default());
    let mut sender = Sender::reporting(rule, set_up, 3_000);
    assert_eq!(sender.sent().len(), 3);
    for bytes in [1_000, 2_000, 3_000] {
        sender.now = at(200 + u64::from(bytes) / 1_000);
        sender.receive(sender.answer(bytes));
    }
    shares(&sender)
}

fn shares(sender: &Sender) -> Vec<u64> {
    let share = |sample| match sample {
        Sample::Report(report) => report.share,
        other => panic!("{other:?}"),
    };
    sender.received().into_iter().map(share).collect()
}

#[test]
fn a_transfer_without_loss_tells_what_the_rule_asks_for() {
    // All three leave at once under a window of 3, and three ACKs of slow start make it 6. No loss
    // was recorded.
    use QuietShare::{Nothing, Recorded, Sent, Used, Window};
    let rule = |quiet| ShareRule { quiet, ..ShareRule::default() };
    assert_eq!(shares_of_three(rule(Window)), [6_000]);
    assert_eq!(shares_of_three(rule(Sent)), [3_000]);
    assert_eq!(shares_of_three(rule(Used)), [3_000]);
    assert_eq!(shares_of_three(rule(Recorded)), [6_000]);
    assert_eq!(shares_of_three(rule(Nothing)), []);
}

#[test]
fn a_loss_in_slow_start_tells_nothing_unless_the_rule_says_so() {
    // Three duplicates show the loss at the initial window of 3.
    let reported =
        [(EarlyLoss::Nothing, vec![]), (EarlyLoss::End, vec![]), (EarlyLoss::Share, vec![2_000])];
    for (early_loss, expected) in reported {
        let rule = ShareRule { early_loss, ..ShareRule::default() };
        let set_up = ("newreno+memory=gateway", Spy::default(), ReuseGate::default());
        let mut sender = Sender::reporting(rule, set_up, 20_000);
        sender.sent();
        sender.now = at(200);
        for _ in 0..3 {
            sender.receive(sender.answer(0));
            sender.sent();
        }
        assert!(sender.path().window().ssthresh() < u64::MAX, "the loss was seen");
        assert_eq!(shares(&sender), expected);
    }
}

/// A sender whose reports are in segments, and whose round trips take 100 ms. Segment and
/// acknowledgement of its first 1,000 bytes have been exchanged; the answers have `answered`.
fn reporting_in_segments(scheme: &str, answered: Segment) -> Sender {
    let spy = Spy::default();
    let mut sender = Sender::new("newreno+memory=gateway", spy, ReuseGate::default(), 3_000);
    sender.host.set_reporting(Reporting::InSegments);
    // This path uses the old way of reporting; the next path uses the new one.
    let tuple = FourTuple { local_port: 5001, ..sender.tuple };
    let scheme = Scheme::parse(&format!("{scheme}+memory=gateway+mss=1000+nagle=off")).unwrap();
    let conn = sender.host.connect(sender.now, tuple, &scheme).unwrap();
    let isn = std::iter::from_fn(|| sender.host.poll_transmit(sender.now));
    let isn = isn.filter(|t| t.conn == Some(conn)).last().unwrap().segment.seq;
    (sender.conn, sender.tuple, sender.isn, sender.now) = (conn, tuple, isn, at(200));
    let syn = TcpOptions { mss: Some(1000), window_scale: Some(14), ..answered.options };
    let flags = Flags::SYN.with(Flags::ACK).with_ace(answered.flags.ace());
    sender.receive(Segment { flags, ack: isn + 1, options: syn, ..sender.answer(0) });
    sender.host.write(sender.now, conn, 1_000);
    sender.sent();
    sender.now = at(300);
    let ack = sender.answer(1_000);
    let options = TcpOptions { sack_permitted: false, ecn: None, ..answered.options };
    // The counter of Accurate ECN begins with 5: nothing was marked.
    let flags = ack.flags.with_ace(5);
    let seq = ack.seq + answered.seq.0;
    sender.receive(Segment { seq, len: answered.len, flags, options, ..ack });
    sender
}

#[test]
fn a_report_rides_on_the_next_segment_which_is_shorter_for_it() {
    let mut sender = reporting_in_segments("newreno", Segment::default());
    assert_eq!(sender.received(), [], "nothing is told but by segments");
    sender.host.write(sender.now, sender.conn, 2_500);
    // The window of 3 grew by one ACK to 4: 1000 + 1000 + 500 bytes, and 12 of the first are the
    // option's, so 988 + 1000 + 512. The round trips were 100 ms.
    let report = GatewayReport { share: 4_000, rtt: Some(Duration::from_millis(100)) };
    assert_eq!(sender.sent(), [(988, Some(report)), (1000, None), (512, None)]);
}

/// Timestamps, the report, and the SACK block of data behind a gap take 12 bytes each with their
/// padding. A header has 40 bytes for options (RFC 9293 §3.1), so that 4 are left, and 2 of
/// padding: one counter of Accurate ECN takes 5.
#[test]
fn counters_of_marks_leave_room_for_a_report() {
    let options = TcpOptions {
        timestamps: Some(Timestamps { value: 1, echo: 0 }),
        sack_permitted: true,
        ecn: Some(EcnCounters::new(true, &EcnCounters::INITIAL)),
        ..TcpOptions::default()
    };
    let flags = Flags::default().with_ace(2);
    let behind_a_gap =
        Segment { flags, seq: SeqNum(1000), len: 100, options, ..Segment::default() };
    let mut sender = reporting_in_segments("sack+timestamps=on+ecn=accurate", behind_a_gap);
    sender.host.write(sender.now, sender.conn, 1_000);
    let first = sender.host.poll_transmit(sender.now).unwrap().segment;
    let TcpOptions { performance, sack, ecn, .. } = first.options;
    let counters = ecn.map(|counters| counters.len());
    assert_eq!((performance.is_some(), sack.as_slice().len(), counters), (true, 1, Some(1)));
    // The first 40 of 1,000 bytes are options: 10 + 12 + 10 + 5, and padding of 3.
    assert_eq!((first.len, first.options.wire_bytes()), (960, 40));
}

#[test]
fn how_a_path_was_is_told_when_its_connection_has_sent_all() {
    let scheme = "fs";
    let mut sender = Sender::new(scheme, Spy::default(), ReuseGate::default(), 3_000);
    sender.host.shutdown(sender.now, sender.conn);
    sender.sent();
    sender.now = at(200);
    // Everything, and the FIN behind it. Slow start from 3, one ACK: 4.
    sender.receive(sender.answer(3_001));
    let received = sender.received();
    let [Sample::Ended(state)] = received[..] else { panic!("{received:?}") };
    assert_eq!((state.cwnd, state.ssthresh, state.mss), (4_000, None, 1000));
    assert_eq!(state.srtt, Duration::from_millis(100));
    assert!(state.early_data, "the peer has shown that it is there");
    // The connection ends later and has nothing to add.
    sender.host.abort(at(900), sender.conn);
    while sender.host.poll_transmit(at(900)).is_some() {}
    assert_eq!(sender.received().len(), 1);
}

#[test]
fn a_remembered_window_is_where_a_path_begins() {
    // Wc = 10 segments, 11 to transfer, 2 segments an ACK (Zhang, Qiu & Keshav 2000 (3), (4)): m =
    // 10, as 2 * 10 >= 11; delta = floor((20 - 11) / 2) = 4; cwnd_opt = 6.
    let mut sender = Sender::new("spand", knowing(share(10_000)), ReuseGate::default(), 11_000);
    sender.sent();
    let window = sender.path().window();
    assert_eq!((window.cwnd(), window.last_cause()), (6_000, Cause::Seed));
    assert!(!window.below_ssthresh(), "straight into avoidance");
}

fn any_size() -> impl Strategy<Value = u64> {
    (0..64_u32, any::<u64>()).prop_map(|(shift, bits)| bits >> shift)
}

fn any_memory() -> impl Strategy<Value = Remembered> {
    let option = || prop::option::of(any_size());
    (any_size(), option(), any_size(), any_size(), any_size(), option()).prop_map(
        |(cwnd, ssthresh, srtt, rttvar, age, share)| {
            let [srtt, rttvar, age] = [srtt, rttvar, age].map(Duration::from_nanos);
            Remembered { cwnd, ssthresh, srtt, rttvar, age, share, ..Remembered::default() }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// The bounds hold for any value of a memory and any start-up.
    #[test]
    fn the_first_window_keeps_the_bounds(
        remembered in any_memory(),
        scheme in prop::sample::select(vec![
            "spand", "fs", "fs-pdrop-noflr", "careful-resume", "etcp", "session-fs",
        ]),
        cap in any_size(),
        bytes in 1..10_000_000_u64,
    ) {
        let gate = ReuseGate { cap, ..ReuseGate::default() };
        let mut cold = Sender::new(scheme, Spy::default(), gate, bytes);
        cold.sent();
        let cold = cold.path().window().cwnd();
        let mut sender = Sender::new(scheme, knowing(remembered), gate, bytes);
        sender.sent();
        let first = sender.path().window().cwnd();
        prop_assert!(sender.spy.borrow().asked > 0);
        prop_assert!(first >= cold, "{first} below the cold {cold}");
        prop_assert!(first <= cap.max(cold), "{first} above the cap {cap}");
    }
}

/// RFC 9959 §3.2: of two connections that share a set of parameters, one jumps to half of 100
/// segments. The other set was 598 s old when the connection began. It is older than the gate's 600
/// s when the initial window is acknowledged, at 3 s.
#[test]
fn careful_resume_uses_a_set_alone_and_in_time() {
    let (set, rtt) = (SoleUse::default(), Duration::from_millis(100));
    let window = |set: &SoleUse, age: u64, waits: u64| {
        let answer = Remembered { age: Duration::from_secs(age), ..share(100_000) };
        let spy = Spy { sole_use: Some(set.clone()), ..knowing(answer) };
        let mut sender = Sender::new("careful-resume", spy, ReuseGate::default(), 200_000);
        assert_eq!(sender.sent().len(), 10);
        sender.now += rtt + Duration::from_secs(waits);
        sender.receive(sender.answer(10_000));
        sender.path().window().cwnd()
    };
    assert_eq!([window(&set, 1, 0), window(&set, 1, 0)], [50_000, 20_000]);
    let fresh = SoleUse::default();
    assert_eq!(window(&fresh, 598, 3), 20_000);
    assert!(fresh.take(), "nobody has used it");
}

/// RFC 5681 §3.1: a lost SYN reduces the initial window, in Linux's schemes the second one. The 50
/// remembered segments do not restore it.
#[test]
fn lost_syns_cost_the_initial_window_of_a_remembered_destination_too() {
    let schemes = [
        ("newreno+memory=temporal", 1),
        ("careful-resume", 2),
        ("ewma-iw", 2),
        ("picoquic-resume", 2),
        ("linux+memory=temporal", 2),
    ];
    for (scheme, lost) in schemes {
        let first = |lost| {
            let spy = knowing(share(50_000));
            let set_up = (scheme, spy, ReuseGate::default());
            Sender::opening(lost, ShareRule::default(), set_up, 100_000).sent().len()
        };
        assert!(first(lost - 1) > 1, "{scheme}");
        assert_eq!(first(lost), 1, "{scheme}");
    }
}

/// A connection whose SYNs were lost began without the remembered values and sent three segments.
/// It knows less than the memory, so the remembered rate stays. Without lost SYNs it reports its
/// end to the memory.
#[test]
fn what_lost_syns_withhold_stays_remembered() {
    let ended = |lost| {
        let spy = knowing(share(50_000));
        let set_up = ("newreno+startup=stateful-tcp", spy, ReuseGate::default());
        let mut sender = Sender::opening(lost, ShareRule::default(), set_up, 3000);
        sender.sent();
        sender.receive(sender.answer(3000));
        sender.host.abort(sender.now, sender.conn);
        sender.sent();
        sender
    };
    let reported = |lost| ended(lost).received().len();
    assert_eq!((reported(0), reported(1)), (1, 0));
}
