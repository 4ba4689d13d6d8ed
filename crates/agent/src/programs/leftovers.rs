//! Congestion controls that an agent has left behind. Before Linux 6.4 the kernel keeps one listed
//! until a process removes it, also when the agent that registered it was killed. No connection
//! gets it, since the program that sets it has gone with the agent.

use crate::kernel::congestion::HsControl;
use libbpf_rs::query::{LinkInfoIter, MapInfoIter, ProgInfoIter};
use libbpf_rs::{MapCore, MapHandle, MapType};

/// The program that gives connections a congestion control; attached as long as its agent lives.
const GIVES: &str = "attend";

/// Removes them, unless an agent lives, and returns their names. A process without CAP_SYS_ADMIN
/// sees none.
pub fn take_away() -> Vec<String> {
    if lives_an_agent() {
        return Vec::new();
    }
    let names: Vec<_> = HsControl::ALL.into_iter().flat_map(HsControl::names).copied().collect();
    let ours = MapInfoIter::default()
        .filter(|map| map.ty == MapType::StructOps && names.iter().any(|name| map.name == *name));
    let taken = ours.filter(|map| {
        let handle = MapHandle::from_map_id(map.id);
        // A congestion control is the one entry, of number 0.
        handle.is_ok_and(|handle| handle.delete(&0_u32.to_ne_bytes()).is_ok())
    });
    taken.map(|map| map.name.to_string_lossy().into_owned()).collect()
}

fn lives_an_agent() -> bool {
    let gives: Vec<u32> = ProgInfoIter::default()
        .filter(|program| program.name == GIVES)
        .map(|program| program.id)
        .collect();
    LinkInfoIter::default().any(|link| gives.contains(&link.prog_id))
}
