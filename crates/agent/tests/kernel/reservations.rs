//! The remembered window of a path is allocated once in a round trip, however many connections
//! start in it.
//!
//! 20 Mbit/s and 80 ms: 200 kB are 139 segments in flights of 10, 20 and 40, and of the other 69.
//! They prove twice the last flight, of which a link that holds 233 loses nothing.

use crate::bed::{Agent, Bed, Server, finish, request};
use crate::peers::Peers;
use socket2::Domain;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::thread;
use std::time::Duration;
use test_support::retry_on_stall;

/// Connections that a browser opens to a host.
const AT_ONCE: u64 = 6;
const BYTES: u64 = 200_000;

/// Makes visits at once after one that has taught the path: all start warm, with equal parts of the
/// proven window, which is at least `least`.
fn assert_shared(bed: &Bed, agent: &Agent, server: &Server, least: u64) {
    bed.visit(server, BYTES);
    agent.wait_for_closed(1);
    let window = u64::from(agent.paths()[0].window);
    assert!(window >= least, "{window}");
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| bed.visit(server, BYTES));
        }
    });
    agent.wait_for_closed(1 + AT_ONCE);
    let warm = agent.status().connections.warm;
    // Their SYNs came within a round trip, before the first connection opened. So each gets a sixth
    // of the proven window, and a part of the reservations that expire until the last one opens.
    assert_eq!(warm.closed, AT_ONCE, "{warm:?}");
    let all = warm.first_windows;
    assert!((window * 9 / 10..=window * 6 / 5).contains(&all), "{warm:?}, {window}");
}

#[test]
fn connections_that_begin_at_once_share_what_is_remembered() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        bed.widen_receive_window();
        let addresses = bed.server.addresses();
        let mapped = IpAddr::V6(addresses.v4.to_ipv6_mapped());
        for address in [addresses.v4.into(), addresses.v6.into(), mapped] {
            let agent = bed.agent(&[]);
            let server = bed.serve_at(SocketAddr::new(address, 0), None);
            assert_shared(&bed, &agent, &server, 130);
        }
    });
}

/// The first member to send starts the session, and the others join it: each has its part of the
/// proven window, in any order.
#[test]
fn members_that_join_at_once_share_what_is_remembered() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        bed.widen_receive_window();
        let agent = bed.agent_giving("session", &[]);
        let server = bed.serve(Domain::IPV4, None);
        bed.visit(&server, BYTES);
        agent.wait_for_closed(1);
        let window = u64::from(agent.paths()[0].window);
        assert!(window >= 100, "{window}");
        let before = first_windows(&agent);
        thread::scope(|scope| {
            for _ in 0..AT_ONCE {
                scope.spawn(|| bed.visit(&server, BYTES));
            }
        });
        agent.wait_for_closed(1 + AT_ONCE);
        let all = first_windows(&agent) - before;
        assert!((window * 3 / 4..=window * 5 / 4).contains(&all), "{all} of {window}");
        // Members that join start with the remembered window, too, and may do harm with it.
        let sums = agent.status().connections;
        assert_eq!((sums.warm.closed, sums.cold.closed), (AT_ONCE, 1), "{sums:?}");
    });
}

/// As long as slow start has not ended, a small window narrows no member more than the kernel
/// would.
#[test]
fn a_cold_member_begins_with_what_anybody_begins_with() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = bed.agent_giving("session", &[]);
        let server = bed.serve(Domain::IPV4, None);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| bed.visit(&server, 30_000));
            }
        });
        agent.wait_for_closed(2);
        assert_eq!(first_windows(&agent), 20);
    });
}

/// Returns the proven window of a session, and the first window of a connection that asks for
/// `bytes`. Meanwhile another one's answer to the same request is outstanding, without any
/// acknowledgement.
fn second_window(bed: &Bed, agent: &Agent, server: &Server, bytes: u64) -> (u64, u64) {
    bed.visit(server, BYTES);
    agent.wait_for_closed(1);
    let window = u64::from(agent.paths()[0].window);
    assert!(window >= 100, "{window}");
    let mut one = bed.open(server, bytes);
    finish(&mut one, bytes);
    let connect = || TcpStream::connect(server.address());
    let mut other = bed.client.namespace().run(connect).unwrap().unwrap();
    let before = first_windows(agent);
    request(&mut one, bytes);
    // A quarter of a round trip.
    thread::sleep(Duration::from_millis(20));
    request(&mut other, bytes);
    finish(&mut one, bytes);
    finish(&mut other, bytes);
    drop((one, other));
    agent.wait_for_closed(3);
    // The first began with all of it.
    (window, first_windows(agent) - before - window)
}

