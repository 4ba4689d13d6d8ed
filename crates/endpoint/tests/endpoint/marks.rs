//! Fields for routers in IP headers, on the wire with a kernel client. They are ECN (RFC 3168)
//! through a queue that marks, and the drop precedence of fast start's segments through a queue
//! that supports it. The tests need root and TUN devices; they report a skip and pass without them.

use crate::common::PORT;
use crate::common::capture::{Row, rows, segments};
use crate::common::line::{Line, Setup, Traces, Who, ask};
use link::{Discipline, Duplex, LinkConfig, QueueLimit, RedConfig, Thresholds};
use std::net::{IpAddr, TcpStream};
use std::thread::{self, sleep};
use std::time;
use tcp::{Ecn, Flags, Scheme};
use test_support::retry_on_any_stall;
use units::{Duration, Rate};
use wire::{Dscp, TcpPacket};

const CLIENT_OFFERS_ECN: (&str, &str) = ("net.ipv4.tcp_ecn", "1");

/// Returns 20 Mbit/s, 20 ms and a queue of 200 packets. It marks from a mean of 5 packets on, and
/// all above 30, long before it is full.
fn marking() -> LinkConfig {
    let thresholds = Thresholds::Packets { min: 5.0, max: 30.0 };
    let red = Discipline::Red(RedConfig { thresholds, ..RedConfig::default() });
    link(20, 200).with_discipline(red).unwrap()
}

fn link(mbps: u64, packets: u32) -> LinkConfig {
    let (rate, limit) = (Rate::from_mbps(mbps), QueueLimit::Packets(packets));
    LinkConfig::new(rate, Duration::from_millis(10), limit).unwrap()
}

/// Runs the client's work on a thread of its own, with the server behind it.
async fn client<T: Send + 'static>(line: Line, work: fn(&Line) -> T) -> (T, Traces) {
    line.serve().await;
    let run = move || (work(&line), line.stop());
    tokio::task::spawn_blocking(run).await.unwrap()
}

fn connect(line: &Line) -> TcpStream {
    line.connect(PORT).unwrap()
}

/// Returns the packets of a family that the server sent, and those that the client did.
fn of_family(traces: &Traces, v6: bool) -> [Vec<TcpPacket>; 2] {
    let all = segments(&traces.capture).into_iter();
    let ours = |p: &TcpPacket| p.source.port() == PORT;
    all.filter(|p| matches!(p.source.ip(), IpAddr::V6(_)) == v6).partition(ours).into()
}

fn has(packets: &[TcpPacket], flag: Flags) -> usize {
    packets.iter().filter(|packet| packet.segment.has(flag)).count()
}

/// Downloads: the SYN offers and the SYN-ACK accepts (§6.1.1), and data is ECT(0) and nothing else
/// is (§6.1.4, §6.1.5). Marks are echoed as ECE, and the sender answers each with CWR and half the
/// window (§6.1.2). So the queue never drops anything. The test covers both families.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_marking_queue_slows_the_sender_and_drops_nothing() {
    let links = Duplex { forward: marking(), reverse: link(20, 200) };
    let scheme = Scheme::parse("linux+ecn=on").unwrap();
    let sysctls = &[CLIENT_OFFERS_ECN];
    let Some(line) = Line::new(Setup { who: Who::Ours, scheme, links, sysctls }) else { return };
    let (reductions, traces) = client(line, |line| {
        [false, true].map(|v6| {
            let mut stream = line.connect_by(v6, PORT).unwrap();
            ask(&mut stream, 0, 3_000_000);
            let info = line.infos().pop().unwrap();
            assert_eq!(info.stats.retransmitted_segments, 0);
            assert!(info.path.ssthresh.is_some(), "it left slow start");
            info.stats.ecn_reductions
        })
    })
    .await;
    let totals = traces.report.down.totals.link;
    assert_eq!((totals.dropped_packets, totals.lost_packets), (0, 0));
    assert!(rows(&traces.log).iter().any(|row| row.down && row.marked));
    for (v6, reductions) in [false, true].into_iter().zip(reductions) {
        let [ours, theirs] = of_family(&traces, v6);
        let handshake = Flags::SYN.with(Flags::ECE);
        assert!(theirs[0].segment.has(handshake.with(Flags::CWR)), "the kernel offers it");
        assert!(ours[0].segment.has(handshake) && !ours[0].segment.has(Flags::CWR));
        for packet in &ours {
            let data = packet.segment.len > 0;
            assert_eq!(
                packet.segment.ecn,
                if data { Ecn::Ect0 } else { Ecn::NotEct },
                "{packet:?}"
            );
        }
        assert!(has(&theirs[1..], Flags::ECE) > 0);
        assert!(reductions > 0);
        // The last answer may be due with data that was never written.
        let answers = has(&ours, Flags::CWR) as u64;
        assert!((reductions - 1..=reductions).contains(&answers), "{answers} of {reductions}");
    }
}

