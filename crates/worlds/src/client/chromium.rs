//! Chromium as a client: the browser as it is installed, run once for each visit, in the client's namespace.
//!
//! It loads the page's documents ([`crate::documents`]), finds the other objects in them by itself, opens what connections it
//! likes, and tells the times of its own clock. Each visit has a profile of its own in memory, so nothing is cached.

use crate::documents::{self, Resources};
use crate::exchange::Exchange;
use crate::private;
use crate::programs;
use crate::site;
use emulator::sandbox::{self, Sandbox};
use emulator::{Namespace, ThreadScheduling};
use race::{MeasuredLoad, Race};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use units::Duration;
use workload::{Http, ObjectId, Tls};

/// Names under which it is installed.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// Without a window, and without whatever would use the network beside the page or connect before it is asked for.
const OPTIONS: [&str; 12] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--no-proxy-server",
    "--disable-features=HttpsUpgrades,LoadingPredictor,OptimizationHints,MediaRouter",
    "--dump-dom",
];

/// A program that is Chromium.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chromium {
    program: PathBuf,
    /// Name and version, like `Chromium/130.0.6723.91`.
    version: String,
}

impl Chromium {
    /// The one that is installed, if there is one that says its name.
    pub fn installed() -> Option<Self> {
        NAMES.iter().flat_map(|name| programs::named(name, &[])).find_map(|at| Self::at(&at))
    }

    fn at(program: &Path) -> Option<Self> {
        let mut command = Command::new(program);
        let output = command.arg("--version").stdin(Stdio::null()).output().ok()?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut words = said.split_whitespace();
        let name = words.by_ref().take_while(|word| !word.starts_with(|c: char| c.is_numeric()));
        let name = name.collect::<Vec<_>>().join("-");
        let number = said.split_whitespace().find(|word| word.starts_with(char::is_numeric))?;
        Some(Self { program: program.to_owned(), version: format!("{name}/{number}") })
    }

    /// Name and version, like `Chromium/130.0.6723.91`.
    pub fn version(&self) -> &str {
        &self.version
    }
}

/// A page that Chromium loads as often as it is told to.
pub(crate) struct ChromiumVisitor {
    chromium: Chromium,
    namespace: Namespace,
    url: String,
    resources: Resources,
}

impl ChromiumVisitor {
    /// Why visits of a race cannot be Chromium's; `None` if they can.
    pub(super) fn refusal(race: &Race) -> Option<String> {
        let protocols = || race.page.hosts().iter().map(|host| race.loader.protocol(host));
        let reasons = [
            (
                race.visits.keep_open(),
                "each visit is a browser of its own, with its own connections: --reconnect",
            ),
            (
                protocols().any(|protocol| protocol.tls != Tls::None),
                "what it loads here is in the clear: --tls none",
            ),
            (
                protocols().any(|protocol| protocol.http != Http::Http11),
                "in the clear it speaks HTTP/1.1 alone: --http 1.1",
            ),
        ];
        let reason = reasons.iter().find(|(is_so, _)| *is_so).map(|(_, why)| (*why).to_owned());
        reason.or_else(|| {
            documents::refusal(&race.page, |object| {
                site::body_bytes(race.loader.protocol(race.page.host(object.host)), object)
            })
        })
    }

    /// Of a page, from the servers of its hosts.
    pub(super) fn new(
        chromium: &Chromium,
        (exchange, namespace): (&Exchange, &Namespace),
        servers: &[SocketAddr],
    ) -> Self {
        exchange.place(servers);
        Self {
            chromium: chromium.clone(),
            namespace: namespace.clone(),
            url: exchange.address(ObjectId::ROOT),
            resources: documents::resources(&exchange.page(), |object| exchange.body_bytes(object)),
        }
    }

    /// One visit, and what is measured when it is told. What the browser takes to begin and to end is no matter of the visit's.
    ///
    /// # Errors
    /// If the machine starts no process.
    pub(super) async fn visit<T>(
        &self,
        limit: Duration,
        measure: impl FnOnce() -> T,
    ) -> io::Result<(MeasuredLoad, T)> {
        let mut sandbox = private::in_a_folder(|folder| self.start(folder, limit))?;
        let pipe = sandbox.streams.stdout.take().ok_or(ErrorKind::BrokenPipe)?;
        let mut document = String::new();
        Receiver::from_owned_fd(pipe.into())?.read_to_string(&mut document).await?;
        let measured = measure();
        // Its pipe is closed: there is nothing left to wait for.
        let status = sandbox.wait()?;
        let visit = match told(&document, self.resources) {
            Ok(Told { html, page }) => {
                MeasuredLoad { html: Some(html), page: Some(page), ..MeasuredLoad::default() }
            }
            Err(why) => {
                let code = sandbox::exit_code(status);
                let failure = Some(format!("{}: {why} (exit code {code})", self.chromium.version));
                MeasuredLoad { failure, ..MeasuredLoad::default() }
            }
        };
        Ok((visit, measured))
    }

    fn start(&self, profile: &Path, limit: Duration) -> io::Result<Sandbox> {
        // It computes for longer than the link may wait.
        ThreadScheduling::behind_emulations();
        let mut command = sandbox::command(&self.chromium.program);
        command.args(OPTIONS);
        command.arg(format!("--user-data-dir={}", profile.display()));
        command.arg(format!("--timeout={}", limit.as_nanos() / 1_000_000));
        command.arg(&self.url).env("HOME", profile);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        Sandbox::start(&self.namespace, command)
    }
}

/// What the document says of its load, from the beginning of the first request on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Told {
    html: Duration,
    page: Duration,
}

/// Reads it, if all of the page's `resources` beside the document have arrived.
fn told(document: &str, resources: Resources) -> Result<Told, String> {
    let line = document.split_once(documents::TOLD_IN).and_then(|(_, after)| after.split_once('<'));
    let line = line.map(|(line, _)| line).filter(|line| !line.is_empty());
    let line = line.ok_or("its document tells no times")?;
    let numbers: Vec<f64> = line.split(' ').filter_map(|number| number.parse().ok()).collect();
    let [began, html, page, count, bytes] = numbers[..] else {
        return Err(format!("its document tells {line:?}"));
    };
    if (count, bytes) != (resources.count as f64, resources.bytes as f64) {
        return Err(format!(
            "it has loaded {count} of {} objects beside the document, and {bytes} of {} bytes",
            resources.count, resources.bytes
        ));
    }
    let since = |at: f64| Duration::from_nanos(((at - began).max(0.0) * 1e6) as u64);
    Ok(Told { html: since(html), page: since(page) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_tells_times_or_why_there_are_none() {
        let document = |line: &str| format!("<html><pre id=\"headstart\">{line}</pre></html>");
        // From 12.5 ms on: 240.1 and 560.2 ms.
        let ms = |tenths: u64| Duration::from_micros(100 * tenths);
        let resources = Resources { count: 30, bytes: 900 };
        let all = told(&document("12.5 252.6 572.7 30 900"), resources);
        assert_eq!(all, Ok(Told { html: ms(2401), page: ms(5602) }));
        let few = told(&document("12.5 252.6 572.7 29 880"), resources).unwrap_err();
        assert_eq!(few, "it has loaded 29 of 30 objects beside the document, and 880 of 900 bytes");
        assert!(told(&document("12.5 252.6 572.7 30 899"), resources).is_err());
        for nothing in ["<html></html>".to_owned(), document("")] {
            let why = told(&nothing, resources).unwrap_err();
            assert_eq!(why, "its document tells no times");
        }
        assert!(told(&document("12 13"), resources).unwrap_err().contains("\"12 13\""));
    }
}
