//! Connections that open to the same host at the same time: the times of their SYNs and
//! retransmissions.

use std::net::{IpAddr, Ipv4Addr};
use tcp::{ConnId, Flags, FourTuple, Host, HostConfig, Scheme, Segment, TcpOptions, Transmit};
use units::{Duration, Instant, SeqNum};

const REMOTE: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 9));

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

/// A client whose peer the test plays.
struct Client {
    host: Host,
    scheme: Scheme,
    opened: u16,
}

impl Client {
    fn new(scheme: &str) -> Self {
        let scheme = Scheme::parse(scheme).unwrap();
        Self { host: Host::new(HostConfig { seed: 7 }), scheme, opened: 0 }
    }

    fn connect(&mut self, now: Instant) -> ConnId {
        let local_port = 5000 + self.opened;
        self.opened += 1;
        let tuple = FourTuple { local_port, remote: REMOTE, remote_port: 80 };
        self.host.connect(now, tuple, &self.scheme).unwrap()
    }

    /// All that leaves now.
    fn sent(&mut self, now: Instant) -> Vec<Transmit> {
        self.host.handle_timeout(now);
        std::iter::from_fn(|| self.host.poll_transmit(now)).collect()
    }

    /// The peer answers this SYN.
    fn answer(&mut self, now: Instant, syn: &Transmit) {
        let options = TcpOptions { mss: Some(1460), ..TcpOptions::default() };
        let answer = Segment {
            seq: SeqNum(0),
            ack: syn.segment.seq + 1,
            flags: Flags::SYN.with(Flags::ACK),
            window: 65_535,
            options,
            ..Segment::default()
        };
        self.host.handle_segment(now, &syn.tuple, &answer);
    }

    /// Returns the time of the next SYN retransmission, and the ports of the connections.
    fn next_again(&mut self) -> (Instant, Vec<u16>) {
        let due = self.host.poll_timeout().unwrap();
        let ports = self.sent(due).iter().map(|syn| syn.tuple.local_port).collect();
        (due, ports)
    }
}

/// `due` and up to an eighth of `time` later.
fn assert_due(due: Instant, from: Instant, time: Duration) {
    assert!(due >= from + time && due <= from + time + time / 8, "{due} for {}", from + time);
}

/// Two of three SYNs are answered: the first one is retransmitted by the evidence of the answers.
fn assert_answers_tell_of_a_lost_syn(scheme: &str) {
    let mut client = Client::new(scheme);
    for _ in 0..3 {
        client.connect(at(0));
    }
    let syns = client.sent(at(0));
    assert_eq!(syns.len(), 3);
    // One answer shows nothing but its round trip: R = 100 ms, and R/2 as its deviation. 100 + 4 *
    // 50.
    client.answer(at(100), &syns[1]);
    client.sent(at(100));
    let due = client.host.poll_timeout().unwrap();
    assert_due(due, at(0), Duration::from_millis(300));
    // The second one overtakes it: a quarter of a round trip from now.
    client.answer(at(100), &syns[2]);
    client.sent(at(100));
    let (due, again) = client.next_again();
    assert_due(due, at(100), Duration::from_millis(25));
    assert_eq!(again, [5000]);
}

#[test]
fn answers_to_syns_that_left_together_tell_of_one_that_is_lost() {
    assert_answers_tell_of_a_lost_syn("linux+opening_timer=known");
}

#[test]
fn what_has_gone_again_is_overtaken_by_nothing_that_left_before() {
    let mut client = Client::new("linux+opening_timer=known");
    for _ in 0..4 {
        client.connect(at(0));
    }
    let syns = client.sent(at(0));
    client.answer(at(100), &syns[1]);
    client.answer(at(100), &syns[2]);
    client.sent(at(100));
    let (first, again) = client.next_again();
    // The first and the last are overdue; the one with the shorter random part is retransmitted
    // first. The other is answered late, which is no evidence about the new retransmission.
    let other = if again == [5000] { 3 } else { 0 };
    assert!(again == [5000] || again == [5003], "{again:?}");
    let late = first + Duration::from_micros(1);
    client.answer(late, &syns[other]);
    client.sent(late);
    let (due, _) = client.next_again();
    // Twice 300 ms from when it went again, and an eighth at most.
    assert!(due >= first + Duration::from_millis(600), "{due} after {first}");
}

