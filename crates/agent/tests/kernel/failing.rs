//! Warm starts that fail in quick succession, until an agent turns them off: the statistics need
//! several.
//!
//! 100 Mbit/s and 20 ms, behind a queue of 10 packets. A transfer of 28 segments is paced for a
//! window of 1000, at 1.2 · 1000 / 20 ms = 60 segments a millisecond. The link forwards 8.3 of
//! these a millisecond: some 4 of 28, and 10 can wait. A cold start sends 10 segments, of which one
//! is forwarded at once, and the other 18 at twice the pace of the link: 9 have to wait.

use crate::bed::{Agent, Bed, Server, link_of};
use crate::memory::Memory;

/// Connections by which the canary judges: few enough for a test.
pub(crate) const JUDGED_CONNECTIONS: &str = "40";
/// 28 segments.
pub(crate) const BYTES: u64 = 40_000;

pub(crate) fn bed() -> Option<Bed> {
    let bed = Bed::over(link_of(100, 20, 10))?;
    bed.widen_receive_window();
    Some(bed)
}

/// First visits, which lose nothing, each to a path that is not known.
pub(crate) fn begin_cold(bed: &Bed, agent: &Agent, server: &Server, count: u64) {
    for _ in 0..count {
        let closed = agent.closed();
        agent.forget(None);
        bed.visit(server, 1000);
        agent.wait_for_closed(closed + 1);
    }
}

/// One visit with far too large a memory; whether there was a warm start.
pub(crate) fn visit_with_too_much(bed: &Bed, agent: &Agent, server: &Server) -> bool {
    let before = agent.status().connections;
    Memory::new().change(|path| (path.window, path.rate, path.fallbacks_in_row) = (1000, 0, 0));
    bed.visit(server, BYTES);
    agent.wait_for_closed(before.closed() + 1);
    agent.status().connections.warm.closed > before.warm.closed
}

/// Makes an agent turn itself off that has no control group, with first visits instead. Returns the
/// number of warm starts that it took.
pub(crate) fn turn_off(bed: &Bed, agent: &Agent, server: &Server) -> u64 {
    let few = JUDGED_CONNECTIONS.parse().unwrap();
    begin_cold(bed, agent, server, few);
    for count in 1..=2 * few {
        assert_eq!(agent.status().off, None);
        assert!(visit_with_too_much(bed, agent, server));
        if agent.status().off.is_some() {
            return count;
        }
    }
    panic!("it is not off: {:?}", agent.status().parts)
}
