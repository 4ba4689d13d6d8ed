//! `kill -9` under load, whatever the agent gives: open connections finish, nothing is left, and
//! the next agent works at once, twice in a row.

use crate::bed::{Agent, Bed, Server, control_of, finish, read, until};
use libbpf_rs::query::{
    LinkInfoIter, LinkTypeInfo, MapInfoIter, ProgInfoIter, ProgInfoQueryOptions, ProgramInfo,
};
use socket2::Domain;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use test_support::retry_on_stall;

/// Programs whose names do not begin with ours.
const OTHERS: [&str; 5] = ["attend", "leave", "widen", "hear", "answer"];
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// Objects of agents in the kernel, by their ids, which only grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Held {
    Program(u32),
    Map(u32),
    /// From a program to a cgroup, or from a congestion control to all who may ask for it.
    Link(u32),
}

/// Objects of agents: programs by their names, maps by their names or because those programs use
/// them, and links of both.
fn held() -> BTreeSet<Held> {
    let programs =
        ProgInfoIter::with_query_opts(ProgInfoQueryOptions::default().include_map_ids(true));
    let is_ours = |info: &ProgramInfo| {
        let name = info.name.to_string_lossy();
        name.starts_with("hs_") || OTHERS.contains(&name.as_ref())
    };
    let mut held = BTreeSet::new();
    for program in programs.filter(is_ours) {
        held.insert(Held::Program(program.id));
        held.extend(program.map_ids.into_iter().map(Held::Map));
    }
    // Maps of congestion controls.
    let controls =
        MapInfoIter::default().filter(|map| map.name.to_string_lossy().starts_with("hs_"));
    held.extend(controls.map(|map| Held::Map(map.id)));
    for link in LinkInfoIter::default() {
        let end = match &link.info {
            LinkTypeInfo::StructOps(control) => Held::Map(control.map_id),
            _ => Held::Program(link.prog_id),
        };
        if held.contains(&end) {
            held.insert(Held::Link(link.id));
        }
    }
    held
}

/// All of these that there are still, held by whatever.
fn left_of(ours: &BTreeSet<Held>) -> Vec<Held> {
    let programs = ProgInfoIter::default().map(|info| Held::Program(info.id));
    let maps = MapInfoIter::default().map(|info| Held::Map(info.id));
    let links = LinkInfoIter::default().map(|info| Held::Link(info.id));
    programs.chain(maps).chain(links).filter(|one| ours.contains(one)).collect()
}

fn links_of(held: &[Held]) -> usize {
    held.iter().filter(|one| matches!(one, Held::Link(_))).count()
}

/// Names below every file system in which something of the kernel's may be pinned.
fn pinned() -> BTreeSet<PathBuf> {
    fn below(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let with_below = |path: PathBuf| [below(&path), vec![path]].concat();
        entries.flat_map(|entry| with_below(entry.path())).collect()
    }
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let mounts = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let places = mounts.filter(|fields| fields[2] == "bpf");
    places.flat_map(|fields| below(Path::new(fields[1]))).collect()
}

/// Kills the agent while four connections send 500 kB each and others open, one after the other.
/// All of them receive all their bytes.
fn kill_under_load((bed, server): (&Bed, &Server), agent: &mut Agent, moment: Duration) {
    let mut running: Vec<_> = (0..4).map(|_| bed.open(server, 500_000)).collect();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    bed.visit(server, 15_000);
                }
            });
        }
        // 2 MB take 0.8 s at least: all four send while the agent dies.
        thread::sleep(moment);
        agent.kill();
        thread::sleep(Duration::from_millis(200));
        is_over.store(true, Ordering::Relaxed);
    });
    for stream in &mut running {
        control_of(stream);
        read(stream, 500_000);
    }
}

/// `given`: a congestion control of ours, or `None` where the agent leaves connections what they
/// have.
fn assert_survived(control: &str, given: Option<&str>, mode: &str) {
    let Some(bed) = Bed::new() else { return };
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("killed-{control}-{mode}.redb"));
    let _ = fs::remove_file(&file);
    // In the middle of saving, too.
    let state = ["--state", file.to_str().unwrap(), "--save-every", "1", "--mode", mode];
    let server = bed.serve(Domain::IPV4, None);
    let has = || finish(&mut bed.open(&server, 1000), 1000);
    let (default, pinned_before) = (has(), pinned());
    let mut before = held();
    let mut agent = bed.agent_giving(control, &state);
    for moment in [100, 600].map(Duration::from_millis) {
        let ours: BTreeSet<_> = held().difference(&before).copied().collect();
        // To the cgroup at the least; programs of the congestion control, its maps.
        let links = links_of(&ours.iter().copied().collect::<Vec<_>>());
        assert!(links >= 2 && ours.len() > links + 8, "{ours:?}");
        let now = has();
        assert_eq!(now, given.unwrap_or(&default));
        kill_under_load((&bed, &server), &mut agent, moment);

        assert_eq!(has(), default, "new ones are as before");
        // Links are gone with the process that held them; sockets that still close hold the
        // programs.
        until("links are gone", || links_of(&left_of(&ours)) == 0);
        let available = fs::read_to_string(AVAILABLE).unwrap();
        assert!(!available.contains("hs_"), "{available}");
        assert!(agent.socket().exists(), "nobody has removed it");
        before = held();
        // It listens where the dead one did.
        agent.start_again();
        assert!(!agent.printed().contains("damaged"), "{}", agent.printed());
        until("programs and maps are gone", || left_of(&ours).is_empty());
    }
    // The last agent sets the same congestion control as the first.
    let closed = agent.closed();
    assert_eq!(has(), given.unwrap_or(&default));
    agent.wait_for_closed(closed + 1);
    assert_eq!(pinned(), pinned_before);
}

#[test]
fn kill_9_under_load_leaves_nothing_of_hs_cubic() {
    retry_on_stall(|| assert_survived("cubic", Some("hs_cubic_start"), "wrap"));
}

#[test]
fn kill_9_under_load_leaves_nothing_of_hs_bbr() {
    retry_on_stall(|| match agent::kernel::congestion::HsControl::Bbr.found() {
        Err(why) => test_support::skipped(why),
        Ok(_) => assert_survived("bbr", Some("hs_bbr"), "wrap"),
    });
}

#[test]
fn kill_9_under_load_leaves_nothing_of_hs_session() {
    retry_on_stall(|| assert_survived("session", Some("hs_session"), "wrap"));
}

#[test]
fn kill_9_under_load_leaves_nothing_of_first_windows_alone() {
    retry_on_stall(|| assert_survived("auto", None, "window"));
}
