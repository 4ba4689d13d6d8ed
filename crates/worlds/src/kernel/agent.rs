//! An agent for one server of the kernel's world: `headstart-agent`, which makes Linux start warm, attends to
//! the cgroup of that server's sockets and to nothing else, keeps nothing, and is gone with the world.
//!
//! It is run as an operator would run it: its command line is all that is known of it here, and that it tells a
//! service manager when it is ready (sd_notify(3)). The kernel has one congestion control of a name, so one agent runs at
//! a time on a machine; other races wait for theirs.

use super::private;
use crate::contender::AgentScheme;
use emulator::sandbox::{self, Sandbox};
use emulator::{Cgroup, Namespace};
use nix::fcntl::{Flock, FlockArg};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

/// Held by whoever has an agent run.
const LOCK: &str = "/run/headstart-race.lock";
/// How long it may take to begin to attend: the kernel checks its programs in some tenths of a second.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often it is looked whether it has given up.
const GLANCE: Duration = Duration::from_millis(50);
/// How long what was killed just now may take to be gone.
const WAKE: Duration = Duration::from_millis(500);

/// The agent's program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    program: PathBuf,
}

impl Agent {
    /// The program at a path.
    ///
    /// # Errors
    /// If there is none.
    pub fn at(program: &Path) -> io::Result<Self> {
        Ok(Self { program: fs::canonicalize(program)? })
    }

    /// Has it attend for a moment, to see whether it can here.
    ///
    /// # Errors
    /// Why it cannot, in its own words. [`crate::cannot_be_had`] says whether that is the machine's fault before
    /// the agent's.
    pub fn try_once(&self, scheme: &AgentScheme) -> io::Result<()> {
        self.attend(&Namespace::new()?, scheme).map(drop)
    }

    /// Attends to the sockets that are made in [`Attending::cgroup`] from now on.
    ///
    /// # Errors
    /// Why it cannot, in its own words.
    pub(super) fn attend(
        &self,
        namespace: &Namespace,
        scheme: &AgentScheme,
    ) -> io::Result<Attending> {
        let alone = alone()?;
        let cgroup = Cgroup::new()?;
        let start =
            || private::in_a_folder(|folder| self.start(namespace, &cgroup, scheme, folder));
        let sandbox = start().or_else(|_| {
            // That of a race which was killed may have been about to end.
            sleep(WAKE);
            start()
        })?;
        Ok(Attending { _sandbox: sandbox, cgroup, _alone: alone })
    }

    /// Comes back when it attends.
    fn start(
        &self,
        namespace: &Namespace,
        cgroup: &Cgroup,
        scheme: &AgentScheme,
        folder: &Path,
    ) -> io::Result<Sandbox> {
        let [ready, socket] = ["ready", "agent.sock"].map(|name| folder.join(name));
        let told = UnixDatagram::bind(&ready)?;
        let mut command = sandbox::command(&self.program);
        command.arg("--cgroup").arg(cgroup.path()).arg("--socket").arg(socket);
        command.args(["--control", scheme.control(), "--holdout", "0", "--state", "none"]);
        command.args(scheme.options());
        command.env("NOTIFY_SOCKET", ready);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut sandbox = Sandbox::start(namespace, command)?;
        wait_until_ready(&told, &mut sandbox)?;
        Ok(sandbox)
    }
}

/// A running agent.
#[derive(Debug)]
pub(super) struct Attending {
    /// Ends first.
    _sandbox: Sandbox,
    cgroup: Cgroup,
    /// Is let go last.
    _alone: Flock<File>,
}

impl Attending {
    /// Whose connections it attends to.
    pub(super) const fn cgroup(&self) -> &Cgroup {
        &self.cgroup
    }
}

/// Waits until no other race has an agent.
fn alone() -> io::Result<Flock<File>> {
    let file = File::options().create(true).append(true).open(LOCK);
    let file = file.map_err(|error| io::Error::new(error.kind(), format!("{LOCK}: {error}")))?;
    Flock::lock(file, FlockArg::LockExclusive).map_err(|(_, error)| error.into())
}

fn wait_until_ready(told: &UnixDatagram, sandbox: &mut Sandbox) -> io::Result<()> {
    told.set_read_timeout(Some(GLANCE))?;
    let mut message = [0; 4096];
    for _ in 0..PATIENCE.as_millis() / GLANCE.as_millis() {
        match told.recv(&mut message) {
            Ok(length) if is_ready(&message[..length]) => return Ok(()),
            Ok(_) => {}
            Err(error) if !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return Err(error);
            }
            Err(_) if sandbox.has_ended() => return Err(complaint(sandbox)),
            Err(_) => {}
        }
    }
    Err(io::Error::other(format!("the agent does not attend within {PATIENCE:?}")))
}

/// `READY=1` in a line of its own.
fn is_ready(message: &[u8]) -> bool {
    message.split(|byte| *byte == b'\n').any(|line| line == b"READY=1")
}

/// Why it has ended, in its own words.
fn complaint(sandbox: &mut Sandbox) -> io::Error {
    let mut said = String::new();
    if let Some(stderr) = &mut sandbox.streams.stderr {
        // What cannot be read is not said.
        let _ = stderr.read_to_string(&mut said);
    }
    io::Error::other(said.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_ready_when_it_says_so_and_not_before() {
        assert!(is_ready(b"READY=1\nSTATUS=attending\n"));
        assert!(is_ready(b"STATUS=attending\nREADY=1"));
        for other in [&b""[..], b"STATUS=READY=1", b"READY=10", b"STOPPING=1"] {
            assert!(!is_ready(other), "{}", String::from_utf8_lossy(other));
        }
    }
}
