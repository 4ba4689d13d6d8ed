//! Temporary directory for the files of a server, an agent or a gateway: in memory, invisible to
//! other processes, and removed with its owner. Also waits for the program that runs there to be
//! ready.

use emulator::sandbox::Sandbox;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use std::io::{self, ErrorKind, Read};
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::time::Duration;

/// Path of the directory. No program is in this folder (FHS 3.0 §3.15), so programs hide nothing by
/// it.
const FOLDER: &str = "/run";
/// Longest time until the program is ready: the verifier checks an agent's programs in some tenths
/// of a second.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
/// Interval of the checks whether it has ended.
pub(crate) const GLANCE: Duration = Duration::from_millis(50);

/// Runs `job` on a thread that sees an empty folder of its own, as do the processes that it starts.
///
/// # Errors
/// Fails like `job`, or if the process may not create the directory.
pub(crate) fn in_a_folder<T: Send>(
    job: impl FnOnce(&Path) -> io::Result<T> + Send,
) -> io::Result<T> {
    let run = || job(create_folder()?);
    let ran = std::thread::scope(|scope| scope.spawn(run).join());
    ran.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The calling thread's, for good.
fn create_folder() -> io::Result<&'static Path> {
    const NOTHING: Option<&str> = None;
    unshare(CloneFlags::CLONE_NEWNS)?;
    mount(NOTHING, "/", NOTHING, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NOTHING)?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("tmpfs"), FOLDER, Some("tmpfs"), flags, Some("mode=755"))?;
    Ok(Path::new(FOLDER))
}

/// Waits until the program in the sandbox reports on this socket that it is ready (sd_notify(3)).
///
/// # Errors
/// The program's own words on why it has ended, or that it takes too long.
pub(crate) fn wait_until_ready(
    notifications: &UnixDatagram,
    what: &str,
    sandbox: &mut Sandbox,
) -> io::Result<()> {
    notifications.set_read_timeout(Some(GLANCE))?;
    let mut message = [0; 4096];
    for _ in 0..PATIENCE.as_millis() / GLANCE.as_millis() {
        match notifications.recv(&mut message) {
            Ok(length) if is_ready(&message[..length]) => return Ok(()),
            Ok(_) => {}
            Err(error) if !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return Err(error);
            }
            Err(_) if sandbox.has_ended() => return Err(stderr_error(sandbox)),
            Err(_) => {}
        }
    }
    Err(io::Error::other(format!("{what} is not ready within {PATIENCE:?}")))
}

/// `READY=1` in a line of its own.
fn is_ready(message: &[u8]) -> bool {
    message.split(|byte| *byte == b'\n').any(|line| line == b"READY=1")
}

/// The program's own words on why it has ended.
fn stderr_error(sandbox: &mut Sandbox) -> io::Error {
    let mut printed = String::new();
    if let Some(stderr) = &mut sandbox.streams.stderr {
        // Unreadable output is left out.
        let _ = stderr.read_to_string(&mut printed);
    }
    io::Error::other(printed.trim_end().to_owned())
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
