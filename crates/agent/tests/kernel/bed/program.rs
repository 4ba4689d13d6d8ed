//! The agent's process, and questions to it.

use super::time::until;
use agent::interface::control_socket;
use agent::interface::question::{AgentAnswer, AgentStatus, Question};
use agent::memory::paths::RememberedPath;
use nix::fcntl::{Flock, FlockArg};
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::Duration;
use std::{env, mem, process};

/// Path of the agent's program: the built one, or a copy on another machine (`HEADSTART_AGENT`).
pub(crate) fn binary() -> PathBuf {
    let built = || env!("CARGO_BIN_EXE_headstart-agent").into();
    env::var_os("HEADSTART_AGENT").map_or_else(built, PathBuf::from)
}

/// Time for an agent to end after it is asked to, and interval at which the test looks.
const PATIENCE: Duration = Duration::from_secs(3);
const GLANCE: Duration = Duration::from_millis(5);

/// Waits until no other test has an agent, and excludes others as long as the lock lives.
pub(super) fn wait_until_alone() -> Flock<File> {
    let file = File::create(env::temp_dir().join("headstart-agent-tests.lock")).unwrap();
    Flock::lock(file, FlockArg::LockExclusive).unwrap()
}

/// A running agent; ended when this goes.
pub(crate) struct Agent {
    command: Command,
    child: Child,
    /// Agents that it has replaced, in case they do not end.
    before: Vec<Child>,
    socket: PathBuf,
    log: PathBuf,
}

impl Agent {
    /// Hooks a cgroup; without options to the contrary it keeps no state and has no control group.
    pub(crate) fn start(cgroup: &Path, control: &str, arguments: &[&str]) -> Self {
        static AGENTS: AtomicU32 = AtomicU32::new(0);
        let number = AGENTS.fetch_add(1, Ordering::Relaxed);
        let file = env::temp_dir().join(format!("headstart-agent-test-{}-{number}", process::id()));
        let (socket, log) = (file.with_extension("sock"), file.with_extension("log"));
        let mut command = Command::new(binary());
        command.arg("--cgroup").arg(cgroup).arg("--socket").arg(&socket);
        command.args(["--control", control]);
        if !arguments.contains(&"--state") {
            command.args(["--state", "none"]);
        }
        if !arguments.contains(&"--holdout") {
            command.args(["--holdout", "0"]);
        }
        command.args(arguments).stderr(File::create(&log).unwrap());
        let child = command.spawn().unwrap();
        let mut agent = Self { command, child, before: Vec::new(), socket, log };
        agent.wait_until_ready();
        agent
    }

    /// Starts the agent again with the same options, after it has ended.
    pub(crate) fn start_again(&mut self) {
        self.child = self.command.spawn().unwrap();
        self.wait_until_ready();
    }

    /// Another process takes over, of `program` with the same options; the one before has ended by
    /// then.
    pub(crate) fn upgrade(&mut self, program: &Path) {
        let log = File::options().append(true).open(&self.log).unwrap();
        let mut command = Command::new(program);
        command.args(self.command.get_args()).arg("--take-over").stderr(log);
        let before = mem::replace(&mut self.child, command.spawn().unwrap());
        self.before.push(before);
        let new = self.child.id();
        until("the new agent answers", || {
            self.assert_runs();
            let answer = control_socket::ask(&self.socket, &Question::Status);
            matches!(answer, Ok(AgentAnswer::Status(status)) if status.pid == new)
        });
        let status = self.before.pop().unwrap().wait().unwrap();
        assert!(status.success(), "{}", self.printed());
    }

    /// The agent starts its program's file, which takes over; that process is this one's from now
    /// on. Its signals and its end are not observed here.
    pub(crate) fn renew(&mut self) -> u32 {
        let before = self.child.id();
        self.signal(Signal::SIGUSR2);
        assert!(self.child.wait().unwrap().success(), "{}", self.printed());
        let mut new = before;
        until("the new agent answers", || {
            if let Ok(AgentAnswer::Status(status)) =
                control_socket::ask(&self.socket, &Question::Status)
            {
                new = status.pid;
            }
            new != before
        });
        new
    }

