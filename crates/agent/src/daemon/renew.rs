//! Replaces the running agent by its program's file as it is now, as SIGUSR2 does, and waits for
//! the new one. It is for operators and packages, which otherwise have to restart the agent.
//!
//! The caller may be of another version than the agent, so it asks nothing over the agent's socket.
//! The kernel knows whose the socket is, and whether that process handles the signal, which would
//! end it otherwise.

use crate::kernel::facts::Facts;
use nix::sys::signal::{Signal, kill};
use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use nix::unistd::Pid;
use std::fs;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// Longer than both agents wait for each other ([`crate::interface::handover::PATIENCE`]).
const PATIENCE: Duration = Duration::from_secs(70);
const GLANCE: Duration = Duration::from_millis(100);

/// Result: one process has replaced another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renewed {
    /// Process of the old agent.
    pub before: u32,
    /// Process of the new agent.
    pub now: u32,
}

/// Asks the agent that listens at `socket` to be replaced, and waits until it is.
///
/// # Errors
/// If it is not replaced: it goes on then, and only a restart helps.
pub fn renew(socket: &Path) -> Result<Renewed, String> {
    let before = listener(socket)
        .ok_or_else(|| format!("no agent runs here: nothing answers at {}", socket.display()))?;
    let facts = Facts::running();
    if !facts.shape().is_linked {
        return Err(format!(
            "{} cannot have programs handed over (Linux 6.4 can): restart the agent",
            facts.kernel()
        ));
    }
    let status = fs::read_to_string(format!("/proc/{before}/status")).unwrap_or_default();
    if !has_signal_handler(&status, Signal::SIGUSR2) {
        return Err(format!(
            "the agent that runs (process {before}) is of a version that cannot hand over: restart it"
        ));
    }
    kill(Pid::from_raw(before.cast_signed()), Signal::SIGUSR2)
        .map_err(|error| format!("cannot signal process {before}: {error}"))?;
    wait_for_new_agent(socket, before)
}

/// Waits until another process than `before` has the socket.
///
/// # Errors
///
/// If the process that was to take over has ended, or none has taken over in time.
fn wait_for_new_agent(socket: &Path, before: u32) -> Result<Renewed, String> {
    let mut has_begun = false;
    for _ in 0..PATIENCE.as_millis() / GLANCE.as_millis() {
        thread::sleep(GLANCE);
        let has_child = has_child(before);
        match listener(socket) {
            Some(now) if now != before => return Ok(Renewed { before, now }),
            // The process that was to take over has come and gone.
            Some(_) if has_begun && has_child == Some(false) => break,
            _ => has_begun |= has_child == Some(true),
        }
    }
    Err(format!(
        "no agent has taken over, process {before} goes on; its log says why. A restart is what is left"
    ))
}

/// Returns the process that listens at a socket.
fn listener(socket: &Path) -> Option<u32> {
    let stream = UnixStream::connect(socket).ok()?;
    let peer = getsockopt(&stream, PeerCredentials).ok()?;
    u32::try_from(peer.pid()).ok()
}

/// Returns true if a process has a child; `None` if the kernel does not show it
/// (`CONFIG_PROC_CHILDREN`).
fn has_child(process: u32) -> Option<bool> {
    let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    children.ok().map(|children| !children.trim().is_empty())
}

/// Returns true if a process has a handler of a signal, by its `/proc/PID/status`
/// (proc_pid_status(5)).
fn has_signal_handler(status: &str, signal: Signal) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal as u32 - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handler_of_signal_12_is_bit_11() {
        let status = |mask: &str| format!("Name:\tx\nSigIgn:\t0000000000000800\nSigCgt:\t{mask}\n");
        assert!(has_signal_handler(&status("0000000100000800"), Signal::SIGUSR2));
        assert!(!has_signal_handler(&status("fffffffffffff7ff"), Signal::SIGUSR2));
        assert!(!has_signal_handler("SigCgt:\t\n", Signal::SIGUSR2));
    }

    #[test]
    fn nobody_at_a_socket_is_no_agent() {
        let why = renew(Path::new("/no/such/socket")).unwrap_err();
        assert!(why.contains("nothing answers at /no/such/socket"), "{why}");
    }
}
