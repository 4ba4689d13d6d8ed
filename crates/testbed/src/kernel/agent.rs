//! An agent for one server of the kernel's world: `headstart-agent`, which gives Linux a warm
//! start. It hooks only the cgroup of that server's sockets, stores nothing, and ends with the
//! world.
//!
//! It runs as an operator would run it. This module knows only its command line and its readiness
//! report to a service manager (sd_notify(3)). The kernel has one congestion control of a name, so
//! one agent runs at a time on a machine; other races wait for theirs. The servers of a site share
//! it. Each is a network namespace, and the agent uses nothing in a namespace that it learnt in
//! another. So it represents an agent on each (ADR 29).

use super::gateway::{self, SiteGateway};
use crate::contender::AgentScheme;
use crate::temporary;
use emulator::sandbox::{self, Sandbox};
use emulator::{Cgroup, Namespace};
use nix::fcntl::{Flock, FlockArg};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

/// File lock of the process that runs an agent.
const LOCK: &str = "/run/headstart-race.lock";
/// Its files: where it says that it is ready, and where it is asked.
const READY: &str = "agent.ready";
const SOCKET: &str = "agent.sock";
/// Time in which a process that was just killed may still exist.
const WAKE: Duration = Duration::from_millis(500);

/// The agent's program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    program: PathBuf,
    /// `headstart-gateway`, for sites; or why there is none.
    gateway: Result<PathBuf, String>,
}

impl Agent {
    /// The program at a path.
    ///
    /// # Errors
    /// If there is none.
    pub fn at(program: &Path) -> io::Result<Self> {
        Ok(Self {
            program: fs::canonicalize(program)?,
            gateway: Err("no gateway was given".to_owned()),
        })
    }

    /// The same, which can ask a gateway: the program `headstart-gateway` at this path. Without it,
    /// why it is missing.
    #[must_use]
    pub fn with_gateway(self, gateway: Result<PathBuf, String>) -> Self {
        Self { gateway, ..self }
    }

    /// Starts the agent for a moment, to see whether it can run on this machine.
    ///
    /// # Errors
    /// The agent's own words on why it cannot. [`crate::cannot_be_had`] says whether that is the
    /// machine's fault before the agent's.
    pub fn try_once(&self, scheme: &AgentScheme) -> io::Result<()> {
        self.start_agent(scheme).map(drop)
    }

    /// Hooks the sockets that are created in [`HookingAgent::cgroup`] from now on.
    ///
    /// # Errors
    /// The agent's own words on why it cannot.
    pub(super) fn start_agent(&self, scheme: &AgentScheme) -> io::Result<HookingAgent> {
        self.start_agent_by(scheme, |start| start.agent(&[]).map(|agent| (agent, None)))
    }

    /// Hooks the sockets of a site's servers: a gateway runs, and answers the agent by the time
    /// that this function returns.
    ///
    /// # Errors
    /// The same, or why there is no gateway.
    pub(super) fn attend_to_a_site(&self, scheme: &AgentScheme) -> io::Result<HookingAgent> {
        let gateway = self.gateway.as_ref().map_err(|why| io::Error::other(why.clone()))?;
        self.start_agent_by(scheme, |start| {
            let gateway = SiteGateway::start(gateway, start.namespace, start.folder)?;
            let agent = start.agent(gateway.options())?;
            gateway::wait_until_asked(&self.program, &start.folder.join(SOCKET))?;
            Ok((agent, Some(gateway)))
        })
    }

    fn start_agent_by(
        &self,
        scheme: &AgentScheme,
        begin: impl Fn(AgentStart<'_>) -> io::Result<(Sandbox, Option<SiteGateway>)> + Sync,
    ) -> io::Result<HookingAgent> {
        let alone = lock_agent()?;
        let cgroup = Cgroup::new()?;
        // The agent hooks a cgroup, whatever namespace its sockets are in.
        let namespace = &Namespace::new()?;
        let start = || {
            temporary::in_a_folder(|folder| {
                begin(AgentStart { agent: self, namespace, cgroup: &cgroup, scheme, folder })
            })
        };
        let (sandbox, gateway) = start().or_else(|_| {
            // The agent of a race that was killed may still be ending.
            sleep(WAKE);
            start()
        })?;
        let hooks_client = scheme.hooks_client();
        Ok(HookingAgent {
            _sandbox: sandbox,
            _gateway: gateway,
            cgroup,
            hooks_client,
            _alone: alone,
        })
    }
}

/// Everything that the start of an agent needs.
struct AgentStart<'a> {
    agent: &'a Agent,
    namespace: &'a Namespace,
    cgroup: &'a Cgroup,
    scheme: &'a AgentScheme,
    /// For its files, and those of a gateway.
    folder: &'a Path,
}

impl AgentStart<'_> {
    /// Returns when the agent reports its readiness.
    fn agent(&self, options: &[OsString]) -> io::Result<Sandbox> {
        let scheme = self.scheme;
        let [ready, socket] = [READY, SOCKET].map(|name| self.folder.join(name));
        let notifications = UnixDatagram::bind(&ready)?;
        let mut command = sandbox::command(&self.agent.program);
        command.arg("--cgroup").arg(self.cgroup.path()).arg("--socket").arg(socket);
        command.args(["--control", scheme.control(), "--holdout", "0", "--state", "none"]);
        command.args(scheme.options()).args(options);
        command.env("NOTIFY_SOCKET", ready);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut sandbox = Sandbox::start(self.namespace, command)?;
        temporary::wait_until_ready(&notifications, "the agent", &mut sandbox)?;
        Ok(sandbox)
    }
}

/// A running agent.
#[derive(Debug)]
pub(crate) struct HookingAgent {
    /// Ends first.
    _sandbox: Sandbox,
    _gateway: Option<SiteGateway>,
    cgroup: Cgroup,
    hooks_client: bool,
    /// Is let go last.
    _alone: Flock<File>,
}

impl HookingAgent {
    /// Runs the client's part of a visit. The agent hooks its sockets if the scheme says so.
    ///
    /// # Errors
    /// If the process may not move to the cgroup, or not back.
    pub(crate) fn run_client<T>(&self, job: impl FnOnce() -> T) -> io::Result<T> {
        if self.hooks_client { self.cgroup.run(job) } else { Ok(job()) }
    }

    /// The cgroup whose connections the agent hooks.
    pub(super) const fn cgroup(&self) -> &Cgroup {
        &self.cgroup
    }
}

/// Waits until no other race has an agent.
fn lock_agent() -> io::Result<Flock<File>> {
    let file = File::options().create(true).append(true).open(LOCK);
    let file = file.map_err(|error| io::Error::new(error.kind(), format!("{LOCK}: {error}")))?;
    Flock::lock(file, FlockArg::LockExclusive).map_err(|(_, error)| error.into())
}
