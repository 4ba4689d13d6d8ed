//! A place for the files of a server or an agent of ours: in memory, seen by nobody else, gone with whoever
//! holds it.

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use std::io;
use std::path::Path;

/// Where it is. No program is there (FHS 3.0 §3.15), so nothing is hidden from those that use it.
const FOLDER: &str = "/run";

/// Runs `job` on a thread that sees an empty folder of its own, as do the processes that it starts.
///
/// # Errors
/// Those of `job`, or if the process may not.
pub(super) fn in_a_folder<T: Send>(
    job: impl FnOnce(&Path) -> io::Result<T> + Send,
) -> io::Result<T> {
    let run = || job(make()?);
    let ran = std::thread::scope(|scope| scope.spawn(run).join());
    ran.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The calling thread's, for good.
fn make() -> io::Result<&'static Path> {
    const NOTHING: Option<&str> = None;
    unshare(CloneFlags::CLONE_NEWNS)?;
    mount(NOTHING, "/", NOTHING, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NOTHING)?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("tmpfs"), FOLDER, Some("tmpfs"), flags, Some("mode=755"))?;
    Ok(Path::new(FOLDER))
}