/// The queue of a member that sends far more than lay in it at its join does not count a second
/// time. Its answers consist of a head, which is sent by itself, and a body that would take the
/// others' parts.
#[test]
fn what_lies_in_a_queue_is_believed_until_it_was_not_all() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        bed.widen_receive_window();
        let agent = bed.agent_giving("session", &[]);
        let (window, second) = second_window(&bed, &agent, &bed.serve_in_pieces(), BYTES);
        assert!(second <= 10, "{second} of {window}");
    });
}

/// A picture's bytes are outstanding on one connection when another asks: the first one's
/// allocation is no more than it has to send.
#[test]
fn who_has_little_to_send_leaves_the_rest_to_who_joins() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        bed.widen_receive_window();
        let agent = bed.agent_giving("session", &[]);
        let server = bed.serve(Domain::IPV4, None);
        let (window, second) = second_window(&bed, &agent, &server, 15_000);
        // Half is its share, ten what anybody begins with.
        assert!((window * 2 / 5..=window * 3 / 5).contains(&second), "{second} of {window}");
    });
}

/// Sum of the first windows of all closed connections.
fn first_windows(agent: &Agent) -> u64 {
    let connections = agent.status().connections;
    connections.warm.first_windows + connections.cold.first_windows
}

#[test]
fn they_share_also_where_first_windows_are_all_that_can_be_set() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        bed.widen_receive_window();
        let agent = bed.agent_giving("auto", &["--mode", "window"]);
        // The programs see flights once a round trip, when up to a tenth may not be sent yet.
        assert_shared(&bed, &agent, &bed.serve(Domain::IPV4, None), 130 * 9 / 10);
    });
}

#[test]
fn connections_that_are_opened_at_once_share_too() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = bed.agent(&[]);
        let sink = bed.sink();
        let upload = || bed.upload(sink, BYTES as usize);
        upload();
        agent.wait_for_closed(1);
        let window = u64::from(agent.paths()[0].window);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(upload);
            }
        });
        agent.wait_for_closed(3);
        let warm = agent.status().connections.warm;
        assert_eq!(warm.closed, 2, "{warm:?}");
        assert!(warm.first_windows <= window * 6 / 5, "{warm:?}, {window}");
    });
}

/// A handshake that is not ended, whether that is a scan or a flood, narrows the starts of its own
/// prefix, and not for long.
#[test]
fn who_never_comes_is_soon_forgotten() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let (agent, server) = bed.hooked();
        let peers = Peers::of(&bed, server.address());
        let first_window = |port: u16| {
            let before = agent.status().connections.warm.first_windows;
            let closed = agent.closed();
            peers.visit(from(port), BYTES);
            agent.wait_for_closed(closed + 1);
            agent.status().connections.warm.first_windows - before
        };
        assert_eq!(first_window(40_000), 0);
        let whole = first_window(40_001);
        assert!(whole >= 100, "{whole}");
        for port in 50_000..50_004 {
            peers.knock(from(port));
        }
        // One of five; some segments are reserved already if the round trip before has just passed.
        let part = first_window(40_002);
        let fifth = whole / 5;
        assert!((fifth * 3 / 4..=fifth).contains(&part), "{part} of {whole}");
        // Spans of 67 ms, the next power of two ns above two round trips of 20 ms and a bit; two of
        // them at most.
        thread::sleep(Duration::from_millis(140));
        let again = first_window(40_003);
        assert!(again >= whole * 9 / 10, "{again} of {whole}");
    });
}

fn from(port: u16) -> SocketAddr {
    SocketAddr::from(([203, 0, 113, 1], port))
}

#[test]
fn connections_one_after_another_are_given_it_each() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        bed.widen_receive_window();
        let (agent, server) = bed.hooked();
        for closed in 1..=4 {
            bed.visit(&server, BYTES);
            agent.wait_for_closed(closed);
        }
        let warm = agent.status().connections.warm;
        assert_eq!((warm.closed, warm.fallbacks), (3, 0), "{warm:?}");
        // Each start has the whole window that 200 kB prove: 139 segments, or the window of the
        // first, cold start.
        assert!(warm.first_windows >= 3 * 130, "{warm:?}");
    });
}
