//! Upgrades under live transfers: every start that would be warm without them is warm, and each is
//! checked.
//!
//! Each client comes from a /24 of its own, so that it shares its memory with no other client, and
//! the agent knows that network before the first upgrade. Every other client opens one connection
//! for each transfer. The others ask three times over each of theirs, with pauses longer than a
//! retransmission timeout. So every transfer is a start: of its connection, or after idle. Two
//! count them: the server looks at its window right after it has written an answer, and the agent
//! counts by kind. Where all are of the control group, both see every start cold.

use crate::bed::{Bed, PATIENCE, binary, link_of, timed, window_of};
use crate::cable::ip;
use crate::upgrade::another_build;
use agent::contract::StartReason;
use agent::interface::question::AgentStatus;
use socket2::{Domain, SockRef, Socket, Type};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;
use test_support::retry_on_stall;

/// 24 segments of 1448 bytes: a cold start sends ten of them in its first flight, a warm one all.
/// After idle a start takes no less than twice ten.
const BYTES: usize = 24 * 1448;
/// Largest window of a warm start, segments, and that of a cold one.
const CAP: &str = "24";
const STOCK: u32 = 10;
/// Transfers over one connection that is kept.
const KEPT_FOR: u64 = 3;
/// Bytes of a piece that follows, and how long it is waited for: no retransmission timeout is as
/// short.
const PIECE: usize = 1000;
const PIECE_EVERY: Duration = Duration::from_millis(200);
/// Round trips, beside the one between the last segment and the next request. A retransmission
/// timeout is three round trips at first: one, and four times the half of it for which its
/// deviation is taken (RFC 6298 §2.2). In each of them the kernel halves the window, from at most
/// 32 segments: after two it is at the stock one.
const PAUSE: u32 = 7;
/// Networks of clients, and where the first one lies.
const NETWORKS: &str = "10.64.0.0/10";
const FIRST_NETWORK: u32 = 0x0a40_0000;

/// The load while agents take over from one another.
struct Load {
    rtt_ms: u64,
    clients: u32,
    /// Transfers that are under way at each change, at least.
    live: u64,
    /// Number of further pieces after the first flight of each transfer, one after the other: the
    /// transfer stays live for longer.
    pieces: u32,
    /// Programs that take over, one after the other.
    upgrades: Vec<PathBuf>,
}

/// Counters of clients and of the server.
#[derive(Default)]
struct Counters {
    opened: AtomicU64,
    transfers: AtomicU64,
    live: AtomicU64,
    warm: AtomicU64,
    cold: AtomicU64,
    /// All networks are known.
    is_known: AtomicBool,
    is_over: AtomicBool,
}

/// Ends the load's threads when the test is over, also if an upgrade fails: no thread is waited for
/// then.
struct Ends<'a>(&'a Counters);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Relaxed);
    }
}

/// Content that a client receives, with `pieces` further pieces.
fn content(pieces: u32) -> Vec<u8> {
    (0..BYTES + PIECE * pieces as usize).map(|n| (n % 251) as u8).collect()
}

/// An answer to each byte, until the client has enough.
fn answer(mut stream: TcpStream, content: &[u8], counters: &Counters) {
    let (flight, pieces) = content.split_at(BYTES);
    // The buffer has room for a whole answer: a server that has written it has not waited for an
    // acknowledgement.
    SockRef::from(&stream).set_send_buffer_size(8 * BYTES).unwrap();
    while stream.read_exact(&mut [0]).is_ok() {
        if stream.write_all(flight).is_err() {
            return;
        }
        let window = window_of(&stream);
        let count = if window > STOCK { &counters.warm } else { &counters.cold };
        count.fetch_add(1, Relaxed);
        for piece in pieces.chunks(PIECE) {
            thread::sleep(PIECE_EVERY);
            if stream.write_all(piece).is_err() {
                return;
            }
        }
    }
}

fn serve(listener: TcpListener, pieces: u32, counters: &Arc<Counters>) -> SocketAddr {
    let (address, counters) = (listener.local_addr().unwrap(), Arc::clone(counters));
    let content = Arc::new(content(pieces));
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (content, counters) = (Arc::clone(&content), Arc::clone(&counters));
            thread::spawn(move || answer(stream, &content, &counters));
        }
    });
    address
}

/// In the client's namespace, from a network of its own.
struct Client<'a> {
    from: SocketAddr,
    server: SocketAddr,
    rtt: Duration,
    /// Delay before its first connection, and once more when all networks are known, so that
    /// clients do not start all at once.
    stagger: Duration,
    /// Transfers over one connection.
    transfers: u64,
    expected: &'a [u8],
    counters: &'a Counters,
}

