//! Commands that die with the process, and everything that they have started.
//!
//! A command gets a process namespace beside its network namespace. Its first process, which the
//! kernel calls init, is this program once more under the name `headstart-init`. It asks the kernel
//! to be killed when its parent dies, starts the command, passes signals on to it, waits for it and
//! exits with its code. When init ends, for any reason, the kernel kills all processes that are
//! left in the namespace. So none survives a `kill -9` of the process, which has no chance to clean
//! up.
//!
//! A program that starts commands in sandboxes calls [`serve_as_init`] before anything else in
//! `main`.

use crate::{Namespace, Privilege};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitStatus, wait};
use nix::unistd::Pid;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::Cause;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{self, Child, Command, ExitCode, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

/// Process name of init.
const NAME: &str = "headstart-init";

/// Exit codes of a command that could not be started, as of env(1): there is none of that name, it
/// is no program, and whatever else.
const NOT_FOUND: u8 = 127;
const NOT_EXECUTABLE: u8 = 126;
const FAILED: u8 = 125;

/// A command for [`Sandbox::start`], to be given arguments, environment, and files for its input
/// and output.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut init = Command::new("/proc/self/exe");
    init.arg0(NAME).arg(process::id().to_string()).arg(program);
    init
}

/// A running command.
#[derive(Debug)]
pub struct Sandbox {
    pid: Pid,
    /// Its input and output, as far as they are pipes.
    pub streams: Streams,
    ended: Arc<AtomicBool>,
    waiter: Option<JoinHandle<io::Result<ExitStatus>>>,
}

/// The ends of a command's pipes.
#[derive(Debug)]
pub struct Streams {
    /// Standard input of the command.
    pub stdin: Option<process::ChildStdin>,
    /// Standard output of the command.
    pub stdout: Option<process::ChildStdout>,
    /// Standard error of the command.
    pub stderr: Option<process::ChildStderr>,
}

impl Sandbox {
    /// Starts a command that [`command`] has prepared in a namespace.
    ///
    /// # Errors
    /// [`Privilege`] if the process may not, or if no process can be started. A missing program
    /// shows in the exit code.
    pub fn start(namespace: &Namespace, mut command: Command) -> io::Result<Self> {
        let (to, started) = channel();
        let namespace = namespace.clone();
        let ended = Arc::new(AtomicBool::new(false));
        let gone = Arc::clone(&ended);
        // The kernel takes the death of the thread that started a process for that of its parent:
        // this thread stays until the process has ended.
        let wait = move || {
            let mut child = match start_here(&namespace, &mut command) {
                Ok(child) => child,
                Err(error) => return send_error(&to, error),
            };
            let streams = Streams {
                stdin: child.stdin.take(),
                stdout: child.stdout.take(),
                stderr: child.stderr.take(),
            };
            // The receiver is gone only if the process is ending.
            let _ = to.send(Ok((child.id(), streams)));
            let status = child.wait();
            gone.store(true, Ordering::Release);
            status
        };
        let waiter = thread::Builder::new().name("sandbox".to_owned()).spawn(wait)?;
        let (pid, streams) = started.recv().map_err(io::Error::other)??;
        Ok(Self { pid: Pid::from_raw(pid as i32), streams, ended, waiter: Some(waiter) })
    }

    /// Sends a signal to the command, unless it has ended; `SIGKILL` kills all that it has started.
    pub fn signal(&self, signal: Signal) {
        self.signaller()(signal);
    }

    /// Returns a function that sends signals, for another thread.
    pub fn signaller(&self) -> impl Fn(Signal) + Send + Sync + 'static {
        let (pid, ended) = (self.pid, Arc::clone(&self.ended));
        move |signal| {
            if !ended.load(Ordering::Acquire) {
                // It may have ended just now.
                let _ = kill(pid, signal);
            }
        }
    }

    /// True once it has ended, together with all processes that it has started.
    pub fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Waits for the command to end. All processes that it has started have ended then.
    ///
    /// # Errors
    /// Fails like waitpid(2).
    pub fn wait(mut self) -> io::Result<ExitStatus> {
        match self.waiter.take() {
            Some(waiter) => waiter.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            None => Err(io::Error::other("it was waited for before")),
        }
    }
}

