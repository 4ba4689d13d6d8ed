//! What the programs cost: of the kernel's time for each ACK, and of its verifier's patience when loaded.

use crate::bed::{Bed, finish};
use libbpf_rs::query::{ProgInfoIter, ProgInfoQueryOptions};
use libbpf_rs::{Link, MapCore, ObjectBuilder};
use socket2::Domain;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

const STATS: &str = "/proc/sys/kernel/bpf_stats_enabled";
static PLAIN: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/plain.bpf.o"));

/// Instructions that the verifier may look at for one program: a fiftieth of the kernel's limit of a million, and thrice
/// what the largest took when this was chosen (`hs_session_cong_control`, 6083). Whoever comes near has written a
/// loop that it follows turn by turn.
const VERIFIED_AT_MOST: u32 = 20_000;
/// Nanoseconds for each ACK beyond the wrapped congestion control, and in all for sessions, which wrap none. At 850 ACKs a
/// second every one of them finds the caches cold, two counters of time are part of each figure, and a busy machine
/// interrupts: thrice what was measured when these were chosen (docs/agent.md), so that only what has become much worse is
/// caught.
const BEYOND_AT_MOST: f64 = 1000.0;
const SESSION_AT_MOST: f64 = 5000.0;
/// Of a transfer over the link, bytes: 2100 packets.
const BYTES: u64 = 3_000_000;
const ROUNDS: usize = 3;

/// Counts what programs cost while it lives.
struct Stats(String);

impl Stats {
    fn begin() -> Self {
        let before = fs::read_to_string(STATS).unwrap();
        fs::write(STATS, "1").unwrap();
        Self(before)
    }
}

impl Drop for Stats {
    fn drop(&mut self) {
        let _ = fs::write(STATS, self.0.trim());
    }
}

/// Runs and nanoseconds of each program of a congestion control. Connections of other tests that still close hold
/// theirs, which stand still.
fn costs(control: &str) -> BTreeMap<(String, u32), (u64, u64)> {
    let programs = ProgInfoIter::with_query_opts(ProgInfoQueryOptions::default());
    let all = programs.map(|info| {
        let name = info.name.to_string_lossy().into_owned();
        ((name, info.id), (info.run_cnt, info.run_time_ns))
    });
    all.filter(|((name, _), _)| name.starts_with(control)).collect()
}

/// Nanoseconds for each ACK, over all programs: of the cheapest of some transfers, since what a busy machine adds is
/// not what is tested.
fn per_ack(bed: &Bed, control: &str, chosen: Option<&str>) -> f64 {
    let server = bed.serve(Domain::IPV4, chosen);
    let mut stream = bed.open(&server, 0);
    finish(&mut stream, 0);
    let rounds = (0..ROUNDS).map(|_| {
        let before = costs(control);
        Bed::again(&mut stream, BYTES);
        let after = costs(control);
        let spent: u64 = after.iter().map(|(program, cost)| cost.1 - before[program].1).sum();
        // One is called for each ACK: `cong_avoid` or `cong_control`.
        let main = after.iter().filter(|((name, _), _)| name.contains("_cong"));
        let acks: u64 = main.map(|(program, cost)| cost.0 - before[program].0).sum();
        // 2100 packets, of which a receiver that merges them acknowledges a few at a time.
        assert!(acks > 300, "{control}: {acks} ACKs");
        spent as f64 / acks as f64
    });
    rounds.fold(f64::INFINITY, f64::min)
}

fn attach_plain() -> Vec<Link> {
    let mut object =
        ObjectBuilder::default().open_memory(PLAIN).and_then(libbpf_rs::OpenObject::load).unwrap();
    let maps = object.maps_mut().filter(|map| map.name().to_string_lossy().starts_with("pl_"));
    maps.map(|mut map| map.attach_struct_ops().unwrap()).collect()
}

#[test]
fn an_ack_costs_little_more_than_without() {
    let Some(bed) = Bed::new() else { return };
    if let Err(why) = agent::schemes::Scheme::Bbr.found() {
        eprintln!("skipped: {why}");
        return;
    }
    let _stats = Stats::begin();
    let plain = attach_plain();
    let plain_cubic = per_ack(&bed, "pl_cubic", Some("pl_cubic"));
    let plain_bbr = per_ack(&bed, "pl_bbr", Some("pl_bbr"));
    drop(plain);
    let ours = |control: &str, name: &str| {
        let _agent = bed.agent_giving(control, &[]);
        per_ack(&bed, name, None)
    };
    let (cubic, bbr, session) =
        (ours("cubic", "hs_cubic"), ours("bbr", "hs_bbr"), ours("session", "hs_session"));
    eprintln!(
        "ns for each ACK: cubic {plain_cubic:.0}, hs_cubic {cubic:.0}; bbr {plain_bbr:.0}, hs_bbr {bbr:.0}; \
         hs_session {session:.0}"
    );
    assert!(cubic - plain_cubic <= BEYOND_AT_MOST, "{cubic} against {plain_cubic}");
    assert!(bbr - plain_bbr <= BEYOND_AT_MOST, "{bbr} against {plain_bbr}");
    assert!(session <= SESSION_AT_MOST, "{session}");
}

#[test]
fn the_verifier_is_not_kept_long() {
    let Some(bed) = Bed::new() else { return };
    let all = || ProgInfoIter::with_query_opts(ProgInfoQueryOptions::default());
    let others: BTreeSet<u32> = all().map(|info| info.id).collect();
    let _agent = bed.agent(&[]);
    let names = ["attend", "leave", "hear", "answer"];
    let is_ours = |name: &str| name.starts_with("hs_") || names.contains(&name);
    let mut ours: Vec<_> = all()
        .filter(|info| !others.contains(&info.id))
        .map(|info| (info.verified_insns, info.name.to_string_lossy().into_owned()))
        .filter(|(_, name)| is_ours(name))
        .collect();
    ours.sort();
    assert!(ours.len() > 20, "{ours:?}");
    for (instructions, name) in &ours {
        eprintln!("{name:16} {instructions:6}");
        assert!(*instructions <= VERIFIED_AT_MOST, "{name}: {instructions}");
    }
}
