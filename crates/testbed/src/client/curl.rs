//! curl as a client: the program as it is installed, run once for each visit, in the client's
//! namespace.
//!
//! It loads a single object over a connection of its own, and reports the time itself. It does not
//! look for the objects that a page reveals, so it loads no pages. It runs in a process namespace
//! that the kernel clears when this process dies.

use crate::exchange::Exchange;
use crate::programs;
use crate::site;
use emulator::Namespace;
use emulator::sandbox::{self, Sandbox};
use race::{MeasuredLoad, MilestoneTimes, Race};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::unix::pipe::Receiver;
use units::Duration;
use workload::{Http, ObjectId, PageMilestone, Tls};

/// Format of curl's report: seconds from the beginning of the transfer, before the socket is
/// created, to its end (curl(1), `--write-out`). At the end the last byte has been written to a
/// sink. There is no name to look up. The report goes to standard error, which is not buffered, so
/// it precedes the close of the connection.
const TIME: &str = "%{stderr}%{time_total}s\\n";

/// A program that is curl.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Curl {
    program: PathBuf,
    /// Name and version, like `curl/7.88.1`.
    version: String,
}

impl Curl {
    /// Returns the installed curl, if there is one that reports its name.
    pub fn installed() -> Option<Self> {
        programs::find_program("curl", &[]).find_map(|program| Self::at(&program))
    }

    fn at(program: &Path) -> Option<Self> {
        let output = Command::new(program).arg("--version").stdin(Stdio::null()).output().ok()?;
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let version = printed.strip_prefix("curl ")?.split_whitespace().next()?;
        Some(Self { program: program.to_owned(), version: format!("curl/{version}") })
    }

    /// Name and version, like `curl/7.88.1`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// A curl for tests that never run it.
    #[cfg(test)]
    pub(crate) fn for_tests() -> Self {
        Self { program: "/usr/bin/curl".into(), version: "curl/7.88.1".to_owned() }
    }
}

/// One object that curl loads, once for each visit.
pub(crate) struct CurlVisitor {
    curl: Curl,
    namespace: Namespace,
    url: String,
    http: Http,
    until: PageMilestone,
}

impl CurlVisitor {
    /// Returns the reason why curl cannot make a race's visits; `None` if it can.
    pub(super) fn unsupported_reason(race: &Race) -> Option<String> {
        let [object] = race.page.objects() else {
            let why = "it loads one object, like 30kB, and looks for none that others reveal";
            return Some(why.to_owned());
        };
        let protocol = race.loader.protocol(race.page.host(object.host));
        let keeps_open = race.visits.keep_open();
        let reasons = [
            (keeps_open, "each visit is a curl of its own, with its own connection: --reconnect"),
            (protocol.tls != Tls::None, "it loads in the clear: --tls none"),
            (!object.server_wait.is_zero(), "servers do not think for it, and the object's does"),
        ];
        reasons.iter().find(|(is_so, _)| *is_so).map(|(_, why)| (*why).to_owned())
    }

    /// Creates a visitor of the page's one object, served by the servers of its hosts.
    pub(super) fn new(
        curl: &Curl,
        exchange: &Exchange,
        namespace: &Namespace,
        servers: &[SocketAddr],
    ) -> Self {
        let object = exchange.object(ObjectId::ROOT);
        let server = servers[object.host.index()];
        Self {
            curl: curl.clone(),
            namespace: namespace.clone(),
            url: format!("http://{server}{}", site::path(ObjectId::ROOT)),
            http: exchange.protocol(object.host).http,
            until: exchange.page().until(),
        }
    }

    /// Makes one visit, and takes a measurement when curl reports the time. The visit excludes the
    /// time in which the machine ends the process.
    ///
    /// # Errors
    /// If the machine starts no process.
    pub(super) async fn visit<T>(
        &self,
        limit: Duration,
        measure: impl FnOnce() -> T,
    ) -> io::Result<(MeasuredLoad, T)> {
        let mut sandbox = self.start(limit)?;
        let pipe = sandbox.streams.stderr.take().ok_or(ErrorKind::BrokenPipe)?;
        let mut pipe = BufReader::new(Receiver::from_owned_fd(pipe.into())?);
        let mut printed = String::new();
        pipe.read_line(&mut printed).await?;
        let measured = measure();
        pipe.read_to_string(&mut printed).await?;
        // Its pipe is closed: there is nothing left to wait for.
        let visit = match time_of(sandbox.wait()?, &printed) {
            Ok(time) => {
                let milestones = [PageMilestone::Document, self.until, PageMilestone::LastByte];
                let times = MilestoneTimes::default();
                let times = milestones.into_iter().fold(times, |all, one| all.with(one, time));
                MeasuredLoad::with_times(times, self.until)
            }
            Err(why) => MeasuredLoad { failure: Some(why), ..MeasuredLoad::default() },
        };
        Ok((visit, measured))
    }

    fn start(&self, limit: Duration) -> io::Result<Sandbox> {
        let version = match self.http {
            Http::Http10 => "--http1.0",
            Http::Http2 => "--http2-prior-knowledge",
            Http::Http11 | Http::Http3 | Http::Persistent => "--http1.1",
        };
        let mut command = sandbox::command(&self.curl.program);
        // curl ignores the user's settings and proxies.
        command.args(["--disable", "--noproxy", "*", version]);
        command.args(["--silent", "--show-error", "--fail"]);
        command.args(["--max-time", &limit.as_secs_f64().to_string()]);
        command.args(["--output", "/dev/null", "--write-out", TIME, &self.url]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        Sandbox::start(&self.namespace, command)
    }
}

/// The time that curl reported, or its own words on why there is none.
fn time_of(status: ExitStatus, printed: &str) -> Result<Duration, String> {
    let (times, words): (Vec<_>, Vec<_>) =
        printed.lines().partition(|line| line.parse::<Duration>().is_ok());
    match (status.success(), times.first()) {
        (true, Some(time)) => time.parse().map_err(|error| format!("{time}: {error}")),
        (true, None) => Err(format!("curl printed no time: {}", words.join("; "))),
        (false, _) => {
            Err(format!("{} (exit code {})", words.join("; "), sandbox::exit_code(status)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    #[test]
    fn what_curl_says_is_a_time_or_a_failure() {
        let ended = |code: i32| ExitStatus::from_raw(code << 8);
        // Six digits behind the point are microseconds.
        let time = time_of(ended(0), "0.247123s\n");
        assert_eq!(time, Ok(Duration::from_micros(247_123)));
        let why = time_of(ended(7), "curl: (7) Failed to connect\n0.000000s\n");
        assert_eq!(why, Err("curl: (7) Failed to connect (exit code 7)".to_owned()));
        assert_eq!(time_of(ended(0), ""), Err("curl printed no time: ".to_owned()));
    }
}
