//! Members of a session: the start of the first one and of the next.

use super::*;

/// An ACK of `segments` while nothing is missing.
fn arrive(line: &mut Line, member: &mut MemberStart, ms: u64, segments: u64) {
    line.now = at(ms);
    line.acked += segments * MSS;
    let sample = AckSample { cwnd_limited: true, ..AckSample::of(line.now, segments * MSS) };
    member.observe(&mut line.window, &sample);
    line.notify(member, |member, window, at| member.acked(window, at, &sample));
}

fn open(ms: u64, options: WarmOptions, host: &SharedHostState) -> (Line, MemberStart) {
    let (mut line, mut member) = (Line::new(ms), MemberStart::new(options));
    line.open(&mut member, host);
    (line, member)
}

/// A retransmitted SYN-ACK speaks against the memory.
#[test]
fn a_session_starts_cold_after_a_handshake_that_lost_something() {
    let host = host(100, 0);
    let (mut line, mut member) = (Line::new(1000), MemberStart::new(options()));
    member.hook(HostAccess::new(host, PEER.into()));
    line.notify(&mut member, |member, window, at| member.open(window, at, RETRANSMITTED));
    line.start(&mut member, 100);
    assert_eq!(line.segments(), 10);
}

/// All connections together have 100 segments, and grow to 200 in a round trip. The next connection
/// begins with 120, which the operator allows.
#[test]
fn no_member_begins_with_more_than_the_cap() {
    let mut options = options();
    options.terms.cap = 120;
    let host = host(100, 0);
    let (mut first, mut one) = open(1000, options, &host);
    first.start(&mut one, 100);
    assert_eq!(first.segments(), 100);
    for n in 0..100 {
        arrive(&mut first, &mut one, 1080 + n / 50, 1);
    }
    assert_eq!(first.segments(), 200);
    let (mut second, mut other) = open(1090, options, &host);
    second.start(&mut other, 500);
    assert_eq!(second.segments(), 120);
}

/// 100 segments of 1000 bytes leave at 1.5 MB/s. Two connections begin together, so the first to
/// send has half, and leaves at half of that.
#[test]
fn the_first_of_two_leaves_at_its_part_of_the_rate() {
    let host = host(100, 0);
    for _ in 0..2 {
        host.borrow_mut().pool.begin_handshake(at(920), PEER.into());
    }
    let (mut line, mut member) = open(1000, options(), &host);
    line.start(&mut member, 500);
    assert_eq!(line.segments(), 50);
    let most = line.window.pacing_order().and_then(|order| order.most);
    assert_eq!(most, Some(Rate::from_bps(6_000_000)));
}

/// A first flight that fails leaves half of the window in the memory. That loss is no measure of
/// the path beside that.
#[test]
fn a_failed_start_of_a_session_is_remembered_once() {
    let host = host(100, 0);
    let (mut line, mut member) = open(1000, options(), &host);
    line.start(&mut member, 100);
    arrive(&mut line, &mut member, 1090, 10);
    line.queue();
    line.notify(&mut member, |member, window, at| member.lose(window, at));
    StartUp::on_loss(&mut member, &mut line.window, LossEvent::Reduced);
    assert_eq!(remembered(&host), Some(50));
}

#[test]
fn members_of_a_session_share_one_window() {
    let host = host(100, 0);
    let mut members = [0, 1].map(|_| (Line::new(1000), MemberStart::new(options())));
    for (line, member) in &mut members {
        line.open(member, &host);
    }
    // The first one starts for all, with the whole remembered window. Its 11 kB are twelve segments
    // at most, which are allocated to it.
    let [(first, one), (second, other)] = &mut members;
    first.start(one, 11);
    assert_eq!(first.segments(), 100);
    // Two members with the same weight have half each, and 100 - 12 - 10 beside ten of its own is
    // more.
    second.start(other, 500);
    assert_eq!(second.segments(), 50);
    assert!(one.capabilities().rules_recovery && other.capabilities().rules_recovery);
}
