//! The agent of this machine, for tests of several programs: built, alone, and with all that it
//! needs.

use crate::run::other;
use nix::fcntl::{Flock, FlockArg};
use std::env;
use std::fs::File;

/// Locks the machine's one agent, as the agent's own tests do. Skips the test without the program.
pub(crate) fn agent() -> Option<Flock<File>> {
    other("headstart-agent")?;
    let lock = File::create(env::temp_dir().join("headstart-agent-tests.lock")).unwrap();
    Some(Flock::lock(lock, FlockArg::LockExclusive).unwrap())
}

/// Words of machines that lack what the worlds need, or what `headstart agent check` looks for. An
/// agent that is there and refuses for another reason, as when the verifier does not take its
/// programs, has failed.
pub(crate) const MAY_LACK: [&str; 9] = [
    "needs root",
    "no TUN devices",
    "no congestion control",
    "no cgroups of",
    "no rights",
    "no kernel types (BTF)",
    "no struct_ops",
    "to build upon",
    "no reading of kernel memory (lockdown)",
];

/// True if this machine lacks what the agent needs.
pub(crate) fn is_skipped(said: &str) -> bool {
    calm::is_skipped(said, &MAY_LACK)
}
