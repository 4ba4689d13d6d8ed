//! Step tables for members of a shared path that repair losses by each other's ACKs
//! (`recovery::integrated`, and Ensemble-TCP's Reno). They also test the effects on others of a
//! member that stalls, vanishes or times out. Segments are numbered from 0 and are 1000 bytes long;
//! members have letters.

use std::net::{IpAddr, Ipv4Addr};
use tcp::{ConnId, Flags, FourTuple, Host, HostConfig, Scheme, Segment, TcpOptions};
use units::{Duration, Instant, SeqNum};

const MSS: u32 = 1000;
const PEER: SeqNum = SeqNum(5000);
const A: usize = 0;
const B: usize = 1;
const C: usize = 2;

/// A connection and the first number of its data.
#[derive(Clone, Copy)]
struct Member {
    tuple: FourTuple,
    conn: ConnId,
    first: SeqNum,
}

/// A path's window and bytes in flight, in bytes.
#[derive(Debug, PartialEq)]
struct PathState {
    cwnd: u64,
    ssthresh: u64,
    in_flight: u64,
}

const fn state(cwnd: u64, ssthresh: u64, in_flight: u64) -> PathState {
    PathState { cwnd, ssthresh, in_flight }
}

/// A sender of several connections to one host whose answers are the table.
struct Members {
    host: Host,
    now: Instant,
    conns: Vec<Member>,
    /// The window that the peer offers each.
    offered: Vec<u16>,
}

impl Members {
    /// `n` connections, open, nothing written; a window of six segments.
    fn new(scheme: &str, n: u16) -> Self {
        let scheme = Scheme::parse(&format!("{scheme}+iw=6+mss=1000+options=free")).unwrap();
        let mut members = Self {
            host: Host::new(HostConfig { seed: 1 }),
            now: Instant::ZERO,
            conns: Vec::new(),
            offered: vec![60_000; usize::from(n)],
        };
        for port in 1..=n {
            let remote = IpAddr::V4(Ipv4Addr::LOCALHOST);
            let tuple = FourTuple { local_port: port, remote, remote_port: 9 };
            let conn = members.host.connect(members.now, tuple, &scheme).unwrap();
            let syn = members.host.poll_transmit(members.now).unwrap().segment;
            members.wait(100);
            let options =
                TcpOptions { mss: Some(1000), sack_permitted: true, ..TcpOptions::default() };
            let flags = Flags::SYN.with(Flags::ACK);
            let (seq, ack) = (SeqNum(PEER.0 - 1), syn.seq + 1);
            let answer = Segment { seq, ack, flags, options, window: 60_000, ..Segment::default() };
            members.host.handle_segment(members.now, &tuple, &answer);
            members.conns.push(Member { tuple, conn, first: syn.seq + 1 });
            assert!(members.sent().is_empty());
        }
        members
    }

    fn wait(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
        self.host.handle_timeout(self.now);
    }

    /// Member and number of each data segment that leaves now.
    fn sent(&mut self) -> Vec<(usize, u32)> {
        let mut sent = Vec::new();
        while let Some(t) = self.host.poll_transmit(self.now) {
            let member = self.conns.iter().position(|own| Some(own.conn) == t.conn);
            if let Some(member) = member.filter(|_| t.segment.len > 0) {
                let offset = t.segment.seq.distance_from(self.conns[member].first) as u32;
                sent.push((member, offset / MSS));
            }
        }
        sent
    }

    fn write(&mut self, member: usize, segments: u32) -> Vec<(usize, u32)> {
        self.host.write(self.now, self.conns[member].conn, u64::from(segments * MSS));
        self.sent()
    }

    /// The peer acknowledges all of a member's segments before `next`.
    fn ack(&mut self, member: usize, next: u32) -> Vec<(usize, u32)> {
        let Member { tuple, first, .. } = self.conns[member];
        let (ack, window) = (first + next * MSS, self.offered[member]);
        let segment = Segment { seq: PEER, ack, flags: Flags::ACK, window, ..Segment::default() };
        self.host.handle_segment(self.now, &tuple, &segment);
        self.sent()
    }

