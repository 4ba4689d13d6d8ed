//! Timers by the memory of the path, if the operator asks for them. Lost SYNs are retransmitted
//! sooner than after a second (`--handshake-timer known`), and other segments sooner than 200 ms
//! after a round trip (`--rto-min`).

use crate::bed::{Bed, finish, link_of, timeout_of, until};
use agent::programs::telemetry::handshake_timers::TimedHandshakes;
use nix::{getsockopt_impl, libc, sockopt_impl};
use socket2::Domain;
use std::time::Duration;
use test_support::retry_on_stall;

/// A page's connections.
const PAGE: usize = 12;

/// On 1 Mbit/s a SYN of 60 bytes takes half a millisecond: of twelve at once four or five fit into
/// a queue of three packets. The kernel retransmits the others after a second each time. With a
/// remembered round trip of 80 ms they are retransmitted after 160 to 180 ms, spread, so that fewer
/// are lost once more. The requirement is half of the stock time.
#[test]
fn a_page_whose_syns_overflow_a_queue_opens_in_half_the_time() {
    retry_on_stall(|| {
        let Some(bed) = Bed::over(link_of(1, 80, 3)) else { return };
        let opened_by = |arguments: &[&str]| {
            let agent = bed.agent(arguments);
            let server = bed.serve(Domain::IPV4, None);
            bed.visit_hooked(&server, 3000);
            agent.wait_for_closed(2);
            let before = agent.status().handshake_timers;
            let (took, page) = bed.open_together(&server, PAGE);
            let after = agent.status().handshake_timers;
            // The next agent counts every connection that closes under it.
            drop(page);
            agent.wait_for_closed(2 + 2 * PAGE as u64);
            (took, before, after)
        };
        let (stock, _, unknown) = opened_by(&[]);
        assert_eq!(unknown, None);
        let (known, before, after) = opened_by(&["--handshake-timer", "known"]);
        eprintln!("{PAGE} connections: {stock:?}, by what is known {known:?}");
        // The kernel asks once more for a retransmitted SYN. Each handshake counts once at either
        // side of it.
        let (before, after) = (before.unwrap(), after.unwrap());
        assert_eq!(before, TimedHandshakes::default());
        assert_eq!(after, TimedHandshakes { by_memory: 2 * PAGE as u64, by_handshake: 0 });
        assert!(stock >= Duration::from_secs(1), "{stock:?}");
        assert!(known * 2 <= stock, "{known:?} of {stock:?}");
    });
}

/// The path is not remembered, since no connection has closed. The first one took 80 ms to open,
/// and has proven nothing since. The next one waits three times as long for its answer, by chance
/// up to an eighth longer, and not for a second.
#[test]
fn on_a_first_visit_the_first_connection_tells_the_others_how_long_answers_take() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let timer_by = |arguments: &[&str]| {
            let agent = bed.agent(&[&["--handshake-timer", "known"], arguments].concat());
            let server = bed.serve(Domain::IPV4, None);
            assert_eq!(timeout_of(&bed.begin_to_open(&server, false)), Duration::from_secs(1));
            let _open = bed.open_together(&server, 1);
            let before = agent.status().handshake_timers.unwrap();
            let started = bed.begin_to_open(&server, false);
            let timer = timeout_of(&started);
            assert_eq!((agent.closed(), before.by_handshake), (0, 0));
            (timer, agent, server, started)
        };
        let (known, agent, ..) = timer_by(&[]);
        // The client's SYN, and the server's answer, which does not know the path by memory either.
        until("both sides count it", || {
            let counts = agent.status().handshake_timers.unwrap();
            counts == TimedHandshakes { by_memory: 0, by_handshake: 2 }
        });
        drop(agent);
        eprintln!("the second connection waits {known:?}");
        assert!(
            known >= Duration::from_millis(240) && known < Duration::from_millis(290),
            "{known:?}"
        );
        // The control group keeps the kernel's timer, and so do those outside of the canary's
        // share.
        for stock in [["--holdout", "1"], ["--percent", "0"]] {
            let (timer, agent, ..) = timer_by(&stock);
            assert_eq!(timer, Duration::from_secs(1), "{stock:?}");
            assert_eq!(agent.status().handshake_timers, Some(TimedHandshakes::default()));
        }
    });
}

