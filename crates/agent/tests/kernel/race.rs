//! Two processors change the memory of one path at one instant, by the agent's own code.

use agent::kernel::congestion::ControlChoice;
use agent::os::clock::monotonic_ns;
use agent::programs::check::refusal;
use libbpf_rs::{MapCore, MapHandle, Object, ObjectBuilder, ProgramInput};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use std::ffi::OsStr;
use std::os::fd::AsFd;
use std::sync::Barrier;
use std::thread;

static SCAN: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/scan.bpf.o"));
const ROUNDS: u32 = 400_000;
/// Offset of the counts in the programs' argument.
const COUNTS: usize = 24;

/// The change that both sides make.
#[derive(Clone, Copy, Debug)]
enum Change {
    Learn = 0,
    Halve = 1,
}

/// The agent's code, with a memory of its own or, the second time, with all of the first one's
/// maps.
fn loaded(first: &[(String, MapHandle)]) -> Object {
    let mut open = ObjectBuilder::default().open_memory(SCAN).unwrap();
    for mut map in open.maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        if name == "paths" {
            map.set_max_entries(1000).unwrap();
        }
        if let Some((_, same)) = first.iter().find(|(other, _)| *other == name) {
            map.reuse_fd(same.as_fd()).unwrap();
        }
    }
    open.load().unwrap()
}

/// Maps that both sides share: the memory, and the count of each side's turns.
fn shared(object: &Object) -> Vec<(String, MapHandle)> {
    let named = object.maps().map(|map| (map.name().to_string_lossy().into_owned(), map));
    let meant = named.filter(|(name, _)| name == "paths" || name.ends_with(".bss"));
    meant.map(|(name, map)| (name, MapHandle::try_from(&map).unwrap())).collect()
}

/// Returns the rounds in which both met, and how many of these left a state that neither side
/// wrote.
fn run(object: &mut Object, side: u32, (change, now_ns): (Change, u64)) -> (u32, u32) {
    let mut asked = now_ns.to_ne_bytes().to_vec();
    for word in [side, ROUNDS, change as u32, 1, 0, 0] {
        asked.extend(word.to_ne_bytes());
    }
    let mut programs = object.progs_mut();
    let program = programs.find(|program| program.name() == OsStr::new("together")).unwrap();
    let input = ProgramInput { context_in: Some(&mut asked), ..Default::default() };
    assert_eq!(program.test_run(input).unwrap().return_value, 0);
    let count = |at: usize| u32::from_ne_bytes(asked[at..at + 4].try_into().unwrap());
    (count(COUNTS), count(COUNTS + 4))
}

/// A program that waits is not interrupted for another one on the same processor.
fn stay_on(processor: usize) {
    let mut set = CpuSet::new();
    set.set(processor).unwrap();
    // On a machine with one processor they do not meet.
    let _ = sched_setaffinity(Pid::from_raw(0), &set);
}

fn meet(change: Change) {
    let mut first = loaded(&[]);
    let shared = shared(&first);
    let (ready, now_ns) = (Barrier::new(2), monotonic_ns());
    let (met, wrong) = thread::scope(|scope| {
        scope.spawn(|| {
            let mut second = loaded(&shared);
            stay_on(1);
            ready.wait();
            run(&mut second, 1, (change, now_ns));
        });
        stay_on(0);
        ready.wait();
        run(&mut first, 0, (change, now_ns))
    });
    eprintln!("{change:?}: {met} rounds of {ROUNDS}, {wrong} wrong");
    if met < ROUNDS / 10 {
        test_support::skipped(format!(
            "two processors at a time: they met {met} times of {ROUNDS}"
        ));
        return;
    }
    assert_eq!(wrong, 0, "{change:?}, of {met}");
}

/// A window is never as young as another connection's, and of two losses each counts.
#[test]
fn of_two_that_change_a_path_at_one_instant_each_is_whole() {
    if let Some(why) = refusal(ControlChoice::Cubic) {
        test_support::skipped(why);
        return;
    }
    for change in [Change::Halve, Change::Learn] {
        meet(change);
    }
}
