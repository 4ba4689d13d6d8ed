//! Control groups of version 2 for sockets. A socket stays for good in the cgroup of the process
//! that created it, and a listening socket's connections are in the same cgroup. Programs of the
//! kernel that are attached to a cgroup therefore act on its connections and no others.

use crate::Privilege;
use std::cell::Cell;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Prefix of the cgroups' names, before the creating process and a number.
const NAME: &str = "headstart";

/// The process is in one cgroup at a time.
static INSIDE: Mutex<()> = Mutex::new(());

thread_local! {
    /// This thread has moved the process to a cgroup.
    static MOVED: Cell<bool> = const { Cell::new(false) };
}

/// An empty cgroup below the root of all; removed when it is dropped.
#[derive(Debug)]
pub struct Cgroup(PathBuf);

impl Cgroup {
    /// Creates a cgroup. Leftovers of killed processes are removed.
    ///
    /// # Errors
    /// `NotFound` where no cgroups of version 2 are mounted; [`Privilege`] if the process may not.
    pub fn new() -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let root = root()?;
        remove_orphans(&root);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = root.join(format!("{NAME}-{}-{number}", process::id()));
        fs::create_dir(&path)
            .map_err(|error| Privilege::with_missing_privilege(error, "mkdir in cgroups"))?;
        Ok(Self(path))
    }

    /// Creates a cgroup of this name inside it, which has to be removed before this one.
    ///
    /// # Errors
    /// If the process may not make it.
    pub fn below(&self, name: &str) -> io::Result<Self> {
        let path = self.0.join(name);
        fs::create_dir(&path)
            .map_err(|error| Privilege::with_missing_privilege(error, "mkdir in cgroups"))?;
        Ok(Self(path))
    }

    /// Its directory.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Runs `job` with this process in the cgroup: sockets that it makes are of it. Sockets that
    /// other threads create meanwhile are in it too, unless they use [`Cgroup::run_outside`].
    ///
    /// # Errors
    /// If the process may not move, or not back.
    pub fn run<T>(&self, job: impl FnOnce() -> T) -> io::Result<T> {
        let _alone = lock();
        let home = own_cgroup()?;
        join_cgroup(&self.0)?;
        MOVED.set(true);
        let done = job();
        MOVED.set(false);
        join_cgroup(&home)?;
        Ok(done)
    }

    /// Runs `job` while no other thread has the process in a cgroup, so that the sockets that it
    /// makes are of the process's own cgroup. Within [`Cgroup::run`] they are of that cgroup.
    pub fn run_outside<T>(job: impl FnOnce() -> T) -> T {
        let _alone = (!MOVED.get()).then(lock);
        job()
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // If something is in it yet, the next one to be made removes it.
        let _ = fs::remove_dir(&self.0);
    }
}

fn lock() -> MutexGuard<'static, ()> {
    INSIDE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Mount point of cgroups of version 2.
fn root() -> io::Result<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts")?;
    let mut mounts = mounts.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let root = mounts.find(|fields| fields.get(2) == Some(&"cgroup2"));
    let root = root.and_then(|fields| fields.get(1).map(PathBuf::from));
    root.ok_or_else(|| io::Error::new(ErrorKind::NotFound, "no cgroups of version 2 are mounted"))
}

/// The cgroup in which this process is.
fn own_cgroup() -> io::Result<PathBuf> {
    let groups = fs::read_to_string("/proc/self/cgroup")?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/"));
    let own = own.ok_or_else(|| io::Error::other("this process is in no cgroup of version 2"))?;
    Ok(root()?.join(own))
}

fn join_cgroup(cgroup: &Path) -> io::Result<()> {
    let entered = fs::write(cgroup.join("cgroup.procs"), process::id().to_string());
    entered.map_err(|error| Privilege::with_missing_privilege(error, "moving to a cgroup"))
}

/// Removes the cgroups of processes that no longer exist. Cgroups that hold something cannot be
/// removed.
fn remove_orphans(root: &Path) {
    let Ok(entries) = fs::read_dir(root) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let maker = name.to_str().and_then(creator_pid);
        if maker.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
            remove(&entry.path());
        }
    }
}

/// Removes it and its direct children, as far as they are empty.
fn remove(cgroup: &Path) {
    let below = fs::read_dir(cgroup).into_iter().flatten().flatten();
    // Other entries than directories are the kernel's, and stay.
    for entry in below.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        let _ = fs::remove_dir(entry.path());
    }
    let _ = fs::remove_dir(cgroup);
}

/// The process that made a cgroup of this name, if it is one of ours.
fn creator_pid(name: &str) -> Option<&str> {
    let (pid, number) = name.strip_prefix(NAME)?.strip_prefix('-')?.split_once('-')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(pid) && is_number(number)).then_some(pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_cgroups_of_our_making_are_ours() {
        assert_eq!(creator_pid("headstart-17-0"), Some("17"));
        for other in
            ["headstart-agent", "headstart-17", "headstart-17-", "headstart--1", "other-17-0"]
        {
            assert_eq!(creator_pid(other), None, "{other}");
        }
    }
}
