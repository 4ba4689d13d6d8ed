//! Chromium as a client: the browser as it is installed, run once for each visit, in the client's
//! namespace.
//!
//! It loads the page's documents ([`crate::documents`]), finds the other objects in them, and opens
//! connections as it chooses. It reports the times of its own clock (W3C Navigation Timing and
//! Resource Timing). Each visit has a profile of its own in memory, so nothing is cached. A visit
//! begins when the browser has had time to start, as a user's browser has.

use super::devtools::DevTools;
use crate::documents::{self, Resources};
use crate::exchange::Exchange;
use crate::programs;
use crate::site;
use crate::temporary;
use crate::timer;
use emulator::sandbox::{self, Sandbox};
use emulator::{Clock, Namespace, ThreadScheduling};
use race::{MeasuredLoad, MilestoneTimes, Race};
use serde_json::{Value, json};
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use units::Duration;
use workload::{Http, ObjectId, PageMilestone, Tls};

/// Names under which it is installed.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// Starts the program that is its first argument, with the remaining arguments. The program's input
/// and output are the pipes of the DevTools protocol, which Chromium expects at the descriptors 3
/// and 4.
const WITH_PIPES: &str = "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null";
/// Time for Chromium to start: its work in the first second has nothing to do with the page.
const STARTING: Duration = Duration::from_millis(1500);
/// Until it is asked again whether it shows a page.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Chromium runs without a window, and without features that use the network beside the page or
/// connect before a request.
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
    "--remote-debugging-pipe",
];

/// A program that is Chromium.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chromium {
    program: PathBuf,
    /// Name and version, like `Chromium/130.0.6723.91`.
    version: String,
}

impl Chromium {
    /// Returns the installed Chromium, if there is one that reports its name.
    pub fn installed() -> Option<Self> {
        NAMES.iter().flat_map(|name| programs::find_program(name, &[])).find_map(|at| Self::at(&at))
    }

    fn at(program: &Path) -> Option<Self> {
        let mut command = Command::new(program);
        let output = command.arg("--version").stdin(Stdio::null()).output().ok()?;
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut words = printed.split_whitespace();
        let name = words.by_ref().take_while(|word| !word.starts_with(|c: char| c.is_numeric()));
        let name = name.collect::<Vec<_>>().join("-");
        let number = printed.split_whitespace().find(|word| word.starts_with(char::is_numeric))?;
        Some(Self { program: program.to_owned(), version: format!("{name}/{number}") })
    }

    /// Name and version, like `Chromium/130.0.6723.91`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Loads an address by a browser of its own, and returns the events of its network and page in
    /// the DevTools protocol, up to a moment after the event `load`. The browser trusts any
    /// certificate.
    ///
    /// # Errors
    /// The reason why the page was not loaded within `limit`.
    pub(crate) async fn watch(
        &self,
        namespace: &Namespace,
        clock: &Clock,
        url: &str,
        limit: Duration,
    ) -> io::Result<Vec<Value>> {
        let start = |folder: &Path| self.start(namespace, folder, &["--ignore-certificate-errors"]);
        let mut sandbox = temporary::in_a_folder(start)?;
        let mut browser = DevTools::from_pipes(&mut sandbox.streams)?;
        let load = async {
            attach(&mut browser, clock).await?;
            browser.call("Network.enable", json!({})).await?;
            browser.navigate(url).await?;
            // The ends of the last responses may be reported after the event.
            sleep(clock, POLL_INTERVAL).await;
            browser.call("Network.disable", json!({})).await
        };
        let loaded = with_time_limit(clock, limit, load).await;
        let events = browser.take_events();
        end(browser, clock).await;
        loaded.map_err(|error| io::Error::other(format!("{}: {error}", self.version)))?;
        Ok(events)
    }

    fn start(
        &self,
        namespace: &Namespace,
        profile: &Path,
        options: &[&str],
    ) -> io::Result<Sandbox> {
        // It computes for longer than the link may wait.
        ThreadScheduling::leave_real_time();
        let mut command = sandbox::command("sh");
        command.args(["-c", WITH_PIPES]).arg(&self.program).args(OPTIONS).args(options);
        command.arg(format!("--user-data-dir={}", profile.display()));
        command.arg("about:blank").env("HOME", profile);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        Sandbox::start(namespace, command)
    }
}

