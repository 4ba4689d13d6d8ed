//! The verifier's effort for each program when it is loaded.

use crate::bed::Bed;
use agent::kernel::congestion::HsControl;
use libbpf_rs::query::{ProgInfoIter, ProgInfoQueryOptions, ProgramInfo};
use std::collections::{BTreeMap, BTreeSet};

/// Programs by the fifteen bytes that the kernel keeps of their names (of two that differ later,
/// the dearer). The first figure is the number of instructions that the verifier of Linux 6.18
/// followed when this was written. The second is the limit: a third more, rounded. The kernel
/// allows a million. An excess comes from a loop whose turns the verifier follows one by one, or
/// from a branch that doubles all ways behind it. If it is intended, change both figures here, and
/// those of docs/agent/measurements.md.
const PROGRAMS: [(&str, u32, u32); 32] = [
    ("hs_getsockopt", 464, 620),
    ("attend", 16_062, 21_500),
    ("hs_setsockopt", 113, 160),
    ("hs_bbr_cong_con", 1801, 2450),
    ("hs_bbr_cwnd_eve", 72_251, 96_400),
    ("hs_bbr_init", 10_640, 14_200),
    ("hs_bbr_min_tso_", 3, 20),
    ("hs_bbr_release", 4167, 5600),
    ("hs_bbr_set_stat", 6, 20),
    ("hs_bbr_sndbuf_e", 3, 20),
    ("hs_bbr_ssthresh", 1315, 1800),
    ("hs_bbr_undo_cwn", 3, 20),
    ("hs_cubic_cong_a", 3933, 5250),
    ("hs_cubic_cwnd_e", 147_547, 197_000),
    ("hs_cubic_init", 10_774, 14_400),
    ("hs_cubic_pkts_a", 4, 20),
    ("hs_cubic_releas", 4938, 6600),
    ("hs_cubic_set_st", 6, 20),
    ("hs_cubic_ssthre", 4477, 6000),
    ("hs_cubic_start_", 11_461, 15_300),
    ("hs_cubic_undo_c", 3, 20),
    ("hs_session_cong", 26_824, 35_800),
    ("hs_session_cwnd", 49_614, 66_200),
    ("hs_session_init", 3688, 4950),
    ("hs_session_rele", 2526, 3400),
    ("hs_session_set_", 48, 70),
    ("hs_session_ssth", 5158, 6900),
    ("hs_session_undo", 63, 90),
    ("hs_window", 44_572, 59_500),
    ("leave", 34, 50),
    ("report", 1494, 2000),
    ("widen", 1762, 2350),
];

/// Instructions looked at of each program that the agents of this test have loaded, the most of one
/// name.
fn verified(bed: &Bed) -> BTreeMap<String, u32> {
    let all =
        || ProgInfoIter::with_query_opts(ProgInfoQueryOptions::default().include_map_ids(true));
    let before: BTreeSet<u32> = all().map(|info| info.id).collect();
    let _agents = [bed.agent(&["--tcp-option"]), bed.agent_giving("auto", &["--mode", "window"])];
    let new: Vec<_> = all().filter(|info| !before.contains(&info.id)).collect();
    let name = |info: &ProgramInfo| info.name.to_string_lossy().into_owned();
    let is_known = |info: &ProgramInfo| PROGRAMS.iter().any(|(known, ..)| *known == name(info));
    // Another process may load programs meanwhile: these have no map in common with ours.
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
