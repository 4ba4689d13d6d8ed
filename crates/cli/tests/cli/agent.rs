//! The agent of this machine, for tests of several programs: built, alone, and with all that it
//! needs.

use crate::run::other;
use calm::Need;
use nix::fcntl::{Flock, FlockArg};
use std::env;
use std::fs::File;

/// Locks the machine's one agent, as the agent's own tests do. Skips the test without the program,
/// and where the machine lacks what an agent needs.
pub(crate) fn agent() -> Option<Flock<File>> {
    other("headstart-agent")?;
    if !calm::has(&calm::AGENT) || !calm::has(&[Need::CongestionControl("bbr")]) {
        return None;
    }
    let lock = File::create(env::temp_dir().join("headstart-agent-tests.lock")).unwrap();
    Some(Flock::lock(lock, FlockArg::LockExclusive).unwrap())
}