async fn sleep(clock: &Clock, time: Duration) {
    timer::sleep_until(clock, Some(clock.now() + time)).await;
}

/// The result of a load that ends within `limit` of the browser's start.
///
/// # Errors
/// If the load fails or takes longer.
async fn with_time_limit<T>(
    clock: &Clock,
    limit: Duration,
    load: impl Future<Output = io::Result<T>>,
) -> io::Result<T> {
    tokio::select! {
        loaded = load => loaded,
        () = sleep(clock, limit + STARTING) => {
            Err(io::Error::other(format!("not over after {limit}")))
        }
    }
}

/// Ends the browser. False if it does not end in time: dropping its sandbox kills it.
async fn end(browser: DevTools, clock: &Clock) -> bool {
    tokio::select! {
        () = browser.end() => true,
        () = sleep(clock, STARTING) => false,
    }
}

/// Waits until the browser has started, and attaches to its page.
async fn attach(browser: &mut DevTools, clock: &Clock) -> io::Result<()> {
    sleep(clock, STARTING).await;
    while !browser.attach().await? {
        sleep(clock, POLL_INTERVAL).await;
    }
    Ok(())
}

/// A page that Chromium loads, once for each visit.
pub(crate) struct ChromiumVisitor {
    chromium: Chromium,
    namespace: Namespace,
    clock: Clock,
    url: String,
    resources: Resources,
    until: PageMilestone,
}

impl ChromiumVisitor {
    /// Returns the reason why Chromium cannot make a race's visits; `None` if it can.
    pub(super) fn unsupported_reason(race: &Race) -> Option<String> {
        let protocols = || race.page.hosts().iter().map(|host| race.loader.protocol(host));
        let reasons = [
            (
                race.visits.keep_open(),
                "each visit is a browser of its own, with its own connections: --reconnect",
            ),
            (
                protocols().any(|protocol| protocol.tls != Tls::None),
                "it loads in the clear: --tls none",
            ),
            (
                protocols().any(|protocol| protocol.http != Http::Http11),
                "in the clear it speaks HTTP/1.1 alone: --http 1.1",
            ),
        ];
        let reason = reasons.iter().find(|(is_so, _)| *is_so).map(|(_, why)| (*why).to_owned());
        reason.or_else(|| {
            documents::unsupported_reason(&race.page, |object| {
                site::body_bytes(race.loader.protocol(race.page.host(object.host)), object)
            })
        })
    }

    /// Creates a visitor of a page, served by the servers of its hosts.
    pub(super) fn new(
        chromium: &Chromium,
        exchange: &Exchange,
        namespace: &Namespace,
        servers: &[SocketAddr],
    ) -> Self {
        exchange.set_server_addresses(servers);
        Self {
            chromium: chromium.clone(),
            namespace: namespace.clone(),
            clock: *exchange.clock(),
            url: exchange.address(ObjectId::ROOT),
            resources: documents::resources(&exchange.page(), |object| exchange.body_bytes(object)),
            until: exchange.page().until(),
        }
    }