#[test]
fn an_answer_to_a_later_syn_is_enough() {
    let mut client = Client::new("linux+opening_timer=known");
    client.connect(at(0));
    let first = client.sent(at(0));
    client.connect(at(40));
    let second = client.sent(at(40));
    assert_eq!((first.len(), second.len()), (1, 1));
    client.answer(at(140), &second[0]);
    client.sent(at(140));
    let (due, again) = client.next_again();
    assert_due(due, at(140), Duration::from_millis(25));
    assert_eq!(again, [5000]);
    // Doubled: 2 * 300 ms, as no other answer is received.
    let (next, again) = client.next_again();
    assert_due(next, due, Duration::from_millis(600));
    assert_eq!(again, [5000]);
}

#[test]
fn who_comes_later_knows_from_the_start_how_long_answers_take() {
    let mut client = Client::new("linux+opening_timer=known");
    client.connect(at(0));
    let first = client.sent(at(0));
    client.answer(at(80), &first[0]);
    client.sent(at(80));
    client.connect(at(1000));
    client.sent(at(1000));
    let (due, again) = client.next_again();
    assert_due(due, at(1000), Duration::from_millis(240));
    assert_eq!(again, [5001]);
    // Ten minutes later it is too old to be used.
    client.host.abort(at(1500), ConnId(1));
    client.connect(at(700_000));
    client.sent(at(700_000));
    assert_eq!(client.host.poll_timeout(), Some(at(701_000)));
}

#[test]
fn nobody_listens_to_others_unless_the_scheme_says_so() {
    let mut client = Client::new("linux");
    for _ in 0..3 {
        client.connect(at(0));
    }
    let syns = client.sent(at(0));
    client.answer(at(100), &syns[1]);
    client.answer(at(100), &syns[2]);
    client.sent(at(100));
    assert_eq!(client.host.poll_timeout(), Some(at(1000)));
}

#[test]
fn syns_beyond_a_burst_leave_spaced() {
    let mut client = Client::new("linux+opening_burst=2");
    for _ in 0..4 {
        client.connect(at(0));
    }
    let mut left = Vec::new();
    let mut now = at(0);
    while left.len() < 4 {
        left.extend(client.sent(now).iter().map(|syn| (now, syn.tuple.local_port)));
        now = client.host.poll_timeout().unwrap();
    }
    // 74 bytes at 1.5 Mbit/s are 394.666 us.
    let gap = Duration::from_nanos(394_667);
    let near =
        |a: Instant, b: Instant| a.saturating_since(b).max(b.saturating_since(a)).as_nanos() < 5;
    assert_eq!(left.iter().map(|(_, port)| *port).collect::<Vec<_>>(), [5000, 5001, 5002, 5003]);
    for (n, (when, _)) in left.iter().enumerate() {
        let spaced = at(0) + gap * (n as u64).saturating_sub(1);
        assert!(near(*when, spaced), "{n}: {when} for {spaced}");
    }
}

/// Segments of data that leave at once when `lost` SYNs have been lost before one was answered.
fn first_flight(scheme: &str, lost: usize) -> usize {
    let mut client = Client::new(scheme);
    let id = client.connect(at(0));
    let mut syn = client.sent(at(0)).remove(0);
    let mut now = at(0);
    for _ in 0..lost {
        now = client.host.poll_timeout().unwrap();
        syn = client.sent(now).remove(0);
    }
    client.answer(now, &syn);
    client.host.write(now, id, 100_000);
    client.sent(now).iter().filter(|sent| sent.segment.len > 0).count()
}

/// Linux keeps its initial window of ten after one lost SYN, RFC 5681 §3.1 does not; the rest is a
/// segment, or the configured value.
#[test]
fn lost_syns_make_the_first_window_smaller() {
    assert_eq!([0, 1, 2].map(|lost| first_flight("linux", lost)), [10, 10, 1]);
    assert_eq!([0, 1, 2].map(|lost| first_flight("linux+syn_losses=0", lost)), [10, 1, 1]);
    assert_eq!([0, 1, 2].map(|lost| first_flight("linux+lost_iw=4", lost)), [10, 10, 4]);
    assert_eq!([0, 1, 2].map(|lost| first_flight("headstart", lost)), [10, 4, 4]);
    // It never makes it larger.
    assert_eq!(first_flight("linux+iw=3+syn_losses=0+lost_iw=4", 1), 3);
}