impl Client<'_> {
    fn open(&self) -> TcpStream {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.bind(&self.from.into()).unwrap();
        socket.connect(&self.server.into()).unwrap();
        socket.set_read_timeout(Some(*PATIENCE)).unwrap();
        self.counters.opened.fetch_add(1, Relaxed);
        socket.into()
    }

    fn ask(&self, stream: &mut TcpStream) {
        let mut came = vec![0; self.expected.len()];
        stream.write_all(&[1]).unwrap();
        stream.read_exact(&mut came).unwrap();
        assert!(came == self.expected, "other bytes came than were sent");
        self.counters.transfers.fetch_add(1, Relaxed);
    }

    /// The first visit teaches of the network. Once all have, one connection after the other.
    fn go_on(&self) {
        thread::sleep(self.stagger);
        self.ask(&mut self.open());
        while !self.counters.is_known.load(Relaxed) && !self.counters.is_over.load(Relaxed) {
            thread::sleep(Duration::from_millis(20));
        }
        thread::sleep(self.stagger);
        while !self.counters.is_over.load(Relaxed) {
            self.counters.live.fetch_add(1, Relaxed);
            let mut stream = self.open();
            self.ask(&mut stream);
            self.counters.live.fetch_sub(1, Relaxed);
            for _ in 1..self.transfers {
                thread::sleep(PAUSE * self.rtt);
                self.counters.live.fetch_add(1, Relaxed);
                self.ask(&mut stream);
                self.counters.live.fetch_sub(1, Relaxed);
            }
        }
    }
}

impl Load {
    const fn rtt(&self) -> Duration {
        Duration::from_millis(self.rtt_ms)
    }

    /// Time of a kept connection, from its opening to the next one. Each transfer takes a round
    /// trip, at most one more for its first flight, and its pieces. The handshake takes a round
    /// trip, and there are pauses.
    fn cycle(&self) -> Duration {
        (7 + 2 * PAUSE) * self.rtt() + 3 * self.pieces * PIECE_EVERY
    }
}

/// Measured times, for the log.
struct Course {
    fewest_live: u64,
    longest: Duration,
}

/// Upgrades one after the other.
fn upgrade_all(
    bed: &Bed,
    agent: &mut crate::bed::Agent,
    load: &Load,
    counters: &Counters,
) -> Course {
    let mut course = Course { fewest_live: u64::MAX, longest: Duration::ZERO };
    // All clients have started.
    thread::sleep(load.cycle());
    for program in &load.upgrades {
        let (took, ()) = timed(|| agent.upgrade(program));
        course.fewest_live = course.fewest_live.min(counters.live.load(Relaxed));
        course.longest = course.longest.max(took);
        bed.forget_log();
    }
    course
}

/// Runs the load under an agent with these further options. Returns the counters of clients and
/// server, and the last agent's sums; `None` if it cannot be set up.
fn run(load: &Load, options: &[&str]) -> Option<(Arc<Counters>, AgentStatus)> {
    // Room for all first flights: a loss would cost a path its memory, upgrade or not.
    let bed = Bed::over(link_of(1000, load.rtt_ms, 100_000))?;
    let ways = [
        (&bed.client, ["route", "add", "local", NETWORKS, "dev", "lo"]),
        (&bed.server, ["route", "add", "unicast", NETWORKS, "dev", bed.server.name()]),
    ];
    if !ways.iter().all(|(host, way)| ip(host, way)) {
        test_support::skipped("no routes without `ip`");
        return None;
    }
    // A busy machine retransmits segments that are only late: that is not to turn warm starts off.
    let mut agent = bed.agent(&[&["--cap", CAP, "--off-ratio", "1000"], options].concat());
    let counters = Arc::new(Counters::default());
    let server = serve(bed.listen(4096), load.pieces, &counters);
    let (rtt, expected) = (load.rtt(), &content(load.pieces)[..]);
    let client = |n: u32| {
        let from = Ipv4Addr::from_bits(FIRST_NETWORK + (n << 8) + 1);
        bed.client.namespace().enter().unwrap();
        let stagger = load.cycle() * n / load.clients;
        let transfers = if n.is_multiple_of(2) { 1 } else { KEPT_FOR };
        let (from, counters) = ((from, 0).into(), &*counters);
        Client { from, server, rtt, stagger, transfers, expected, counters }.go_on();
    };
    let course = thread::scope(|scope| {
        let _ends = Ends(&counters);
        for n in 0..load.clients {
            let small = thread::Builder::new().stack_size(256 << 10);
            small.spawn_scoped(scope, move || client(n)).unwrap();
        }
        agent.wait_for_closed(load.clients.into());
        counters.is_known.store(true, Relaxed);
        upgrade_all(&bed, &mut agent, load, &counters)
    });
    eprintln!(
        "{} upgrades, {} clients: {:?} at most, {} transfers live at least; {} connections, {} transfers, {} warm",
        load.upgrades.len(),
        load.clients,
        course.longest,
        course.fewest_live,
        counters.opened.load(Relaxed),
        counters.transfers.load(Relaxed),
        counters.warm.load(Relaxed),
    );
    let starts = agent.status().connections.starts;
    eprintln!("starts that the agent has heard of: {:?}", named(starts));
    assert!(course.fewest_live >= load.live, "{} live", course.fewest_live);
    let has_all_starts = load.upgrades.iter().all(|program| *program == binary());
    if has_all_starts {
        agent.wait_for_closed(counters.opened.load(Relaxed));
    }
    Some((counters, agent.status()))
}