    /// Makes one visit, and takes a measurement at the moment of its report. The visit excludes the
    /// time in which the browser starts and ends.
    ///
    /// # Errors
    /// If the machine starts no process.
    pub(super) async fn visit<T>(
        &self,
        limit: Duration,
        measure: impl FnOnce() -> T,
    ) -> io::Result<(MeasuredLoad, T)> {
        let mut sandbox =
            temporary::in_a_folder(|folder| self.chromium.start(&self.namespace, folder, &[]))?;
        let mut browser = DevTools::from_pipes(&mut sandbox.streams)?;
        let loaded = with_time_limit(&self.clock, limit, self.load(&mut browser)).await;
        let measured = measure();
        let loaded = loaded.map_err(|error| error.to_string());
        let browser_times = loaded.and_then(|numbers| browser_times(&numbers, self.resources));
        let ended = match end(browser, &self.clock).await {
            true => format!(" (exit code {})", sandbox::exit_code(sandbox.wait()?)),
            false => String::new(),
        };
        let visit = match browser_times {
            Ok(BrowserTimes { html, page }) => {
                let times = MilestoneTimes::default().with(PageMilestone::Document, html);
                let times = times.with(self.until, page).with(PageMilestone::LastByte, page);
                MeasuredLoad::with_times(times, self.until)
            }
            Err(why) => {
                let failure = Some(format!("{}: {why}{ended}", self.chromium.version));
                MeasuredLoad { failure, ..MeasuredLoad::default() }
            }
        };
        Ok((visit, measured))
    }

    /// Loads the page, and returns the numbers of [`TIMES`].
    ///
    /// # Errors
    /// If there are none: the reason in the browser's words.
    async fn load(&self, browser: &mut DevTools) -> io::Result<Vec<f64>> {
        attach(browser, &self.clock).await?;
        let all = json!({ "source": "performance.setResourceTimingBufferSize(1e5)" });
        browser.call("Page.addScriptToEvaluateOnNewDocument", all).await?;
        browser.navigate(&self.url).await?;
        let times = json!({ "expression": TIMES, "returnByValue": true });
        let times = browser.call("Runtime.evaluate", times).await?;
        if let Some(why) = times["exceptionDetails"]["text"].as_str() {
            return Err(io::Error::other(format!("of its times: {why}")));
        }
        let times = times["result"]["value"].as_array().into_iter().flatten();
        Ok(times.filter_map(|number| number.as_f64()).collect())
    }
}

/// Times in milliseconds: when the load began, when the document was complete, when all resources
/// were. Then the number of resources beside the document, and the bytes of their bodies. The load
/// event comes after all of them.
const TIMES: &str = "(()=>{const n=performance.getEntriesByType(\"navigation\")[0],\
    r=performance.getEntriesByType(\"resource\");return[n.redirectStart||n.fetchStart,n.responseEnd,\
    Math.max(n.responseEnd,...r.map(e=>e.responseEnd)),r.length,r.reduce((n,e)=>n+e.encodedBodySize,0)]})()";

/// Times that the browser reports of a load, from the beginning of the first request on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BrowserTimes {
    html: Duration,
    page: Duration,
}

/// Reads the numbers of [`TIMES`], if all of the page's `resources` beside the document were
/// delivered.
fn browser_times(numbers: &[f64], resources: Resources) -> Result<BrowserTimes, String> {
    let [began, html, page, count, bytes] = *numbers else {
        return Err(format!("it reports no times but {numbers:?}"));
    };
    if (count, bytes) != (resources.count as f64, resources.bytes as f64) {
        return Err(format!(
            "it has loaded {count} of {} objects beside the document, and {bytes} of {} bytes",
            resources.count, resources.bytes
        ));
    }
    let since = |at: f64| Duration::from_nanos(((at - began).max(0.0) * 1e6) as u64);
    Ok(BrowserTimes { html: since(html), page: since(page) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_browser_tells_times_or_why_there_are_none() {
        // From 12.5 ms on: 240.1 and 560.2 ms.
        let ms = |tenths: u64| Duration::from_micros(100 * tenths);
        let resources = Resources { count: 30, bytes: 900 };
        let all = browser_times(&[12.5, 252.6, 572.7, 30.0, 900.0], resources);
        assert_eq!(all, Ok(BrowserTimes { html: ms(2401), page: ms(5602) }));
        let few = browser_times(&[12.5, 252.6, 572.7, 29.0, 880.0], resources).unwrap_err();
        assert_eq!(few, "it has loaded 29 of 30 objects beside the document, and 880 of 900 bytes");
        assert!(browser_times(&[12.5, 252.6, 572.7, 30.0, 899.0], resources).is_err());
        assert!(browser_times(&[12.0, 13.0], resources).unwrap_err().contains("[12.0, 13.0]"));
    }
}