impl Drop for Sandbox {
    /// Kills the command.
    fn drop(&mut self) {
        self.signal(Signal::SIGKILL);
        if let Some(waiter) = self.waiter.take() {
            // It has ended in any case.
            let _ = waiter.join();
        }
    }
}

type Started = io::Result<(u32, Streams)>;

fn send_error(to: &Sender<Started>, error: io::Error) -> io::Result<ExitStatus> {
    let _ = to.send(Err(error));
    Ok(ExitStatus::from_raw(0))
}

/// Starts it as the first process of a process namespace.
fn start_here(namespace: &Namespace, command: &mut Command) -> io::Result<Child> {
    namespace.enter()?;
    let unshared = unshare(CloneFlags::CLONE_NEWPID);
    unshared.map_err(|error| Privilege::with_missing_privilege(error.into(), "unshare"))?;
    command.spawn()
}

/// The exit code that stands for how a command ended: its own, or 128 and the number of the signal
/// that ended it, as shells have it.
pub fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(FAILED)
}

/// Does the work of init if this process was started for that; the exit code is then the
/// command's. `None` for any other process.
pub fn serve_as_init() -> Option<ExitCode> {
    let mut arguments = env::args_os();
    if arguments.next()? != NAME {
        return None;
    }
    let code = serve(arguments).unwrap_or_else(|error| {
        eprintln!("headstart: {error}");
        FAILED
    });
    Some(code.into())
}

fn serve(mut arguments: impl Iterator<Item = OsString>) -> io::Result<u8> {
    let (Some(parent), Some(program)) = (arguments.next(), arguments.next()) else {
        return Err(io::Error::other("init was started without a command"));
    };
    set_pdeathsig(Signal::SIGKILL)?;
    refuse_orphanhood(&parent)?;
    if let Err(error) = show_own_processes() {
        eprintln!("headstart: /proc shows the host's processes to the command: {error}");
    }
    let signals = Signals::listen()?;
    let command = Command::new(&program).args(arguments).spawn();
    let child = match command {
        Ok(child) => Pid::from_raw(child.id() as i32),
        Err(error) => {
            eprintln!("headstart: {}: {error}", program.display());
            let missing = error.kind() == ErrorKind::NotFound;
            return Ok(if missing { NOT_FOUND } else { NOT_EXECUTABLE });
        }
    };
    signals.forward(move |signal| {
        let _ = kill(child, signal);
    });
    wait_for(child)
}

/// Fails if the parent has died before this process could ask to die with it: a dead process has no
/// executable. This `/proc` is still the parent's.
fn refuse_orphanhood(parent: &OsStr) -> io::Result<()> {
    match fs::read_link(format!("/proc/{}/exe", parent.display())) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(io::Error::other("killed before the command was started"))
        }
        // It may be there and not be shown.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// A `/proc` of the process namespace, in a mount namespace of its own.
fn show_own_processes() -> nix::Result<()> {
    const NOTHING: Option<&str> = None;
    unshare(CloneFlags::CLONE_NEWNS)?;
    mount(NOTHING, "/", NOTHING, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NOTHING)?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("proc"), "/proc", Some("proc"), flags, NOTHING)
}

/// Waits for `child`, and for orphans, which an init inherits.
fn wait_for(child: Pid) -> io::Result<u8> {
    loop {
        match wait() {
            Ok(WaitStatus::Exited(pid, code)) if pid == child => return Ok(code as u8),
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid == child => {
                return Ok(128 + signal as u8);
            }
            Ok(_) | Err(nix::Error::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Signals that another process sends to this process and means for the command. The kernel sends
/// the terminal's signals, like an interrupt by a key, to the command, too.
pub struct Signals(SignalsInfo<WithOrigin>);

/// The signals that ask programs to do something.
const FORWARDED: [i32; 6] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];

impl Signals {
    /// From now on they do not end this process.
    ///
    /// # Errors
    /// If they cannot be caught.
    pub fn listen() -> io::Result<Self> {
        Ok(Self(SignalsInfo::new(FORWARDED)?))
    }

    /// Passes them on, from a thread of its own, to the end of the process.
    pub fn forward(mut self, to: impl Fn(Signal) + Send + 'static) {
        thread::spawn(move || {
            for origin in self.0.forever() {
                if let (Cause::Sent(_), Ok(signal)) = (origin.cause, origin.signal.try_into()) {
                    to(signal);
                }
            }
        });
    }
}