/// The reasons that occur.
fn named(starts: [u64; StartReason::ALL.len()]) -> Vec<(StartReason, u64)> {
    StartReason::ALL.into_iter().zip(starts).filter(|(_, count)| *count > 0).collect()
}

/// Asserts that all starts but each client's first visit are warm. `resent` are connections whose
/// SYN a busy machine has retransmitted: these start cold with an upgrade and without one.
fn assert_warm(load: &Load, counters: &Counters, resent: u64) {
    let (clients, transfers) = (u64::from(load.clients), counters.transfers.load(Relaxed));
    let seen = (counters.cold.load(Relaxed), counters.warm.load(Relaxed));
    assert_eq!(seen, (clients + resent, transfers - clients - resent));
}

/// With the same programs the last agent has received all reports, and has the same counts.
fn assert_upgrades(load: &Load) {
    let Some((counters, status)) = run(load, &[]) else { return };
    let (opened, clients) = (counters.opened.load(Relaxed), u64::from(load.clients));
    let totals = status.connections;
    let resent = totals.starts[StartReason::Handshake as usize];
    assert_warm(load, &counters, resent);
    assert_eq!((totals.closed(), status.summaries_lost), (opened, 0));
    let of = |reason: StartReason| totals.starts[reason as usize];
    let seen = (of(StartReason::Unknown), of(StartReason::Warm));
    assert_eq!(seen, (clients, opened - clients - resent));
    let again = counters.transfers.load(Relaxed) - opened;
    let restarts = totals.warm.restarts + totals.cold.restarts;
    // On a busy machine a piece may come as late as after idle: one more start, and a warm one.
    let most = if load.pieces > 0 { u64::MAX } else { again };
    assert!((again..=most).contains(&restarts), "{restarts} of {again}: {totals:?}");
    // An upgrade that broke starts would break those of all live transfers. On a busy machine the
    // ACK of a single one may come too late for its timer.
    assert!(totals.warm.fallbacks <= clients / 20, "{totals:?}");
}

/// The control for the other tests: without warm starts both counts show cold starts only.
#[test]
fn without_warm_starts_every_start_is_seen_to_be_cold() {
    retry_on_stall(|| {
        let load = Load { rtt_ms: 100, clients: 20, live: 1, pieces: 0, upgrades: same(1) };
        let Some((counters, status)) = run(&load, &["--holdout", "1"]) else { return };
        let transfers = counters.transfers.load(Relaxed);
        assert_eq!((counters.cold.load(Relaxed), counters.warm.load(Relaxed)), (transfers, 0));
        assert_eq!(status.connections.starts[StartReason::Warm as usize], 0);
    });
}

/// The agent's own program, `upgrades` times.
fn same(upgrades: usize) -> Vec<PathBuf> {
    vec![binary(); upgrades]
}

#[test]
fn upgrades_under_forty_live_transfers_leave_every_start_warm() {
    retry_on_stall(|| {
        assert_upgrades(&Load { rtt_ms: 200, clients: 80, live: 40, pieces: 0, upgrades: same(4) });
    });
}

/// Other programs start with a copy of the memory; open connections keep the old programs and their
/// memory.
#[test]
fn upgrades_to_other_programs_leave_every_start_warm() {
    retry_on_stall(|| {
        let upgrades = vec![another_build(), binary()];
        let load = Load { rtt_ms: 200, clients: 80, live: 40, pieces: 0, upgrades };
        let Some((counters, _)) = run(&load, &[]) else { return };
        assert_warm(&load, &counters, 0);
    });
}

/// `UPGRADES=15` makes fewer of them.
#[test]
#[ignore = "takes minutes: `make test-upgrades`, after changes of what is handed over"]
fn a_hundred_upgrades_under_two_hundred_live_transfers_leave_every_start_warm() {
    let upgrades = std::env::var("UPGRADES").ok().and_then(|text| text.parse().ok());
    let upgrades = same(upgrades.unwrap_or(100));
    assert_upgrades(&Load { rtt_ms: 300, clients: 360, live: 200, pieces: 0, upgrades });
}

#[test]
#[ignore = "keeps a machine busy with 2,800 threads: `make test-upgrades`"]
fn upgrades_under_a_thousand_live_transfers_leave_every_start_warm() {
    assert_upgrades(&Load {
        rtt_ms: 300,
        clients: 1400,
        live: 1000,
        pieces: 30,
        upgrades: same(5),
    });
}