    /// Output of a process that is to take over with these further options, and fails.
    pub(crate) fn fail_to_upgrade(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(binary());
        command.args(self.command.get_args()).arg("--take-over").args(arguments);
        let output = command.output().unwrap();
        let printed = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{printed}");
        printed
    }

    fn wait_until_ready(&mut self) {
        until("the agent is ready", || {
            self.assert_runs();
            control_socket::ask(&self.socket, &Question::Status).is_ok()
        });
    }

    fn assert_runs(&mut self) {
        let has_ended = self.child.try_wait().unwrap().is_some();
        assert!(!has_ended, "the agent has ended: {}", self.printed());
    }

    fn ask(&self, question: &Question) -> AgentAnswer {
        control_socket::ask(&self.socket, question).unwrap()
    }

    pub(crate) fn status(&self) -> AgentStatus {
        match self.ask(&Question::Status) {
            AgentAnswer::Status(status) => *status,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn paths(&self) -> Vec<RememberedPath> {
        match self.ask(&Question::Paths) {
            AgentAnswer::Paths(paths) => paths,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn forget(&self, prefix: Option<&str>) -> usize {
        match self.ask(&Question::Forget(prefix.map(|prefix| prefix.parse().unwrap()))) {
            AgentAnswer::Forgotten(count) => count,
            other => panic!("{other:?}"),
        }
    }

    /// Arms the agent; returns whether windows had been stopped.
    pub(crate) fn arm(&self) -> bool {
        match self.ask(&Question::Arm) {
            AgentAnswer::Armed(was_off) => was_off,
            other => panic!("{other:?}"),
        }
    }

    /// Waits until `count` connections have closed: the memory has learnt from them then.
    pub(crate) fn wait_for_closed(&self, count: u64) {
        until("connections have closed", || self.closed() >= count);
    }

    /// Connections that have closed.
    pub(crate) fn closed(&self) -> u64 {
        self.status().connections.closed()
    }

    /// Its memory that is in use, kB.
    pub(crate) fn resident(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// Its output so far, for messages.
    pub(crate) fn printed(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    /// `kill` with a signal that it goes on from.
    pub(crate) fn signal(&self, signal: Signal) {
        let child = Pid::from_raw(self.child.id().cast_signed());
        nix::sys::signal::kill(child, signal).unwrap();
    }

    /// Waits until the agent ends without a signal.
    pub(crate) fn wait(&mut self) {
        assert!(self.child.wait().unwrap().success(), "{}", self.printed());
    }

    /// Its control socket.
    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }

    /// `kill -9`.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // A SIGTERM comes first: if the child runs the agent in a container, the kill would leave
        // the agent behind.
        let child = Pid::from_raw(self.child.id().cast_signed());
        let _ = nix::sys::signal::kill(child, Signal::SIGTERM);
        for _ in 0..PATIENCE.as_millis() / GLANCE.as_millis() {
            if !matches!(self.child.try_wait(), Ok(None)) {
                break;
            }
            sleep(GLANCE);
        }
        for child in self.before.iter_mut().chain([&mut self.child]) {
            let _ = child.kill();
            let _ = child.wait();
        }
        // Shown if the test fails.
        eprint!("{}", self.printed());
        let _ = fs::remove_file(&self.socket);
        let _ = fs::remove_file(&self.log);
    }
}

/// With `arguments`, first visits begin with a stock window unless they say how. Tests work out the
/// second visit from that.
pub(crate) fn stock_first_visits<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    let says = arguments.contains(&"--cold") || arguments.contains(&"--config");
    let paced: &[&str] = if says { &[] } else { &["--cold", "paced"] };
    [paced, arguments].concat()
}
