//! The agent of this machine, for tests of several programs: built, alone, and with all that it
//! needs.

use crate::run::other;
use nix::fcntl::{Flock, FlockArg};
use std::env;
use std::fs::File;
use test_support::Need;

/// Locks the machine's one agent, as the agent's own tests do. Skips the test without the program,
/// and where the machine lacks what an agent needs.
pub(crate) fn agent() -> Option<Flock<File>> {
    other("headstart-agent")?;
    if !test_support::has(&test_support::AGENT)
        || !test_support::has(&[Need::CongestionControl("bbr")])
    {
        return None;
    }
    let lock = File::create(env::temp_dir().join("headstart-agent-tests.lock")).unwrap();
    Some(Flock::lock(lock, FlockArg::LockExclusive).unwrap())
}
