//! Network namespaces without a name: they live as long as a process holds them or runs in them,
//! and so die with the process, however it ends.

use nix::errno::Errno;
use nix::sched::{CloneFlags, setns, unshare};
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;
use std::{fmt, thread};

/// A network stack: devices, addresses, routes, sockets. Cheap to clone; all clones are the same.
#[derive(Clone, Debug)]
pub struct Namespace(Arc<File>);

/// The sysctls of new namespaces: no memory of earlier connections, and no reverse-path filter.
const DEFAULTS: [(&str, &str); 3] = [
    ("net.ipv4.tcp_no_metrics_save", "1"),
    ("net.ipv4.conf.all.rp_filter", "0"),
    ("net.ipv4.conf.default.rp_filter", "0"),
];

impl Namespace {
    /// Creates a namespace with only loopback, which is up.
    ///
    /// # Errors
    /// [`Privilege`] if the process may not.
    pub fn new() -> io::Result<Self> {
        let unshared = || {
            unshare(CloneFlags::CLONE_NEWNET)?;
            Self::current()
        };
        let namespace = on_a_thread(unshared)
            .map_err(|error| Privilege::with_missing_privilege(error, "unshare"))?;
        namespace.run(crate::netlink::raise_loopback)??;
        for (name, value) in DEFAULTS {
            namespace.set_sysctl(name, value)?;
        }
        Ok(namespace)
    }

    /// The namespace of the calling thread.
    ///
    /// # Errors
    /// If `/proc` is not there.
    pub fn current() -> io::Result<Self> {
        Ok(Self(Arc::new(File::open("/proc/thread-self/ns/net")?)))
    }

    /// Makes the calling thread one of this namespace: sockets and devices that it opens from now
    /// on are there, as are the threads and processes that it starts. Its other sockets stay where
    /// they were opened.
    ///
    /// # Errors
    /// [`Privilege`] if the process may not.
    pub fn enter(&self) -> io::Result<()> {
        let entered = setns(&*self.0, CloneFlags::CLONE_NEWNET);
        entered.map_err(|error| Privilege::with_missing_privilege(error.into(), "setns"))
    }

    /// Runs `job` on a thread in the namespace and waits for it.
    ///
    /// # Errors
    /// Fails like [`Namespace::enter`].
    pub fn run<T: Send>(&self, job: impl FnOnce() -> T + Send) -> io::Result<T> {
        on_a_thread(|| {
            self.enter()?;
            Ok(job())
        })
    }

    /// Starts a thread in the namespace.
    ///
    /// # Errors
    /// Fails like [`Namespace::enter`].
    pub fn spawn<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<thread::JoinHandle<T>> {
        self.run(|| thread::Builder::new().spawn(job))?
    }

    /// Starts a command in the namespace. It outlives the process if that is killed:
    /// [`crate::sandbox`] starts one that does not.
    ///
    /// # Errors
    /// Fails like [`Namespace::enter`], or if the command cannot be started.
    pub fn command(&self, command: &mut Command) -> io::Result<Child> {
        self.run(|| command.spawn())?
    }

    /// Sets a sysctl by its name with points, like `net.ipv4.tcp_rmem`.
    ///
    /// # Errors
    /// If there is none of that name or the value is refused; both are named.
    pub fn set_sysctl(&self, name: &str, value: &str) -> io::Result<()> {
        let path = Path::new("/proc/sys").join(name.replace('.', "/"));
        self.run(|| fs::write(path, value))?.map_err(|error| {
            io::Error::new(error.kind(), format!("sysctl {name}={value}: {error}"))
        })
    }
}

fn on_a_thread<T: Send>(job: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().spawn_scoped(scope, job)?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// A privilege is missing: its name, and the intended action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Privilege {
    call: &'static str,
}

impl Privilege {
    /// The same error, unless it says that something is not permitted.
    pub(crate) fn with_missing_privilege(error: io::Error, call: &'static str) -> io::Error {
        let refused = [Errno::EPERM as i32, Errno::EACCES as i32];
        match error.raw_os_error() {
            Some(code) if refused.contains(&code) => {
                io::Error::new(io::ErrorKind::PermissionDenied, Self { call })
            }
            _ => error,
        }
    }
}

impl fmt::Display for Privilege {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "emulating a link needs root, or CAP_NET_ADMIN and CAP_SYS_ADMIN, for network namespaces \
             and TUN devices ({} was refused): try sudo",
            self.call
        )
    }
}

impl std::error::Error for Privilege {}