sockopt_impl!(
    /// Number of retransmitted SYNs before a connection attempt ends.
    SynCount,
    GetOnly,
    libc::IPPROTO_TCP,
    libc::TCP_SYNCNT,
    i32
);

/// 160 to 180 ms double three times until they are a second: 320, 640, 1280. Linux retransmits 6
/// SYNs by default.
#[test]
fn a_host_that_does_not_answer_is_given_up_no_sooner() {
    let Some(bed) = Bed::new() else { return };
    let agent = bed.agent(&["--handshake-timer", "known"]);
    let server = bed.serve(Domain::IPV4, None);
    bed.client.namespace().set_sysctl("net.ipv4.tcp_syn_retries", "6").unwrap();
    let repeats = || {
        let closed = agent.closed();
        let mut stream = bed.open_hooked(&server, 3000);
        let count = nix::sys::socket::getsockopt(&stream, SynCount).unwrap();
        finish(&mut stream, 3000);
        drop(stream);
        agent.wait_for_closed(closed + 2);
        count
    };
    assert_eq!(repeats(), 6, "of a path that nobody knows");
    assert_eq!(repeats(), 9);
}

/// After the handshake a timeout is 80 ms and 200 ms, the kernel's first measure of variation. Each
/// round trip reduces that by a quarter of its excess over the minimum. After 16 requests of 80 ms
/// the 20 ms are left, and the variation of round trips.
#[test]
fn a_timeout_falls_to_the_round_trip_and_what_is_said() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let timeout_by = |arguments: &[&str]| {
            let _agent = bed.agent(arguments);
            let server = bed.serve(Domain::IPV4, None);
            let mut stream = bed.open_hooked(&server, 1000);
            finish(&mut stream, 1000);
            for _ in 0..16 {
                Bed::again(&mut stream, 1000);
            }
            timeout_of(&stream)
        };
        let stock = timeout_by(&[]);
        let short = timeout_by(&["--rto-min", "20"]);
        eprintln!("timeouts: {stock:?}, at least 20 ms {short:?}");
        assert!(stock >= Duration::from_millis(280), "{stock:?}");
        assert!(short < Duration::from_millis(150), "{short:?}");
        // A connection that is to stay stock keeps its timeout.
        let group = timeout_by(&["--rto-min", "20", "--holdout", "1"]);
        assert!(group >= Duration::from_millis(280), "{group:?}");
    });
}

/// A cgroup that is left alone, below one whose connections have both options. Its SYN waits for
/// the kernel's second, not for the path's known time, and is retransmitted as often as by the
/// kernel. Its timeout stays at the kernel's 200 ms and a round trip.
#[test]
fn a_cgroup_that_is_left_alone_keeps_the_kernels_timers() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let below = bed.below().to_str().unwrap().to_owned();
        let arguments =
            ["--handshake-timer", "known", "--rto-min", "20", "--except-cgroup", &below];
        let agent = bed.agent(&arguments);
        bed.client.namespace().set_sysctl("net.ipv4.tcp_syn_retries", "6").unwrap();
        let server = bed.serve(Domain::IPV4, None);
        // Both hosts know the path from now on.
        bed.visit_hooked(&server, 3000);
        agent.wait_for_closed(2);
        let timers_of = |is_below| {
            let socket = bed.begin_to_open(&server, is_below);
            let first = timeout_of(&socket);
            let count = nix::sys::socket::getsockopt(&socket, SynCount).unwrap();
            socket.set_nonblocking(false).unwrap();
            let mut stream = socket.into();
            for _ in 0..17 {
                Bed::again(&mut stream, 1000);
            }
            (first, count, timeout_of(&stream))
        };
        let (first, count, later) = timers_of(false);
        eprintln!("attended: {first:?}, {count} SYNs, then {later:?}");
        assert!(
            first < Duration::from_millis(250) && count > 6 && later < Duration::from_millis(150)
        );
        let (first, count, later) = timers_of(true);
        eprintln!("left alone: {first:?}, {count} SYNs, then {later:?}");
        assert_eq!((first, count), (Duration::from_secs(1), 6));
        assert!(later >= Duration::from_millis(280));
    });
}
