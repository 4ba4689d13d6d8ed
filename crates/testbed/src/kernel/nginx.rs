//! nginx as a server of the kernel's world.
//!
//! It inherits sockets that are listening already, the way a new binary of it takes over from an
//! old one: by the variable `NGINX`. So they have the congestion control and the low water that the
//! race asks for, which its configuration knows no words for. It runs in a process namespace that
//! the kernel clears when this process dies, and all its files are in a file system in memory that
//! no other process sees.

use crate::programs;
use crate::site::{self, ListensAt};
use crate::temporary;
use emulator::Namespace;
use emulator::sandbox::{self, Sandbox};
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use workload::{Http, LoaderConfig, Page};

/// Folders that are searched beside `PATH`, which lacks them for users other than root.
const FOLDERS: [&str; 3] = ["/usr/sbin", "/usr/local/sbin", "/sbin"];
/// Longest time until it serves its first connection.
const PATIENCE: Duration = Duration::from_secs(20);

/// A program that is nginx.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nginx {
    program: PathBuf,
    /// Its own name and version, like `nginx/1.22.1`.
    version: String,
    /// Options and modules that it was built with.
    built_with: String,
}

impl Nginx {
    /// Returns the installed nginx, if there is one that reports its name.
    pub fn installed() -> Option<Self> {
        programs::find_program("nginx", &FOLDERS).find_map(|program| Self::at(&program).ok())
    }

    /// The program at a path.
    ///
    /// # Errors
    /// If it cannot be run, or is something else.
    pub fn at(program: &Path) -> io::Result<Self> {
        let shown = program.display();
        let program = fs::canonicalize(program)
            .map_err(|error| io::Error::new(error.kind(), format!("{shown}: {error}")))?;
        let output = Command::new(&program).arg("-V").stdin(Stdio::null()).output();
        let output =
            output.map_err(|error| io::Error::new(error.kind(), format!("{shown}: {error}")))?;
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        let version = printed.lines().find_map(|line| line.strip_prefix("nginx version: "));
        let version = version.ok_or_else(|| io::Error::other(format!("{shown} is not nginx")))?;
        Ok(Self { version: version.to_owned(), built_with: printed, program })
    }

    /// Its own name and version, like `nginx/1.22.1`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns the reason why nginx cannot serve a page; `None` if it can.
    pub fn refusal(&self, page: &Page, config: &LoaderConfig) -> Option<String> {
        let mut protocols = page.hosts().iter().map(|host| config.protocol(host));
        let wants_http2 = protocols.any(|protocol| protocol.http == Http::Http2);
        if wants_http2 && !self.built_with.contains("--with-http_v2_module") {
            return Some(format!("{} was built without HTTP/2", self.version));
        }
        site::unsupported_reason(page, config)
    }

    /// True unless it was built without a module of HTTP.
    pub(crate) fn has_module(&self, module: &str) -> bool {
        !self.built_with.contains(&format!("--without-http_{module}_module"))
    }

    /// Serves a page on these listeners, which are in the namespace, until it is dropped.
    pub(super) fn serve(
        &self,
        namespace: &Namespace,
        page: &Page,
        config: &LoaderConfig,
        listeners: &[TcpListener],
    ) -> io::Result<Serving> {
        let addresses: Vec<SocketAddr> =
            listeners.iter().map(TcpListener::local_addr).collect::<io::Result<_>>()?;
        self.serve_site(namespace, listeners, |folder, ready| {
            let objects = folder.join("objects");
            fs::create_dir(&objects)?;
            site::write_objects(&objects, page, config)?;
            let listens_at = ListensAt { hosts: &addresses, ready };
            Ok(site::configuration(folder, page, config, listens_at, |module| {
                self.has_module(module)
            }))
        })
    }

    /// Serves a site on these listeners, which are in the namespace, until it is dropped.
    ///
    /// `site` writes the site's files to a folder and returns nginx's configuration. The second
    /// argument of `site` is one more address at which nginx has to listen.
    pub(crate) fn serve_site(
        &self,
        namespace: &Namespace,
        listeners: &[TcpListener],
        site: impl FnOnce(&Path, SocketAddr) -> io::Result<String> + Send,
    ) -> io::Result<Serving> {
        // An agent that hooks the page's sockets must learn nothing from this probe.
        let ready = namespace.run(|| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))??;
        let ready_at = ready.local_addr()?;
        ready.set_nonblocking(true)?;
        let start = |folder: &Path| {
            let conf = folder.join("nginx.conf");
            fs::write(&conf, site(folder, ready_at)?)?;
            // The process inherits this thread's view of the file systems.
            Sandbox::start(
                namespace,
                self.command(folder, &conf, listeners.iter().chain([&ready]))?,
            )
        };
        let mut serving = Serving { sandbox: temporary::in_a_folder(start)? };
        match namespace.run(|| check_accepts(ready_at))? {
            Ok(()) => Ok(serving),
            Err(error) => Err(serving.stderr_error(&error)),
        }
    }

    fn command<'a>(
        &self,
        folder: &Path,
        conf: &Path,
        listeners: impl Iterator<Item = &'a TcpListener>,
    ) -> io::Result<Command> {
        let mut inherited = String::new();
        for listener in listeners {
            // Another process that starts at this instant inherits it too, and does nothing with
            // it.
            fcntl(listener, FcntlArg::F_SETFD(FdFlag::empty()))?;
            inherited += &format!("{};", listener.as_raw_fd());
        }
        let mut command = sandbox::command(&self.program);
        command.arg("-e").arg("stderr").arg("-p").arg(folder).arg("-c").arg(conf);
        command.env("NGINX", inherited);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        Ok(command)
    }
}

/// A running nginx.
#[derive(Debug)]
pub(crate) struct Serving {
    sandbox: Sandbox,
}

impl Serving {
    /// nginx's own words on why it does not serve.
    fn stderr_error(&mut self, error: &io::Error) -> io::Error {
        self.sandbox.signal(nix::sys::signal::Signal::SIGKILL);
        let mut printed = String::new();
        if let Some(stderr) = &mut self.sandbox.streams.stderr {
            // Unreadable output is left out.
            let _ = stderr.read_to_string(&mut printed);
        }
        io::Error::other(format!("nginx does not serve: {error}\n{}", printed.trim_end()))
    }
}

/// Waits until the server at the address accepts a connection: the kernel opens it, the server ends
/// it.
fn check_accepts(address: SocketAddr) -> io::Result<()> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    // No HTTP of any version, so each says so and closes.
    stream.write_all(b"\0\r\n\r\n")?;
    match stream.read(&mut [0; 512]) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::ConnectionReset => Ok(()),
        Err(error) => Err(error),
    }
}