/// Uploads: the endpoint echoes each mark with ECE until CWR arrives, and the kernel slows down.
#[test]
fn a_mark_is_told_until_the_sender_has_heard() {
    retry_on_any_stall(|| {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        runtime.worker_threads(2).enable_all().build().unwrap().block_on(marks_are_echoed());
    });
}

async fn marks_are_echoed() {
    let links = Duplex { forward: link(20, 200), reverse: marking() };
    let scheme = Scheme::parse("linux+ecn=on").unwrap();
    let sysctls = &[CLIENT_OFFERS_ECN];
    let Some(line) = Line::new(Setup { who: Who::Ours, scheme, links, sysctls }) else { return };
    let ((), traces) = client(line, |line| ask(&mut connect(line), 3_000_000, 1)).await;
    let [ours, theirs] = of_family(&traces, false);
    assert!(theirs.iter().any(|packet| packet.segment.ecn == Ecn::Ce));
    assert!(has(&theirs[1..], Flags::CWR) > 0, "the kernel heard");
    let totals = traces.report.up.totals;
    let lost = [totals.link.dropped_packets, totals.link.lost_packets, totals.refused_packets];
    assert_eq!(lost, [0, 0, 0]);
    // Nothing is lost or overtaken, so an ACK's number shows the last mark or CWR that its sender
    // had seen: the last one below.
    let signals: Vec<_> = theirs.iter().filter(|packet| packet.segment.len > 0).collect();
    for packet in ours[1..].iter().map(|packet| packet.segment) {
        let seen =
            signals.iter().take_while(|p| !packet.ack.precedes(p.segment.seq + p.segment.len));
        let echoing = seen.fold(false, |echoing, p| {
            p.segment.ecn == Ecn::Ce || echoing && !p.segment.has(Flags::CWR)
        });
        assert_eq!(packet.has(Flags::ECE), echoing, "{packet:?}");
    }
    assert!(has(&ours[1..], Flags::ECE) > 0);
}

/// The path has 5 Mbit/s, 20 ms, 20 packets. A download grows a window. After an idle time another
/// begins with it while a second connection keeps the queue full. The burst's segments above slow
/// start's three have AF13. Whenever the queue had no room, it dropped a waiting one of them before
/// any other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_fast_start_dares_is_dropped_first() {
    let queue = link(5, 20).with_discipline(Discipline::PriorityDrop).unwrap();
    let links = Duplex { forward: queue, reverse: link(20, 200) };
    let scheme = Scheme::parse("fs-pdrop").unwrap();
    let Some(line) = Line::new(Setup { who: Who::Ours, scheme, links, sysctls: &[] }) else {
        return;
    };
    let (sent, traces) = client(line, |line| {
        let mut bursty = connect(line);
        ask(&mut bursty, 0, 60_000);
        sleep(time::Duration::from_secs(3));
        thread::scope(|scope| {
            scope.spawn(|| ask(&mut connect(line), 0, 2_000_000));
            sleep(time::Duration::from_millis(1500));
            ask(&mut bursty, 0, 60_000);
        });
        line.infos().iter().map(|info| info.stats.low_priority_segments).sum::<u64>()
    })
    .await;
    let rows: Vec<Row> = rows(&traces.log).into_iter().filter(|row| row.down).collect();
    let [ours, _] = of_family(&traces, false);
    let marked = ours.iter().filter(|packet| packet.dscp == Dscp::AF13).count() as u64;
    assert!(sent > 0);
    assert_eq!(marked, sent, "on the wire are as many as were meant");
    assert!(ours.iter().all(|packet| [Dscp::AF13, Dscp::DEFAULT].contains(&packet.dscp)));
    assert_eq!(rows.iter().filter(|row| row.low_priority).count() as u64, sent);
    let gone = |low| rows.iter().filter(move |row| !row.delivered && row.low_priority == low);
    println!(
        "marked {sent}, of these dropped {}, others dropped {}",
        gone(true).count(),
        gone(false).count()
    );
    assert!(gone(true).count() > 0, "the queue had to choose");
    for lost in gone(false) {
        // A byte takes 1600 ns at 5 Mbit/s. A packet that is being sent cannot be dropped any more.
        let waits = |row: &&Row| row.arrived < lost.left && row.left - row.bytes * 1600 > lost.left;
        let spared = rows.iter().filter(|row| row.low_priority).find(waits);
        assert!(spared.is_none(), "{lost:?} went, and {spared:?} stayed");
    }
}
