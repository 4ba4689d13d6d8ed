//! What the programs cost: of the kernel's time for each ACK, and of its verifier's patience when loaded.

use crate::bed::{Bed, Server, finish};
use crate::cable::Cable;
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
/// Nanoseconds for each ACK beyond the wrapped congestion control, and in all for sessions, which wrap none: with cold caches,
/// at 850 ACKs a second, and with warm ones. Two counters of time are part of each figure, and a busy machine interrupts: half
/// as much again to twice what was measured when these were chosen (docs/agent.md).
const BEYOND_AT_MOST: [f64; 2] = [600.0, 400.0];
const SESSION_AT_MOST: [f64; 2] = [2000.0, 1500.0];
/// Of a transfer over the link, bytes: 2100 packets.
const BYTES: u64 = 3_000_000;
/// And by cable.
const FAST_BYTES: u64 = 200_000_000;
const ROUNDS: usize = 3;

/// Counts what programs cost while it lives.
pub(crate) struct Stats(String);

impl Stats {
    pub(crate) fn begin() -> Self {
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

/// By a program's name and number, its runs and nanoseconds.
pub(crate) type Costs = BTreeMap<(String, u32), (u64, u64)>;

/// Runs and nanoseconds of each program of a congestion control. Connections of other tests that still close hold
/// theirs, which stand still.
pub(crate) fn costs(control: &str) -> Costs {
    let programs = ProgInfoIter::with_query_opts(ProgInfoQueryOptions::default());
    let all = programs.map(|info| {
        let name = info.name.to_string_lossy().into_owned();
        ((name, info.id), (info.run_cnt, info.run_time_ns))
    });
    all.filter(|((name, _), _)| name.starts_with(control)).collect()
}

/// Nanoseconds for each ACK, over all programs: of the cheapest of some transfers, since what a busy machine adds is
/// not what is tested.
fn per_ack(bed: &Bed, server: &Server, control: &str, bytes: u64) -> f64 {
    let mut stream = bed.open(server, 0);
    finish(&mut stream, 0);
    let rounds = (0..ROUNDS).map(|_| {
        let before = costs(control);
        Bed::again(&mut stream, bytes);
        round(&before, &costs(control))
    });
    let (cheapest, each) = rounds.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
    eprintln!("{control}: {cheapest:.0} ns for each ACK:{each}");
    cheapest
}

/// The same, and what each program did.
fn round(before: &Costs, after: &Costs) -> (f64, String) {
    let spent: Vec<_> = after
        .iter()
        .map(|((name, id), cost)| {
            let old = before[&(name.clone(), *id)];
            (name, cost.0 - old.0, cost.1 - old.1)
        })
        .filter(|(_, runs, _)| *runs > 0)
        .collect();
    // One is called for each ACK: `cong_avoid` or `cong_control`.
    let acks: u64 = spent.iter().filter(|(name, ..)| name.contains("_cong")).map(|row| row.1).sum();
    assert!(acks > 300, "{acks} ACKs");
    let each = spent.iter().map(|(name, runs, ns)| {
        format!(" {name} {:.2} x {:.0}", *runs as f64 / acks as f64, *ns as f64 / *runs as f64)
    });
    let all: u64 = spent.iter().map(|row| row.2).sum();
    (all as f64 / acks as f64, each.collect())
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
    let Some(cable) = Cable::between_hosts_of(&bed) else { return };
    let link = |control: Option<&str>| bed.serve(Domain::IPV4, control);
    let fast = |control: Option<&str>| cable.serve(control);
    let plain = attach_plain();
    let plain_of = |name: &str| {
        [
            per_ack(&bed, &link(Some(name)), name, BYTES),
            per_ack(&bed, &fast(Some(name)), name, FAST_BYTES),
        ]
    };
    let (plain_cubic, plain_bbr) = (plain_of("pl_cubic"), plain_of("pl_bbr"));
    drop(plain);
    let ours = |control: &str, name: &str| {
        let _agent = bed.agent_giving(control, &[]);
        [per_ack(&bed, &link(None), name, BYTES), per_ack(&bed, &fast(None), name, FAST_BYTES)]
    };
    let (cubic, bbr, session) =
        (ours("cubic", "hs_cubic"), ours("bbr", "hs_bbr"), ours("session", "hs_session"));
    for (caches, n) in [("cold", 0), ("warm", 1)] {
        eprintln!(
            "ns for each ACK, {caches} caches: cubic {:.0}, hs_cubic {:.0}; bbr {:.0}, hs_bbr {:.0}; hs_session {:.0}",
            plain_cubic[n], cubic[n], plain_bbr[n], bbr[n], session[n]
        );
        assert!(cubic[n] - plain_cubic[n] <= BEYOND_AT_MOST[n], "{cubic:?} {plain_cubic:?}");
        assert!(bbr[n] - plain_bbr[n] <= BEYOND_AT_MOST[n], "{bbr:?} {plain_bbr:?}");
        assert!(session[n] <= SESSION_AT_MOST[n], "{session:?}");
    }
}

#[test]
fn the_verifier_is_not_kept_long() {
    let Some(bed) = Bed::new() else { return };
    let all = || ProgInfoIter::with_query_opts(ProgInfoQueryOptions::default());
    let others: BTreeSet<u32> = all().map(|info| info.id).collect();
    let _agents = [bed.agent(&[]), bed.agent_giving("auto", &["--mode", "window"])];
    let names = ["attend", "leave", "widen", "hear", "answer"];
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