    fn path(&self, member: usize) -> PathState {
        let path = self.host.path_of(self.conns[member].conn).unwrap();
        PathState {
            cwnd: path.window().cwnd(),
            ssthresh: path.window().ssthresh(),
            in_flight: path.bytes_in_flight(),
        }
    }
}

/// A0 is lost; B0 to B4 fill the window.
fn lost_then_overtaken(scheme: &str) -> Members {
    let mut m = Members::new(scheme, 2);
    assert_eq!(m.write(A, 1), [(A, 0)]);
    assert_eq!(m.write(B, 5), [(B, 0), (B, 1), (B, 2), (B, 3), (B, 4)]);
    m.wait(100);
    m
}

#[test]
fn acks_of_one_member_repair_what_another_lost() {
    // Balakrishnan et al. 1998 §5.3: three later ACKs mean nothing; the fourth (more than 3) means
    // that A0 is lost. It is retransmitted at once. The four ACKs took cwnd from 6 to 10. Before
    // the fourth, A0, B3 and B4 are outstanding, so ssthresh = cwnd = 2 segments (RFC 5681 §3.1,
    // formula 4: half of 3, not below 2).
    let schemes = ["tcp-int", "session", "sack+share=rr"].map(|s| format!("{s}+later_delayed=off"));
    for scheme in &schemes {
        let mut m = lost_then_overtaken(scheme);
        for next in 1..4 {
            assert!(m.ack(B, next).is_empty(), "{scheme}: {next}");
        }
        assert_eq!(m.ack(B, 4), [(A, 0)], "{scheme}");
        assert_eq!(m.path(A), state(2000, 2000, 2000), "{scheme}");
        // Its retransmission is under way: nothing more of A, however many ACKs come.
        assert!(m.ack(B, 5).is_empty(), "{scheme}");
        assert!(m.ack(A, 1).is_empty(), "{scheme}");
        assert_eq!(m.path(A).in_flight, 0, "{scheme}");
    }
}

#[test]
fn what_the_ack_at_hand_acknowledges_is_still_halved() {
    // Slow start from 6: three ACKs of B release two segments each. With the lost A0, B3 to B10 are
    // outstanding, nine segments, when the fourth ACK shows the loss. It acknowledges B3, and takes
    // cwnd to 10. Half of nine is left (RFC 5681 §3.1, formula 4), not of eight.
    let schemes = ["tcp-int", "session", "sack+share=rr"].map(|s| format!("{s}+later_delayed=off"));
    for scheme in &schemes {
        let mut m = lost_then_overtaken(scheme);
        m.host.write(m.now, m.conns[B].conn, u64::from(20 * MSS));
        for next in 1..4 {
            assert_eq!(m.ack(B, next), [(B, 3 + 2 * next), (B, 4 + 2 * next)], "{scheme}");
        }
        assert_eq!(m.ack(B, 4), [(A, 0)], "{scheme}");
        assert_eq!(m.path(A), state(4500, 4500, 8000), "{scheme}");
    }
}

/// A0 and B0 are lost, and four ACKs of C pass both: the fourth shows it, for both at once under
/// Session.
fn two_lose(clients: [u64; 3]) -> Members {
    let mut m = Members::new("session+cc=proxy+profile=paper+later_delayed=off", 3);
    for (member, client) in clients.into_iter().enumerate() {
        m.host.set_client(m.conns[member].conn, client);
    }
    assert_eq!(m.write(A, 1), [(A, 0)]);
    assert_eq!(m.write(B, 1), [(B, 0)]);
    assert_eq!(m.write(C, 4), [(C, 0), (C, 1), (C, 2), (C, 3)]);
    m.wait(100);
    for next in 1..4 {
        assert!(m.ack(C, next).is_empty());
    }
    assert_eq!(m.ack(C, 4), [(A, 0), (B, 0)]);
    m
}