/// Returns the time at which a client without an answer gives up; it knows a round trip of 10 ms if
/// `known`.
fn gives_up(scheme: &str, known: bool) -> Instant {
    let mut client = Client::new(scheme);
    if known {
        client.connect(at(0));
        let first = client.sent(at(0));
        client.answer(at(10), &first[0]);
        client.sent(at(10));
        client.host.abort(at(10), ConnId(0));
        client.sent(at(10));
    }
    let id = client.connect(at(20));
    client.sent(at(20));
    let mut now = at(20);
    while client.host.connection(id).is_some_and(|conn| conn.state() != tcp::State::Closed) {
        now = client.host.poll_timeout().unwrap();
        client.sent(now);
    }
    now
}

#[test]
fn who_repeats_sooner_gives_up_no_sooner() {
    // RFC 6298 §2.1 and six repeats (Linux `tcp_syn_retries`): 1 + 2 + 4 + ... + 64 = 127 s. Four
    // timeouts that do not double come before (`tcp_syn_linear_timeouts`). The timer runs out after
    // 1, 2, 3, 4, 5, 7, 11, 19, 35, 67 and 131 s, and 131 s is the first time after 127 s.
    assert_eq!(gives_up("linux", true), at(20) + Duration::from_secs(131));
    // max(2 * 10, 10 + 4 * 5, 20) ms and an eighth at most, and twelve retransmissions: 2^13 - 1
    // times that.
    let patience = gives_up("linux+opening_timer=known", true).saturating_since(at(20));
    assert!(patience >= Duration::from_millis(8191 * 30), "{patience}");
    // Nothing known: as long as `linux`, and the further repeats.
    assert!(gives_up("linux+opening_timer=known", false) >= at(20) + Duration::from_secs(127));
}

/// Linux's four timeouts of a second come before doublings, also where a scheme would use known
/// round trips and knows none.
#[test]
fn a_client_without_a_known_round_trip_repeats_its_syn_as_linux_does() {
    for scheme in ["linux", "linux+opening_timer=known", "headstart"] {
        let mut client = Client::new(scheme);
        client.connect(at(0));
        client.sent(at(0));
        for seconds in [1, 2, 3, 4, 5, 7, 11] {
            let again = client.next_again();
            assert_eq!(again, (at(1000 * seconds), vec![5000]), "{scheme}");
        }
    }
}

/// Returns the time at which a server retransmits a SYN-ACK that is not acknowledged, while that of
/// 0 ms was acknowledged after 10 ms. Also returns the number that leave as the SYN is received
/// again at 60 ms.
fn syn_ack_again(scheme: &str) -> (Instant, usize) {
    let mut host = Host::new(HostConfig { seed: 7 });
    host.listen(80, Scheme::parse(scheme).unwrap());
    let tuple = |remote_port| FourTuple { local_port: 80, remote: REMOTE, remote_port };
    let syn = Segment {
        seq: SeqNum(0),
        flags: Flags::SYN,
        window: 65_535,
        options: TcpOptions { mss: Some(1460), ..TcpOptions::default() },
        ..Segment::default()
    };
    let sent = |host: &mut Host, now| {
        host.handle_timeout(now);
        std::iter::from_fn(|| host.poll_transmit(now)).collect::<Vec<Transmit>>()
    };
    host.handle_segment(at(0), &tuple(5000), &syn);
    let first = sent(&mut host, at(0)).remove(0);
    let seq = first.segment.seq + 1;
    let ack = Segment { seq: SeqNum(1), ack: seq, flags: Flags::ACK, window: 65_535, ..syn };
    host.handle_segment(at(10), &tuple(5000), &ack);
    sent(&mut host, at(10));
    host.handle_segment(at(20), &tuple(5001), &syn);
    assert_eq!(sent(&mut host, at(20)).len(), 1);
    let due = host.poll_timeout().unwrap();
    host.handle_segment(at(60), &tuple(5001), &syn);
    (due, sent(&mut host, at(60)).len())
}

/// A round trip of 10 ms: max(2 * 10, 10 + 4 * 5, 20) ms and an eighth at most. With only the
/// clients' timers it is a second, and a repeated SYN is answered at once.
#[test]
fn servers_repeat_syn_acks_by_what_they_know_or_wait_for_their_clients() {
    let (due, again) = syn_ack_again("linux+opening_timer=known");
    assert_due(due, at(20), Duration::from_millis(30));
    assert_eq!(again, 1, "the timer has run out");
    assert_eq!(syn_ack_again("linux+opening_timer=clients"), (at(1020), 1));
    assert_eq!(syn_ack_again("linux"), (at(1020), 1));
}

#[test]
fn clients_alone_repeat_syns_by_what_they_know() {
    assert_answers_tell_of_a_lost_syn("linux+opening_timer=clients");
}
