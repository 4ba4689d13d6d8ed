//! curl as a client: the program as it is installed, run once for each visit, in the client's namespace.
//!
//! It loads a single object over a connection of its own, and tells the time itself. What a page's objects reveal
//! it does not look for, so pages are not for it. It runs in a process namespace that the kernel clears when this
//! process dies.

use crate::exchange::{Exchange, Visit};
use crate::kernel::site;
use crate::programs;
use emulator::Namespace;
use emulator::sandbox::{self, Sandbox};
use experiment::race::Race;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use units::Duration;
use workload::{Http, Kind, ObjectId, Tls};

/// What it is to tell: seconds from the beginning of the transfer, before the socket is made, to its end, when the
/// last byte has been written to where nothing is kept (curl(1), `--write-out`). There is no name to look up.
const TIME: &str = "%{time_total}s";

/// A program that is curl.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Curl {
    program: PathBuf,
    /// Name and version, like `curl/7.88.1`.
    version: String,
}

impl Curl {
    /// The one that is installed, if there is one that says its name.
    pub fn installed() -> Option<Self> {
        programs::named("curl", &[]).find_map(|program| Self::at(&program))
    }

    fn at(program: &Path) -> Option<Self> {
        let output = Command::new(program).arg("--version").stdin(Stdio::null()).output().ok()?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let version = said.strip_prefix("curl ")?.split_whitespace().next()?;
        Some(Self { program: program.to_owned(), version: format!("curl/{version}") })
    }

    /// Name and version, like `curl/7.88.1`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// One that nobody runs.
    #[cfg(test)]
    pub(crate) fn nominal() -> Self {
        Self { program: "/usr/bin/curl".into(), version: "curl/7.88.1".to_owned() }
    }
}

/// One object that curl loads as often as it is told to.
pub(crate) struct Load {
    curl: Curl,
    namespace: Namespace,
    url: String,
    http: Http,
    is_html: bool,
}

impl Load {
    /// Why visits of a race cannot be curl's; `None` if they can.
    pub(super) fn refusal(race: &Race) -> Option<String> {
        let [object] = race.page.objects() else {
            let why = "it loads one object, like 30kB, and looks for none that others reveal";
            return Some(why.to_owned());
        };
        let protocol = race.loader.protocol(race.page.host(object.host));
        let keeps_open = race.visits.keep_open();
        let reasons = [
            (keeps_open, "each visit is a curl of its own, with its own connection: --reconnect"),
            (protocol.tls != Tls::None, "what it loads here is in the clear: --tls none"),
            (!object.server_wait.is_zero(), "servers do not think for it, and the object's does"),
        ];
        reasons.iter().find(|(is_so, _)| *is_so).map(|(_, why)| (*why).to_owned())
    }

    /// Of the page's one object, from the servers of its hosts.
    pub(super) fn new(
        curl: &Curl,
        (exchange, namespace): (&Exchange, &Namespace),
        servers: &[SocketAddr],
    ) -> Self {
        let object = exchange.object(ObjectId::ROOT);
        let server = servers[object.host.index()];
        Self {
            curl: curl.clone(),
            namespace: namespace.clone(),
            url: format!("http://{server}{}", site::path(ObjectId::ROOT)),
            http: exchange.protocol(object.host).http,
            is_html: object.kind == Kind::Html,
        }
    }

    /// One visit.
    ///
    /// # Errors
    /// If the machine starts no process.
    pub(super) async fn visit(&self, limit: Duration) -> io::Result<Visit> {
        let Said { status, stdout, stderr } = Said::listen(self.start(limit)?).await?;
        Ok(match time_of(status, (&stdout, &stderr)) {
            Ok(time) => {
                Visit { html: self.is_html.then_some(time), page: Some(time), failure: None }
            }
            Err(why) => Visit { html: None, page: None, failure: Some(why) },
        })
    }

    fn start(&self, limit: Duration) -> io::Result<Sandbox> {
        let version = match self.http {
            Http::Http10 => "--http1.0",
            Http::Http2 => "--http2-prior-knowledge",
            Http::Http11 | Http::Persistent => "--http1.1",
        };
        let mut command = sandbox::command(&self.curl.program);
        // Without anybody's settings or proxies.
        command.args(["--disable", "--noproxy", "*", version]);
        command.args(["--silent", "--show-error", "--fail"]);
        command.args(["--max-time", &limit.as_secs_f64().to_string()]);
        command.args(["--output", "/dev/null", "--write-out", TIME, &self.url]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Sandbox::start(&self.namespace, command)
    }
}

/// What a command said, and how it ended.
struct Said {
    status: ExitStatus,
    stdout: String,
    stderr: String,
}

impl Said {
    /// Waits for it while servers on this thread go on.
    async fn listen(mut sandbox: Sandbox) -> io::Result<Self> {
        let streams = &mut sandbox.streams;
        let stdout = streams.stdout.take().map(OwnedFd::from);
        let stderr = streams.stderr.take().map(OwnedFd::from);
        let (stdout, stderr) = tokio::try_join!(read(stdout), read(stderr))?;
        // Its pipes are closed: there is nothing left to wait for.
        Ok(Self { status: sandbox.wait()?, stdout, stderr })
    }
}

async fn read(pipe: Option<OwnedFd>) -> io::Result<String> {
    let mut said = Vec::new();
    if let Some(pipe) = pipe {
        Receiver::from_owned_fd(pipe)?.read_to_end(&mut said).await?;
    }
    Ok(String::from_utf8_lossy(&said).into_owned())
}

/// The time that it told, or why there is none, in its own words.
fn time_of(status: ExitStatus, (stdout, stderr): (&str, &str)) -> Result<Duration, String> {
    if !status.success() {
        let code = sandbox::exit_code(status);
        return Err(format!("{} (exit code {code})", stderr.trim()));
    }
    stdout.trim().parse().map_err(|error| format!("curl told no time: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    #[test]
    fn what_curl_says_is_a_time_or_a_failure() {
        let ended = |code: i32| ExitStatus::from_raw(code << 8);
        // Six digits behind the point are microseconds.
        let time = time_of(ended(0), ("0.247123s", ""));
        assert_eq!(time, Ok(Duration::from_micros(247_123)));
        let why = time_of(ended(7), ("0.000000s", "curl: (7) Failed to connect\n"));
        assert_eq!(why, Err("curl: (7) Failed to connect (exit code 7)".to_owned()));
        assert!(time_of(ended(0), ("", "")).unwrap_err().starts_with("curl told no time"));
    }
}