#[test]
fn each_client_that_loses_takes_half_of_its_part_away() {
    // Balakrishnan et al. 1998 §5.5. The four ACKs took cwnd from 6 to 10 segments. With a client
    // each, A and B lose half of a third each, together a third: 10000 - 3333.
    assert_eq!(two_lose([1, 2, 3]).path(A).cwnd, 6667);
    // A and B serve the same one of two clients, which loses half of its half once.
    assert_eq!(two_lose([1, 1, 2]).path(A).cwnd, 7500);
}

#[test]
fn each_overtaken_segment_counts_as_a_duplicate() {
    // Eggert et al. 2000 §3.3: every ACK of B passes A0, which counts as a duplicate ACK of A: at
    // three Reno retransmits it.
    let mut m = lost_then_overtaken("etcp-fair+share_pacing=off");
    assert!(m.ack(B, 1).is_empty());
    assert!(m.ack(B, 2).is_empty());
    assert_eq!(m.ack(B, 3), [(A, 0)]);
    // Two segments of A: an ACK that passes both counts twice, so the second ACK makes four.
    let mut m = Members::new("etcp-fair+share_pacing=off", 2);
    m.write(A, 2);
    m.write(B, 3);
    assert!(m.ack(B, 1).is_empty());
    assert_eq!(m.ack(B, 2), [(A, 0)]);
}

#[test]
fn an_ack_that_the_receiver_may_hold_back_takes_more_evidence() {
    // Rules 4 and 5: A0 is A's only segment, so no other of A's was overtaken, and the receiver may
    // be delaying the ACK. An ACK for a segment sent more than 400 ms after A0 decides it.
    let mut m = lost_then_overtaken("tcp-int");
    for next in 1..=5 {
        assert!(m.ack(B, next).is_empty(), "{next}");
    }
    m.wait(350);
    assert_eq!(m.write(B, 1), [(B, 5)]);
    m.wait(100);
    assert_eq!(m.ack(B, 6), [(A, 0)]);
    // With A1 overtaken three times as well, the fourth ACK settles it.
    let mut m = Members::new("tcp-int", 2);
    m.write(A, 2);
    m.write(B, 4);
    for next in 1..4 {
        assert!(m.ack(B, next).is_empty(), "{next}");
    }
    assert_eq!(m.ack(B, 4), [(A, 0)]);
}

#[test]
fn the_short_end_of_a_transfer_makes_no_receiver_acknowledge() {
    // RFC 1122 §4.2.3.2: an ACK for every second *full-sized* segment. A0 is full and A1 has 300
    // bytes. The receiver of both may delay its ACK, so four later ACKs prove nothing about A0. The
    // ACK of a segment sent more than 400 ms later does (rule 5).
    for scheme in ["tcp-int+nagle=off", "session+nagle=off"] {
        let mut m = Members::new(scheme, 2);
        m.host.write(m.now, m.conns[A].conn, 1300);
        assert_eq!(m.sent(), [(A, 0), (A, 1)], "{scheme}");
        m.write(B, 4);
        for next in 1..=4 {
            assert!(m.ack(B, next).is_empty(), "{scheme}: {next}");
        }
        m.wait(401);
        assert_eq!(m.write(B, 1), [(B, 4)], "{scheme}");
        assert_eq!(m.ack(B, 5), [(A, 0)], "{scheme}");
    }
}

