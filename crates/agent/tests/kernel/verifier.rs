//! What each program costs of the verifier's patience when it is loaded.

use crate::bed::Bed;
use agent::schemes::HsControl;
use libbpf_rs::query::{ProgInfoIter, ProgInfoQueryOptions, ProgramInfo};
use std::collections::{BTreeMap, BTreeSet};

/// Programs by the fifteen bytes that the kernel keeps of their names (of two that differ later, the dearer), with the
/// instructions that the verifier of Linux 6.18 looked at when this was written, and how many they may be: a third more, rounded. The
/// kernel allows a million. Whoever goes beyond has written a loop that the verifier follows turn by turn, or a branch that doubles
/// all ways behind it; who meant to writes down both figures anew, and those of docs/agent/measurements.md.
const PROGRAMS: [(&str, u32, u32); 32] = [
    ("hs_getsockopt", 343, 460),
    ("attend", 9171, 12_200),
    ("hs_setsockopt", 113, 160),
    ("hs_bbr_cong_con", 963, 1280),
    ("hs_bbr_cwnd_eve", 42_075, 56_000),
    ("hs_bbr_init", 4214, 5600),
    ("hs_bbr_min_tso_", 3, 20),
    ("hs_bbr_release", 2522, 3300),
    ("hs_bbr_set_stat", 6, 20),
    ("hs_bbr_sndbuf_e", 3, 20),
    ("hs_bbr_ssthresh", 321, 420),
    ("hs_bbr_undo_cwn", 3, 20),
    ("hs_cubic_cong_a", 1779, 2400),
    ("hs_cubic_cwnd_e", 85_897, 115_000),
    ("hs_cubic_init", 4495, 5800),
    ("hs_cubic_pkts_a", 4, 20),
    ("hs_cubic_releas", 1712, 2250),
    ("hs_cubic_set_st", 6, 20),
    ("hs_cubic_ssthre", 607, 700),
    ("hs_cubic_start_", 4961, 6600),
    ("hs_cubic_undo_c", 3, 20),
    ("hs_session_cong", 24_126, 30_500),
    ("hs_session_cwnd", 22_043, 29_400),
    ("hs_session_init", 2301, 3050),
    ("hs_session_rele", 498, 660),
    ("hs_session_set_", 48, 70),
    ("hs_session_ssth", 1008, 1250),
    ("hs_session_undo", 63, 90),
    ("hs_window", 20_775, 27_700),
    ("leave", 34, 50),
    ("report", 1457, 1950),
    ("widen", 607, 810),
];

/// Instructions looked at of each program that the agents of this test have loaded, the most of one name.
fn verified(bed: &Bed) -> BTreeMap<String, u32> {
    let all =
        || ProgInfoIter::with_query_opts(ProgInfoQueryOptions::default().include_map_ids(true));
    let before: BTreeSet<u32> = all().map(|info| info.id).collect();
    let _agents = [bed.agent(&["--tcp-option"]), bed.agent_giving("auto", &["--mode", "window"])];
    let new: Vec<_> = all().filter(|info| !before.contains(&info.id)).collect();
    let name = |info: &ProgramInfo| info.name.to_string_lossy().into_owned();
    let is_known = |info: &ProgramInfo| PROGRAMS.iter().any(|(known, ..)| *known == name(info));
    // Somebody else may load something meanwhile: it has no map in common with these.
    let maps: BTreeSet<u32> =
        new.iter().filter(|info| is_known(info)).flat_map(|info| info.map_ids.clone()).collect();
    let is_ours =
        |info: &&ProgramInfo| is_known(info) || info.map_ids.iter().any(|id| maps.contains(id));
    let mut verified = BTreeMap::new();
    for info in new.iter().filter(is_ours) {
        let most = verified.entry(name(info)).or_insert(0);
        *most = info.verified_insns.max(*most);
    }
    verified
}

/// Whether a program can be had on this machine.
fn is_here(program: &str) -> bool {
    !program.starts_with("hs_bbr") || HsControl::Bbr.found().is_ok()
}

#[test]
fn no_program_keeps_the_verifier_longer_than_it_did() {
    let Some(bed) = Bed::new() else { return };
    let verified = verified(&bed);
    let known: BTreeSet<&str> = PROGRAMS.iter().map(|(name, ..)| *name).collect();
    let unknown: Vec<_> = verified.keys().filter(|name| !known.contains(name.as_str())).collect();
    assert!(unknown.is_empty(), "not in the table: {unknown:?} of {verified:?}");
    let mut dearer = Vec::new();
    for (name, before, at_most) in PROGRAMS.into_iter().filter(|(name, ..)| is_here(name)) {
        let now = verified.get(name).unwrap_or_else(|| panic!("{name} is gone: {verified:?}"));
        eprintln!("{name:16} {now:6}, was {before:6}");
        if *now > at_most {
            dearer.push(format!("{name}: {now} instructions, {before} when {at_most} was set"));
        }
    }
    assert!(dearer.is_empty(), "{dearer:#?}");
}