#[test]
fn an_ack_sends_the_oldest_again_or_all() {
    // A0 and C0 are lost, both overtaken by the same ACKs of B. TCP-INT retransmits one for each
    // ACK, the oldest; Session all at once (Padmanabhan & Katz 1998 §7.3). The window is reduced
    // once.
    for (scheme, fourth, fifth) in [
        ("tcp-int+later_delayed=off", vec![(A, 0)], vec![(C, 0)]),
        ("session+later_delayed=off", vec![(A, 0), (C, 0)], vec![]),
    ] {
        let mut m = Members::new(scheme, 3);
        m.write(A, 1);
        m.write(C, 1);
        for next in 0..4 {
            assert_eq!(m.write(B, 1), [(B, next)], "{scheme}");
        }
        for next in 1..4 {
            assert!(m.ack(B, next).is_empty(), "{scheme}");
        }
        assert_eq!(m.write(B, 1), [(B, 4)], "{scheme}");
        assert_eq!(m.ack(B, 4), fourth, "{scheme}");
        let fallen = m.path(A).cwnd;
        assert_eq!(m.ack(B, 5), fifth, "{scheme}");
        assert_eq!(m.path(A).cwnd, fallen, "{scheme}");
    }
}

#[test]
fn reordering_of_three_loses_nothing() {
    for scheme in ["tcp-int+later_delayed=off", "session+later_delayed=off"] {
        let mut m = lost_then_overtaken(scheme);
        for next in 1..4 {
            m.ack(B, next);
        }
        assert!(m.ack(A, 1).is_empty(), "{scheme}");
        assert!(m.ack(B, 5).is_empty(), "{scheme}");
        assert_eq!(m.path(A).ssthresh, u64::MAX, "{scheme}");
    }
}

#[test]
fn a_timeout_of_one_member_leaves_the_other_as_it_was() {
    // A0 is lost, and B0 to B2 leave 0.6 s later. A's timer (1 s) retransmits A0. cwnd is then one
    // segment, and the list is empty, so B's ACKs are no evidence against the retransmission of A0.
    // B loses nothing and retransmits nothing; all is acknowledged, and nothing stays in flight.
    let mut m = Members::new("tcp-int+later_delayed=off", 2);
    assert_eq!(m.write(A, 1), [(A, 0)]);
    m.wait(600);
    assert_eq!(m.write(B, 3), [(B, 0), (B, 1), (B, 2)]);
    m.wait(400);
    assert_eq!(m.sent(), [(A, 0)]);
    assert_eq!(m.path(A).cwnd, 1000);
    for next in 1..=3 {
        assert!(m.ack(B, next).is_empty());
    }
    assert!(m.ack(A, 1).is_empty());
    assert_eq!(m.path(A).in_flight, 0);
    let stats = m.host.stats(m.conns[B].conn).unwrap();
    assert_eq!((stats.timeouts, stats.retransmitted_segments), (0, 0));
}

#[test]
fn a_member_that_vanishes_returns_its_share() {
    // A0 to A5 fill the window, and A is aborted: B has all of it.
    for scheme in ["tcp-int", "session", "etcp-fair+share_pacing=off"] {
        let mut m = Members::new(scheme, 2);
        assert_eq!(m.write(A, 6).len(), 6, "{scheme}");
        assert!(m.write(B, 6).is_empty(), "{scheme}");
        m.host.abort(m.now, m.conns[A].conn);
        assert_eq!(m.sent().len(), 6, "{scheme}");
        assert_eq!(m.path(B).in_flight, 6000, "{scheme}");
        for next in 1..=6 {
            assert!(m.ack(B, next).is_empty(), "{scheme}");
        }
        assert_eq!(m.path(B).in_flight, 0, "{scheme}");
    }
}

#[test]
fn a_member_that_stalls_blocks_nobody() {
    // A's receiver shuts its window: all of the path's is B's.
    for scheme in ["tcp-int", "session", "etcp-fair+share_pacing=off"] {
        let mut m = Members::new(scheme, 2);
        assert_eq!(m.write(A, 1), [(A, 0)], "{scheme}");
        m.offered[A] = 0;
        m.ack(A, 1);
        assert!(m.write(A, 20).is_empty(), "{scheme}");
        let room = m.path(B).cwnd / u64::from(MSS);
        let sent = m.write(B, 20);
        assert_eq!(sent.len() as u64, room, "{scheme}");
        assert!(sent.iter().all(|(member, _)| *member == B), "{scheme}");
    }
}
